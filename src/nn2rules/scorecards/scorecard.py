"""The scorecard as a value: the network's own numbers, read as points.

The units of a network's first layer are sums over the features, ``base + Σ points``.
So each of them is a card: a number for each listed value, group or bin, and for a range
of numbers a slope, beside numbers for its special values and for missing. Without a
hidden layer these cards are the scores of the classes. With one, they are part cards,
which the layers above turn into scores.
"""

import json
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from hashlib import sha256
from itertools import pairwise
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nn2rules.errors import CertificateWarning, FormatError, OptionError
from nn2rules.language import label_text, unused
from nn2rules.network import Layer, Network, checked_classes
from nn2rules.output import Backend, Document, frame_of
from nn2rules.rules import (
    Description,
    Predictions,
    features_content,
    of_any,
    own_certificate,
)
from nn2rules.scorecards.digits import default_table, fitting_digits, with_bins
from nn2rules.scorecards.lines import lines_of
from nn2rules.scorecards.page import page_of
from nn2rules.scorecards.printed_card import PointsTable, score_reach, table_of
from nn2rules.scorecards.reasons import Reason, reasons_of
from nn2rules.scorecards.regions import CardRegion
from nn2rules.scorecards.scale import Scale, wished_scale
from nn2rules.scorecards.whole_arrays import numbers_of, whole_array
from nn2rules.space import Domain, Rows, Value, refuse_curves

Kind: TypeAlias = Literal["single", "classes", "parts", "regions"]
"""What the cards are: one score, the scores of the classes, or parts of scores."""

_WRONG_CERTIFICATE = (
    "the certificate does not belong to this scorecard, which was changed after it was "
    "made; it is left out"
)


@dataclass(frozen=True, slots=True, eq=False)
class Card:
    """A sum of points: ``base`` and one number for each feature.

    Parameters
    ----------
    base : float
        What the sum begins with.
    points : array of shape (n_columns,)
        A number for each value of each feature, in the order of `Domain.offsets`. The
        first value of a range of numbers has the points of one unit: its slope.
    """

    base: float
    points: NDArray[np.float64]

    def __post_init__(self) -> None:
        frozen = np.array(self.points, dtype=np.float64)
        base = float(self.base)
        if frozen.ndim != 1 or not np.isfinite(frozen).all() or not np.isfinite(base):
            raise FormatError("the points of a card are a list of finite numbers")
        frozen += 0.0  # -0.0 becomes 0.0: equal cards have equal bytes
        frozen.flags.writeable = False
        object.__setattr__(self, "points", frozen)
        object.__setattr__(self, "base", base + 0.0)

    def _key(self) -> tuple[float, bytes]:
        return self.base, self.points.tobytes()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Card) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())


@dataclass(frozen=True, slots=True)
class Profile:
    """What is known of the rows that a scorecard was extracted with.

    Attributes
    ----------
    rows : int
    typical : tuple of values
        For each feature its typical value: the median number, or the most frequent
        category.
    importance : tuple of float
        For each feature how far its points lie from their mean, on average, in the
        units of the network.
    between : (int, int), optional
        How many rows lie between printed cut-offs, and of how many.
    """

    rows: int
    typical: tuple[Value, ...]
    importance: tuple[float, ...]
    between: tuple[int, int] | None = None


