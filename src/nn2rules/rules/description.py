"""What every description of a network can do, whatever form it has.

A description stands for a network where people read it. A `RuleList` is one; other
forms, as a scorecard, will be. It claims something only of inputs that it covers, and
what is proved of that is in its certificate, which belongs to its digest. What needs no
more than this takes a `Description`; what reads single rules, as evaluations, reports
and files do, takes a `RuleList`.
"""

from collections.abc import Mapping
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from nn2rules.output import Document
from nn2rules.space import Domain, Rows, Value


class Description(Protocol):
    """A classifier that people read in place of a network.

    Attributes
    ----------
    domain : Domain
    classes : tuple of class labels
    scope : {"domain", "support"}
        Whether every input of the domain is covered, or only some are.
    certificate : mapping
        What was proved, and how; `certificate_of` reads it.
    digest : str
        The sha256 of all that it says, which the certificate belongs to.
    """

    @property
    def domain(self) -> Domain: ...  # noqa: D102
    @property
    def classes(self) -> tuple[Value, ...]: ...  # noqa: D102
    @property
    def scope(self) -> Literal["domain", "support"]: ...  # noqa: D102
    @property
    def certificate(self) -> Mapping[str, Any]: ...  # noqa: D102
    @property
    def digest(self) -> str: ...  # noqa: D102

    def covers(self, rows: Rows) -> NDArray[np.bool_]:
        """Tell of which rows it claims something."""

    def predict(self, rows: Rows) -> NDArray[Any]:
        """Return the class label of each row; None where it claims nothing."""

    def document(self) -> Document:
        """Return the page that people read."""
