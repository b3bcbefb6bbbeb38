"""Compare a rule list with a network, independently of the extraction.

This module is for whoever must trust the answer. Of a network it takes the stored
numbers, of a rule list the stored conditions, and works both answers out again in
plain code of its own. It shares no code with the extraction, so no mistake made there
can hide here; but for how work is sent to other processes, if it is, and then every
input is counted. In the order of reading:

1. `check` compares the two on every input, or on a sample (`draw`), and reports;
2. `Pair` applies the rules, which `read_rules` wrote in the network's codes, to some
   inputs, and `_Comparison` counts;
3. `classify` answers as the network does: in float64 where no tie is near, and
   otherwise in fractions (both in `evaluate`);
4. `check_proofs` follows proofs, where a file of them is given.

What the rules say of themselves, their certificate, has no part in the verdict.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from nn2rules.checker.alone import read_unless
from nn2rules.checker.draw import at_ends, from_box, from_domain, joined
from nn2rules.checker.on_device import LARGEST as LARGEST_ON_DEVICE
from nn2rules.checker.on_device import DeviceSweep, Question, refuse_device
from nn2rules.checker.pair import SHOWN, Pair, Seen, given_seen, tile_seen
from nn2rules.checker.proofs import Each, check_proofs
from nn2rules.checker.read import Codes, Floats, read_impossible, read_rules
from nn2rules.checker.report import CheckReport, Counterexample, confidence_text
from nn2rules.engine.budget import Meter
from nn2rules.engine.spreading import is_away, spread, workers_kept
from nn2rules.errors import InternalError, OptionError
from nn2rules.frames import Rows
from nn2rules.network import Network
from nn2rules.rules import RuleList
from nn2rules.values import whole_number

_LARGEST = 1 << 24  # inputs that are all compared
_CHUNK = 1 << 13  # inputs compared at a time
_CHUNKS = 2  # that are a task
_EACH = 32  # inputs drawn from the box of a rule, at least


@workers_kept()
def check(
    network: Network,
    rules: RuleList,
    *,
    rows: Rows = None,
    impossible: Any = (),
    default: bool = False,
    samples: int = 100_000,
    seed: int = 0,
    largest: int | None = None,
    proofs: str | os.PathLike[str] | None = None,
    device: str | None = None,
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
    largest : int, optional
        A domain of at most so many inputs is compared on every one of them: 2**24 by
        default, and 2**36 on a device.
    proofs : str or path, optional
        A file of proofs, as `extract` writes it; they are followed on all inputs.
    device : str, optional
        Where PyTorch goes through every input, as "cuda"; the report is the same. Not
        where a feature is a range of numbers.

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
    if device is not None:
        refuse_device(network.domain, device)
    if largest is None:
        largest = _LARGEST if device is None else LARGEST_ON_DEVICE
    is_small = network.domain.n_inputs <= whole_number("largest", largest)
    is_every = is_small and not network.domain.has_ranges
    given = None if rows is None else network.domain.inputs_of(rows)
    comparison = _Comparison(network, rules, impossible, in_order, default=default)
    followed = None
    if proofs is not None:
        both = comparison.read, comparison.left_out
        followed = check_proofs(network, rules, *both, proofs, in_order)
    if is_every:
        comparison.add_every(device)
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


def in_order(
    work: Callable[[Any, Any, Any], Any], shared: Any, tasks: Sequence[Any]
) -> Iterator[Any]:
    """Do one task after the other; or elsewhere, where joblib was given workers.

    Threads would gain nothing: they would wait for each other.
    """
    if is_away():
        yield from spread(work, shared, tasks, meter=Meter())
        return
    for task in tasks:
        yield work(shared, task, None)


class _Comparison:
    """Compares the answers of rules and network, and counts."""

    def __init__(
        self,
        network: Network,
        rules: RuleList,
        impossible: Any,
        each: Each,
        *,
        default: bool,
    ) -> None:
        self.network, self.read, self.each = network, read_rules(network, rules), each
        answers, starts = self.read.answers.tolist(), self.read.starts
        self.left_out = read_impossible(network.domain, impossible, starts)
        self.is_whole = default or rules.scope == "domain"  # or where a rule decides
        self.any_order = rules.form == "set" and len(set(answers[:-1])) > 1
        self.is_two_sided = rules.form == "set" and answers[-1] in answers[:-1]
        self.reached = np.zeros(len(self.read.boxes), dtype=np.bool_)
        self.inputs = self.checked = self.different = self.undecided = 0
        self.open_inputs = self.impossible = self.rows_left = self.unmet = 0
        self.examples: list[Counterexample] = []
        self.unless = read_unless(rules)
        self.pair = Pair(
            network,
            self.read,
            rules.names,
            self.left_out,
            dict(self.unless),
            self.is_whole,
            self.any_order,
            self.is_two_sided,
            _CHUNK,
        )
        self.untrue: list[int] = []
        self.method, self.compared, self.confidence = "every input", "", ""

    def add_every(self, device: str | None = None) -> None:
        """Compare all inputs of the domain, those that are plain on a device."""
        domain = self.network.domain
        if device is not None:
            self._add_on(device)
        else:
            self._add_tiles()
        if self.inputs != domain.n_inputs:
            raise InternalError(
                f"{self.inputs:,} of {domain.n_inputs:,} inputs were compared"
            )
        number, left = f"{domain.n_inputs:,}", self.impossible + self.open_inputs
        if left:
            self.method = "every input but those named below"
            number = f"{domain.n_inputs - left:,} of the {number}"
        self.compared = f"{number if left else f'all {number}'} inputs of the domain"

    def _add_tiles(self) -> None:
        total = self.network.domain.n_inputs
        size = _CHUNKS * _CHUNK
        tiles = [(at, min(at + size, total)) for at in range(0, total, size)]
        for several in self.each(tile_seen, self.pair, tiles):
            self._count(several)

    def _add_on(self, device: str) -> None:
        domain, both = self.network.domain, (self.read, self.left_out)
        sweep = DeviceSweep(self.network, *both, device, _CHUNK)
        for start in range(0, domain.n_inputs, sweep.size):
            is_counted = len(self.examples) >= SHOWN
            seen = sweep.look(
                start,
                min(start + sweep.size, domain.n_inputs),
                Question(self.any_order, self.is_whole, self.unless, is_counted),
            )
            self.inputs += seen.possible + seen.impossible
            left = 0 if self.is_whole else seen.by_default
            self.checked += seen.possible - left
            self.open_inputs += left
            self.impossible += seen.impossible
            self.different += seen.different
            if self.is_whole and self.is_two_sided:
                self.unmet += seen.by_default
            self.reached[seen.reached] = True
            for first in seen.special:
                numbers = np.arange(first, min(first + _CHUNK, domain.n_inputs))
                self._add(domain.codes_of(numbers))

    def add_samples(self, samples: int, random: np.random.Generator) -> None:
        """Compare inputs from the whole domain and from every box."""
        domain = self.network.domain
        sizes = domain.sizes
        drawn = from_domain(domain, samples, random)
        each = max(_EACH, samples // max(1, len(self.read.boxes)))
        inside = random.integers(0, sizes, (len(self.read.boxes), each, len(sizes)))
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
        boxes = f"and {each:,} from the box of each of {len(self.read.boxes):,} rules"
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

    def _add(self, codes: Codes, numbers: Floats | None = None) -> None:
        size = _CHUNKS * _CHUNK
        parts = [slice(at, at + size) for at in range(0, len(codes), size)]
        tasks = [
            (codes[part], None if numbers is None else numbers[part]) for part in parts
        ]
        before = self.inputs
        for several in self.each(given_seen, self.pair, tasks):
            self._count(several)
        if self.inputs - before != len(codes):
            raise InternalError("not every input was compared")

    def _count(self, several: Sequence[Seen]) -> None:
        """Count what came of chunks, in the order of their inputs."""
        for seen in several:
            self.inputs += seen.inputs
            self.checked += seen.checked
            self.different += seen.different
            self.undecided += seen.undecided
            self.impossible += seen.impossible
            self.open_inputs += seen.open_inputs
            self.unmet += seen.unmet
            self.reached[seen.reached] = True
            found = list(seen.wrong)
            for rule, example in seen.untrue:
                if self.unless.pop(rule, None) is not None:
                    self.untrue.append(rule)
                    found.append(example)
            for example in found[: SHOWN - len(self.examples)]:
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
