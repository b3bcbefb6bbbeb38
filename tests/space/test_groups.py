"""Features whose values are groups of words: cells, texts, files, rules."""

import io
import json
import re
from itertools import chain, product
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import nn2rules
from naive import code_of
from nn2rules import (
    Condition,
    Domain,
    DomainError,
    Feature,
    FormatError,
    Layer,
    Network,
    OptionError,
    Rule,
    RuleList,
    UnknownValueError,
    UnsupportedModelError,
    cli,
)
from nn2rules.files import from_json, to_json
from nn2rules.language.text import condition_text, value_text
from nn2rules.questions.evaluate.predictions import translation
from nn2rules.space.lookup import UNKNOWN, Lookup
from research.baselines import Trepan
from strategies import read, values

JOBS = Feature.grouped(
    "job", [["judge", "clerk"], ["cook"], ["waiter", None], []], other=3
)
STRANGER = "a word that nobody listed"


@st.composite
def grouped(draw):
    """Draw groups of awkward words, with others and missing in any place."""
    words = draw(
        st.lists(values, unique_by=(read, lambda v: v), min_size=1, max_size=7)
    )
    n_groups = draw(st.integers(1, len(words)))
    places = [draw(st.integers(0, n_groups - 1)) for _ in words]
    groups = [
        [word for word, place in zip(words, places, strict=True) if place == number]
        for number in range(n_groups)
    ]
    groups = [group for group in groups if group]
    other = draw(st.none() | st.integers(0, len(groups)))
    if other == len(groups):
        groups.append([])
    missing = "missing" not in map(read, words) and draw(st.booleans())
    return Feature.grouped("x", groups, other=other, missing=missing)


def plain_code(feature, cell):
    """Return the group of a cell as a reader of the docs would look it up."""
    words = list(chain(*feature.groups))
    if words and (place := code_of(words, cell)) != UNKNOWN:
        return next(c for c, g in enumerate(feature.groups) if words[place] in g)
    if cell is None or cell == "":
        return UNKNOWN
    if cell in feature.values:
        return feature.values.index(cell)
    return UNKNOWN if feature.other is None else feature.other_code


# Which value a cell is ----------------------------------------------------------------


@settings(max_examples=300)
@given(grouped(), values)
def test_a_word_finds_its_group(feature, cell):
    lookup = Lookup(feature)
    for code, group in enumerate(feature.groups):
        for word in group:
            assert lookup[word] == code
    words = [word for word in feature.categories if word is not None]
    among_words = any(isinstance(word, str) for word in words)
    assume(among_words or not (isinstance(cell, str) and Lookup(NUMBERS)[cell] == 1))
    assert lookup[cell] == plain_code(feature, cell)


NUMBERS = Feature("n", (10**9, None))  # shows which texts are gaps among numbers


@settings(max_examples=300)
@given(grouped())
def test_decoded_rows_are_encoded_again(feature):
    domain = Domain((feature,))
    codes = np.arange(len(feature))[:, None]
    assert (domain.encode(domain.decode(codes)) == codes).all()
    assert len(set(map(read, feature.values))) == len(feature)


def test_cells_of_groups():
    cells = ["clerk", "cook", None, "", float("nan"), STRANGER, 7, "judge, clerk"]
    assert [Lookup(JOBS)[cell] for cell in cells] == [0, 1, 2, 2, 2, 3, 3, 0]
    known = Feature.grouped("n", [[1, 2.5], [True, "x"][1:], [False]], missing=True)
    cells = ["1", "2.50", 1.0, np.int64(1), "x", "False", "", 3]
    assert [Lookup(known)[cell] for cell in cells] == [0, 0, 0, 0, 1, 2, 3, UNKNOWN]
    assert Lookup(Feature.grouped("n", [[1, 2]], missing=True))["NA"] == 1


def test_a_name_never_hides_a_word():
    """What is a word of some group, in any spelling, is no name of another."""
    with pytest.raises(DomainError, match=r"'1\.0' cannot name a group"):
        Feature("x", ("1.0", "b"), groups=((5, 6), (1,)))
    with pytest.raises(DomainError, match="'b' cannot name a group"):
        Feature("x", ("b", "c"), groups=(("a",), ("b",)))
    with pytest.raises(DomainError, match="'NA' cannot name a group"):
        Feature("x", ("NA", None), groups=((1, 2), (None,)))
    with pytest.raises(DomainError, match="7 cannot name a group"):
        Feature("x", (7, "b"), groups=(("a",), ("b",)))
    made = Feature.grouped("x", [["a", "b"], ["a, b"], ["other"], []], other=3)
    assert made.values == ("a, b_", "a, b", "other", "other_")
    assert Feature("x", ("low", "high"), groups=((1, 2), (3,))).categories == (1, 2, 3)


