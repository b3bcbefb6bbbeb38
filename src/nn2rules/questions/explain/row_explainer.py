"""Explain rows one by one, and note what stays undecided.

No row depends on another, so they can be shared among workers.
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
from nn2rules.errors import BudgetExceededError, RowsError
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
from nn2rules.questions.explain.counterfactuals import (
    MOST_LISTED,
    Counterfactuals,
    check_counterfactuals,
    find_counterfactuals,
)
from nn2rules.questions.explain.options import Constraints, Prices, Request
from nn2rules.questions.explain.reason_codes import ReasonCodes, reason_codes
from nn2rules.questions.explain.reasons import Reasons, find_reasons, widened
from nn2rules.questions.explain.result import (
    CoveringRule,
    Explanation,
    PointsLost,
    Proved,
)
from nn2rules.rules import RuleList
from nn2rules.space import Domain, Range, Rows, Span, Value, inside, plain_number

_FOR_REASONS = 0.5
"""Share of a row's time; the rest is for counterfactuals, then to widen reasons."""


@dataclass(slots=True)
class _Findings:
    """The parts of an explanation found so far."""

    reasons: Reasons
    blocks: list[dict[int, Block]]
    is_widest: bool
    counterfactuals: Counterfactuals | None = None
    radius: int | None = None
    undecided: list[str] = field(default_factory=list)


