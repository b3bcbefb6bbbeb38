"""Exports that are spreadsheets: rules are read back, scorecards work in LibreOffice.

A workbook scores one row, so the sheet is copied for each row, and all copies are
worked out at once.
"""

import io
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import openpyxl

from export.engines import in_nn2rules
from export.executing import needs
from nn2rules.export.card_program import CardProgram, Scored
from nn2rules.export.program import Prediction, Program


def execute(made: Any, program: Program, rows: Any) -> list[Prediction | None]:
    """Run an export."""
    if not isinstance(program, CardProgram):
        return in_nn2rules.execute(made, program, rows)
    workbook = openpyxl.load_workbook(io.BytesIO(made))
    template = workbook["scorecard"]
    for number, row in enumerate(rows):
        sheet = workbook.copy_worksheet(template)
        sheet.title = f"row {number}"
        for place, column in enumerate(program.columns, 2):
            cell = sheet.cell(place, 2)
            cell.value = row[column.name]
            if isinstance(cell.value, str):
                cell.data_type = "s"
    worked_out = recalculated(workbook)
    found: list[Prediction | None] = []
    for number in range(len(rows)):
        cells = worked_out[f"row {number}"]
        last = [c for c in cells.iter_rows(values_only=True) if c[0] is not None]
        n_totals = len(program.regions[0].totals)
        totals = [row[1] for row in last[-1 - n_totals : -1]]
        totals += [None] * (len(program.beside) - n_totals)
        shown = tuple(None if t in (None, "") else float(t) for t in totals)
        label = last[-1][1]
        found.append(Scored(None if label in (None, "") else label, None, shown))
    return found


def recalculated(workbook: Any) -> Any:
    """Return a workbook as LibreOffice works it out."""
    soffice = shutil.which("soffice")
    needs(soffice is not None, "LibreOffice", "install libreoffice-calc-nogui")
    with tempfile.TemporaryDirectory() as folder:
        given, made = Path(folder) / "card.xlsx", Path(folder) / "made"
        workbook.save(given)
        command = [
            *(soffice, f"-env:UserInstallation={Path(folder).as_uri()}/profile"),
            *("--headless", "--convert-to", "xlsx", "--outdir", made, given),
        ]
        subprocess.run(command, check=True, capture_output=True, timeout=300)
        return openpyxl.load_workbook(made / "card.xlsx", data_only=True)
