import json
import math
import operator
import re
from itertools import combinations, pairwise

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from nn2rules import Feature
from nn2rules.language.text import (
    allowed_text,
    condition_text,
    count,
    label_text,
    quoted,
    share,
    value_text,
)
from nn2rules.space.bins import has_bins
from nn2rules.space.lookup import Lookup
from strategies import domains, texts


@settings(max_examples=500)
@given(texts | st.text(max_size=12))
def test_quoting_can_be_undone(text):
    shown = quoted(text)
    assert (json.loads(shown) if shown.startswith('"') else shown) == text


@settings(max_examples=500)
@given(texts | st.text(max_size=12))
def test_what_is_not_quoted_has_no_sign_or_word_of_rules(text):
    shown = quoted(text)
    if shown.startswith('"'):
        return
    words = set(shown.split(" "))
    assert not words & {"if", "and", "then", "in", "otherwise", "missing", "anything"}
    assert not words & {"=", "≠", "≤", "≥", "not", "between", "but", "or", "unless"}
    assert not set('"{},[]:·\n\t\\') & set(shown)
    assert shown == shown.strip()
    assert shown


@settings(max_examples=300)
@given(texts | st.text(max_size=12))
def test_a_text_stays_on_one_line(text):
    assert len(quoted(text).splitlines()) == 1


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("car (new)", "car (new)"),
        ("<=50K", "<=50K"),
        ("=", '"="'),
        ("a = b", '"a = b"'),
        ("≤ x", '"≤ x"'),
        ("a  b", '"a  b"'),
        (" a", '" a"'),
        ("", '""'),
        ("missing", '"missing"'),
        ("red and blue", '"red and blue"'),
        ("sand", "sand"),
        ("red or blue", '"red or blue"'),
        ("all but {a, b}", '"all but {a, b}"'),
        ("all but", '"all but"'),
        ("17–41", "17–41"),
        ("naïve", "naïve"),
        ('"', '"\\""'),
        ("a\nb", '"a\\nb"'),
    ],
)
def test_quoted(text, shown):
    assert quoted(text) == shown


@given(domains(max_inputs=100))
def test_no_two_values_of_a_feature_read_the_same(domain):
    for feature in domain.features:
        shown = [value_text(feature, value) for value in feature.values]
        assert len(set(shown)) == len(shown)


def test_labels_are_shown_instead_of_values():
    feature = Feature("size", (0, 1, None), labels=("small", "big", "missing"))
    assert condition_text(feature, (1,)) == "size = big"
    assert condition_text(feature, (0, None)) == "size ≠ big"


def test_missing_is_not_the_text_missing():
    assert label_text(None) == "missing"
    assert label_text("missing") == '"missing"'


def meanings(shown, n_plain):
    """Return every text that may stand for a set of values, and the sets it means.

    Ranges are of the first `n_plain` values; those behind them may be added by "or".
    """
    everything, found = range(len(shown)), {}

    def mean(text, codes):
        found.setdefault(text, set()).add(tuple(codes))

    def runs(start):
        yield [], []
        for first in range(start, n_plain):
            for last in range(first, n_plain):
                text = f"between {shown[first]} and {shown[last]}"
                if first == last:
                    text = f"= {shown[first]}"
                elif first == 0:
                    text = f"≤ {shown[last]}"
                elif last == n_plain - 1:
                    text = f"≥ {shown[first]}"
                for others, codes in runs(last + 2):
                    yield [text, *others], [*range(first, last + 1), *codes]

    for parts_of_runs, codes in runs(0):
        for size in range(len(shown) - n_plain + 1):
            for rest in combinations(range(n_plain, len(shown)), size):
                parts = [*parts_of_runs, *(f"is {shown[code]}" for code in rest)]
                if parts:
                    mean(" or ".join(parts), [*codes, *rest])
    for i in everything:
        mean(f"= {shown[i]}", [i])
        mean(f"≠ {shown[i]}", [c for c in everything if c != i])
    for size in range(1, len(shown) + 1):
        for codes in combinations(everything, size):
            listed = ", ".join(shown[code] for code in codes)
            mean(f"in {{{listed}}}", codes)
            mean(f"all but {{{listed}}}", [c for c in everything if c not in codes])
    return found


@settings(max_examples=100)
@given(domains(max_inputs=5, max_features=1))
def test_the_text_of_a_set_of_values_means_that_set(domain):
    (feature,) = domain.features
    assume(feature.labels is None or not has_bins(feature))
    assume(None not in feature.values[:-1])  # the test below has one in the middle
    shown = [value_text(feature, value) for value in feature.values]
    known = meanings(shown, len(shown) - (feature.values[-1] is None))
    for size in range(1, len(feature) + 1):
        for codes in combinations(range(len(feature)), size):
            values = tuple(feature.values[code] for code in codes)
            assert known[allowed_text(feature, values)] == {codes}