def test_an_unknown_word_is_told_the_words():
    feature = Feature.grouped("job", [["judge", "clerk"], ["cook"]])
    with pytest.raises(UnknownValueError) as caught:
        Domain((feature,)).encode([{"job": "pilot"}])
    assert caught.value.fact == (
        "feature 'job' has no value 'pilot'; it has 'judge', 'clerk', 'cook'"
    )


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Feature.grouped("x", []), "has no values"),
        (lambda: Feature.grouped("x", [["a"], []]), "has no words"),
        (lambda: Feature.grouped("x", ["ab"]), "'ab' among its groups, expected a lis"),
        (lambda: Feature.grouped("x", [{"a", "b"}]), "expected a list of lists of wor"),
        (lambda: Feature.grouped("x", [["a"], ["a"]]), "'a' is in its groups twice"),
        (lambda: Feature.grouped("x", [[1], [True]]), "True is in its groups twice"),
        (lambda: Feature.grouped("x", [[1], ["1"]]), "1 and '1', which read the same"),
        (lambda: Feature.grouped("x", [[None]], missing=True), "None is in its groups"),
        (lambda: Feature.grouped("x", [["a"]], other=1), "expected the position of a"),
        (lambda: Feature.grouped("x", [["a"]], other=True), "expected the position of"),
        (lambda: Feature.grouped("x", [["a", [1]]]), "cannot be a value"),
        (lambda: Feature("x", ("a",), groups=(("a",), ("b",))), "2 groups, expected 1"),
        (lambda: Feature("x", (None,), groups=(("a",),)), "group of missing alone"),
        (lambda: Feature("x", ("a",), True, groups=(("a",),)), "no 'ordered'"),
        (lambda: Feature("x", ("a",), labels="b", groups=(("a",),)), "no 'labels'"),
    ],
)
def test_groups_that_make_no_sense(make, message):
    with pytest.raises(DomainError, match=message) as caught:
        make()
    assert "feature 'x'" in str(caught.value) or "cannot be a value" in message


# What rules print ---------------------------------------------------------------------

TEXT = r'"(?:[^"\\]|\\.)*"|[^,{}"]+'


def said(text):
    """Read a printed condition: whether it excludes, and the texts that it names."""
    assert text.startswith("x ")
    for sign, excludes in (("= ", False), ("≠ ", True)):
        if text.startswith(f"x {sign}"):
            return excludes, [text[4:]]
    found = re.fullmatch(r"x (in|all but) \{(.*)\}", text, re.DOTALL)
    assert found, text
    return found[1] != "in", [t.strip() for t in re.findall(TEXT, found[2]) if t != " "]


def is_named(texts, cell):
    """Tell whether a word is among the printed ones; `missing` stands unquoted."""
    if cell is None:
        return "missing" in texts
    plain = [json.loads(t) if t.startswith('"') else t for t in texts if t != "missing"]
    return str(cell) in plain


@settings(max_examples=250)
@given(grouped(), st.data())
def test_what_is_printed_is_true_of_every_word(feature, data):
    chosen = data.draw(st.sets(st.sampled_from(range(len(feature))), min_size=1))
    assume(len(chosen) < len(feature))
    text = condition_text(feature, [feature.values[code] for code in sorted(chosen)])
    excludes, texts = said(text)
    for code, group in enumerate(feature.groups):
        for word in group:
            assert (is_named(texts, word) != excludes) == (code in chosen), text
    if feature.other is None:
        return
    other = feature.other_code
    if not feature.groups[other]:
        assert not (excludes and is_named(texts, feature.other)), text
    has_name = not feature.groups[other] and is_named(texts, feature.other)
    assert (excludes or has_name) == (other in chosen), text


@settings(max_examples=50)
@given(grouped(), st.data())
def test_the_fewest_words_are_printed(feature, data):
    chosen = data.draw(st.sets(st.sampled_from(range(len(feature))), min_size=1))
    assume(len(chosen) < len(feature) and feature.other is None)
    sizes = [len(group) for group in feature.groups]
    inside = sum(sizes[code] for code in chosen)
    _, texts = said(condition_text(feature, [feature.values[c] for c in chosen]))
    assert len(texts) == min(inside, sum(sizes) - inside)


