import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from nn2rules import Domain, DomainError, Feature, RowsError, UnknownValueError
from nn2rules.space import box_sizes
from nn2rules.space.values import text_of, value_of
from strategies import domains, plain_domain, rows_of, sizes, value_lists, values

COLOURS = Domain((Feature("colour", ("red", "green")), Feature("size", (1, 2, 3))))


@given(domains())
def test_inputs_are_all_inputs_in_order(domain):
    codes = np.concatenate(list(domain.inputs(chunk=7)))
    assert [tuple(row) for row in codes.tolist()] == naive.inputs(domain.sizes)
    assert domain.n_inputs == len(codes) == math.prod(domain.sizes)
    assert domain.offsets.tolist() == [
        sum(domain.sizes[:index]) for index in range(len(domain.sizes) + 1)
    ]


@given(domains(), st.data())
def test_decoding_and_encoding_are_inverse(domain, data):
    codes = data.draw(rows_of(domain))
    rows = domain.decode(codes)
    assert [list(row) for row in rows] == [list(domain.names)] * len(rows)
    assert domain.encode(rows).tolist() == codes.tolist()
    for row, listed in zip(rows, codes.tolist(), strict=True):
        for feature, code in zip(domain.features, listed, strict=True):
            assert domain.code(feature.name, row[feature.name]) == code
            assert type(row[feature.name]) is type(feature.values[code])


@given(domains(), st.data())
def test_an_input_by_its_number(domain, data):
    number = data.draw(st.integers(0, domain.n_inputs - 1))
    codes = naive.inputs(domain.sizes)[number]
    assert domain.input(number) == domain.decode([codes])[0]


@settings(max_examples=500)
@given(st.integers(1, 4).flatmap(value_lists), st.lists(values, max_size=6))
def test_cells_match_what_they_equal_or_read(found, cells):
    domain = Domain((Feature("f", tuple(found)),))
    rows = [{"f": cell} for cell in cells]
    expected = [naive.code_of(found, cell) for cell in cells]
    assert domain.encode(rows, unknown="mark")[:, 0].tolist() == expected


@settings(max_examples=300)
@given(
    st.integers(1, 4).flatmap(value_lists),
    st.lists(
        values
        | st.sampled_from([0.0, -0.0, 0, False, 1, 1.0, True, 10**16, 1e16, "-0.0"]),
        max_size=6,
    ),
)
def test_a_cell_does_not_depend_on_the_cells_before_it(found, cells):
    domain = Domain((Feature("f", tuple(found)),))
    together = domain.encode([{"f": cell} for cell in cells], unknown="mark")
    alone = [domain.encode([{"f": cell}], unknown="mark")[0, 0] for cell in cells]
    assert together[:, 0].tolist() == alone


@pytest.mark.parametrize("text", ["-0.0", "1e+16"])
def test_equal_numbers_find_the_same_text(text):
    domain = Domain((Feature("f", (text,)),))
    for first, second in ((0.0, -0.0), (10**16, 1e16)):
        rows = [{"f": first}, {"f": second}]
        forward = domain.encode(rows, unknown="mark")[:, 0].tolist()
        backward = domain.encode(rows[::-1], unknown="mark")[:, 0].tolist()
        assert forward == backward[::-1]


@pytest.mark.parametrize(
    ("known", "cell", "code"),
    [
        ((1, 2), "2", 1),
        ((1, 2), 2.0, 1),
        ((1, 2), "2.0", 1),
        ((1, 2), np.int8(2), 1),
        (("1", "2"), 2, 1),
        (("1", "2"), 2.0, 1),
        (("1", "2"), np.float64(2), 1),
        (("car", "car (new)"), "car (new)", 1),
        (("car", "car (new)"), "car", 0),
        (("car", "car (new)"), "car ", -1),
        (("a", None), None, 1),
        (("a", None), float("nan"), 1),
        (("a", None), "", 1),
        (("a", None), pd.NA, 1),
        (("a", None), pd.NaT, 1),
        (("a", ""), "", 1),
        (("a", "b"), "", -1),
        (("a", "b"), None, -1),
        ((False, True), "true", 1),
        ((False, True), "FALSE", 0),
        ((False, True), 1, 1),
        (("False", "True"), True, 1),
        (("0", "1"), True, 1),
        ((0.5, 1.5), "1.5", 1),
        ((0.5, 1.5), "1.50", 1),
        (("x",), 3, -1),
        ((1, 2), "two", -1),
        ((1, 2), "nan", -1),
        ((1, 2), "inf", -1),
        (("nan", "b"), "nan", 0),
        ((2**53,), str(2**53 + 1), -1),
        ((10,), "1_0", -1),
    ],
)
def test_matching_of_cells(known, cell, code):
    domain = Domain((Feature("f", known),))
    assert domain.encode([{"f": cell}], unknown="mark").tolist() == [[code]]


