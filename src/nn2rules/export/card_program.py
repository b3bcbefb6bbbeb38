"""Scorecards as programs that other engines can run: points, totals, cut-offs.

Float64 sums depend on their order, and engines differ in it. So the points of an
exported card are whole numbers of a small unit, and their sums are exact everywhere.
Rounding the network's numbers to the unit costs something, which the printed card works
out for every input at once: a `PointsTable`, on a scale that is as fine as float64
allows (`points="fine"`), or on that of the page (``"printed"``). The prediction for
every cell that a column can hold is defined here once:

1. A row with a cell outside the domain gets what `unknown` says.
2. Otherwise its points are added up, part by part; the product of a number and its
   slope is rounded to whole units, halves up.
3. The first region whose conditions hold has the totals, and what they prove. A card
   without regions has one, without conditions.
4. A row of which they prove no class is *too close*, and gets what `between` says.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import OptionError, UnsupportedModelError
from nn2rules.export import cells
from nn2rules.export.cells import Cells
from nn2rules.export.columns import Column, column_of
from nn2rules.export.program import (
    POLICY_TEXTS,
    Policy,
    Prediction,
    Program,
    check_policy,
    exported_label,
    kind_of_labels,
)
from nn2rules.language import count
from nn2rules.rules import certificate_of, proof_of
from nn2rules.scorecards import PointsTable, Scale, Scorecard
from nn2rules.scorecards.printed_card import FLOAT64_ERROR, table_of
from nn2rules.scorecards.regions import PrintedForm, PrintedRegion
from nn2rules.scorecards.sums import ZERO, Interval, Sum, reach_of, sum_reach
from nn2rules.space import Value, plain_number
from nn2rules.version import __version__

Points: TypeAlias = Literal["fine", "printed"]
"""On which scale points are exported: as fine as float64 allows, or as printed."""

Between: TypeAlias = Literal["none", "nearest", "error"]
"""For a row that is too close: nothing, the class that is nearer, an error."""

Numbers: TypeAlias = Callable[[float], Any]
"""What an engine makes of a number that is written for it."""

FINE = 10**11
"""Fine totals are at most this many units, so that products with numbers are exact."""

MOST_UNITS = 2**53
"""Up to here float64 holds all whole numbers."""

_MOST_DIGITS = 12
_MOST_ROOM = 250  # powers of ten by which the smallest points are enlarged
_ENOUGH = 1000  # points by which one sees how large they are


@dataclass(frozen=True, slots=True)
class Rate:
    """The points of a number: ``floor((top * number + half) / bottom)``.

    Attributes
    ----------
    top : float
        A whole number, as is `bottom`.
    half, bottom : float
        A half is added for rounding.
    whole : bool
        Whether all products are whole: then `half` is 0 and `bottom` 1.
    """

    top: float
    half: float
    bottom: float
    whole: bool

    def at(self, number: float, of: "Numbers" = float) -> Any:
        """Return the points of a number."""
        product = of(self.top) * of(number)
        if self.whole:
            return product
        return of(math.floor((product + of(self.half)) / of(self.bottom)))


@dataclass(frozen=True, slots=True)
class Line:
    """Cells of a column with the same points: for each part points, or a rate."""

    cells: Cells
    points: tuple[int | Rate, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """A sum of points: what it begins with, and what it counts.

    Attributes
    ----------
    name : str
    start : int
    low, high : int or None
        What it counts at least, and at most.
    below : float or None
        Below 0, it counts this many times.
    reach : (int, int)
        Numbers between which the sum lies.
    """

    name: str
    start: int
    low: int | None
    high: int | None
    below: float | None
    reach: tuple[int, int]

    def counted(self, total: Any, of: "Numbers" = float) -> Any:
        """Return what a sum counts."""
        if self.below is not None and total < 0:
            total = of(self.below) * total
        if self.low is not None:
            total = max(total, of(self.low))
        return total if self.high is None else min(total, of(self.high))

    @property
    def size(self) -> Fraction:
        """The largest magnitude of what it counts."""
        ends = [end for end in (*self.reach, self.low, self.high) if end is not None]
        slope = Fraction(abs(self.below or 1))
        return max(slope, Fraction(1)) * max(1, *map(abs, ends))

    @property
    def is_whole(self) -> bool:
        """Whether it counts a whole number of units."""
        return self.below is None or self.below == int(self.below)


@dataclass(frozen=True, slots=True)
class Form:
    """A sum of parts with weights, none of them 0, after a start, in this order."""

    start: float
    weights: tuple[tuple[int, float], ...]

    def at(self, counted: Sequence[Any], of: "Numbers" = float) -> Any:
        """Return its value for what parts count."""
        total = of(self.start)
        for place, weight in self.weights:
            total += of(weight) * counted[place]
        return total


@dataclass(frozen=True, slots=True)
class Cut:
    """A total of at most `at_most` means the class `below`, of at least, `above`."""

    at_most: float
    at_least: float
    below: Value
    above: Value

    @property
    def is_sharp(self) -> bool:
        """Whether no total lies between, as all of them are whole."""
        is_whole = isinstance(self.at_most, int) and isinstance(self.at_least, int)
        return is_whole and self.at_least - self.at_most == 1

    @property
    def middle(self) -> float:
        """Totals above it are nearer to `above`."""
        return (self.at_most + self.at_least) / 2


@dataclass(frozen=True, slots=True)
class Region:
    """Where some conditions hold: totals, and what they prove.

    Attributes
    ----------
    conditions : tuple of (Form, float)
        Each form is at least its number.
    totals : tuple of Form
        None if there is one class only; one of two classes; or one for each class.
    label : value
        The class of the lowest totals, and of all if there is no cut.
    cuts : tuple of Cut
        Of one total, in ascending order.
    margin : float or None
        Of several totals: how far one has to be ahead.
    """

    conditions: tuple[tuple[Form, float], ...]
    totals: tuple[Form, ...]
    label: Value
    cuts: tuple[Cut, ...] = ()
    margin: float | None = None


@dataclass(frozen=True, slots=True)
class Scored(Prediction):
    """A class, and the totals that it follows from; None if there are none."""

    totals: tuple[float | None, ...] = ()

    @property
    def beside(self) -> tuple[Value, ...]:
        """The totals."""
        return self.totals


@dataclass(frozen=True, kw_only=True)
class CardProgram(Program):
    """A scorecard as other engines run it.

    Attributes
    ----------
    card : Scorecard
        What the program was made from: for formats that show cards as they are.
    table : PointsTable
        The printed card whose points these are.
    labels : tuple of values
        The classes as the export gives them.
    lines : tuple of tuples of Line
        For each column.
    parts : tuple of Part
    regions : tuple of Region
    between : {"none", "nearest", "error"}
    is_decimal : bool
        Whether engines work with decimal numbers rather than in float64.
    """

    kind: ClassVar[str] = "scorecards"
    policies: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "unknown": ("none",),
        "between": ("none", "nearest"),
    }
    card: Scorecard
    table: PointsTable
    labels: tuple[Value, ...]
    lines: tuple[tuple[Line, ...], ...]
    parts: tuple[Part, ...]
    regions: tuple[Region, ...]
    between: Between
    is_decimal: bool = False

    @property
    def of(self) -> "Numbers":
        """What engines make of a number."""
        return decimal if self.is_decimal else float

    @property
    def unit(self) -> int:
        """How many units make up a point."""
        return int(10**self.table.scale.digits)

    @property
    def has_regions(self) -> bool:
        """Whether totals depend on where the sums of parts lie."""
        return bool(self.card.regions)

    @property
    def errors(self) -> tuple[str, ...]:
        """Of `policies`, those by which some row is an error."""
        return tuple(name for name in self.policies if getattr(self, name) == "error")

    @property
    def beside(self) -> tuple[str, ...]:
        """The names of the totals: one of two classes, else one for each."""
        return _total_names(self.card)

    @property
    def boxes(self) -> NDArray[np.bool_]:
        """No boxes: no part of the domain is worth more test vectors than another."""
        return np.empty((0, self.offsets[-1]), dtype=np.bool_)

    @cached_property
    def about(self) -> tuple[tuple[str, str], ...]:
        """Facts about the export, as pairs of a key and a sentence."""
        card = self.card
        cards = {"single": "one card", "classes": "a card for each class"}
        shown = cards.get(card.kind, f"{count(len(self.parts), 'part card')}")
        if self.has_regions:
            shown += f" and {count(len(self.regions), 'region')}"
        return (
            ("scorecard", f"{shown}, {count(len(card.domain.features), 'feature')}"),
            ("points", _points_text(self)),
            ("too close", _between_text(self)),
            ("proved", proof_of(card) or "not yet; nn2rules check compares cards"),
            (
                "outside the domain",
                f"inputs with unknown values {POLICY_TEXTS[self.unknown]}",
            ),
            ("network", certificate_of(card).network or "not known"),
            ("digest", card.digest),
            ("made by", f"nn2rules {__version__}"),
        )

    def predict_known(self, cells: Sequence[Value]) -> Prediction | None:
        """Return the prediction for known cells, by the sums of their points."""
        counted, of = self.counted(cells), self.of
        for region in self.regions:
            if all(
                form.at(counted, of) >= of(least) for form, least in region.conditions
            ):
                totals = [form.at(counted, of) for form in region.totals]
                return self._scored(totals, self._label(region, totals))
        return self._scored([], None)

    def distance(self, cells: Sequence[Value]) -> float:
        """Return how far the totals of known cells are from a change of the class.

        It is counted in units; infinite if no total decides.
        """
        counted, of = self.counted(cells), self.of
        for region in self.regions:
            if all(
                form.at(counted, of) >= of(least) for form, least in region.conditions
            ):
                totals = sorted(float(form.at(counted, of)) for form in region.totals)
                if region.margin is not None:
                    return totals[-1] - totals[-2]
                ends = [abs(totals[0] - float(cut.middle)) for cut in region.cuts]
                return min(ends, default=math.inf)
        return 0.0

    def counted(self, cells: Sequence[Value]) -> list[Any]:
        """Return what each part counts for known cells."""
        of = self.of
        sums = [of(part.start) for part in self.parts]
        for lines, cell in zip(self.lines, cells, strict=True):
            line = next(line for line in lines if line.cells.matches(cell))
            for place, points in enumerate(line.points):
                if isinstance(points, Rate):
                    assert isinstance(cell, int | float), "a range has numbers"
                    sums[place] += points.at(cell, of)
                else:
                    sums[place] += points
        pairs = zip(self.parts, sums, strict=True)
        return [part.counted(total, of) for part, total in pairs]

    def _label(self, region: Region, totals: list[Any]) -> Value:
        """Return the class that totals prove, or that is nearest on request."""
        is_near = self.between == "nearest"
        if region.margin is not None:
            best = totals.index(max(totals))
            rest = max(total for place, total in enumerate(totals) if place != best)
            is_ahead = totals[best] - rest >= self.of(region.margin)
            return self.labels[best] if is_ahead or is_near else None
        for sign, number, label in self.steps(region):
            end = self.of(number)
            if totals[0] >= end if sign == ">=" else totals[0] > end:
                return label
        return region.label

    def steps(self, region: Region) -> list[tuple[str, float, Value]]:
        """Return what one total is compared with, in turn: sign, number, class.

        The class is None where totals are too close; below all numbers it is
        `Region.label`.
        """
        found: list[tuple[str, float, Value]] = []
        for cut in reversed(region.cuts):
            if self.between == "nearest":
                found.append((">", cut.middle, cut.above))
                continue
            found.append((">=", cut.at_least, cut.above))
            if not cut.is_sharp:
                found.append((">", cut.at_most, None))
        return found

    def _scored(self, totals: list[Any], label: Value) -> Prediction | None:
        if label is None and self.between == "error":
            return None
        shown: list[float | None] = [float(total / self.unit) for total in totals]
        shown += [None] * (len(self.beside) - len(shown))
        return Scored(label, None, tuple(shown))


def card_program_of(
    card: Scorecard,
    *,
    unknown: Policy = "none",
    points: Points = "fine",
    between: Between = "none",
    typed: bool = True,
    mixed: bool = False,
    most: int = FINE,
    is_decimal: bool = False,
) -> CardProgram:
    """Return a scorecard as a program.

    Parameters
    ----------
    card : Scorecard
    unknown : {"none", "error"}
        For a row with a value outside the domain, as in `Scorecard.predict`.
    points : {"fine", "printed"}
        The network's own numbers, as fine as sums in float64 are exact, or the points
        of the page.
    between : {"none", "nearest", "error"}
        For a row that is too close to a cut-off for rounded points.
    typed, mixed : bool
        As in `program_of`.
    most : int
        Fine totals are at most this many units.
    is_decimal : bool
        Whether engines work with decimal numbers rather than in float64.
    """
    check_policy("unknown", unknown)
    if unknown == "default":
        raise OptionError(
            "unknown: 'default', but a scorecard has no default class; expected 'none' "
            "or 'error'"
        )
    if points not in ("fine", "printed"):
        raise OptionError(f"points: {points!r}, expected 'fine' or 'printed'")
    if between not in ("none", "nearest", "error"):
        raise OptionError(
            f"between: {between!r}, expected 'none', 'nearest' or 'error'"
        )
    if between == "nearest" and card.regions:
        raise OptionError(
            "between: 'nearest' is for cards without regions, where each row has "
            "totals; expected 'none' or 'error'"
        )
    table = card.table if points == "printed" else fine_table(card, most)
    kind = kind_of_labels(card.classes)
    labels = tuple(exported_label(c, None if mixed else kind) for c in card.classes)
    columns = tuple(map(column_of, card.domain.features)) if typed else ()
    outside = Scored(None, None, (None,) * len(_total_names(card)))
    translator = _Translator(table, labels, is_fine=points == "fine")
    parts = translator.parts()
    return CardProgram(
        card=card,
        table=table,
        columns=columns,
        classes=card.classes,
        labels=labels,
        lines=translator.lines(columns),
        parts=parts,
        regions=tuple(translator.regions(parts)),
        unknown=unknown,
        between=between,
        outside=None if unknown == "error" else outside,
        label_kind=kind,
        mixed=mixed,
        is_decimal=is_decimal,
    )


def decimal(number: float) -> Fraction:
    """Return the decimal number that is written for a float64."""
    return Fraction(repr(number))


def _total_names(card: Scorecard) -> tuple[str, ...]:
    return ("total",) if len(card.classes) == 2 else card.total_names


def fine_table(card: Scorecard, most: int = FINE) -> PointsTable:
    """Return a card printed in the network's own units, with as many digits as do.

    One total is then the score of the network.
    """
    has_offset = len(card.classes) == 2 and not card.regions
    offset = 0.0 if has_offset else None
    room, size = 0, ZERO
    while size < _ENOUGH and room < _MOST_ROOM:
        room += 6
        size = _size(table_of(card, Scale(10.0**room, offset)))
    while size > most:
        size, room = size / 10, room - 1
    while size and size * 10 <= most:
        size, room = size * 10, room + 1
    digits = min(max(room, 0), _MOST_DIGITS)
    return table_of(card, Scale(10.0 ** (room - digits), offset, digits))


def _size(table: PointsTable) -> Fraction:
    """Bound the sums of all columns, and of any lines in them."""
    places = range(len(table.columns))
    return max((_reach(table, place) for place in places), default=ZERO)


def _reach(table: PointsTable, place: int) -> Fraction:
    """Bound the sum of a column, and of any lines in it."""
    column = table.columns[place]
    sizes = [abs(points) for points in column.points]
    ends = (column.start, column.low, column.high)
    reach = max(abs(end) for end in ends if end is not None)
    return reach + sum((reach_of(sizes, block)[1] for block in table.blocks), ZERO)


@dataclass(frozen=True, slots=True)
class _Translator:
    """From a printed card, in fractions, to numbers that engines have."""

    table: PointsTable
    labels: tuple[Value, ...]
    is_fine: bool

    def parts(self) -> tuple[Part, ...]:
        """Return the columns of points as parts."""
        table, made = self.table, []
        for place, column in enumerate(table.columns):
            if _reach(table, place) / table.step >= MOST_UNITS:
                raise UnsupportedModelError(
                    "the printed points have more digits than 64-bit numbers can add "
                    "up exactly; scale the card with fewer digits, or export "
                    "points='fine'"
                )
            reach = sum_reach(Sum(column.start, column.points), table.card.domain)
            slopes = sum(block.limits is not None for block in table.blocks)
            low, high = (end / table.step for end in reach)
            made.append(
                Part(
                    table.card.names[column.card],
                    self._units(column.start),
                    None if column.low is None else self._units(column.low),
                    None if column.high is None else self._units(column.high),
                    None if column.below is None else float(column.below),
                    (math.floor(low) - slopes, math.ceil(high) + slopes),
                )
            )
        return tuple(made)

    def lines(self, columns: Sequence[Column]) -> tuple[tuple[Line, ...], ...]:
        """Return the lines of each column: those of the same points are one line."""
        return tuple(
            tuple(self._lines(place, column)) for place, column in enumerate(columns)
        )

    def _lines(self, place: int, column: Column) -> Iterator[Line]:
        block = self.table.blocks[place]
        bins = self.table.bins[place] if self.table.bins else None
        if bins is not None:
            yield from self._binned(place, bins)
        codes_by_points: dict[tuple[int | Rate, ...], list[int]] = {}
        for code in range(int(bins is not None), len(column.feature)):
            is_slope = block.limits is not None and code == 0
            points = tuple(
                self._rate(each.points[block.start], place)
                if is_slope
                else self._units(each.points[block.start + code])
                for each in self.table.columns
            )
            codes_by_points.setdefault(points, []).append(code)
        for points, codes in codes_by_points.items():
            allowed = np.zeros(len(column.feature), dtype=np.bool_)
            allowed[codes] = True
            yield Line(column.cells(allowed, closed=True), points)

    def _binned(self, place: int, bins: Sequence[Interval]) -> Iterator[Line]:
        """Yield a line for each bin of a range."""
        is_whole = self.table.blocks[place].whole
        starts = [plain_number(float(start)) for start, _ in bins]
        ends = [plain_number(float(end)) for _, end in bins]
        for index, (start, end) in enumerate(zip(starts, ends, strict=True)):
            is_open = not is_whole and index < len(bins) - 1
            last = starts[index + 1] if is_open else end
            inside = cells.Interval(start, last, high_is_strict=is_open)
            points = []
            for column in self.table.columns:
                own = column.bins[place]
                assert own is not None, "every column has the bins"
                points.append(self._units(own[index]))
            yield Line(cells.Cells(intervals=(inside,)), tuple(points))

    def _units(self, points: Fraction) -> int:
        return int(points / self.table.step)

    def _rate(self, slope: Fraction, place: int) -> int | Rate:
        if not slope:
            return 0
        units, block = slope / self.table.step, self.table.blocks[place]
        bottom = 1
        while (units * bottom).denominator > 1:
            bottom *= 10
        if bottom == 1 and block.whole:
            return Rate(int(units), 0, 1, whole=True)
        try:
            top = float(units * bottom)
            return Rate(_plain(top), _plain(bottom / 2), float(bottom), whole=False)
        except OverflowError:
            name = self.table.card.domain.names[place]
            raise UnsupportedModelError(
                f"feature {name!r}: the points of its numbers differ too much in size "
                f"for 64-bit numbers"
            ) from None

    def regions(self, parts: tuple[Part, ...]) -> Iterator[Region]:
        """Yield the regions, or one without conditions."""
        table = self.table
        if table.regions:
            for region in table.regions:
                yield self._region(region, parts)
            return
        if not table.totals:
            yield Region((), (), self.labels[table.lowest_class])
            return
        totals = tuple(self._form(total.weights, total.start) for total in table.totals)
        slack = max((_slack(form, parts) for form in totals), default=ZERO)
        margin = None
        if table.margin is not None:
            margin = self._at_least(table.margin, 2 * slack)
        cuts = tuple(
            Cut(
                -self._at_least(-cut.at_most, slack),
                self._at_least(cut.at_least, slack),
                self.labels[cut.below],
                self.labels[cut.above],
            )
            for cut in table.cut_offs
        )
        yield Region((), totals, self.labels[table.lowest_class], cuts, margin)

    def _region(self, region: PrintedRegion, parts: tuple[Part, ...]) -> Region:
        conditions = []
        for printed, least in region.conditions:
            form = self._form(printed.weights, ZERO)
            conditions.append((form, self._at_least(least, _slack(form, parts))))
        shown = tuple(conditions)
        if region.at_least is not None and region.at_most is not None:
            [total] = region.totals
            start = total.start if self.is_fine else ZERO
            form = self._form(total.weights, start)
            slack = _slack(form, parts)
            cut = Cut(
                -self._at_least(-region.at_most - start, slack),
                self._at_least(region.at_least + start, slack),
                *self.labels,
            )
            return Region(shown, (form,), self.labels[0], (cut,))
        label = self.labels[region.classes[0]]
        if region.margin is None:
            return Region(shown, (), label)
        totals = tuple(self._printed(form) for form in region.totals)
        slack = max(_slack(form, parts) for form in totals)
        margin = self._at_least(region.margin, 2 * slack)
        return Region(shown, totals, label, (), margin)

    def _printed(self, form: PrintedForm) -> Form:
        return self._form(form.weights, form.start)

    def _form(self, weights: Sequence[Fraction], start: Fraction) -> Form:
        own = (
            (place, _plain(float(weight)))
            for place, weight in enumerate(weights)
            if weight
        )
        return Form(_plain(float(start / self.table.step)), tuple(own))

    def _at_least(self, points: Fraction, slack: Fraction) -> float:
        """Return a number of units, a little larger if sums may be off by a slack."""
        units = points / self.table.step
        if not slack and abs(units) < MOST_UNITS:
            return int(units)
        units += slack + abs(units) * FLOAT64_ERROR
        return _plain(math.nextafter(float(units), math.inf))


def _slack(form: Form, parts: tuple[Part, ...]) -> Fraction:
    """Bound how far the float64 value of a form can lie from the exact one.

    With weights that are whole, and whole sums, nothing is rounded.
    """
    size = abs(Fraction(form.start))
    size += sum(
        (abs(Fraction(weight)) * parts[place].size for place, weight in form.weights),
        ZERO,
    )
    is_whole = isinstance(form.start, int) and all(
        isinstance(weight, int) and parts[place].is_whole
        for place, weight in form.weights
    )
    if is_whole and size < MOST_UNITS:
        return ZERO
    return (len(form.weights) + 2) * size * FLOAT64_ERROR


def _plain(number: float) -> float:
    """Return a whole number as an integer, as long as float64 holds all of them."""
    is_whole = abs(number) < MOST_UNITS and number == int(number)
    return int(number) if is_whole else float(number)


def _points_text(program: CardProgram) -> str:
    unit, scale = program.unit, program.table.scale
    units = "points" if unit == 1 else f"1/{unit:,} of a point"
    what = "as printed" if program.table is program.card.table else "as the network's"
    if scale.factor == 1:
        what += "; a point is one unit of the score"
    return f"whole numbers of {units}, {what}"


def _between_text(program: CardProgram) -> str:
    policies = {
        "none": "get no prediction",
        "nearest": "get the nearest class, which is not proved there",
        "error": "are an error",
    }
    policy = policies[program.between]
    if program.has_regions:
        return f"inputs next to the border of a region or class {policy}"
    [region] = program.regions
    unit = program.unit
    if region.margin is not None:
        return (
            f"inputs with two largest totals less than {_shown(region.margin, unit)} "
            f"apart {policy}"
        )
    gaps = [cut for cut in region.cuts if not cut.is_sharp]
    if not gaps:
        return "none; every total proves a class"
    spans = " or ".join(
        f"above {_shown(cut.at_most, unit)} and below {_shown(cut.at_least, unit)}"
        for cut in gaps
    )
    return f"inputs with a total {spans} {policy}"


def _shown(units: float, unit: int) -> str:
    return repr(_plain(units / unit))
