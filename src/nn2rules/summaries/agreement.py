"""On how many rows two models agree, with the uncertainty of a sample."""

from dataclasses import dataclass

from nn2rules.errors import FormatError
from nn2rules.space import wilson


@dataclass(frozen=True, slots=True)
class Agreement:
    """On how many rows two models predict the same.

    Attributes
    ----------
    rows, agree : int
        The number of rows, and of those with the same prediction.
    """

    rows: int
    agree: int

    def __post_init__(self) -> None:
        if not 0 <= self.agree <= self.rows:
            raise FormatError(
                f"an agreement on {self.agree} of {self.rows} rows is not possible"
            )

    @property
    def share(self) -> float | None:
        """The share of rows with the same prediction; None without rows."""
        return self.agree / self.rows if self.rows else None

    @property
    def interval(self) -> tuple[float, float]:
        """The 95% confidence interval of the share: Wilson's.

        Examples
        --------
        >>> low, high = Agreement(100, 97).interval
        >>> round(low, 4), round(high, 4)
        (0.9155, 0.9897)
        """
        return wilson(self.agree, self.rows)

    @property
    def text(self) -> str:
        """The share with its uncertainty: the distance to the farther end.

        Examples
        --------
        >>> Agreement(100, 97).text, Agreement(30, 30).text
        ('97.0% ± 5.5', '100.0% ± 11.4')
        """
        if self.share is None:
            return "unknown"
        low, high = self.interval
        shown = _tenths(self.share, is_all=self.agree == self.rows)
        return f"{shown} ± {100 * max(self.share - low, high - self.share):.1f}"


def _tenths(share: float, *, is_all: bool) -> str:
    """Return a share in percent; it reads 100.0% only if it is all."""
    text = f"{100 * share:.1f}%"
    return "99.9%" if text == "100.0%" and not is_all else text
