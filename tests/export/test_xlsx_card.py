"""Scorecards in spreadsheets, worked out by LibreOffice."""

import pytest

from export.card_cases import card
from export.executing import check_card
from export.exportable import rows_for
from nn2rules import OptionError
from nn2rules.export import card_program_of

# LibreOffice compares numbers by 15 digits, so no row has a number beside another.


@pytest.mark.parametrize("name", ["single", "whole points", "three classes", "parts"])
@pytest.mark.parametrize("points", ["fine", "printed"])
def test_a_workbook_scores_as_its_program(name, points):
    program = card_program_of(card(name), points=points)
    rows = [row for row in rows_for(program, 60) if _is_plain(row)]
    check_card(card(name), "xlsx", rows, points=points)


def _is_plain(row):
    numbers = [cell for cell in row.values() if isinstance(cell, float)]
    return all(float(f"{number:.12g}") == number for number in numbers)


def test_regions_are_refused():
    with pytest.raises(OptionError, match="cannot hold a scorecard with regions"):
        card("regions").export("xlsx")
