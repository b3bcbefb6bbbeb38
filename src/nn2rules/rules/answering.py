"""Answers to rows, and what becomes of those about which rules claim nothing.

Rules of scope "support" are right wherever one of them decides. A row that none decides
is *open*, or not covered: the default is no more than a guess about it.
"""

import warnings
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import OpenRowsError, OpenRowsWarning, OptionError
from nn2rules.frames import Rows, columns_for, picked_rows
from nn2rules.matching import NO_RULE
from nn2rules.network import labels_array
from nn2rules.text import count

if TYPE_CHECKING:
    from nn2rules.rules.rule_list import RuleList, Unknown

OUTSIDE = -2
"""What `RuleList.apply` gives a row outside the domain, if it may."""

Undecided: TypeAlias = Literal["default", "none", "error"]
"""What to do with an open row, unless a model is asked."""


def covers(rules: "RuleList", fired: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Tell which inputs are covered, by the rule that is the first to match each.

    Rules for the whole domain cover every input: the default is their prediction where
    no rule matches. Of rules for rows it is no more than a guess.
    """
    return np.asarray((fired != NO_RULE) | (rules.scope == "domain"))


def predictions(
    rules: "RuleList", rows: Rows, unknown: "Unknown", undecided: Any
) -> NDArray[Any]:
    """Return what `RuleList.predict` does."""
    _check(undecided)
    fired = rules.apply(rows, unknown="error" if unknown == "error" else "none")
    is_outside = fired == OUTSIDE
    is_open = ~covers(rules, fired)
    # Positions -1 (default) and -2 (no answer) count from the end.
    nothing, default = len(rules.classes), rules.classes.index(rules.default)
    positions = np.array([*rules.answers.tolist(), nothing, default])[fired]
    if unknown == "default":
        positions[is_outside] = default
    if is_open.any():
        positions[is_open] = _open_positions(rules, rows, is_open, undecided)
    if (positions == nothing).any():
        return np.asarray(labels_array((*rules.classes, None))[positions])
    return np.asarray(labels_array(rules.classes)[positions])


def _check(undecided: Any) -> None:
    if undecided is None:
        return
    is_word = isinstance(undecided, str) and undecided in ("none", "default", "error")
    if not is_word and not callable(getattr(undecided, "predict", None)):
        raise OptionError(
            f"undecided: {undecided!r}, expected 'none', 'default', 'error' or a model "
            f"with predict"
        )


def _open_positions(
    rules: "RuleList", rows: Rows, is_open: NDArray[np.bool_], undecided: Any
) -> Any:
    """Return the positions of the answers to the rows that no rule decides."""
    where, n_rows = np.flatnonzero(is_open), len(is_open)
    if undecided == "error":
        raise OpenRowsError(int(where[0]), len(where), n_rows)
    if undecided == "default":
        return rules.classes.index(rules.default)
    if undecided is None:
        warnings.warn(
            f"no rule covers {len(where):,} of {count(n_rows, 'row')}; the prediction "
            f"there is None (undecided='default' gives {rules.default!r}, which is not "
            f"proved; undecided=model asks the model)",
            OpenRowsWarning,
            stacklevel=4,
        )
    if undecided is None or undecided == "none":
        return len(rules.classes)
    asked = columns_for(undecided, picked_rows(rows, where))
    return rules.positions(undecided.predict(asked), len(where))
