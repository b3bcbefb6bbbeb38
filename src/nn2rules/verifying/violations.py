"""The inputs that break a claim, as rules."""

import numpy as np
from numpy.typing import NDArray

from nn2rules.cover.effort import effort_of
from nn2rules.cover.rule_set import rule_set
from nn2rules.cover.runs import Work
from nn2rules.domain import Domain, box_sizes
from nn2rules.engine import Meter
from nn2rules.given_rows import GivenRows, with_rows
from nn2rules.rules import RuleList
from nn2rules.rules.rule import Facts
from nn2rules.text import unused
from nn2rules.verifying.tables import Judged

COVERED_INPUTS = 1 << 22
"""Up to so many inputs of a region there are rules."""

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
    columns = rows.distinct[0] + rows.domain.offsets[:-1]
    found = [int(rows.weights[box[columns].all(axis=1)].sum()) for box in boxes]
    return np.array(found, dtype=np.int64)


def _lifted(
    boxes: NDArray[np.bool_], judged: Judged, domain: Domain
) -> NDArray[np.bool_]:
    """Return boxes of the region as boxes of the domain."""
    lifted = np.zeros((len(boxes), int(domain.offsets[-1])), dtype=np.bool_)
    both = zip(domain.offsets, judged.listed, strict=False)
    lifted[:, np.concatenate([start + codes for start, codes in both])] = boxes
    return lifted