@pytest.mark.parametrize(
    ("codes", "text"),
    [
        ([0], "job in {judge, clerk}"),
        ([1], "job = cook"),
        ([2], "job in {waiter, missing}"),
        ([3], "job = other"),
        ([0, 1, 2], "job in {judge, clerk, cook, waiter, missing}"),
        ([0, 2, 3], "job ≠ cook"),
        ([0, 1, 3], "job all but {waiter, missing}"),
        ([1, 3], "job in {cook, other}"),
    ],
)
def test_words_of_conditions(codes, text):
    assert condition_text(JOBS, [JOBS.values[code] for code in codes]) == text


def test_a_group_with_words_and_all_others():
    jobs = Feature.grouped("job", [["judge", "clerk", "cook"], ["waiter"]], other=1)
    texts = [condition_text(jobs, [value]) for value in jobs.values]
    assert texts == ["job in {judge, clerk, cook}", "job all but {judge, clerk, cook}"]
    shown = [value_text(jobs, value) for value in jobs.values]
    assert shown == ["{judge, clerk, cook}", "{waiter, other}"]


# Networks and rules -------------------------------------------------------------------


def network_of(jobs=JOBS, seed=0):
    domain = Domain((jobs, Feature("size", (1, 2, 3)), Feature("own", (False, True))))
    rng = np.random.default_rng(seed)
    first = rng.integers(-4, 5, (int(domain.offsets[-1]), 3)) * 1.0
    last = rng.integers(-3, 4, (3, 1)) * 1.0
    layers = (
        Layer(first, rng.integers(-2, 3, 3) * 1.0, "relu"),
        Layer(last, [-0.5], "sigmoid"),
    )
    return Network(domain, layers, ("no", "yes"))


def rows_of(network):
    """Return every row of words, and one of a stranger."""
    columns = [
        [*feature.categories, *([STRANGER] if feature.other is not None else [])]
        for feature in network.domain.features
    ]
    return [
        dict(zip(network.domain.names, row, strict=True)) for row in product(*columns)
    ]


def answer(network, row):
    """Return the label of a row of words, in plain arithmetic."""
    picked = []
    for feature, start in zip(
        network.domain.features, network.domain.offsets, strict=False
    ):
        groups = getattr(feature, "groups", [[value] for value in feature.values])
        codes = [
            code for code, group in enumerate(groups) if row[feature.name] in group
        ]
        code = codes[0] if codes else feature.other_code
        picked.append(int(start) + code)
    first, last = network.layers
    hidden = np.maximum(first.weights[picked].sum(axis=0) + first.bias, 0)
    return network.classes[int((hidden @ last.weights + last.bias)[0] > 0)]


@pytest.mark.parametrize("options", [{}, {"form": "set"}, {"engine": "search"}])
def test_rules_answer_every_word_as_the_network_does(options):
    for seed in range(2):
        network = network_of(seed=seed)
        rows = rows_of(network)
        expected = [answer(network, row) for row in rows]
        rules = nn2rules.extract(network, data=rows, **options)
        frame = pd.DataFrame(rows, dtype=object)
        for given_rows in (rows, frame):
            assert list(network.predict(given_rows)) == expected
            assert list(rules.predict(given_rows)) == expected
        assert from_json(to_json(rules)) == rules
        assert nn2rules.check(network, from_json(to_json(rules))).ok
        report = nn2rules.evaluate(network, rules, rows)
        assert report.domain.low == 1


def test_rules_and_networks_print_words():
    network = network_of()
    conditions = (Condition("job", JOBS.values[1:3]),)
    rules = RuleList(network.domain, [Rule(conditions, "yes")], "no", ("no", "yes"))
    assert "yes  if job in {cook, waiter, missing}" in str(rules)
    assert rules.to_frame()["job"].tolist() == ["in {cook, waiter, missing}", ""]
    assert "{cook, waiter, missing}" in rules._repr_html_()
    assert "{judge, clerk}, cook, {waiter, missing}, other" in network._repr_html_()


def test_groups_belong_to_what_rules_say():
    one = Feature("job", ("a", "b"), groups=(("clerk",), ("cook",)))
    two = Feature("job", ("a", "b"), groups=(("cook",), ("clerk",)))
    digests = {
        RuleList(Domain((jobs,)), (), "no", ("no", "yes")).digest
        for jobs in (one, two, Feature("job", ("a", "b")))
    }
    assert len(digests) == 3


