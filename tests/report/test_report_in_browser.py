"""Reports in a real browser: they work, they are right, and they ask for nothing."""

import base64

import numpy as np
import pytest
from browsing import answer, asked_for, opened, said, sized, violations
from card_subjects import NETWORKS, card_case
from matplotlib.figure import Figure
from numpy.random import default_rng
from subjects import case, index_of

import nn2rules
from nn2rules import Layer, Network, RuleList
from nn2rules.report.html import filled_page
from nn2rules.report.what_if import COMPUTED
from nn2rules.scorecards import number_text
from nn2rules.space import Range
from ranged import mixed_domain, random_network, random_rows, rows_at_ends
from research.experiments.figures import saved
from research.experiments.page import inline
from research.experiments.table import ResultColumn, ResultTable

NAMES = ("car", "adult", "multiclass", "numeric", "numeric multiclass", "large")


def texts(driver, selector):
    script = (
        "return [...document.querySelectorAll(arguments[0])].map(e => e.textContent)"
    )
    return driver.execute_script(script, selector)


def put(driver, place, value):
    """Choose a value in a control, as a reader does."""
    driver.execute_script(
        "const e = document.getElementById(arguments[0]); e.value = arguments[1];"
        "e.dispatchEvent(new Event('input', {bubbles: true}));"
        "e.dispatchEvent(new Event('change', {bubbles: true}));",
        place,
        value,
    )


def shown_rules(driver):
    return texts(driver, "#rules-list .name")


def all_rules(driver):
    driver.execute_script(
        "const more = document.getElementById('rules-more');"
        "while (!more.hidden) more.click();"
    )
    return shown_rules(driver)


@pytest.mark.parametrize("name", NAMES)
def test_a_report_works_and_asks_for_nothing(driver, report_of, name):
    opened(driver, report_of(name))
    assert said(driver) == []
    assert asked_for(driver) == []
    assert all_rules(driver) == list(case(name).rules.names)


@pytest.mark.parametrize("name", NAMES)
def test_what_if_answers_as_the_network_does(driver, report_of, name):
    made = case(name)
    opened(driver, report_of(name))
    rows = made.random_rows(7, 20)
    if made.network.domain.has_ranges:
        rows += rows_at_ends(default_rng(8), made.rules, 20)
    expected = index_of(made.network.classes, made.network.predict(rows))
    fired, ways = made.rules.apply(rows).tolist(), set()
    for row, right, rule in zip(rows, expected, fired, strict=True):
        found = answer(driver, made.network.domain, row)
        assert found["prediction"] == str(right)
        assert found["shown"] == str(made.network.classes[right])
        assert found["rule"] == ("" if rule < 0 else made.rules.names[rule])
        ways.add(found["how"])
    is_small = name in ("car", "adult", "multiclass")
    assert ways == {"table"} if is_small else {"network"} <= ways <= {"network", "rule"}
    assert said(driver) == []


@pytest.mark.parametrize("name", ["car", "adult", "multiclass"])
def test_reason_and_change_are_those_of_the_library(driver, report_of, name):
    made = case(name)
    opened(driver, report_of(name))
    rows = made.random_rows(9, 6)
    for row in rows:
        found = answer(driver, made.network.domain, row)
        known = nn2rules.explain(made.network, row, smallest=True)
        assert known.proved.smallest
        assert len(found["reason"]) == len(known.reasons[0])
        assert int(found["fewest"]) == known.cost
        assert int(found["count"]) == len(known.counterfactuals)
        names = [made.network.domain.names[place] for place in found["reason"]]
        assert _forces(made.network, row, names)


def _forces(network, row, names):
    """Tell whether some features of a row force its class, by every input."""
    right = network.predict_codes(network.domain.encode([row]))[0]
    fixed = {network.domain.index(name) for name in names}
    own = network.domain.encode([row])[0]
    for codes in network.domain.inputs():
        inside = [codes[:, place] == own[place] for place in fixed]
        kept = codes[sum(inside) == len(fixed)] if inside else codes
        if len(kept) and (network.predict_codes(kept) != right).any():
            return False
    return True


