"""The command line: it parses and prints, and calls the library for the rest.

Each command is a module with a function of its name. `options` declares what several
commands share, `app` turns functions into commands and errors into messages, `output`
prints and writes. May import any room below.
"""

import io
import sys

from nn2rules.cli import (
    audit,
    check,
    compare,
    demo,
    doctor,
    evaluate,
    explain,
    export,
    extract,
    extract_many,
    monitor,
    neurons,
    predict,
    report,
    summarize,
    train,
    verify,
)
from nn2rules.cli.app import app

COMMANDS = (
    extract,
    extract_many,
    report,
    predict,
    explain,
    verify,
    audit,
    check,
    compare,
    evaluate,
    monitor,
    export,
    train,
    summarize,
    neurons,
    demo,
    doctor,
)
"""In the order in which the help lists them."""


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal without ≤ shows \u2264
            stream.reconfigure(errors="backslashreplace")
    app()
