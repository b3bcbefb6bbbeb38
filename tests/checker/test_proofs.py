"""Proof files: every proof checks, and nothing wrong is ever proved."""

import math
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest

import nn2rules
import ranged
from engine import reference
from fuzz.judge import class_of
from fuzz.numbers import draw_network, holds, places, random_boxes
from fuzz.proofs import forged, parsed
from nn2rules import (
    Budget,
    BudgetExceededError,
    Condition,
    Domain,
    Feature,
    FormatError,
    Layer,
    Network,
    OptionError,
    Rule,
    RuleList,
    UndecidedError,
    check,
    datasets,
    write_proofs,
)
from nn2rules.checker import bounds
from nn2rules.checker.bounds import Leads
from nn2rules.network.activations import ACTIVATIONS

NETWORK = ranged.random_network(np.random.default_rng(5), ranged.mixed_domain())
ROWS = ranged.random_rows(np.random.default_rng(6), NETWORK.domain, 120)


@pytest.fixture(scope="module", params=["list", "set"])
def proved(request, tmp_path_factory):
    """Rules over ranges and words, and the bytes of their proofs."""
    path = tmp_path_factory.mktemp("proofs") / "rules.proof"
    rules = nn2rules.extract(NETWORK, data=ROWS, form=request.param, proofs=path)
    return rules, path.read_bytes()


def followed(network: Network, rules: RuleList, path: Path, **options: Any) -> Any:
    return check(network, rules, proofs=path, samples=20, largest=0, **options).proofs


# What is right is proved.


def drawn(seed: int) -> Network:
    rng = np.random.default_rng([7, seed])
    if seed % 3 == 0:
        return draw_network(rng)
    if seed % 3 == 1:
        return reference.mixed_network(rng)
    return reference.random_network(rng, max_units=8, max_hidden=3)


