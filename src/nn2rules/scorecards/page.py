"""The page that people read: one line for each value, and what the total means."""

from typing import TYPE_CHECKING

from nn2rules.language import quoted
from nn2rules.output import Document, Grid, Heading
from nn2rules.scorecards.lines import lines_of

if TYPE_CHECKING:
    from nn2rules.scorecards.scorecard import Scorecard


def page_of(card: "Scorecard") -> Document:
    """Return the page of a scorecard."""
    labels = " or ".join(card.names) if card.form == "classes" else ""
    rows = [("base", "", *(f"{one.base:.6g}" for one in card.cards))]
    for line in lines_of(card.domain):
        points = (f"{one.points[line.column]:.6g}" for one in card.cards)
        rows.append((quoted(line.feature), line.value, *points))
    header = ("feature", "value", *card.names)
    numbers = (False, False, *(True for _ in card.cards))
    title = f"Scorecard: {labels or ' or '.join(map(str, card.classes))}"
    return Document(((Heading(title), Grid(tuple(rows), numbers, header)),))
