"""Claims, by table and by search, against every input one by one."""

import json
from itertools import product

import numpy as np
import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

import nn2rules
import ranged
from engine.random_pieces import random_pieces
from nn2rules import (
    Budget,
    Domain,
    Feature,
    Layer,
    Network,
    OptionError,
    ParseError,
    RuleList,
    verify,
)
from nn2rules.engine import beyond_tables
from nn2rules.errors import DomainError, UndecidedError
from nn2rules.questions import claims
from strategies import PIECEWISE_LINEAR, SMOOTH, networks, plain_domain, rule_of
from strategies import boxes as drawn_boxes

PALETTES = ("integers", "signs", "dyadic", "decimal")


def every_input(network):
    names = network.domain.names
    values = [feature.values for feature in network.domain.features]
    rows = [dict(zip(names, row, strict=True)) for row in product(*values)]
    try:
        return rows, network.predict(rows).tolist()
    except UndecidedError:  # nobody can say what is right
        reject()


def meets(row, box):
    return all(row[name] in values for name, values in box.items())


class Naive:
    """A claim, judged by looking at every input and at every two of them."""

    def __init__(self, network, claim, box, impossible):
        rows, answers = every_input(network)
        kept = [
            (row, answer)
            for row, answer in zip(rows, answers, strict=True)
            if meets(row, box) and not any(meets(row, each) for each in impossible)
        ]
        self.network, self.claim = network, claim
        self.inputs = kept
        self.violations = [row for row, answer in kept if self._is_broken(row, answer)]

    def _is_broken(self, row, answer):
        claim = self.claim
        if isinstance(claim, claims.claim.Implies):
            return answer != claim.then
        if isinstance(claim, claims.claim.Unreachable):
            return answer == claim.label
        if isinstance(claim, claims.claim.Equivalent):
            return answer != claim.rules.predict([row])[0]
        if isinstance(claim, claims.claim.Subsumes):
            return self._is_other(row, answer)
        return any(self.violate(row, answer, *other) for other in self.inputs)

    def _is_other(self, row, answer):
        rules = self.claim.rules
        fired = [
            rule.then
            for rule in rules
            if meets(row, {c.feature: c.values for c in rule.conditions})
        ]
        if rules.form == "list":
            fired = fired[:1]
        return any(then != answer for then in fired)

    def violate(self, row, answer, other, its):
        """Tell whether two inputs break the claim together."""
        names = {name for name in row if row[name] != other[name]}
        if isinstance(self.claim, claims.claim.IndependentOf):
            return names <= set(self.claim.features) and answer != its
        if names != {self.claim.feature}:
            return False
        values = self.network.domain.feature(self.claim.feature).values
        places = [values.index(each[self.claim.feature]) for each in (row, other)]
        toward = self.claim.toward or self.network.classes[1]
        low, high = (answer, its) if places[0] < places[1] else (its, answer)
        if not self.claim.increasing:
            low, high = high, low
        return low == toward and high != toward

    @property
    def contexts(self):
        """In how many contexts it is violated, of how many."""
        names = self.claim.features if hasattr(self.claim, "features") else ()
        names = names or (self.claim.feature,)

        def rest(row):
            return tuple(v for name, v in row.items() if name not in names)

        return (
            len({rest(row) for row in self.violations}),
            len({rest(row) for row, _ in self.inputs}),
        )


def ordered(network):
    """Return the same network with features that have an order."""
    features = [
        Feature(f.name, f.values, ordered=True) for f in network.domain.features
    ]
    return Network(
        Domain(tuple(features)), network.layers, network.classes, network.threshold
    )


def box_of(domain, chosen):
    both = zip(domain.features, chosen, strict=True)
    return {f.name: [f.values[c] for c in codes] for f, codes in both if codes}


