"""The result of each model, as a file for the next run, and as a table."""

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from nn2rules.errors import FormatError
from nn2rules.files import read_text
from nn2rules.language import count, share
from nn2rules.output import Document, Grid, Paragraph, Result

FORMAT = "nn2rules-batch/1"
State = Literal["done", "failed", "stopped", "left"]
_HEADER = ("model", "rules", "rows covered", "seconds")


@dataclass(frozen=True, slots=True)
class Entry:
    """The result of a model.

    Attributes
    ----------
    name : str
    state : {"done", "failed", "stopped", "left"}
        "stopped" by a limit, which is also an error; "left" for another run.
    rules, rows, rows_covered : int or None
        The number of rules, of rows, and of rows that the rules cover.
    seconds : float or None
    error : str or None
        Why there are no rules.
    digest, result : str or None
        Of all inputs, and of the file with the rules.
    is_new : bool
        Whether it was done in this run, and not in an earlier one.
    """

    name: str
    state: State = "left"
    rules: int | None = None
    rows: int | None = None
    rows_covered: int | None = None
    seconds: float | None = None
    error: str | None = None
    digest: str | None = None
    result: str | None = None
    is_new: bool = True


@dataclass(frozen=True, slots=True)
class Report(Result):
    """The results of all models, in the order of the plan.

    Examples
    --------
    >>> print(Report((Entry("a", "done", 7, 90, 90, 1.25), Entry("b"))))
    model  rules  rows covered  seconds
    a          7          100%      1.2
    b      not done yet
    1 of 2 models done, 1 left
    """

    models: tuple[Entry, ...]

    def count(self, *states: State) -> int:
        """Return how many models are in one of these states."""
        return sum(entry.state in states for entry in self.models)

    @property
    def is_done(self) -> bool:
        """Whether all models have their rules."""
        return self.count("done") == len(self.models)

    def __getitem__(self, name: str) -> Entry:
        """Return the result of a model."""
        return next(entry for entry in self.models if entry.name == name)

    def with_entry(self, entry: Entry) -> "Report":
        """Return a report with an entry in place of the one of its name."""
        models = (entry if old.name == entry.name else old for old in self.models)
        return Report(tuple(models))

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain values."""
        plain = [asdict(entry) for entry in self.models]
        for entry in plain:
            del entry["is_new"]
        return {"format": FORMAT, "models": plain}

    def to_json(self) -> str:
        """Return the report as the text of a file."""
        return json.dumps(self.to_dict(), indent=1) + "\n"

    def document(self) -> Document:
        """Return a table of the models, and how many are done."""
        rows = (_HEADER, *map(_cells, self.models))
        numbers = (False, *[True] * (len(_HEADER) - 1))
        table = Grid(rows, numbers, counts_characters=True)
        return Document(((table, Paragraph(self._summary())),))

    def _summary(self) -> str:
        models = count(len(self.models), "model")
        before = sum(not entry.is_new for entry in self.models)
        failed, left = self.count("failed", "stopped"), self.count("left")
        parts = [f"{self.count('done'):,} of {models} done"]
        parts += [f"{before:,} of them in an earlier run"] * bool(before)
        parts += [f"{failed:,} failed"] * bool(failed)
        parts += [f"{left:,} left"] * bool(left)
        return ", ".join(parts)


def _cells(entry: Entry) -> tuple[str, ...]:
    if entry.state == "left":
        return (entry.name, "not done yet")
    if entry.error is not None:
        return (entry.name, f"error: {entry.error}")
    covered = "–"
    if entry.rows:
        covered = share(entry.rows_covered or 0, entry.rows)
    seconds = f"{entry.seconds or 0:.1f}" if entry.is_new else "done earlier"
    return (entry.name, f"{entry.rules:,}", covered, seconds)


def read_report(path: Path) -> dict[str, Entry]:
    """Read the results of an earlier run, by the names of the models."""
    try:
        document: Any = json.loads(read_text(path))
        if document["format"] != FORMAT:
            raise ValueError  # noqa: TRY301  the same sentence
        entries = [Entry(**entry) for entry in document["models"]]
    except (ValueError, TypeError, LookupError):
        raise FormatError(f"{path}: this is not a report of extract-many") from None
    return {entry.name: replace(entry, is_new=False) for entry in entries}
