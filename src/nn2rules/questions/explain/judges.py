"""Who answers questions about boxes: a table, or a search.

The question is always the same: is there an input of this box that is not of this
class? The answer is one such input, a proof that there is none, or that it stays open.
"""

from copy import copy
from functools import cache
from time import monotonic
from typing import Literal, NamedTuple, Protocol
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine import (
    Meter,
    Oracle,
    Table,
    array_obstacle,
    build_table,
    fits,
)
from nn2rules.errors import BudgetExceededError, OptionError, UndecidedError
from nn2rules.extraction import DONT_CARE
from nn2rules.network import Layer, Network
from nn2rules.space import Boxes, Domain, Feature, inside, refuse_ranges
from nn2rules.space._kernels.boxes import first_other

TABLE_INPUTS = 1 << 20
"""Up to so many inputs "auto" answers from a table."""


class Point(NamedTuple):
    """An input: codes, and the numbers of ranges (1 elsewhere)."""

    codes: NDArray[np.int64]
    numbers: NDArray[np.float64]


class Asked(NamedTuple):
    """No input turns ("proved"), one does ("turned"), or nobody knows ("open")."""

    status: Literal["proved", "turned", "open"]
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
    ) -> Asked:
        """Look for an input of a box that can occur and is not of class `index`."""
        ...

    def classes_of(
        self, codes: NDArray[np.int64], numbers: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        """Return the classes of inputs; `DONT_CARE` where one cannot occur."""
        ...


class TableJudge:
    """Looks at every input; those that cannot occur are marked in the table."""

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
        """Return one for a row of its own; tables are shared, and do not change."""
        own = copy(self)
        own.meter = meter
        return own

    def ask(
        self,
        box: NDArray[np.bool_],
        ends: NDArray[np.float64],
        index: int,
        ignoring: Boxes | None,
    ) -> Asked:
        """Look for an input of a box that can occur and is not of class `index`."""
        del ends, ignoring  # there are no ranges, and forbidden values are in no box
        self.meter.spend()
        found = np.zeros(len(self.sizes), dtype=np.int64)
        wanted = np.zeros(256, dtype=np.bool_)
        wanted[[index, DONT_CARE]] = True
        is_turned = first_other(
            self.classes,
            self.sizes,
            self.strides,
            box,
            self.domain.offsets,
            wanted,
            found,
        )
        if not is_turned:
            return Asked("proved")
        return Asked("turned", Point(found, np.ones(len(found))))

    def classes_of(
        self, codes: NDArray[np.int64], numbers: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        """Return the classes of inputs; `DONT_CARE` where one cannot occur."""
        del numbers
        places: NDArray[np.int64] = codes @ self.strides
        return np.asarray(self.classes[places], dtype=np.int64)

    def others(self, index: int) -> NDArray[np.int64]:
        """Return the numbers of all inputs of other classes, in order."""
        if index not in self._others:
            is_other = (self.classes != index) & (self.classes != DONT_CARE)
            self._others[index] = np.flatnonzero(is_other)
        return self._others[index]


class SearchJudge:
    """Searches boxes, of domains of any size, with ranges of numbers or without."""

    def __init__(self, network: Network, impossible: Boxes, meter: Meter) -> None:
        self.network, self.impossible, self.meter = network, impossible, meter
        self._oracle: Oracle | None = None

    def apart(self, meter: Meter) -> "SearchJudge":
        """Return one for a row of its own, so that no row depends on others."""
        return SearchJudge(self.network, self.impossible, meter)

    def ask(
        self,
        box: NDArray[np.bool_],
        ends: NDArray[np.float64],
        index: int,
        ignoring: Boxes | None,
    ) -> Asked:
        """Look for an input of a box that can occur and is not of class `index`.

        Raises
        ------
        BudgetExceededError
            If the budget is spent. What lies too near to the border between two
            classes for any bound is "open", and the work goes on.
        """
        self.meter.spend()
        if self._oracle is None:
            self._oracle = Oracle(self.network, self.meter)
        ignored = self.impossible if ignoring is None else ignoring
        try:
            answer = self._oracle.ask(box, index, ends=ends, ignoring=ignored)
        except UndecidedError:
            return Asked("open")
        except BudgetExceededError:
            self.meter.spend()  # raises if it is the budget that ended the search
            return Asked("open")
        if answer.proved:
            return Asked("proved")
        assert answer.counterexample is not None, "refuted by one"
        numbers = answer.numbers
        assert numbers is not None, "a search knows its numbers"
        return Asked("turned", Point(answer.counterexample, numbers))

    def classes_of(
        self, codes: NDArray[np.int64], numbers: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        """Return the classes of inputs; `DONT_CARE` where one cannot occur."""
        found = self.network.predict_codes(codes, numbers)
        found[inside(self.network.domain, self.impossible, codes, numbers)] = DONT_CARE
        return found


_tables: WeakKeyDictionary[Network, Table] = WeakKeyDictionary()


def judge_of(
    network: Network,
    engine: str,
    impossible: Boxes,
    meter: Meter,
    n_jobs: int | None = None,
) -> TableJudge | SearchJudge:
    """Return who answers: a table where there are few inputs, or else a search.

    A table is kept for as long as its network is, so that one row after another can be
    explained.
    """
    if engine not in ("auto", "table", "search"):
        raise OptionError(f"engine: {engine!r}, expected 'auto', 'table' or 'search'")
    domain, obstacle = network.domain, array_obstacle(network)
    if engine == "table":
        refuse_ranges(domain.features, "a table", "use the engine 'search', or ")
        if obstacle is not None:
            raise OptionError(f"{obstacle}; use the engine 'search'")
    is_small = domain.n_inputs <= TABLE_INPUTS and fits(domain, meter.budget)
    is_fit = is_small and not domain.has_ranges and obstacle is None
    by_search = engine == "search" or not (engine == "table" or is_fit)
    began = monotonic()
    compile_judge(by_search=by_search)
    meter.started += monotonic() - began  # that is done once, and not for these rows
    if by_search:
        return SearchJudge(network, impossible, meter)
    if network not in _tables:
        _tables[network] = build_table(network, meter=meter, n_jobs=n_jobs)
    return TableJudge(_tables[network], impossible, meter)


@cache
def compile_judge(*, by_search: bool) -> None:
    """Ask a network of one number and one word, or a table, so that all is there."""
    word = Feature("word", ("a", "b"))
    last = Layer(np.array([[1.0], [-1.0]]), np.array([0.1]), "sigmoid")
    weights = np.array([[1.0, -1.0], [2.0, 0.5], [-3.0, 1.0]])
    features = (Feature.real("number", 0, 9), word) if by_search else (word,)
    hidden = Layer(weights[3 - sum(map(len, features)) :], np.ones(2), "relu")
    network = Network(Domain(features), (hidden, last), ("no", "yes"))
    box = np.ones(len(hidden.weights), dtype=np.bool_)
    if by_search:
        Oracle(network).ask(box, 0)
    else:
        build_table(network).ask(box, 0)