@settings(max_examples=100)
@given(grouped())
def test_groups_survive_files(feature):
    weights = np.arange(len(feature) * 1.0)[:, None]
    layers = (Layer(weights, [0.0], "sigmoid"),)
    network = Network(Domain((feature,)), layers, ("no", "yes"))
    again = from_json(to_json(network))
    assert again == network
    assert [*map(repr, again.domain.features)] == [repr(feature)]
    rules = RuleList(network.domain, (), "no", ("no", "yes"))
    assert from_json(to_json(rules)).digest == rules.digest


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ("clerk", r"features\[0\]\.groups"),
        (["clerk", "cook"], r"features\[0\]\.groups\[0\]: expected a list"),
        ([["clerk"]], r"features\[0\].*1 groups, expected 2"),
        ([["clerk"], ["clerk"]], r"features\[0\].*'clerk' is in its groups twice"),
        ([["clerk"], [["cook"]]], r"groups\[1\]\[0\]: expected a single value"),
    ],
)
def test_malformed_groups(groups, message):
    feature = {"name": "job", "values": ["a", "b"], "groups": groups}
    layer = {"weights": [[1], [2]], "bias": [0], "activation": "sigmoid"}
    document = {
        "format": "nn2rules-network/1",
        "features": [feature],
        "layers": [layer],
        "classes": ["no", "yes"],
    }
    with pytest.raises(FormatError, match=message):
        from_json(json.dumps(document))


# The checker, and other readers -------------------------------------------------------


def regrouped(network, feature):
    domain = Domain((feature, *network.domain.features[1:]))
    return Network(domain, network.layers, network.classes)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ((("judge",), ("cook",), ("waiter", None), ()), "the network has 'clerk'"),
        (
            (("judge", "clerk", "pilot"), ("cook",), ("waiter", None), ()),
            "the rules have 'pilot'",
        ),
        (None, "group 'judge, clerk': the rules have 'judge, clerk'"),
    ],
)
def test_the_checker_refuses_other_groups(groups, message):
    network = network_of()
    theirs = Feature("job", JOBS.values, other="other", groups=groups)
    rules = nn2rules.extract(regrouped(network, theirs), form="rules")
    with pytest.raises(DomainError, match=message):
        nn2rules.check(network, rules)


def test_the_checker_takes_words_in_any_order():
    network = network_of()
    turned = tuple(group[::-1] for group in JOBS.groups)
    theirs = Feature("job", JOBS.values, other="other", groups=turned)
    rules = nn2rules.extract(regrouped(network, theirs), form="rules")
    assert nn2rules.check(network, rules).ok
    wrong = RuleList(network.domain, (), "no", ("no", "yes"))
    report = nn2rules.check(network, wrong)
    assert not report.ok
    rows = [example.row for example in report.counterexamples]
    assert set(network.predict(rows)) == {"yes"}


def test_a_part_of_a_group_is_not_impossible():
    network = network_of()
    part = [{"job": "judge", "size": 1}]
    with pytest.raises(OptionError, match="'judge' is only a part of what the value"):
        nn2rules.extract(network, impossible=part)
    with pytest.raises(OptionError, match="is only a part of what the value 'other'"):
        nn2rules.extract(network, impossible=[{"job": STRANGER}])
    with pytest.raises(OptionError, match="groups categories; give a list of dicts"):
        nn2rules.extract(network, impossible=lambda rows: [False] * len(rows))
    rules = nn2rules.extract(network, form="rules")
    with pytest.raises(OptionError, match="has no value 'judge'"):
        nn2rules.check(network, rules, impossible=part)
    for whole in (["judge", "clerk"], "judge, clerk", ["waiter", None], "other"):
        boxes = [{"job": whole, "size": 1}]
        found = nn2rules.extract(network, impossible=boxes)
        report = nn2rules.check(network, found, impossible=boxes)
        assert report.ok
        assert report.impossible == 2


def test_a_number_of_a_bin_is_not_impossible_alone():
    domain = Domain((Feature.bins("age", (30,)), Feature("own", (False, True))))
    layers = (Layer([[1.0], [-1.0], [2.0], [-2.0]], [0.0], "sigmoid"),)
    network = Network(domain, layers, ("no", "yes"))
    with pytest.raises(OptionError, match="25 is only a part of what the value"):
        nn2rules.extract(network, impossible=[{"age": 25}])
    assert nn2rules.extract(network, impossible=[{"age": "(-inf, 30)"}])


