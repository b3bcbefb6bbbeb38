"""Who answers questions about boxes: a table, or a search; decided here alone.

The question is always the same: is there an input of this box that is not of this
class? The answer is one such input, a proof that there is none, or that it stays open.
A table looks at every input, which is fast where there are few; how few depends on what
is asked, and all those limits are here.
"""

from copy import copy
from functools import cache
from typing import Literal, NamedTuple, Protocol
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine.halving import Halving
from nn2rules.engine.limits import Meter
from nn2rules.engine.reaching import find_twins
from nn2rules.engine.search import Oracle
from nn2rules.engine.table import DONT_CARE, Table, array_obstacle, build_table, fits
from nn2rules.errors import BudgetExceededError, OptionError, UndecidedError
from nn2rules.network import Layer, Network
from nn2rules.space import Boxes, Domain, Feature, inside, refuse_ranges, whole_boxes
from nn2rules.space._kernels.boxes import first_other

EXPLAINED_INPUTS = 1 << 20
"""The largest domain whose rows are explained from a table, by default."""

SHOWN_INPUTS = 1 << 20
"""The largest domain whose table is part of a report."""

KEPT_INPUTS = 1 << 22
"""The largest domain whose table is kept for the next question."""

COVERED_INPUTS = 1 << 22
"""The largest domain that has its rules made from a table, or is asked in full."""

LISTED_INPUTS, SET_INPUTS = 1 << 19, 1 << 16
"""The same for lists and for sets that decide rows: there a search is far faster."""

VERIFIED_INPUTS = 1 << 24
"""The largest region on which a claim is judged input by input."""

COMPARED_INPUTS = 1 << 25
"""The largest domain on which two models are compared input by input."""


def listed_inputs(network: Network) -> int | None:
    """Return how many inputs a table lists; None where no table can be made."""
    if network.domain.has_ranges or array_obstacle(network) is not None:
        return None
    return network.domain.n_inputs


def is_tabled(engine: str, n_inputs: int | None, most: int, memory: int) -> bool:
    """Decide between a table of so many inputs and a search.

    Examples
    --------
    >>> is_tabled("auto", 6, EXPLAINED_INPUTS, 1 << 27)
    True
    >>> is_tabled("search", 6, EXPLAINED_INPUTS, 1 << 27)
    False
    """
    if engine == "search" or n_inputs is None:
        return False
    return engine == "table" or n_inputs <= min(most, memory)


def check_engine(engine: object) -> None:
    """Refuse an engine that is none."""
    if engine not in ("auto", "table", "search"):
        raise OptionError(f"engine: {engine!r}, expected 'auto', 'table' or 'search'")


_tables: WeakKeyDictionary[Network, Table] = WeakKeyDictionary()


def table_of(
    network: Network,
    *,
    meter: Meter | None = None,
    n_jobs: int | None = None,
    keep: bool = False,
) -> Table:
    """Return the table of a network; a small one is kept as long as the network is.

    So one question after another can be asked. With `keep` a large one is, too.
    """
    meter = meter or Meter()
    if network in _tables and fits(network.domain, meter.budget):
        return _tables[network]
    table = build_table(network, meter=meter, n_jobs=n_jobs)
    if keep or network.domain.n_inputs <= KEPT_INPUTS:
        _tables[network] = table
    return table


Kernels = Literal["table", "search", "pairs", "halves"]


def compile_for(meter: Meter, *kernels: Kernels) -> None:
    """Compile what questions need before a clock runs: once on a machine."""
    with meter.paused():
        for each in kernels:
            _compile(each)


@cache
def _compile(kernels: Kernels) -> None:
    """Ask a network of one number and one word, or of the word alone for a table."""
    word = Feature("word", ("a", "b"))
    features = (word,) if kernels == "table" else (Feature.real("number", 0, 9), word)
    weights = np.array([[1.0, -1.0], [2.0, 0.5], [-3.0, 1.0]])
    hidden = Layer(weights[-len(features) - 1 :], np.array([-4.0, 4.0]), "relu")
    last = Layer(np.array([[1.0], [-1.0]]), np.array([0.1]), "sigmoid")
    network = Network(Domain(features), (hidden, last), ("no", "yes"))
    everything = whole_boxes(
        network.domain, np.ones((1, len(hidden.weights)), dtype=np.bool_)
    )
    nothing = Boxes(everything.allowed[:0], everything.ends[:0])
    if kernels == "table":
        build_table(network).ask(everything.allowed[0], 0)
    elif kernels == "search":
        Oracle(network).ask(everything.allowed[0], 1)
    elif kernels == "pairs":
        find_twins(network, [1], (0, 1), everything, nothing, Meter())
    else:
        Halving(Oracle(network)).look((everything.allowed[0], everything.ends[0]))


class Point(NamedTuple):
    """An input: codes, and the numbers of ranges (1 elsewhere)."""

    codes: NDArray[np.int64]
    numbers: NDArray[np.float64]


class Judgement(NamedTuple):
    """No input turns ("proved"), one does ("refuted"), or nobody knows ("open")."""

    status: Literal["proved", "refuted", "open"]
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
    ) -> Judgement:
        """Look for an input of a box that can occur and is not of class `index`."""
        del ends, ignoring  # there are no ranges, and forbidden values are in no box
        self.meter.spend()
        found = np.zeros(len(self.sizes), dtype=np.int64)
        wanted = np.zeros(256, dtype=np.bool_)
        wanted[[index, DONT_CARE]] = True
        is_refuted = first_other(
            self.classes,
            self.sizes,
            self.strides,
            box,
            self.domain.offsets,
            wanted,
            found,
        )
        if not is_refuted:
            return Judgement("proved")
        return Judgement("refuted", Point(found, np.ones(len(found))))

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
    ) -> Judgement:
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
            return Judgement("open")
        except BudgetExceededError:
            self.meter.spend()  # raises if it is the budget that ended the search
            return Judgement("open")
        if answer.proved:
            return Judgement("proved")
        assert answer.counterexample is not None, "refuted by one"
        numbers = answer.numbers
        assert numbers is not None, "a search knows its numbers"
        return Judgement("refuted", Point(answer.counterexample, numbers))

    def classes_of(
        self, codes: NDArray[np.int64], numbers: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        """Return the classes of inputs; `DONT_CARE` where one cannot occur."""
        found = self.network.predict_codes(codes, numbers)
        found[inside(self.network.domain, self.impossible, codes, numbers)] = DONT_CARE
        return found


def judge_of(
    network: Network,
    engine: str,
    impossible: Boxes,
    meter: Meter,
    n_jobs: int | None = None,
) -> TableJudge | SearchJudge:
    """Return who answers: a table where there are few inputs, or else a search."""
    check_engine(engine)
    if engine == "table":
        domain, obstacle = network.domain, array_obstacle(network)
        refuse_ranges(domain.features, "a table", "use the engine 'search', or ")
        if obstacle is not None:
            raise OptionError(f"{obstacle}; use the engine 'search'")
    n_inputs, memory = listed_inputs(network), meter.budget.memory
    if not is_tabled(engine, n_inputs, EXPLAINED_INPUTS, memory):
        compile_for(meter, "search")
        return SearchJudge(network, impossible, meter)
    compile_for(meter, "table")
    table = table_of(network, meter=meter, n_jobs=n_jobs, keep=True)
    return TableJudge(table, impossible, meter)
