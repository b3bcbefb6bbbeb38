"""Compare a rule list with a network, independently of the extraction.

This module is for whoever must trust the answer. Of a network it takes the stored
numbers, of a rule list the stored conditions, and works both answers out again in
plain code of its own. It shares no code with the extraction, so no mistake made there
can hide here. In the order of reading:

1. `check` compares the two on every input, or on a sample, and reports;
2. `_Comparison` applies the rules, which `_read_rules` wrote in the network's codes;
3. `classify` answers as the network does: in float64 where no tie is near, and
   otherwise in fractions (both in `evaluate`).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_UP, Context
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from nn2rules.checker.evaluate import UNDECIDED, classify
from nn2rules.domain import Rows
from nn2rules.errors import DomainError, OptionError
from nn2rules.network import Network
from nn2rules.rules import RuleList
from nn2rules.values import Value, text_of

_Codes = NDArray[np.int64]
_Box = dict[int, NDArray[np.bool_]]  # feature → which of its codes are allowed

_CHUNK = 1 << 13  # inputs compared at a time
_SHOWN = 5  # counterexamples kept
_EACH = 32  # inputs drawn from the box of a rule, at least
_DEFAULT = -1  # in place of a rule: none holds


@dataclass(frozen=True, slots=True)
class Counterexample:
    """An input on which the two differ, and what each says.

    `rule` is the position, from 0, of the rule that answers; None for the default.
    """

    row: dict[str, Value]
    network: Value
    rules: Value
    rule: int | None

    def __str__(self) -> str:
        row = ", ".join(f"{name} = {value!r}" for name, value in self.row.items())
        who = "the default" if self.rule is None else f"rule {self.rule + 1:,}"
        return f"{row}: the network says {self.network!r}, {who} says {self.rules!r}"


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What was compared, and what came of it; as text, a report in plain English.

    Attributes
    ----------
    method : {"every input", "sample"}
    scope : {"domain", "support"}
        What the rules claim to decide.
    checked, different : int
        Answers compared, and those that differ. A sample may hold an input twice.
    undecided : int
        Inputs too near to a tie for the arithmetic of this module; not compared.
    left_to_default : int
        Inputs of which rules of scope "support" claim nothing; not compared.
    unreached : int
        Rules that answered none of the inputs: of these nothing was compared.
    admitted : int
        Inputs on which the rules differ by their own certificate.
    counterexamples : tuple of Counterexample
        The first few differences.
    compared, confidence : str
        Which inputs were compared, and what follows for the others.
    """

    method: Literal["every input", "sample"]
    scope: Literal["domain", "support"]
    checked: int
    different: int
    undecided: int
    left_to_default: int
    unreached: int
    admitted: int
    counterexamples: tuple[Counterexample, ...]
    compared: str
    confidence: str

    @property
    def ok(self) -> bool:
        """Whether answers were compared, none differs, and none was undecided."""
        return self.checked > 0 and self.different == 0 and self.undecided == 0

    def _verdict(self) -> str:
        if self.different:
            return "DIFFERENT: the rules do not answer as the network does."
        if not self.ok:
            return "NOT SHOWN: no difference was found, but too little was compared."
        if self.method == "sample":
            return "NO DIFFERENCE FOUND, in a sample of the inputs."
        where = "on every input" if self.scope == "domain" else "where a rule decides"
        return f"EQUAL: the rules answer as the network does {where}."

    def __str__(self) -> str:
        remarks = {
            "Not compared, too close to a tie to tell: {:,}.": self.undecided,
            "Not compared, left to the default: {:,}. Rules of scope 'support' claim "
            "nothing about these.": self.left_to_default,
            "Rules that no compared input reached: {:,}.": self.unreached,
            "The rules say themselves that they are approximate, and differ from the "
            "network on {:,} inputs.": self.admitted,
        }
        lines = (
            self._verdict(),
            f"Method: {self.method}. Compared: {self.compared}.",
            f"Answers compared: {self.checked:,}. Different: {self.different:,}.",
            *(text.format(number) for text, number in remarks.items() if number),
            self.confidence,
            *(f"  {example}" for example in self.counterexamples),
        )
        return "\n".join(line for line in lines if line)


