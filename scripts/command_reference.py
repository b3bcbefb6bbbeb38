"""Write the command reference in Markdown: a table of options for each command.

Usage: ``python scripts/command_reference.py [FILE]``

It is made from the commands themselves, so it has every option, in the words and the
groups of ``--help``. Without a file it is printed. The site calls `reference`.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from typer.main import get_command

from nn2rules.cli import app
from nn2rules.cli.options import PANELS

_INTRODUCTION = """# Command reference

Every command is `nn2rules COMMAND`, or `python -m nn2rules COMMAND`. The same text is
printed by `nn2rules COMMAND --help`. [How to use the command
line](../how-to/command-line.md) shows the commands at work.
"""


def reference() -> str:
    """Return the command reference."""
    group: Any = get_command(app)
    context = group.make_context("nn2rules", [], resilient_parsing=True)
    names = group.list_commands(context)
    commands = {name: group.get_command(context, name) for name in names}
    overview = [["command", "what it does"]]
    overview += [[f"`{name}`", _summary(each)] for name, each in commands.items()]
    parts = [_INTRODUCTION, _table(overview), _plain(group.epilog)]
    for name, command in commands.items():
        parts += _command(name, command, context)
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def _summary(command: Any) -> str:
    return _plain(command.help).split("\n\n")[0]


def _command(name: str, command: Any, parent: Any) -> Iterator[str]:
    """Yield the section of a command."""
    context = type(parent)(command, info_name=f"nn2rules {name}", parent=None)
    usage = " ".join([f"nn2rules {name}", *command.collect_usage_pieces(context)])
    yield f"## nn2rules {name}"
    yield _plain(command.help)
    example = _plain(command.epilog).removeprefix("Example: ")
    yield f"```text\n{usage}\n```\n\nExample:\n\n```bash\n{example}\n```"
    parameters = command.get_params(context)
    arguments = [each for each in parameters if each.param_type_name == "argument"]
    if arguments:
        rows = [[f"`{each.metavar}`", _plain(each.help)] for each in arguments]
        yield _table([["argument", "description"], *rows])
    panels: dict[str, list[Any]] = {}
    for each in parameters:
        if each.param_type_name == "option" and not each.hidden:
            panels.setdefault(each.rich_help_panel or PANELS[0], []).append(each)
    for panel, options in panels.items():
        rows = [[_spelling(each), _description(each)] for each in options]
        yield f"**{panel}**"
        yield _table([["option", "description"], *rows])


def _spelling(option: Any) -> str:
    """Return how an option is written: --jobs N."""
    names = ", ".join(f"`{name}`" for name in sorted(option.opts, key=len)[::-1])
    return f"{names} `{option.metavar}`" if option.metavar else names


def _description(option: Any) -> str:
    text = _plain(option.help)
    if option.required:
        return f"{text} Required."
    is_value = isinstance(option.default, str | int | float | Path)
    if not is_value or isinstance(option.default, bool) or option.default == "":
        return text
    return f"{text} Default: `{option.default}`."


def _plain(text: str | None) -> str:
    """Return a help text without the backslashes that keep brackets in Rich."""
    return re.sub(r"\\(\[)", r"\1", text or "").strip()


def _table(rows: list[list[str]]) -> str:
    """Return a table in Markdown, with its header first."""
    cells = [[_cell(text) for text in row] for row in rows]
    lines = [cells[0], ["---"] * len(cells[0]), *cells[1:]]
    return "\n".join(f"| {' | '.join(row)} |" for row in lines)


def _cell(text: str) -> str:
    """Return a text as it is shown in a cell, with names of options as code."""
    text = " ".join(text.split())
    parts = text.split("`")
    parts[::2] = [_prose(part) for part in parts[::2]]
    return "`".join(parts).replace("|", "\\|")


def _prose(text: str) -> str:
    text = re.sub(r"([<>*_\[])", r"\\\1", text)
    return re.sub(r"(?<![\w`-])(--[a-z][a-z-]*)", r"`\1`", text)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(reference(), encoding="utf-8")
    else:
        print(reference(), end="")
