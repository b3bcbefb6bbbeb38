"""Rules as decision tables of DMN."""

import json
import subprocess
from functools import cache
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from export.cases import case
from export.engines.in_drools import ENGINES, errors_of, variables_of
from export.executing import check_export, needs
from export.exportable import all_texts, exportable, rows_for
from nn2rules import Domain, Feature, OptionError, RuleList
from nn2rules.export import program_of
from nn2rules.export.dmn import POLICIES

policies = st.sampled_from(["none", "default"])


def _allowed(rules):
    return POLICIES if rules.form == "set" else ("first", "unique")


@pytest.mark.parametrize("hit_policy", POLICIES)
@settings(max_examples=25)
@given(st.data(), policies, policies)
def test_any_rules_under_each_hit_policy(hit_policy, data, unknown, uncovered):
    rules = data.draw(exportable().filter(lambda r: hit_policy in _allowed(r)))
    rows = rows_for(program_of(rules))
    check_export(
        rules,
        "dmn",
        rows,
        unknown=unknown,
        uncovered=uncovered,
        hit_policy=hit_policy,
    )


@pytest.mark.parametrize("hit_policy", POLICIES)
def test_texts_that_hurt(hit_policy):
    rules = all_texts()
    rows = rows_for(program_of(rules), 1_000)
    check_export(rules, "dmn", rows, hit_policy=hit_policy)


@pytest.mark.parametrize("hit_policy", POLICIES)
@pytest.mark.parametrize("name", ["car list", "car set", "numbers, set for rows"])
def test_cases_under_each_hit_policy(name, hit_policy):
    rules = case(name).rules
    if hit_policy not in _allowed(rules):
        with pytest.raises(OptionError, match="is for rules in any order"):
            rules.export("dmn", hit_policy=hit_policy)
        return
    rows = rows_for(program_of(rules), 2_000)
    check_export(rules, "dmn", rows, hit_policy=hit_policy)
    check_export(rules, "dmn", rows, hit_policy=hit_policy, unknown="default")


def _small() -> RuleList:
    domain = Domain(
        (
            Feature("colour", ("red", "green", "blue")),
            Feature.bins("age", [25, 40.5]),
            Feature("if", (False, True)),
        )
    )
    boxes = np.ones((2, 8), dtype=bool)
    boxes[0, [0, 3]] = False
    boxes[1, [1, 7]] = False
    return RuleList.from_boxes(domain, boxes, [1, 1], "no", ("no", "yes"), form="set")


@pytest.mark.parametrize("hit_policy", POLICIES)
def test_the_engine_finds_nothing_wrong(hit_policy):
    """Neither gaps nor rows that overlap where they must not."""
    assert errors_of(_small().export("dmn", hit_policy=hit_policy)) == []


def test_the_engine_would_find_rows_that_overlap():
    made = _small().export("dmn", hit_policy="any").replace('"ANY"', '"UNIQUE"')
    assert any("overlap" in text.lower() for text in errors_of(made))


@settings(max_examples=50)
@given(st.data())
def test_files_are_valid(data):
    rules = data.draw(exportable())
    made = rules.export("dmn", hit_policy=data.draw(st.sampled_from(_allowed(rules))))
    _schema().assertValid(etree.fromstring(made.encode()))


@cache
def _schema() -> etree.XMLSchema:
    folder = ENGINES / "dmn-moddle/resources/dmn/xsd"
    needs(folder.exists(), "the schema of DMN", "tests/engines.sh installs it")
    return etree.XMLSchema(etree.parse(folder / "DMN13.xsd"))


_IN_NODE = """
import { DmnModdle } from "dmn-moddle";
import { unaryTest } from "feelin";
import { readFileSync } from "node:fs";
const [model, tests] = JSON.parse(readFileSync(0, "utf8"));
const { rootElement, warnings } = await new DmnModdle().fromXML(model);
const [diagram] = rootElement.dmnDI.diagrams;
const drawn = diagram.diagramElements.map((e) => e.dmnElementRef.id);
const held = tests.map(([test, cell]) => {
  const result = unaryTest(test, { "?": cell });
  return result.warnings.length ? result.warnings[0].message : result.value === true;
});
console.log(JSON.stringify({ warnings: warnings.map((w) => w.message), drawn, held }));
"""


@cache
def _has_node() -> bool:
    return (ENGINES / "feelin").exists() and (ENGINES / "dmn-moddle").exists()


def _in_node(model, tests):
    needs(_has_node(), "feelin", "tests/engines.sh installs it")
    found = subprocess.run(
        ["node", "--input-type=module", "-e", _IN_NODE],
        input=json.dumps([model, tests]),
        cwd=ENGINES.parent,
        capture_output=True,
        check=False,
        text=True,
    )
    assert found.returncode == 0, found.stderr
    return json.loads(found.stdout)