def check(
    network: Network,
    rules: RuleList,
    *,
    rows: Rows = None,
    samples: int = 100_000,
    seed: int = 0,
    largest: int = 1 << 24,
) -> CheckReport:
    """Compare the answers of a rule list with those of a network.

    Parameters
    ----------
    network : Network
    rules : RuleList
        Over the same features, values and classes, in whatever order.
    rows : frame, list of dicts, or array of the network's codes, optional
        Rows that must be answered alike, also where the default answers.
    samples : int
        How many inputs to draw where there are too many to compare them all.
    seed : int
        The same seed draws the same inputs.
    largest : int
        A domain of at most so many inputs is compared on every one of them.

    Returns
    -------
    CheckReport
        Its `ok` is the verdict.

    Raises
    ------
    DomainError
        If the two are not over the same features, values and classes.

    Notes
    -----
    Rules of scope "support" claim that a rule is right wherever it answers, and that
    `rows` are answered right; what else falls to the default is counted, not compared.
    In a rule *set* every rule that holds must be right, not only the first.

    Examples
    --------
    >>> import nn2rules
    >>> network = nn2rules.load(nn2rules.datasets.network_file("tomato"))
    >>> print(check(network, nn2rules.extract(network)))
    EQUAL: the rules answer as the network does on every input.
    Method: every input. Compared: all 6 inputs of the domain.
    Answers compared: 6. Different: 0.
    """
    if not isinstance(network, Network) or not isinstance(rules, RuleList):
        raise OptionError(
            f"check takes a Network and a RuleList, in this order, not a "
            f"{type(network).__name__} and a {type(rules).__name__}; a model becomes a "
            f"Network by nn2rules.read_network(model, data=X)"
        )
    if samples < 1:
        raise OptionError(f"samples: {samples}, expected at least 1")
    comparison = _Comparison(network, rules)
    given = None if rows is None else network.domain.encode(rows)
    inputs = network.domain.n_inputs
    every, claims_all = inputs <= largest, rules.scope == "domain"
    if every:
        compared, confidence = f"all {inputs:,} inputs of the domain", ""
        for codes in network.domain.inputs(chunk=_CHUNK):
            comparison.add(codes, default_counts=claims_all)
    else:
        compared = comparison.add_samples(samples, np.random.default_rng(seed))
        confidence = _confidence(samples, rules.scope)
    if given is not None and not (every and claims_all):
        compared += f"; and {len(given):,} given rows"
        comparison.add(given, default_counts=True)
    admitted = rules.certificate.get("different")
    return CheckReport(
        method="every input" if every else "sample",
        scope=rules.scope,
        checked=comparison.checked,
        different=comparison.different,
        undecided=comparison.undecided,
        left_to_default=comparison.left_to_default,
        unreached=int((~comparison.reached).sum()),
        admitted=admitted if isinstance(admitted, int) else 0,
        counterexamples=tuple(comparison.examples),
        compared=compared,
        confidence="" if comparison.different else confidence,
    )


def _confidence(drawn: int, scope: str) -> str:
    """Say what no difference among `drawn` inputs means: 1 - 0.05 ** (1 / drawn)."""
    percent = -100 * math.expm1(math.log(0.05) / drawn)
    shown = Context(prec=2, rounding=ROUND_UP).create_decimal_from_float(percent)
    what = "differ" if scope == "domain" else "are decided by a rule and differ"
    return (
        f"With 95 % confidence, fewer than {shown:f} % of all inputs {what}. "
        f"Inputs that were not drawn were not compared."
    )


# The rules.


def _read_rules(network: Network, rules: RuleList) -> tuple[list[_Box], _Codes]:
    """Return the boxes of the rules, and the classes of the rules and the default."""
    classes = _positions("classes", network.classes, rules.classes)
    places = _positions("features", network.domain.names, rules.domain.names)
    codes: dict[str, dict[Value, int]] = {}
    for feature in rules.domain.features:
        ours, what = network.domain.feature(feature.name), f"feature {feature.name!r}"
        codes[feature.name] = _positions(what, ours.values, feature.values)
    boxes: list[_Box] = []
    for rule in rules.rules:
        boxes.append({})
        for condition in rule.conditions:
            known = codes[condition.feature]
            allowed = np.zeros(len(known), dtype=np.bool_)
            allowed[[known[value] for value in condition.values]] = True
            boxes[-1][places[condition.feature]] = allowed
    labels = (*(rule.then for rule in rules.rules), rules.default)
    return boxes, np.array([classes[label] for label in labels])


def _positions(
    what: str, ours: Sequence[Value], theirs: Sequence[Value]
) -> dict[Value, int]:
    """Return where each of `theirs` (the rules') is among `ours` (the network's).

    Equal ones match; failing that, those that read the same, as 1 and "1" do.
    """
    texts = {text_of(item): index for index, item in enumerate(ours)}
    found: dict[Value, int] = {}
    for item in theirs:
        index = ours.index(item) if item in ours else texts.get(text_of(item))
        if index is None:
            raise DomainError(f"{what}: the rules have {item!r}, the network has not")
        if index in found.values():
            raise DomainError(f"{what}: the rules have {item!r} twice")
        found[item] = index
    for index, item in enumerate(ours):
        if index not in found.values():
            raise DomainError(f"{what}: the network has {item!r}, the rules have not")
    return found


