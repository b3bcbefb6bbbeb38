"""Every exception and warning that nn2rules raises on purpose.

Nn2RulesError
├── DomainError                 features or values are inconsistent
│   └── UnknownValueError       a row holds a value that its feature does not have
├── RowsError                   rows of data cannot be read: a column is missing, …
│   └── UncoveredRowsError      no rule covers a row
├── FormatError                 a file is not valid; names the place
├── ParseError                  a condition or claim is not valid; points at the place
├── UnsupportedModelError       this model, or this layer, is not supported
├── MissingExtraError           an optional library is needed; gives the pip command
├── NoSuchRuleError             there is no rule with this name
├── OptionError                 an option is invalid, or two options conflict
├── BudgetExceededError         the work exceeded its limit
├── ClusterError                workers cannot be reached, or fail repeatedly
├── InternalError               a result failed its own check and is not returned
└── UndecidedError              a score is too close to a tie to tell its class

Nn2RulesWarning
├── BinsWarning                 the model seems to put numbers into bins
├── CertificateWarning          a certificate belongs to other rules and is left out
├── OverfittingWarning          the network needs about one rule per row
├── RetryWarning                a worker was lost, and its work is repeated
├── SpecialValueWarning         a number in a range looks like a code, such as 999
└── UncoveredRowsWarning        no rule covers some rows; their prediction is None

Every message says what is wrong, where, and what would be right.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from nn2rules.version import install_command

_MIN_GRID = 6  # this many numbers form a grid; fewer may be codes of categories


class Nn2RulesError(Exception):
    """Base of every error that nn2rules raises on purpose."""

    def __reduce__(self) -> Any:
        """Make every error picklable, so that it can come from another process."""
        return _restored, (type(self), self.args, self.__dict__)


def _restored(kind: Any, args: tuple[Any, ...], attributes: dict[str, Any]) -> Any:
    error = kind.__new__(kind, *args)
    error.__dict__.update(attributes)
    return error


class DomainError(Nn2RulesError, ValueError):
    """The features or values of a domain are inconsistent."""


class UnknownValueError(DomainError):
    """A row holds a value that its feature does not have.

    Attributes
    ----------
    feature, value, values, row
        The name of the feature, the value in the row, the values that the feature has,
        and the index of the row (from 0), or None when there is no row. For a range of
        numbers the message names the limits. For a spelling of missing that the model
        does not treat as missing (`is_refused`) it says so.
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
                f"feature {feature!r} holds {value!r}, which the model does not treat "
                f"as missing; write missing cells as in the model's training data, "
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


class UncoveredRowsError(RowsError):
    """No rule covers a row, so the rules claim nothing about it.

    Attributes
    ----------
    row, n_uncovered, n_rows : int
        The first such row (from 0), the number of such rows, and that of all rows.
    """

    def __init__(self, row: int, n_uncovered: int, n_rows: int) -> None:
        self.row, self.n_uncovered, self.n_rows = row, n_uncovered, n_rows
        super().__init__(
            f"no rule covers row {row} ({n_uncovered:,} of {n_rows:,} rows are not "
            f"covered), and the rules claim nothing about such rows; to get the "
            f"model's prediction for them, use uncovered=model"
        )


class FormatError(Nn2RulesError, ValueError):
    """A file or a JSON document is not valid."""


