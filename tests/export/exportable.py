"""Rules to export, chosen to hurt, and rows for them: on the domain and off it."""

import math
from itertools import product
from typing import Any

import numpy as np
from hypothesis import strategies as st

from nn2rules import Domain, Feature, RuleList
from nn2rules.export.program import Program
from nn2rules.export.vectors import examples, unknown_cells
from nn2rules.space import Range
from nn2rules.space.values import Value
from strategies import AWKWARD_TEXTS

HOSTILE_TEXTS = [
    *AWKWARD_TEXTS,
    "=cmd|' /C calc'!A0",
    "+1+1",
    "-2+3",
    "@SUM(A1)",
    "</script><script>alert(1)</script>",
    "<!--",
    "]]>",
    "&amp;",
    "%s %d %(x)s {0} {x}",
    "100%",
    "$$",
    "${x}",
    "`tick`",
    "'; DROP TABLE cases; --",
    '"',
    "''",
    "\\",
    "\\'",
    "/* */",
    "-- comment",
    "#",
    "select",
    "class",
    "lambda",
    "null",
    "NULL",
    "nan",
    "inf",
    "1e5",
    "007",
    "\r",
    "\r\n",
    "trailing ",
    " leading",
    "ÄÖ\u00a0ß",
    "\u200f\u05d0\u05d1",
    "x" * 300,
    "_",
    "%",
    "?",
    ":a",
    "a.b",
    "a;b",
    "a|b",
    "[a]",
    "~a",
    "^a_{b}$",
]

Keep = Any
"""A test of texts: which of them an engine can hold at all."""


def texts(keep: Keep) -> st.SearchStrategy[str]:
    """Texts that an engine can hold."""
    free = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
    return st.one_of(st.sampled_from(HOSTILE_TEXTS), free).filter(keep)


_NUMBERS = [-2.5, -1, 0, 0.1, 0.5, 1, 2, 1e-300, 0.30000000000000004, 1e16, 2**53, 7]
_EDGES = [-1e300, -2.5, -1, 0, 5e-324, 0.1, 0.1 + 0.2, 1, 25, 40.5, 1e15, 1.7e308]


@st.composite
def features(draw: st.DrawFn, name: str, keep: Keep) -> Feature:
    """Draw a feature of any kind that a column can be."""
    kind = draw(
        st.sampled_from(["words", "numbers", "truth", "bins", "range", "groups"])
    )
    missing = draw(st.booleans())
    if kind == "truth":
        return Feature(name, (False, True, *([None] if missing else [])))
    if kind == "numbers":
        numbers = draw(
            st.lists(st.sampled_from(_NUMBERS), min_size=1, max_size=4, unique=True)
        )
        values = sorted(numbers)
        return Feature(
            name, (*values, *([None] if missing else [])), ordered=draw(st.booleans())
        )
    if kind == "bins":
        whole = draw(st.booleans())
        pool = [-3, 0, 1, 18, 25, 40] if whole else _EDGES
        edges = sorted(
            draw(st.lists(st.sampled_from(pool), min_size=1, max_size=3, unique=True))
        )
        return Feature.bins(name, edges, missing=missing, whole=whole)
    if kind == "range":
        whole = draw(st.booleans())
        special = draw(st.sampled_from([[], [999], [999, -1]]))
        low, high = (
            (17, 90) if whole else draw(st.sampled_from([(0.1, 1.3), (-0.5, 200)]))
        )
        return Feature.real(
            name, low, high, whole=whole, special=special, missing=missing
        )
    return draw(worded(name, keep, missing, is_grouped=kind == "groups"))


@st.composite
def worded(
    draw: st.DrawFn, name: str, keep: Keep, missing: bool, is_grouped: bool
) -> Feature:
    """Draw a feature of words, some with a value for others, some in groups."""
    words = draw(
        st.lists(
            texts(lambda t: keep(t) and t != "missing"),
            min_size=2,
            max_size=5,
            unique=True,
        )
    )
    has_other = draw(st.booleans())
    if is_grouped:
        groups = [words[:2], *([word] for word in words[2:])]
        if missing and draw(st.booleans()):
            groups[0] = [*groups[0], None]
            missing = False
        try:
            return Feature.grouped(
                name, groups, other=0 if has_other else None, missing=missing
            )
        except ValueError:  # a name that a group cannot have
            return Feature(name, tuple(words))
    other = words[-1] if has_other else None
    return Feature(name, (*words, *([None] if missing else [])), other=other)