FRAMES = {
    "pandas": pd.DataFrame,
    "pandas with strings": lambda table: pd.DataFrame(table).astype("string"),
    "pandas with categories": lambda table: pd.DataFrame(table).astype("category"),
    "pandas with objects": lambda table: pd.DataFrame(table).astype(object),
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
    "dicts": lambda table: pd.DataFrame(table).to_dict("records"),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_frames_of_every_kind(kind):
    table = {
        "id": [7, 8, 9],
        "size": [3, 1, 2],
        "colour": ["red", "green", "red"],
        "label": ["x", "y", "x"],
    }
    codes = COLOURS.encode(FRAMES[kind](table))
    assert codes.tolist() == [[0, 2], [1, 0], [0, 1]]


@pytest.mark.parametrize("kind", FRAMES)
def test_frames_with_missing_cells(kind):
    domain = Domain((Feature("a", ("x", None)), Feature("b", (1, 2, None))))
    frame = FRAMES[kind]({"a": ["x", None, "x"], "b": [1.0, 2.0, None]})
    assert domain.encode(frame).tolist() == [[0, 0], [1, 1], [0, 2]]


@given(st.data())
def test_code_arrays_of_every_integer_type(data):
    domain = plain_domain(data.draw(sizes(50)))
    codes = data.draw(rows_of(domain))
    for kind in (np.int8, np.uint8, np.int32, np.uint64, np.int64):
        assert domain.checked_codes(codes.astype(kind)).tolist() == codes.tolist()


def test_encoding_changes_nothing_of_the_user():
    codes = np.array([[0, 1]])
    COLOURS.checked_codes(codes)
    rows = [{"colour": "red", "size": "2"}]
    COLOURS.encode(rows)
    assert codes.tolist() == [[0, 1]]
    assert rows == [{"colour": "red", "size": "2"}]


@pytest.mark.parametrize("rows", [[], ()])
def test_no_rows(rows):
    assert COLOURS.encode(rows).shape == (0, 2)
    assert COLOURS.decode(COLOURS.encode(rows)) == []


def test_unknown_values_name_the_row():
    rows = [{"colour": "red", "size": 1}, {"colour": "blue", "size": 9}]
    with pytest.raises(UnknownValueError) as error:
        COLOURS.encode(rows)
    assert str(error.value) == (
        "row 1: feature 'colour' has no value 'blue'; it has 'red', 'green'"
    )
    found = error.value
    assert (found.feature, found.value, found.row) == ("colour", "blue", 1)
    assert found.values == ("red", "green")
    assert COLOURS.encode(rows, unknown="mark").tolist() == [[0, 0], [-1, -1]]


def test_unknown_missing_values_are_called_missing():
    with pytest.raises(
        UnknownValueError, match="'colour' has an empty cell, and no val"
    ):
        COLOURS.encode([{"colour": None, "size": 1}])


def test_long_lists_of_values_are_cut():
    domain = Domain((Feature("f", tuple(range(100))),))
    with pytest.raises(UnknownValueError, match="19, … and 80 more"):
        domain.encode([{"f": "x"}])


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"colour": "red"}], "row 0: the feature 'size' is missing; the columns"),
        ([{}], "row 0: the features 'colour', 'size' are missing; the columns found"),
        (["red"], "row 0 is a str, not a dict"),
        ([{"colour": ["red"], "size": 1}], "feature 'colour': a cell of this column"),
        (pd.DataFrame({"size": [1]}), "the feature 'colour' is missing; the columns"),
        (
            pd.DataFrame({"size": [1], "Colour": ["red"]}),
            "the feature 'colour' is missing; the columns found are 'size', 'Colour'; "
            "did you mean 'Colour'?",
        ),
        (pl.DataFrame({"size": [1]}), "the feature 'colour' is missing; the columns"),
        ("red", "rows are a pandas, polars or pyarrow frame or a list"),
        ({"colour": ["red"]}, "row 0: the feature 'size' is missing; the columns"),
        ({"colour": ["red"], "size": [1]}, "feature 'colour': a cell of this col"),
        (None, "rows are a pandas, polars or pyarrow frame"),
        (pl.LazyFrame({"colour": ["red"]}), "rows are a pandas, polars or pyarrow"),
        (np.array([[0, 1]]), "an array of rows has no names of columns; give a data"),
        (np.array([["red", "1"]]), "an array of rows has no names of columns; give"),
        (pd.Series([0, 1]), "row 0: the features 'colour', 'size' are missing; the"),
        (
            pd.DataFrame([["red", "red", 1]], columns=["colour", "colour", "size"]),
            "",
        ),
    ],
)
def test_rows_that_cannot_be_read(rows, message):
    with pytest.raises(RowsError) as error:
        COLOURS.encode(rows)
    assert str(error.value).startswith(message)