@pytest.mark.parametrize("seed", range(60))
def test_every_proof_checks(seed, tmp_path):
    network, rng = drawn(seed), np.random.default_rng(seed)
    scope = ("support", "domain")[seed % 2]
    form = ("list", "set")[seed // 2 % 2]
    try:
        rows = ranged.random_rows(rng, network.domain, 20)
        rules = nn2rules.extract(
            network,
            rows,
            form=form,
            scope=scope,
            engine="search",
            budget=Budget(boxes=2000),
        )
    except BudgetExceededError as stopped:
        rules = stopped.rules
    except (UndecidedError, OverflowError):
        return
    path = tmp_path / "rules.proof"
    n_proved = write_proofs(network, rules, path, budget=Budget(boxes=20_000))
    found = followed(network, rules, path)
    assert found.refused == ()
    assert found.proved + (found.default == "proved") == n_proved
    assert found.proved + len(found.missing) == len(rules)


def test_rules_of_ranges_are_proved_one_by_one(proved, tmp_path):
    rules, data = proved
    (tmp_path / "rules.proof").write_bytes(data)
    report = check(NETWORK, rules, proofs=tmp_path / "rules.proof", samples=2000)
    assert report.ok
    assert report.is_proved
    assert str(report).splitlines()[:2] == [
        "PROVED: the rules predict as the network does on every input that a rule "
        "covers.",
        f"Proofs verified: {len(rules)} of {len(rules)} rules.",
    ]
    assert len(data) < 120 * len(rules) + 400


def test_proofs_belong_to_files_too(proved, tmp_path):
    rules, data = proved
    (tmp_path / "rules.proof").write_bytes(data)
    nn2rules.save(rules, tmp_path / "rules.json")
    nn2rules.save(NETWORK, tmp_path / "network.json")
    network, again = (
        nn2rules.load(tmp_path / name) for name in ("network.json", "rules.json")
    )
    assert followed(network, again, tmp_path / "rules.proof").is_complete


@pytest.mark.parametrize("form", ["list", "set"])
@pytest.mark.parametrize("engine", ["table", "search"])
def test_the_default_of_the_whole_domain_is_proved_too(form, engine, tmp_path):
    network = nn2rules.load(datasets.network_file("car"))
    path = tmp_path / "rules.proof"
    rules = nn2rules.extract(network, form=form, engine=engine, proofs=path)
    report = check(network, rules, proofs=path, largest=0, samples=100)
    assert report.proofs.proved == len(rules)
    assert report.proofs.default == "proved"
    assert str(report).startswith(
        "PROVED: the rules predict as the network does on every input.\n"
    )


def test_what_cannot_occur_is_left_out_if_it_is_declared(tmp_path):
    network = nn2rules.load(datasets.network_file("car"))
    path, boxes = tmp_path / "rules.proof", [{"doors": ["2"], "persons": ["more"]}]
    rules = nn2rules.extract(network, impossible=boxes, proofs=path)
    found = followed(network, rules, path, impossible=boxes)
    assert found.is_complete
    with pytest.raises(FormatError, match="leave out 1 boxes of inputs that cannot"):
        check(network, rules, proofs=path)
    others = [{"doors": ["3"], "persons": ["more"]}]
    assert followed(network, rules, path, impossible=others).refused


def test_a_rule_without_a_proof_is_counted(tmp_path):
    path = tmp_path / "rules.proof"
    rules = nn2rules.extract(NETWORK, data=ROWS, form="set")
    n_proved = write_proofs(NETWORK, rules, path, budget=Budget(boxes=10))
    report = check(NETWORK, rules, proofs=path, samples=2000)
    assert report.ok
    assert report.is_proved  # what has no proof in the file is proved by search
    assert 0 < len(report.proofs.missing) == len(rules) - n_proved
    n_missing = len(report.proofs.missing)
    verb = "has" if n_missing == 1 else "have"
    assert str(report).splitlines()[:2] == [
        "PROVED: the rules predict as the network does on every input that a rule "
        "covers.",
        f"Proofs verified: {n_proved} of {len(rules)} rules; {n_missing} {verb} no "
        f"proof in the file.",
    ]


def test_ties_are_settled_exactly(tmp_path):
    """A score of 0 is class 0; no bound in floats shows that."""
    domain = Domain((Feature("a", (0, 1)), Feature.real("b", 0, 3, whole=True)))
    layer = Layer([[1.0], [2.0], [0.0]], [-1.0], "sigmoid")
    network = Network(domain, (layer,), ("no", "yes"))
    rule = Rule((Condition("a", (0,)),), "no")
    rules = RuleList(domain, (rule,), "yes", network.classes)
    path = tmp_path / "rules.proof"
    assert write_proofs(network, rules, path) == 2
    assert followed(network, rules, path).is_complete
    assert b"\x01" in parsed(path.read_bytes())[1][0]


# What was changed is noticed.


def test_every_changed_bit_is_noticed(proved, tmp_path):
    rules, data = proved
    path, rng = tmp_path / "rules.proof", np.random.default_rng(0)
    bits = rng.choice(8 * len(data), 300, replace=False).tolist()
    for bit in bits:
        changed = bytearray(data)
        changed[bit // 8] ^= 1 << bit % 8
        path.write_bytes(changed)
        with pytest.raises(FormatError, match=r"^[^\n]*rules\.proof: [^\n]*$"):
            followed(NETWORK, rules, path)


def test_a_file_cut_short_or_made_longer_is_refused(proved, tmp_path):
    rules, data = proved
    path = tmp_path / "rules.proof"
    for length in (0, 1, 50, len(data) // 2, len(data) - 33, len(data) - 1):
        path.write_bytes(data[:length])
        with pytest.raises(FormatError):
            followed(NETWORK, rules, path)
    path.write_bytes(data + b"\0")
    with pytest.raises(FormatError, match="damaged"):
        followed(NETWORK, rules, path)


def test_other_rules_and_other_networks_are_refused(proved, tmp_path):
    rules, data = proved
    path = tmp_path / "rules.proof"
    path.write_bytes(data)
    fewer = rules.take(range(1, len(rules)))
    with pytest.raises(FormatError, match="these are proofs of other rules"):
        followed(NETWORK, fewer, path)
    first, last = NETWORK.layers
    bias = first.bias.copy()
    bias[0] = math.nextafter(bias[0], math.inf)
    moved = Layer(first.weights, bias, first.activation)
    other = Network(NETWORK.domain, (moved, last), NETWORK.classes)
    with pytest.raises(FormatError, match="these are proofs for another network"):
        followed(other, rules, path)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "this is no file of proofs"),
        (b"[1]\n", "this is no file of proofs"),
        (b"[" * 4000, "this is no file of proofs"),
        (b'{"format": "nn2rules-proofs/2"}\n', "this is no file of proofs"),
        (b"\xff\xfe" * 999, "this is no file of proofs"),
        (b'{"format": "nn2rules-proofs/1"}\n', "proofs for another network"),
    ],
)
def test_what_is_no_file_of_proofs_is_refused(content, said, proved, tmp_path):
    path = tmp_path / "rules.proof"
    path.write_bytes(content)
    with pytest.raises(FormatError, match=said):
        followed(NETWORK, proved[0], path)


