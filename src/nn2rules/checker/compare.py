"""Compare a rule list with a network, independently of the extraction.

This module is for whoever must trust the answer. Of a network it takes the stored
numbers, of a rule list the stored conditions, and works both answers out again in
plain code of its own. It shares no code with the extraction, so no mistake made there
can hide here. In the order of reading:

1. `check` compares the two on every input, or on a sample (`draw`), and reports;
2. `_Comparison` applies the rules, which `read_rules` wrote in the network's codes;
3. `classify` answers as the network does: in float64 where no tie is near, and
   otherwise in fractions (both in `evaluate`);
4. `check_proofs` follows proofs, where a file of them is given.

What the rules say of themselves, their certificate, has no part in the verdict.
"""

import os
from dataclasses import replace
from typing import Any

import numpy as np

from nn2rules.checker.alone import read_unless, untrue
from nn2rules.checker.draw import at_ends, from_box, from_domain, joined
from nn2rules.checker.evaluate import UNDECIDED, classify
from nn2rules.checker.proofs import check_proofs
from nn2rules.checker.read import Codes, Floats, holds, read_impossible, read_rules
from nn2rules.checker.report import CheckReport, Counterexample, confidence_text
from nn2rules.errors import OptionError
from nn2rules.frames import Rows
from nn2rules.network import Network
from nn2rules.rules import RuleList
from nn2rules.values import Value, plain_number, whole_number

_CHUNK = 1 << 13  # inputs compared at a time
_SHOWN = 5  # counterexamples kept
_EACH = 32  # inputs drawn from the box of a rule, at least
_DEFAULT = -1  # in place of a rule: none holds


def check(
    network: Network,
    rules: RuleList,
    *,
    rows: Rows = None,
    impossible: Any = (),
    default: bool = False,
    samples: int = 100_000,
    seed: int = 0,
    largest: int = 1 << 24,
    proofs: str | os.PathLike[str] | None = None,
) -> CheckReport:
    """Compare the answers of a rule list with those of a network.

    Parameters
    ----------
    network : Network
    rules : RuleList
        Over the same features, values and classes, in whatever order.
    rows : frame or list of dicts, optional
        Rows that must be answered alike, too.
    impossible : list of dicts
        Inputs that cannot occur, and are left out: each dict is a box, from features to
        values. What the rules' own certificate says of this is not believed.
    default : bool
        Whether rules of scope "support" are held to their default, too.
    samples : int
        How many inputs to draw where there are too many to compare them all, as where
        a feature is a range of numbers.
    seed : int
        The same seed draws the same inputs.
    largest : int
        A domain of at most so many inputs is compared on every one of them.
    proofs : str or path, optional
        A file of proofs, as `extract` writes it; they are followed on all inputs.

    Returns
    -------
    CheckReport
        Its `ok` is the verdict.

    Raises
    ------
    DomainError
        If the two are not over the same features, values and classes.
    FormatError
        If the file of proofs is damaged, or of other rules or another network.

    Notes
    -----
    Rules of scope "support" claim that a rule is right wherever it answers; what falls
    to the default is counted, not compared. In a rule *set* every rule that holds must
    be right, not only the first.

    Examples
    --------
    >>> import nn2rules
    >>> network = nn2rules.load(nn2rules.datasets.network_file("tomato"))
    >>> print(check(network, nn2rules.extract(network)))
    EQUAL: the rules answer as the network does on every input.
    Method: every input. Compared: all 6 inputs of the domain.
    Answers compared: 6. Different: 0.
    """
    _check_types(network, rules)
    samples, seed = whole_number("samples", samples, 1), whole_number("seed", seed)
    is_small = network.domain.n_inputs <= whole_number("largest", largest)
    is_every = is_small and not network.domain.has_ranges
    given = None if rows is None else network.domain.inputs_of(rows)
    comparison = _Comparison(network, rules, impossible)
    comparison.is_whole |= default
    followed = None
    if proofs is not None:
        both = comparison.read, comparison.left_out
        followed = check_proofs(network, rules, *both, proofs)
    if is_every:
        comparison.add_every()
    else:
        comparison.add_samples(samples, np.random.default_rng(seed))
    if given is not None and not (is_every and comparison.is_whole):
        comparison.add_rows(*given)
    claims = _claims(rules, is_told=len(impossible) > 0)
    return replace(comparison.report(claims), proofs=followed)


