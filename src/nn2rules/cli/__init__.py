"""The command line: parsing and printing, nothing else. One module a command."""

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
    neurons,
    predict,
    report,
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
    export,
    train,
    neurons,
    demo,
    doctor,
)
"""In the order of the help."""


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal without ≤ shows \u2264
            stream.reconfigure(errors="backslashreplace")
    app()
