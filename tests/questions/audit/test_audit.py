"""Audits, by table and by search, against every input one by one."""

import json
from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import pandas as pd
import pytest

import naive
import nn2rules
import ranged
from nn2rules import (
    Budget,
    Domain,
    DomainError,
    Feature,
    Layer,
    Network,
    OptionError,
    RowsError,
    audit,
)

TOMATO = nn2rules.load(nn2rules.datasets.network_file("tomato"))
BASKET = [
    {"color": "red", "size": "big", "shop": "a"},
    {"color": "red", "size": "small", "shop": "b"},
    {"color": "yellow", "size": "big", "shop": "b"},
]


def small_network(seed: int) -> Network:
    """Draw a network of few inputs; of some, features reach nothing or hardly any."""
    rng = np.random.default_rng(seed)
    domain = Domain(
        (
            Feature("sex", ("f", "m")),
            Feature("years", (10, 0, 5, None), ordered=True),
            Feature("size", ("s", "m", "l"), ordered=True),
            Feature("job", ("a", "b", "c", "d", "e")[: 2 + seed % 4]),
        )
    )
    n_out = 1 if seed % 3 else 3
    first = rng.integers(-3, 4, size=(int(domain.offsets[-1]), 3)).astype(float)
    for index in range(4):
        if rng.random() < 0.3:
            start, stop = domain.offsets[index : index + 2]
            first[start:stop] = first[start] if rng.random() < 0.5 else 0.25
    last = Layer(
        rng.integers(-2, 3, size=(3, n_out)).astype(float),
        rng.integers(-2, 3, size=n_out).astype(float),
        "sigmoid" if n_out == 1 else "softmax",
    )
    classes = ("no", "yes") if n_out == 1 else ("x", "y", "z")
    bias = rng.integers(-2, 3, size=3).astype(float)
    return Network(domain, (Layer(first, bias, "relu"), last), classes)


class Twin:
    """What an audit must say, by the class of every input."""

    def __init__(self, network: Network) -> None:
        self.network, self.domain = network, network.domain
        self.every = naive.inputs(network.domain.sizes)
        self.classes = {codes: naive.class_of(network, codes) for codes in self.every}

    def changed(self, codes, index):
        """Return the classes of all inputs that differ in one feature alone."""
        return [
            self.classes[(*codes[:index], value, *codes[index + 1 :])]
            for value in range(self.domain.sizes[index])
        ]

    def turned(self, codes, index):
        """Tell whether one feature alone turns an input."""
        return len(set(self.changed(codes, index))) > 1

    def contexts(self, index, toward):
        """Return how many contexts lose a class, and gain it, as a feature grows."""
        feature = self.domain.features[index]
        plain = [c for c, value in enumerate(feature.values) if value is not None]
        if not isinstance(feature.values[plain[0]], str):
            plain.sort(key=lambda code: feature.values[code])
        falls = rises = total = 0
        for codes in self.every:
            if codes[index] == 0:
                found = self.changed(codes, index)
                line = [found[code] == toward for code in plain]
                places = range(len(line))
                pairs = [
                    (line[a], line[b]) for a, b in product(places, places) if a < b
                ]
                falls += (True, False) in pairs
                rises += (False, True) in pairs
                total += 1
        return falls, rises, total


def rows_for(network, seed, number=25):
    rng = np.random.default_rng(seed)
    sizes = network.domain.sizes
    codes = [tuple(int(rng.integers(size)) for size in sizes) for _ in range(number)]
    return codes, network.domain.decode(np.array(codes))


DIRECTIONS = {
    (False, False): "constant",
    (False, True): "increasing",
    (True, False): "decreasing",
    (True, True): "neither",
}


def check_parts(found, twin, codes):
    """Compare all but what only a table counts."""
    domain, classes = twin.domain, twin.network.classes
    assert list(found.influence) == sorted(
        found.influence,
        key=lambda name: (
            -found.influence[name].rows,
            -(found.influence[name].inputs or 0),
        ),
    )
    for index, name in enumerate(domain.names):
        own = found.influence[name]
        inputs = sum(twin.turned(each, index) for each in twin.every)
        assert own.status == ("flips" if inputs else "independent")
        assert (name in found.independent_of) == (inputs == 0)
        assert own.rows == sum(twin.turned(each, index) for each in codes)
        assert own.of_rows == len(codes)
        assert own.inputs in (inputs, None)
        by_class = found.monotonicity.get(name, {})
        assert bool(by_class) == domain.features[index].ordered
        for label, trend in by_class.items():
            falls, rises, _ = twin.contexts(index, classes.index(label))
            assert trend.direction == DIRECTIONS[falls > 0, rises > 0]
    for name, own in found.protected.items():
        index = domain.index(name)
        turned = [each for each in codes if twin.turned(each, index)]
        assert own.rows == len(turned)
        assert own.status == (found.influence[name].status)
        for value, by_class in own.predictions.items():
            place = domain.features[index].values.index(value)
            answers = [twin.changed(each, index)[place] for each in turned]
            assert by_class == {c: answers.count(i) for i, c in enumerate(classes)}