def _check_types(network: object, rules: object) -> None:
    if not isinstance(network, Network) or not isinstance(rules, RuleList):
        raise OptionError(
            f"check takes a Network and a RuleList, in this order, not a "
            f"{type(network).__name__} and a {type(rules).__name__}; a model becomes a "
            f"Network by nn2rules.read_network(model, data=X)"
        )


def _claims(rules: RuleList, *, is_told: bool) -> tuple[str, ...]:
    """Quote what the rules say of themselves, where it may explain a difference."""
    claims, admitted = [], rules.certificate.get("different")
    if isinstance(admitted, int) and admitted > 0:
        claims.append(
            f"The rules say themselves that they are approximate, and differ from the "
            f"network on {admitted:,} inputs."
        )
    if rules.certificate.get("impossible") and not is_told:
        claims.append(
            "The rules say that some inputs are impossible. These were compared all "
            "the same; declare them (impossible=, --impossible) to leave them out."
        )
    return tuple(claims)


class _Comparison:
    """Applies the rules to inputs, compares with the network, and counts."""

    def __init__(self, network: Network, rules: RuleList, impossible: Any) -> None:
        self.network, self.read = network, read_rules(network, rules)
        self.names = rules.names
        self.boxes, self.answers = self.read.boxes, self.read.answers
        starts = self.read.starts
        self.left_out = read_impossible(network.domain, impossible, starts)
        self.is_whole = rules.scope == "domain"  # or only where a rule decides
        self.any_order = rules.form == "set" and len(set(self.answers[:-1])) > 1
        self.reached = np.zeros(len(self.boxes), dtype=np.bool_)
        self.checked = self.different = self.undecided = 0
        self.open_inputs = self.impossible = self.rows_left = self.unmet = 0
        answers = self.answers.tolist()
        self.is_two_sided = rules.form == "set" and answers[-1] in answers[:-1]
        self.examples: list[Counterexample] = []
        self.unless = read_unless(rules)
        self.untrue: list[int] = []
        self.method, self.compared, self.confidence = "every input", "", ""

    def add_every(self) -> None:
        """Compare all inputs of the domain."""
        domain = self.network.domain
        for codes in domain.inputs(chunk=_CHUNK):
            self._add(codes)
        number, left = f"{domain.n_inputs:,}", self.impossible + self.open_inputs
        if left:
            self.method = "every input but those named below"
            number = f"{domain.n_inputs - left:,} of the {number}"
        self.compared = f"{number if left else f'all {number}'} inputs of the domain"

    def add_samples(self, samples: int, random: np.random.Generator) -> None:
        """Compare inputs from the whole domain and from every box."""
        domain = self.network.domain
        sizes = domain.sizes
        drawn = from_domain(domain, samples, random)
        each = max(_EACH, samples // max(1, len(self.boxes)))
        inside = random.integers(0, sizes, (len(self.boxes), each, len(sizes)))
        self._add(*drawn)
        n_possible = samples - self.impossible
        self._add(
            *joined(
                [
                    from_box(domain, self.read, rule, codes, random)
                    for rule, codes in enumerate(inside)
                ]
            )
        )
        self.method = "sample"
        boxes = f"and {each:,} from the box of each of {len(self.boxes):,} rules"
        if domain.has_ranges:
            n_ends = max(_EACH, samples // 4)
            self._add(*at_ends(domain, self.read, n_ends, random))
            self.compared = (
                f"{samples:,} inputs drawn from the domain, numbers evenly spread; "
                f"{n_ends:,} with numbers where ranges and conditions end, and next to "
                f"there; {boxes}"
            )
        else:
            self.compared = (
                f"{samples:,} inputs drawn from the {domain.n_inputs:,} of the domain, "
                f"{boxes}"
            )
        self.confidence = confidence_text(
            n_possible,
            of="the inputs not declared impossible" if self.left_out else "all inputs",
            differ="differ" if self.is_whole else "are decided by a rule and differ",
            spread=", numbers evenly spread," if domain.has_ranges else "",
        )

    def add_rows(self, codes: Codes, numbers: Floats | None) -> None:
        """Compare given rows."""
        before = self.open_inputs, self.impossible, self.checked + self.undecided
        self._add(codes, numbers)
        self.rows_left = len(codes) - (self.checked + self.undecided - before[2])
        self.open_inputs, self.impossible = before[:2]
        self.compared += f"; and {len(codes):,} given rows"

    def _add(self, inputs: Codes, amounts: Floats | None = None) -> None:
        for start in range(0, len(inputs), _CHUNK):
            codes = inputs[start : start + _CHUNK]
            numbers = None if amounts is None else amounts[start : start + _CHUNK]
            cells = self.read.cells(codes, numbers)
            possible = np.ones(len(codes), dtype=np.bool_)
            for box in self.left_out:
                possible &= ~holds(box, cells)
            self.impossible += int((~possible).sum())
            codes, cells = codes[possible], cells[possible]
            numbers = None if numbers is None else numbers[possible]
            expected = classify(self.network, codes, numbers)
            fired = self._fired(cells, expected)
            left = (fired == _DEFAULT) & (not self.is_whole)
            undecided = (expected == UNDECIDED) & ~left
            wrong = (self.answers[fired] != expected) & ~left & ~undecided
            self.checked += int((~left & ~undecided).sum())
            self.different += int(wrong.sum())
            self.undecided += int(undecided.sum())
            self.open_inputs += int(left.sum())
            if self.is_whole and self.is_two_sided:
                self.unmet += int((fired == _DEFAULT).sum())
            self.reached[fired[(fired != _DEFAULT) & ~undecided]] = True
            shown = np.flatnonzero(wrong)[:_SHOWN]
            found = [(int(index), int(fired[index])) for index in shown]
            for index, rule in untrue(self.read, self.unless, cells, expected):
                self.unless.pop(rule)
                self.untrue.append(rule)
                found.append((index, rule))
            for index, rule in found[: _SHOWN - len(self.examples)]:
                row = self._row(
                    codes[index], None if numbers is None else numbers[index]
                )
                self._keep(row, int(expected[index]), rule)

    def _fired(self, codes: Codes, expected: Codes) -> Codes:
        """Return which rule answers each input: the first that holds.

        In rules of any order, one that holds and is wrong counts before all others.
        """
        fired = np.full(len(codes), _DEFAULT)
        is_open = np.ones(len(codes), dtype=np.bool_)
        still_open, columns = np.arange(len(codes)), codes.T.copy()
        for number, box in enumerate(self.boxes):
            inside = still_open
            for feature, allowed in box.items():
                inside = inside[allowed[columns[feature][inside]]]
            fired[inside] = number
            if self.any_order:
                inside = inside[expected[inside] != self.answers[number]]
            if len(inside):
                is_open[inside] = False
                still_open = still_open[is_open[still_open]]
        return fired

    def _row(self, codes: Codes, numbers: Floats | None) -> dict[str, Value]:
        """Return an input as the user writes it."""
        row: dict[str, Value] = {}
        for place, feature in enumerate(self.network.domain.features):
            row[feature.name] = feature.values[codes[place]]
            if numbers is not None and place in self.read.starts and not codes[place]:
                row[feature.name] = plain_number(float(numbers[place]))
        return row

    def _keep(self, row: dict[str, Value], expected: int, fired: int) -> None:
        labels = self.network.classes
        rule = None if fired == _DEFAULT else fired
        answer = labels[self.answers[fired]]
        name = "" if rule is None else self.names[rule]
        example = Counterexample(row, labels[expected], answer, rule, name)
        if example not in self.examples:
            self.examples.append(example)

    def report(self, claims: tuple[str, ...]) -> CheckReport:
        """Return what was compared, and what came of it."""
        return CheckReport(
            method=self.method,
            scope="domain" if self.is_whole else "support",
            checked=self.checked,
            different=self.different,
            undecided=self.undecided,
            impossible=self.impossible,
            open_inputs=self.open_inputs,
            unmet=self.unmet,
            rows_left=self.rows_left,
            unreached=int((~self.reached).sum()),
            counterexamples=tuple(self.examples),
            compared=self.compared,
            confidence="" if self.different else self.confidence,
            claims=claims,
            untrue=tuple(sorted(self.untrue)),
        )
