"""What condition_text prints is read again, and mistakes are pointed at."""

import json
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nn2rules import Condition, Domain, Feature, OptionError, ParseError
from nn2rules.language import (
    conditions_for,
    input_conditions,
    read_conditions,
    values_for,
)
from nn2rules.language.text import allowed_text, condition_text, quoted
from nn2rules.space import Range
from nn2rules.space.conditions import boxes_of, conditions_of
from nn2rules.space.lookup import Lookup
from nn2rules.space.values import plain_number
from strategies import domains, texts

LABELS = [
    ("17–41", "42–65", "66–90"),
    ("17–41", "41–65", "66–90"),
    ("< 5", "5-9", "10+"),
    ("3", "2", "1"),
    ("a < b", "a", "b (new)"),
]


NUMBERS = st.floats(-1e6, 1e6) | st.floats(allow_nan=False, allow_infinity=False)
WORDS = ["clerk", "cook", "judge", "other", "a, b", "in", "3", "clerk cook"]


@st.composite
def grouped(draw, name):
    """Features with groups of words, those with awkward ones, too."""
    gap = draw(st.sampled_from(["missing", None]))
    words = draw(st.permutations([*WORDS, 3.5, 7, True, gap]))
    words = words[: draw(st.integers(1, len(words)))]
    n_groups = draw(st.integers(1, len(words)))
    places = [*range(n_groups), *(draw(st.integers(0, n_groups - 1)) for _ in words)]
    groups = [
        [word for word, own in zip(words, places, strict=False) if own == place]
        for place in range(n_groups)
    ]
    groups += [[]] if draw(st.booleans()) else []
    other = len(groups) - 1 if not groups[-1] or draw(st.booleans()) else None
    return Feature.grouped(name, groups, other=other)


@st.composite
def features(draw, name):
    """Features of every kind that conditions can speak of."""
    kind = draw(
        st.sampled_from(
            ["bins", "whole", "real", "years", "labels", "numbers", "groups"]
        )
    )
    missing = draw(st.booleans())
    if kind == "groups":
        return draw(grouped(name))
    if kind == "bins":
        edges = draw(st.lists(NUMBERS, min_size=1, max_size=4, unique_by=plain_number))
        return Feature.bins(name, tuple(sorted(edges)), missing=missing)
    if kind == "whole":
        edges = draw(
            st.lists(st.integers(-99, 99), min_size=1, max_size=4, unique=True)
        )
        return Feature.bins(name, tuple(sorted(edges)), missing=missing, whole=True)
    special = draw(st.sampled_from([[], [999], [-1, "unknown"], ["missing", 999]]))
    special = special if not (missing and "missing" in special) else [999]
    if kind == "real":
        high = draw(st.sampled_from([20, 1e300, sys.float_info.max]))
        special = [-999 if high > 20 and s == 999 else s for s in special[:2]]
        return Feature.real(name, -0.5, high, special=special, missing=missing)
    if kind == "years":
        return Feature.real(name, 17, 90, whole=True, special=special, missing=missing)
    if kind == "labels":
        values = ("low", "mid", "high", *([None] if missing else []))
        labels = draw(st.sampled_from(LABELS)) + (("gone",) if missing else ())
        return Feature(name, values, draw(st.booleans()), labels)
    other = draw(st.booleans())
    values = (
        1,
        2.5,
        3,
        10,
        *([None] if missing else []),
        *(["other"] if other else []),
    )
    return Feature(name, values, True, other="other" if other else None)