@pytest.mark.parametrize("seed", range(24))
def test_audits_equal_brute_force(seed):
    network = small_network(seed)
    twin, (codes, rows) = Twin(network), rows_for(network, seed)
    protected = ["sex", "job", "years"]
    found = audit(network, rows, protected=protected, fragile=0)
    assert (found.how, found.undecided) == ("table", ())
    check_parts(found, twin, codes)
    for index, name in enumerate(network.domain.names):
        inputs = sum(twin.turned(each, index) for each in twin.every)
        assert found.influence[name].inputs == inputs
        assert found.influence[name].of_inputs == len(twin.every)
        for label, trend in found.monotonicity.get(name, {}).items():
            if name in found.independent_of:
                assert (trend.falls, trend.rises) == (0, 0)
                continue
            counted = trend.falls, trend.rises, trend.contexts
            assert counted == twin.contexts(index, network.classes.index(label))
    for own in found.protected.values():
        index = network.domain.index(own.feature)
        turned = {each for each in twin.every if twin.turned(each, index)}
        assert own.inputs == len(turned) == sum(own.ways.values())
        assert own.rows == sum(own.row_ways.values())
        if own.rules is not None:
            every = network.domain.decode(np.array(twin.every))
            held = own.rules.apply(every) >= 0
            assert {twin.every[i] for i in np.flatnonzero(held)} == turned


@pytest.mark.parametrize("seed", range(12))
def test_a_search_says_what_a_table_does(seed):
    network = small_network(seed)
    codes, rows = rows_for(network, seed)
    found = audit(network, rows, protected=["sex", "job"], engine="search", fragile=0)
    assert (found.how, found.undecided) == ("search", ())
    check_parts(found, Twin(network), codes)
    assert all(own.rules is None for own in found.protected.values())


@pytest.mark.parametrize("seed", range(8))
def test_ranges_of_numbers_are_audited_by_rows_and_search(seed):
    rng = np.random.default_rng(seed)
    domain = Domain(
        (
            Feature.real("age", 0, 9, whole=True),
            Feature("job", ("a", "b", "c")),
            Feature("dead", (0, 1)),
        )
    )
    drawn = ranged.random_network(rng, domain)
    weights = drawn.layers[0].weights.copy()
    weights[-1] = weights[-2]
    first = Layer(weights, drawn.layers[0].bias, "relu")
    network = Network(domain, (first, drawn.layers[1]), drawn.classes)
    rows = ranged.random_rows(rng, domain, 40)
    found = audit(network, rows, protected=["age", "job", "dead"], fragile=2)
    every = {"age": range(10), "job": ("a", "b", "c"), "dead": (0, 1)}

    def lines(row, name):
        return network.predict([{**row, name: value} for value in every[name]]).tolist()

    inputs = [dict(zip(every, row, strict=True)) for row in product(*every.values())]
    for name in every:
        turned = sum(len(set(lines(row, name))) > 1 for row in rows)
        assert found.influence[name].rows == found.protected[name].rows == turned
        matters = any(len(set(lines(row, name))) > 1 for row in inputs)
        assert found.protected[name].status == ("flips" if matters else "independent")
        assert (name in found.independent_of) == (not matters)
    assert "dead" in found.independent_of
    along = [lines({"age": 0, "job": job, "dead": 0}, "age") for job in "abc"]
    steps = {pair for line in along for pair in pairwise(line)}
    expected = DIRECTIONS[("yes", "no") in steps, ("no", "yes") in steps]
    assert found.monotonicity["age"]["yes"].direction == expected
    assert sum(group.rows for group in found.groups["age"]) == len(rows)


def test_beyond_a_table_all_rows_are_counted_if_there_is_time():
    rng = np.random.default_rng(3)
    domain = Domain(
        (Feature.real("age", 0, 40, whole=True), Feature("sex", ("f", "m")))
    )
    network = ranged.random_network(rng, domain)
    rows = ranged.random_rows(rng, domain, 1500)
    found = audit(network, rows, protected=["sex"], fragile=0)
    verdict = nn2rules.verify(network, "independent of sex", rows, on="rows")
    assert found.influence["sex"].of_rows == found.protected["sex"].of_rows == 1500
    assert found.influence["sex"].rows == found.protected["sex"].rows == verdict.rows
    ages = {sex: [{"age": age, "sex": sex} for age in range(41)] for sex in "fm"}
    turned = [sex for sex in "fm" if len(set(network.predict(ages[sex]).tolist())) > 1]
    expected = sum(row["sex"] in turned for row in rows)
    assert found.influence["age"].rows == expected