@pytest.mark.parametrize("name", ["numeric", "numeric multiclass", "large"])
def test_changes_that_are_searched_do_turn_the_answer(driver, report_of, name):
    made, turned = case(name), 0
    opened(driver, report_of(name))
    for row in made.random_rows(10, 8):
        before = answer(driver, made.network.domain, row)
        is_there = driver.execute_script(
            "const b = document.querySelector('.changes button');"
            "if (b) b.click(); return Boolean(b);"
        )
        if not is_there:
            continue
        found, features = {}, made.network.domain.features
        for place, feature in enumerate(features):
            chosen = driver.execute_script(
                "const [k, n] = ['f', 'n'].map(p => document.getElementById(p + "
                "arguments[0])); return [k.value, n && n.value];",
                place,
            )
            code = int(chosen[0])
            found[feature.name] = (
                float(chosen[1])
                if isinstance(feature, Range) and code == 0
                else feature.values[code]
            )
        different = [n for n in row if found[n] != row[n]]
        assert len(different) >= 1
        if before["fewest"] in ("1", "2"):
            assert len(different) == int(before["fewest"])
        now = index_of(made.network.classes, made.network.predict([found]))[0]
        assert before["prediction"] != str(now)
        assert driver.execute_script(
            "return document.getElementById('prediction').dataset.prediction"
        ) == str(now)
        turned += 1
    assert turned >= 3