@st.composite
def cases(draw, activations=PIECEWISE_LINEAR + SMOOTH):
    """Draw a network, a claim, a box to ask it in, and what cannot occur."""
    network = ordered(draw(networks(activations, palettes=PALETTES)))
    domain, shape = network.domain, list(network.domain.sizes)
    label = draw(st.sampled_from(network.classes))
    name = draw(st.sampled_from(domain.names))
    kind = draw(
        st.sampled_from(
            ["implies", "never", "alone", "group", "monotone", "equal", "subsumes"]
        )
    )
    box = box_of(domain, draw(drawn_boxes(shape)))
    if kind == "implies":
        claim = claims.implies(box, label)
    elif kind == "never":
        claim = claims.unreachable(label, within=box)
    elif kind == "alone":
        claim = claims.independent_of(name, within=box)
    elif kind == "group":
        names = draw(st.lists(st.sampled_from(domain.names), min_size=1, unique=True))
        claim = claims.independent_of(names, within=box)
    elif kind == "monotone":
        way = draw(st.booleans())
        claim = claims.monotonic(name, increasing=way, toward=label, within=box)
    else:
        found = [
            rule_of(
                draw(drawn_boxes(shape)), domain, draw(st.sampled_from(network.classes))
            )
            for _ in range(draw(st.integers(0, 4)))
        ]
        form = draw(st.sampled_from(["list", "set"]))
        rules = RuleList(domain, found, label, network.classes, form=form)
        make = claims.equivalent if kind == "equal" else claims.subsumes
        claim = make(rules, within=box)
    n_boxes = draw(st.integers(0, 2))
    impossible = [box_of(domain, draw(drawn_boxes(shape))) for _ in range(n_boxes)]
    return network, claim, box, impossible


def distance(row, rows):
    return min(sum(row[name] != other[name] for name in row) for other in rows)


@settings(max_examples=100)
@given(case=cases(), data=st.data())
def test_table_and_search_equal_every_input(case, data):
    network, claim, _, impossible = case
    naive = Naive(*case)
    if not naive.inputs:
        with pytest.raises(OptionError, match=r"no (possible )?input is left"):
            verify(network, claim, impossible=impossible, engine="table")
        return
    status = "refuted" if naive.violations else "proved"
    rows, _ = every_input(network)
    chosen = data.draw(st.lists(st.sampled_from(rows), min_size=1, max_size=4))
    counted = [row for row in chosen if row in [r for r, _ in naive.inputs]]
    for engine in ("table", "search"):
        found = verify(network, claim, chosen, impossible=impossible, engine=engine)
        assert found.status == status, engine
        assert found.total_rows == len(counted)
        assert found.rows == sum(row in naive.violations for row in counted)
        if naive.violations:
            check_example(network, naive, found)
        on_rows = verify(
            network, claim, chosen, impossible=impossible, engine=engine, on="rows"
        )
        assert on_rows.status == ("refuted" if found.rows else "proved")
        assert (on_rows.count, on_rows.total) == (found.rows, found.total_rows)
        if engine == "search":
            assert (found.count, found.rules) == (None, None)
            continue
        assert (found.count, found.total) == (len(naive.violations), len(naive.inputs))
        assert sum(found.ways.values()) == found.count
        if found.contexts is not None:
            assert (found.contexts, found.total_contexts) == naive.contexts
        if naive.violations:
            nearest = min(distance(row, chosen) for row in naive.violations)
            assert found.distance == nearest


def drawn_claims(rng, network):
    """Return claims about two inputs, most of which are violated somewhere."""
    names = network.domain.names
    label = network.classes[int(rng.integers(len(network.classes)))]
    yield claims.independent_of(names[0])
    yield claims.independent_of(list(names[1:]))
    for increasing in (True, False):
        yield claims.monotonic(names[1], increasing=increasing, toward=label)


