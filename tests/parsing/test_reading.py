"""What condition_text prints is read again, and mistakes are pointed at."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nn2rules import Condition, Domain, Feature, OptionError, ParseError
from nn2rules.boxes import boxes_of, conditions_of
from nn2rules.parsing import conditions_for, read_conditions
from nn2rules.text import allowed_text, condition_text, quoted
from strategies import domains, texts

LABELS = [
    ("17–41", "42–65", "66–90"),
    ("17–41", "41–65", "66–90"),
    ("< 5", "5-9", "10+"),
    ("3", "2", "1"),
    ("a < b", "a", "b (new)"),
]


@st.composite
def features(draw, name):
    """Features of every kind that conditions can speak of."""
    kind = draw(
        st.sampled_from(["bins", "whole", "real", "years", "labels", "numbers"])
    )
    missing = draw(st.booleans())
    if kind == "bins":
        edges = draw(
            st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=4, unique=True)
        )
        return Feature.bins(name, tuple(sorted(edges)), missing=missing)
    if kind == "whole":
        edges = draw(
            st.lists(st.integers(-99, 99), min_size=1, max_size=4, unique=True)
        )
        return Feature.bins(name, tuple(sorted(edges)), missing=missing, whole=True)
    special = draw(st.sampled_from([[], [999], [-1, "unknown"], ["missing", 999]]))
    special = special if not (missing and "missing" in special) else [999]
    if kind == "real":
        return Feature.real(name, -0.5, 20, special=special[:2], missing=missing)
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
        if feature.limits is not None:
            values, (low, high) = values[1:], feature.limits
            kind = st.integers(17, 90) if feature.whole else st.floats(low, high)
            ends = sorted(draw(st.lists(kind, max_size=6, unique=True)))
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
        ("age ≥ 30", 6, "30 parts a bin of feature 'age', of which the model knows no"),
        ("age ≥ 25 size = big", 9, "expected 'and', or the end"),
        ("size in small", 8, "expected values in braces"),
        ("size in {small big}", 15, "expected ',' or '}'"),
        ("size ≥ 3", 7, "feature 'size' has words, not numbers; 3 is none of them"),
        ("income = 2000", 9, "feature 'income' has no value 2000, only 0 to 1000"),
        ("(size = big or age ≥ 40)", 15, "'or' joins what is said of one feature"),
        ("age ≥ old", 6, "feature 'age' has no value old; it has"),
        ("age between 25 to 40", 15, "expected 'and'"),
        ("(size = big", 11, "expected 'or', or ')'"),
        ('education = "School', 12, "the quotation mark is never closed"),
        ("age < 40 and age ≥ 65", 20, "no value of feature 'age' meets all that"),
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
    with pytest.raises(OptionError, match="within: feature 'size' allows no value"):
        conditions_for(PEOPLE, {"size": []}, "within")
    with pytest.raises(ValueError, match="there is no feature 'height'"):
        conditions_for(PEOPLE, {"height": 3}, "within")
    with pytest.raises(ValueError, match="feature 'size' has no value 'huge'"):
        conditions_for(PEOPLE, {"size": "huge"}, "within")
    with pytest.raises(OptionError, match="30 is only a part of what the value"):
        conditions_for(PEOPLE, {"age": 30}, "within")
    with pytest.raises(OptionError, match="expected two numbers, \\(low, high\\)"):
        conditions_for(PEOPLE, {"income": (1, 2, 3)}, "within")


@given(st.data())
def test_groups_are_said_by_all_of_their_words(data):
    words = data.draw(st.lists(texts, min_size=3, max_size=6, unique=True))
    groups = [[*words[:2], *([None] * data.draw(st.booleans()))], words[2:]]
    other = data.draw(st.sampled_from([None, 0, 1]))
    try:
        feature = Feature.grouped("job", groups, other=other)
    except ValueError:  # a name that a group cannot have
        return
    said = {"missing", "other"} & {*words}  # printed like what stands for no word
    for values in ((feature.values[0],), (feature.values[1],)):
        text = condition_text(feature, values)
        if not said:
            read = read_conditions(text, Domain((feature,)))
            assert read == (Condition("job", values),)


def test_a_part_of_a_group_is_pointed_at():
    domain = Domain((Feature.grouped("job", [["clerk", "cook"], ["judge"]]),))
    with pytest.raises(ParseError, match=r"clerk is only a part of {clerk, cook}"):
        read_conditions("job in {clerk, judge}", domain)
    with pytest.raises(ParseError, match="expected ',' or '}'"):
        read_conditions("job in {clerk, judge", domain)


def test_numbers_beyond_whole_ones_are_of_64_bits():
    domain = Domain((Feature.bins("x", (-1e300, 1e300)),))
    text = condition_text(domain.features[0], domain.features[0].values[1:2])
    assert text == "-1e+300 ≤ x < 1e+300"
    assert read_conditions(text, domain) == (
        Condition("x", domain.features[0].values[1:2]),
    )
