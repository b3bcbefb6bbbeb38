"""Ask one claim after another of one network: by a table, row by row, or by search."""

import math
import time
from collections.abc import Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine import (
    COVERED_INPUTS,
    VERIFIED_INPUTS,
    Meter,
    Oracle,
    array_obstacle,
    compile_for,
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
    Monotone,
    claim_text,
)
from nn2rules.questions.verify.by_search import Amount, amount_of, moved_near, search
from nn2rules.questions.verify.by_table import (
    Judged,
    Tables,
    broken_rules,
    check_region,
    judge_pairs,
    judge_plain,
    nearest_broken,
    partner_of,
)
from nn2rules.questions.verify.pairs import (
    Paired,
    Partners,
    Point,
    breaks,
    in_order,
    paired_of,
    plain_only,
)
from nn2rules.questions.verify.result import Verdict
from nn2rules.questions.verify.single_inputs import (
    Plain,
    classes_of,
    judged_one_by_one,
    plain_of,
)
from nn2rules.space import Condition, Value

On = Literal["domain", "rows"]


@dataclass(frozen=True)
class Asking:
    """Of what claims are asked."""

    network: Network
    rows: GivenRows | None
    on: On
    n_jobs: int | None


@dataclass
class Asked:
    """What was found of a claim so far."""

    rows: NDArray[np.uint8] | None = None  # of each different row how it is broken
    counted: NDArray[np.bool_] | None = None  # and whether the claim is about it
    judged: Judged | None = None
    points: Sequence[Point] = ()
    distance: int | None = None
    amount: Amount | None = None


def told(
    asking: Asking,
    text: str,
    question: Plain | Paired,
    asked: Asked,
    meter: Meter,
    reason: str,
    *,
    is_done: bool,
) -> Verdict:
    """Put together what was found."""
    rows = [_decoded(asking.network, point) for point in asked.points]
    answers = [_answer(asking.network, point) for point in asked.points]
    is_broken = len(asked.points) > 0
    fields: dict[str, Any] = {}
    if is_broken:
        is_one = len(rows) == 1
        fields["counterexample"] = rows[0] if is_one else tuple(rows)
        fields["answer"] = answers[0] if is_one else tuple(answers)
        fields["distance"] = asked.distance
    ways = asked.judged.ways if asked.judged is not None else _ways(question)
    fields |= _counted_rows(asking, asked, ways) | _counted(asking, asked, ways)
    if asked.judged is not None and asked.judged.kinds.size <= COVERED_INPUTS:
        fields["make_rules"] = partial(
            broken_rules,
            asked.judged,
            asking.network.domain,
            asking.rows,
            seed=0,
            n_jobs=asking.n_jobs,
        )
    status = "refuted" if is_broken else "proved" if is_done else "open"
    return Verdict(
        text,
        status,  # type: ignore[arg-type]
        on=asking.on,
        domain=asking.network.domain,
        reason="" if status != "open" else reason,
        boxes=meter.boxes,
        seconds=time.monotonic() - meter.started,
        **fields,
    )


def _counted_rows(asking: Asking, asked: Asked, ways: Sequence[str]) -> dict[str, Any]:
    if asked.rows is None or asked.counted is None or asking.rows is None:
        return {}
    weights = asking.rows.weights
    found = {
        "rows": int(weights[asked.rows > 0].sum()),
        "total_rows": int(weights[asked.counted].sum()),
        "row_ways": _by_way(ways, asked.rows, weights),
    }
    if asking.on == "rows":
        both = {"count": found["rows"], "total": found["total_rows"]}
        return found | both | {"ways": found["row_ways"]}
    return found


def _counted(asking: Asking, asked: Asked, ways: Sequence[str]) -> dict[str, Any]:
    judged, amount = asked.judged, asked.amount
    if amount is not None:
        ends = {"at_least": amount.least, "at_most": amount.most}
        is_exact = amount.least == amount.most
        return {"count": amount.least if is_exact else None, **ends} | {
            "total": amount.total
        }
    if judged is None or asking.on == "rows":
        return {}
    kinds = judged.kinds.ravel()
    found = {
        "count": int(np.count_nonzero(kinds)),
        "at_least": int(np.count_nonzero(kinds)),
        "at_most": int(np.count_nonzero(kinds)),
        "total": int(np.count_nonzero(judged.possible)),
        "ways": _by_way(ways, kinds, None),
    }
    if judged.contexts is not None:
        both = zip(("contexts", "total_contexts"), judged.contexts, strict=True)
        found |= dict(both)
    return found