def test_adult_says_what_sex_does():
    network = nn2rules.load(nn2rules.datasets.network_file("adult"))
    people = nn2rules.datasets.load("adult").train
    found = audit(network, people.rows, protected=["sex"], labels=people.labels)
    sex, hours = found.protected["sex"], found.monotonicity["hours-per-week"][">50K"]
    assert (sex.rows, sex.inputs, found.status) == (652, 4492, "flips")
    assert (hours.direction, hours.falls, hours.contexts) == ("neither", 1306, 36288)
    influences = nn2rules.influences(network, people.rows).of
    assert {n: one.rows for n, one in found.influence.items()} == dict(influences)
    answers = network.predict(people.rows)
    for group in found.groups["sex"]:
        own = [i for i, row in enumerate(people.rows) if row["sex"] == group.value]
        assert group.rows == len(own)
        assert group.classes[">50K"] == int((answers[own] == ">50K").sum())
        assert group.labels[">50K"] == sum(people.labels[i] == ">50K" for i in own)


def test_fragile_rows_have_the_smallest_margins():
    cars = nn2rules.load(nn2rules.datasets.network_file("car"))
    rows = nn2rules.datasets.load("car").train.rows[:300] * 2
    found = audit(cars, rows, fragile=4)
    every = sorted(one.margin for one in nn2rules.explain(cars, rows[:300]))
    assert [one.explanation.margin for one in found.fragile] == every[:4]
    for one in found.fragile:
        assert (one.explanation.row, one.count) == (rows[one.number], 2)
        assert one.explanation.prediction == cars.predict([rows[one.number]])[0]
        change = one.explanation.counterfactuals[0]
        turned = cars.predict([{**rows[one.number], **change}])[0]
        assert turned == one.explanation.outcomes[0] != one.explanation.prediction


def test_labels_of_many_classes_are_not_taken_for_ways_to_turn():
    domain = Domain((Feature("a", ("x", "y")), Feature("b", ("x", "y", "z"))))
    weights = np.array([[0, 3, 0], [2, 0, 1], [1, 0, 0], [0, 0, 4], [0, 1, 1]])
    network = Network(domain, (Layer(weights, [0, 0, 0], "softmax"),), (0, 1, 2))
    rows = domain.decode(domain.codes_of(np.arange(6)))
    found = audit(network, rows, protected=["a"], labels=[2] * 6)
    rules = found.protected["a"].rules
    assert rules is not None
    assert {rule.covered_agree for rule in rules} == {None}
    assert "a alone flips the prediction" in str(found)


def test_a_column_that_the_model_does_not_see_is_a_finding():
    found = audit(TOMATO, BASKET, protected=["shop"])
    assert found.protected["shop"].status == "unseen"
    assert found.status == "clear"
    shares = [(g.value, g.rows, g.classes["ripe"]) for g in found.groups["shop"]]
    assert shares == [("a", 1, 1), ("b", 2, 0)]
    assert "is not a feature of the model" in str(found)


def test_what_was_only_probed_of_a_model_is_said():
    origin = {"probed": ["encode"], "probed_rows": 7}
    found = audit(replace(TOMATO, origin=origin), BASKET)
    assert "READ BY PROBING (encode)" in found.warnings[0]
    assert found.warnings[0].split(":")[0] in str(found)


def test_numbers_make_quarters_and_what_is_missing_is_a_group():
    ages = [*range(20, 60), None, float("nan")]
    rows = pd.DataFrame([{**BASKET[0], "age": age} for age in ages])
    groups = audit(TOMATO, rows, protected=["age"]).groups["age"]
    assert [(g.text, g.rows) for g in groups] == [
        ("20–30", 11),
        ("31–40", 10),
        ("41–49", 9),
        ("50–59", 10),
        ("missing", 2),
    ]
    texts = [{**BASKET[0], "age": "" if a != a or a is None else str(a)} for a in ages]
    assert audit(TOMATO, texts, protected=["age"]).groups["age"] == groups


