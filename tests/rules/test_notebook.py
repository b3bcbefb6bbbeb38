"""What notebooks show, what they draw, and the bar while one waits."""

import gc
import json
import re
import sys
from dataclasses import replace
from html.parser import HTMLParser
from io import StringIO
from types import SimpleNamespace

import numpy as np
import pytest
from numba import njit
from rich.console import Console

import nn2rules
from nn2rules import Domain, Feature, RuleList, check, evaluate, extract
from nn2rules.engine import progress
from nn2rules.errors import MissingExtraError, OptionError
from nn2rules.output import html_of
from nn2rules.rules import Facts
from nn2rules.rules.page import page_of

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

TOMATO = nn2rules.load(nn2rules.datasets.network_file("tomato"))
ROWS = TOMATO.domain.decode(next(TOMATO.domain.inputs()))
RULES = extract(TOMATO, data=ROWS)
HOSTILE = (
    "<script>alert(1)</script>",
    "a\nb",
    "\u202eevil",
    '"&',
    "</td><td>",
    "x" * 90,
)


def hostile_rules(form):
    domain = Domain(tuple(Feature(name, HOSTILE) for name in HOSTILE))
    boxes = np.random.default_rng(0).random((7, int(domain.offsets[-1]))) < 0.6
    boxes[:, domain.offsets[:-1]] = True
    return RuleList.from_boxes(
        domain,
        boxes,
        [0, 1, 2, 3, 4, 5, 0],
        HOSTILE[0],
        HOSTILE,
        form=form,
        certificate={
            "engine": "table",
            "class_rows": [9] * 6,
            "influence": {"rows": 54, "of": dict.fromkeys(HOSTILE, 3)},
            "different": 1,
            "method": HOSTILE[0],
        },
    )


class Read(HTMLParser):
    """Reads HTML, and refuses tags that are not closed in order."""

    def __init__(self, html):
        super().__init__()
        self.open, self.tags, self.words = [], set(), []
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag, attrs):  # noqa: D102
        self.tags.add(tag)
        self.open.append(tag)
        assert {name for name, _ in attrs} <= {"class"}

    def handle_endtag(self, tag):  # noqa: D102
        assert self.open.pop() == tag

    def handle_data(self, data):  # noqa: D102
        if self.open and self.open[-1] != "style":
            self.words.append(data)


TAGS = {"div", "style", "p", "span", "table", "tr", "td"}


@pytest.mark.parametrize("form", ["list", "set"])
def test_hostile_names_are_escaped(form):
    rules = hostile_rules(form)
    read = Read(rules._repr_html_())
    assert read.tags == TAGS
    assert "\u202e" not in rules._repr_html_()
    assert all(name in read.words for name in rules.names)
    network = SimpleNamespace(
        domain=rules.domain, classes=HOSTILE, layers=TOMATO.layers
    )
    assert Read(nn2rules.network.network._html_of(network)).tags == TAGS


@pytest.mark.parametrize("form", ["list", "set"])
def test_a_notebook_shows_what_is_printed(form):
    rules = extract(TOMATO, data=ROWS, labels=["ripe"] * len(ROWS), form=form)
    shown = " ".join(Read(rules._repr_html_()).words)

    def words(text):
        return sorted(re.sub(r"\s+", " ", text).split())

    assert words(shown) == words(rules.text(width=1000))


def test_reports_and_networks_are_shown():
    report = check(TOMATO, RULES)
    read = Read(report._repr_html_())
    assert "\n".join(word for word in read.words if word.strip()) == str(report)
    found = evaluate(TOMATO, RULES, ROWS)
    shown = Read(found._repr_html_()).words
    assert "fidelity" in shown
    assert "100% of rows" in shown
    shown = " ".join(Read(TOMATO._repr_html_()).words)
    assert "Network: unripe, ripe" in shown
    assert "small, medium, big" in shown


