"""Printing and writing: rules go to the screen or to a file.

Names and values may come from strangers, and a terminal obeys control characters.
Everything that a command prints goes through `Visible`, which escapes them; files keep
their bytes.
"""

import os
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from nn2rules.errors import FormatError, OptionError
from nn2rules.files import check_writable
from nn2rules.rules import Description, RuleList, Top

_OBEYED = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]|\r(?!\n)"
)
"""Control characters other than tabs and line ends, and those that reverse text."""


def visible(text: str, escape: str = "\\u{:04x}") -> str:
    """Return a text with its control characters escaped.

    By default they are escaped as in JSON, which still reads the same.
    """
    return _OBEYED.sub(lambda match: escape.format(ord(match.group())), text)


def check_printable(text: str, what: str, example: str) -> None:
    """Refuse to print control characters in a format that has no escapes."""
    match = _OBEYED.search(text)
    if match is not None:
        raise OptionError(
            f"{what} contain the control character {match.group()!a}, which cannot be "
            f"printed; write to a file with -o {example}"
        )


def drop(stream: TextIO) -> None:
    """Discard the rest of a stream, so that closing it cannot fail."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


class Visible:
    """A stream that escapes control characters."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write a text, with control characters escaped."""
        with self._until_closed():
            self._stream.write(visible(text))
        return len(text)

    def flush(self) -> None:
        """Flush the stream."""
        with self._until_closed():
            self._stream.flush()

    @contextmanager
    def _until_closed(self) -> Iterator[None]:
        """Discard the output once its reader is gone.

        The command continues, so that it ends with its own exit code.
        """
        try:
            yield
        except BrokenPipeError:
            drop(self._stream)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@dataclass(frozen=True, slots=True)
class Shown:
    """How rules are printed: as `RuleList.text`, or as JSON."""

    top: Top
    verbose: bool
    as_json: bool = False


def width() -> int:
    """Return the width of lines: that of the terminal, if there is one."""
    columns = shutil.get_terminal_size().columns if sys.stdout.isatty() else 80
    return min(max(columns, 60), 120)


def check_places(
    output: Path | None, network: Path | None, read: tuple[Path | None, ...]
) -> None:
    """Refuse, before any work, to overwrite an input or to write where it cannot be."""
    if output is not None:
        check_writable(output, keep=(*read, network))
        partial = partial_place(output)
        if partial is not None:
            check_writable(partial, keep=(*read, network))
    if network is not None:
        check_writable(network, keep=read)


def partial_place(output: Path | None) -> Path | None:
    """Return where incomplete rules go: not where all rules are expected."""
    if output is None or (output.exists() and not output.is_file()):
        return None
    return output.with_suffix(f".partial{output.suffix}")


def show(rules: Description, shown: Shown, output: Path | None) -> None:
    """Print a description, or write it to a file."""
    if output is None and shown.as_json:
        print(rules.to_json(), end="")
        return
    if output is None:
        if isinstance(rules, RuleList):
            print(rules.text(shown.top, width=width(), verbose=shown.verbose))
        else:
            print(rules.text(width=width()))
        return
    try:
        rules.save(output)
    except FormatError:  # do not lose the work if the disk is full
        print(rules.to_json(), end="")
        raise
    print(f"written to {output}")
