"""What cannot occur, as the user gives it, is read in one way for every question."""

import numpy as np
import pytest

from nn2rules import Domain, Feature, OptionError
from nn2rules.language import read_impossible, region_of

DOMAIN = Domain(
    (
        Feature.real("age", 18, 99, whole=True, missing=True),
        Feature("job", ("a", "b", "c")),
    )
)
GROUPS = Domain((Feature.grouped("job", [["a", "b"], ["c"]]),))


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        ({"job": "a"}, "job = a"),
        ({"job": ["a", "c"]}, "job in {a, c}"),
        ({"job": iter(["a", "c"])}, "job in {a, c}"),
        ({"age": None}, "age is missing"),
        ({"age": (20, 30)}, "age between 20 and 30"),
        ({"age": [[20, 30]]}, "age between 20 and 30"),
        ({"age": 25, "job": "b"}, "age = 25 and job = b"),
    ],
)
def test_dicts_and_texts_say_the_same(entry, text):
    by_dict, _ = read_impossible(DOMAIN, [entry])
    by_text, _ = read_impossible(DOMAIN, [text])
    assert (by_dict.allowed == by_text.allowed).all()
    assert (by_dict.ends == by_text.ends).all()


def test_several_spans_are_several_boxes():
    boxes, _ = read_impossible(DOMAIN, [{"age": [(20, 30), (40, 50)]}])
    assert boxes.ends[:, :, 0].tolist() == [[20, 30], [40, 50]]


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        ("job = a", {}, "a list of dicts or texts, or a function of rows, not 'job"),
        ({"job": "a"}, {"function": False}, "a list of dicts or texts, not {'job'"),
        (len, {"function": False}, "a list of dicts or texts, not <built-in"),
        ([3], {}, "each entry is a dict from features to values, or a text, not 3"),
        ([{}], {}, "with {} no input is left that can occur"),
        ([{"jop": "a"}], {}, "there is no feature 'jop'"),
        ([{"job": "z"}], {}, "feature 'job' has no value 'z'"),
        (
            [{"age": (20, 30)}],
            {"numbers": False},
            "only special values or missing",
        ),
        (["age > 30"], {"numbers": False}, "only special values or missing"),
    ],
)
def test_what_is_no_box_is_refused(given, options, message):
    with pytest.raises(OptionError) as error:
        read_impossible(DOMAIN, given, **options)
    assert str(error.value).startswith("impossible: ")
    assert message in str(error.value)


def test_a_function_is_not_asked_about_groups():
    with pytest.raises(OptionError, match="groups categories; give a list of dicts"):
        region_of(GROUPS, [], lambda rows: [False] * len(rows))


def test_a_region_counts_what_can_occur():
    region = region_of(DOMAIN, [], lambda rows: [row["job"] == "b" for row in rows])
    codes = np.array([[0, 0], [0, 1], [1, 2]])
    numbers = np.array([[20.0, 1], [20, 1], [1, 1]])
    assert region.holds(codes, numbers).tolist() == [True, False, True]
    boxes = region_of(DOMAIN, [], [{"age": (18, 20)}])
    assert boxes.holds(codes, numbers).tolist() == [False, False, True]
    assert boxes.has_impossible
    assert not region_of(DOMAIN, [], None).has_impossible