def test_what_is_not_proved_in_time_is_open():
    rng = np.random.default_rng(0)
    domain = Domain(
        tuple(Feature(f"f{i}", tuple(range(9)), ordered=True) for i in range(12))
    )
    network = ranged.random_network(rng, domain, units=12)
    rows = [dict.fromkeys(domain.names, 0)]
    for limit in ({"time": 0}, {"budget": Budget(seconds=0)}):
        found = audit(network, rows, protected=["f0"], engine="search", **limit)
        assert found.influence["f1"].status == "undecided"
        assert found.monotonicity["f1"]["yes"].direction == "undecided"
        assert "whether f1 ever flips a prediction" in found.undecided
        assert "Undecided (the default limit is a minute;" in str(found)
    found = audit(network, rows, protected=["f0"], fragile=0, budget=Budget(boxes=1))
    assert {one.status for one in found.influence.values()} <= {"flips", "undecided"}


def test_the_page_is_text_html_json_and_frames():
    found = audit(TOMATO, BASKET, protected="color", labels=["ripe", "ripe", "unripe"])
    text, html = str(found), found._repr_html_()
    for part in (
        "Protected features",
        "color alone flips the prediction",
        "labelled ripe",
    ):
        assert part in text
        assert part in html
    assert all(len(line) <= 60 for line in found.text(width=60).splitlines())
    told = json.loads(found.to_json())
    assert told["protected"][0]["verdict"]["count"] == found.protected["color"].inputs
    assert told["protected"][0]["rules"]
    assert [one["feature"] for one in told["influence"]] == list(found.influence)
    for part in ("influence", "monotonicity", "groups", "fragile"):
        assert len(found.to_frame(part)) == len(told[part])
    assert repr(found) == "<Audit: flips, 2 features>"


@pytest.mark.parametrize(
    ("rows", "options", "error", "said"),
    [
        (None, {}, OptionError, "audit needs data"),
        ([], {}, OptionError, "no rows to count on"),
        ([{"color": "red"}], {}, RowsError, "'size' is missing"),
        (BASKET, {"protected": ["colour"]}, DomainError, "neither a feature"),
        (BASKET, {"labels": ["ripe"]}, OptionError, "1 labels for 3"),
        (BASKET, {"engine": "guess"}, OptionError, "engine"),
        (BASKET, {"fragile": -1}, OptionError, "fragile"),
        (BASKET, {"time": -1}, OptionError, "time"),
    ],
)
def test_bad_input_is_one_sentence(rows, options, error, said):
    with pytest.raises(error, match=said) as caught:
        audit(TOMATO, rows, **options)
    assert "\n" not in str(caught.value)


def test_frames_and_widths_that_there_are_not():
    found = audit(TOMATO, BASKET)
    with pytest.raises(OptionError, match="part"):
        found.to_frame("dead")
    with pytest.raises(OptionError, match="backend"):
        found.to_frame(backend="excel")
    with pytest.raises(OptionError, match="width"):
        found.text(width=10)


@pytest.mark.parametrize("seed", range(12))
def test_what_cannot_occur_is_left_out(seed):
    network = small_network(seed)
    domain = network.domain
    rows = domain.decode(np.concatenate([*domain.inputs()]))
    boxes = ["sex = f and size = l", {"job": "a", "years": [10, None]}]

    def is_possible(row):
        is_long = row["sex"] == "f" and row["size"] == "l"
        return not is_long and not (row["job"] == "a" and row["years"] in (10, None))

    possible = [row for row in rows if is_possible(row)]
    answers = {
        tuple(row.values()): label
        for row, label in zip(possible, network.predict(possible).tolist(), strict=True)
    }
    found = audit(network, rows, protected=["sex"], impossible=boxes)
    for name in domain.names:
        turned = 0
        for row in possible:
            others = [row | {name: value} for value in domain.feature(name).values]
            own = answers[tuple(row.values())]
            labels = [answers.get(tuple(other.values()), own) for other in others]
            turned += any(label != own for label in labels)
        assert found.influence[name].rows == turned
        assert found.influence[name].inputs == turned
        assert found.influence[name].of_inputs == len(possible)
        assert (name in found.independent_of) == (turned == 0)
    for fragile in found.fragile:
        assert is_possible(fragile.explanation.row)
        changes = [
            fragile.explanation.row | c for c in fragile.explanation.counterfactuals
        ]
        assert all(map(is_possible, changes))
    assert "Impossible inputs are left out." in str(found)


def test_what_cannot_occur_needs_a_table():
    network = small_network(1)
    row = {"sex": "f", "years": 0, "size": "s", "job": "a"}
    with pytest.raises(
        OptionError, match="impossible: an audit supports it only with a table"
    ):
        audit(network, [row], impossible=["sex = m"], engine="search")
    with pytest.raises(OptionError, match="impossible: a list of dicts or texts, not"):
        audit(network, [row], impossible="sex = m")
