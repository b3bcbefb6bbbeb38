"""What every feature has: a name, values, and answers about both.

A feature is one of these kinds, which are classes in `feature_kinds`:

- `Listed`: categories, or the numbers of a grid. A value is what a cell holds.
- `Binned`: numbers in bins, so that every number belongs to a value.
- `Range`: all real, or all whole, numbers from a minimum to a maximum. A network
  distinguishes each from the others; the edges are only where rules cut the range.
- `Curved`: a range that a network reads along a curve, such as a logarithm.
- `Grouped`: categories in groups, with a value for each group.

Other code asks a method, or ``isinstance(feature, Range)``. It never infers the kind
from an option.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar, Self

from nn2rules.errors import DomainError
from nn2rules.space.curve import Curve
from nn2rules.space.feature_checks import (
    checked_labels,
    checked_spellings,
    refuse_options,
)
from nn2rules.space.groups import group_names, listed_groups
from nn2rules.space.intervals import texts_of_bins, texts_of_parts
from nn2rules.space.lookup import UNKNOWN
from nn2rules.space.values import (
    Value,
    checked_values,
    is_number,
    spelling_of,
)

if TYPE_CHECKING:
    from nn2rules.space.feature_kinds import Binned, Grouped, Range


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Feature:
    """One input of a model: a name and its values, in encoding order.

    `Feature` itself is never built: calling it returns the kind that its options
    describe. Most users call it for values that are listed, and `Feature.bins`,
    `Feature.real` and `Feature.grouped` for the other kinds.

    Parameters
    ----------
    name : str
        The column of the user's data.
    values : sequence of str, int, float, bool or None
        Every value the feature can take; None means missing.
    ordered : bool
        Whether the values are in their natural order, so that rules may use ranges of
        them. A value for missing, and the one for others, are outside of this order.
    labels : sequence of str, optional
        What rules print instead of the values, one for each.
    edges : sequence of numbers, optional
        The values are bins of numbers: the first holds the numbers below ``edges[0]``,
        the next those from there to below ``edges[1]``, and so on. See `bins`.
    other : str, optional
        The value that every value not listed belongs to; of groups, every category in
        none of them, beside the categories of its own.
    whole : bool
        Of bins: whether the numbers are whole. Others are unknown values.
    limits : (float, float), optional
        The bins are parts of a closed range of real numbers, or of `whole` ones: see
        `real`. Numbers outside of it are unknown values.
    groups : sequence of sequences of categories, optional
        The values are groups of categories, these one for each value: see `grouped`.
    not_missing : sequence of str
        Those of `SPELLINGS`, ways to write a missing cell, that the model distinguishes
        from its missing value. A row that holds one has an unknown value.
    curve : Curve, optional
        Of a range that a network reads along a curve: `limits`, and the edges, are of
        its values, and cells of rows hold the numbers. See `Range.along`.

    Examples
    --------
    >>> Feature("size", ["small", "medium", "big"], ordered=True)
    Feature('size', ('small', 'medium', 'big'), ordered=True)
    """

    name: str
    values: tuple[Value, ...]
    labels: tuple[str, ...] | None
    other: str | None
    not_missing: tuple[str, ...] = field(compare=False)

    options: ClassVar[tuple[str, ...]] = ()
    """The options that a kind takes, besides `name`, `values` and `not_missing`."""

    kind: ClassVar[str] = ""
    """What messages call a feature of this kind."""

    def __new__(
        cls,
        name: str,
        values: Sequence[Value],
        ordered: bool = False,
        labels: Sequence[str] | None = None,
        edges: Sequence[float] | None = None,
        other: str | None = None,
        whole: bool = False,
        limits: tuple[float, float] | None = None,
        groups: Sequence[Sequence[Value]] | None = None,
        not_missing: Sequence[str] = (),
        curve: Curve | None = None,
    ) -> Self:
        """Return a checked feature of the kind that the options describe."""
        if not isinstance(name, str):
            raise DomainError(f"a feature's name is a string, not {name!r}")
        given: dict[str, Any] = {
            "ordered": ordered,
            "labels": labels,
            "edges": edges,
            "other": other,
            "whole": whole,
            "limits": limits,
            "groups": groups,
            "curve": curve,
        }
        subject = f"feature {name!r}"
        from nn2rules.space.feature_kinds import kind_of  # kinds derive from this class

        made = kind_of(subject, given) if cls is Feature else cls
        refuse_options(f"{subject} ({made.kind})", given, made.options)
        feature: Any = object.__new__(made)
        given |= {"name": name, "values": checked_values(subject, values)}
        given["not_missing"] = checked_spellings(subject, not_missing)
        for one in fields(feature):
            if given[one.name] is None and one.name not in ("labels", "other"):
                raise DomainError(f"{subject} ({made.kind}) needs {one.name!r}")
            object.__setattr__(feature, one.name, given[one.name])
        feature._check(subject)
        return feature  # type: ignore[no-any-return]

    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, Any]]:
        """Return what copies and pickles call the class with."""
        return (), {one.name: getattr(self, one.name) for one in fields(self)}

    def _check(self, subject: str) -> None:
        """Refuse options that do not fit each other; store their final form."""
        if self.labels is not None:
            self._set("labels", checked_labels(subject, self.labels, self.values))
        if self.other is not None and self.other not in self.values:
            raise DomainError(
                f"{subject}: {self.other!r} stands for other values, but is not a value"
            )

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    # ------------------------------------------------------------- making features

    @staticmethod
    def bins(
        name: str,
        edges: Sequence[float],
        *,
        missing: bool = False,
        whole: bool = False,
    ) -> "Binned":
        """Return a feature whose values are bins of numbers, or of `whole` ones.

        Examples
        --------
        >>> Feature.bins("age", [25, 40]).values
        ('(-inf, 25)', '[25, 40)', '[40, inf)')
        """
        from nn2rules.space.feature_kinds import Binned

        values = [*texts_of_bins(edges), *([None] if missing else [])]
        return Binned(name, values, edges=tuple(edges), whole=whole)

    @staticmethod
    def real(
        name: str,
        low: float,
        high: float,
        *,
        edges: Sequence[float] = (),
        whole: bool = False,
        special: Sequence[Value] = (),
        missing: bool = False,
    ) -> "Range":
        """Return a feature of real numbers, or of `whole` ones, from `low` to `high`.

        Values beside the range, such as a 999 for *unknown*, are `special`.

        Examples
        --------
        >>> Feature.real("age", 17, 90, whole=True, edges=[25, 40]).values
        ('[17, 25)', '[25, 40)', '[40, 90]')
        """
        from nn2rules.space.feature_kinds import Range

        values = [*texts_of_parts(low, high, edges), *special]
        values += [None] if missing else []
        return Range(name, values, edges=tuple(edges), whole=whole, limits=(low, high))

    @staticmethod
    def grouped(
        name: str,
        groups: Sequence[Sequence[Value]],
        *,
        other: int | None = None,
        missing: bool = False,
    ) -> "Grouped":
        """Return a feature whose values are groups of categories.

        A group of one category has it as its value; a larger group is named by all its
        categories. Missing belongs to the group that has None among its categories, or,
        with `missing`, is a value of its own. Categories in no group belong to the one
        at position `other`, which may be empty otherwise; without `other` they are
        unknown values.

        Examples
        --------
        >>> Feature.grouped("job", [["clerk", "cook"], ["judge"]], missing=True).values
        ('clerk, cook', 'judge', None)
        >>> Feature.grouped("job", [["clerk", None], ["judge"], []], other=2).values
        ('clerk, missing', 'judge', 'other')
        """
        from nn2rules.space.feature_kinds import Grouped

        subject = f"feature {name!r}"
        listed = listed_groups(subject, groups)
        if missing:
            listed = listed_groups(subject, (*listed, (None,)))
        if other is not None:
            n_groups = len(listed) - missing
            is_place = isinstance(other, int) and not isinstance(other, bool)
            if not is_place or not -n_groups <= other < n_groups:
                raise DomainError(
                    f"{subject}: other is {other!r}, expected the position of a group, "
                    f"0 to {n_groups - 1}"
                )
            other %= n_groups
        values = group_names(listed, other)
        name_of_other = None if other is None else str(values[other])
        return Grouped(name, values, other=name_of_other, groups=listed)

    # ------------------------------------------------------------- what a kind answers

    @property
    def ordered(self) -> bool:
        """Whether the values are in their natural order."""
        return False

    @property
    def whole(self) -> bool:
        """Whether the values are bins, or a range, of whole numbers."""
        return False

    @property
    def n_intervals(self) -> int:
        """How many values are intervals of numbers: bins, or parts of a range."""
        return 0

    @property
    def n_cells(self) -> int:
        """How many values are parts of a range; they come before all others."""
        return 0

    @property
    def n_plain(self) -> int:
        """How many values come before those for missing, others, and special ones."""
        return self._n_ordinary()

    def categories_at(self, code: int) -> tuple[Value, ...]:  # noqa: ARG002
        """Return the categories of the group at this code; none without groups."""
        return ()

    @property
    def joins_categories(self) -> bool:
        """Whether a value is not the one category that rows hold for it."""
        return False

    @property
    def listed_cells(self) -> list[tuple[int, Value]]:
        """Each cell that is listed, with the code of its value."""
        return [*enumerate(self.values)]

    @property
    def names_of_groups(self) -> dict[object, int]:
        """The code of each group, by its name."""
        return {}

    def code_at(self, number: float) -> int:  # noqa: ARG002
        """Return the code of the interval that contains a finite number."""
        return UNKNOWN

    def position(self, number: float) -> float:
        """Return the number by which a network multiplies: the curve's, or itself."""
        return number

    def has_same_numbers(self, other: "Feature") -> bool:
        """Tell whether both are the same range of numbers, or neither is a range."""
        return not other.n_cells and self.whole == other.whole

    @property
    def uncurved(self) -> "Feature":
        """The feature as rows hold it: of a curve the range of numbers, uncut."""
        return self

    @property
    def counts(self) -> list[int] | None:
        """How many inputs each value stands for, each whole number of a range counted.

        None for a range of real numbers.
        """
        return [1] * len(self.values)

    # ------------------------------------------------------------- all kinds alike

    @property
    def other_code(self) -> int:
        """The code of the value for others; -1 if there is none."""
        return UNKNOWN if self.other is None else self.values.index(self.other)

    def is_other(self, value: object) -> bool:
        """Tell whether a value is the one for others."""
        return self.other is not None and value == self.other

    def is_ordinary(self, value: object) -> bool:
        """Tell whether a value is neither missing nor the one for others."""
        return value is not None and not self.is_other(value)

    @property
    def beside(self) -> tuple[Value, ...]:
        """The last values: special ones of a range, the one for others, missing."""
        return self.values[self.n_plain :]

    @property
    def categories(self) -> tuple[Value, ...]:
        """What cells may hold, as far as it is listed: the categories of all groups.

        Without groups, the values.
        """
        return self.values

    @property
    def places(self) -> dict[int, int]:
        """The place in the order of each value that has one, by its code.

        Numbers are sorted by size, in any order of the list, and all else keeps the
        order of the list. Missing and others have no place, and a range needs none.

        Examples
        --------
        >>> Feature("rooms", (3, 1, 2, None), ordered=True).places
        {1: 0, 2: 1, 0: 2}
        """
        plain: list[tuple[int, Any]] = [
            (code, value)
            for code, value in enumerate(self.values)
            if self.is_ordinary(value)
        ]
        if all(is_number(value) for _, value in plain):
            plain.sort(key=lambda pair: pair[1])
        return {code: place for place, (code, _) in enumerate(plain)}

    @property
    def has_numbers(self) -> bool:
        """Whether the values are numbers in order, or bins of them."""
        return self.ordered and (
            self.n_intervals > 0
            or all(is_number(value) for value in self.values[: self.n_plain])
        )

    def refuses(self, cell: object) -> bool:
        """Tell whether a cell is missing in a spelling that is not accepted here."""
        if spelling_of(cell) not in self.not_missing:
            return False
        return not (isinstance(cell, str) and cell in self.categories)

    @property
    def cells(self) -> tuple[Value, ...]:
        """The values as cells of a row: missing in a spelling that is accepted."""
        return tuple(map(self.accepted, self.values))

    def accepted(self, cell: Value) -> Value:
        """Return a cell; if it is missing, then in a spelling that is accepted."""
        if not self.refuses(cell):
            return cell
        return math.nan if "None" in self.not_missing else None

    def _n_ordinary(self) -> int:
        """Return how many values come before those for missing and for others."""
        size = len(self.values)
        while size and not self.is_ordinary(self.values[size - 1]):
            size -= 1
        return size

    def __repr__(self) -> str:
        parts = [repr(self.name), repr(self.values)]
        parts += ["ordered=True"] if self.ordered else []
        for name in ("labels", "edges", "other", "groups"):
            option = getattr(self, name, None)
            parts += [f"{name}={option!r}"] if option is not None else []
        parts += ["whole=True"] if self.whole else []
        return f"Feature({', '.join(parts)})"

    def __len__(self) -> int:
        return len(self.values)