def _tests_of(model):
    """Return the tests of each row, and the answer."""
    space = "{https://www.omg.org/spec/DMN/20191111/MODEL/}"
    root = ElementTree.fromstring(model)
    for row in root.iter(f"{space}rule"):
        texts = [e.findtext(f"{space}text") for e in row.iter(f"{space}inputEntry")]
        answer = [e.findtext(f"{space}text") for e in row.iter(f"{space}outputEntry")]
        yield texts, answer


@settings(max_examples=15)
@given(exportable(), st.sampled_from(["first", "unique"]))
def test_another_engine_takes_the_same_rows(rules, hit_policy):
    """The same row of the table is the first, or the only one, in feelin."""
    _check_same_rows(rules, hit_policy)


@pytest.mark.parametrize("hit_policy", ["first", "unique"])
def test_digits_after_what_cannot_be_seen(hit_policy):
    """Feelin reads five or six digits of a number where there are as many."""
    words = (
        "\x080",
        "\x08f00",
        "\u200b12",
        "\\u0008" + "0",
        "\x08g",
        "\U000e0001" + "1",
        "\x1f\U0001239a",
        "\U0001239a\x1f",
    )
    domain = Domain((Feature("word", words),))
    boxes = np.eye(len(words), dtype=bool)[1:]
    answers = [1 - place % 2 for place in range(len(boxes))]
    rules = RuleList.from_boxes(domain, boxes, answers, "no", ("no", "yes"))
    _check_same_rows(rules, hit_policy)
    check_export(rules, "dmn", rows_for(program_of(rules)), hit_policy=hit_policy)


def _check_same_rows(rules, hit_policy):
    program = program_of(rules)
    rows = rows_for(program, 30)
    made = rules.export("dmn", hit_policy=hit_policy)
    table = list(_tests_of(made))
    columns = list(variables_of(made).values())
    pairs = [
        (test, row[column])
        for row in rows
        for tests, _ in table
        for test, column in zip(tests, columns, strict=True)
    ]
    told = _in_node(made, pairs)
    assert told["warnings"] == []
    held = iter(told["held"])
    for row in rows:
        hits = []
        for _, answer in table:
            cells = [next(held) for _ in columns]
            assert all(isinstance(cell, bool) for cell in cells), cells
            if all(cells):
                hits.append(answer)
        assert hit_policy == "first" or len(hits) <= 1
        expected = program.predict(row)
        rule = hits[0][1] if hits else "null"
        assert (None if rule == "null" else json.loads(rule)) == expected.rule


def test_the_diagram_shows_the_decision_and_its_inputs():
    drawn = _in_node(_small().export("dmn"), [])["drawn"]
    inputs = [part for name in ("colour", "age", "if_") for part in _parts(name)]
    assert sorted(drawn) == sorted(["decision", *inputs])


def _parts(name):
    return f"input_{name}", f"need_{name}"


def test_names_of_columns_are_labels_and_told_by_variable():
    made = _small().export("dmn")
    assert variables_of(made) == {"colour": "colour", "age": "age", "if_": "if"}
    assert '<inputData id="input_if_" name="if_" label="if">' in made


@pytest.mark.parametrize("policy", ["unknown", "uncovered"])
def test_errors_are_refused(policy):
    rules = case("numbers, list for rows").rules
    with pytest.raises(OptionError, match=f"{policy}: 'error', but a decision table"):
        rules.export("dmn", **{policy: "error"})


def test_uncovered_is_no_matter_where_all_is_decided():
    rules = case("car list").rules
    assert rules.export("dmn", uncovered="error") == rules.export("dmn")


def test_an_unknown_hit_policy_is_refused():
    with pytest.raises(OptionError, match="expected one of first, any, collect, uniq"):
        case("car list").rules.export("dmn", hit_policy="priority")


def test_too_many_rows_are_refused():
    """Pairs of features, one after the other: what none decides falls to pieces."""
    n_pairs = 16
    domain = Domain(tuple(Feature(f"f{i}", (0, 1)) for i in range(2 * n_pairs)))
    boxes = np.ones((n_pairs, 4 * n_pairs), dtype=bool)
    for pair in range(n_pairs):
        boxes[pair, [4 * pair, 4 * pair + 2]] = False
    rules = RuleList.from_boxes(
        domain, boxes, [1] * n_pairs, "no", ("no", "yes"), form="set"
    )
    with pytest.raises(OptionError, match=r"'any' would need more than 10,000 rows"):
        rules.export("dmn")
    with pytest.raises(OptionError, match=r"'unique' would need more than 10,000 row"):
        rules.export("dmn", hit_policy="unique")
    rows = rows_for(program_of(rules), 200)
    check_export(rules, "dmn", rows, hit_policy="first")
