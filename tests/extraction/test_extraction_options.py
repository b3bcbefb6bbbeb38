import numpy as np
import pytest

from nn2rules import (
    Budget,
    Domain,
    Layer,
    Network,
    OptionError,
    UnsupportedModelError,
    datasets,
    extract,
    load,
)
from nn2rules.engine import count_classes, counting, table
from nn2rules.extraction.extract import ENGINES, FORMS
from strategies import plain_domain

TOMATO = load(datasets.network_file("tomato"))
ROWS = [{"color": "red", "size": "big"}, {"color": "yellow", "size": "small"}]


def refused(**options):
    """Return what `extract` says to options that make no sense."""
    with pytest.raises(OptionError) as error:
        extract(TOMATO, **options)
    message = str(error.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"form": "tree"}, "form: 'tree', expected list or set or paper"),
        ({"scope": "rows"}, "scope: 'rows', expected domain or support"),
        (
            {"engine": "magic"},
            "engine: 'magic', expected auto or table or search or paper",
        ),
        (
            {"engine": "paper", "form": "set"},
            "the engine 'paper' makes the form 'paper', not 'set'",
        ),
        (
            {"approximate": "soft-binary"},
            "approximate='soft-binary' is an option of the engine 'paper'",
        ),
        (
            {"order": ["color", "size"]},
            "order is an option of the form 'paper'",
        ),
        (
            {"n_jobs": 0},
            "n_jobs: 0, expected 1 or more threads, or -1 for all cores",
        ),
        ({"effort": -1}, "effort: -1, expected 0, 1, 2, …"),
        ({"effort": 0.5}, "effort: 0.5, expected 0, 1, 2, …"),
        ({"effort": "high"}, "effort: 'high', expected 0, 1, 2, …"),
        ({"effort": None}, "effort: None, expected 0, 1, 2, …"),
        ({"seed": -1}, "seed: -1, expected a whole number, 0 or more"),
        ({"seed": 1.0}, "seed: 1.0, expected a whole number, 0 or more"),
        ({"seed": None}, "seed: None, expected a whole number, 0 or more"),
        ({"labels": ["ripe"]}, "labels belong to rows; give data, too"),
        (
            {"scope": "support"},
            "the scope 'support' needs data: rows for the rules to cover",
        ),
        (
            {"form": "set", "target": "rotten"},
            "target: 'rotten' is not a class; the classes are 'unripe', 'ripe'; for "
            "the true classes of the rows use labels",
        ),
        (
            {"form": "list", "target": "ripe"},
            "a target is for sets, and for networks with two classes",
        ),
        (
            {"data": ROWS, "labels": ["ripe"]},
            "1 labels for 2 rows, expected one for each",
        ),
        (
            {"data": ROWS, "labels": ["ripe", "rotten"]},
            "the label 'rotten' is not a class; the classes are unripe, ripe",
        ),
        ({"max_rules": -1}, "max_rules: -1, expected 0 or more"),
        ({"fidelity": 90}, "fidelity: 90, expected 0 to 1"),
        ({"fidelity": "0.9"}, "fidelity: '0.9', expected a number, 0 to 1"),
        ({"budget": 5}, "budget: 5, expected Budget(seconds=5)"),
        ({"budget": "5 s"}, "budget: '5 s', expected a Budget"),
        (
            {"progress": True},
            "progress: True, expected a function of the current step and the fraction "
            "done, or False for no progress",
        ),
        ({"effort": True}, "effort: True, expected 0, 1, 2, …"),
        (
            {"data": ROWS, "labels": (label for label in ("ripe", "unripe"))},
            "labels: a generator, expected a list, an array or a column",
        ),
        (
            {"data": ROWS, "labels": np.array([["ripe", "ripe"]] * 3)},
            "labels: shape 3 × 2, expected one label for each row",
        ),
    ],
)
def test_options_that_make_no_sense(options, message):
    assert refused(**options) == message


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("target", "ripe"),
        ("impossible", [{"color": "red"}]),
        ("max_rules", 3),
        ("fidelity", 0.9),
    ],
)
@pytest.mark.parametrize("engine", ENGINES)
def test_options_that_the_papers_form_has_not(name, value, engine):
    expected = f"{name} is for the forms 'list' and 'set', not 'paper'"
    assert refused(form="paper", engine=engine, **{name: value}) == expected