@st.composite
def conditions(draw, domain):
    """Conditions on some features, with spans where these are ranges."""
    found = []
    for feature in domain.features:
        if draw(st.booleans()):
            continue
        values = list(feature.values)
        spans = []
        if isinstance(feature, Range):
            values, (low, high) = values[1:], feature.limits
            kind = st.integers(17, 90) if feature.whole else st.floats(low, high)
            ends = sorted(draw(st.lists(kind, max_size=6, unique_by=plain_number)))
            ends = ends[: len(ends) // 2 * 2]
            spans = list(zip(ends[::2], ends[1::2], strict=True))
            spans = draw(st.sampled_from([spans, [feature.limits], []]))
        chosen = draw(
            st.lists(st.sampled_from(values), unique=True) if values else st.just([])
        )
        if spans or chosen:
            found.append(Condition(feature.name, (*spans, *chosen)))
    made, boxes = boxes_of(domain, [tuple(found)])
    return conditions_of(made, boxes)[0]


def printed(domain, found):
    parts = [condition_text(domain.feature(c.feature), c.values) for c in found]
    return " and ".join(parts) if parts else "anything"


@given(st.data())
def test_what_is_printed_is_read_of_every_kind_of_feature(data):
    names = data.draw(st.lists(texts, min_size=1, max_size=3, unique=True))
    domain = Domain(tuple(data.draw(features(name)) for name in names))
    found = data.draw(conditions(domain))
    assert read_conditions(printed(domain, found), domain) == found


@given(st.data())
def test_what_is_printed_is_read_of_awkward_words(data):
    domain = data.draw(domains())
    found = data.draw(conditions(domain))
    assert read_conditions(printed(domain, found), domain) == found


@given(st.data())
def test_inputs_in_words_are_read(data):
    names = data.draw(st.lists(texts, min_size=1, max_size=3, unique=True))
    domain = Domain(tuple(data.draw(features(name)) for name in names))
    row, told = {}, {}
    for feature in domain.features:
        values = st.sampled_from(feature.values)
        if isinstance(feature, Range):
            low, high = feature.limits
            numbers = st.integers(17, 90) if feature.whole else st.floats(low, high)
            beside = feature.values[feature.n_plain :]
            values = numbers | st.sampled_from(beside) if beside else numbers
        value = row[feature.name] = data.draw(values)
        is_span = isinstance(feature, Range) and value not in beside
        if len(feature) > 1 or is_span:
            told[feature.name] = ((value, value) if is_span else value,)
    found = read_conditions(" · ".join(input_conditions(domain, row)), domain)
    assert {condition.feature: condition.values for condition in found} == told


@given(st.data())
def test_what_stands_beside_a_name_is_read(data):
    domain = Domain((data.draw(features("x y")),))
    for condition in data.draw(conditions(domain)):
        text = f"{quoted('x y')}  {allowed_text(domain.features[0], condition.values)}"
        assert read_conditions(text, domain) == (condition,)


@given(st.data())
def test_signs_may_be_ascii_and_spaces_left_out(data):
    domain = Domain((data.draw(features("x")), Feature("job", ("a", "b", "c"))))
    found = data.draw(conditions(domain))
    text = printed(domain, found)
    for sign, plain in {"≤": "<=", "≥": ">=", "≠": "!="}.items():
        text = text.replace(f" {sign} ", plain)
    assert read_conditions(text, domain) == found


PEOPLE = Domain(
    (
        Feature("education", ("School", "Doctorate")),
        Feature.bins("age", (25, 40, 65), missing=True),
        Feature("size", ("small", "medium", "big"), ordered=True),
        Feature.real("income", 0, 1000, whole=True, special=[9999]),
    )
)


@pytest.mark.parametrize(
    ("text", "place", "reason"),
    [
        ("", 0, "expected one of education, age, size, income"),
        ("educaton = School", 0, "there is no feature educaton; there are education"),
        ("education = Kindergarten", 12, "has no value Kindergarten; it has School"),
        ("education ≥ School", 12, "feature 'education' has no order"),
        ("education School", 10, "expected =, ≠, ≤, ≥, <, >, in or is, behind"),
        ("age ≥ 30", 6, "30 lies inside a bin of feature 'age'; the model only d"),
        ("age ≥ 25 size = big", 9, "expected 'and', or the end"),
        ("size in small", 8, "expected values in braces"),
        ("size in {small big}", 15, "expected ',' or '}'"),
        ("size ≥ 3", 7, "feature 'size' has words, not numbers; 3 is none of them"),
        (
            "income = 2000",
            9,
            "feature 'income' has no value 2000, only whole numbers from 0 to 1000",
        ),
        ("(size = big or age ≥ 40)", 15, "'or' joins what is said of one feature"),
        ("age ≥ old", 6, "feature 'age' has no value old; it has"),
        ("age between 25 to 40", 15, "expected 'and'"),
        ("(size = big", 11, "expected 'or', or ')'"),
        ('education = "School', 12, "the quotation mark is never closed"),
        ("age < 40 and age ≥ 65", 20, "no value of feature 'age' meets all cond"),
    ],
)
def test_mistakes_are_pointed_at(text, place, reason):
    with pytest.raises(ParseError) as raised:
        read_conditions(text, PEOPLE)
    assert raised.value.place == place
    assert reason in raised.value.reason
    first, shown, caret = str(raised.value).split("\n")
    assert (first, shown) == (raised.value.reason, f"  {text}")
    assert caret == " " * (place + 2) + "^"


def test_what_is_said_twice_of_a_feature_holds_together():
    assert read_conditions("age ≥ 25 and age < 65", PEOPLE) == (
        Condition("age", ("[25, 40)", "[40, 65)")),
    )


def test_special_numbers_are_meant_where_a_comparison_holds_for_them():
    assert read_conditions("income > 500", PEOPLE) == (
        Condition("income", ((501, 1000), 9999)),
    )
    assert read_conditions("500 < income ≤ 1000", PEOPLE) == (
        Condition("income", ((501, 1000),)),
    )


def test_conditions_as_a_mapping():
    said = {"income": [(0, 10), 9999], "age": ["[25, 40)", None], "size": "big"}
    assert conditions_for(PEOPLE, said, "within") == (
        Condition("age", ("[25, 40)", None)),
        Condition("size", ("big",)),
        Condition("income", ((0, 10), 9999)),
    )
    assert conditions_for(PEOPLE, None, "within") == ()
    labelled = Domain((Feature("age", ("low", "high"), True, ("17–41", "42–90")),))
    for value in ("high", "42–90"):
        assert conditions_for(labelled, {"age": value}, "within") == (
            Condition("age", ("high",)),
        )
    everything = {"size": ["small", "medium", "big"]}
    assert conditions_for(PEOPLE, everything, "within") == ()
    with pytest.raises(OptionError, match="within: 3, expected a text, or a dict"):
        conditions_for(PEOPLE, 3, "within")
    with pytest.raises(OptionError, match="within: no value is listed"):
        conditions_for(PEOPLE, {"size": []}, "within")
    with pytest.raises(ValueError, match="there is no feature 'height'"):
        conditions_for(PEOPLE, {"height": 3}, "within")
    with pytest.raises(ValueError, match="feature 'size' has no value 'huge'"):
        conditions_for(PEOPLE, {"size": "huge"}, "within")
    with pytest.raises(OptionError, match="30 is only a part of what the value"):
        conditions_for(PEOPLE, {"age": 30}, "within")
    with pytest.raises(OptionError, match="expected two numbers, \\(low, high\\)"):
        conditions_for(PEOPLE, {"income": (1, 2, 3)}, "within")
    with pytest.raises(OptionError, match=r"and \(9, 1\) is reversed; expected"):
        conditions_for(PEOPLE, {"income": (9, 1)}, "within")
    with pytest.raises(OptionError, match=r"0 to 1000, and \(-9, -1\) has none of its"):
        conditions_for(PEOPLE, {"income": (-9, -1)}, "within")


def test_values_for_keeps_a_feature_of_which_all_values_are_named():
    said = {"size": ["small", "medium", "big"], "income": (np.int64(3), np.int64(4))}
    income, size = PEOPLE.index("income"), PEOPLE.index("size")
    found = values_for(PEOPLE, said, "forbidden")
    assert list(found) == sorted([income, size])
    assert found[size].codes == {0, 1, 2}
    assert found[income].spans == ((3, 4),)


JOBS = Domain(
    (
        Feature.grouped("job", [["clerk", "cook"], ["judge"], ["nurse", 7]], other=2),
        Feature.grouped("town", [["Ulm", "Bonn"], ["Kiel", None], []], other=2),
        Feature("color", ("red", "other"), other="other"),
        Feature.bins("age", (25, 26, 40), whole=True),
        Feature.bins("income", (2800, 5000)),
    )
)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("job in {clerk, cook}", ("clerk, cook",)),
        ("job in {cook, clerk, judge}", ("clerk, cook", "judge")),
        ('job = "clerk, cook"', ("clerk, cook",)),
        ('job in {"cook", "clerk"}', ("clerk, cook",)),
        ("job = judge", ("judge",)),
        ("job in {nurse, 7, other}", ("nurse, 7, other",)),
        ("job in {nurse, 7.0, other}", ("nurse, 7, other",)),
        ("job all but {clerk, cook}", ("judge", "nurse, 7, other")),
        ("job not in {judge, clerk, cook}", ("nurse, 7, other",)),
        ("job ≠ judge", ("clerk, cook", "nurse, 7, other")),
        ("town in {Kiel, missing}", ("Kiel, missing",)),
        ("town = other", ("other",)),
        ("town in {other, Ulm, Bonn}", ("Ulm, Bonn", "other")),
        ("color = other", ("other",)),
        ("age = 25", ("[25, 26)",)),
    ],
)
def test_groups_are_named_by_all_of_their_words(text, values):
    [condition] = read_conditions(text, JOBS)
    assert condition.values == values


