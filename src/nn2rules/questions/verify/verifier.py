"""Verify claims about one network: with a table, row by row, or by search."""

import time
from collections.abc import Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine import (
    COVERED_INPUTS,
    VERIFIED_INPUTS,
    Meter,
    Oracle,
    PairQuestion,
    compile_for,
    table_size,
    uses_table,
)
from nn2rules.errors import BudgetExceededError, OptionError, UndecidedError
from nn2rules.language import Region, Said, conditions_for, region_of
from nn2rules.models import GivenRows
from nn2rules.network import Network
from nn2rules.questions.claims import (
    Claim,
    Implies,
    IndependentOf,
    Monotonic,
    claim_text,
)
from nn2rules.questions.verify.by_search import Amount, amount_of, moved_near, search
from nn2rules.questions.verify.by_table import (
    JudgedInputs,
    TableMaker,
    check_region,
    judge_inputs,
    judge_pairs,
    nearest_violation,
    partner_of,
    violation_rules,
)
from nn2rules.questions.verify.pairs import (
    Partners,
    Point,
    Question,
    in_order,
    ordered_values,
    pair_question,
    way_of,
)
from nn2rules.questions.verify.result import Verdict
from nn2rules.questions.verify.single_inputs import (
    InputQuestion,
    classes_of,
    input_question,
    violations_at,
)
from nn2rules.space import Condition, Value

On = Literal["domain", "rows"]


@dataclass
class Findings:
    """What is known of a claim so far."""

    rows: NDArray[np.uint8] | None = None  # how each distinct row violates it
    counted: NDArray[np.bool_] | None = None  # whether the claim is about it
    judged: JudgedInputs | None = None
    points: Sequence[Point] = ()
    distance: int | None = None
    amount: Amount | None = None


def _verdict_of(
    verifier: "Verifier",
    text: str,
    question: Question,
    findings: Findings,
    meter: Meter,
    reason: str,
    *,
    is_done: bool,
) -> Verdict:
    """Return the verdict that follows from the findings."""
    rows = [_decoded(verifier.network, point) for point in findings.points]
    answers = [_answer(verifier.network, point) for point in findings.points]
    is_violated = len(findings.points) > 0
    fields: dict[str, Any] = {}
    if is_violated:
        is_one = len(rows) == 1
        fields["counterexample"] = rows[0] if is_one else tuple(rows)
        fields["prediction"] = answers[0] if is_one else tuple(answers)
        fields["distance"] = findings.distance
    ways = findings.judged.ways if findings.judged is not None else _ways(question)
    fields |= _counted_rows(verifier, findings, ways) | _counted(
        verifier, findings, ways
    )
    if (
        findings.judged is not None
        and findings.judged.violations.size <= COVERED_INPUTS
    ):
        fields["make_rules"] = partial(
            violation_rules,
            findings.judged,
            verifier.network.domain,
            verifier.rows,
            seed=0,
            n_jobs=verifier.tables.n_jobs,
        )
    status = "refuted" if is_violated else "proved" if is_done else "undecided"
    return Verdict(
        text,
        status,  # type: ignore[arg-type]
        on=verifier.on,
        domain=verifier.network.domain,
        reason="" if status != "undecided" else reason,
        boxes=meter.boxes,
        seconds=time.monotonic() - meter.started,
        **fields,
    )


def _counted_rows(
    verifier: "Verifier", findings: Findings, ways: Sequence[str]
) -> dict[str, Any]:
    if findings.rows is None or findings.counted is None or verifier.rows is None:
        return {}
    weights = verifier.rows.weights
    counts = {
        "rows": int(weights[findings.rows > 0].sum()),
        "total_rows": int(weights[findings.counted].sum()),
        "row_ways": _by_way(ways, findings.rows, weights),
    }
    if verifier.on == "rows":
        both = {"count": counts["rows"], "total": counts["total_rows"]}
        return counts | both | {"ways": counts["row_ways"]}
    return counts


def _counted(
    verifier: "Verifier", findings: Findings, ways: Sequence[str]
) -> dict[str, Any]:
    judged, amount = findings.judged, findings.amount
    if amount is not None:
        ends = {"at_least": amount.at_least, "at_most": amount.at_most}
        is_exact = amount.at_least == amount.at_most
        return {"count": amount.at_least if is_exact else None, **ends} | {
            "total": amount.total
        }
    if judged is None or verifier.on == "rows":
        return {}
    violations = judged.violations.ravel()
    counts = {
        "count": int(np.count_nonzero(violations)),
        "at_least": int(np.count_nonzero(violations)),
        "at_most": int(np.count_nonzero(violations)),
        "total": int(np.count_nonzero(judged.possible)),
        "ways": _by_way(ways, violations, None),
    }
    if judged.contexts is not None:
        both = zip(("contexts", "total_contexts"), judged.contexts, strict=True)
        counts |= dict(both)
    return counts