@pytest.mark.parametrize("kind", sorted(COMPUTED - {"softmax"}))
def test_every_activation_is_worked_out_as_the_library_does(driver, tmp_path, kind):
    rng, domain = default_rng(11), mixed_domain()
    plain = random_network(rng, domain, units=5).layers[0]
    slope = 0.5 if kind == "leaky_relu" else None
    hidden = (
        Layer(plain.weights, plain.bias, kind, slope),
        Layer(rng.normal(size=(5, 3)), rng.normal(size=3), kind, slope),
    )
    weights, rows = rng.normal(size=(3, 1)), random_rows(rng, domain, 60)
    network = Network(domain, (*hidden, Layer(weights, [0], "sigmoid")), ("no", "yes"))
    found = np.unique(network.scores(rows))  # and a cut in the middle of them
    cut = found[len(found) // 2 - 1 : len(found) // 2 + 1].mean()
    last = Layer(weights, [np.log(0.45 / 0.55) - cut], "sigmoid")
    network = Network(domain, (*hidden, last), ("no", "yes"), 0.45)
    path = tmp_path / "report.html"
    RuleList(domain, (), "no", ("no", "yes")).report(path, model=network)
    opened(driver, path)
    expected = network.predict(rows).tolist()
    assert 5 < expected.count("yes") < 55
    assert [answer(driver, domain, row)["shown"] for row in rows] == expected


def hostile_case():
    """Markup, quotes, long words and other directions of writing, in all words."""
    names = (
        "<img src=x onerror=alert(1)>",
        "</script><script>alert(2)</script>",
        "{{ 7 * 7 }} & &amp; <!-- ",
        "\"quotes\" 'and' `more` \\",
        "\u202eright to left \u05e9\u05dc\u05d5\u05dd",
        "line\u2028separators\u2029and\nmore",
    )
    values = ("<b>bold</b>", "x" * 10_000, "\u05d0\u05d1 & <i>", "]]> --> </style>")
    domain = nn2rules.Domain(tuple(nn2rules.Feature(n, values) for n in names))
    classes = ("<svg onload=alert(3)>", "</textarea><script>alert(4)</script>")
    rng = default_rng(12)
    network = random_network(rng, domain, classes=classes)
    rows = random_rows(rng, domain, 40)
    return network, rows, rng.choice(classes, len(rows)).tolist()


def test_a_hostile_model_is_shown_as_text(driver, tmp_path):
    network, rows, labels = hostile_case()
    rules = nn2rules.extract(network, data=rows, labels=labels, form="set")
    path = tmp_path / "report.html"
    title = "<script>alert(5)</script><h1 id=evil>"
    files = {"<i>model</i>": ("<b>.json", "0" * 64)}
    made = rules.report(
        path,
        model=network,
        data=rows,
        labels=labels,
        protected=[network.domain.names[0]],
        title=title,
        files=files,
        time=3,
    )
    opened(driver, path)
    driver.execute_script("document.querySelector('#rule-0 .more').click()")
    assert said(driver) == []
    assert asked_for(driver) == []
    assert texts(driver, "h1") == [title]
    tags = driver.execute_script(
        "return [...document.querySelectorAll('*')].map(e => e.localName)"
    )
    assert not {"img", "b", "i", "textarea", "iframe", "object"} & set(tags)
    assert tags.count("script") == 2
    assert tags.count("style") == 1
    handlers = driver.execute_script(
        "return [...document.querySelectorAll('*')].filter(e => [...e.attributes]"
        ".some(a => a.name.startsWith('on') || a.name === 'style')).length"
    )
    assert handlers == 0
    shown = driver.execute_script("return document.body.textContent")
    assert "alert(1)" in shown
    assert "{{ 7 * 7 }}" in shown
    found = answer(driver, network.domain, rows[0])
    right = index_of(network.classes, network.predict(rows[:1]))[0]
    assert found["shown"] == made.data["classes"][right]
    sized(driver, 360, is_phone=True)
    wide = driver.execute_script("return document.documentElement.scrollWidth")
    sized(driver, 1280)
    assert wide <= 360
    assert violations(driver) == []


def test_a_tie_is_not_guessed(driver, tmp_path):
    """Two weights cancel, so that the score is 0, where rounding decides nothing."""
    domain = nn2rules.Domain((nn2rules.Feature.real("x", -1, 1),))
    network = Network(domain, (Layer([[0.5]], [0], "sigmoid"),), ("no", "yes"))
    path = tmp_path / "report.html"
    certificate = {"engine": "search"}
    rules = RuleList(
        domain, (), "no", ("no", "yes"), "set", "support", certificate=certificate
    )
    rules.report(path, model=network)
    opened(driver, path)
    found = answer(driver, domain, {"x": 0.0})
    assert found["prediction"] == ""
    assert "too close to a tie to be decided here" in found["text"]
    assert answer(driver, domain, {"x": 1e-18})["prediction"] == ""
    assert answer(driver, domain, {"x": 1e-9})["shown"] == "yes"


def test_what_is_declared_impossible_is_not_answered_for(driver, tmp_path):
    network = nn2rules.load(nn2rules.datasets.network_file("tomato"))
    impossible = [{"color": ["red"], "size": ["big"]}]
    rules = nn2rules.extract(network, impossible=impossible, form="set")
    path = tmp_path / "report.html"
    rules.report(path, model=network)
    opened(driver, path)
    found = answer(driver, network.domain, {"color": "red", "size": "big"})
    assert "nothing is claimed about it" in found["text"]
    found = answer(driver, network.domain, {"color": "red", "size": "medium"})
    assert "nothing is claimed about it" not in found["text"]
    assert found["shown"] == "ripe"
    assert "for all inputs that can occur" in found["text"]
    rules = nn2rules.extract(
        network, impossible=lambda rows: [row["size"] == "big" for row in rows]
    )
    rules.report(path, model=network)
    opened(driver, path)
    found = answer(driver, network.domain, {"color": "red", "size": "medium"})
    assert "this page cannot tell which they are" in found["text"]


def test_rules_of_an_unfinished_search_say_nothing_of_the_rest(driver, tmp_path):
    made = case("large")
    rules = nn2rules.extract(made.network, data=made.rows, max_rules=2, form="set")
    assert rules.certificate.get("complete") is False or rules.scope == "support"
    path = tmp_path / "report.html"
    rules.report(path, model=made.network)
    opened(driver, path)
    rows = made.random_rows(14, 10)
    for row, right in zip(rows, made.network.predict(rows).tolist(), strict=True):
        found = answer(driver, made.network.domain, row)
        assert found["shown"] == right
        assert "contradicts" not in found["text"]


def test_approximate_rules_are_not_taken_for_the_network(driver, tmp_path):
    network = nn2rules.load(nn2rules.datasets.network_file("tomato"))
    rules = nn2rules.extract(network, max_rules=0)
    path = tmp_path / "report.html"
    rules.report(path, model=network)
    opened(driver, path)
    found = answer(driver, network.domain, {"color": "red", "size": "big"})
    assert found["shown"] == "ripe"
    assert "The rules predict unripe here; the network does not." in found["text"]


def test_numbers_outside_of_their_range_get_no_answer(driver, report_of):
    opened(driver, report_of("numeric"))
    for number in ("16", "91", "17.5", ""):
        put(driver, "f0", "0")
        put(driver, "n0", number)
        assert "outside its range" in texts(driver, "#prediction")[0]
    put(driver, "n0", "90")
    assert "outside its range" not in texts(driver, "#prediction")[0]


def test_search_filter_and_order(driver, report_of):
    made = case("adult")
    rules = made.rules
    opened(driver, report_of("adult"))
    put(driver, "search", "doctorate SEX")
    wanted = [
        rule.name
        for rule in rules
        if all(word in rules.rule_text(rule).lower() for word in ("doctorate", "sex"))
    ]
    assert 0 < len(wanted) < len(rules)
    assert all_rules(driver) == wanted
    put(driver, "search", "no such words anywhere")
    assert shown_rules(driver) == []
    assert texts(driver, "#rules-count") == ["No rule matches this search"]
    put(driver, "search", "")
    place = made.network.domain.index("sex")
    put(driver, "by-feature", str(place))
    with_sex = [r for r in rules if any(c.feature == "sex" for c in r.conditions)]
    assert all_rules(driver) == [rule.name for rule in with_sex]
    put(driver, "by-class", "1")
    assert all_rules(driver) == [r.name for r in with_sex if r.then == ">50K"]
    put(driver, "by-feature", "")
    put(driver, "by-class", "")
    put(driver, "order", "rows")
    assert all_rules(driver) == [
        r.name for r in sorted(rules, key=lambda r: -r.covered)
    ]
    put(driver, "order", "errors")
    by_errors = sorted(rules, key=lambda r: r.covered_agree - r.covered)
    assert all_rules(driver) == [rule.name for rule in by_errors]


def test_a_rule_opens_and_shows_rows_and_errors(driver, report_of):
    made = case("adult")
    opened(driver, report_of("adult"))
    rule = made.rules.rules[0]
    driver.find_element("css selector", "#rule-0 .more").click()
    detail = texts(driver, "#detail-0")[0]
    assert made.rules.rule_text(rule) in detail
    assert f"{rule.covered - rule.covered_agree:,} of its rows" in detail
    tables = driver.execute_script(
        "return [...document.querySelectorAll('#detail-0 table')].map(t => "
        "[...t.tBodies[0].rows].map(r => [...r.cells].map(c => c.textContent)))"
    )
    assert len(tables) == 2
    labels = {">50K", "<=50K"}
    assert {row[-1] for row in tables[0]} <= labels
    assert {row[-1] for row in tables[1]} == labels - {rule.then}
    button = driver.find_element("css selector", "#rule-0 .more")
    assert button.get_attribute("aria-expanded") == "true"
    button.click()
    assert button.get_attribute("aria-expanded") == "false"


def test_the_slider_says_what_the_first_rules_do(driver, report_of):
    made = case("adult")
    opened(driver, report_of("adult"))
    curve = made.rules.curve(made.rows, made.labels)
    for k in (0, 1, 9, len(made.rules)):
        put(driver, "first", str(k))
        shown = texts(driver, "#first-readout")[0]
        if k == 0:
            assert shown == "Without rules, nothing is covered."
            continue
        assert f"{100 * curve['covered'][k]:.1f}%".replace("100.0", "100") in shown
        agree = f"{100 * curve['accuracy_on_covered'][k]:.1f}% of these as labelled"
        assert agree in shown
    put(driver, "first", "9")
    driver.execute_script("document.getElementById('only-first').click()")
    assert all_rules(driver) == list(made.rules.names[:9])
    driver.execute_script("document.getElementById('all-rules').click()")
    assert all_rules(driver) == list(made.rules.names)


@pytest.mark.parametrize("name", ["car", "adult", "numeric multiclass"])
@pytest.mark.parametrize("dark", [False, True])
def test_nobody_is_shut_out(driver, report_of, name, dark):
    opened(driver, report_of(name))
    driver.execute_script("document.querySelector('#rule-0 .more').click()")
    sized(driver, 1280, dark=dark)
    assert violations(driver) == []
    sized(driver, 1280)


@pytest.mark.parametrize("name", NAMES)
def test_a_phone_never_scrolls_sideways(driver, report_of, name):
    opened(driver, report_of(name))
    driver.execute_script("document.querySelector('#rule-0 .more').click()")
    sized(driver, 360, is_phone=True)
    wide = driver.execute_script("return document.documentElement.scrollWidth")
    sized(driver, 1280)
    assert wide <= 360


def paper_page():
    """Fill the page of the experiments with a table and a figure."""
    columns = (ResultColumn("a<b>"), ResultColumn("<i>", "share", "G"))
    table = ResultTable("t", "<Title>", "& <i>", columns, (("<u>x", 0.5),))
    figure = Figure()
    axes = figure.subplots()
    axes.bar([0], [1], color="#0072b2")
    axes.bar([1], [2], hatch="//", color="#e69f00")
    drawn = inline(saved(figure, "bars", "Bars", "<caption>"))
    return filled_page(
        "paper.html.jinja",
        styles=("page.css", "paper.css"),
        package="research.experiments",
        title="<h1>",
        introduction=["<p>"],
        findings=[("<h3>", ["<li>"])],
        sections={"<h2>": [table, drawn]},
        differences=table,
        reasons=["<p>"],
        gaps=["<li>"],
        better=["<li>"],
        making=["<p>"],
    )


def test_the_page_of_the_experiments_stands_on_the_same_base(driver, tmp_path):
    path = tmp_path / "page.html"
    path.write_text(paper_page(), "utf-8")
    opened(driver, path)
    assert said(driver) == []
    assert asked_for(driver) == []
    fills = driver.execute_script(
        "return [...document.querySelectorAll('svg path')].map("
        "e => getComputedStyle(e).fill)"
    )
    assert "rgb(0, 114, 178)" in fills
    hatches = {fill[5:-2] for fill in fills if fill.startswith("url(")}
    assert hatches
    assert all(driver.find_elements("id", name[1:]) for name in [*hatches])
    assert texts(driver, "figcaption")[0] == "<Title>. & <i>"
    assert texts(driver, "tbody th") == ["<u>x", "<u>x"]
    sized(driver, 360, is_phone=True)
    wide = driver.execute_script("return document.documentElement.scrollWidth")
    sized(driver, 1280)
    assert wide <= 360


def test_the_reader_chooses_light_or_dark(driver, report_of):
    opened(driver, report_of("car"))
    sized(driver, 1280)
    colour = "return getComputedStyle(document.body).backgroundColor"
    light = driver.execute_script(colour)
    driver.find_element("id", "theme").click()
    dark = driver.execute_script(colour)
    assert dark != light
    sized(driver, 1280, dark=True)
    assert driver.execute_script(colour) == dark
    driver.find_element("id", "theme").click()
    assert driver.execute_script(colour) == light
    sized(driver, 1280)


def test_thousands_of_rules_stay_fluid(driver, tmp_path):
    """Ten thousand rules are drawn in slices, and searched between two frames."""
    rng, n_rules = default_rng(13), 10_000
    domain = case("large").network.domain
    boxes = rng.random((n_rules, int(domain.offsets[-1]))) < 0.6
    boxes[:, domain.offsets[:-1]] = True
    answers = rng.integers(2, size=n_rules)
    rules = RuleList.from_boxes(domain, boxes, answers, "no", ("no", "yes"), form="set")
    path = tmp_path / "report.html"
    rules.report(path)
    opened(driver, path)
    drawn = len(shown_rules(driver))
    assert 0 < drawn < 200
    spent = driver.execute_script(
        "const e = document.getElementById('search'), began = performance.now();"
        "for (const word of ['a', 'a =', 'a = b']) { e.value = word;"
        "e.dispatchEvent(new Event('input')); } return performance.now() - began;"
    )
    assert spent < 3 * 500  # on a busy machine; some ten milliseconds on a quiet one
    assert f"of {n_rules:,}" in texts(driver, "#rules-count")[0]


def test_printed_pages_hold_every_rule(driver, report_of):
    opened(driver, report_of("adult"))
    printed = driver.execute_cdp_cmd("Page.printToPDF", {})
    assert base64.b64decode(printed["data"]).startswith(b"%PDF")
    assert shown_rules(driver) == list(case("adult").rules.names)


def test_a_keyboard_reaches_what_a_mouse_does(driver, report_of):
    from selenium.webdriver.common.keys import Keys

    opened(driver, report_of("car"))
    body = driver.switch_to.active_element
    body.send_keys(Keys.TAB)
    assert driver.switch_to.active_element.text == "Skip to the text"
    more = driver.find_element("css selector", "#rule-0 .more")
    driver.execute_script("arguments[0].focus()", more)
    more.send_keys(Keys.ENTER)
    assert texts(driver, "#detail-0") != [""]
    slider = driver.find_element("id", "first")
    before = texts(driver, "#first-readout")
    slider.send_keys(Keys.HOME, Keys.ARROW_RIGHT)
    assert texts(driver, "#first-readout") != before
    assert texts(driver, "#first-readout")[0].startswith("The first rule covers")


# Scorecards


@pytest.mark.parametrize("name", NETWORKS)
def test_a_report_of_a_scorecard_predicts_and_adds_up(driver, tmp_path, name):
    made, path = card_case(name), tmp_path / "report.html"
    made.report(path)
    opened(driver, path)
    assert said(driver) == []
    assert asked_for(driver) == []
    card, domain = made.rules, made.network.domain
    rows = made.random_rows(12, 25) + made.rows[:5]
    expected = index_of(card.classes, card.predict(rows))
    inputs = domain.inputs_of(rows)
    printed = card.table.predict_codes(*inputs).tolist()
    totals = card.table.totals_of(card.table.sums_of(card.table.steps_of(*inputs)))
    for place, row in enumerate(rows):
        found = answer(driver, domain, row)
        assert found["prediction"] == str(expected[place])
        if name == "regions":
            continue
        assert found["proves"] == ("" if printed[place] < 0 else str(printed[place]))
        shown = [number_text(total * card.table.step) for total in totals[place]]
        assert found["totals"] == " ".join(shown)
    assert said(driver) == []


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("name", ["one sum", "parts of classes", "regions"])
def test_a_report_of_a_scorecard_can_be_read(driver, tmp_path, name, width):
    path = tmp_path / "report.html"
    card_case(name).report(path)
    sized(driver, width, is_phone=width < 500)
    opened(driver, path)
    assert violations(driver) == []
    wide = "return document.documentElement.scrollWidth - window.innerWidth"
    assert driver.execute_script(wide) <= 0
    sized(driver, 1280)