@pytest.mark.parametrize("seed", range(8))
def test_claims_about_two_inputs_equal_every_two_of_them(seed):
    rng = np.random.default_rng(seed)
    shape = [2, 4, 3]
    network = ordered(plain_network(rng, plain_domain(shape), 1 + 2 * (seed % 2)))
    impossible = [{"f1": ["v1"], "f2": ["v0", "v2"]}] if seed % 4 > 1 else []
    every = Naive(network, claims.implies({}, "a"), {}, impossible)
    rows = [row for row, _ in every.inputs]
    for claim in drawn_claims(rng, network):
        naive = Naive(network, claim, {}, impossible)
        found = verify(network, claim, rows, impossible=impossible)
        assert (found.count, found.rows) == (
            len(naive.violations),
            len(naive.violations),
        )
        assert (found.contexts, found.total_contexts) == naive.contexts
        searched = verify(network, claim, rows, impossible=impossible, engine="search")
        assert searched.rows == len(naive.violations)
        alone = verify(network, claim, impossible=impossible, engine="search")
        assert alone.status == ("refuted" if naive.violations else "proved")
        if naive.violations:
            for each in (found, searched, alone):
                check_example(network, naive, each)


def plain_network(rng, domain, n_out):
    """Return a network with random weights."""
    first = Layer(
        rng.normal(size=(int(domain.offsets[-1]), 4)), rng.normal(size=4), "relu"
    )
    kind = "sigmoid" if n_out == 1 else "softmax"
    last = Layer(rng.normal(size=(4, n_out)), rng.normal(size=n_out) / 4, kind)
    return Network(domain, (first, last), ("a", "b", "c")[: max(2, n_out)])


def test_a_probability_of_one_half_is_between_its_ends():
    domain = Domain((Feature("size", ("small", "big")),))
    even = Network(domain, (Layer([[0.0], [1.0]], [0.0], "sigmoid"),), ("no", "yes"))
    for of, low, high in (("yes", 0.5, 1), ("no", 0, 0.5)):
        for engine in ("table", "search"):
            claim = claims.probability_between(low, high, of=of)
            assert verify(even, claim, engine=engine).status == "proved"
    claim = claims.probability_between(0, 0.5, of="yes")
    assert verify(even, claim).counterexample == {"size": "big"}


def check_example(network, naive, found):
    """Compare the counterexample and its answers with the network."""
    example, answer = found.counterexample, found.prediction
    if isinstance(example, dict):
        assert example in naive.violations
        assert network.predict([example])[0] == answer
        return
    assert network.predict(list(example)).tolist() == list(answer)
    both = [(row, a) for row, a in zip(example, answer, strict=True)]
    assert all(pair in naive.inputs for pair in both)
    assert naive.violate(*both[0], *both[1])


@settings(max_examples=40)
@given(case=cases())
def test_rules_hold_exactly_what_breaks_a_claim(case):
    network, claim, _, impossible = case
    naive = Naive(*case)
    if not naive.inputs:
        return
    rules = verify(network, claim, impossible=impossible).rules
    rows, _ = every_input(network)
    violations = [
        row
        for row, name in zip(rows, rules.predict(rows), strict=True)
        if name != "holds"
    ]
    assert violations == naive.violations
    fired = rules.apply(naive.violations) if naive.violations else np.zeros(0)
    assert (fired >= 0).all()


@settings(max_examples=80)
@given(
    network=networks(PIECEWISE_LINEAR + SMOOTH, palettes=PALETTES),
    ends=st.tuples(*[st.sampled_from([0, 0.1, 0.3, 0.5, 0.75, 1])] * 2).map(sorted),
    data=st.data(),
)
def test_probabilities_equal_every_input(network, ends, data):
    low, high = ends
    of = data.draw(st.sampled_from(network.classes))
    if low == high == 0 or low == high == 1:
        return
    claim = claims.probability_between(low, high, of=of)
    rows, _ = every_input(network)
    scores = network.scores(rows)
    if network.is_binary:
        scores = scores if of == network.classes[1] else -scores
    else:
        place = network.classes.index(of)
        others = np.delete(scores, place, axis=1) - scores[:, [place]]
        scores = -np.logaddexp.reduce(others, axis=1)
    with np.errstate(over="ignore", divide="ignore"):
        logits = [np.log(end) - np.log1p(-end) for end in (low, high)]
    sure = np.abs(scores[:, np.newaxis] - np.array(logits)).min(axis=1) > 1e-9
    violations = (scores < logits[0]) | (scores > logits[1])
    if not sure.all() and not (low in (0, 0.5) and high in (0.5, 1)):
        return
    found = verify(network, claim)
    if sure.all():
        assert found.count == violations.sum()
        assert found.status == ("refuted" if violations.any() else "proved")
    searched = verify(network, claim, engine="search")
    assert searched.status == found.status