class _RowTask(NamedTuple):
    """A row to explain, and its part of the time.

    On this machine that is a `share` of the time left when its turn comes. On a
    cluster, where nobody knows how much is left, it is a number of `seconds`.
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
    """Return the rows that can be explained, and by number why the others cannot.

    Without `skip`, the first row that cannot be explained is an error.
    """
    unusable: dict[int, str] = {}
    if skip:
        unknown = domain.unknown_rows(rows)
        unusable = {row: error.fact for row, error in unknown.items()}
    codes = domain.encode(rows, unknown="mark" if skip else "error")
    numbers = domain.numbers(rows)
    is_known = np.ones(len(codes), dtype=np.bool_)
    is_known[[*unusable]] = False
    kept_rows = np.flatnonzero(is_known)
    is_out = inside(domain, limits.impossible, codes[kept_rows], numbers[kept_rows])
    for row in kept_rows[is_out].tolist():
        unusable[row] = "it is among the impossible inputs"
        if not skip:
            raise RowsError(f"row {row}: {unusable[row]}")
    kept = kept_rows[~is_out]
    return (codes[kept], numbers[kept]), dict(sorted(unusable.items()))


class RowExplainer:
    """Explains the rows of one network."""

    def __init__(
        self, network: Network, judge: TableJudge | SearchJudge, request: Request
    ) -> None:
        self.network, self.request = network, request
        self.judge = judge.apart(
            Meter()
        )  # rows have their own; this is sent to workers
        self.fragile: float | None = None
        if network.model_error is not None:
            with np.errstate(all="ignore"):
                self.fragile = fragile_margins(network)["model"]

    def explain(
        self, inputs: Inputs, meter: Meter, n_jobs: int | None = None
    ) -> list[Explanation]:
        """Explain rows; equal ones only once."""
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
        explanations = self._spread(points, meter, n_jobs)
        return [explanations[places[key]] for key in keys]

    def _spread(
        self, points: Sequence[tuple[Point, int]], meter: Meter, n_jobs: int | None
    ) -> list[Explanation]:
        """Explain distinct rows; one after the other where the budget counts boxes."""
        total, seconds, shared = len(points), None, meter
        is_counted = meter.budget.boxes is not None
        with shared_workers(n_jobs) as crew:
            workers = 1 if is_counted else crew.n_workers()
        left = meter.left().seconds
        if is_remote() and not is_counted and left is not None:
            seconds = min(1.0, workers / max(1, total)) * left
            shared = Meter(stop=meter.stop)  # running out of time is not an error
        tasks = [
            _RowTask(*point, min(1.0, workers / (total - place)), seconds)
            for place, point in enumerate(points)
        ]
        many = in_threads if is_counted else spread
        work = many(_explained_row, self, tasks, meter=shared, n_jobs=workers)
        explanations: list[Explanation] = []
        with closing(work) as results:
            for explanation in results:
                explanations.append(replace(explanation, domain=self.network.domain))
                meter.report("explaining", len(explanations) / total)
        return explanations

    def row(self, row: _RowTask, meter: Meter) -> Explanation:
        """Explain one row."""
        row_meter = meter
        if row.seconds is not None:
            row_meter = Meter(Budget(row.seconds), stop=meter.stop)
        elif meter.budget.boxes is None:
            row_meter = replace(meter, progress=None)
        case = Case(self.network, self.judge.apart(row_meter), row.point, row.answer)
        with _time_share(row_meter, row.share if row.seconds is None else 1.0):
            return self._explained(case)

    def _explained(self, case: Case) -> Explanation:
        request = self.request
        margin, probability, gains = gains_of(case)
        order = sorted(range(len(gains)), key=lambda i: (gains[i].amount, i))
        with _time_share(case.judge.meter, _FOR_REASONS):
            reasons = find_reasons(
                case,
                order,
                request.n_reasons,
                smallest=request.smallest,
                ladders=self._plain_ladders(case),
            )
        findings = _Findings(reasons, [], True)
        if request.counterfactuals:
            self._change(case, order, findings)
        for reason in reasons.found:
            blocks = {index: case.row_block(index) for index in reason}
            if request.widen:
                blocks, is_widest = widened(case, reason, request.steps)
                findings.is_widest = findings.is_widest and is_widest
            findings.blocks.append(blocks)
        _note_undecided(findings, request)
        return self._explanation(case, findings, (margin, probability), gains)

    def _plain_ladders(self, case: Case) -> list[Ladder]:
        """Return ladders that allow every change, at a cost of 1 for each feature."""
        blocks = [case.full_block(index) for index in range(len(case.domain.features))]
        plain = Prices((1,) * len(blocks), (0,) * len(blocks))
        return ladders_of(case, blocks, plain, self.request.steps)

    def _change(self, case: Case, order: Sequence[int], findings: _Findings) -> None:
        request, limits = self.request, self.request.constraints
        allowed = allowed_of(case, limits)
        ladders = ladders_of(case, allowed, request.prices, request.steps)
        forbidden = forbidden_boxes(case, limits) if limits.spans else None
        changes = find_counterfactuals(case, ladders, order, forbidden)
        check_counterfactuals(case, changes)
        findings.counterfactuals = nearest = changes
        if limits.has_any or request.has_costs:
            plain = self._plain_ladders(case)
            nearest = find_counterfactuals(case, plain, order, first=True)
        if nearest.is_none:
            findings.radius = len(order)
        elif nearest.is_cheapest and nearest.cost is not None:
            findings.radius = nearest.cost - 1
        else:
            at_least = max(0, nearest.at_least - 1)
            findings.undecided.append(
                f"how many features can change before the prediction can flip; at "
                f"least {at_least} can"
            )

    def _explanation(
        self,
        case: Case,
        findings: _Findings,
        scores: tuple[float, float],
        gains: Sequence[Gain],
    ) -> Explanation:
        network, request, changes = self.network, self.request, findings.counterfactuals
        point, classes = case.point, network.classes
        [row] = network.domain.decode(
            point.codes[np.newaxis], point.numbers[np.newaxis]
        )
        margin, probability = scores
        is_adverse = request.adverse in (None, classes[case.class_index])
        table, codes = request.reason_codes, None
        if table is not None:
            reason = findings.reasons.found[0]
            named = reason_codes(table, reason, gains) if is_adverse else []
            codes = [text for *_, text in named]
        points = self._points_lost(case, row, table if is_adverse else None, findings)
        return Explanation(
            row=row,
            prediction=classes[case.class_index],
            margin=margin,
            probability=probability,
            is_fragile=self.fragile is not None and margin <= self.fragile,
            reasons=[_allowed_values(case, blocks) for blocks in findings.blocks],
            counterfactuals=_new_values(case, changes),
            outcomes=_outcomes(case, changes),
            cost=_cost(changes, request.prices),
            radius=findings.radius,
            reason_codes=codes,
            rules=None
            if request.rules is None
            else covering_rules(request.rules, network, point),
            points=points,
            points_against="best" if request.points is None else request.points.against,
            proved=_proved(findings),
            undecided=findings.undecided,
            is_cost=request.has_costs,
            has_counterfactuals=request.counterfactuals,
        )

    def _points_lost(
        self,
        case: Case,
        row: Mapping[str, Value],
        table: ReasonCodes | None,
        findings: _Findings,
    ) -> list[PointsLost] | None:
        """Return what features cost in points, if there is a scorecard, and time."""
        if self.request.points is None:
            return None
        try:
            case.judge.meter.spend()
        except BudgetExceededError:
            findings.undecided.append("which features cost most points")
            return None
        return self.request.points.lost(row, table or {})


def _explained_row(work: RowExplainer, row: _RowTask, meter: Meter) -> Explanation:
    return work.row(row, meter)


@contextmanager
def _time_share(meter: Meter, share: float) -> Iterator[None]:
    """Limit work to a share of the time that is left, if time is limited."""
    budget = meter.budget
    if budget.seconds is not None:
        spent = monotonic() - meter.started
        left = max(0.0, budget.seconds - spent)
        meter.budget = replace(
            budget, seconds=min(budget.seconds, spent + share * left)
        )
    try:
        yield
    finally:
        meter.budget = budget


def _note_undecided(findings: _Findings, request: Request) -> None:
    """Add a sentence for each part that is undecided."""
    reasons, changes, sentences = findings.reasons, findings.counterfactuals, []
    if not reasons.is_minimal:
        sentences.append("whether the reason needs all of its features")
    if request.smallest and not reasons.is_smallest:
        sentences.append(
            f"whether a smaller reason exists; it has at least {reasons.at_least} "
            f"features"
        )
    if len(reasons.found) < request.n_reasons and not reasons.is_every:
        sentences.append("whether more reasons exist")
    if not findings.is_widest:
        sentences.append("whether the reason holds for wider conditions")
    if changes is not None and not changes.is_cheapest:
        least = request.prices.amount(changes.at_least)
        if request.has_costs:
            sentences.append(
                f"whether a cheaper change flips the prediction; it costs at least "
                f"{least:g}"
            )
        else:
            needed = count(max(1, changes.at_least), "change")
            sentences.append(
                f"whether fewer changes flip the prediction; it takes at least {needed}"
            )
    if changes is not None and changes.found and not changes.is_every:
        is_full = len(changes.found) >= MOST_LISTED
        all_listed = f"all counterfactuals of this size; {MOST_LISTED:,} are listed"
        sentences.append(
            all_listed if is_full else "whether more counterfactuals of this size exist"
        )
    if changes is not None and not changes.is_nearest:
        sentences.append("whether closer numbers flip the prediction")
    findings.undecided = sentences + findings.undecided


def _proved(findings: _Findings) -> Proved:
    reasons, changes = findings.reasons, findings.counterfactuals
    return Proved(
        minimal=reasons.is_minimal,
        smallest=reasons.is_smallest,
        every_reason=reasons.is_every,
        widest=findings.is_widest,
        fewest=changes is not None and changes.is_cheapest,
        every_counterfactual=changes is not None and changes.is_every,
        nearest=changes is not None and changes.is_nearest,
    )


def _allowed_values(case: Case, blocks: Mapping[int, Block]) -> dict[str, Any]:
    """Return what a reason allows: a value, a pair of numbers, or a list of these."""
    allowed: dict[str, Any] = {}
    for index in sorted(blocks):
        feature, block = case.domain.features[index], blocks[index]
        parts: list[Value | Span] = []
        first = 0
        if isinstance(feature, Range):
            first = 1
            low, high = plain_number(block.low), plain_number(block.high)
            if block.values[0]:
                parts.append(low if low == high else (low, high))
        codes = np.flatnonzero(block.values[first:]).tolist()
        parts += [feature.values[first + code] for code in codes]
        allowed[feature.name] = parts[0] if len(parts) == 1 else parts
    return allowed


def _new_values(case: Case, changes: Counterfactuals | None) -> list[dict[str, Value]]:
    """Return the new values of the features that each counterfactual changes."""
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


def _outcomes(case: Case, changes: Counterfactuals | None) -> list[Value]:
    if changes is None or not changes.found:
        return []
    codes = np.array([point.codes for point in changes.found])
    numbers = np.array([point.numbers for point in changes.found])
    classes = case.judge.classes_of(codes, numbers)
    return [case.network.classes[index] for index in classes.tolist()]


def _cost(changes: Counterfactuals | None, prices: Prices) -> int | float | None:
    if changes is None or changes.cost is None:
        return None
    return prices.amount(changes.cost)


def covering_rules(
    rules: RuleList, network: Network, point: Point
) -> list[CoveringRule]:
    """Return the rules that cover a row; the first determines its prediction.

    Of a list only that one, because the rules below it do not apply to this row.
    """
    numbers = point.numbers[np.newaxis] if network.domain.has_ranges else None
    row = GivenRows(network.domain, point.codes[np.newaxis], numbers)
    columns = row.codes_in(rules.domain)[0] + rules.domain.offsets[:-1]
    covering = np.flatnonzero(rules.boxes[:, columns].all(axis=1)).tolist()
    covering = covering[:1] if rules.form == "list" else covering
    return [
        CoveringRule(
            rules.names[index],
            rules.classes[rules.answers[index]],
            f"{rules.names[index]}  {rules.rule_text(rules[index])}",
            index == covering[0],
        )
        for index in covering
    ]
