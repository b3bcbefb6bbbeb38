"""From what was found of a claim to its verdict."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine import COVERED_INPUTS, Meter
from nn2rules.extraction import Work, effort_of, rule_set
from nn2rules.language import unused
from nn2rules.models import GivenRows, with_rows
from nn2rules.network import Network
from nn2rules.questions.verify.amounts import Amount
from nn2rules.questions.verify.nearest import Point
from nn2rules.questions.verify.pairs import Paired
from nn2rules.questions.verify.points import classes_of
from nn2rules.questions.verify.questions import Plain
from nn2rules.questions.verify.tables import Judged
from nn2rules.questions.verify.verdict import Verdict
from nn2rules.rules import Facts, RuleList
from nn2rules.space import Domain, Value, box_sizes, inside_each

_FEW = 1 << 15


def broken_rules(
    judged: Judged,
    domain: Domain,
    rows: GivenRows | None,
    *,
    seed: int,
    n_jobs: int | None,
) -> RuleList:
    """Return rules whose boxes hold just the inputs that break a claim."""
    sizes = judged.kinds.shape
    kinds = judged.kinds.ravel()
    used = np.flatnonzero(np.bincount(kinds, minlength=len(judged.ways) + 1)[1:]) + 1
    place_of = np.zeros(len(judged.ways) + 1, dtype=np.uint8)
    place_of[used] = np.arange(1, len(used) + 1)
    table, n_columns = place_of[kinds], int(domain.offsets[-1])
    boxes = np.zeros((0, n_columns), dtype=np.bool_)
    answers = np.zeros(0, dtype=np.int64)
    if len(used):
        level = 1 if table.size <= _FEW else 0
        work = Work(effort_of(level, table.size), seed, Meter(), n_jobs)
        wanted = range(1, len(used) + 1)
        found = rule_set(table, sizes, work, wanted=list(wanted), default=0)
        boxes = _lifted(found.boxes, judged, domain)
        answers = found.classes
    ways = [judged.ways[way - 1] for way in used]
    labels = (unused("holds", ways), *(ways or ["breaks"]))
    sizes_of = box_sizes(domain, boxes)
    order = np.argsort(-np.array(sizes_of, dtype=np.int64), kind="stable")
    if rows is not None:
        fitting = _fitting(boxes[order], rows)
        order = order[np.argsort(-fitting, kind="stable")]
    rules = RuleList.from_boxes(
        domain,
        boxes[order],
        answers[order],
        labels[0],
        labels,
        form="set",
        facts=[Facts(inputs=sizes_of[index]) for index in order.tolist()],
    )
    if rows is None:
        return rules
    unlabelled = GivenRows(rows.domain, rows.codes, rows.numbers)  # ways are no classes
    return with_rows(rules, unlabelled)


def _fitting(boxes: NDArray[np.bool_], rows: GivenRows) -> NDArray[np.int64]:
    """Count the rows in each box."""
    held = inside_each(rows.domain, boxes, rows.distinct[0])
    found = [int(rows.weights[is_held].sum()) for is_held in held]
    return np.array(found, dtype=np.int64)


def _lifted(
    boxes: NDArray[np.bool_], judged: Judged, domain: Domain
) -> NDArray[np.bool_]:
    """Return boxes of the region as boxes of the domain."""
    lifted = np.zeros((len(boxes), int(domain.offsets[-1])), dtype=np.bool_)
    both = zip(domain.offsets, judged.listed, strict=False)
    lifted[:, np.concatenate([start + codes for start, codes in both])] = boxes
    return lifted


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