def anything(_text: str) -> bool:
    """Keep every text."""
    return True


_CLASSES = [
    ("no", "yes"),
    (0, 1),
    (False, True),
    ("a", "b", "c"),
    (1.5, -2, 10),
    (1, "one"),
]


@st.composite
def exportable(draw: st.DrawFn, keep: Keep = anything, max_rules: int = 6) -> RuleList:
    """Draw rules over columns of one type each, with names and values that hurt."""
    names = draw(st.lists(texts(keep), min_size=1, max_size=4, unique=True))
    domain = Domain(tuple(draw(features(name, keep)) for name in names))
    domain = domain.cut({f.name: _cuts(draw, f) for f in domain.features})
    classes = draw(st.sampled_from(_CLASSES))
    if draw(st.booleans()):
        labels = st.lists(texts(keep), min_size=2, max_size=3, unique=True)
        classes = tuple(draw(labels))
    form = draw(st.sampled_from(["list", "set"]))
    n_rules = draw(st.integers(0, max_rules))
    boxes = np.ones((n_rules, int(domain.offsets[-1])), dtype=bool)
    for box in boxes:
        for place, size in enumerate(domain.sizes):
            if draw(st.booleans()):
                start = int(domain.offsets[place])
                codes = draw(
                    st.lists(st.integers(0, size - 1), min_size=1, unique=True)
                )
                box[start : start + size] = False
                box[[start + code for code in codes]] = True
    # The rules of a set must not contradict each other: all are of one class.
    answers = [draw(st.integers(0, len(classes) - 1)) for _ in boxes]
    if form == "set":
        answers = [1] * len(boxes)
    return RuleList.from_boxes(
        domain,
        boxes,
        answers,
        classes[0],
        classes,
        form=form,
        scope=draw(st.sampled_from(["domain", "support"])),
    )


def all_texts(keep: Keep = anything) -> RuleList:
    """Return rules on a column of all texts that hurt, every second of one class."""
    words = tuple(dict.fromkeys(t for t in HOSTILE_TEXTS if keep(t) and t != "missing"))
    boxes = np.zeros((2, len(words)), dtype=bool)
    boxes[0, ::4] = boxes[1, 2::4] = True
    domain = Domain((Feature("text", words),))
    return RuleList.from_boxes(domain, boxes, [1, 1], "no", ("no", "yes"), form="set")


def _cuts(draw: st.DrawFn, feature: Feature) -> list[float]:
    if not isinstance(feature, Range):
        return []
    low, high = feature.limits
    pool = [18, 25, 40, 89, 90] if feature.whole else [0.3, 0.1 + 0.2, 0.5, 1, 1.1]
    inside = [edge for edge in pool if low < edge <= high]
    return sorted(draw(st.lists(st.sampled_from(inside), max_size=3, unique=True)))


def rows_for(
    program: Program, number: int = 60, seed: int = 0
) -> list[dict[str, Value]]:
    """Return rows of all kinds: every value of every column, and unknown cells.

    Where the domain is small, every input is among them.
    """
    rng = np.random.default_rng(seed)
    cells = [examples(column) for column in program.columns]
    sizes = [len(found) for found in cells]
    if math.prod(sizes) <= number:
        codes = np.array(list(product(*map(range, sizes))))
    else:
        codes = rng.integers(0, sizes, size=(number, len(sizes)))
    rows = []
    for row in codes.tolist():
        chosen = [found[code] for found, code in zip(cells, row, strict=True)]
        picked = [found[int(rng.integers(len(found)))] for found in chosen]
        rows.append(picked)
    for place, column in enumerate(program.columns):
        for stranger in unknown_cells(column):
            row = list(rows[int(rng.integers(len(rows)))])
            row[place] = stranger
            rows.append(row)
    names = [column.name for column in program.columns]
    return [dict(zip(names, row, strict=True)) for row in rows]
