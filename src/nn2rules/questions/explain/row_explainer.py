"""Explain row by row: all that was asked for, and what stays open.

Rows know nothing of each other, so workers can have some each.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine import (
    Budget,
    Meter,
    Point,
    SearchJudge,
    TableJudge,
    fragile_margins,
)
from nn2rules.engine.parallel import in_threads, is_remote, shared_workers, spread
from nn2rules.errors import RowsError
from nn2rules.language import count
from nn2rules.models import GivenRows
from nn2rules.network import Network
from nn2rules.questions.explain.case import Block, Case, Gain, gains_of, is_changed
from nn2rules.questions.explain.change_costs import (
    Ladder,
    allowed_of,
    forbidden_boxes,
    ladders_of,
)
from nn2rules.questions.explain.changes import (
    MOST_CHANGES,
    Changes,
    check_changes,
    find_changes,
)
from nn2rules.questions.explain.options import Codes, Constraints, Prices, Wanted
from nn2rules.questions.explain.reasons import Reasons, find_reasons, widened
from nn2rules.questions.explain.result import Explanation, HeldRule, Proved
from nn2rules.rules import RuleList
from nn2rules.space import Domain, Rows, Span, Value, inside, plain_number

_FOR_REASONS = 0.5
"""Of the time for a row; what is left is for changes, and then to widen reasons."""


@dataclass(slots=True)
class _Found:
    """What was found of a row, part by part."""

    reasons: Reasons
    blocks: list[dict[int, Block]]
    is_widest: bool
    changes: Changes | None = None
    radius: int | None = None
    open: list[str] = field(default_factory=list)


class _Row(NamedTuple):
    """A row to explain, and its part of the time.

    Here that is a share of what is left when its turn comes; elsewhere, where nobody
    knows how much that is, it is so many seconds.
    """

    point: Point
    answer: int
    share: float
    seconds: float | None


Inputs: TypeAlias = tuple[NDArray[np.int64], NDArray[np.float64]]
"""The codes and the numbers of rows."""


def inputs_of(
    domain: Domain, limits: Constraints, rows: Rows, *, skip: bool
) -> tuple[Inputs, dict[int, str]]:
    """Return the rows that can be explained, and why the others, by number, cannot.

    Without `skip`, the first that cannot be explained is an error.
    """
    unusable: dict[int, str] = {}
    if skip:
        unknown = domain.unknown_rows(rows)
        unusable = {row: error.fact for row, error in unknown.items()}
    codes = domain.encode(rows, unknown="mark" if skip else "error")
    numbers = domain.numbers(rows)
    is_known = np.ones(len(codes), dtype=np.bool_)
    is_known[[*unusable]] = False
    known = np.flatnonzero(is_known)
    is_out = inside(domain, limits.impossible, codes[known], numbers[known])
    for row in known[is_out].tolist():
        unusable[row] = "it is among the impossible inputs"
        if not skip:
            raise RowsError(f"row {row}: {unusable[row]}")
    kept = known[~is_out]
    return (codes[kept], numbers[kept]), dict(sorted(unusable.items()))


class Work:
    """Explains the rows of one network."""

    def __init__(
        self, network: Network, judge: TableJudge | SearchJudge, wanted: Wanted
    ) -> None:
        self.network, self.wanted = network, wanted
        self.judge = judge.apart(Meter())  # rows have their own, and this one travels
        self.fragile: float | None = None
        if network.model_error is not None:
            with np.errstate(all="ignore"):
                self.fragile = fragile_margins(network)["model"]

    def explain(
        self, inputs: Inputs, meter: Meter, n_jobs: int | None = None
    ) -> list[Explanation]:
        """Explain rows, those that are the same once."""
        codes, numbers = inputs
        amounts = numbers if self.network.domain.has_ranges else None
        answers = self.network.predict_codes(codes, amounts)
        places: dict[bytes, int] = {}
        keys: list[bytes] = []
        points: list[tuple[Point, int]] = []
        for place, answer in enumerate(answers.tolist()):
            point = Point(codes[place], numbers[place])
            keys.append(point.codes.tobytes() + point.numbers.tobytes())
            if keys[-1] not in places:
                places[keys[-1]] = len(points)
                points.append((point, int(answer)))
        found = self._spread(points, meter, n_jobs)
        return [found[places[key]] for key in keys]

    def _spread(
        self, points: Sequence[tuple[Point, int]], meter: Meter, n_jobs: int | None
    ) -> list[Explanation]:
        """Explain different rows; where boxes are counted, one after the other."""
        total, seconds, shared = len(points), None, meter
        is_counted = meter.budget.boxes is not None
        with shared_workers(n_jobs) as crew:
            workers = 1 if is_counted else crew.n_workers()
        left = meter.left().seconds
        if is_remote() and not is_counted and left is not None:
            seconds = min(1.0, workers / max(1, total)) * left
            shared = Meter(stop=meter.stop)  # what is open at the end is no error
        tasks = [
            _Row(*point, min(1.0, workers / (total - place)), seconds)
            for place, point in enumerate(points)
        ]
        many = in_threads if is_counted else spread
        work = many(_explained_row, self, tasks, meter=shared, n_jobs=workers)
        found: list[Explanation] = []
        with closing(work) as results:
            for explanation in results:
                found.append(replace(explanation, domain=self.network.domain))
                meter.report("explaining", len(found) / total)
        return found

    def row(self, row: _Row, meter: Meter) -> Explanation:
        """Explain one row."""
        own = meter
        if row.seconds is not None:
            own = Meter(Budget(row.seconds), stop=meter.stop)
        elif meter.budget.boxes is None:
            own = replace(meter, progress=None)
        case = Case(self.network, self.judge.apart(own), row.point, row.answer)
        with _share(own, row.share if row.seconds is None else 1.0):
            return self._explained(case)

    def _explained(self, case: Case) -> Explanation:
        wanted = self.wanted
        margin, probability, gains = gains_of(case)
        order = sorted(range(len(gains)), key=lambda i: (gains[i].amount, i))
        with _share(case.judge.meter, _FOR_REASONS):
            reasons = find_reasons(
                case,
                order,
                wanted.number,
                smallest=wanted.smallest,
                ladders=self._plain_ladders(case),
            )
        found = _Found(reasons, [], True)
        if wanted.changes:
            self._change(case, order, found)
        for reason in reasons.found:
            blocks = {index: case.own(index) for index in reason}
            if wanted.widen:
                blocks, is_widest = widened(case, reason, wanted.steps)
                found.is_widest = found.is_widest and is_widest
            found.blocks.append(blocks)
        _tell_open(found, wanted)
        return self._made(case, found, (margin, probability), gains)

    def _plain_ladders(self, case: Case) -> list[Ladder]:
        """Return ladders on which everything may change, and all changes cost 1."""
        whole = [case.whole(index) for index in range(len(case.domain.features))]
        plain = Prices((1,) * len(whole), (0,) * len(whole))
        return ladders_of(case, whole, plain, self.wanted.steps)

    def _change(self, case: Case, order: Sequence[int], found: _Found) -> None:
        wanted, limits = self.wanted, self.wanted.limits
        allowed = allowed_of(case, limits)
        ladders = ladders_of(case, allowed, wanted.prices, wanted.steps)
        forbidden = forbidden_boxes(case, limits) if limits.spans else None
        changes = find_changes(case, ladders, order, forbidden)
        check_changes(case, changes)
        found.changes = nearest = changes
        if limits.has_any or wanted.has_costs:
            plain = self._plain_ladders(case)
            nearest = find_changes(case, plain, order, first=True)
        if nearest.is_none:
            found.radius = len(order)
        elif nearest.is_cheapest and nearest.cost is not None:
            found.radius = nearest.cost - 1
        else:
            known = max(0, nearest.at_least - 1)
            found.open.append(
                f"how many features can change before it can turn; at least {known} can"
            )

    def _made(
        self,
        case: Case,
        found: _Found,
        scores: tuple[float, float],
        gains: Sequence[Gain],
    ) -> Explanation:
        network, wanted, changes = self.network, self.wanted, found.changes
        point, classes = case.point, network.classes
        [row] = network.domain.decode(
            point.codes[np.newaxis], point.numbers[np.newaxis]
        )
        margin, probability = scores
        codes = None
        if wanted.codes is not None:
            codes = []
            if wanted.adverse in (None, classes[case.index]):
                reason = found.reasons.found[0]
                codes = [text for *_, text in reason_codes(wanted.codes, reason, gains)]
        return Explanation(
            row=row,
            answer=classes[case.index],
            margin=margin,
            probability=probability,
            is_fragile=self.fragile is not None and margin <= self.fragile,
            reasons=[_said(case, blocks) for blocks in found.blocks],
            changes=_new_values(case, changes),
            outcomes=_outcomes(case, changes),
            cost=_cost(changes, wanted.prices),
            radius=found.radius,
            codes=codes,
            rules=None
            if wanted.rules is None
            else held_rules(wanted.rules, network, point),
            proved=_proved(found),
            open=found.open,
            is_cost=wanted.has_costs,
            has_changes=wanted.changes,
        )


def _explained_row(work: Work, row: _Row, meter: Meter) -> Explanation:
    return work.row(row, meter)


@contextmanager
def _share(meter: Meter, share: float) -> Iterator[None]:
    """Let work have a share of the time that is left, if there is a limit."""
    whole = meter.budget
    if whole.seconds is not None:
        spent = monotonic() - meter.started
        left = max(0.0, whole.seconds - spent)
        meter.budget = replace(whole, seconds=min(whole.seconds, spent + share * left))
    try:
        yield
    finally:
        meter.budget = whole


def _tell_open(found: _Found, wanted: Wanted) -> None:
    """Say what is not known."""
    reasons, changes, said = found.reasons, found.changes, []
    if not reasons.is_minimal:
        said.append("whether the reason needs all of its features")
    if wanted.smallest and not reasons.is_smallest:
        said.append(
            f"whether a reason has fewer features; it has at least {reasons.at_least}"
        )
    if len(reasons.found) < wanted.number and not reasons.is_every:
        said.append("whether there are more reasons")
    if not found.is_widest:
        said.append("whether the reason is true more widely")
    if changes is not None and not changes.is_cheapest:
        least = wanted.prices.amount(changes.at_least)
        if wanted.has_costs:
            said.append(f"whether a lower cost turns it; it is at least {least:g}")
        else:
            needed = count(max(1, changes.at_least), "change")
            said.append(f"whether less turns it; at least {needed} must be made")
    if changes is not None and changes.found and not changes.is_every:
        is_full = len(changes.found) >= MOST_CHANGES
        known = f"all changes like these; {MOST_CHANGES:,} are listed"
        said.append(known if is_full else "whether there are more changes like these")
    if changes is not None and not changes.is_nearest:
        said.append("whether nearer numbers turn it")
    found.open = said + found.open


def _proved(found: _Found) -> Proved:
    reasons, changes = found.reasons, found.changes
    return Proved(
        minimal=reasons.is_minimal,
        smallest=reasons.is_smallest,
        every_reason=reasons.is_every,
        widest=found.is_widest,
        fewest=changes is not None and changes.is_cheapest,
        every_change=changes is not None and changes.is_every,
        nearest=changes is not None and changes.is_nearest,
    )


def _said(case: Case, blocks: Mapping[int, Block]) -> dict[str, Any]:
    """Return what a reason allows: a value, a pair of numbers, or a list of these."""
    said: dict[str, Any] = {}
    for index in sorted(blocks):
        feature, block = case.domain.features[index], blocks[index]
        found: list[Value | Span] = []
        first = 0
        if feature.limits is not None:
            first = 1
            low, high = plain_number(block.low), plain_number(block.high)
            if block.values[0]:
                found.append(low if low == high else (low, high))
        codes = np.flatnonzero(block.values[first:]).tolist()
        found += [feature.values[first + code] for code in codes]
        said[feature.name] = found[0] if len(found) == 1 else found
    return said


def _new_values(case: Case, changes: Changes | None) -> list[dict[str, Value]]:
    """Return what each change changes, and to what."""
    if changes is None or not changes.found:
        return []
    codes = np.array([point.codes for point in changes.found])
    numbers = np.array([point.numbers for point in changes.found])
    is_other = is_changed(case, codes, numbers)
    decoded = case.domain.decode(codes, numbers)
    return [
        {
            name: value
            for (name, value), new in zip(one.items(), other, strict=True)
            if new
        }
        for one, other in zip(decoded, is_other.tolist(), strict=True)
    ]


def _outcomes(case: Case, changes: Changes | None) -> list[Value]:
    if changes is None or not changes.found:
        return []
    codes = np.array([point.codes for point in changes.found])
    numbers = np.array([point.numbers for point in changes.found])
    found = case.judge.classes_of(codes, numbers)
    return [case.network.classes[index] for index in found.tolist()]


def _cost(changes: Changes | None, prices: Prices) -> int | float | None:
    if changes is None or changes.cost is None:
        return None
    return prices.amount(changes.cost)


def held_rules(rules: RuleList, network: Network, point: Point) -> list[HeldRule]:
    """Return the rules that hold for a row; the first of them decides.

    Of a list that is all: what stands below it does not answer this row, and may say
    anything.
    """
    numbers = point.numbers[np.newaxis] if network.domain.has_ranges else None
    given = GivenRows(network.domain, point.codes[np.newaxis], numbers)
    columns = given.codes_in(rules.domain)[0] + rules.domain.offsets[:-1]
    holding = np.flatnonzero(rules.boxes[:, columns].all(axis=1)).tolist()
    holding = holding[:1] if rules.form == "list" else holding
    return [
        HeldRule(
            rules.names[index],
            rules.classes[rules.answers[index]],
            f"{rules.names[index]}  {rules.rule_text(rules[index])}",
            index == holding[0],
        )
        for index in holding
    ]


MOST_CODES = 4
"""Notices of adverse action name no more than four reasons."""


def reason_codes(
    table: Codes, reason: Sequence[int], gains: Sequence[Gain]
) -> list[tuple[int, str, str]]:
    """Return at most four features of a reason, with direction and text.

    First what alone moves the score furthest towards another class; equal ones in the
    order of the features. What has no text, or moves nothing, is left out; a direction
    without a text has that of "any".
    """
    found: list[tuple[int, str, str]] = []
    for index in sorted(reason, key=lambda i: (-gains[i].amount, i)):
        gain = gains[index]
        text = table.get((index, gain.direction), table.get((index, "any")))
        is_new = text is not None and text not in [known for _, _, known in found]
        if text is not None and is_new and gain.amount > 0:
            found.append((index, gain.direction, text))
    return found[:MOST_CODES]