@pytest.mark.parametrize("engine", ENGINES)
def test_the_papers_form_has_labels(engine):
    """Nothing that is asked for is left out in silence."""
    labels = ["ripe", "unripe"]
    rules = extract(TOMATO, form="paper", engine=engine, data=ROWS, labels=labels)
    decided = [rule for rule in rules.rules if rule.support]
    assert [(rule.support, rule.accuracy) for rule in decided] == [(1, 1.0)]
    labels = ["unripe", "unripe"]
    rules = extract(TOMATO, form="paper", engine=engine, data=ROWS, labels=labels)
    assert [rule.accuracy for rule in rules.rules if rule.support] == [0.0]
    assert refused(form="paper", labels=labels).startswith("labels belong to rows")


@pytest.mark.parametrize("n_jobs", ["2", 1.5, -3.0])
def test_a_number_of_threads_is_an_integer(n_jobs):
    assert refused(n_jobs=n_jobs).startswith("n_jobs: ")


@pytest.mark.parametrize("time", ["3", -1, True, float("nan")])
def test_a_time_is_a_number_of_seconds(time):
    assert refused(time=time).startswith("time: ")


def test_a_time_limit_is_given_once():
    message = refused(time=3, budget=Budget(seconds=2))
    assert message == "give either time or the budget's seconds, not both"


@pytest.mark.parametrize("max_rules", ["3", 1.5])
def test_a_number_of_rules_is_an_integer(max_rules):
    assert "rules" in refused(max_rules=max_rules)


@pytest.mark.parametrize("impossible", [3, "red"])
def test_impossible_inputs_are_boxes_or_a_function(impossible):
    assert refused(impossible=impossible).startswith("impossible: ")


@pytest.mark.parametrize(
    "options",
    [
        {"form": "tree"},
        {"fidelity": 2},
        {"max_rules": -1},
        {"budget": 5},
        {"effort": -1},
        {"scope": "support"},
        {"scope": "support", "data": ROWS, "fidelity": 0.5},
        {"engine": "search", "fidelity": 0.5},
        {"form": "paper", "max_rules": 3},
        {"form": "list", "target": "ripe"},
        {"engine": "paper", "approximate": "x"},
        {"data": ROWS, "labels": "color"},
    ],
)
def test_options_are_checked_before_the_model_is_read(options):
    with pytest.raises(OptionError):
        extract(object(), **options)


def test_numbers_of_numpy_are_numbers():
    options = {"effort": 2, "seed": 3, "max_rules": 1, "n_jobs": 2}
    expected = extract(TOMATO, fidelity=0.5, **options)
    given = {name: np.int64(value) for name, value in options.items()}
    found = extract(TOMATO, fidelity=np.float32(0.5), **given)
    assert found == expected
    assert extract(TOMATO, budget=Budget(seconds=np.float64(60))) == extract(TOMATO)


def many_classes(n_classes):
    layer = Layer(np.eye(n_classes), np.zeros(n_classes), "softmax")
    labels = tuple(f"c{index}" for index in range(n_classes))
    return Network(plain_domain([n_classes]), (layer,), labels)


def classes_by_rules(rules, n_classes):
    answers = np.append(rules.answers, rules.classes.index(rules.default))
    return answers[rules.match(np.arange(n_classes)[:, np.newaxis])].tolist()


def test_as_many_classes_as_a_table_holds():
    most = extract(many_classes(table.MOST_CLASSES), effort=0, form="rules")
    assert most.certificate["engine"] == "table"
    expected = list(range(table.MOST_CLASSES))
    assert classes_by_rules(most, table.MOST_CLASSES) == expected
    with pytest.raises(UnsupportedModelError) as error:
        extract(many_classes(256), engine="table")
    assert str(error.value) == (
        "a table can have at most 255 classes, but the network has 256; use the engine "
        "'search'"
    )


def test_more_classes_than_a_table_holds(monkeypatch):
    """With a limit of its own: the work grows with the cube of the classes."""
    monkeypatch.setattr(table, "MOST_CLASSES", 31)
    monkeypatch.setattr(counting, "MOST_CLASSES", 31)
    network = many_classes(32)
    rules = extract(network, effort=0, form="rules")
    assert rules.certificate["engine"] == "search"
    assert classes_by_rules(rules, 32) == list(range(32))
    assert count_classes(network).lower == (1,) * 32


def test_rows_are_read_once(monkeypatch):
    read = []
    encode = Domain.encode

    def counted(domain, rows, **options):
        if not isinstance(rows, np.ndarray):
            read.append(len(rows))
        return encode(domain, rows, **options)

    monkeypatch.setattr(Domain, "encode", counted)
    for options in (
        {},
        {"form": "set", "scope": "support"},
        {"engine": "search", "scope": "support", "max_rules": 1},
        {"max_rules": 0},
        {"form": "paper"},
        {"form": "paper", "engine": "paper", "scope": "support"},
    ):
        read.clear()
        extract(TOMATO, ROWS, labels=["ripe", "unripe"], **options)
        assert read == [2]