def test_what_is_missing_is_in_no_range_wherever_it_stands():
    feature = Feature("size", ("s", "m", None, "l"), ordered=True)
    assert allowed_text(feature, ("m", "l")) == "≥ m"
    assert allowed_text(feature, ("m", None, "l")) == "≠ s"
    assert allowed_text(feature, ("s", "m")) == "≤ m"
    assert allowed_text(feature, (None, "l")) == "in {missing, l}"


def test_a_range_of_an_ordered_feature():
    feature = Feature("x", (1, 2, 3, 4), ordered=True)
    assert condition_text(feature, (1, 2)) == "x ≤ 2"
    assert condition_text(feature, (3, 4)) == "x ≥ 3"
    assert condition_text(feature, (2, 3)) == "2 ≤ x ≤ 3"
    assert condition_text(feature, (1, 3)) == "x in {1, 3}"
    assert condition_text(feature, (1, 3, 4)) == "x ≠ 2"


def test_a_wide_set_names_its_shorter_side():
    job = Feature("job", ("a", "b", "c", "d, e", None))
    assert condition_text(job, ("a", "b", "c")) == 'job all but {"d, e", missing}'
    assert condition_text(job, ("a", "b")) == "job in {a, b}"
    assert condition_text(job, ("a", "b", "c", None)) == 'job ≠ "d, e"'
    assert allowed_text(job, ("a", "b", "c")) == 'all but {"d, e", missing}'


def test_values_of_other_types():
    feature = Feature("x", (1, 2.5, False, None, "a", "b"))
    assert allowed_text(feature, (1, 2.5, None)) == "in {1, 2.5, missing}"
    assert allowed_text(feature, (False,)) == "= False"


@given(st.integers(0, 10**9), st.integers(1, 10**9))
def test_share_is_never_rounded_to_nothing_or_everything(part, whole):
    part = min(part, whole)
    text = share(part, whole)
    assert (text == "0%") == (part == 0)
    assert (text == "100%") == (part == whole)
    match = re.fullmatch(r"(< |> )?([0-9.]+)%", text)
    assert match
    percent = 100 * part / whole
    if match[1] == "< ":
        assert percent < float(match[2])
    elif match[1] == "> ":
        assert percent > float(match[2])
    else:
        assert abs(percent - float(match[2])) <= 0.0501


def test_counts():
    assert count(0, "rule") == "0 rules"
    assert count(1, "row") == "1 row"
    assert count(1_234_567, "row") == "1,234,567 rows"
    assert share(0, 0) == "0%"


def test_ranges_of_numbers():
    age = Feature("age", (20, 30, 40, 50, 60, None), ordered=True)
    assert condition_text(age, (20, 30)) == "age ≤ 30"
    assert condition_text(age, (50, 60)) == "age ≥ 50"
    assert condition_text(age, (50, 60, None)) == "(age ≥ 50 or age is missing)"
    assert condition_text(age, (20, 30, 60)) == "(age ≤ 30 or age = 60)"
    assert condition_text(age, (20, 40)) == "age in {20, 40}"
    assert condition_text(age, (20, 30, 40, 50, 60)) == "age ≠ missing"
    assert condition_text(age, (None,)) == "age = missing"
    assert allowed_text(age, (30, 40, None)) == "between 30 and 40 or is missing"


def test_bins_of_numbers():
    age = Feature.bins("age", (25, 40.5, 65.0), missing=True)
    low, young, middle, old, missing = age.values
    assert condition_text(age, (low,)) == "age < 25"
    assert condition_text(age, (young,)) == "25 ≤ age < 40.5"
    assert condition_text(age, (middle, old)) == "age ≥ 40.5"
    assert condition_text(age, (low, old)) == "(age < 25 or age ≥ 65)"
    assert condition_text(age, (young, missing)) == (
        "(25 ≤ age < 40.5 or age is missing)"
    )
    assert condition_text(age, (missing,)) == "age = missing"
    assert condition_text(age, (low, young, middle, old)) == "age ≠ missing"
    assert allowed_text(age, (young, middle)) == "≥ 25 and < 65"


def test_a_bin_above_a_number_says_so():
    gain = Feature.bins("gain", (5e-324, 100.0))
    assert gain.values == ("(-inf, 0]", "(0, 100)", "[100, inf)")
    assert condition_text(gain, gain.values[:1]) == "gain ≤ 0"
    assert condition_text(gain, gain.values[1:]) == "gain > 0"
    assert condition_text(gain, gain.values[1:2]) == "0 < gain < 100"


# Text that says what holds ------------------------------------------------------------