def test_missing_files_and_folders_are_refused(proved, tmp_path):
    with pytest.raises(FormatError, match="there is no such file"):
        followed(NETWORK, proved[0], tmp_path / "none")
    with pytest.raises(FormatError, match="this is a folder"):
        followed(NETWORK, proved[0], tmp_path)
    with pytest.raises(FormatError, match="there is no folder"):
        nn2rules.extract(NETWORK, ROWS, proofs=tmp_path / "none" / "rules.proof")


def test_a_small_file_does_not_fill_the_memory(proved, tmp_path):
    rules, data = proved
    head, entries = parsed(data)
    path = forged(tmp_path / "rules.proof", head, [b"\0" * (1 << 27), *entries[1:]])
    assert path.stat().st_size < 1 << 20
    with pytest.raises(FormatError, match="damaged at entry 1"):
        followed(NETWORK, rules, path)


# Nothing wrong is proved, whatever the file says.


def test_proofs_of_other_rules_prove_nothing(proved, tmp_path):
    """Trees that are swapped, emptied, cut short or made longer."""
    rules, data = proved
    head, entries = parsed(data)
    large = int(np.argmax([len(steps) for steps in entries]))
    steps = entries[large]
    others = [b"\0", steps[:-1], steps + b"\0", b"\x02\x00", b"\x01", b"\xff" * 9]
    others += [own for own in entries if own != steps][:5]
    for other in others:
        made = [*entries[:large], other, *entries[large + 1 :]]
        path = forged(tmp_path / "rules.proof", head, made)
        found = followed(NETWORK, rules, path)
        assert [rule for rule, _ in found.refused] == [large]
        report = check(NETWORK, rules, proofs=path, samples=100)
        assert not report.ok
        assert str(report).startswith("NOT PROVED: a proof in the file is not valid.")


def wider(rules: RuleList) -> Any:
    """Yield rules of which one is wider by a step than the proved one."""
    for index, rule in enumerate(rules.rules):
        for place in range(len(rule.conditions)):
            others = (*rule.conditions[:place], *rule.conditions[place + 1 :])
            made = Rule(others, rule.then)
            changed = (*rules.rules[:index], made, *rules.rules[index + 1 :])
            yield (
                index,
                RuleList(
                    NETWORK.domain,
                    changed,
                    rules.default,
                    rules.classes,
                    form=rules.form,
                    scope="support",
                ),
            )


def test_no_wrong_rule_is_proved_by_the_proof_of_a_right_one(tmp_path):
    path = tmp_path / "rules.proof"
    rules = nn2rules.extract(NETWORK, data=ROWS, form="set", proofs=path)
    head, entries = parsed(path.read_bytes())
    n_wrong = 0
    for index, changed in wider(rules):
        path = forged(path, {**head, "rules": changed.digest}, entries)
        report = check(NETWORK, changed, proofs=path, samples=20_000)
        is_wrong = report.different > 0
        n_wrong += is_wrong
        if is_wrong:
            assert index in [rule for rule, _ in report.proofs.refused]
            write_proofs(NETWORK, changed, path)
            assert followed(NETWORK, changed, path).missing == (index,)
    assert n_wrong > 5


def test_random_steps_prove_no_wrong_rule(tmp_path):
    """Whatever the steps, a box that holds an input of another class is refused."""
    rules = RuleList(
        NETWORK.domain, (Rule((), "yes"),), "no", NETWORK.classes, scope="support"
    )
    path = tmp_path / "rules.proof"
    assert write_proofs(NETWORK, rules, path) == 0
    head, _ = parsed(path.read_bytes())
    rng = np.random.default_rng(3)
    for _ in range(300):
        steps = rng.choice([0, 0, 0, 0, 1, 2, 3, 4, 4, 5, 5, 6], 200).astype(np.uint8)
        forged(path, head, [steps.tobytes()])
        assert len(followed(NETWORK, rules, path).refused) == 1