def _decoded(network: Network, point: Point) -> dict[str, Value]:
    codes, numbers = point
    [row] = network.domain.decode(codes[np.newaxis], numbers[np.newaxis])
    return row


def _answer(network: Network, point: Point) -> Value:
    codes, numbers = point
    classes = classes_of(network, codes[np.newaxis], numbers[np.newaxis])
    return network.classes[int(classes[0])]


def _ways(question: Question) -> tuple[str, ...]:
    return question.ways if isinstance(question, InputQuestion) else (way_of(question),)


def _by_way(
    ways: Sequence[str],
    violations: NDArray[np.uint8],
    weights: NDArray[np.int64] | None,
) -> dict[str, int]:
    """Count violations by the way of violation, the most common first."""
    counts = np.bincount(violations, weights, minlength=len(ways) + 1)[1:]
    order = np.argsort(-counts, kind="stable")
    return {ways[way]: int(counts[way]) for way in order.tolist() if counts[way]}


Engine = Literal["auto", "table", "search"]


class Verifier:
    """Verifies claims about one network, on the same inputs and rows."""

    def __init__(
        self,
        network: Network,
        rows: GivenRows | None,
        *,
        within: Said,
        impossible: Any,
        on: On,
        engine: Engine,
        tables: TableMaker,
        counts: bool = False,
    ) -> None:
        self.network, self.rows, self.on, self.engine = network, rows, on, engine
        self._within = conditions_for(network.domain, within, "within")
        self._impossible, self.tables, self._counts = impossible, tables, counts

    @property
    def has_table(self) -> bool:
        """Whether every input is evaluated, in a table."""
        return self._has_table(self._region())

    def apart(self, meter: Meter) -> "Verifier":
        """Return a verifier that can work beside others."""
        verifier = copy(self)
        verifier.tables = TableMaker(meter, 1)
        return verifier

    def prepared(self, claim: Claim) -> tuple[str, Question, Region]:
        """Return a claim in words, its question and region; refuse unknown names."""
        domain, classes = self.network.domain, self.network.classes
        if isinstance(claim, Monotonic) and claim.toward is None and len(classes) == 2:
            claim = replace(claim, toward=classes[1])  # so that the verdict names it
        text = claim_text(claim, domain)
        question: Question
        if isinstance(claim, IndependentOf | Monotonic):
            question = pair_question(claim, self.network)
            extra = ordered_values(question)
        else:
            question, extra = input_question(claim, self.network), ()
        stated = claim.conditions if isinstance(claim, Implies) else claim.within
        claim_conditions = conditions_for(domain, stated, "within")
        region = self._region(claim_conditions, extra)
        return text, question, region

    def verdict(self, claim: Claim, meter: Meter) -> Verdict:
        """Prove or refute one claim within the budget of a meter."""
        self.tables.meter = meter
        text, question, region = self.prepared(claim)
        findings, reason, is_done = Findings(), "", True
        try:
            self._ask(question, region, findings, meter)
        except (BudgetExceededError, UndecidedError) as error:
            reason, is_done = str(error).rstrip("."), False
        is_known = is_done or len(findings.points)
        if (
            self._counts
            and is_known
            and self.on == "domain"
            and findings.judged is None
        ):
            findings.amount = amount_of(
                question,
                region,
                meter,
                is_proved=not len(findings.points),
                n_jobs=self.tables.n_jobs,
            )
        return _verdict_of(
            self, text, question, findings, meter, reason, is_done=is_done
        )

    def _region(self, *several: tuple[Condition, ...]) -> Region:
        conditions = [*several, self._within]
        region = region_of(self.network.domain, conditions, self._impossible)
        check_region(region)
        return region

    def _ask(
        self,
        question: Question,
        region: Region,
        findings: Findings,
        meter: Meter,
    ) -> None:
        if self._has_table(region):
            self._by_table(question, region, findings)
            return
        if region.is_impossible is not None:
            raise OptionError(
                "impossible: a function needs a table of all inputs, and there are too "
                "many of them; give a list of dicts or texts instead"
            )
        compile_for(meter, "search", "pairs")
        if self.on == "rows":
            self._by_rows(question, region, findings, meter)
        elif self.rows is not None:
            with suppress(BudgetExceededError, UndecidedError), meter.leaving(0.5):
                self._by_rows(question, region, findings, meter)
        if self.on == "rows" or len(findings.points):
            return
        findings.points = points = search(question, region, meter)
        if points and self.rows is not None:
            self._move(question, region, findings, meter)

    def _has_table(self, region: Region) -> bool:
        listed, memory = region.listed, self.tables.meter.budget.memory
        n_inputs = None if listed is None else table_size(self.network, listed)
        if self.engine == "table" and n_inputs is None:
            raise OptionError(
                "engine 'table': the inputs of this region cannot be listed; use "
                "engine='search'"
            )
        return uses_table(self.engine, n_inputs, VERIFIED_INPUTS, memory)

    def _by_table(self, question: Question, region: Region, findings: Findings) -> None:
        if isinstance(question, InputQuestion):
            judged = judge_inputs(question, self.network, region, self.tables)
        else:
            judged = judge_pairs(question, region, self.tables)
        findings.judged = judged
        violations = judged.violations.ravel()
        place: int | None = None
        if self.rows is not None:
            codes, _ = self.rows.distinct
            places = judged.places_of(codes)
            findings.counted = places >= 0
            findings.rows = np.where(places >= 0, violations[places], np.uint8(0))
            first = self._first_row(findings.rows)
            if first is not None:
                place, findings.distance = int(places[first]), 0
        if place is None and self.on == "domain" and violations.any():
            place = int(np.argmax(violations > 0))
            if self.rows is not None and len(self.rows):
                place, findings.distance = nearest_violation(
                    judged, self.rows.distinct[0]
                )
        if place is not None:
            findings.points = self._points(question, judged, place)

    def _distinct_rows(self) -> Point:
        """Return the codes and the numbers of the distinct rows."""
        assert self.rows is not None, "asked only with rows"
        codes, numbers = self.rows.distinct
        return codes, np.ones(codes.shape) if numbers is None else numbers

    def _first_row(self, violations: NDArray[np.uint8]) -> int | None:
        """Return the first of the distinct rows that violates the claim."""
        assert self.rows is not None, "asked only with rows"
        broken = np.flatnonzero(violations[self.rows.places] > 0)
        return int(self.rows.places[broken[0]]) if len(broken) else None

    def _points(
        self, question: Question, judged: JudgedInputs, place: int
    ) -> list[Point]:
        """Return the input at a position of the table, and the other one of a pair."""
        codes = judged.codes_at(np.array([place]))[0]
        ones = np.ones(len(codes))
        if isinstance(question, InputQuestion):
            return [(codes, ones)]
        other = partner_of(question, judged, place)
        partner = judged.codes_at(np.array([other]))[0]
        return in_order(question, [(codes, ones), (partner, ones)])

    def _by_rows(
        self,
        question: Question,
        region: Region,
        findings: Findings,
        meter: Meter,
    ) -> None:
        """Judge each row; the first that violates the claim is the counterexample."""
        assert self.rows is not None, "asked only with rows"
        codes, amounts = self._distinct_rows()
        counted = region.holds(codes, amounts)
        violations = np.zeros(len(codes), dtype=np.uint8)
        partners: dict[int, Point] = {}
        if isinstance(question, InputQuestion):
            violations[counted] = violations_at(
                question, codes[counted], amounts[counted]
            )
        else:
            answers = self.rows.answers(self.network)
            finder = Partners(question, region, Oracle(self.network, meter))
            for place in np.flatnonzero(counted).tolist():
                meter.spend()
                point = codes[place], amounts[place]
                partner = finder.partner(*point, int(answers[place]))
                if partner is not None:
                    violations[place], partners[place] = 1, partner
        findings.counted, findings.rows = counted, violations
        first = self._first_row(violations)
        if first is not None:
            findings.distance = 0
            findings.points = [(codes[first], amounts[first])]
            if isinstance(question, PairQuestion):
                both = [*findings.points, partners[first]]
                findings.points = in_order(question, both)

    def _move(
        self,
        question: Question,
        region: Region,
        findings: Findings,
        meter: Meter,
    ) -> None:
        """Move the counterexample of a search towards the nearest row."""
        codes, amounts = self._distinct_rows()
        is_paired = isinstance(question, PairQuestion)
        fixed = question.features if isinstance(question, PairQuestion) else ()

        def is_violated(points: Sequence[Point]) -> bool:
            meter.spend()
            point_codes = np.stack([point[0] for point in points])
            values = np.stack([point[1] for point in points])
            if not region.holds(point_codes, values).all():
                return False
            if isinstance(question, InputQuestion):
                return bool(violations_at(question, point_codes, values).all())
            classes = classes_of(self.network, point_codes, values).tolist()
            return question.is_violated_by(*classes)

        if len(codes):
            findings.points, findings.distance = moved_near(
                findings.points, (codes, amounts), is_violated, fixed
            )
            assert len(findings.points) == 1 + is_paired, "all of them move together"