@pytest.fixture
def _no_tables_are_kept(monkeypatch):
    monkeypatch.setattr("nn2rules.engine.which_engine.KEPT_INPUTS", 0)


@pytest.mark.usefixtures("_no_tables_are_kept")
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(case=cases(PIECEWISE_LINEAR))
def test_a_table_of_a_part_equals_every_input(case):
    network, claim, _, impossible = case
    naive = Naive(*case)
    if naive.inputs:
        found = verify(network, claim, impossible=impossible)
        assert (found.count, found.total) == (len(naive.violations), len(naive.inputs))


def small_numbers():
    """Whole numbers few enough to try all, with values beside them, and words."""
    return Domain(
        (
            Feature.real("age", 2, 9, whole=True, special=[99], missing=True),
            Feature.real("size", -3, 3, whole=True),
            Feature("job", ("a", "b", "c")),
        )
    )


NUMBERS = {
    "age": [*range(2, 10), 99, None],
    "size": list(range(-3, 4)),
    "job": ["a", "b", "c"],
}


def broken_pairs(network, name, *, grows):
    """Return whether two inputs that differ in a feature alone differ, or fall."""
    rows = [dict(zip(NUMBERS, row, strict=True)) for row in product(*NUMBERS.values())]
    answers: dict = {}
    for row, answer in zip(rows, network.predict(rows), strict=True):
        key = tuple(value for own, value in row.items() if own != name)
        answers.setdefault(key, []).append((row[name], answer))
    if not grows:
        return any(len({a for _, a in line}) > 1 for line in answers.values())
    return any(
        low == network.classes[1] != high
        for line in answers.values()
        for (u, low), (v, high) in product(line, repeat=2)
        if u not in (99, None) and v not in (99, None) and u < v
    )


@pytest.mark.parametrize("seed", range(12))
def test_ranges_of_numbers_equal_every_number(seed):
    rng = np.random.default_rng(seed)
    classes = ("no", "yes") if seed % 2 else ("a", "b", "c")
    network = ranged.random_network(rng, small_numbers(), classes=classes)
    for name in NUMBERS:
        found = verify(network, claims.independent_of(name), time=20)
        is_broken = broken_pairs(network, name, grows=False)
        assert found.status == ("refuted" if is_broken else "proved")
        check_pair(network, found, name)
        if name == "job":
            continue
        claim = claims.monotonic(name, toward=classes[1])
        found = verify(network, claim, time=20)
        is_broken = broken_pairs(network, name, grows=True)
        assert found.status == ("refuted" if is_broken else "proved")
        check_pair(network, found, name)


def check_pair(network, found, name):
    if found.counterexample is None:
        return
    one, other = found.counterexample
    assert {key for key in one if one[key] != other[key]} == {name}
    assert network.predict([one, other]).tolist() == list(found.prediction)
    assert found.prediction[0] != found.prediction[1]


@pytest.fixture
def _regions_first(monkeypatch):
    monkeypatch.setattr(beyond_tables, "TURNS", ((0, 4_000),))
    monkeypatch.setattr(beyond_tables, "LATE_TURNS", ((0, 4_000),))