def test_long_rules_have_many_values_below():
    values = tuple(f"a-long-value-{number}" for number in range(12))
    domain = Domain((Feature("color", values), Feature("size", values)))
    boxes = np.ones((2, 24), dtype=bool)
    boxes[0, 6:12] = boxes[1, 6:23] = False
    rules = RuleList.from_boxes(domain, boxes, [1, 0], 0, (0, 1), form="list")
    rules = rules.replace(facts=[Facts(), Facts(unless=(1,))])
    shown = rules._repr_html_()
    some = ", ".join(values[:6])
    last = f'<span class="kept"><span class="piece short">size = {values[-1]}'
    assert f'<td>if {last}</span></span><div class="below">' in shown
    assert f'name">color</span> &ensp; <span class="piece">{some}</span></div>' in shown
    assert 'below"><span class="piece short">unless 1</span></div></td>' in shown
    lines = [line.strip() for line in rules.text(width=70).splitlines()]
    assert lines[-2] == "unless 1"


def test_what_is_hidden_stands_above_the_default():
    page = page_of(extract(TOMATO), 0, verbose=False)
    words = Read(html_of(page)).words
    assert words.index("…") < words.index("otherwise")


def test_a_report_that_is_not_ok_is_a_warning():
    wrong = check(TOMATO, RULES.replace(default="ripe"))
    assert '<p class="warning">DIFFERENT' in wrong._repr_html_()


# Files and figures


def test_rules_save_themselves(tmp_path):
    RULES.save(tmp_path / "rules.json")
    assert nn2rules.load(tmp_path / "rules.json") == RULES


def drawn(axes):
    return [line.get_ydata().tolist() for line in axes.get_lines()]


def with_support(form, *supports, certificate=None):
    domain = Domain((Feature("x", ("a", "b", "c")),))
    return RuleList.from_boxes(
        domain,
        np.eye(3),
        [1, 0, 1],
        "no",
        ("no", "_$yes$"),
        form=form,
        facts=[Facts(support=number) for number in supports],
        certificate=certificate,
    )


def test_the_curve_of_a_list():
    rules = with_support("list", 6, 3, 1, certificate={"rows": 20})
    axes = rules.plot()
    assert drawn(axes) == [[0, 30, 45, 50]]
    assert axes.get_ylabel() == "% of rows covered"
    assert axes.get_xlabel() == "first rules"
    assert all(tick == int(tick) for tick in axes.get_xticks())
    assert rules.plot(axes) is axes


def test_the_curves_of_a_set():
    axes = with_support("set", 6, 3, 1, certificate={"rows": 20}).plot()
    assert drawn(axes) == [[0, 30, 35], [0, 15]]
    assert len(axes.get_legend().get_texts()) == 2
    assert axes.get_xlabel() == "first rules of a class"
    axes.figure.canvas.draw()  # $ is no formula


def test_the_curve_of_rules_without_rows():
    axes = extract(TOMATO).plot()
    assert drawn(axes) == [[0, 100 / 3]]
    assert axes.get_ylabel() == "% of inputs covered"


def test_a_curve_needs_numbers():
    with pytest.raises(
        OptionError, match="the rows that each rule determines are unknown"
    ):
        with_support("list", None, None, None).plot()
    with pytest.raises(OptionError, match="unknown"):  # of how many rows?
        with_support("list", 6, 3, 1).plot()


def test_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r".\[plot\]"):
        extract(TOMATO).plot()


# Waiting


