"""Every exception nn2rules raises on purpose.

Nn2RulesError
├── DomainError             the features or values are inconsistent
│   └── UnknownValueError   a row holds a value its feature does not have
├── RowsError               rows of data cannot be read: a column is missing, …
│   └── OpenRowsError       rules of scope "support" leave a row undecided
├── FormatError             a file is not what it claims to be; names the place
├── ParseError              a text is no condition, or no claim; points at the place
├── UnsupportedModelError   no adapter or engine reads this model, or this layer
├── MissingExtraError       an optional library is needed; gives the pip command
├── NoSuchRuleError         there is no rule of this name
├── OptionError             an option, or two options together, make no sense
├── BudgetExceededError     the work outgrew its limit; nothing approximate is returned
├── ClusterError            workers cannot be reached, or fail again and again
├── InternalError           a result failed its own check, and is not returned
└── UndecidedError          a score is too near to a tie for any arithmetic we have

Nn2RulesWarning
├── BinsWarning             the model seems to have bins that it does not name
├── ByHeartWarning          the network needs about one rule a row
├── CertificateWarning      a certificate belongs to other rules, and is left out
├── OpenRowsWarning         no rule covers some rows, whose prediction is None
├── RetryWarning            a worker was lost, and its work is done again
└── SpecialValueWarning     a number in a range looks like a code, such as 999

All carry one message for people: what is wrong, where, and what would be right.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

_GRID = 6  # so many numbers are a grid, and not the codes of a few categories


class Nn2RulesError(Exception):
    """Base of every error that nn2rules raises on purpose."""

    def __reduce__(self) -> Any:
        """Let errors come back from other processes, whatever they are made from."""
        return _restored, (type(self), self.args, self.__dict__)


def _restored(kind: Any, args: tuple[Any, ...], facts: dict[str, Any]) -> Any:
    error = kind.__new__(kind, *args)
    error.__dict__.update(facts)
    return error


class DomainError(Nn2RulesError, ValueError):
    """The features or values of a domain are inconsistent."""


class UnknownValueError(DomainError):
    """A row holds a value that its feature does not have.

    Attributes
    ----------
    feature, value, values, row
        The feature's name, the value found, the values known, and the index of the
        row (from 0), or None when no row is concerned. Of a feature that is a range of
        numbers, the message names its limits; of a missing cell in a spelling that the
        model does not take for missing (`is_refused`), it says so.
    fact : str
        The message without the row.
    """

    def __init__(
        self,
        feature: str,
        value: object,
        values: Sequence[object],
        *,
        row: int | None = None,
        limits: tuple[float, float] | None = None,
        whole: bool = False,
        is_refused: bool = False,
    ) -> None:
        self.feature, self.value, self.values = feature, value, tuple(values)
        self.row = row
        if is_refused:
            self.fact = (
                f"feature {feature!r} holds {value!r}, which the model tells from its "
                f"missing value; write missing cells as the model's training data did, "
                f"such as float('nan')"
            )
        elif limits is not None and not _is_missing(value):
            self.fact = f"feature {feature!r} is {_off_range(value, limits, whole)}"
        else:
            self.fact = self._unlisted(limits)
        super().__init__(self.fact if row is None else f"row {row}: {self.fact}")

    def _unlisted(self, limits: tuple[float, float] | None) -> str:
        feature, value = self.feature, self.value
        if limits is not None:
            return f"feature {feature!r} {_absent(value)}{_hint(value, self.values)}"
        return (
            f"feature {feature!r} {_absent(value)}{_whole_hint(value, self.values)}; "
            f"it has {_listed(self.values)}{_hint(value, self.values)}"
        )


class RowsError(Nn2RulesError, ValueError):
    """Rows of data cannot be read."""


class OpenRowsError(RowsError):
    """No rule decides a row, and the rules claim nothing about it.

    Attributes
    ----------
    row, open_rows, n_rows : int
        The first such row (from 0), their number, and that of all rows.
    """

    def __init__(self, row: int, open_rows: int, n_rows: int) -> None:
        self.row, self.open_rows, self.n_rows = row, open_rows, n_rows
        super().__init__(
            f"row {row} is decided by no rule ({open_rows:,} of {n_rows:,} rows are "
            f"not), and these rules claim nothing about such rows; ask the model for "
            f"them, with undecided=model"
        )


class FormatError(Nn2RulesError, ValueError):
    """A file, or a JSON document, is not what it claims to be."""


class ParseError(Nn2RulesError, ValueError):
    """A text is no condition, or no claim, as rules print them.

    Attributes
    ----------
    text : str
    place : int
        Where in the text it cannot be read.
    reason : str
        What is wrong there.
    """

    def __init__(self, text: str, place: int, reason: str) -> None:
        self.text, self.place, self.reason = text, place, reason
        before = text[:place]
        line = before.count("\n")
        shown = text.split("\n")[line].expandtabs(1)
        column = len(before) - (before.rfind("\n") + 1)
        super().__init__(f"{reason}\n  {shown}\n  {' ' * column}^")


class UnsupportedModelError(Nn2RulesError, TypeError):
    """No adapter or engine reads this model, or this layer.

    Attribute `feature`: the feature whose values the model cannot take, or None.
    """

    def __init__(self, message: str, *, feature: str | None = None) -> None:
        self.feature = feature
        super().__init__(message)


class NoSuchRuleError(Nn2RulesError, LookupError):
    """Rules have no rule of this name."""


class OptionError(Nn2RulesError, ValueError):
    """An option, or two options together, make no sense."""


class BudgetExceededError(Nn2RulesError, RuntimeError):
    """The work outgrew its limit.

    Attribute `rules`: a rule list with what was proved so far, or None. Each of its
    rules is right on every input; the inputs left to its default are not decided.
    """

    rules: Any = None


class ClusterError(Nn2RulesError, RuntimeError):
    """Workers elsewhere cannot be reached, or fail again and again."""


class InternalError(Nn2RulesError, RuntimeError):
    """A result failed its own check. This is a bug; nothing is returned."""

    def __init__(self, fact: str) -> None:
        super().__init__(
            f"{fact}; this is a bug in nn2rules, please report it with the model"
        )


class MissingExtraError(Nn2RulesError, ImportError):
    """An optional library is needed for this and is not installed."""

    def __init__(self, library: str, extra: str, purpose: str) -> None:
        self.library, self.extra = library, extra
        super().__init__(
            f"{purpose} needs {library}, which is not installed; "
            f'install it with: pip install "nn2rules[{extra}]"'
        )


class UndecidedError(Nn2RulesError, ArithmeticError):
    """A score is too near to a tie to tell its class.

    This happens only in networks with smooth activations, whose scores have no exact
    finite form. Attribute `row`: the input concerned.
    """

    def __init__(self, row: Mapping[str, object]) -> None:
        self.row = row
        values = ", ".join(f"{name} = {_shown(v)}" for name, v in row.items())
        super().__init__(
            f"the score of the input ({values}) is so near to a tie that 8,192 bits "
            f"of precision cannot tell its class; nudge a weight or the threshold"
        )


class Nn2RulesWarning(UserWarning):
    """Base of every warning of nn2rules."""


class BinsWarning(Nn2RulesWarning):
    """The model seems to put numbers into bins that it does not name."""


class ByHeartWarning(Nn2RulesWarning):
    """A network needs about one rule a row, so that its rules say little."""


class CertificateWarning(Nn2RulesWarning):
    """A certificate does not belong to the rules that carry it, and is left out."""


class OpenRowsWarning(Nn2RulesWarning):
    """No rule covers some rows, so their prediction is None."""


class RetryWarning(Nn2RulesWarning):
    """A worker was lost, and the work that it had is done again."""


class SpecialValueWarning(Nn2RulesWarning):
    """A number in a range looks like a code, such as 999 for *unknown*."""


def _absent(value: object) -> str:
    if _is_missing(value):
        return "has an empty cell, and no value for missing"
    return f"has no value {value!r}"


def _off_range(value: object, limits: tuple[float, float], whole: bool) -> str:
    """Say why a cell is no number of a range."""
    low, high = limits
    kind = "whole number" if whole else "number"
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return f"{value!r}, expected a {kind} from {low} to {high}"
    except OverflowError:
        return f"beyond every 64-bit number, outside of {low} to {high}"
    if low <= number <= high:
        return f"{value}, expected a {kind} from {low} to {high}"
    return f"{value}, outside of {low} to {high}"


def _is_missing(value: object) -> bool:
    if value is None or type(value).__name__ in {"NAType", "NaTType"}:
        return True
    return isinstance(value, str | float) and (value == "" or value != value)


def _hint(value: object, values: Sequence[object]) -> str:
    """Say how an empty cell, or a number between others, can get an answer."""
    if _is_missing(value):
        return "; fill the cell, or give the feature the value None, for missing"
    if len(values) < _GRID or not _is_number(value):
        return ""
    if not all(item is None or _is_number(item) for item in values):
        return ""
    return (
        "; to take every number between them, make the feature a range, (low, high), "
        "where the model goes along a straight line"
    )


def _whole_hint(value: object, values: Sequence[object]) -> str:
    """Say why a number is in no bin: only bins of whole numbers leave any out."""
    is_binned = isinstance(values[0], str) and values[0].startswith("(-inf, ")
    return ", as its numbers are whole" if is_binned and _is_broken(value) else ""


def _is_broken(value: object) -> bool:
    return isinstance(value, float) and math.isfinite(value) and value % 1 != 0


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _shown(value: object) -> str:
    return "missing" if value is None else repr(value)


def _listed(values: Sequence[object], limit: int = 20) -> str:
    text = ", ".join(_shown(value) for value in values[:limit])
    rest = len(values) - limit
    return f"{text}, … and {rest} more" if rest > 0 else text