@dataclass(frozen=True, eq=False)
class Contributions:
    """What each feature of each row adds to each card.

    Attributes
    ----------
    features : tuple of str
    cards : tuple of str
        What the cards are called.
    names : tuple of str
        What the totals are called.
    base : ndarray, shape (n_cards,)
    values : ndarray, shape (n_rows, n_cards, n_features)
    sums : ndarray, shape (n_rows, n_cards)
        The base of each card and its values, added up.
    totals : ndarray, shape (n_rows, n_totals)
        The scores that decide: the same as `sums`, unless the cards are parts.
    """

    features: tuple[str, ...]
    cards: tuple[str, ...]
    names: tuple[str, ...]
    base: NDArray[Any]
    values: NDArray[Any]
    sums: NDArray[Any]
    totals: NDArray[Any]

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a data frame: for each card a column for each feature and its sum.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}
            The library of the frame; it must be installed.
        """
        return frame_of(self._columns, backend)

    def _columns(self) -> dict[str, list[Any]]:
        columns: dict[str, list[Any]] = {}
        is_single = len(self.cards) == 1

        def add(name: str, values: NDArray[Any]) -> None:
            columns[unused(name, columns)] = values.tolist()

        for index, card in enumerate(self.cards):
            start = "" if is_single else f"{card}: "
            add(f"{start}base", np.repeat(self.base[index], len(self.sums)))
            for place, feature in enumerate(self.features):
                add(f"{start}{feature}", self.values[:, index, place])
            if not is_single:
                add(f"{start}sum", self.sums[:, index])
        for name, totals in zip(self.names, self.totals.T, strict=True):
            add(name, totals)
        return columns


@dataclass(frozen=True, eq=False)
class Scorecard(Description):
    """Points for each value of each feature, which predict as a network does. Frozen.

    Parameters
    ----------
    domain : Domain
        Its ranges of numbers are in one piece, and read along straight lines.
    classes : sequence of str, int, float or bool
    cards : sequence of Card
        A single score, one for each class, or parts of scores.
    activation, slope
        Of part cards: what their sums go through, as in `Layer`.
    upper : sequence of Layer
        Of part cards: the layers above them, the last of which gives the scores.
    regions : sequence of CardRegion
        Of part cards below more than a few units: parts of the domain that together
        hold every input, on each of which the scores are linear in the sums.
    threshold : float
        Of a single score: class 1 iff ``sigmoid(score) > threshold``, so a tie is class
        0. Of several scores the largest one wins, and the first of equal ones.
    has_probabilities : bool
        Whether the scores stand for probabilities, as those of a support vector machine
        do not.
    scale : Scale, optional
        How points are printed; by default as integers of three digits.
    profile : Profile, optional
        What is known of the rows it was extracted with.
    certificate : mapping, optional
        What was proved, and how. It belongs to this very content, of which it holds a
        digest; one that was made for another card is left out, with a warning.

    Examples
    --------
    >>> from nn2rules import Domain, Feature
    >>> domain = Domain((Feature("color", ("red", "yellow")),
    ...                  Feature.real("weight", 50, 250)))
    >>> card = Scorecard(domain, ("unripe", "ripe"), [Card(-2.0, [1.5, -1.0, 0.01])])
    >>> card.predict([{"color": "red", "weight": 120},
    ...               {"color": "yellow", "weight": 120}])
    array(['ripe', 'unripe'], dtype='<U6')
    >>> card.contributions([{"color": "red", "weight": 120}]).values.tolist()
    [[[1.5, 1.2]]]
    """

    form: ClassVar[str] = "scorecard"  # type: ignore[misc]
    scope: ClassVar[Literal["domain", "support"]] = "domain"  # type: ignore[misc]
    needs_numbers: ClassVar[bool] = True

    domain: Domain
    classes: tuple[Value, ...]
    cards: tuple[Card, ...]
    activation: str = "identity"
    slope: float | None = None
    upper: tuple[Layer, ...] = ()
    regions: tuple[CardRegion, ...] = ()
    threshold: float = 0.5
    has_probabilities: bool = True
    scale: Scale | None = None
    profile: Profile | None = None
    certificate: Mapping[str, Any] = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        self._set(cards=tuple(self.cards))
        self._set(upper=tuple(self.upper), regions=tuple(self.regions))
        self._set(classes=checked_classes(self.classes))
        refuse_curves(self.domain.features, "a scorecard")
        size = int(self.domain.offsets[-1])
        for index, card in enumerate(self.cards):
            if not isinstance(card, Card) or len(card.points) != size:
                raise FormatError(
                    f"cards[{index}]: expected a Card with {size} numbers, one for "
                    f"each value of the features"
                )
        if not self.cards:
            raise FormatError("cards: a scorecard needs at least one card")
        if not self.upper and self.activation != "identity":
            raise FormatError(
                "activation: only part cards, below other layers, have one"
            )
        self._set(threshold=self.network.threshold, slope=self.network.layers[0].slope)
        own = own_certificate(self.certificate, self.digest if self.certificate else "")
        if own is None:
            warnings.warn(_WRONG_CERTIFICATE, CertificateWarning, stacklevel=3)
        self._set(certificate=own or {})

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @classmethod
    def from_network(cls, network: Network, **fields: Any) -> "Scorecard":
        """Return the scorecard of a network: its first layer as cards."""
        first, *upper = network.layers
        return cls(
            network.domain,
            network.classes,
            tuple(
                Card(base, points)
                for base, points in zip(
                    first.bias.tolist(), first.weights.T, strict=True
                )
            ),
            activation=first.activation if upper else "identity",
            slope=first.slope,
            upper=tuple(upper),
            threshold=network.threshold,
            **fields,
        )

    @cached_property
    def network(self) -> Network:
        """The same classifier as a network, which has its exact arithmetic."""
        activation = self.activation
        if not self.upper:
            activation = "sigmoid" if len(self.cards) == 1 else "softmax"
        first = Layer(
            np.stack([card.points for card in self.cards], axis=1),
            np.array([card.base for card in self.cards]),
            activation,
            self.slope,
        )
        layers = (first, *self.upper)
        return Network(self.domain, layers, self.classes, self.threshold)

    @property
    def kind(self) -> Kind:
        """What the cards are: one score, the scores of the classes, or parts."""
        if self.upper:
            return "regions" if self.regions else "parts"
        return "single" if len(self.cards) == 1 else "classes"

    @property
    def names(self) -> tuple[str, ...]:
        """What the cards are called, wherever they are printed or written."""
        if self.kind == "single":
            return ("total",)
        if self.kind == "classes":
            return tuple(map(label_text, self.classes))
        return tuple(f"part {number}" for number in range(1, len(self.cards) + 1))

    @property
    def total_names(self) -> tuple[str, ...]:
        """What the totals are called that decide: the scores of the network."""
        if self.network.is_binary:
            return ("total",)
        return tuple(f"total {label_text(label)}" for label in self.classes)

    @property
    def points_names(self) -> tuple[str, ...]:
        """What columns of printed totals are called, beside predictions."""
        if len(self.classes) == 2:
            return ("points",)
        return tuple(f"points {label_text(label)}" for label in self.classes)

    @cached_property
    def n_lines(self) -> int:
        """The number of lines with points: those of features that make a difference.

        Of a feature each value has a line, or each bin or group.
        """
        points = np.array([card.points for card in self.cards])
        offsets = self.domain.offsets.tolist()
        return sum(
            end - start
            for start, end in pairwise(offsets)
            if points[:, start:end].any()
        )

    @cached_property
    def digest(self) -> str:
        """The sha256 of all that the scorecard says; its certificate holds it, too."""
        content = (
            features_content(self.domain),
            self.classes,
            [(card.base, card.points.tolist()) for card in self.cards],
            (self.activation, self.slope),
            [
                (u.weights.tolist(), u.bias.tolist(), u.activation, u.slope)
                for u in self.upper
            ],
            self.threshold,
            self.has_probabilities,
            *([region.plain() for region in self.regions]),
        )
        return sha256(json.dumps(content).encode()).hexdigest()

    def replace(self, **values: Any) -> "Scorecard":
        """Return a copy with some of its fields replaced.

        What was proved belongs to what it was proved of: the certificate goes when
        anything but the scale or the profile is replaced, unless another one is given.
        How many rows lie between cut-offs was counted for the scale, and goes with it.
        """
        unknown = [name for name in values if name not in _FIELDS]
        if unknown:
            raise OptionError(f"a Scorecard has no field {unknown[0]!r} to replace")
        if "certificate" not in values:
            keeps = values.keys() <= {"profile", "scale"}
            own = of_any(self.certificate, self.digest) if keeps else None
            values["certificate"] = own
        if "scale" in values and "profile" not in values and self.profile is not None:
            values["profile"] = replace(self.profile, between=None)
        return replace(self, **values)

    def predictions(
        self, codes: NDArray[np.int64], numbers: NDArray[np.float64] | None = None
    ) -> Predictions:
        """Return what is predicted for inputs of the domain, exactly.

        No rounding error decides: totals too near to the cut-off for float64 are worked
        out in exact arithmetic.
        """
        classes = self.network.predict_codes(codes, numbers)
        return Predictions(classes, np.ones(len(codes), dtype=np.bool_))

    def predict_proba(self, rows: Rows) -> NDArray[np.float64]:
        """Return the probability of each class for each row, in float64.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
        """
        if not self.has_probabilities:
            raise OptionError(
                "the scores of this model do not stand for probabilities; "
                "contributions(rows).totals has them as they are"
            )
        scores = self.network.scores(rows)
        with np.errstate(over="ignore"):
            if self.network.is_binary:
                small = np.exp(-np.abs(scores)) / (1 + np.exp(-np.abs(scores)))
                first = np.where(scores >= 0, small, 1 - small)
                return np.stack([first, 1 - first], axis=1)
            powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        shares: NDArray[np.float64] = powers / powers.sum(axis=1, keepdims=True)
        return shares

    def contributions(self, rows: Rows) -> Contributions:
        """Return what each feature of each row adds, in the units of the network.

        Numbers are float64. The class of a row is exact all the same: see `predict`.
        """
        codes, numbers = self.domain.inputs_of(rows)
        values = self.contributions_codes(codes, numbers)
        base = self.network.layers[0].bias
        sums = values.sum(axis=2) + base
        totals = sums
        if self.upper:
            totals = self.network.scores_codes(codes, numbers)
            totals = totals.reshape(len(codes), -1)
        return Contributions(
            self.domain.names,
            self.names,
            self.total_names,
            base,
            values,
            sums,
            totals,
        )

    def contributions_codes(
        self, codes: NDArray[np.int64], numbers: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Return what each feature adds to each card, for inputs given as codes.

        Returns
        -------
        ndarray of shape (n_rows, n_cards, n_features)
        """
        weights = self.network.layers[0].weights
        picked = weights[codes + self.domain.offsets[:-1]]
        values: NDArray[np.float64] = np.swapaxes(picked, 1, 2)
        return values if numbers is None else values * numbers[:, np.newaxis, :]

    @cached_property
    def table(self) -> PointsTable:
        """The printed card: rounded points, and what is proved of their totals."""
        if self.scale is None:
            return default_table(self, None)
        return table_of(self, self.scale)

    def points(self, rows: Rows) -> Contributions:
        """Return what each feature of each row adds, in points as they are printed.

        The points of a number are its slope times the number, rounded to a printed
        step. All of them add up, exactly, to the total that a reader works out.
        """
        codes, numbers = self.domain.inputs_of(rows)
        table = self.table
        steps = table.steps_of(codes, numbers)
        sums = table.sums_of(steps)
        starts = whole_array([int(one.start / table.step) for one in table.columns])
        names = [self.names[column.card] for column in table.columns]
        if len(table.totals) == 1 and not self.upper:
            names = ["total"]
        is_one = len(self.classes) == 2
        return Contributions(
            self.domain.names,
            tuple(names),
            ("total",) if is_one else self.total_names,
            numbers_of(starts, table.step.denominator),
            numbers_of(steps, table.step.denominator),
            numbers_of(sums, table.step.denominator),
            table.printed_totals(sums),
        )

    def totals_codes(
        self, codes: NDArray[np.int64], numbers: NDArray[np.float64] | None = None
    ) -> NDArray[Any]:
        """Return the totals of `points`, for inputs given as codes.

        Returns
        -------
        ndarray of shape (n_rows, n_totals)
            NaN where the printed regions give no total.
        """
        return self.table.printed_totals(self.table.sums_at(codes, numbers))

    def scaled(
        self,
        *,
        points_to_double_odds: float | None = None,
        odds: float | None = None,
        base_score: float | None = None,
        minimum: float | None = None,
        maximum: float | None = None,
        higher: Value = None,
        digits: int | None = None,
        bins: int | Literal["auto"] | None = None,
        rows: Rows = None,
    ) -> "Scorecard":
        """Return the same card, printed on another scale. Predictions stay.

        Parameters
        ----------
        points_to_double_odds, odds, base_score : float, optional
            So many points more double the odds of the class `higher`, and `base_score`
            points mean these odds: 20, 50 and 600, say.
        minimum, maximum : float, optional
            Or the least and the largest total: 300 and 850, say.
        higher : class label, optional
            Of which of two classes more points make more likely; by default the second.
        digits : int, optional
            How many digits behind the point are kept; by default the fewest that leave
            few of the rows, or a small part of the scale, between the two cut-offs.
        bins : int or "auto", optional
            Print points for bins of numbers, at most this many for each range, and not
            per unit, so that nobody has to multiply. The points of a bin are those of
            its middle, so the two cut-offs lie further apart. "auto" takes the fewest
            of 5, 10, 20, 50 or 100 that leave at most 0.5%, or else at most 5%, of the
            rows between them; bins that leave more than a quarter are refused. With
            nothing else given, the scale stays.
        rows : frame or list of dicts, optional
            Rows to choose digits and bins by.

        Examples
        --------
        >>> from nn2rules import Domain, Feature
        >>> domain = Domain((Feature("color", ("red", "yellow")),))
        >>> card = Scorecard(domain, ("unripe", "ripe"), [Card(0.0, [1.5, -1.0])])
        >>> card.scaled(minimum=300, maximum=850).points([{"color": "red"}]).totals
        array([[850]])
        """
        profile = self.profile
        if profile is not None:
            profile = replace(profile, between=None)
        wishes: dict[str, Any] = {
            "points_to_double_odds": points_to_double_odds,
            "odds": odds,
            "base_score": base_score,
            "minimum": minimum,
            "maximum": maximum,
            "higher": higher,
        }
        if bins is not None and all(wish is None for wish in wishes.values()):
            scale = replace(self.table.scale, bins=None)
            digits = scale.digits if digits is None else digits
        else:
            scale = wished_scale(self, **wishes, reach=lambda: score_reach(self))
        if digits is not None:
            scale = replace(scale, digits=digits)
        inputs = None if rows is None else self.domain.inputs_of(rows)
        if digits is None:
            scale = replace(scale, digits=fitting_digits(self, scale, inputs))
        if bins is not None:
            scale = with_bins(self, scale, bins, inputs)
        if inputs is not None and profile is not None:
            found = table_of(self, scale).predict_codes(*inputs)
            between = int((found < 0).sum()), len(found)
            profile = replace(profile, between=between)
        return self.replace(scale=scale, profile=profile)

    def reasons(
        self,
        rows: Rows,
        *,
        wanted: Value = None,
        against: Literal["best", "typical"] = "best",
        most: int = 4,
    ) -> list[tuple[Reason, ...]]:
        """Return for each row the features that cost it most points.

        Parameters
        ----------
        rows : frame, list of dicts, or one row as a dict
        wanted : class label, optional
            Points count that lead towards this class; by default towards the class
            that a row does not get, of several the one that comes second.
        against : {"best", "typical"}
            What a feature is compared with, all others as they are: its best value, or
            its typical one in the data of the extraction.
        most : int
            How many features are named at most.

        Returns
        -------
        list of tuples of Reason
            For each row those that cost most points come first; of equal ones, as the
            features are ordered.
        """
        return reasons_of(self, rows, wanted=wanted, against=against, most=most)

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a data frame with a row for each line of the card.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}
            The library of the frame; it must be installed.
        """
        return frame_of(lambda: _frame_columns(self), backend)

    def document(self) -> Document:
        """Return the page that text and notebooks show."""
        return page_of(self)

    def _key(self) -> tuple[object, ...]:
        return tuple(getattr(self, name) for name in _FIELDS if name != "certificate")

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Scorecard)
            and self._key() == other._key()
            and self.certificate == other.certificate
        )

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        shown = {"single": "one card", "classes": "a card for each class"}
        form = shown.get(self.kind, f"{len(self.cards)} part cards")
        form += f", {len(self.regions)} regions" if self.regions else ""
        labels = ", ".join(map(label_text, self.classes))
        return f"<Scorecard: {labels}; {form}, {len(self.domain.features)} features>"


_FIELDS = tuple(field.name for field in fields(Scorecard))


def _frame_columns(card: Scorecard) -> dict[str, list[Any]]:
    """Return the columns of `Scorecard.to_frame`: a row for the base comes first."""
    lines = lines_of(card.domain)
    columns: dict[str, list[Any]] = {
        "feature": ["base", *(line.feature for line in lines)],
        "value": ["", *(line.value for line in lines)],
    }
    for name, one in zip(card.names, card.cards, strict=True):
        points = [one.base, *(float(one.points[line.column]) for line in lines)]
        columns[unused("points" if card.kind == "single" else name, columns)] = points
    return columns


def checked_profile(
    domain: Domain, rows: int, typical: Sequence[Value], importance: ArrayLike
) -> Profile:
    """Return a profile whose values are those of a domain."""
    numbers = tuple(float(number) for number in np.asarray(importance).tolist())
    if len(typical) != len(domain.names) or len(numbers) != len(domain.names):
        raise FormatError("profile: expected an entry for each feature")
    domain.encode([dict(zip(domain.names, typical, strict=True))])
    return Profile(rows, tuple(typical), numbers)
