"""Rules in the formats that `nn2rules.load_rules` reads back: JSON, CSV and Excel.

CSV and Excel files hold a decision table, which people may edit.
"""

from nn2rules.errors import OptionError
from nn2rules.export.card_program import CardProgram
from nn2rules.export.program import RuleProgram
from nn2rules.files import book_of, csv_of_book, to_json, xlsx_of_book


def write_json(program: RuleProgram) -> str:
    """Return rules as JSON, as `RuleList.save` writes it."""
    for name in ("unknown", "uncovered"):
        if getattr(program, name) != "none":
            raise OptionError(
                f"{name}: {getattr(program, name)!r}, but the format 'json' has "
                f"rules only; choose this when you apply them"
            )
    return to_json(program.rules)


def write_card_json(program: CardProgram) -> str:
    """Return a scorecard as JSON, as `Scorecard.save` writes it."""
    for name in ("unknown", "between"):
        if getattr(program, name) != "none":
            raise OptionError(
                f"{name}: {getattr(program, name)!r}, but the format 'json' has the "
                f"scorecard only; choose this when you apply it"
            )
    return to_json(program.card)


def write_csv(program: RuleProgram) -> str:
    """Return rules as the text of a CSV file."""
    return csv_of_book(book_of(program.rules), program.about)


def write_xlsx(program: RuleProgram) -> bytes:
    """Return rules as the bytes of an Excel file."""
    return xlsx_of_book(book_of(program.rules), program.about)