def test_a_rule_of_a_set_leaves_nothing_to_others(tmp_path):
    """In a list the second rule may be wrong where the first decides."""
    network = nn2rules.load(datasets.network_file("tomato"))
    small = Rule((Condition("size", ("small",)),), "unripe")
    red = Rule((Condition("color", ("red",)),), "ripe")
    path = tmp_path / "rules.proof"
    made = {"scope": "support"}
    rules = RuleList(network.domain, (small, red), "unripe", network.classes, **made)
    assert write_proofs(network, rules, path) == 2
    assert followed(network, rules, path).is_complete
    head, entries = parsed(path.read_bytes())
    as_set = rules.replace(form="set")
    forged(path, {**head, "rules": as_set.digest}, entries)
    [(rule, reason)] = followed(network, as_set, path).refused
    assert (rule, reason) == (1, "it leaves out what this rule must not leave out")


HALVES = Network(
    Domain((Feature.real("x", 0, 1),)),
    (Layer([[1.0]], [-0.5], "sigmoid"),),
    ("low", "high"),
)


@pytest.mark.parametrize(
    ("steps", "reason"),
    [
        (b"\x01", "a box that is no single input is called one"),
        (b"\x03\x00\x00\x00\x00", "it parts a range where it has nothing to part"),
        (b"\x03\x00\x01\x00\x00", "it parts a feature that does not exist"),
        (b"\x02\x00", "a box is not inside the one it is said to be in"),
        (b"\x02\x01", "it leaves out what this rule must not leave out"),
        (b"\x04\x00", "its steps end before every box is settled"),
        (b"\x04\x00\x00\x00", "it has steps that belong to no box"),
        (b"\x05\x00\x00", "it parts a feature that does not exist"),
        (b"\x80" * 9, "its steps end before every box is settled"),
        (b"\x00", "a bound that it relies on is not positive"),
    ],
)
def test_steps_that_cannot_be_followed_are_refused(steps, reason, tmp_path):
    """The second rule is wrong above 0.5."""
    above = Rule((Condition("x", ((0.875, 1),)),), "high")
    below = Rule((Condition("x", ((0, 0.75),)),), "low")
    classes = HALVES.classes
    rules = RuleList(HALVES.domain, (above, below), "low", classes, scope="support")
    path = tmp_path / "rules.proof"
    assert write_proofs(HALVES, rules, path) == 1
    head, entries = parsed(path.read_bytes())
    forged(path, head, [entries[0], steps])
    assert followed(HALVES, rules, path).refused == ((1, reason),)


def test_a_stop_leaves_no_file(tmp_path):
    def stop(what: str, share: float) -> None:
        if "proofs" in what:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as stopped:
        nn2rules.extract(
            NETWORK, ROWS, form="set", progress=stop, proofs=tmp_path / "rules.proof"
        )
    assert list(tmp_path.iterdir()) == []
    assert len(stopped.value.rules) > 0


# The bounds of the checker


@pytest.mark.parametrize("seed", range(60))
def test_bounds_are_below_every_lead_in_the_box(seed):
    rng = np.random.default_rng([11, seed])
    network = reference.mixed_network(rng, max_inputs=24)
    boxes = reference.random_boxes(rng, network.domain.sizes, 6)
    ends = np.tile(network.domain.limits, (6, 1, 1))
    for index in range(len(network.classes)):
        found = Leads(network, index).lowest(boxes, ends)
        for box, bound in zip(boxes, found.tolist(), strict=True):
            assert bound <= exact_lead(network, box, index)


def exact_lead(network: Network, box: Any, index: int) -> Any:
    """Return the smallest lead of a class in a box."""
    leads = []
    with mpmath.mp.workprec(reference.BITS):
        for codes in reference.codes_in(network, box):
            scores = reference.scores(network, codes)
            if len(scores) == 1:
                limit = reference.naive.logit(network.threshold)
                is_exact = not isinstance(scores[0], mpmath.mpf)
                lead = reference.number(scores[0]) if is_exact else scores[0]
                leads.append(lead - limit if index else limit - lead)
            else:
                others = [s for k, s in enumerate(scores) if k != index]
                leads.append(scores[index] - max(others))
        return min(leads)


@pytest.mark.parametrize("seed", range(40))
def test_bounds_hold_for_numbers_of_ranges(seed):
    rng = np.random.default_rng([12, seed])
    network = draw_network(rng)
    boxes, known = random_boxes(rng, network, 6)
    tried = places(rng, network, known, 25)
    for index in range(len(network.classes)):
        found = Leads(network, index).lowest(*boxes)
        for which in np.flatnonzero(found > 0).tolist():
            for at in tried:
                if holds(network.domain, boxes, which, at):
                    assert class_of(network, *at) in (index, None)


