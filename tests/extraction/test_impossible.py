import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tables import (
    DONT_CARE,
    SMALL,
    Table,
    check_answers,
    check_not_idle,
    check_prime,
    check_pure,
    check_right_where_decided,
    extract_prime,
    first,
    network_of,
    tables,
)

import nn2rules
from nn2rules import Feature, Layer, Network, OptionError, extract
from nn2rules.space.domain import Domain
from strategies import boxes

FORMS = ("list", "set")


@st.composite
def some_boxes(draw, shape):
    """Draw boxes that leave at least one input out, the same one."""
    kept = [draw(st.integers(0, size - 1)) for size in shape]
    found = draw(st.lists(boxes(list(shape)), min_size=1, max_size=3))
    wide = [feature for feature, size in enumerate(shape) if size > 1]
    assume(wide)
    for box in found:
        feature = draw(st.sampled_from(wide))
        codes = range(shape[feature]) if box[feature] is None else box[feature]
        others = tuple(code for code in codes if code != kept[feature])
        box[feature] = others or ((kept[feature] + 1) % shape[feature],)
    return found


def as_dict(box, domain):
    return {
        feature.name: [feature.values[code] for code in codes]
        for feature, codes in zip(domain.features, box, strict=True)
        if codes is not None
    }


def without(table, excluded):
    """Return the table with the inputs of some boxes that cannot occur."""
    classes = table.classes.copy()
    for position, codes in enumerate(table.inputs.tolist()):
        for box in excluded:
            if all(a is None or c in a for a, c in zip(box, codes, strict=True)):
                classes[position] = DONT_CARE
    return table._replace(classes=classes)


def check(network, table, **options):
    rules = extract(network, **options)
    default = rules.classes.index(rules.default)
    check_answers((rules.boxes, rules.answers), default, table)
    is_ordered = rules.form == "list"
    prime = extract_prime(network, **options)
    check_prime(prime.boxes, prime.answers, table, is_ordered=is_ordered)
    check_not_idle(rules.boxes, table.possible, table)
    if rules.form == "set":
        check_pure(rules.boxes, rules.answers, table)
    fired = first(rules.boxes, table.sizes)
    fired = fired[table.possible]
    counted = [int((fired == index).sum()) for index in range(len(rules))]
    assert [rule.inputs for rule in rules.rules] == counted
    assert rules.certificate["possible"] == table.possible.sum()
    known = table.classes[table.possible]
    expected = np.bincount(known, minlength=table.n_classes).tolist()
    assert rules.certificate["class_inputs"] == expected
    assert rules.certificate["different"] == 0


@settings(max_examples=150)
@given(tables(shapes=SMALL, dont_care=False), st.data(), st.sampled_from(FORMS))
def test_boxes_that_cannot_occur(table, data, form):
    excluded = data.draw(some_boxes(table.sizes))
    possible = without(table, excluded)
    assert possible.possible.any()
    network = network_of(table)
    given_ = [as_dict(box, network.domain) for box in excluded]
    check(network, possible, form=form, impossible=given_, effort=0)


@settings(max_examples=150)
@given(tables(shapes=SMALL), st.sampled_from(FORMS), st.sampled_from([0, 0, 1]))
def test_a_function_of_impossible_inputs(table, form, effort):
    assume(table.possible.any())
    network = network_of(table)
    forbidden = {
        tuple(row.values())
        for row in network.domain.decode(table.inputs[~table.possible])
    }

    def is_impossible(rows):
        return [tuple(row.values()) in forbidden for row in rows]

    check(network, table, form=form, impossible=is_impossible, effort=effort)


@settings(max_examples=60)
@given(tables(shapes=SMALL, dont_care=False), st.data(), st.sampled_from(FORMS))
def test_rows_and_boxes_that_cannot_occur(table, data, form):
    excluded = data.draw(some_boxes(table.sizes))
    possible = without(table, excluded)
    assert possible.possible.any()
    positions = st.integers(0, len(table.classes) - 1)
    rows = np.array(data.draw(st.lists(positions, min_size=1, max_size=9)))
    network = network_of(table)
    rules = extract(
        network,
        form=form,
        scope="support",
        data=network.domain.decode(table.inputs[rows]),
        impossible=[as_dict(box, network.domain) for box in excluded],
        effort=0,
    )
    check_right_where_decided(rules.boxes, rules.answers, possible)
    fired = first(rules.boxes, table.sizes)
    wanted = np.isin(np.arange(len(fired)), rows) & possible.possible
    assert (fired[wanted] >= 0).all()
    check_not_idle(rules.boxes, wanted, table)


@settings(max_examples=60)
@given(tables(shapes=SMALL, dont_care=False), st.data(), st.sampled_from(FORMS))
def test_searched_rules_leave_out_what_cannot_occur(table, data, form):
    excluded = data.draw(some_boxes(table.sizes))
    possible = without(table, excluded)
    assert possible.possible.any()
    network = network_of(table)
    given_ = [as_dict(box, network.domain) for box in excluded]
    rules = extract(network, form=form, impossible=given_, engine="search")
    default = rules.classes.index(rules.default)
    check_answers((rules.boxes, rules.answers), default, possible)


XOR = Table(np.array([0, 1, 1, 0], dtype=np.uint8), (2, 2), 2)