class ParseError(Nn2RulesError, ValueError):
    """A text is not a valid condition or claim.

    Attributes
    ----------
    text : str
    place : int
        The position of the mistake in the text.
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
    """The model, or a layer of it, is not supported.

    Attribute `feature`: the feature whose values the model does not accept, or None.
    """

    def __init__(self, message: str, *, feature: str | None = None) -> None:
        self.feature = feature
        super().__init__(message)


class NoSuchRuleError(Nn2RulesError, LookupError):
    """There is no rule with this name."""


class OptionError(Nn2RulesError, ValueError):
    """An option is invalid, or two options conflict."""


class BudgetExceededError(Nn2RulesError, RuntimeError):
    """The work exceeded its limit; no approximate result is returned.

    Attribute `rules`: a rule list with what was proved so far, or None. Each of its
    rules is true for every input that it covers; nothing is claimed about the others.
    """

    rules: Any = None


class ClusterError(Nn2RulesError, RuntimeError):
    """Workers of a cluster cannot be reached, or fail repeatedly."""


class InternalError(Nn2RulesError, RuntimeError):
    """A result failed its own check. This is a bug, and the result is not returned."""

    def __init__(self, fact: str) -> None:
        super().__init__(
            f"{fact}; this is a bug in nn2rules, please report it with the model"
        )


class MissingExtraError(Nn2RulesError, ImportError):
    """An optional library is needed and is not installed."""

    def __init__(self, library: str, extra: str, purpose: str) -> None:
        self.library, self.extra = library, extra
        super().__init__(
            f"{purpose} needs {library}, which is not installed; install it with: "
            f"{install_command(extra)}"
        )


class UndecidedError(Nn2RulesError, ArithmeticError):
    """A score is too close to a tie to tell its class.

    This happens only in networks with smooth activations, whose scores have no finite
    exact form. Attribute `row`: the input.
    """

    def __init__(self, row: Mapping[str, object]) -> None:
        self.row = row
        values = ", ".join(f"{name} = {_shown(v)}" for name, v in row.items())
        super().__init__(
            f"the score of the input ({values}) is so close to a tie that 8,192 "
            f"bits of precision cannot tell its class; change a weight or the "
            f"threshold slightly"
        )


class Nn2RulesWarning(UserWarning):
    """Base of every warning of nn2rules."""


class BinsWarning(Nn2RulesWarning):
    """The model seems to put numbers into bins that it does not name."""


class CertificateWarning(Nn2RulesWarning):
    """A certificate belongs to other rules than these, and is left out."""


class ConstantWarning(Nn2RulesWarning):
    """A trained network predicts the same class for all training rows."""


class OverfittingWarning(Nn2RulesWarning):
    """A network needs about one rule per row, so its rules summarise little."""


class RetryWarning(Nn2RulesWarning):
    """A worker was lost, and its work is repeated."""


class SpecialValueWarning(Nn2RulesWarning):
    """A number in a range looks like a code, such as 999 for *unknown*."""


class UncoveredRowsWarning(Nn2RulesWarning):
    """No rule covers some rows, so their prediction is None."""


def _absent(value: object) -> str:
    if _is_missing(value):
        return "has an empty cell, and no value for missing"
    return f"has no value {value!r}"


def _off_range(value: object, limits: tuple[float, float], whole: bool) -> str:
    """Say why a cell is not in a range of numbers."""
    low, high = limits
    kind = "whole number" if whole else "number"
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return f"{value!r}, expected a {kind} from {low} to {high}"
    except OverflowError:
        return f"larger than any 64-bit number, outside of {low} to {high}"
    if low <= number <= high:
        return f"{value}, expected a {kind} from {low} to {high}"
    return f"{value}, outside of {low} to {high}"


def _is_missing(value: object) -> bool:
    if value is None or type(value).__name__ in {"NAType", "NaTType"}:
        return True
    return isinstance(value, str | float) and (value == "" or value != value)


def _hint(value: object, values: Sequence[object]) -> str:
    """Suggest how an empty cell, or a number between others, gets a prediction."""
    if _is_missing(value):
        return "; fill the cell, or add None (missing) to the values of the feature"
    if len(values) < _MIN_GRID or not _is_number(value):
        return ""
    if not all(item is None or _is_number(item) for item in values):
        return ""
    return (
        "; to allow every number between them, declare the feature as a range, (low, "
        "high), if the model is linear in it"
    )


def _whole_hint(value: object, values: Sequence[object]) -> str:
    """Explain why a number is in no bin: only bins of whole numbers leave any out."""
    is_binned = isinstance(values[0], str) and values[0].startswith("(-inf, ")
    return (
        ", because its numbers are whole" if is_binned and _is_fraction(value) else ""
    )


def _is_fraction(value: object) -> bool:
    return isinstance(value, float) and math.isfinite(value) and value % 1 != 0


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _shown(value: object) -> str:
    return "missing" if value is None else repr(value)


def _listed(values: Sequence[object], limit: int = 20) -> str:
    text = ", ".join(_shown(value) for value in values[:limit])
    rest = len(values) - limit
    return f"{text}, … and {rest} more" if rest > 0 else text