def test_rules_for_rows_come_from_a_table_where_it_is_small():
    rng = np.random.default_rng(0)
    cases = [("list", 9, "table"), ("list", 10, "search")]
    cases += [("set", 8, "table"), ("set", 9, "search")]
    for form, n_features, engine in cases:
        domain = plain_domain([4] * n_features)
        weights = rng.normal(size=(4 * n_features, 1))
        network = Network(domain, (Layer(weights, [0], "sigmoid"),), ("a", "b"))
        rows = domain.decode(rng.integers(4, size=(5, n_features)))
        rules = extract(network, rows, scope="support", form=form)
        assert rules.certificate["engine"] == engine
        assert rules.certificate["rows_covered"] == 5


def test_several_classes_have_no_target():
    layer = Layer(np.eye(3), np.zeros(3), "softmax")
    network = Network(plain_domain([3]), (layer,), ("a", "b", "c"))
    for form in ("list", "set"):
        with pytest.raises(OptionError) as error:
            extract(network, form=form, target="a")
        assert (
            str(error.value)
            == "a target is for sets, and for networks with two classes"
        )


def test_a_search_counts_no_fidelity():
    assert refused(engine="search", fidelity=0.5) == (
        "fidelity is counted on a table of every input, which the engine 'search' does "
        "not make; use max_rules to limit a search"
    )


@pytest.mark.parametrize("form", ["list", "set"])
@pytest.mark.parametrize("scope", ["domain", "support"])
def test_a_search_stops_at_the_rules_that_are_asked_for(form, scope):
    network = load(datasets.network_file("car"))
    rows = datasets.load("car").train.rows
    whole = extract(network, rows, engine="search", form=form, scope=scope)
    truth = network.predict(rows)
    for n_rules in (0, 1, 5):
        rules = extract(
            network, rows, engine="search", form=form, scope=scope, max_rules=n_rules
        )
        assert len(rules) == n_rules
        assert rules.scope == "support"
        assert rules.certificate["boxes"] < whole.certificate["boxes"]
        decided = rules.apply(rows) >= 0
        assert (rules.predict(rows, uncovered="none") == truth)[decided].all()
        assert rules.certificate["rows_covered"] == decided.sum()
    many = extract(
        network, rows, engine="search", form=form, scope=scope, max_rules=10_000
    )
    assert many == whole


def test_no_effort_is_less_than_some():
    network = load(datasets.network_file("car"))
    boxes = [
        extract(network, engine="search", effort=effort).certificate["boxes"]
        for effort in (0, 1, 2)
    ]
    assert boxes[0] < min(boxes[1:])
    assert 3 * boxes[0] < 2 * boxes[1]


def test_fidelity_is_counted_on_a_domain():
    message = refused(scope="support", data=ROWS, fidelity=0.5)
    assert message == "fidelity needs the scope 'domain', where it is counted"


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("engine", ["auto", "table", "search"])
def test_options_in_their_place(form, engine):
    """What is refused elsewhere is welcome here."""
    options = {"seed": 3, "effort": 2, "n_jobs": 2} if form != "paper" else {}
    if form == "set":
        options["target"] = "ripe"
    if form != "paper":
        options["labels"] = ["ripe", "unripe"]
    rules = extract(TOMATO, form=form, engine=engine, data=ROWS, **options)
    expected = ["unripe", "ripe", "ripe", "unripe", "unripe", "unripe"]
    codes = [(c, s) for c in range(2) for s in range(3)]
    assert rules.predict(TOMATO.domain.decode(codes)).tolist() == expected
    assert sum(rule.support for rule in rules.rules) >= 1


def test_the_engine_is_chosen_by_the_size_of_the_domain():
    table, search = extract(TOMATO), extract(TOMATO, budget=Budget(memory=5))
    assert table.certificate["engine"] == "table"
    assert search.certificate["engine"] == "search"
    assert extract(TOMATO, budget=Budget(memory=6)).certificate["engine"] == "table"


def test_all_cores_give_the_same_rules():
    assert extract(TOMATO, n_jobs=-1) == extract(TOMATO)


def test_progress_is_reported():
    network = load(datasets.network_file("car"))
    seen = []
    extract(
        network, effort=1, progress=lambda *report: seen.append(report), form="rules"
    )
    assert all(0 <= share <= 1 for _, share in seen)
    assert any("rules" in what for what, _ in seen)


def test_the_name_of_a_column_is_not_labels():
    with pytest.raises(OptionError, match=r"labels=data\['label'\]"):
        extract(TOMATO, [{"color": "red", "size": "big"}], labels="label")