def test_a_bar_comes_after_a_second(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    console = Console(force_terminal=True, file=StringIO())
    bar = progress.TerminalProgress(console)
    clock[0] = 0.9
    bar("proving", 0.5)
    assert console.file.getvalue() == ""
    clock[0] = 1.1
    bar("proving", 0.6)
    bar.close()
    assert "proving" in console.file.getvalue()


def test_a_notebook_gets_a_line_that_goes_away(monkeypatch):
    clock, shown = [0.0], []
    line = SimpleNamespace(update=lambda text, **_: shown.append(text["text/plain"]))

    def display(text, raw, display_id):
        line.update(text)
        return line

    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(
        progress, "import_module", lambda _: SimpleNamespace(display=display)
    )
    bar = progress.NotebookProgress(Console(file=StringIO()))
    for clock[0], share in ((0.9, 0.1), (1.1, 0.2), (1.2, 0.3), (1.4, 0.4)):
        bar("proving", share)
    bar.close()
    assert shown == ["proving … 20%", "proving … 40%", ""]


def test_which_bar_is_shown(monkeypatch):
    for is_notebook, kind in (
        (True, progress.NotebookProgress),
        (False, progress.TerminalProgress),
    ):
        console = Console(
            force_terminal=True, force_jupyter=is_notebook, file=StringIO()
        )
        monkeypatch.setattr(
            "rich.console.Console", lambda console=console, **_: console
        )
        assert type(progress.progress_callback(None)) is kind


def test_nobody_is_told_where_nobody_looks():
    assert progress.progress_callback(None) is None  # stderr is no terminal here
    assert progress.progress_callback(False) is None
    with pytest.raises(OptionError, match="progress: 3, expected a function"):
        extract(TOMATO, progress=3)


@pytest.mark.parametrize("patience", [0.0, 1e6])
def test_the_compile_wait_is_announced_once(monkeypatch, patience):
    console = Console(force_terminal=True, file=StringIO())
    monkeypatch.setattr("rich.console.Console", lambda **_: console)
    monkeypatch.setattr(progress, "_PATIENCE", patience)
    bar = progress.progress_callback(None)
    assert isinstance(bar, progress.TerminalProgress)
    assert progress.COMPILING not in console.file.getvalue()
    for step in (1, 2.0):  # a kernel for each type
        njit(lambda number: number + 1)(step)
        assert gc.isenabled()
    said = console.file.getvalue().count(progress.COMPILING)
    assert said == (1 if patience == 0.0 else 0)
    bar.close()


@pytest.mark.parametrize("is_closed", [False, True])
def test_nothing_is_announced_once_the_work_is_over(monkeypatch, is_closed):
    console = Console(force_terminal=True, file=StringIO())
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    bar = progress.TerminalProgress(console)
    if is_closed:
        bar.close()
    del bar  # as an error leaves it, too
    njit(lambda number: number + 1)(1)
    assert progress.COMPILING not in console.file.getvalue()


def test_a_function_is_told():
    told = []
    cars = nn2rules.load(nn2rules.datasets.network_file("car"))
    extract(cars, effort=0, progress=lambda what, share: told.append((what, share)))
    assert told
    assert extract(cars, effort=0, progress=False) == extract(cars, effort=0)


def verdicts():
    """Return verdicts of every status, also of two inputs, with hostile words."""
    features = tuple(Feature(name, HOSTILE) for name in HOSTILE[:3])
    weights = np.arange(18.0).reshape(18, 1) % 7 - 3
    layers = (nn2rules.Layer(weights, [0.5], "sigmoid"),)
    network = nn2rules.Network(Domain(features), layers, HOSTILE[:2])
    book = {
        HOSTILE[0]: nn2rules.claims.unreachable(HOSTILE[1]),
        "pairs": nn2rules.claims.independent_of(HOSTILE[0]),
        "always": nn2rules.claims.probability_between(0, 1),
        "late": nn2rules.claims.unreachable(HOSTILE[0]),
    }
    found = nn2rules.verify(network, book, progress=False)
    late = replace(
        found["late"], status="undecided", counterexample=None, reason="<late>"
    )
    return type(found)({**found, "late": late})


def test_verdicts_in_a_notebook():
    found = verdicts()
    assert [v.status for v in found.values()] == [
        "refuted",
        "refuted",
        "proved",
        "undecided",
    ]
    read = Read(found._repr_html_())
    assert read.tags == TAGS
    shown = " ".join(read.words)
    assert "4 claims: 1 proved, 2 refuted, 1 undecided" in shown
    assert "\u202e" not in found._repr_html_()
    for verdict in found.values():
        words = " ".join(Read(verdict._repr_html_()).words)
        assert verdict.status in words
        if verdict.count:
            some = f"{verdict.count:,} of {verdict.total:,} inputs violate it"
            assert some in words
        for way, number in verdict.ways.items() if len(verdict.ways) > 1 else ():
            assert f"{number:,} {way}" in words
    assert "4 claims: 1 proved, 2 refuted, 1 undecided" in str(found)


def test_several_verdicts_are_numbered():
    found = nn2rules.verify(TOMATO, ["never ripe", "never ripe if color = yellow"])
    assert str(found).startswith("1. refuted: never ripe\n")
    assert "2. proved: never ripe if color = yellow" in str(found)
    assert "2 claims: 1 proved, 1 refuted" in " ".join(Read(found._repr_html_()).words)
    assert json.loads(found[0].to_json()) == found[0].to_dict()
