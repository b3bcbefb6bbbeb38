"""How a model is read: what the user says of it, checked before any work."""

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
    """How a model is read; the attributes are the options of `read_network`.

    Attributes
    ----------
    is_curved : bool
        Whether columns of numbers behind a known curve are ranges, too. Those that are
        stated as ranges always are.
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
        object.__setattr__(self, "threshold", _share(self.threshold))

    def check_for(self, network: Network) -> None:
        """Refuse what is said of a model when there is a `Network` already."""
        if self.domain is not None and self.domain != network.domain:
            raise OptionError("a Network has its own domain; leave out `domain`")
        for name in ("encode", "classes", "output"):
            if getattr(self, name) is not None:
                raise OptionError(f"a Network needs none; leave out `{name}`")
        if self.threshold not in (0.5, network.threshold):
            raise OptionError(
                f"a Network has its own threshold, {network.threshold}; leave out "
                f"`threshold`"
            )

    def refuse_array(self) -> None:
        """Refuse data whose columns have no names."""
        if isinstance(self.data, np.ndarray):
            raise RowsError(
                "data is an array, whose columns have no names; give a data frame, "
                "such as pandas.DataFrame(X, columns=[...])"
            )


def takes_curves(form: str | None, engine: str, proofs: object) -> bool:
    """Tell whether an extraction takes ranges behind curves: by search, not proofs."""
    return form != "paper" and engine in ("auto", "search") and proofs is None


def _share(threshold: Any) -> float:
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