@pytest.mark.usefixtures("_regions_first")
@pytest.mark.parametrize("seed", range(12))
def test_probabilities_by_regions_equal_every_number(seed):
    """Every input is looked at, where no probability is close to an end."""
    rng = np.random.default_rng([30, seed])
    network = random_pieces(rng, small_numbers(), max_layers=2, n_scores=1)
    rows = [dict(zip(NUMBERS, row, strict=True)) for row in product(*NUMBERS.values())]
    scores = network.scores(rows).ravel()
    for low, high in ((0.0, 0.75), (0.3, 1.0), (0.05, 0.95), (0.5, 1.0)):
        ends = [np.log(p / (1 - p)) for p in (low, high) if 0 < p < 1]
        if min(np.abs(scores - end).min() for end in ends) < 1e-6:
            continue
        chances = 1 / (1 + np.exp(-scores))
        is_broken = bool(((chances < low) | (chances > high)).any())
        found = verify(network, claims.probability_between(low, high))
        assert found.status == ("refuted" if is_broken else "proved")
        if is_broken:
            one = 1 / (1 + np.exp(-network.scores([found.counterexample])[0]))
            assert not low <= one <= high


def test_a_part_of_a_range_can_be_impossible():
    age = Domain((Feature.real("age", 0, 100),))
    grown = Network(age, (Layer([[1.0]], [-18.0], "sigmoid"),), ("child", "grown up"))
    claim = "never grown up if age < 30"
    assert verify(grown, claim).status == "refuted"
    assert verify(grown, claim, impossible=["age > 18"]).status == "proved"
    assert verify(grown, claim, impossible=[{"age": (18, 100)}]).status == "proved"
    assert verify(grown, claim, within="age ≤ 18").status == "proved"
    assert verify(grown, "increasing in age").status == "proved"
    falls = verify(grown, "decreasing in age")
    assert falls.prediction == ("child", "grown up")


TOMATO = nn2rules.load(nn2rules.datasets.network_file("tomato"))
CAR = nn2rules.load(nn2rules.datasets.network_file("car"))


@pytest.mark.parametrize(
    ("claim", "options", "error", "message"),
    [
        (
            claims.implies({"colour": "red"}, "ripe"),
            {},
            DomainError,
            "no feature 'co",
        ),
        (claims.implies({"color": "blue"}, "ripe"), {}, DomainError, "no value 'blue'"),
        (claims.implies({}, "rotten"), {}, OptionError, "there is no class 'rotten'"),
        (claims.independent_of("sex"), {}, DomainError, "there is no feature 'sex'"),
        (
            claims.monotonic("color"),
            {},
            DomainError,
            "'color' has no order, so nothing",
        ),
        ("if color = red", {}, ParseError, "expected 'and' or 'then'"),
        ("if color = red then rotten", {}, ParseError, "there is no class rotten"),
        ("red is ripe", {}, ParseError, "a claim begins with one of: if, never"),
        ("independent of sex", {}, ParseError, "there is no feature sex; there are"),
        (
            "probability between 2 and 3",
            {},
            ParseError,
            "from 0 to 1, not 2.0",
        ),
        (["never ripe", "never rip"], {}, ParseError, "claim 2: there is no class rip"),
        (3, {}, OptionError, "claim: a int, expected a text or a claim from"),
        ("never ripe", {"on": "rows"}, OptionError, "on='rows' needs data"),
        ("never ripe", {"on": "moon"}, OptionError, "on: 'moon', expected 'domain'"),
        ("never ripe", {"engine": "x"}, OptionError, "engine: 'x', expected 'auto'"),
        (
            "never ripe",
            {"impossible": 3},
            OptionError,
            "impossible: a list of dicts or",
        ),
        (
            "never ripe",
            {"impossible": ["color = red", {"color": "yellow"}]},
            OptionError,
            "impossible: no possible input is left in the region",
        ),
        (
            "if color = red then ripe",
            {"within": "color = yellow"},
            OptionError,
            "no input is left: these conditions exclude each other: color = red; col",
        ),
        (
            claims.equivalent(RuleList(CAR.domain, (), "acc", CAR.classes)),
            {},
            DomainError,
            "the rules predict 'unacc', but the model's classes are 'unripe', 'ripe'",
        ),
        (
            claims.equivalent(RuleList(CAR.domain, (), "ripe", TOMATO.classes)),
            {},
            DomainError,
            "the rules are not for the inputs of this model: only the rules have",
        ),
    ],
)
def test_mistakes(claim, options, error, message):
    with pytest.raises(error) as raised:
        verify(TOMATO, claim, **options)
    assert message in str(raised.value)


