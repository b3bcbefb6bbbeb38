"""Prove that a scorecard equals a network, and that its printed points are right.

The scorecard's numbers are read from its values: cards, the layers above them, regions,
and the points, cut-offs and conditions of its page. What they imply is worked out by
code of the checker's own:

1. the scorecard predicts as the network does, on every input (`equality`);
2. its regions are right, and together hold every input (`region_claims`);
3. its printed points prove the classes that the page states (`printed_claims`).

Inputs are also tried, many of them next to a cut-off: to refute what is wrong.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from time import monotonic

import numpy as np

from nn2rules.checker.draw import Inputs, joined
from nn2rules.checker.read import Codes, Floats
from nn2rules.checker.run_network import UNDECIDED, classify, exact_sums
from nn2rules.checker.scorecards.card_report import (
    CardClaim,
    CardDifference,
    ScorecardReport,
    Status,
)
from nn2rules.checker.scorecards.equality import same_by_parts
from nn2rules.checker.scorecards.multipliers import LateError, Prover
from nn2rules.checker.scorecards.page_reader import PageReader
from nn2rules.checker.scorecards.printed_claims import check_printed
from nn2rules.checker.scorecards.read_card import (
    ReadCard,
    differing_numbers,
    read_card,
)
from nn2rules.checker.scorecards.region_claims import (
    RegionResult,
    check_regions,
    form_of,
)
from nn2rules.checker.scorecards.sums import Form, Sums
from nn2rules.checker.scorecards.trial_inputs import amounts_of, at_borders, drawn
from nn2rules.engine import Progress
from nn2rules.errors import OptionError
from nn2rules.network import Network
from nn2rules.scorecards import PointsTable, Scorecard
from nn2rules.space import Domain, Range, Value, plain_number

_SHOWN = 5
_FEW, _MANY = 60, 2000  # inputs for which a page is read
_PER_GAP = 200
_CHUNK = 1 << 13  # inputs compared between two looks at the clock
_NEAR_CHUNK = 100  # of inputs near a cut-off, which need exact arithmetic


def check_scorecard(
    network: Network,
    card: Scorecard,
    given: Inputs | None,
    *,
    samples: int,
    seed: int,
    largest: int,
    seconds: float,
    progress: Progress | None = None,
    table: PointsTable | None = None,
) -> ScorecardReport:
    """Prove or refute what a scorecard claims.

    Parameters
    ----------
    network : Network
    card : Scorecard
    given : (codes, numbers), optional
        Rows to compare.
    samples, seed, largest, seconds, progress
        As in `check`.
    table : PointsTable, optional
        The printed page, if it is not that of the scorecard.
    """
    checked = _Check(network, card, samples, seed, largest, seconds, progress)
    try:
        checked.predictions()
        if not checked.is_refuted:
            checked.regions()
        if not checked.is_refuted:
            checked.printed(table)
    except KeyboardInterrupt:
        checked.stopped = "Ctrl-C"
        checked.leave_rest()
    return checked.report(given)


@dataclass
class _Check:
    """The steps of a check, and what came of them."""

    network: Network
    card: Scorecard
    samples: int
    seed: int
    largest: int
    seconds: float
    progress: Progress | None
    claims: list[CardClaim] = field(default_factory=list)
    differences: list[str] = field(default_factory=list)
    counterexamples: list[CardDifference] = field(default_factory=list)
    compared: int = 0
    is_told: bool = True
    stopped: str = ""

    def __post_init__(self) -> None:
        self.read: ReadCard = read_card(self.network, self.card)
        self.random = np.random.default_rng(self.seed)
        self.end = monotonic() + self.seconds

    @property
    def is_refuted(self) -> bool:
        """Whether some claim is refuted."""
        return any(claim.status == "refuted" for claim in self.claims)

    def is_late(self) -> bool:
        """Tell whether the time limit was reached, and note it."""
        if monotonic() > self.end:
            self.stopped = self.stopped or "time"
        return self.stopped != ""

    def tell(self, what: str) -> Callable[[float], None]:
        """Return what reports the share of a step that is done."""

        def report(share: float) -> None:
            if self.progress is not None:
                self.progress(what, share)

        return report

    def claim(self, name: str, status: Status, detail: str) -> None:
        """Note what came of a claim."""
        self.claims.append(CardClaim(name, status, detail))

    def leave_rest(self) -> None:
        """Note the claims that were not reached as undecided."""
        names = [
            "Predictions",
            *["Regions"] * bool(self.card.regions),
            "Printed points",
        ]
        known = {claim.name for claim in self.claims}
        for name in names:
            if name not in known:
                self.claim(name, "undecided", "Not finished.")

    # The predictions

    def predictions(self) -> None:
        """Prove that the scorecard predicts as the network does, or refute it."""
        self.tell("comparing the numbers")(0.0)
        differences = differing_numbers(self.network, self.read)
        if not differences:
            n_numbers = sum(
                layer.weights.size + layer.bias.size for layer in self.network.layers
            )
            self.claim(
                "Predictions",
                "proved",
                f"All {n_numbers:,} numbers of the scorecard are those of the network.",
            )
            return
        self.differences = differences[:_SHOWN]
        if len(differences) > _SHOWN:
            self.differences.append(f"and {len(differences) - _SHOWN:,} more")
        if self._is_different_on_trial():
            self.claim("Predictions", "refuted", "An input is predicted differently.")
            return
        status, detail = self._compared()
        self.claim("Predictions", status, detail)

    def _compared(self) -> tuple[Status, str]:
        """Prove that different numbers mean the same, if they do."""
        domain = self.network.domain
        if not domain.has_ranges and domain.n_inputs <= self.largest:
            if self._is_same_on_every_input():
                return "proved", "Other numbers, compared on every input."
            if self.counterexamples:
                return "refuted", "An input is predicted differently."
        try:
            found = same_by_parts(self.network, self.read, self.is_late)
        except LateError:
            found = False
        if isinstance(found, tuple):
            self._compare(found)
            return "refuted", "An input is predicted differently."
        if found:
            return "proved", "Other numbers, which mean the same on every input."
        return "undecided", "Some numbers are not those of the network."

    def _is_same_on_every_input(self) -> bool:
        """Compare the predictions of every input; stop at a difference."""
        total = self.network.domain.n_inputs
        for at in range(0, total, _CHUNK):
            if self.is_late():
                return False
            numbers = np.arange(at, min(at + _CHUNK, total))
            codes = self.network.domain.codes_of(numbers)
            if self._compare((codes, None)) or not self.is_told:
                return False
        return True

    def _is_different_on_trial(self) -> bool:
        """Look for inputs that are predicted differently."""
        domain = self.network.domain
        inputs = drawn(domain, self.samples, self.random)
        if self._differs_on(inputs, _CHUNK):
            return True
        few = _first(inputs, max(_MANY, self.samples // 10))
        for network in (self.network, self.read.same):
            near = at_borders(network, few, self.random)
            if near is not None and self._differs_on(near, _NEAR_CHUNK):
                return True
        return False

    def _differs_on(self, inputs: Inputs, size: int) -> bool:
        """Compare inputs, some at a time, until a difference or the time limit."""
        for at in range(0, len(inputs[0]), size):
            if self._compare(_slice(inputs, at, at + size)):
                return True
            if self.is_late():
                break
        return False

    def _compare(self, inputs: Inputs) -> int:
        """Compare both on some inputs; return how many are predicted differently."""
        codes, numbers = inputs
        ours = classify(self.network, codes, numbers)
        theirs = classify(self.read.same, codes, numbers)
        places = np.array([*self.read.places, UNDECIDED])
        is_other = (ours != UNDECIDED) & (theirs != UNDECIDED)
        is_other &= ours != places[theirs]
        self.compared += len(codes)
        self.is_told = bool(((ours != UNDECIDED) & (theirs != UNDECIDED)).all())
        for at in np.flatnonzero(is_other).tolist():
            if len(self.counterexamples) == _SHOWN:
                break
            example = CardDifference(
                _row(self.network.domain, codes[at], amounts_of(inputs)[at]),
                self.network.classes[ours[at]],
                self.card.classes[theirs[at]],
            )
            if example not in self.counterexamples:
                self.counterexamples.append(example)
        return int(is_other.sum())

    # The regions

    def regions(self) -> None:
        """Prove that regions are right and hold every input, or refute it."""
        if not self.card.regions:
            return
        own, number = self.read.own, len(self.card.regions)
        prover = Prover(Sums(own.domain, own.layers[0]), self.is_late)
        tell = self.tell("verifying regions")
        result = check_regions(prover, own, self.card.regions, tell)
        text = f"{len(result.proved):,} of {number:,} are verified"
        if len(result.proved) == number and result.is_covered:
            self.claim("Regions", "proved", f"{text}, and they hold every input.")
            return
        if not result.is_covered:
            text += "; that they hold every input is not proved"
        is_wrong = self._are_regions_wrong(prover, result)
        self.claim("Regions", "refuted" if is_wrong else "undecided", f"{text}.")

    def _are_regions_wrong(self, prover: Prover, result: RegionResult) -> bool:
        """Look for an input in no region, or in one that claims something else."""
        left = [self.card.regions[place] for place in sorted(result.left)]
        conditions = result.gaps + [
            tuple(map(form_of, region.conditions)) for region in left
        ]
        for inputs in self._near_conditions(prover, conditions):
            for codes, amounts in zip(inputs[0], amounts_of(inputs), strict=True):
                where = self._wrong_region(codes, amounts)
                if where:
                    self._add_example(codes, amounts, None, where)
                    return True
        return False

    def _near_conditions(
        self, prover: Prover, conditions: list[tuple[Form, ...]]
    ) -> Iterator[Inputs]:
        """Yield inputs that probably meet one of some conditions, and others."""
        domain = self.card.domain
        for each in conditions[:_MANY]:
            if self.is_late():
                break
            yield prover.inputs_in(domain, each, self.random, _PER_GAP)
        yield self._trials(_MANY)

    def _wrong_region(self, codes: Codes, amounts: Floats) -> str:
        """Say which region is wrong about an input, or that there is none."""
        self.compared += 1
        own = self.read.own
        sums = (*exact_sums(own, codes, amounts), Fraction(1))
        held = [
            place
            for place, region in enumerate(self.card.regions)
            if all(_value(form_of(each), sums) >= 0 for each in region.conditions)
        ]
        if not held:
            return "no region"
        found = int(classify(own, codes[np.newaxis], amounts[np.newaxis])[0])
        for place in held:
            region = self.card.regions[place]
            if found != UNDECIDED and found not in region.classes:
                return f"region {place + 1}, which states another class"
        return ""

    # The printed points

    def printed(self, table: PointsTable | None) -> None:
        """Prove that printed points prove what the page says, or refute it."""
        if table is None:
            try:
                table = self.card.table
            except OptionError:  # there is no page for such a scorecard
                return
        regions_known = all(claim.status == "proved" for claim in self.claims[1:])
        claims = []
        tell = self.tell("verifying printed points")
        for claim in check_printed(self.read.own, table, self.card.regions):
            claims.append(claim)
            tell(min(1.0, len(claims) / max(1, len(self.card.regions))))
            if self.card.regions and self.is_late():
                break
        left = [claim.text for claim in claims if not claim.is_proved]
        is_all = not left and regions_known and not self.stopped
        if self._is_page_wrong(table, _FEW if is_all else _MANY):
            self.claim("Printed points", "refuted", "The page is wrong about an input.")
        elif is_all:
            number = f"{len(claims):,} statement{'s' if len(claims) > 1 else ''}"
            self.claim("Printed points", "proved", f"{number} on every input.")
        else:
            shown = "; ".join(left[:_SHOWN]) or "they rest on the regions"
            self.claim("Printed points", "undecided", f"Not proved: {shown}.")

    def _is_page_wrong(self, table: PointsTable, number: int) -> bool:
        """Read the page for some inputs, and compare the classes."""
        reader, trials = PageReader(self.card.domain, table), self._trials(number)
        for at in range(0, number, _FEW):
            if at and self.is_late():
                break
            inputs = _slice(trials, at, at + _FEW)
            expected = classify(self.read.own, *inputs)
            for codes, amounts, index in zip(
                inputs[0], amounts_of(inputs), expected.tolist(), strict=True
            ):
                found, where = reader.class_of(codes.tolist(), amounts.tolist())
                self.compared += 1
                if found is not None and index not in (found, UNDECIDED):
                    self._add_example(codes, amounts, self.card.classes[found], where)
                    return True
        return False

    def _trials(self, number: int) -> Inputs:
        """Draw inputs for the scorecard, most of them where its class changes."""
        domain = self.card.domain
        inputs = drawn(domain, max(_MANY, number), self.random)
        near = at_borders(self.read.own, inputs, self.random)
        few = _first(inputs, number // 4)
        if near is None:
            return _first(inputs, number)
        order = self.random.permutation(len(near[0]))
        shuffled = (near[0][order], None if near[1] is None else near[1][order])
        return joined([few, _first(shuffled, number - len(few[0]))])

    def _add_example(
        self, codes: Codes, amounts: Floats, stated: Value, where: str
    ) -> None:
        index = int(classify(self.read.own, codes[np.newaxis], amounts[np.newaxis])[0])
        label = None if index == UNDECIDED else self.card.classes[index]
        row = _row(self.card.domain, codes, amounts)
        self.counterexamples.append(CardDifference(row, label, stated, where))

    def report(self, given: Inputs | None) -> ScorecardReport:
        """Compare given rows, and return what came of everything."""
        rows = rows_different = 0
        if given is not None:
            rows, before = len(given[0]), self.compared
            rows_different = self._compare(given)
            self.compared = before
        return ScorecardReport(
            tuple(self.claims),
            self.compared,
            tuple(self.differences),
            tuple(self.counterexamples),
            rows,
            rows_different,
            self.stopped,
        )


def _first(inputs: Inputs, number: int) -> Inputs:
    return _slice(inputs, 0, number)


def _slice(inputs: Inputs, start: int, stop: int) -> Inputs:
    codes, numbers = inputs
    return codes[start:stop], None if numbers is None else numbers[start:stop]


def _value(form: Form, sums: tuple[Fraction, ...]) -> Fraction:
    return sum((a * b for a, b in zip(form, sums, strict=True) if a), Fraction(0))


def _row(domain: Domain, codes: Codes, amounts: Floats) -> dict[str, Value]:
    """Return an input as the user writes it."""
    row: dict[str, Value] = {}
    for place, feature in enumerate(domain.features):
        row[feature.name] = feature.values[codes[place]]
        if isinstance(feature, Range) and not codes[place]:
            row[feature.name] = plain_number(float(amounts[place]))
    return row