@pytest.mark.parametrize(
    ("feature", "values", "text"),
    [
        (Feature("grade", (3, 2, 1), ordered=True), (2, 1), "grade ≠ 3"),
        (Feature("grade", (4, 3, 2, 1), ordered=True), (2, 1), "grade in {2, 1}"),
        (Feature("n", (1, 3, 2, 4), ordered=True), (1, 3), "n in {1, 3}"),
        (Feature("n", ("10", "9", "8"), ordered=True), ("9", "8"), "n ≠ 10"),
        (Feature("n", ("4", "3", "2", "1"), ordered=True), ("2", "1"), "n in {2, 1}"),
        (
            Feature("n", ("1", "1.0", "2", "3"), ordered=True),
            ("1", "1.0"),
            "n in {1, 1.0}",
        ),
        (Feature("n", ("1", "2", "3", "more"), ordered=True), ("3", "more"), "n ≥ 3"),
        (Feature("n", ("2", "few", "1", "0"), ordered=True), ("1", "0"), "n in {1, 0}"),
        (Feature("n", (0, 1, 2, 3), True, ("3", "2", "1", "0")), (0, 1), "n in {3, 2}"),
        (Feature("n", (3, 2, 1, 0), True, ("a", "b", "c", "d")), (3, 2), "n ≤ b"),
        (
            Feature("m", (None, 1, 2, 3), ordered=True),
            (None, 1, 2),
            "(m ≤ 2 or m is missing)",
        ),
        (Feature("m", (None, 1, 2, 3), ordered=True), (None, 1), "m in {missing, 1}"),
        (Feature("m", (1, None, 2, 3), ordered=True), (1, 2), "m ≤ 2"),
        (Feature("m", (1, None, 2, 3), ordered=True), (1, 2, 3), "m ≠ missing"),
        (
            Feature("m", (1, None, 2, 3), ordered=True),
            (None, 2, 3),
            "(m ≥ 2 or m is missing)",
        ),
        (
            Feature("m", (1, None, 2, 3, 4), ordered=True),
            (None, 2, 3),
            "(2 ≤ m ≤ 3 or m is missing)",
        ),
        (
            Feature("m", ("a", "z", "b", "c"), ordered=True, other="z"),
            ("a", "z"),
            "m in {a, z}",
        ),
        (
            Feature("m", ("a", "z", "b", "c"), ordered=True, other="z"),
            ("a", "b"),
            "m ≤ b",
        ),
        (Feature("b", (False, True, None, "z"), True, other="z"), (False, True), None),
    ],
    ids=str,
)
def test_no_range_where_numbers_do_not_ascend(feature, values, text):
    expected = "b in {False, True}" if text is None else text
    assert condition_text(feature, values) == expected


def test_values_that_stand_for_many_numbers_say_so():
    edges = [math.nextafter(edge, math.inf) for edge in (11.0, 14.5)]
    years = Feature.bins("years", edges, missing=True)
    low, middle, high, _ = years.values
    assert condition_text(years, (middle,)) == "11 < years ≤ 14.5"
    assert condition_text(years, (low, middle)) == "years ≤ 14.5"
    assert condition_text(years, (middle, high)) == "years > 11"
    assert condition_text(years, (low, high)) == "(years ≤ 11 or years > 14.5)"
    assert condition_text(years, (low, middle, high)) == "years ≠ missing"
    assert condition_text(years, (None,)) == "years = missing"
    assert condition_text(years, (high, None)) == "(years > 14.5 or years is missing)"
    assert allowed_text(years, (middle,)) == "> 11 and ≤ 14.5"
    labelled = Feature("y", (9, 13, 16), True, ("a", "b", "c"))
    assert condition_text(labelled, (9, 13)) == "y ≤ b"
    whole = Feature.bins("age", (33, 48), whole=True)
    assert condition_text(whole, whole.values[:1]) == "age ≤ 32"
    assert condition_text(whole, whole.values[1:2]) == "33 ≤ age ≤ 47"
    assert condition_text(whole, whole.values[1:]) == "age ≥ 33"
    large = Feature.bins("id", (10**22 + 1,))
    assert condition_text(large, large.values[:1]) == f"id < {10**22 + 1}"


def holds(text, cell):
    """Tell whether a condition on x holds of a cell, by what it says."""
    words = text.strip("()").split()
    if "or" in words:
        return any(holds(part, cell) for part in text.strip("()").split(" or "))
    if "missing" in words:
        return (cell is None) == (words[1] in ("=", "is"))
    if cell is None:
        return False
    if words == ["x", "is", "a", "number"]:
        return True
    signs = {
        "<": operator.lt,
        "≤": operator.le,
        ">": operator.gt,
        "≥": operator.ge,
        "=": operator.eq,
        "≠": operator.ne,
    }
    ends = [cell if word == "x" else word for word in words[::2]]
    ends = [float(end) for end in ends]
    pairs = zip(ends, words[1::2], ends[1:], strict=False)
    return all(signs[sign](low, high) for low, sign, high in pairs)


