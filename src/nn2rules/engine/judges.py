"""Judges tell whether a box has an input of another class.

A judge returns such an input, a proof that there is none, or undecided. One looks the
inputs up in a table, the other searches; `judge_of` returns the one that is chosen for
a network.
"""

from copy import copy
from typing import Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine.beyond_tables import settle_class
from nn2rules.engine.limits import Meter
from nn2rules.engine.search import Oracle
from nn2rules.engine.table import DONT_CARE, Table
from nn2rules.engine.which_engine import (
    EXPLAINED_INPUTS,
    check_engine,
    compile_for,
    engine_for,
    table_of,
)
from nn2rules.errors import BudgetExceededError, UndecidedError
from nn2rules.network import Network
from nn2rules.space import Boxes, inside
from nn2rules.space._kernels.boxes import first_other


class Point(NamedTuple):
    """An input: its codes, and its numbers where features are ranges (else 1)."""

    codes: NDArray[np.int64]
    numbers: NDArray[np.float64]


class Judgement(NamedTuple):
    """Proved; refuted, with an input; or undecided."""

    status: Literal["proved", "refuted", "undecided"]
    point: Point | None = None


class Judge(Protocol):
    """Answers questions about boxes."""

    meter: Meter

    def ask(
        self,
        box: NDArray[np.bool_],
        ends: NDArray[np.float64],
        index: int,
        ignoring: Boxes | None,
    ) -> Judgement:
        """Look for a possible input of a box that does not have class `index`."""
        ...

    def classes_of(
        self, codes: NDArray[np.int64], numbers: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        """Return the classes of inputs; `DONT_CARE` for those that cannot occur."""
        ...


class TableJudge:
    """Looks at every input; the table marks those that cannot occur."""

    def __init__(self, table: Table, impossible: Boxes, meter: Meter) -> None:
        self.domain, self.strides, self.meter = table.domain, table.strides, meter
        self.sizes = np.array(self.domain.sizes, dtype=np.int64)
        self.classes = table.classes
        if len(impossible.allowed):
            self.classes = table.classes.copy()
            cube = self.classes.reshape(self.domain.sizes)
            for box in impossible.allowed:
                parts = np.split(box, self.domain.offsets[1:-1])
                cube[np.ix_(*map(np.flatnonzero, parts))] = DONT_CARE
        self._others: dict[int, NDArray[np.int64]] = {}

    def apart(self, meter: Meter) -> "TableJudge":
        """Return a judge with its own meter, for another row; it shares the table."""
        separate = copy(self)
        separate.meter = meter
        return separate

    def ask(
        self,
        box: NDArray[np.bool_],
        ends: NDArray[np.float64],
        index: int,
        ignoring: Boxes | None,
    ) -> Judgement:
        """Look for a possible input of a box that does not have class `index`."""
        del ends, ignoring  # a table has no ranges, and marks impossible inputs itself
        self.meter.spend()
        codes = np.zeros(len(self.sizes), dtype=np.int64)
        allowed = np.zeros(256, dtype=np.bool_)
        allowed[[index, DONT_CARE]] = True
        is_refuted = first_other(
            self.classes,
            self.sizes,
            self.strides,
            box,
            self.domain.offsets,
            allowed,
            codes,
        )
        if not is_refuted:
            return Judgement("proved")
        return Judgement("refuted", Point(codes, np.ones(len(codes))))

    def classes_of(
        self, codes: NDArray[np.int64], numbers: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        """Return the classes of inputs; `DONT_CARE` for those that cannot occur."""
        del numbers
        places: NDArray[np.int64] = codes @ self.strides
        return np.asarray(self.classes[places], dtype=np.int64)

    def others(self, index: int) -> NDArray[np.int64]:
        """Return the positions of all inputs of other classes, in order."""
        if index not in self._others:
            is_other = (self.classes != index) & (self.classes != DONT_CARE)
            self._others[index] = np.flatnonzero(is_other)
        return self._others[index]


class SearchJudge:
    """Searches boxes of domains of any size, with the help of linear regions."""

    def __init__(self, network: Network, impossible: Boxes, meter: Meter) -> None:
        self.network, self.impossible, self.meter = network, impossible, meter
        self._oracle: Oracle | None = None

    def apart(self, meter: Meter) -> "SearchJudge":
        """Return a new judge for another row, so that rows do not affect each other."""
        return SearchJudge(self.network, self.impossible, meter)

    def ask(
        self,
        box: NDArray[np.bool_],
        ends: NDArray[np.float64],
        index: int,
        ignoring: Boxes | None,
    ) -> Judgement:
        """Look for a possible input of a box that does not have class `index`.

        Raises
        ------
        BudgetExceededError
            If the budget is spent. A question that is too close to the border between
            two classes to be decided is "undecided", and the work continues.
        """
        self.meter.spend()
        if self._oracle is None:
            self._oracle = Oracle(self.network, self.meter)
        ignored = self.impossible if ignoring is None else ignoring
        within = Boxes(box[np.newaxis], ends[np.newaxis])
        try:
            settled = settle_class(self._oracle, index, within, ignored, self.meter)
        except UndecidedError:
            return Judgement("undecided")
        except BudgetExceededError:
            self.meter.spend()  # raises if it is the budget that ended the search
            return Judgement("undecided")
        if settled.inputs is None:
            return Judgement("proved")
        codes, numbers = settled.inputs
        return Judgement("refuted", Point(codes[0], numbers[0]))

    def classes_of(
        self, codes: NDArray[np.int64], numbers: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        """Return the classes of inputs; `DONT_CARE` for those that cannot occur."""
        classes = self.network.predict_codes(codes, numbers)
        is_impossible = inside(self.network.domain, self.impossible, codes, numbers)
        classes[is_impossible] = DONT_CARE
        return classes


def judge_of(
    network: Network,
    engine: str,
    impossible: Boxes,
    meter: Meter,
    n_jobs: int | None = None,
) -> TableJudge | SearchJudge:
    """Return the judge of a network: a table for few inputs, otherwise a search."""
    check_engine(engine)
    chosen = engine_for(network, engine, EXPLAINED_INPUTS, meter.budget.memory)
    if chosen == "search":
        compile_for(meter, "search")
        return SearchJudge(network, impossible, meter)
    compile_for(meter, "table")
    table = table_of(network, meter=meter, n_jobs=n_jobs, keep=True)
    return TableJudge(table, impossible, meter)