def test_what_cannot_occur_makes_rules_shorter():
    network = network_of(XOR)
    assert len(extract(network, form="set")) == 4
    rules = extract(network, form="set", impossible=[{"f0": ["v1"]}])
    assert len(rules) == 2
    for rule in rules.rules:
        assert [condition.feature for condition in rule.conditions] == ["f1"]


def test_a_single_value_may_stand_for_a_list():
    network = network_of(XOR)
    short = extract(network, impossible=[{"f0": "v1"}])
    assert short == extract(network, impossible=[{"f0": ["v1"]}])
    domain = Domain((Feature("f", (None, 1, 2.5, False)),))
    layer = Layer([[1.0], [-1.0], [1.0], [-1.0]], [0.0], "sigmoid")
    network = Network(domain, (layer,), ("no", "yes"))
    for value in domain.features[0].values:
        one = extract(network, impossible=[{"f": value}])
        assert one == extract(network, impossible=[{"f": [value]}])
        assert one.certificate["possible"] == 3


def test_an_array_of_classes_is_accepted():
    network = network_of(XOR)

    def told(rows):
        return np.array([row["f0"] == "v1" for row in rows])

    assert extract(network, impossible=told).certificate["possible"] == 2
    boxes_given = extract(network, impossible=[{"f0": ["v1"]}])
    assert boxes_given.rules == extract(network, impossible=told).rules


@pytest.mark.parametrize("engine", ["table", "search"])
@pytest.mark.parametrize("form", FORMS)
def test_something_must_be_possible(form, engine):
    for given_ in ([{}], [{"f0": ["v0"]}, {"f0": ["v1"]}]):
        with pytest.raises(OptionError, match=r"no (possible )?input is left"):
            extract(network_of(XOR), form=form, impossible=given_, engine=engine)
    with pytest.raises(OptionError, match="no possible input is left"):
        extract(network_of(XOR), form=form, impossible=lambda rows: [True] * len(rows))


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        (
            [3],
            "impossible: each entry is a dict from features to values, or a text, no",
        ),
        (
            {"f0": "v1"},
            "impossible: a list of dicts or texts, or a function of rows, n",
        ),
        (
            lambda _: True,
            "impossible: the function must give one answer for each of 4 rows; it gave "
            "an array of shape ()",
        ),
        (
            lambda _: [False] * 3,
            "impossible: the function must give one answer for each of 4 rows; it gave "
            "an array of shape (3,)",
        ),
        (
            lambda _: [[False]] * 4,
            "impossible: the function must give one answer for each of 4 rows; it gave "
            "an array of shape (4, 1)",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(given_, message):
    with pytest.raises(OptionError) as error:
        extract(network_of(XOR), impossible=given_)
    assert str(error.value).startswith(message)


@pytest.mark.parametrize(
    ("given_", "name"),
    [([{"g": ["v0"]}], "'g'"), ([{"f0": ["w"]}], "'w'"), ([{"f0": []}], "'f0'")],
)
def test_boxes_that_do_not_fit_the_domain(given_, name):
    with pytest.raises(ValueError, match=name):
        extract(network_of(XOR), impossible=given_)


def test_a_search_needs_boxes():
    with pytest.raises(OptionError) as error:
        extract(
            network_of(XOR),
            engine="search",
            impossible=lambda rows: [False] * len(rows),
        )
    assert str(error.value) == (
        "impossible: a function needs a table; on a domain this large, give boxes"
    )


def test_rules_by_search_say_what_is_impossible():
    """The checker must be told, or it calls right rules wrong."""
    network = nn2rules.load(nn2rules.datasets.network_file("car"))
    impossible = [{"safety": ["high"]}]
    rules = nn2rules.extract(network, engine="search", impossible=impossible)
    assert rules.certificate["impossible"] == impossible
    assert nn2rules.check(network, rules, impossible=impossible).ok


def test_rows_different_are_those_of_the_network():
    """Also where a row is impossible, and where the list is cut short."""
    classes = np.array([1, 1, 0, 1, 0, 0], dtype=np.uint8)
    table = Table(classes, (2, 3), 2)
    network = network_of(table)
    codes = table.inputs[[0, 0, 1, 2, 3, 3, 3, 4, 5]]
    rows = network.domain.decode(codes)
    impossible = network.domain.decode(table.inputs[[3]])
    for options in ({}, {"max_rules": 0}, {"max_rules": 1}):
        rules = extract(network, rows, impossible=impossible, **options)
        wrong = rules.predict(rows) != network.predict(rows)
        assert rules.certificate["rows_different"] == wrong.sum()
    assert "rows_different" not in extract(network, rows, form="rules").certificate


@pytest.mark.parametrize("engine", ["table", "search"])
def test_what_cannot_occur_is_not_uncovered(engine):
    table = Table(np.array([0, 1, 0, 1, 0, 0], dtype=np.uint8), (2, 3), 2)
    network = network_of(table)
    rows = network.domain.decode(table.inputs[[0, 2]])
    impossible = network.domain.decode(table.inputs[[1, 5]])
    rules = extract(
        network,
        rows,
        scope="support",
        target="class 1",
        impossible=impossible,
        engine=engine,
    )
    assert len(rules) == 0  # both rows are of the default
    expected = 4 if engine == "table" else None
    assert rules.certificate.get("uncovered") == expected
