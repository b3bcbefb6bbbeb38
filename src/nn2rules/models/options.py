"""The options for reading a model, checked before any work."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from nn2rules.errors import OptionError, RowsError
from nn2rules.network import Network
from nn2rules.space import Domain, Rows, Value

ModelOutput: TypeAlias = Literal["score", "probability"]

OUTPUTS = ("score", "probability")
"""What a model's output can be declared as."""


@dataclass(frozen=True)
class ModelOptions:
    """The options of `read_network` as a value.

    Attributes
    ----------
    is_curved : bool
        Whether numeric columns behind a known curve, such as a logarithm, are also
        read as ranges. Columns that are declared as ranges always are.
    """

    data: Rows = None
    domain: Domain | Mapping[str, Any] | None = None
    encode: Callable[[Rows], Any] | Any = None
    classes: Sequence[Value] | None = None
    threshold: float = 0.5
    output: ModelOutput | None = None
    other: bool | Sequence[str] = False
    is_curved: bool = False

    def __post_init__(self) -> None:
        if self.output not in (None, *OUTPUTS):
            raise OptionError(
                f"output: {self.output!r}, expected 'score' (above 0 means the second "
                f"class) or 'probability'"
            )
        object.__setattr__(self, "threshold", _probability(self.threshold))

    def check_for(self, network: Network) -> None:
        """Refuse options that a `Network` already has."""
        if self.domain is not None and self.domain != network.domain:
            raise OptionError("a Network has its own domain; leave out `domain`")
        for name in ("encode", "classes", "output"):
            if getattr(self, name) is not None:
                raise OptionError(f"`{name}` is not for a Network; leave it out")
        if self.threshold not in (0.5, network.threshold):
            raise OptionError(
                f"a Network has its own threshold, {network.threshold}; leave out "
                f"`threshold`"
            )

    def refuse_array(self) -> None:
        """Refuse data whose columns have no names."""
        if isinstance(self.data, np.ndarray):
            raise RowsError(
                "data is an array, so its columns have no names; pass a data frame, "
                "such as pandas.DataFrame(X, columns=[...])"
            )


def takes_curves(form: str | None, engine: str, proofs: object) -> bool:
    """Tell whether an extraction accepts ranges behind curves."""
    return form != "paper" and engine in ("auto", "search") and proofs is None


def _probability(threshold: Any) -> float:
    """Return a threshold as a number between 0 and 1."""
    try:
        number = float(threshold)
    except (TypeError, ValueError):
        number = math.nan
    if not 0 < number < 1:
        raise OptionError(
            f"threshold: {threshold!r}, expected a number between 0 and 1 (exclusive)"
        )
    return number