@pytest.mark.parametrize("name", sorted(ACTIVATIONS))
@pytest.mark.parametrize("seed", range(3))
def test_bounds_are_below_and_near_to_the_lead_of_every_number(name, seed):
    rng = np.random.default_rng([13, seed])
    domain = ranged.mixed_domain()
    first, last = ranged.random_network(rng, domain, units=5).layers
    middle = Layer(rng.normal(size=(5, 4)), rng.normal(size=4), name)
    first = Layer(first.weights, first.bias, name)
    last = Layer(last.weights[:4], last.bias, "sigmoid")
    network = Network(domain, (first, middle, last), ("no", "yes"))
    center = domain.inputs_of(ranged.random_rows(rng, domain, 20))
    allowed = np.zeros((20, int(domain.offsets[-1])), dtype=np.bool_)
    np.put_along_axis(allowed, center[0] + domain.offsets[:-1], True, axis=1)
    low, high = domain.limits
    wide = (high - low) / 50 * (domain.ranges >= 0)
    ends = np.stack([center[1] - wide, center[1] + wide], axis=1).clip(low, high)
    for index, sign in ((0, -1.0), (1, 1.0)):
        bounds = Leads(network, index).lowest(allowed, ends)
        leads = []
        for _ in range(200):
            share = rng.choice([0.0, 0.5, 1.0], (20, 3))
            numbers = (1 - share) * ends[:, 0] + share * ends[:, 1]
            numbers = np.where(center[0] == 0, numbers, 1.0)
            leads.append(sign * network.scores_codes(center[0], numbers))
        least = np.min(leads, axis=0)
        assert (bounds <= least + 1e-12).all()
        assert np.median(least - bounds) < 0.5


@pytest.mark.parametrize("name", sorted(ACTIVATIONS))
def test_lines_hold_the_activation(name):
    rng = np.random.default_rng(len(name))
    low = rng.normal(size=400) * 10.0 ** rng.integers(-9, 3, 400)
    width = np.abs(rng.normal(size=400)) * 10.0 ** rng.integers(-12, 3, 400)
    width[:20] = 0.0
    high = low + width
    slope = -0.5 if name == "leaky_relu" else 0.01
    found = bounds.lines_around(name, slope, low, high)
    least, most = bounds.output_range(name, slope, low, high)
    with mpmath.mp.workprec(200):
        for place in range(400):
            for share in (0, 0.01, 0.2, 0.5, 0.7, 0.99, 1):
                one, other = mpmath.mpf(low[place]), mpmath.mpf(high[place])
                y = (1 - mpmath.mpf(share)) * one + share * other
                value = exact_activation(name, y, slope)
                below = found.slope_below[place] * y + found.below[place]
                above = found.slope_above[place] * y + found.above[place]
                assert below <= value <= above
                assert least[place] <= value <= most[place]
                is_bent = name in ("silu", "gelu")
                assert is_bent or above - below <= 2 * width[place] + 1e-12 * (
                    1 + abs(low[place]) + abs(high[place])
                )


@pytest.mark.parametrize("name", ["silu", "gelu"])
def test_the_lowest_value_is_just_below_what_it_is(name):
    at, value = bounds._LOWEST[name]
    with mpmath.mp.workprec(200):
        lowest = mpmath.findroot(
            lambda y: mpmath.diff(lambda z: exact_activation(name, z, 0.0), y), at
        )
        assert abs(lowest - at) < 1e-15
        assert 0 < exact_activation(name, lowest, 0.0) - value < 1e-15


def exact_activation(name: str, y: Any, slope: float) -> Any:
    naive = reference.naive
    if name in naive.SMOOTH:
        return naive.SMOOTH[name](y)
    return naive.EXACT[name](y, mpmath.mpf(slope))


def test_proofs_are_for_lists_and_sets(tmp_path):
    network = nn2rules.load(datasets.network_file("tomato"))
    with pytest.raises(OptionError, match="proofs is for the forms 'list' and 'set'"):
        nn2rules.extract(network, form="paper", proofs=tmp_path / "rules.proof")


def test_the_same_rules_have_the_same_proofs(tmp_path):
    rules = nn2rules.extract(NETWORK, data=ROWS, form="set")
    one, other = tmp_path / "one", tmp_path / "other"
    write_proofs(NETWORK, rules, one)
    write_proofs(NETWORK, rules, other)
    assert one.read_bytes() == other.read_bytes()
