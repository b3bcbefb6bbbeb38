"""All measurements of a run, by data set, and the spreads over its networks."""

from collections.abc import Callable
from dataclasses import dataclass

from research.experiments.cases import Case
from research.experiments.measure import Measured, Score
from research.experiments.methods import Readable
from research.experiments.printed import METHODS, Method
from research.experiments.table import Cell, Kind, ResultColumn, Spread


@dataclass(frozen=True)
class Result:
    """A data set, and what was measured on each of its networks.

    Attributes
    ----------
    case : Case
    sizes : tuple of int
        The number of values of each feature.
    networks : tuple of Measured
    is_paper : bool
        Whether the paper prints figures for this data set.
    is_given : bool
        Whether the network was the user's.
    """

    case: Case
    sizes: tuple[int, ...]
    networks: tuple[Measured, ...]
    is_paper: bool
    is_given: bool = False

    @property
    def label(self) -> str:
        """What tables call it."""
        name = self.case.name
        return name.capitalize() if self.is_paper else self.case.title

    def has(self, method: str) -> bool:
        """Tell whether a method was measured."""
        return all(method in found.scores for found in self.networks)

    def spread(self, of: Callable[[Measured], float | None]) -> Spread:
        """Return a number of each network."""
        return Spread(tuple(of(found) for found in self.networks))

    def score(self, method: str, of: Callable[[Score], float | None]) -> Spread | None:
        """Return a number of a method on each network; None if it was not measured."""
        if not self.has(method):
            return None
        return self.spread(lambda found: of(found.scores[method]))

    def readable(self, of: Callable[[Readable], float]) -> Spread:
        """Return a number of each network made to be read; None where there is none."""
        return self.spread(
            lambda found: None if found.readable is None else of(found.readable)
        )


@dataclass(frozen=True)
class Results:
    """Everything that was measured in a run, and with what."""

    sets: tuple[Result, ...]
    seeds: int
    seed: int

    @property
    def is_paper(self) -> bool:
        """Whether these are the paper's data sets."""
        return all(result.is_paper for result in self.sets)

    @property
    def is_given(self) -> bool:
        """Whether the network was the user's."""
        return any(result.is_given for result in self.sets)

    @property
    def methods(self) -> list[Method]:
        """The methods that were measured on any data set."""
        return [
            method
            for method in METHODS
            if any(result.has(method.key) for result in self.sets)
        ]

    @property
    def has_readable(self) -> bool:
        """Whether there is any network made to be read."""
        return any(found.readable for result in self.sets for found in result.networks)

    def has(self, *methods: str) -> bool:
        """Tell whether methods were measured on every data set."""
        return all(result.has(m) for result in self.sets for m in methods)

    def row(
        self, name: str, of: Callable[[Result], Cell], printed: Callable[[Result], Cell]
    ) -> tuple[Cell, ...]:
        """Return a row below `columns`: for each data set this run and the paper."""
        row: list[Cell] = [name]
        for result in self.sets:
            row.append(of(result))
            if result.is_paper:
                row.append(printed(result))
        return tuple(row)

    def columns(self, first: str, kind: Kind) -> tuple[ResultColumn, ...]:
        """Return a first column, and for each data set this run and the paper."""
        columns = [ResultColumn(first)]
        for result in self.sets:
            columns.append(ResultColumn("this run", kind, result.label))
            if result.is_paper:
                columns.append(ResultColumn("paper", kind, result.label))
        return tuple(columns)