def test_mistakes_in_making_a_claim():
    with pytest.raises(OptionError, match="a number from 0 to 1, not 2"):
        claims.probability_between(0, 2)
    with pytest.raises(OptionError, match=r"low=0\.9 is above high=0\.1"):
        claims.probability_between(0.9, 0.1)
    with pytest.raises(OptionError, match="expected names of features"):
        claims.independent_of([])
    with pytest.raises(OptionError, match="names a feature twice"):
        claims.independent_of(["a", "a"])
    with pytest.raises(OptionError, match="expected a RuleList, not a list"):
        claims.equivalent([])
    three = ranged.random_network(
        np.random.default_rng(0), small_numbers(), classes=("a", "b", "c")
    )
    with pytest.raises(OptionError, match="must not be lost, with toward="):
        verify(three, "increasing in age")
    with pytest.raises(OptionError, match="cannot be listed; use engine='search'"):
        verify(three, "never a", engine="table")
    with pytest.raises(OptionError, match="a function needs a table of all inputs"):
        verify(three, "never a", impossible=lambda rows: [False] * len(rows))


def test_a_spent_budget_leaves_a_claim_open():
    rules = nn2rules.extract(CAR, effort=0)
    claim = claims.equivalent(rules)
    found = verify(CAR, claim, engine="search", budget=Budget(boxes=3))
    assert found.status == "undecided"
    assert (found.reason, found.boxes) == ("the budget of 3 boxes is spent", 4)
    assert (
        str(found).split("\n")[1].startswith("  the budget of 3 boxes is spent; spent")
    )
    assert verify(CAR, claim, engine="search").status == "proved"


def test_impossible_inputs_as_a_function():
    found = verify(
        TOMATO,
        "if color = red then ripe",
        impossible=lambda rows: [row["size"] == "small" for row in rows],
    )
    assert (found.status, found.count, found.total) == ("proved", 0, 2)


@settings(max_examples=60)
@given(case=cases(PIECEWISE_LINEAR))
def test_claims_are_read_as_they_are_written(case):
    network, claim, _, _ = case
    domain = network.domain
    if isinstance(claim, claims.claim.Equivalent | claims.claim.Subsumes):
        return
    text = claims.claim_text(claim, domain)
    read = claims.read_claim(text, domain, network.classes)
    assert type(read) is type(claim)
    assert claims.claim_text(read, domain) == text
    assert verify(network, read).count == verify(network, claim).count


def test_rules_of_a_file_are_compared(tmp_path):
    rules = nn2rules.extract(TOMATO)
    nn2rules.save(rules, tmp_path / "rules.json")
    for kind in ("equivalent to", "subsumes"):
        found = verify(TOMATO, f'{kind} "{tmp_path}/rules.json"')
        assert (found.status, found.total) == ("proved", 6)


def test_a_book_of_claims(tmp_path):
    csv, listed = tmp_path / "book.csv", tmp_path / "book.json"
    csv.write_text(
        "name,claim\nred,if color = red then ripe\n,never ripe if size = big\n"
    )
    listed.write_text('["never ripe", {"name": "x", "claim": "independent of size"}]')
    found = verify(TOMATO, claims.read_claims(csv))
    assert {name: each.status for name, each in found.items()} == {
        "red": "refuted",
        "2": "refuted",
    }
    assert list(verify(TOMATO, claims.read_claims(listed))) == ["1", "x"]
    listed.write_text('[{"calim": "never ripe"}]')
    with pytest.raises(nn2rules.FormatError, match="unknown key 'calim'"):
        claims.read_claims(listed)
    csv.write_text("text\nnever ripe\n")
    with pytest.raises(OptionError, match="there is no column 'claim'"):
        claims.read_claims(csv)
    csv.write_text("claim\n")
    with pytest.raises(nn2rules.FormatError, match="there are no claims in it"):
        claims.read_claims(csv)