@pytest.mark.parametrize(
    ("text", "place", "reason"),
    [
        (
            "job = clerk",
            6,
            "clerk is only a part of the group {clerk, cook} of feature 'job', which "
            "the model does not tell apart; write job in {clerk, cook}",
        ),
        ("job ≠ clerk", 6, "write job in {clerk, cook}"),
        ("job in {judge, clerk}", 15, "clerk is only a part of the group {clerk, cook"),
        ("job all but {cook}", 13, "cook is only a part of the group {clerk, cook}"),
        ("job in {nurse, 7}", 15, "write job in {nurse, 7, other}"),
        ("job = other", 6, "other is only a part of the group {nurse, 7, other}"),
        (
            "job = pilot",
            6,
            "feature 'job' does not list pilot, which is only one of what {nurse, 7, "
            "other} stands for; it has {clerk, cook}, judge, {nurse, 7, other}",
        ),
        ('job = "pilot"', 6, 'does not list "pilot"'),
        ("town = missing", 7, "write town in {Kiel, missing}"),
        ('color = "blue"', 8, "blue is only a part of what the model tells apart of"),
        ("income = 3000", 9, "write 2800 ≤ income < 5000"),
        ("age in {25, 30}", 12, "write 26 ≤ age ≤ 39"),
    ],
)
def test_a_part_of_a_value_is_not_taken_for_all_of_it(text, place, reason):
    with pytest.raises(ParseError) as raised:
        read_conditions(text, JOBS)
    assert reason in raised.value.reason
    assert raised.value.place == place