def test_models_are_not_read_at_one_word_of_a_group():
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    data = pd.DataFrame({"job": ["judge", "clerk", "cook"] * 3})
    model = make_pipeline(OneHotEncoder(), LogisticRegression())
    model.fit(data, [0, 1, 0] * 3)
    jobs = Feature.grouped("job", [["judge", "clerk"], ["cook"]])
    for domain in ({"job": jobs}, Domain((jobs,))):
        with pytest.raises(UnsupportedModelError, match="groups of categories, whose"):
            nn2rules.read_network(model, data=data, domain=domain)
    rules = RuleList(Domain((jobs,)), (), 0, (0, 1))
    found = nn2rules.evaluate(model, rules, data).domain  # read word by word
    assert (found.how, found.same, found.inputs) == ("counted", 2, 3)
    unread = SimpleNamespace(predict=model.predict)
    assert nn2rules.evaluate(unread, rules, data).domain is None
    with pytest.raises(OptionError, match="has groups of words, which the oracle may"):
        Trepan(model, domain=Domain((jobs,))).fit(data)


def test_the_network_is_compared_where_its_groups_lie_in_those_of_rules():
    fine = network_of(Feature.grouped("job", [["a"], ["b"], ["c", "d"]]))

    def translated(groups, **options):
        coarse = Feature.grouped("job", groups, **options)
        domain = Domain((coarse, *fine.domain.features[1:]))
        rules = RuleList(domain, (), "no", ("no", "yes"))
        found = translation(fine, rules)
        if found is None:
            return None
        codes = np.array([[0, 0, 0], [1, 0, 0], [2, 0, 0]])
        return found(codes, None).codes[:, 0].tolist()

    assert translated([["a", "b"], ["c", "d"]]) == [0, 0, 1]
    assert translated([["c", "d"], ["a"], []], other=2) == [1, 2, 0]
    assert translated([["a", "b", "c"], ["d"]]) is None
    assert translated([["a", "b"], ["c"]]) is None


def test_the_command_line_takes_words(tmp_path):
    network = network_of()
    nn2rules.save(network, tmp_path / "network.json")
    rows = [row for row in rows_of(network) if row["job"] != STRANGER]
    pd.DataFrame(rows).to_csv(tmp_path / "rows.csv", index=False)
    given_network, rules = (str(tmp_path / f"{n}.json") for n in ("network", "rules"))
    answered = [
        CliRunner().invoke(cli.app, arguments)
        for arguments in (
            ["extract", given_network, "-o", rules],
            ["check", given_network, rules],
            ["predict", rules, str(tmp_path / "rows.csv")],
        )
    ]
    assert [result.exit_code for result in answered] == [0, 0, 0]
    found = pd.read_csv(io.StringIO(answered[2].stdout), dtype=str)
    assert found["prediction"].tolist() == [answer(network, row) for row in rows]


def test_values_that_are_the_words_themselves():
    plain = Feature.grouped("job", [["clerk"], [7], []], other=2, missing=True)
    assert not plain.joins_categories
    named = Feature("job", ("few", "many"), groups=((1,), (2,)))
    assert named.joins_categories
    more = Feature(
        "job", ("clerk", "cook"), other="cook", groups=(("clerk",), ("cook",))
    )
    assert more.joins_categories


@pytest.mark.parametrize(
    ("ask", "option"),
    [
        (
            lambda n, _: nn2rules.verify(n, "never b", impossible=[{"job": "cook"}]),
            "imp",
        ),
        (
            lambda n, _: nn2rules.verify(
                n, nn2rules.questions.claims.implies({"job": "cook"}, "b")
            ),
            "implies",
        ),
        (lambda n, r: nn2rules.explain(n, r, impossible=[{"job": "cook"}]), "imp"),
        (lambda n, r: nn2rules.explain(n, r, forbidden={"job": "cook"}), "forbidden"),
    ],
)
def test_what_is_said_of_a_word_is_not_taken_for_its_group(ask, option):
    job = Feature.grouped("job", [["clerk", "cook"], ["judge"]])
    layer = Layer([[1.0], [-1.0]], [0.0], "sigmoid")
    network = Network(Domain((job,)), (layer,), ("a", "b"))
    with pytest.raises(OptionError, match=f"{option}.*only a part of"):
        ask(network, {"job": "judge"})
