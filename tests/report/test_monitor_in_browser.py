"""The page of a monitoring in a real browser: nothing asked for, readable anywhere."""

import pytest
from browsing import asked_for, opened, said, sized, violations

import nn2rules
from nn2rules import Condition, Domain, Feature, Rule, RuleList, datasets

HOSTILE = "</script><b onload=alert(1)>" + "x" * 90


@pytest.fixture(scope="module", params=["car", "hostile"])
def page(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("monitoring") / "page.html"
    path.write_text(made(request.param).html(), encoding="utf-8")
    return path


def made(name):
    """Return a monitoring with every section, or one with names that hurt."""
    if name == "car":
        cars = datasets.load("car")
        network = nn2rules.load(datasets.network_file("car"))
        new = cars.test.to_frame()
        new["month"] = [f"2026-{row % 3 + 1:02}" for row in range(len(new))]
        new.loc[new["month"] == "2026-03", "safety"] = "low"
        new.loc[5, "doors"] = "7"
        rules = nn2rules.extract(network)
        old = cars.train.to_frame()
        options = {"labels": "label", "by": "month", "model": network}
        return nn2rules.monitor(rules, old, new, **options)
    domain = Domain((Feature(HOSTILE, (HOSTILE, "b")),))
    rule = Rule((Condition(HOSTILE, (HOSTILE,)),), HOSTILE)
    rules = RuleList(domain, (rule,), "no", ("no", HOSTILE))
    rows = [{HOSTILE: value} for value in (HOSTILE, "b", "b")]
    new = [{HOSTILE: value, "m": HOSTILE + value} for value in (HOSTILE, "b", "c")]
    return nn2rules.monitor(rules, rows, new, by="m")


def test_the_page_is_silent_and_asks_for_nothing(driver, page):
    opened(driver, page)
    assert said(driver) == []
    assert asked_for(driver) == []
    assert driver.execute_script("return document.scripts.length") == 0


@pytest.mark.parametrize("dark", [False, True])
def test_everybody_can_read_it(driver, page, dark):
    opened(driver, page)
    sized(driver, 1280, dark=dark)
    assert violations(driver) == []


@pytest.mark.parametrize("width", [360, 1280])
def test_nothing_is_cut_off(driver, page, width):
    sized(driver, width, is_phone=width == 360)
    opened(driver, page)
    widths = "return [document.documentElement.scrollWidth, innerWidth]"
    wide, room = driver.execute_script(widths)
    assert wide <= room


def test_bars_are_as_high_as_the_shares(driver, tmp_path):
    found = made("car")
    path = tmp_path / "page.html"
    path.write_text(found.html(), encoding="utf-8")
    opened(driver, path)
    sized(driver, 1280)
    heights = driver.execute_script(
        "const li = [...document.querySelectorAll('#features li')].find("
        "e => e.querySelector('h3').textContent === 'safety');"
        "return ['after', 'before'].map(k => [...li.querySelectorAll('rect.' + k)]"
        ".map(e => Number(e.getAttribute('height'))));"
    )
    safety = next(one for one in found.features if one.name == "safety")
    sides = [side[side.nonzero()[0]] for side in (safety.new(), safety.reference())]
    shares = [(side / side.sum()).tolist() for side in sides]
    top = max(max(each) for each in shares)
    expected = [[round(90 * one / top, 2) for one in each] for each in shares]
    assert heights == expected
