"""Rules as JSON: the format nn2rules-rules/1, as `RuleList.save` writes it."""

from nn2rules.errors import OptionError
from nn2rules.export.program import Program
from nn2rules.files import to_json


def write(program: Program) -> str:
    """Return rules as JSON, as `RuleList.save` writes it."""
    for name in ("unknown", "undecided"):
        if getattr(program, name) != "none":
            raise OptionError(
                f"{name}: {getattr(program, name)!r}, but the format 'json' holds "
                f"rules alone; whoever applies them says what other rows get"
            )
    return to_json(program.rules)