@pytest.mark.parametrize(
    ("codes", "message"),
    [
        ([0, 1], "an array of codes has one column for each of the 2"),
        ([[0, 1, 0]], "an array of codes has one column for each of the 2"),
        ([[0.0, 1.0]], "codes are whole numbers, not float64"),
        ([["red", "1"]], "codes are whole numbers, not <U3"),
        ([[True, False]], "codes are whole numbers, not bool"),
        ([[0, 3]], "row 0: feature 'size' has no code 3; its codes are 0 to"),
        ([[0, 0], [-1, 0]], "row 1: feature 'colour' has no code -1; its"),
    ],
)
def test_codes_outside_the_domain_are_refused(codes, message):
    for read in (COLOURS.checked_codes, COLOURS.decode):
        with pytest.raises(RowsError) as error:
            read(np.array(codes))
        assert str(error.value).startswith(message)


def test_numbers_are_not_taken_for_codes():
    """Values 1 to 4 as codes 1 to 4 were other values, or none, without a word."""
    grades = Domain(tuple(Feature(name, (1, 2, 3, 4)) for name in "ab"))
    frame = pd.DataFrame({"a": [1, 2], "b": [3, 4]})
    assert grades.encode(frame).tolist() == [[0, 2], [1, 3]]
    with pytest.raises(RowsError, match=r"pandas.DataFrame\(array, columns="):
        grades.encode(frame.to_numpy())


def test_one_row_is_enough():
    frame = pd.DataFrame({"size": [1, 2], "colour": ["green", "red"]})
    for row in (frame.iloc[0], frame.iloc[0].to_dict()):
        assert COLOURS.encode(row).tolist() == COLOURS.encode(frame[:1]).tolist()


@pytest.mark.parametrize("cell", [None, float("nan"), np.nan, pd.NA, pd.NaT, ""])
def test_an_empty_cell_is_no_number(cell):
    grid = Domain((Feature("age", tuple(range(20, 30)), ordered=True),))
    with pytest.raises(UnknownValueError) as error:
        grid.encode([{"age": cell}])
    assert str(error.value) == (
        "row 0: feature 'age' has an empty cell, and no value for missing; it has 20, "
        "21, 22, 23, 24, 25, 26, 27, 28, 29; fill the cell, or add None (missing) to "
        "the values of the feature"
    )