def _decoded(network: Network, point: Point) -> dict[str, Value]:
    codes, numbers = point
    [row] = network.domain.decode(codes[np.newaxis], numbers[np.newaxis])
    return row


def _answer(network: Network, point: Point) -> Value:
    codes, numbers = point
    found = classes_of(network, codes[np.newaxis], numbers[np.newaxis])
    return network.classes[int(found[0])]


def _ways(question: Plain | Paired) -> tuple[str, ...]:
    return question.ways if isinstance(question, Plain) else (question.way,)


def _by_way(
    ways: Sequence[str],
    kinds: NDArray[np.uint8],
    weights: NDArray[np.int64] | None,
) -> dict[str, int]:
    """Count by the way in which the claim is broken, the most common first."""
    counts = np.bincount(kinds, weights, minlength=len(ways) + 1)[1:]
    order = np.argsort(-counts, kind="stable")
    return {ways[way]: int(counts[way]) for way in order.tolist() if counts[way]}


Engine = Literal["auto", "table", "search"]


class Asker:
    """Asks claims of one network, about the same inputs and rows."""

    def __init__(
        self,
        network: Network,
        rows: GivenRows | None,
        *,
        within: Said,
        impossible: Any,
        on: On,
        engine: Engine,
        tables: Tables,
        counts: bool = False,
    ) -> None:
        self.network, self.rows, self.on, self.engine = network, rows, on, engine
        self._within = conditions_for(network.domain, within, "within")
        self._impossible, self.tables, self._counts = impossible, tables, counts

    @property
    def has_table(self) -> bool:
        """Whether claims about all inputs are judged on each of them."""
        return self._has_table(self._region())

    def apart(self, meter: Meter) -> "Asker":
        """Return one for a question that is asked beside others."""
        own = copy(self)
        own.tables = Tables(meter, 1)
        return own

    def prepared(self, claim: Claim) -> tuple[str, Plain | Paired, Region]:
        """Return a claim in words, what it asks and where; refuse unknown names."""
        domain = self.network.domain
        text = claim_text(claim, domain)
        question: Plain | Paired
        if isinstance(claim, IndependentOf | Monotone):
            question = paired_of(claim, self.network)
            extra = plain_only(question)
        else:
            question, extra = plain_of(claim, self.network), ()
        said = claim.conditions if isinstance(claim, Implies) else claim.within
        own = conditions_for(domain, said, "within")
        region = self._region(own, extra)
        return text, question, region

    def verdict(self, claim: Claim, meter: Meter) -> Verdict:
        """Prove or refute one claim, in the budget of a meter."""
        self.tables.meter = meter
        text, question, region = self.prepared(claim)
        asked, reason, is_done = Asked(), "", True
        try:
            self._ask(question, region, asked, meter)
        except (BudgetExceededError, UndecidedError) as error:
            reason, is_done = str(error).rstrip("."), False
        is_known = is_done or len(asked.points)
        if self._counts and is_known and self.on == "domain" and asked.judged is None:
            asked.amount = amount_of(
                question,
                region,
                meter,
                is_proved=not len(asked.points),
                n_jobs=self.tables.n_jobs,
            )
        asking = Asking(self.network, self.rows, self.on, self.tables.n_jobs)
        return told(asking, text, question, asked, meter, reason, is_done=is_done)

    def _region(self, *own: tuple[Condition, ...]) -> Region:
        conditions = [*own, self._within]
        region = region_of(self.network.domain, conditions, self._impossible)
        check_region(region)
        return region

    def _ask(
        self, question: Plain | Paired, region: Region, asked: Asked, meter: Meter
    ) -> None:
        if self._has_table(region):
            self._by_table(question, region, asked)
            return
        if region.is_impossible is not None:
            raise OptionError(
                "impossible: a function of rows is asked about every input of a table, "
                "and these are too many; give boxes, as dicts or texts"
            )
        compile_for(meter, "search", "pairs")
        if self.on == "rows":
            self._by_rows(question, region, asked, meter)
        elif self.rows is not None:
            with suppress(BudgetExceededError, UndecidedError), meter.leaving(0.5):
                self._by_rows(question, region, asked, meter)
        if self.on == "rows" or len(asked.points):
            return
        asked.points = found = search(question, region, meter)
        if found and self.rows is not None:
            self._move(question, region, asked, meter)

    def _has_table(self, region: Region) -> bool:
        if self.engine == "search":
            return False
        listed = region.listed
        fitting = listed is not None and array_obstacle(self.network) is None
        if self.engine == "table" and not fitting:
            raise OptionError(
                "engine 'table': the inputs of this region cannot be listed; use "
                "'search'"
            )
        if listed is None or not fitting:
            return False
        n_inputs, memory = math.prod(map(len, listed)), self.tables.meter.budget.memory
        is_table = uses_table(self.engine, n_inputs, VERIFIED_INPUTS, memory)
        return is_table and n_inputs <= memory

    def _by_table(self, question: Plain | Paired, region: Region, asked: Asked) -> None:
        if isinstance(question, Plain):
            judged = judge_plain(question, self.network, region, self.tables)
        else:
            judged = judge_pairs(question, region, self.tables)
        asked.judged = judged
        kinds = judged.kinds.ravel()
        place: int | None = None
        if self.rows is not None:
            codes, _ = self.rows.distinct
            places = judged.places_of(codes)
            asked.counted = places >= 0
            asked.rows = np.where(places >= 0, kinds[places], np.uint8(0))
            first = self._first_row(asked.rows)
            if first is not None:
                place, asked.distance = int(places[first]), 0
        if place is None and self.on == "domain" and kinds.any():
            place = int(np.argmax(kinds > 0))
            if self.rows is not None and len(self.rows):
                place, asked.distance = nearest_broken(judged, self.rows.distinct[0])
        if place is not None:
            asked.points = self._points(question, judged, place)

    def _first_row(self, kinds: NDArray[np.uint8]) -> int | None:
        """Return which of the different rows is the first to break the claim."""
        assert self.rows is not None, "asked only with rows"
        broken = np.flatnonzero(kinds[self.rows.places] > 0)
        return int(self.rows.places[broken[0]]) if len(broken) else None

    def _points(
        self, question: Plain | Paired, judged: Judged, place: int
    ) -> list[Point]:
        """Return the input at a place of a table and, of two, the other one."""
        codes = judged.codes_at(np.array([place]))[0]
        ones = np.ones(len(codes))
        if isinstance(question, Plain):
            return [(codes, ones)]
        other = partner_of(question, judged, place)
        partner = judged.codes_at(np.array([other]))[0]
        return in_order(question, [(codes, ones), (partner, ones)])

    def _by_rows(
        self, question: Plain | Paired, region: Region, asked: Asked, meter: Meter
    ) -> None:
        """Judge each row; the first that breaks the claim is the counterexample."""
        assert self.rows is not None, "asked only with rows"
        codes, numbers = self.rows.distinct
        counted = region.holds(codes, numbers)
        kinds = np.zeros(len(codes), dtype=np.uint8)
        amounts = np.ones(codes.shape) if numbers is None else numbers
        partners: dict[int, Point] = {}
        if isinstance(question, Plain):
            kinds[counted] = judged_one_by_one(
                question, codes[counted], amounts[counted]
            )
        else:
            answers = self.rows.answers(self.network)
            finder = Partners(question, region, Oracle(self.network, meter))
            for place in np.flatnonzero(counted).tolist():
                meter.spend()
                own = codes[place], amounts[place]
                partner = finder.partner(*own, int(answers[place]))
                if partner is not None:
                    kinds[place], partners[place] = 1, partner
        asked.counted, asked.rows = counted, kinds
        first = self._first_row(kinds)
        if first is not None:
            asked.distance = 0
            asked.points = [(codes[first], amounts[first])]
            if isinstance(question, Paired):
                both = [*asked.points, partners[first]]
                asked.points = in_order(question, both)

    def _move(
        self, question: Plain | Paired, region: Region, asked: Asked, meter: Meter
    ) -> None:
        """Move what a search found toward the nearest row."""
        assert self.rows is not None, "asked only with rows"
        codes, numbers = self.rows.distinct
        amounts = np.ones(codes.shape) if numbers is None else numbers
        is_paired = isinstance(question, Paired)
        fixed = question.features if isinstance(question, Paired) else ()

        def is_broken(points: Sequence[Point]) -> bool:
            meter.spend()
            own = np.stack([point[0] for point in points])
            values = np.stack([point[1] for point in points])
            if not region.holds(own, values).all():
                return False
            if isinstance(question, Plain):
                return bool(judged_one_by_one(question, own, values).all())
            found = classes_of(self.network, own, values).tolist()
            return breaks(question, found)

        if len(codes):
            asked.points, asked.distance = moved_near(
                asked.points, (codes, amounts), is_broken, fixed
            )
            assert len(asked.points) == 1 + is_paired, "all of them move together"
