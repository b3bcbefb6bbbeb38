"""Reasons by points, for networks that have a scorecard.

They complement the proved reasons: which features cost a row most points, compared
with their best or typical values. The card is the one that `extract` makes, so its
points equal the network's scores on every input.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from nn2rules.errors import OptionError
from nn2rules.extraction import scorecard_lines, scorecard_of
from nn2rules.models import given_rows
from nn2rules.network import Network
from nn2rules.questions.explain.case import direction_of
from nn2rules.questions.explain.reason_codes import MOST_CODES, ReasonCodes
from nn2rules.questions.explain.result import PointsLost
from nn2rules.scorecards import Reason, Scorecard
from nn2rules.space import Feature, Lookup, Range, Rows, Value

Against = Literal["best", "typical"]


@dataclass(frozen=True)
class CardReasons:
    """A scorecard whose points explain rows.

    Attributes
    ----------
    card : Scorecard
    against : {"best", "typical"}
        What each feature is compared with.
    """

    card: Scorecard
    against: Against

    def lost(self, row: Mapping[str, Value], codes: ReasonCodes) -> list[PointsLost]:
        """Return the features, at most four, that cost a row most points."""
        [reasons] = self.card.reasons([row], against=self.against, most=MOST_CODES)
        return [self._lost(reason, codes) for reason in reasons]

    def _lost(self, reason: Reason, codes: ReasonCodes) -> PointsLost:
        index = self.card.domain.index(reason.feature)
        feature = self.card.domain.features[index]
        both = (_place(feature, value) for value in (reason.value, reason.instead))
        text = codes.get(
            (index, direction_of(feature, *both)), codes.get((index, "any"))
        )
        return PointsLost(
            reason.feature, reason.value, reason.points, reason.instead, text
        )


def _place(feature: Feature, value: Value) -> tuple[int, float]:
    """Return the code of a value, and its number in a range (else 1)."""
    lookup = Lookup(feature)
    code = lookup[value]
    is_number = isinstance(feature, Range) and code == 0
    return code, float(lookup.number(value)) if is_number else 1.0


def card_reasons(
    network: Network, scorecard: object, against: object, data: Rows
) -> CardReasons | None:
    """Return the scorecard whose points explain rows; None if the network has none.

    Parameters
    ----------
    network : Network
    scorecard : Scorecard, optional
        One of the network, on the user's scale.
    against : {"best", "typical"}
    data : rows, optional
        They show typical values, and how fine the points have to be.
    """
    if against not in get_args(Against):
        raise OptionError(f"points_against: {against!r}, expected 'best' or 'typical'")
    if scorecard is None and scorecard_lines(network) is None:
        if against == "best":
            return None
        raise OptionError(
            "points_against: this model has no scorecard of one card or of parts, so "
            "there are no points"
        )
    if scorecard is None:
        rows = None if data is None else given_rows(network, data)
        card = scorecard_of(network, rows)
    else:
        card = _checked(network, scorecard)
    if against == "typical" and card.profile is None:
        raise OptionError(
            "points_against: typical values are known only with the training rows; "
            "give them as data"
        )
    return CardReasons(card, against)  # type: ignore[arg-type]


def _checked(network: Network, card: object) -> Scorecard:
    """Return a scorecard after checking that it is this network's."""
    if not isinstance(card, Scorecard):
        raise OptionError(f"scorecard: a {type(card).__name__}, expected a Scorecard")
    own = card.network
    is_same = (own.domain, own.layers, own.classes, own.threshold) == (
        *(network.domain, network.layers, network.classes, network.threshold),
    )
    if not is_same:
        raise OptionError("scorecard: it was made from another model")
    if card.regions:
        raise OptionError(
            "scorecard: it is a list of regions, which have no points of their own; "
            "leave it out"
        )
    return card
