"""The lines of a scorecard: one for each value, bin or group, and one for a slope."""

from dataclasses import dataclass

from nn2rules.language import allowed_text, label_text
from nn2rules.space import Domain, Feature, Range


@dataclass(frozen=True, slots=True)
class CardLine:
    """A line of a scorecard.

    Attributes
    ----------
    feature : str
    value : str
        The value as people read it; of a slope, the range of its numbers.
    column : int
        Where its points are among those of all values.
    is_slope : bool
        Whether its points are those of one unit of a number.
    """

    feature: str
    value: str
    column: int
    is_slope: bool


def lines_of(domain: Domain) -> tuple[CardLine, ...]:
    """Return the lines of a scorecard, feature by feature.

    Examples
    --------
    >>> age = Feature.real("age", 17, 90, whole=True, missing=True)
    >>> for line in lines_of(Domain((Feature("color", ("red", "blue")), age))):
    ...     print(line.feature, "|", line.value, line.is_slope)
    color | red False
    color | blue False
    age | 17 to 90 (whole) True
    age | missing False
    """
    lines = []
    for feature, start in zip(domain.features, domain.offsets.tolist(), strict=False):
        for code in range(len(feature)):
            is_slope = code < feature.n_cells
            text = _slope_text(feature) if is_slope else _value_text(feature, code)
            lines.append(CardLine(feature.name, text, start + code, is_slope))
    return tuple(lines)


def _slope_text(feature: Feature) -> str:
    """Return the range of numbers that a slope is for."""
    assert isinstance(feature, Range), "only ranges have slopes"
    low, high = feature.limits
    return f"{low} to {high}{' (whole)' if feature.whole else ''}"


def _value_text(feature: Feature, code: int) -> str:
    """Return one value as people read it: a bin by its ends, a group by its words."""
    value = feature.values[code]
    if value is None or isinstance(feature, Range):
        return label_text(value)
    text = allowed_text(feature, (value,))
    for sign in ("= ", "in "):
        if text.startswith(sign):
            return text.removeprefix(sign)
    return text
