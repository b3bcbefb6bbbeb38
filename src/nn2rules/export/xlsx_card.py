"""Scorecards as Excel files that score: fill in values, and see points and class.

The sheet "scorecard" has a line for each feature, with a cell to fill in, and its
points; below are the totals and the class. The sheet "points" has the points of each
value, which the formulas look up. Points are whole numbers, whose sums are exact in a
spreadsheet, too. Spreadsheets compare numbers by their first 15 digits.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from nn2rules.errors import OptionError
from nn2rules.export.card_program import CardProgram, Form, Line, Part, Rate
from nn2rules.export.card_text import (
    check_card_doubles,
    decisions,
    form_text,
    ordered_lines,
)
from nn2rules.export.cells import LARGEST, Interval
from nn2rules.export.columns import Column
from nn2rules.export.program import refuse_errors
from nn2rules.files import letter, openpyxl_for, set_text, workbook_bytes
from nn2rules.language import quoted
from nn2rules.space import Value

_LONGEST = 8000  # characters of a formula
_MOST_NESTED = 60  # tests within tests
_SHEET, _POINTS, _ABOUT = "scorecard", "points", "about"


@dataclass(frozen=True, slots=True)
class _Entry:
    """A row of the sheet of points: what a cell may be, and the points."""

    column: int
    shown: str
    word: Value
    interval: Interval | None
    line: Line


def write(program: CardProgram) -> bytes:
    """Return a scorecard as the bytes of an Excel file."""
    refuse_errors(program, "a spreadsheet")
    check_card_doubles(program, "Excel")
    if program.has_regions:
        raise OptionError(
            "a spreadsheet cannot hold a scorecard with regions; use another format, "
            "such as 'sql' or 'python'"
        )
    openpyxl = openpyxl_for("writing an .xlsx file")
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    sheet.title = _SHEET
    writer = _Writer(program, workbook.create_sheet(_POINTS))
    writer.fill_points()
    writer.fill(sheet)
    about = workbook.create_sheet(_ABOUT)
    for number, (key, sentence) in enumerate(program.about, 1):
        set_text(about.cell(number, 1), key)
        set_text(about.cell(number, 2), sentence)
    return workbook_bytes(workbook)


class _Writer:
    """Fills the sheets."""

    def __init__(self, program: CardProgram, points: Any) -> None:
        self.program, self.points = program, points
        self.entries = [
            entry
            for place, (column, lines) in enumerate(
                zip(program.columns, program.lines, strict=True)
            )
            for entry in _entries(place, column, lines)
        ]
        self.rows = {id(entry): n for n, entry in enumerate(self.entries, 2)}

    def fill_points(self) -> None:
        """Fill the sheet of points: a row for each value, and the classes beside."""
        header = ["feature", "value", *(part.name for part in self.program.parts)]
        for index, text in enumerate(header, 1):
            set_text(self.points.cell(1, index), text)
        for entry in self.entries:
            row = self.rows[id(entry)]
            set_text(self.points.cell(row, 1), self.program.columns[entry.column].name)
            cell = self.points.cell(row, 2)
            if isinstance(entry.word, str) and entry.interval is None:
                set_text(cell, entry.word)
            else:
                set_text(cell, entry.shown)
            for place, points in enumerate(entry.line.points):
                if isinstance(points, int):
                    self.points.cell(row, 3 + place, points)
                else:
                    set_text(self.points.cell(row, 3 + place), _rate_text(points))
        start = len(self.entries) + 3
        self.labels = {}
        for number, label in enumerate(self.program.labels, start):
            set_text(self.points.cell(number, 1), "class")
            cell = self.points.cell(number, 2)
            if isinstance(label, str):
                set_text(cell, label)
            else:
                cell.value = label
            self.labels[number - start] = f"{_POINTS}!$B${number}"

    def fill(self, sheet: Any) -> None:
        """Fill the sheet in which a row is scored."""
        program = self.program
        n_parts = len(program.parts)
        header = ["feature", "value", "row in points"]
        header += [f"points ({part.name})" for part in program.parts]
        for index, text in enumerate(header, 1):
            set_text(sheet.cell(1, index), text)
        last = len(program.columns) + 1
        for place, column in enumerate(program.columns):
            row = place + 2
            set_text(sheet.cell(row, 1), column.name)
            sheet.cell(row, 3, self._checked(self._found(place, column, f"$B{row}")))
            for part in range(n_parts):
                made = self._checked(self._points_of(place, part, row))
                sheet.cell(row, 4 + part, made)
        is_known = f"COUNTIF($C$2:$C${last},0)=0"
        counted, row = [], last + 2
        for number, own in enumerate(program.parts):
            where = letter(3 + number)
            total = f"{own.start}+SUM({where}$2:{where}${last})"
            set_text(sheet.cell(row, 1), f"sum ({own.name})")
            sheet.cell(row, 2, f'=IF({is_known},{_counted(own, total)},"")')
            counted.append(f"$B${row}")
            row += 1
        [region] = program.regions
        totals = []
        for name, form in zip(program.beside, region.totals, strict=False):
            set_text(sheet.cell(row, 1), name)
            made = self._form(form, counted)
            sheet.cell(row, 2, f'=IF({is_known},({made})/{program.unit},"")')
            totals.append(f"({made})")
            row += 1
        set_text(sheet.cell(row, 1), "prediction")
        made = self._decision(totals)
        sheet.cell(row, 2, self._checked(f'=IF({is_known},{made},"")'))
        for index, width in enumerate((30, 30, 14, *[22] * n_parts), 1):
            sheet.column_dimensions[letter(index - 1)].width = width
        sheet.freeze_panes = "A2"
        self._add_choices(sheet)

    def _add_choices(self, sheet: Any) -> None:
        """Offer the listed texts of a feature as choices."""
        from openpyxl.worksheet.datavalidation import DataValidation

        for place, column in enumerate(self.program.columns):
            rows = [
                self.rows[id(entry)]
                for entry in self.entries
                if entry.column == place and isinstance(entry.word, str)
            ]
            if column.kind == "text" and rows:
                listed = f"={_POINTS}!$B${rows[0]}:$B${rows[-1]}"
                choice = DataValidation(type="list", formula1=listed, allow_blank=True)
                choice.showErrorMessage = False
                choice.add(f"B{place + 2}")
                sheet.add_data_validation(choice)

    def _form(self, form: Form, counted: Sequence[str]) -> str:
        return form_text(form, counted)

    def _decision(self, totals: Sequence[str]) -> str:
        """Return the class that totals prove: nested tests."""
        [region] = self.program.regions
        text = ""
        found = decisions(self.program, region, totals, "AND")
        for n_open, (test, label) in enumerate(found):
            places = [n for n, each in enumerate(self.program.labels) if each is label]
            shown = '""' if label is None else self.labels[places[0]]
            if not test:
                return text + shown + ")" * n_open
            joined = f"AND({test.replace(' AND ', ',')})" if " AND " in test else test
            text += f"IF({joined},{shown},"
        raise AssertionError("the last decision has no test")

    def _found(self, place: int, column: Column, cell: str) -> str:
        """Return the row of points of a cell; 0 if it is outside the domain."""
        entries = [each for each in self.entries if each.column == place]
        missing = self._row(
            e for e in entries if e.line.cells.missing and e.word is None
        )
        if column.kind == "text":
            empty = self._row(e for e in entries if e.word == "") or missing
            words = [self.rows[id(e)] for e in entries if isinstance(e.word, str)]
            other = self._row(e for e in entries if e.line.cells.negated)
            return f'=IF({cell}="",{empty},{self._among(words, cell, other)})'
        tests = []
        for entry in entries:
            row = self.rows[id(entry)]
            if isinstance(entry.word, bool):
                tests.append((f"{cell}={str(entry.word).upper()}", row))
            elif entry.interval is not None:
                tests.append((_inside(cell, entry.interval, column), row))
            elif entry.word is not None:
                tests.append((f"{cell}={entry.word!r}", row))
        other = self._row(e for e in entries if e.line.cells.negated)
        if len(tests) > _MOST_NESTED:
            raise OptionError(
                f"feature {quoted(column.name)} has more than {_MOST_NESTED} values "
                f"that are numbers, which no formula of a spreadsheet holds; use "
                f"another format"
            )
        found = "".join(f"IF({test},{row}," for test, row in tests)
        found += str(other) + ")" * len(tests)
        kind = "ISLOGICAL" if column.kind == "truth" else "ISNUMBER"
        return f'=IF({cell}="",{missing},IF({kind}({cell}),{found},0))'

    def _row(self, entries: Iterator[_Entry]) -> int:
        entry = next(entries, None)
        return 0 if entry is None else self.rows[id(entry)]

    def _among(self, rows: list[int], cell: str, other: int) -> str:
        """Return the row of a text among some that follow each other."""
        if not rows:
            return str(other)
        span = f"{_POINTS}!$B${rows[0]}:$B${rows[-1]}"
        found = f"SUMPRODUCT(EXACT({span},{cell})*ROW({span}))"
        return f"IF({found}=0,{other},{found})" if other else found

    def _points_of(self, place: int, part: int, row: int) -> str:
        """Return the points of a feature in a part."""
        where = letter(2 + part)
        found = f"INDEX({_POINTS}!${where}$1:${where}${len(self.entries) + 1},$C{row})"
        for entry in self.entries:
            points = entry.line.points[part]
            if entry.column == place and isinstance(points, Rate):
                number = self.rows[id(entry)]
                if entry.interval is not None:
                    found = (
                        f"IF($C{row}={number},{_product(points, f'$B{row}')},{found})"
                    )
        return f"=IF($C{row}=0,0,{found})"

    def _checked(self, formula: str) -> str:
        if len(formula) > _LONGEST:
            raise OptionError(
                "this scorecard needs a formula that is longer than a spreadsheet "
                "allows; use another format, such as 'sql' or 'python'"
            )
        return formula


def _entries(place: int, column: Column, lines: tuple[Line, ...]) -> Iterator[_Entry]:
    """Yield what cells of a column may be: listed texts come one after the other."""
    ordered = ordered_lines(lines)
    for line in ordered:
        if not line.cells.negated:
            for word in line.cells.words:
                yield _Entry(place, str(word), word, None, line)
        if line.cells.missing:
            for gap in column.gaps:
                yield _Entry(place, gap, gap, None, line)
    for line in ordered:
        if line.cells.missing:
            yield _Entry(place, "missing", None, None, line)
        for each in line.cells.intervals:
            yield _Entry(place, f"{each.low} to {each.high}", None, each, line)
        if line.cells.negated and not line.cells.missing:
            yield _Entry(place, "others", None, None, line)


def _inside(cell: str, interval: Interval, column: Column) -> str:
    tests = []
    if interval.low not in (None, -LARGEST):
        sign = ">" if interval.low_is_strict else ">="
        tests.append(f"{cell}{sign}{interval.low!r}")
    if interval.high not in (None, LARGEST):
        sign = "<" if interval.high_is_strict else "<="
        tests.append(f"{cell}{sign}{interval.high!r}")
    if column.whole:
        tests.append(f"{cell}=INT({cell})")
    return f"AND({','.join(tests)})" if tests else "TRUE"


def _product(rate: Rate, cell: str) -> str:
    if rate.whole:
        return f"{rate.top!r}*{cell}"
    inner = f"{rate.top!r}*{cell}+{rate.half!r}"
    return f"INT(({inner})/{rate.bottom!r})" if rate.bottom != 1 else f"INT({inner})"


def _rate_text(rate: Rate) -> str:
    text = f"{rate.top!r} × value"
    return text if rate.bottom == 1 else f"{text} ÷ {rate.bottom:.0f}"


def _counted(part: Part, made: str) -> str:
    if part.below is not None:
        made = f"IF({made}<0,{part.below!r}*({made}),{made})"
    if part.low is not None:
        made = f"MAX({part.low},{made})"
    return made if part.high is None else f"MIN({part.high},{made})"
