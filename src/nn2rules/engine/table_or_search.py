"""Choose between a table and a search; nothing else makes this choice.

A judge answers one question: does this box have an input without this class? The answer
is such an input, a proof that there is none, or undecided. A table looks at every
input, which is fast for small domains. How small depends on the question; all limits
are listed here.
"""

from copy import copy
from functools import cache
from typing import Literal, NamedTuple, Protocol
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine.limits import Meter
from nn2rules.engine.reaching import find_twins
from nn2rules.engine.search import Halving, Oracle
from nn2rules.engine.table import (
    DONT_CARE,
    Table,
    array_obstacle,
    build_table,
    fits_in_memory,
)
from nn2rules.errors import (
    BudgetExceededError,
    OptionError,
    UndecidedError,
    UnsupportedModelError,
)
from nn2rules.network import Layer, Network
from nn2rules.space import Boxes, Domain, Feature, inside, refuse_ranges, whole_boxes
from nn2rules.space._kernels.boxes import first_other

EXPLAINED_INPUTS = 1 << 20
"""The largest domain whose rows are explained from a table by default."""

SHOWN_INPUTS = 1 << 20
"""The largest domain whose table is included in a report."""

KEPT_INPUTS = 1 << 22
"""The largest domain whose table is kept for further questions."""

COVERED_INPUTS = 1 << 22
"""The largest domain whose rules are made from a table, or that is compared in full."""

ROW_LIST_INPUTS, ROW_SET_INPUTS = 1 << 19, 1 << 16
"""The same for lists and sets that cover rows only, where search is far faster."""

VERIFIED_INPUTS = 1 << 24
"""The largest region on which a claim is checked input by input."""

COMPARED_INPUTS = 1 << 25
"""The largest domain on which two models are compared input by input."""

COUNTED_NUMBERS = 1 << 14
"""With ranges of whole numbers: the largest domain that rules cover by default."""


def table_size(network: Network) -> int | None:
    """Return how many inputs a table would have; None if there can be no table."""
    if network.domain.has_ranges or array_obstacle(network) is not None:
        return None
    return network.domain.n_inputs


def uses_table(engine: str, n_inputs: int | None, most: int, memory: int) -> bool:
    """Choose between a table with this number of inputs and a search.

    Examples
    --------
    >>> uses_table("auto", 6, EXPLAINED_INPUTS, 1 << 27)
    True
    >>> uses_table("search", 6, EXPLAINED_INPUTS, 1 << 27)
    False
    """
    if engine == "search" or n_inputs is None:
        return False
    return engine == "table" or n_inputs <= min(most, memory)


def engine_for(
    network: Network, engine: str, most: int, memory: int
) -> Literal["table", "search"]:
    """Choose the engine for a question about a whole domain.

    Raises
    ------
    UnsupportedModelError
        If a table is requested, but this network cannot have one.
    """
    if engine == "table":
        features, obstacle = network.domain.features, array_obstacle(network)
        refuse_ranges(features, "a table", "use the engine 'search', or ")
        if obstacle is not None:
            raise UnsupportedModelError(f"{obstacle}; use the engine 'search'")
    by_table = uses_table(engine, table_size(network), most, memory)
    return "table" if by_table else "search"


def check_engine(engine: object) -> None:
    """Refuse an unknown engine."""
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
    """Return the table of a network; small tables are cached as long as the network.

    With `keep`, large ones are cached, too.
    """
    meter = meter or Meter()
    if network in _tables and fits_in_memory(network.domain, meter.budget):
        return _tables[network]
    table = build_table(network, meter=meter, n_jobs=n_jobs)
    if keep or network.domain.n_inputs <= KEPT_INPUTS:
        _tables[network] = table
    return table


Kernels = Literal["table", "search", "pairs", "halves"]


def compile_for(meter: Meter, *kernels: Kernels) -> None:
    """Compile kernels before the clock starts; once on each machine."""
    with meter.paused():
        for each in kernels:
            _compile(each)


@cache
def _compile(kernels: Kernels) -> None:
    network = tiny_network(with_range=kernels != "table")
    everything = whole_boxes(
        network.domain, np.ones((1, int(network.domain.offsets[-1])), dtype=np.bool_)
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


def tiny_network(*, with_range: bool = True) -> Network:
    """Return a network with a number and a category, to compile kernels with.

    Or with the category alone, for a table.
    """
    category = Feature("category", ("a", "b"))
    features = (Feature.real("number", 0, 9), category) if with_range else (category,)
    weights = np.array([[1.0, -1.0], [2.0, 0.5], [-3.0, 1.0]])
    hidden = Layer(weights[-len(features) - 1 :], np.array([-4.0, 4.0]), "relu")
    last = Layer(np.array([[1.0], [-1.0]]), np.array([0.1]), "sigmoid")
    return Network(Domain(features), (hidden, last), ("no", "yes"))


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
    """Searches boxes of domains of any size, with or without ranges of numbers."""

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
        self._oracle.meter = self.meter  # a question may have a budget of its own
        ignored = self.impossible if ignoring is None else ignoring
        try:
            answer = self._oracle.ask(box, index, ends=ends, ignoring=ignored)
        except UndecidedError:
            return Judgement("undecided")
        except BudgetExceededError:
            self.meter.spend()  # raises if it is the budget that ended the search
            return Judgement("undecided")
        if answer.proved:
            return Judgement("proved")
        assert answer.counterexample is not None, "an answer is one or the other"
        numbers = answer.numbers
        assert numbers is not None, "a search returns numbers"
        return Judgement("refuted", Point(answer.counterexample, numbers))

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
