"""One question, whether every input of a box has a class, and who answers it.

Two engines do, and agree: `Table` looks at every input of a domain that fits
in memory; `Oracle` searches domains of any size with certified bounds. Counting and
score ranges are made of the same parts::

    judge     who answers, a table or a search, and the limits that decide it
    table     the class of every input
    oracle    proof or counterexample, by branch and bound
    halving   the class all over a box, or else its halves
    counting  how many inputs each class has
    regions   the linear regions of networks that have few of them
    ranges    the smallest and the largest score of a box
    flat      networks as the kernels want them, with certified error bounds
    budget    limits, and progress
"""

from nn2rules.engine.answer import Answer, as_boxes, check_box
from nn2rules.engine.by_regions import find_classes, find_pair
from nn2rules.engine.counting import Counts, count_classes
from nn2rules.engine.flat import (
    boxes_at_once,
    claim,
    lead_of,
    points,
    room,
    stack_of,
    workspace,
)
from nn2rules.engine.halving import Halving
from nn2rules.engine.judge import (
    COMPARED_INPUTS,
    COVERED_INPUTS,
    EXPLAINED_INPUTS,
    KEPT_INPUTS,
    LISTED_INPUTS,
    SET_INPUTS,
    SHOWN_INPUTS,
    VERIFIED_INPUTS,
    Judge,
    Judgement,
    Point,
    SearchJudge,
    TableJudge,
    check_engine,
    compile_for,
    is_tabled,
    judge_of,
    listed_inputs,
    table_of,
)
from nn2rules.engine.limits import Budget, Meter, Pace, Progress, Stop, interruptible
from nn2rules.engine.progress import Bar, Lines, Shown, teller
from nn2rules.engine.reaching import find_class, find_twins
from nn2rules.engine.region_programs import Settled
from nn2rules.engine.regions import (
    MOST_REGIONS,
    Affine,
    Halfspace,
    LinearRegion,
    LinearRegions,
    linear_regions,
    piecewise_linear_obstacle,
)
from nn2rules.engine.score_ranges import ScoreRange, outwards, score_range
from nn2rules.engine.search import Oracle, box_of
from nn2rules.engine.session import closing_bar, session
from nn2rules.engine.table import (
    DONT_CARE,
    MOST_CLASSES,
    Table,
    array_obstacle,
    build_table,
    fits,
    fragile_margins,
    settle_codes,
    table_obstacle,
)

__all__ = [
    "COMPARED_INPUTS",
    "COVERED_INPUTS",
    "DONT_CARE",
    "EXPLAINED_INPUTS",
    "KEPT_INPUTS",
    "LISTED_INPUTS",
    "MOST_CLASSES",
    "MOST_REGIONS",
    "SET_INPUTS",
    "SHOWN_INPUTS",
    "VERIFIED_INPUTS",
    "Affine",
    "Answer",
    "Bar",
    "Budget",
    "Counts",
    "Halfspace",
    "Halving",
    "Judge",
    "Judgement",
    "LinearRegion",
    "LinearRegions",
    "Lines",
    "Meter",
    "Oracle",
    "Pace",
    "Point",
    "Progress",
    "ScoreRange",
    "SearchJudge",
    "Settled",
    "Shown",
    "Stop",
    "Table",
    "TableJudge",
    "array_obstacle",
    "as_boxes",
    "box_of",
    "boxes_at_once",
    "build_table",
    "check_box",
    "check_engine",
    "claim",
    "closing_bar",
    "compile_for",
    "count_classes",
    "find_class",
    "find_classes",
    "find_pair",
    "find_twins",
    "fits",
    "fragile_margins",
    "interruptible",
    "is_tabled",
    "judge_of",
    "lead_of",
    "linear_regions",
    "listed_inputs",
    "outwards",
    "piecewise_linear_obstacle",
    "points",
    "room",
    "score_range",
    "session",
    "settle_codes",
    "stack_of",
    "table_obstacle",
    "table_of",
    "teller",
    "workspace",
]