@pytest.mark.parametrize(
    ("name", "known", "message"),
    [
        ("f", (), "feature 'f' has no values"),
        ("f", ("a", "a"), "feature 'f' repeats the value 'a'"),
        ("f", (1, True), "feature 'f' repeats the value True"),
        ("f", (1, 1.0), "feature 'f' repeats the value 1.0"),
        ("f", (None, float("nan")), "feature 'f' repeats the value None"),
        ("f", (1, "1"), "feature 'f' has the values 1 and '1', which read the same"),
        ("f", (None, "missing"), "feature 'f' has the values None and 'missing', wh"),
        ("f", "ab", "feature 'f': its values are one string 'ab', not several"),
        ("f", (math.inf,), "inf cannot be a value; values are finite"),
        ("f", ((1, 2),), "a tuple ((1, 2)) cannot be a value; use strings, integers"),
        (3, ("a",), "a feature's name is a string, not 3"),
    ],
)
def test_features_that_make_no_sense(name, known, message):
    with pytest.raises(DomainError) as error:
        Feature(name, known)
    assert str(error.value).startswith(message)


def test_labels_are_checked():
    with pytest.raises(DomainError, match="1 labels, expected 2, one for each value"):
        Feature("f", ("a", "b"), labels=("x",))
    with pytest.raises(DomainError, match="feature 'f' repeats a label"):
        Feature("f", ("a", "b"), labels=("x", "x"))


def test_domains_that_make_no_sense():
    with pytest.raises(DomainError, match="a domain needs at least one feature"):
        Domain(())
    with pytest.raises(DomainError, match="two features are named 'f'"):
        Domain((Feature("f", ("a",)), Feature("f", ("b",))))
    with pytest.raises(DomainError, match="expected a Feature, not 'f'"):
        Domain(("f",))


def test_names_that_do_not_exist():
    with pytest.raises(DomainError, match="no feature 'f'; there are 'colour', 'size'"):
        COLOURS.feature("f")
    with pytest.raises(UnknownValueError, match="'colour' has no value 'blue'; it has"):
        COLOURS.code("colour", "blue")


def test_values_become_plain_python():
    feature = Feature("f", np.array([1, 2]))
    assert [type(value) for value in feature.values] == [int, int]
    assert Feature("f", ["a", np.nan, np.str_("b")]).values == ("a", None, "b")
    assert value_of(np.bool_(True)) is True
    assert value_of(pd.NA) is None
    assert text_of(value_of(np.float32(0.5))) == "0.5"


def test_huge_domains_have_exact_sizes():
    assert plain_domain([3] * 100).n_inputs == 3**100


@given(st.data())
def test_box_sizes_equal_enumeration(data):
    domain = plain_domain(data.draw(sizes(100)))
    masks = st.lists(
        st.booleans(), min_size=sum(domain.sizes), max_size=sum(domain.sizes)
    )
    boxes = np.array(data.draw(st.lists(masks, max_size=4)), dtype=bool)
    boxes = boxes.reshape(-1, sum(domain.sizes))
    expected = [
        sum(
            all(box[s + code] for s, code in zip(domain.offsets, row, strict=False))
            for row in naive.inputs(domain.sizes)
        )
        for box in boxes
    ]
    assert box_sizes(domain, boxes) == expected


def test_boxes_of_huge_domains_have_exact_sizes():
    domain = plain_domain([3] * 100)
    boxes = np.ones((1, 300), dtype=bool)
    boxes[0, 0] = False
    assert box_sizes(domain, boxes) == [2 * 3**99]


def test_many_names_are_checked_at_once():
    """Seconds, if every name were compared with every other."""
    features = [Feature(f"f{number}", ("a", "b")) for number in range(20_000)]
    domain = Domain(tuple(features))
    codes = domain.encode([dict.fromkeys(domain.names, "a")])
    assert codes.tolist() == [[0] * 20_000]
    with pytest.raises(DomainError, match="two features are named 'f7'"):
        Domain((*features, Feature("f7", ("a",))))


@pytest.mark.parametrize(("separator", "name"), [(";", "semicolons"), ("\t", "tabs")])
def test_a_frame_of_one_column_that_should_be_several(separator, name):
    frame = pd.DataFrame({f"colour{separator}size": [f"red{separator}1"]})
    with pytest.raises(RowsError) as caught:
        COLOURS.encode(frame)
    assert str(caught.value).endswith(
        f"; its columns seem to be separated by {name}, expected commas"
    )