numbers = (
    st.integers(-50, 50) | st.floats(-9, 9) | st.sampled_from([0.1, 0.2, 0.3, 1e9])
)


@given(
    st.lists(numbers, min_size=2, max_size=6, unique=True),
    st.lists(numbers, max_size=20),
    st.data(),
)
def test_conditions_on_numbers_hold_where_they_decide(grid, cells, data):
    """Whatever reaches a value of the condition fulfils its text, and nothing else."""
    grid = sorted(grid)
    feature = Feature.bins("x", tuple(grid), missing=True)
    chosen = data.draw(st.sets(st.sampled_from(feature.values), min_size=1))
    text = condition_text(feature, tuple(chosen))
    lookup = Lookup(feature)
    middles = [(a + b) / 2 for a, b in pairwise(grid)]
    tried = [None, *cells, *grid, *middles]
    tried += [math.nextafter(m, end) for m in tried[1:] for end in (-9e9, 9e9)]
    for cell in tried:
        if len(chosen) < len(feature):
            assert holds(text, cell) == (feature.values[lookup[cell]] in chosen), text


# Labels that are bins -----------------------------------------------------------------


def labelled(*labels, ordered=True):
    values = tuple(f"v{code}" for code in range(len(labels)))
    return Feature("x", values, ordered, labels)


def test_labels_that_are_bins_are_said_as_ranges():
    age = labelled("17–25", "26–41", "42–65", "66+")
    young, early, late, old = age.values
    assert condition_text(age, (early,)) == "26 ≤ x ≤ 41"
    assert condition_text(age, (early, late)) == "26 ≤ x ≤ 65"
    assert condition_text(age, (young, early)) == "x ≤ 41"
    assert condition_text(age, (late, old)) == "x ≥ 42"
    assert condition_text(age, (young, late)) == "(x ≤ 25 or 42 ≤ x ≤ 65)"
    assert allowed_text(age, (early, late)) == "≥ 26 and ≤ 65"
    gaps = Feature("x", (0, 1, None), True, ("<18", "18+", "unknown"))
    assert condition_text(gaps, (1, None)) == "(x ≥ 18 or x is unknown)"
    assert condition_text(gaps, (0, 1)) == "x ≠ unknown"


@pytest.mark.parametrize(
    ("labels", "last_two"),
    [
        (("0–10", "10–20", "20–30"), "in {10–20, 20–30}"),
        (("0–9", "11–20", "21–30"), "in {11–20, 21–30}"),
        (("0–9", "20–29", "10–19"), "in {20–29, 10–19}"),
        (("none", "1–5", "6–9"), "in {1–5, 6–9}"),
        (("9–0", "10–19", "20–29"), "in {10–19, 20–29}"),
        (("0+", "1–5", "6–9"), "in {1–5, 6–9}"),
        (("0.5–1", "2–5", "6–9"), "in {2–5, 6–9}"),
    ],
)
def test_labels_that_do_not_adjoin_are_said_as_they_are(labels, last_two):
    feature = labelled(*labels, "and more")
    assert allowed_text(feature, feature.values[1:3]) == last_two
    feature = labelled(*labels)
    assert allowed_text(feature, feature.values[1:]) == f"≠ {labels[0]}"
    assert allowed_text(feature, feature.values[1:2]) == f"= {labels[1]}"


def test_bins_without_an_order_are_no_ranges():
    feature = labelled("0–9", "10–19", "20–29", "30–39", ordered=False)
    assert allowed_text(feature, feature.values[1:3]) == "in {10–19, 20–29}"


@given(
    st.lists(st.integers(1, 9), min_size=2, max_size=6),
    st.integers(-20, 20),
    st.sampled_from(["–", "-", " to "]),
    st.booleans(),
    st.data(),
)
def test_ranges_of_labels_hold_where_they_decide(widths, start, dash, open_end, data):
    """A whole number fulfils a condition exactly if its bin is allowed."""
    bounds = [start + sum(widths[:k]) for k in range(len(widths) + 1)]
    bins = [(low, high - 1) for low, high in pairwise(bounds)]
    labels = [f"{low}{dash}{high}" if low < high else str(low) for low, high in bins]
    if open_end:
        labels[-1] = f"{bins[-1][0]}+"
    values = [f"v{code}" for code in range(len(bins))]
    feature = Feature("x", (*values, None), True, (*labels, "missing"))
    chosen = data.draw(st.sets(st.sampled_from(feature.values), min_size=1))
    if len(chosen) == len(feature):
        return
    text = condition_text(feature, tuple(chosen)).replace('"missing"', "missing")
    if not any(low < high for low, high in bins) and not open_end:
        return  # no bins at all
    assert holds(text, None) == (None in chosen)
    for value, (low, high) in zip(values, bins, strict=True):
        for number in range(low, high + 1):
            assert holds(text, number) == (value in chosen), text