@given(st.data())
def test_words_are_read_as_rows_are(data):
    feature = data.draw(grouped("job"))
    words = [word for word in feature.categories if isinstance(word, str)]
    chosen = data.draw(
        st.lists(st.sampled_from(words), unique=True) if words else st.just([])
    )
    codes = {Lookup(feature)[word] for word in chosen}
    is_whole = bool(chosen) and {
        word for code in codes for word in feature.groups[code]
    } == set(chosen)
    is_whole = is_whole and feature.other not in [feature.values[c] for c in codes]
    text = f"job in {{{', '.join(map(json.dumps, chosen))}}}"
    if is_whole:
        said = conditions_for(Domain((feature,)), text, "within")
        assert {v for c in said for v in c.values} in (
            set(),
            {feature.values[code] for code in codes},
        )
        assert bool(said) == (len(codes) < len(feature))
    else:
        with pytest.raises(ParseError):
            read_conditions(text, Domain((feature,)))


def test_thousands_of_values_and_conditions_are_read():
    values = tuple(f"z{number}" for number in range(2400))
    domain = Domain((Feature("zip", values),))
    listed = "zip in {" + ", ".join(values[:1200]) + "}"
    [found] = read_conditions(listed, domain)
    assert found.values == values[:1200]
    many = " and ".join(f"zip ≠ {value}" for value in values[:1200])
    [found] = read_conditions(many, domain)
    assert found.values == values[1200:]