def _read_impossible(network: Network, rules: RuleList) -> list[_Box]:
    """Return the boxes of inputs that cannot occur: of them nothing is claimed."""
    given = rules.certificate.get("impossible", [])
    if not isinstance(given, list):
        return []  # a function of rows, which no file can hold: nothing is left out
    boxes: list[_Box] = []
    for conditions in given:
        box: _Box = {}
        for name, values in conditions.items():
            feature = network.domain.index(name)
            texts = [
                text_of(value) for value in network.domain.features[feature].values
            ]
            box[feature] = np.isin(texts, [text_of(value) for value in values])
        boxes.append(box)
    return boxes


def _holds(box: _Box, codes: _Codes) -> NDArray[np.bool_]:
    """Tell which inputs lie in a box."""
    inside = np.ones(len(codes), dtype=np.bool_)
    for feature, allowed in box.items():
        inside &= allowed[codes[:, feature]]
    return inside


class _Comparison:
    """Applies the rules to inputs, compares with the network, and counts."""

    def __init__(self, network: Network, rules: RuleList) -> None:
        self.network, self.scope = network, rules.scope
        self.boxes, self.answers = _read_rules(network, rules)
        self.impossible = _read_impossible(network, rules)
        self.any_order = rules.form == "set" and len(set(self.answers[:-1])) > 1
        self.reached = np.zeros(len(self.boxes), dtype=np.bool_)
        self.checked = self.different = self.undecided = self.left_to_default = 0
        self.examples: list[Counterexample] = []

    def add(self, inputs: _Codes, *, default_counts: bool) -> None:
        """Compare the answers on `inputs`; those of the default only if they count."""
        for start in range(0, len(inputs), _CHUNK):
            codes = inputs[start : start + _CHUNK]
            for box in self.impossible:
                codes = codes[~_holds(box, codes)]
            expected = classify(self.network, codes)
            fired = self._fired(codes, expected)
            left = (fired == _DEFAULT) & (not default_counts)
            undecided = (expected == UNDECIDED) & ~left
            wrong = (self.answers[fired] != expected) & ~left & ~undecided
            self.checked += int((~left & ~undecided).sum())
            self.different += int(wrong.sum())
            self.undecided += int(undecided.sum())
            self.left_to_default += int(left.sum())
            self.reached[fired[(fired != _DEFAULT) & ~undecided]] = True
            for index in np.flatnonzero(wrong)[: _SHOWN - len(self.examples)]:
                self._keep(codes[index], int(expected[index]), int(fired[index]))

    def _fired(self, codes: _Codes, expected: _Codes) -> _Codes:
        """Return which rule answers each input: the first that holds.

        In rules of any order, one that holds and is wrong counts before all others.
        """
        fired = np.full(len(codes), _DEFAULT)
        is_open = np.ones(len(codes), dtype=np.bool_)
        still_open, columns = np.arange(len(codes)), codes.T.copy()
        for number, box in enumerate(self.boxes):
            holds = still_open
            for feature, allowed in box.items():
                holds = holds[allowed[columns[feature][holds]]]
            fired[holds] = number
            if self.any_order:
                holds = holds[expected[holds] != self.answers[number]]
            if len(holds):
                is_open[holds] = False
                still_open = still_open[is_open[still_open]]
        return fired

    def _keep(self, codes: _Codes, expected: int, fired: int) -> None:
        labels, features = self.network.classes, self.network.domain.features
        row = {f.name: f.values[c] for f, c in zip(features, codes, strict=True)}
        rule = None if fired == _DEFAULT else fired
        answer = labels[self.answers[fired]]
        self.examples.append(Counterexample(row, labels[expected], answer, rule))

    def add_samples(self, samples: int, random: np.random.Generator) -> str:
        """Compare inputs from the whole domain and from every box; say how many."""
        domain, claims_all = self.network.domain, self.scope == "domain"
        sizes = domain.sizes
        drawn = random.integers(0, sizes, (samples, len(sizes)))
        each = max(_EACH, samples // max(1, len(self.boxes)))
        inside = random.integers(0, sizes, (len(self.boxes), each, len(sizes)))
        for codes, box in zip(inside, self.boxes, strict=True):
            for feature, allowed in box.items():
                codes[:, feature] = random.choice(np.flatnonzero(allowed), each)
        self.add(drawn, default_counts=claims_all)
        self.add(inside.reshape(-1, len(sizes)), default_counts=claims_all)
        return (
            f"{samples:,} inputs drawn from the {domain.n_inputs:,} of the domain, "
            f"and {each:,} from the box of each of {len(self.boxes):,} rules"
        )
