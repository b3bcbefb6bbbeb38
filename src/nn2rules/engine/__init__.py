"""Does every input of a box get this class? Proof or counterexample.

There are three engines, which agree: a table of every input (`table`), branch and bound
with certified bounds (`search`, with `borders`, `exact_boxes`, `pieces` and `simplex`
where two classes tie), and linear programs on the linear regions of networks that have
few (`regions`, `by_regions`, `region_programs`, `linear_programs`). `which_engine`
chooses between them; `judges` and `beyond_tables` let them take turns. `reaching`,
`counting`, `pair_questions`, `two_networks` and `score_ranges` ask related questions.

`flat` has networks as arrays for the kernels, with error bounds, and
`proof_or_counterexample` the engines' answer and checks of what they are asked.
`limits`, `progress` and `parallel` are about time and workers. Imports `network`,
`language` and `space`. The kernels are for `extraction`, too.
"""

from nn2rules.engine.beyond_tables import settle_class, settle_pair
from nn2rules.engine.by_regions import find_classes, find_pair
from nn2rules.engine.counting import Counts, count_classes
from nn2rules.engine.flat import (
    boxes_per_check,
    claim,
    empty_boxes,
    empty_inputs,
    empty_stack,
    lead_of,
    workspace,
)
from nn2rules.engine.judges import (
    Judge,
    Judgement,
    Point,
    SearchJudge,
    TableJudge,
    judge_of,
)
from nn2rules.engine.limits import Budget, Meter, Pace, Progress, Stop
from nn2rules.engine.pair_questions import PairQuestion, holds_by_weights
from nn2rules.engine.progress import (
    LogProgress,
    ProgressOption,
    TerminalProgress,
    closing_progress,
    interruptible,
    progress_callback,
    session,
)
from nn2rules.engine.proof_or_counterexample import Answer, as_boxes, check_box
from nn2rules.engine.reaching import find_class, find_twins
from nn2rules.engine.region_programs import Settled
from nn2rules.engine.regions import (
    MOST_REGIONS,
    Halfspace,
    LinearRegion,
    LinearRegions,
    linear_regions,
    piecewise_linear_obstacle,
)
from nn2rules.engine.score_ranges import (
    ScoreRange,
    exact_score_range,
    score_range,
    widened,
)
from nn2rules.engine.search import Halving, Oracle, box_of
from nn2rules.engine.table import (
    DONT_CARE,
    MOST_CLASSES,
    Table,
    array_obstacle,
    build_table,
    exact_class,
    fits_in_memory,
    fragile_margins,
    table_obstacle,
)
from nn2rules.engine.two_networks import find_difference
from nn2rules.engine.which_engine import (
    COMPARED_BOXES,
    COMPARED_BRIEFLY,
    COMPARED_INPUTS,
    COUNTED_NUMBERS,
    COVERED_INPUTS,
    EXPLAINED_INPUTS,
    KEPT_INPUTS,
    REGION_SHARE,
    ROW_LIST_INPUTS,
    ROW_SET_INPUTS,
    SHOWN_INPUTS,
    VERIFIED_INPUTS,
    check_engine,
    classes_of_listed,
    compile_for,
    engine_for,
    network_of_listed,
    table_of,
    table_size,
    tiny_network,
    uses_table,
)

__all__ = [
    "COMPARED_BOXES",
    "COMPARED_BRIEFLY",
    "COMPARED_INPUTS",
    "COUNTED_NUMBERS",
    "COVERED_INPUTS",
    "DONT_CARE",
    "EXPLAINED_INPUTS",
    "KEPT_INPUTS",
    "MOST_CLASSES",
    "MOST_REGIONS",
    "REGION_SHARE",
    "ROW_LIST_INPUTS",
    "ROW_SET_INPUTS",
    "SHOWN_INPUTS",
    "VERIFIED_INPUTS",
    "Answer",
    "Budget",
    "Counts",
    "Halfspace",
    "Halving",
    "Judge",
    "Judgement",
    "LinearRegion",
    "LinearRegions",
    "LogProgress",
    "Meter",
    "Oracle",
    "Pace",
    "PairQuestion",
    "Point",
    "Progress",
    "ProgressOption",
    "ScoreRange",
    "SearchJudge",
    "Settled",
    "Stop",
    "Table",
    "TableJudge",
    "TerminalProgress",
    "array_obstacle",
    "as_boxes",
    "box_of",
    "boxes_per_check",
    "build_table",
    "check_box",
    "check_engine",
    "claim",
    "classes_of_listed",
    "closing_progress",
    "compile_for",
    "count_classes",
    "empty_boxes",
    "empty_inputs",
    "empty_stack",
    "engine_for",
    "exact_class",
    "exact_score_range",
    "find_class",
    "find_classes",
    "find_difference",
    "find_pair",
    "find_twins",
    "fits_in_memory",
    "fragile_margins",
    "holds_by_weights",
    "interruptible",
    "judge_of",
    "lead_of",
    "linear_regions",
    "network_of_listed",
    "piecewise_linear_obstacle",
    "progress_callback",
    "score_range",
    "session",
    "settle_class",
    "settle_pair",
    "table_obstacle",
    "table_of",
    "table_size",
    "tiny_network",
    "uses_table",
    "widened",
    "workspace",
]