KINDS = ["equivalent to", "  equivalent  to", "subsumes", "subsumes\t"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_book_opens_no_file_unless_it_is_allowed(tmp_path, monkeypatch, kind):
    home, outside = tmp_path / "home", tmp_path / "outside.json"
    (home / "below").mkdir(parents=True)
    rules = nn2rules.extract(TOMATO)
    for place in (outside, home / "rules.json", home / "below" / "r.json"):
        nn2rules.save(rules, place)
    (home / "link.json").symlink_to(outside)
    (home / "inner.json").symlink_to("below/r.json")
    book = home / "book.json"

    def write(name):
        told = f"{kind} {json.dumps(str(name))} if size = big"
        book.write_text(json.dumps([{"name": "it", "claim": told}]))

    inside = ["rules.json", "below/r.json", "inner.json", home / "rules.json"]
    for name in inside:
        write(name)
        with pytest.raises(nn2rules.FormatError, match="may open files only with"):
            claims.read_claims(book)
        found = verify(TOMATO, claims.read_claims(book, files=True))
        assert found["it"].status == "proved"
    for name in ("../outside.json", outside, "link.json", "/etc/passwd", "a\0b"):
        write(name)
        with pytest.raises(
            nn2rules.FormatError, match="not in the folder of the claims"
        ):
            claims.read_claims(book, files=True)
    write("rules.json")
    monkeypatch.chdir(home)  # where a path of the book has no folder
    assert verify(TOMATO, claims.read_claims("book.json", files=True))["it"].status == (
        "proved"
    )


@pytest.mark.parametrize("n_classes", [3, 4, 5, 7])
@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_probabilities_of_several_classes(n_classes, activation):
    rng = np.random.default_rng(n_classes)
    sizes = (3, 4, 2)
    domain = Domain(tuple(Feature(f"x{i}", range(n)) for i, n in enumerate(sizes)))
    first = Layer(rng.normal(size=(9, 4)), rng.normal(size=4), activation)
    last = Layer(rng.normal(size=(4, n_classes)), rng.normal(size=n_classes), "softmax")
    network = Network(domain, (first, last), tuple(range(n_classes)))
    rows, _ = every_input(network)
    scores = network.scores(rows)
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    for of in range(n_classes):
        low, high = np.quantile(shares[:, of], [0.1, 0.9])
        for ends in ((low - 1e-9, high + 1e-9), (0, shares[:, of].max() + 1e-9)):
            claim = claims.probability_between(*np.clip(ends, 0, 1).tolist(), of=of)
            violations = (shares[:, of] < ends[0]) | (shares[:, of] > ends[1])
            for engine in ("table", "search"):
                found = verify(network, claim, rows, engine=engine)
                assert found.status == ("refuted" if violations.any() else "proved")
                assert found.rows == violations.sum()
                if engine == "table":
                    assert found.count == violations.sum()
                if violations.any():
                    assert violations[rows.index(found.counterexample)]


def test_a_probability_that_is_exactly_an_end_is_left_open():
    domain = Domain((Feature("size", ("small", "big")),))
    even = Layer(np.zeros((2, 4)), np.zeros(4), "softmax")
    network = Network(domain, (even,), ("a", "b", "c", "d"))
    assert verify(network, "probability of a between 0.24 and 0.26").status == "proved"
    found = verify(network, "probability of a between 0.25 and 1")
    assert found.status == "undecided"
    assert "so close to a tie" in found.reason


@settings(max_examples=40)
@given(case=cases())
def test_counts_beyond_a_table_equal_every_input(case):
    network, claim, within, impossible = case
    naive = Naive(*case)
    if not naive.inputs or impossible:
        return
    found = verify(network, claim, within=within, engine="search", count=True)
    if isinstance(claim, claims.claim.IndependentOf | claims.claim.Monotonic):
        assert found.count is None or (found.count, found.status) == (0, "proved")
        return
    if isinstance(claim, claims.claim.Equivalent | claims.claim.Subsumes):
        assert found.count in (None, 0)
        return
    assert (found.count, found.total) == (len(naive.violations), len(naive.inputs))
    assert found.at_least == found.at_most == found.count


def test_counts_are_bounds_where_the_budget_ends():
    rng = np.random.default_rng(1)
    domain = Domain(tuple(Feature(f"x{i}", range(9)) for i in range(9)))
    weights = rng.normal(size=(81, 3)) / np.repeat(2.0 ** np.arange(9), 9)[:, None]
    first = Layer(weights, rng.normal(size=3), "relu")
    last = Layer(rng.normal(size=(3, 1)), np.zeros(1), "sigmoid")
    network = Network(domain, (first, last), ("no", "yes"))
    budget = Budget(boxes=2000)
    found = verify(network, "never yes", budget=budget, count=True)
    assert (found.status, found.count, found.total) == ("refuted", None, 9**9)
    assert 1000 < found.at_least < found.at_most <= found.total
    said = f"at least {found.at_least:,} and at most {found.at_most:,} of 387,420,489"
    assert said in str(found)
    assert verify(network, "never yes").count is None
    codes = rng.integers(0, 9, (20_000, 9))
    part = float((network.predict_codes(codes) == 1).mean())
    assert found.at_least / 9**9 - 0.02 < part < found.at_most / 9**9 + 0.02


@pytest.mark.parametrize("seed", range(6))
def test_verdicts_beyond_a_table_withstand_attacks(seed):
    rng = np.random.default_rng(seed)
    domain = Domain(tuple(Feature(f"x{i}", range(5)) for i in range(18)))
    first = Layer(rng.normal(size=(90, 4)), rng.normal(size=4), "relu")
    last = Layer(rng.normal(size=(4, 1)), rng.normal(size=1), "sigmoid")
    network = Network(domain, (first, last), ("no", "yes"))
    statuses = set()
    for n_fixed in (0, 9, 12, 14, 16):
        point = rng.integers(0, 5, 18)
        where = {f"x{i}": int(point[i]) for i in range(n_fixed)}
        answer = network.classes[int(network.predict_codes(point[np.newaxis])[0])]
        asked = {"engine": "search", "budget": Budget(boxes=50_000)}
        found = verify(network, claims.implies(where, answer), **asked)
        statuses.add(found.status)
        inputs = rng.integers(0, 5, (4000, 18))
        if found.counterexample is not None:
            example = domain.encode([found.counterexample])[0]
            assert found.prediction != answer
            assert network.predict([found.counterexample])[0] == found.prediction
            assert (example[:n_fixed] == point[:n_fixed]).all()
        near = np.tile(point, (1000, 1))
        places = rng.integers(0, 18, (1000, 3))
        np.put_along_axis(near, places, rng.integers(0, 5, (1000, 3)), axis=1)
        inputs = np.concatenate([inputs, near])
        inputs[:, :n_fixed] = point[:n_fixed]
        answers = network.predict_codes(inputs)
        is_broken = bool((answers != network.classes.index(answer)).any())
        assert found.status != "proved" or not is_broken
        turned = verify(network, "independent of x17", within=where, **asked)
        if turned.status == "proved":
            others = [inputs.copy() for _ in range(5)]
            for value, each in enumerate(others):
                each[:, 17] = value
            assert len({network.predict_codes(each).tobytes() for each in others}) == 1
    assert {"refuted"} <= statuses <= {"proved", "refuted"}
