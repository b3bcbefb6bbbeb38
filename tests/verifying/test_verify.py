"""Claims, by table and by search, against every input one by one."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from nn2rules import (
    Domain,
    Feature,
    Network,
    OptionError,
    RuleList,
    claims,
    verify,
)
from nn2rules.errors import UndecidedError, UnsupportedModelError
from strategies import PIECEWISE_LINEAR, SMOOTH, networks, rule_of
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
        self.broken = [row for row, answer in kept if self._is_broken(row, answer)]

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
        return any(self.are_broken(row, answer, *other) for other in self.inputs)

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

    def are_broken(self, row, answer, other, its):
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
        """In how many contexts it is broken, of how many."""
        names = self.claim.features if hasattr(self.claim, "features") else ()
        names = names or (self.claim.feature,)

        def rest(row):
            return tuple(v for name, v in row.items() if name not in names)

        return (
            len({rest(row) for row in self.broken}),
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
        claim = claims.monotone(name, increasing=way, toward=label, within=box)
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
        with pytest.raises(OptionError, match="no input is left"):
            verify(network, claim, impossible=impossible, engine="table")
        return
    status = "refuted" if naive.broken else "proved"
    rows, _ = every_input(network)
    chosen = data.draw(st.lists(st.sampled_from(rows), min_size=1, max_size=4))
    counted = [row for row in chosen if row in [r for r, _ in naive.inputs]]
    for engine in ("table", "search"):
        found = verify(network, claim, chosen, impossible=impossible, engine=engine)
        assert found.status == status, engine
        assert found.total_rows == len(counted)
        assert found.rows == sum(row in naive.broken for row in counted)
        if naive.broken:
            check_example(network, naive, found)
        on_rows = verify(
            network, claim, chosen, impossible=impossible, engine=engine, on="rows"
        )
        assert on_rows.status == ("refuted" if found.rows else "proved")
        assert (on_rows.count, on_rows.total) == (found.rows, found.total_rows)
        if engine == "search":
            assert (found.count, found.rules) == (None, None)
            continue
        assert (found.count, found.total) == (len(naive.broken), len(naive.inputs))
        assert sum(found.ways.values()) == found.count
        if found.contexts is not None:
            assert (found.contexts, found.total_contexts) == naive.contexts
        if naive.broken:
            nearest = min(distance(row, chosen) for row in naive.broken)
            assert found.distance == nearest


def check_example(network, naive, found):
    """Compare the counterexample and its answers with the network."""
    example, answer = found.counterexample, found.answer
    if isinstance(example, dict):
        assert example in naive.broken
        assert network.predict([example])[0] == answer
        return
    assert network.predict(list(example)).tolist() == list(answer)
    both = [(row, a) for row, a in zip(example, answer, strict=True)]
    assert all(pair in naive.inputs for pair in both)
    assert naive.are_broken(*both[0], *both[1])


@settings(max_examples=40)
@given(case=cases())
def test_rules_hold_exactly_what_breaks_a_claim(case):
    network, claim, _, impossible = case
    naive = Naive(*case)
    if not naive.inputs:
        return
    rules = verify(network, claim, impossible=impossible).rules
    rows, _ = every_input(network)
    broken = [
        row
        for row, name in zip(rows, rules.predict(rows), strict=True)
        if name != "holds"
    ]
    assert broken == naive.broken
    fired = rules.apply(naive.broken) if naive.broken else np.zeros(0)
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
    if len(network.classes) > 2:
        with pytest.raises(UnsupportedModelError, match="of two classes; this one has"):
            verify(network, claim)
        return
    rows, _ = every_input(network)
    scores = network.scores(rows)
    scores = scores if network.is_binary else scores[:, 1] - scores[:, 0]
    scores = scores if of == network.classes[1] else -scores
    with np.errstate(over="ignore", divide="ignore"):
        logits = [np.log(end) - np.log1p(-end) for end in (low, high)]
    sure = np.abs(scores[:, np.newaxis] - np.array(logits)).min(axis=1) > 1e-9
    broken = (scores < logits[0]) | (scores > logits[1])
    if not sure.all() and not (low in (0, 0.5) and high in (0.5, 1)):
        return
    found = verify(network, claim)
    if sure.all():
        assert found.count == broken.sum()
        assert found.status == ("refuted" if broken.any() else "proved")
    searched = verify(network, claim, engine="search")
    assert searched.status == found.status
