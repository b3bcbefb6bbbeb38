"""The result of an audit: values, a page, JSON, data frames."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from nn2rules.auditing.findings import (
    FragileRow,
    Group,
    Influence,
    Protected,
    Trend,
)
from nn2rules.auditing.page import html_of, sections_of, text_of
from nn2rules.auditing.plain import dict_of, frame_of
from nn2rules.domain import Domain
from nn2rules.values import Value


@dataclass(frozen=True, eq=False, repr=False)
class Audit:
    """What a model does, counted on rows and, where possible, on all inputs.

    Attributes
    ----------
    domain : Domain
    classes : tuple of class labels
    rows : int
        How many rows were given.
    how : {"table", "search"}
        Whether all inputs were looked at, or searched.
    influence : mapping from features to Influence
        What each feature alone can turn; the one that turns most rows comes first.
    protected : mapping from names to Protected
        What protected features do, in the order in which they were named.
    monotone : mapping from features to mappings from class labels to Trend
        Of each feature with an order which way the answer goes as it grows: toward the
        second of two classes, or toward each of more.
    shares : mapping from names to tuples of Group
        What becomes of each group of a protected feature.
    fragile : tuple of FragileRow
        The rows with the smallest margins.
    warnings : tuple of str
        What is not proved of how the model was read.
    """

    domain: Domain
    classes: tuple[Value, ...]
    rows: int
    how: Literal["table", "search"]
    influence: Mapping[str, Influence]
    protected: Mapping[str, Protected]
    monotone: Mapping[str, Mapping[Value, Trend]]
    shares: Mapping[str, tuple[Group, ...]]
    fragile: tuple[FragileRow, ...]
    warnings: tuple[str, ...] = ()

    @property
    def dead(self) -> tuple[str, ...]:
        """The features that are proved never to turn an answer."""
        return tuple(n for n, one in self.influence.items() if one.status == "dead")

    @property
    def open(self) -> tuple[str, ...]:
        """What is not known because the budget was spent, as sentences."""
        said = [
            f"whether {name} ever turns an answer"
            for name, one in self.influence.items()
            if one.status == "open"
        ]
        for name, by_class in self.monotone.items():
            if any(trend.direction == "open" for trend in by_class.values()):
                said.append(f"which way the answer goes along {name}")
        return tuple(said)

    @property
    def status(self) -> Literal["clear", "turns", "open"]:
        """Whether a protected feature turns an answer; clear: none does, proved."""
        found = {one.status for one in self.protected.values()}
        if "turns" in found:
            return "turns"
        return "open" if "open" in found else "clear"

    def text(self, top: int = 3, *, width: int = 80) -> str:
        """Return the page.

        Parameters
        ----------
        top : int
            How many rules to show of each way in which a protected feature turns.
        width : int
            How wide lines are at most.
        """
        return text_of(sections_of(self, top), width)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<Audit: {self.status}, {len(self.influence)} features>"

    def _repr_html_(self) -> str:
        return html_of(sections_of(self, 3))

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain values.

        Of rules those that hold a row of the data.
        """
        return dict_of(self)

    def to_json(self) -> str:
        """Return `to_dict` as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=2)

    def to_frame(
        self,
        part: Literal["influence", "monotone", "shares", "fragile"] = "influence",
        backend: Literal["pandas", "polars", "pyarrow"] = "pandas",
    ) -> Any:
        """Return a part as a data frame: a line for each feature, group or row.

        Parameters
        ----------
        part : {"influence", "monotone", "shares", "fragile"}
        backend : {"pandas", "polars", "pyarrow"}
            The library of the frame; it must be installed.
        """
        return frame_of(self, part, backend)
