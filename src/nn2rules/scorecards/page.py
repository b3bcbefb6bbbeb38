"""The page that people read, with a pencil: lines of points, a total, and its cut-offs.

Everything on it is printed from `PointsTable`: what a reader adds up from the page is
what `Scorecard.points` gives, and the cut-offs on it are proved for exactly that.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from nn2rules.language import count, label_text, quoted, share
from nn2rules.output import Document, Grid, Heading, Paragraph, Part, Section
from nn2rules.rules import certificate_of, is_summary, origin_warnings
from nn2rules.scorecards.lines import CardLine, lines_of
from nn2rules.scorecards.number_bins import Bins
from nn2rules.scorecards.numbers import number_text
from nn2rules.scorecards.printed_card import Column, PointsTable, is_one_unit
from nn2rules.scorecards.regions import PrintedForm, PrintedRegion
from nn2rules.space import Range, plain_number

if TYPE_CHECKING:
    from nn2rules.scorecards.scorecard import Scorecard

_CHANCES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99)
"""The table of probabilities has the totals that are nearest to these."""

_TOO_CLOSE = "too close for rounded points; ask the model itself (predict)."

_SLACK = 1e-9
"""More than a probability worked out in float64 can be off by."""


def page_of(card: "Scorecard") -> Document:
    """Return the page of a scorecard."""
    table = card.table
    page = _Page(card, table)
    sections: list[Section] = [page.head(), page.grid()]
    parts = (page.totals(), *page.regions(), page.chances())
    sections += [part for part in parts if part]
    return Document(tuple(sections))


class _Page:
    """The parts of the page."""

    def __init__(self, card: "Scorecard", table: PointsTable) -> None:
        self.card, self.table = card, table
        self.lines = lines_of(card.domain)
        self.labels = [label_text(label) for label in card.classes]
        self.is_parts = bool(card.upper) and not is_one_unit(card)
        # A summary proves nothing about the model that it imitates.
        self.is_summary = is_summary(certificate_of(card).model)
        self.proved = "" if self.is_summary else " (proved)"
        self.subject = "summary" if self.is_summary else "model"

    def head(self) -> tuple[Part, ...]:
        """Return what is above the lines: what it is, and what is proved."""
        known = certificate_of(self.card)
        warnings = origin_warnings(known.model)
        parts: list[Part] = [Paragraph(text, "warning") for text in warnings]
        title = f"Scorecard: {' or '.join(self.labels)}"
        if len(self.labels) > 2:
            names = ", ".join(self.labels)
            title = f"Scorecard for {len(self.labels):,} classes: {names}"
        parts.append(Heading(title))
        if known.is_exact:
            is_rounded = any(any(column.error) for column in self.table.columns)
            text = (
                "Covers every input whose values appear below or lie in the ranges "
                "given. "
            )
            if not is_rounded:
                text += "Points are exact: they add up to the score of the "
                text += f"{self.subject}."
            elif self.is_summary:
                text += "Points are rounded."
            else:
                text += "Points are rounded; predictions marked “proved” are certain "
                text += "to be those of the model."
            parts.append(Paragraph(text))
        counts = known.class_rows
        if counts is not None and known.rows:
            *first, last = [
                f"{label} for {share(number, known.rows)}"
                for label, number in zip(self.labels, counts, strict=True)
            ]
            shares = f"{', '.join(first)} and {last}"
            text = f"The {self.subject} predicts {shares} of {count(known.rows, 'row')}"
            if known.labels_agree is not None:
                agree = share(known.labels_agree, known.rows)
                text += f"; its accuracy on these rows is {agree}"
            parts.append(Paragraph(f"{text}."))
        return tuple(parts)

    def grid(self) -> tuple[Part, ...]:
        """Return the lines of points, those of the most important features first."""
        rows: list[tuple[str, ...]] = []
        columns = self.table.columns
        if any(column.start for column in columns):
            starts = (number_text(column.start) for column in columns)
            rows.append(("start with", "", *starts))
        empty: list[str] = []
        for index in self._order():
            block = self.table.blocks[index]
            own = self.lines[block.start : block.stop]
            if not self._has_points(index, own):
                empty.append(quoted(own[0].feature))
                continue
            rows += self._feature(index, own)
        header = ("", "", *map(self._title, columns))
        numbers = (False, False, *(True for _ in columns))
        grid = Grid(
            tuple(rows), numbers, header, ("strong", "", *("" for _ in columns))
        )
        parts: list[Part] = [grid]
        if empty:
            parts.append(Paragraph(f"No points for any value of: {', '.join(empty)}."))
        parts.append(Paragraph(self._how_to_add()))
        return tuple(parts)

    def _has_points(self, index: int, own: tuple[CardLine, ...]) -> bool:
        """Tell whether any value of a feature has points."""
        columns = self.table.columns
        binned = (column.bins[index] or () for column in columns)
        listed = (c.points[line.column] for line in own for c in columns)
        return any(listed) or any(map(any, binned))

    def _how_to_add(self) -> str:
        """Say how the points of a row are added up."""
        text = "For each feature, take the line of its value."
        if len(self.table.columns) > 1 and any(c.start for c in self.table.columns):
            text = (
                "Begin each column with the points of “start with”. For each feature, "
                "add those in the line of its value."
            )
        if self.table.scale.bins is None and any(line.is_slope for line in self.lines):
            unit = "whole points" if not self.table.scale.digits else "printed digits"
            halves = "halves up" + ": 2.5 to 3, −2.5 to −2" * (unit == "whole points")
            size = max(self._unit(index) for index in self._order())
            divided = ", divide by the number after “per”" * (size > 1)
            text += (
                f" On a line with “per”, multiply the points by the value{divided}, "
                f"and round the result to {unit} ({halves})."
            )
        if len(self.table.columns) > 1:
            return f"{text} Then add up each column."
        start = " and what you start with" * bool(self.table.columns[0].start)
        what = "sum" if self.is_parts else "total"
        return f"{text} Then add up all points{start}: this is the {what}."

    def _order(self) -> list[int]:
        """Return the features, the most important first."""
        places = range(len(self.table.blocks))
        if self.card.profile is not None:
            known = self.card.profile.importance
            return sorted(places, key=lambda index: -known[index])

        def spread(index: int) -> Fraction:
            from nn2rules.scorecards.sums import reach_of

            block = self.table.blocks[index]
            ends = (reach_of(column.points, block) for column in self.table.columns)
            return -sum((high - low for low, high in ends), Fraction(0))

        return sorted(places, key=spread)

    def _title(self, column: Column) -> str:
        if self.is_parts:
            return f"part {column.card + 1}"
        if len(self.table.totals) > 1:
            return self.labels[column.card]
        return "points"

    def _feature(self, index: int, own: tuple[CardLine, ...]) -> list[tuple[str, ...]]:
        """Return the lines of a feature; only the first has its name."""
        unit = self._unit(index)
        rows = []
        bins = self.table.bins[index]
        for place, line in enumerate(own):
            if line.is_slope and bins is not None:
                rows += self._binned_lines(index, bins)
                continue
            name = quoted(line.feature) if place == 0 else ""
            value, size = line.value, Fraction(1)
            if line.is_slope:
                size = unit
                value = f"{line.value}: per {number_text(unit)}"
            points = (
                number_text(c.points[line.column] * size) for c in self.table.columns
            )
            rows.append((name, value, *points))
        return rows

    def _binned_lines(self, index: int, bins: Bins) -> list[tuple[str, ...]]:
        """Return a line for each bin of a range."""
        feature = self.card.domain.features[index]
        is_whole = isinstance(feature, Range) and feature.whole
        rows = []
        for place, (low, high) in enumerate(bins):
            first, last = (str(plain_number(float(end))) for end in (low, high))
            is_last = place == len(bins) - 1
            text = f"{first} to {'' if is_whole or is_last else 'below '}{last}"
            text = first if low == high else text
            points = (number_text(c.bins[index][place]) for c in self.table.columns)  # type: ignore[index]
            rows.append((quoted(feature.name) * (place == 0), text, *points))
        return rows

    def _unit(self, index: int) -> Fraction:
        """Return the round unit of a slope: its points then have two digits at most."""
        step = self.table.rate_steps[index]
        if step is None:
            return Fraction(1)
        unit = Fraction(1)
        while step * unit < Fraction(1, 100) * self.table.step:
            unit *= 10
        return unit

    def totals(self) -> tuple[Part, ...]:
        """Return what to do with the columns, and what totals prove."""
        parts: list[Part] = []
        if self.table.regions:
            parts += map(Paragraph, self._region_rules())
        else:
            if self.is_parts:
                parts += self._part_rules()
            parts += map(Paragraph, self._proved())
        profile = self.card.profile
        can_be_close = bool(self.table.cut_offs or self.table.regions)
        can_be_close |= self.table.margin is not None
        if profile is not None and profile.between is not None and can_be_close:
            number, rows = profile.between
            is_two = self.table.margin is None and not self.table.regions
            verb, which = ("lie", "between them") if is_two else ("are", "too close")
            if number <= 1:
                verb = "lies" if is_two else "is"
            shown = f"{number:,}" if number else "none"
            part = f" ({share(number, rows)})" if number else ""
            text = f"Of {count(rows, 'row')}, {shown} {verb} {which}{part}."
            parts.append(Paragraph(text))
        return tuple(parts)

    def _part_rules(self) -> list[Part]:
        """Say how the sums of parts become the total, or the total of each class."""
        table = self.table
        rules: dict[str, list[str]] = {}
        for column in table.columns:
            rule = " and ".join(_counting(column)) or "counts as it is"
            rules.setdefault(rule, []).append(self._title(column))
        parts: list[Part] = [
            Paragraph(
                f"A part {rule}."
                if len(rules) == 1
                else f"Of {', '.join(names)}: a sum {rule}."
            )
            for rule, names in rules.items()
        ]
        if len(table.totals) == 1:
            return [*parts, Paragraph(f"Total = {self._formula(0)}.")]
        text = "Multiply what each part counts by its numbers here, without rounding."
        parts.append(
            Paragraph(f"{text} Then add up each column: these are the totals.")
        )
        rows = []
        if any(total.start for total in table.totals):
            starts = (number_text(total.start) for total in table.totals)
            rows.append(("start with", *starts))
        for place, column in enumerate(table.columns):
            weights = (number_text(total.weights[place]) for total in table.totals)
            rows.append((f"{self._title(column)} ×", *weights))
        header = ("", *(f"total {label}" for label in self.labels))
        numbers = (False, *(True for _ in table.totals))
        kinds = ("strong", *("" for _ in table.totals))
        return [*parts, Grid(tuple(rows), numbers, header, kinds)]

    def _region_rules(self) -> list[str]:
        """Say how regions are read."""
        number = len(self.table.regions)
        return [
            f"The {number:,} regions below are grouped in blocks. Find the block whose "
            f"first line is true of your parts, and in it the region whose “if” lines "
            f"are all true. Parts may be negative here; keep all decimals.",
            f"If the region has a total, work it out. Its last line gives the "
            f"prediction. If no block or no region fits, or the total lies between the "
            f"two numbers: {_TOO_CLOSE}",
        ]

    def regions(self) -> list[tuple[Part, ...]]:
        """Return a block for each pattern of the parts: its regions, line by line."""
        blocks: dict[str, list[tuple[str, str]]] = {}
        for number, region in enumerate(self.table.regions, 1):
            first, rest = self._split_conditions(region)
            own = [f"if {self._condition(*each)}" for each in rest]
            own += self._outcome(region)
            numbers = [f"{number}.", *("" for _ in own[1:])]
            block = blocks.setdefault(", ".join(first), [])
            block += zip(numbers, own, strict=True)
        return [
            (
                Paragraph(f"If {title}:" if title else "Always:"),
                Grid(tuple(rows), (True, False)),
            )
            for title, rows in blocks.items()
        ]

    def _split_conditions(
        self, region: PrintedRegion
    ) -> tuple[list[str], list[tuple[PrintedForm, Fraction]]]:
        """Return the first condition of each part by itself, and the other ones."""
        first: dict[int, str] = {}
        rest: list[tuple[PrintedForm, Fraction]] = []
        for form, least in region.conditions:
            places = [place for place, weight in enumerate(form.weights) if weight]
            if len(places) == 1 and not rest and places[0] not in first:
                first[places[0]] = self._condition(form, least)
            else:
                rest.append((form, least))
        return [first[place] for place in sorted(first)], rest

    def _condition(self, form: PrintedForm, least: Fraction) -> str:
        """Return a condition; its first part has a plus, so that equal sums look so."""
        if next(weight for weight in form.weights if weight) < 0:
            form = PrintedForm(
                tuple(-weight for weight in form.weights), form.start, form.error
            )
            return f"{self._terms(form.weights, Fraction(0))} ≤ {number_text(-least)}"
        return f"{self._terms(form.weights, Fraction(0))} ≥ {number_text(least)}"

    def _outcome(self, region: PrintedRegion) -> list[str]:
        """Say what is predicted in a region, in a line or a few."""
        labels = self.labels
        if not region.totals:
            return [f"predict {labels[region.classes[0]]}{self.proved}"]
        if region.at_least is not None and region.at_most is not None:
            return [
                f"total = {self._terms(region.totals[0].weights, Fraction(0))}",
                f"total of at least {number_text(region.at_least)}: predict "
                f"{labels[1]}, at most {number_text(region.at_most)}: predict "
                f"{labels[0]}{self.proved}",
            ]
        assert region.margin is not None, "several totals have a margin"
        return [
            *(
                f"total {label} = {self._terms(form.weights, form.start)}"
                for label, form in zip(labels, region.totals, strict=True)
            ),
            f"predict the class with the largest total, if it is ahead of all others "
            f"by at least {number_text(region.margin)}{self.proved}",
        ]

    def _formula(self, place: int) -> str:
        """Return how a total is made of the parts."""
        total = self.table.totals[place]
        return self._terms(total.weights, total.start)

    def _terms(self, weights: Sequence[Fraction], start: Fraction) -> str:
        """Return a sum of parts, in signs that need no brackets."""
        terms = []
        for column, weight in zip(self.table.columns, weights, strict=True):
            if weight:
                size = "" if abs(weight) == 1 else f"{number_text(abs(weight))} × "
                terms.append((weight > 0, f"{size}{self._title(column)}"))
        terms.sort(key=lambda term: not term[0])
        text = number_text(start) if start or not terms else ""
        for is_plus, term in terms:
            sign = "+" if is_plus else "−"
            text += f" {sign} {term}" if text else (term if is_plus else f"−{term}")
        return text

    def _proved(self) -> list[str]:
        """Say which totals prove which class."""
        table, labels = self.table, self.labels
        if table.margin is not None:
            margin = number_text(table.margin)
            return [
                "Subtract the second largest total from the largest.",
                f"At least {margin}: predict the class of the largest{self.proved}.",
                f"Less: {_TOO_CLOSE}",
            ]
        if not table.cut_offs:
            return [f"Every total: predict {labels[table.lowest_class]}{self.proved}."]
        texts, last = [], None
        for cut in reversed(table.cut_offs):
            upper = "" if last is None else f", at most {number_text(last.at_most)}"
            texts.append(
                f"Total of at least {number_text(cut.at_least)}{upper}: predict "
                f"{labels[cut.above]}{self.proved}."
            )
            last = cut
        assert last is not None, "there are cut-offs"
        texts.append(
            f"Total of at most {number_text(last.at_most)}: predict "
            f"{labels[last.below]}{self.proved}."
        )
        if any(
            _is_wide(cut.at_least, cut.at_most, table.step) for cut in table.cut_offs
        ):
            texts.append(f"Between: {_TOO_CLOSE}")
        return texts

    def chances(self) -> tuple[Part, ...]:
        """Return a table from totals to the probability of the second class."""
        table = self.table
        if not self.card.has_probabilities or len(table.totals) != 1:
            return ()
        if self.card.upper and is_one_unit(self.card):
            return ()
        rows: list[tuple[str, ...]] = []
        low, high = table.reach
        for chance in _CHANCES:
            [total] = table.totals
            score = Fraction(math.log(chance / (1 - chance)))
            points = total.factor * score + total.offset
            size = 10 ** max(0, len(str(abs(int(high - low)))) - 3)
            points = Fraction(round(points / size) * size)
            if low <= points <= high:
                rows.append((number_text(points), self._chance(points)))
        found = list(dict.fromkeys(rows))
        if not found:
            return ()
        header = ("total", f"probability of {self.labels[1]}")
        return (Grid(tuple(found), (True, True), header),)

    def _chance(self, points: Fraction) -> str:
        """Return the probability at a printed total: between two bounds, in percent."""
        [total] = self.table.totals
        ends = [(points - total.offset - error) / total.factor for error in total.error]
        low, high = (_sigmoid(float(end)) for end in (min(ends), max(ends)))
        first = math.floor(1000 * (low - _SLACK)) / 10
        last = math.ceil(1000 * (high + _SLACK)) / 10
        first, last = max(first, 0.0), min(last, 100.0)
        return f"{first:.1f}% to {last:.1f}%"


def _counting(column: Column) -> list[str]:
    """Say what a sum counts where it is too small or too large."""
    found = []
    if column.below is not None:
        found.append(f"below 0 counts {number_text(column.below)} times itself")
    for end, side in ((column.low, "below"), (column.high, "above")):
        if end is not None:
            found.append(f"{side} {number_text(end)} counts {number_text(end)}")
    return found


def _sigmoid(score: float) -> float:
    small = math.exp(-abs(score))
    return (1 if score >= 0 else small) / (1 + small)


def _is_wide(high: Fraction, low: Fraction, step: Fraction) -> bool:
    """Tell whether a total of whole steps can lie between two cut-offs."""
    return high - low > step
