"""A page as a value: what is said, regardless of the medium that shows it.

`text` prints a `Document`, and `html` shows it in a notebook. All texts are plain: each
medium escapes and parts them as it must. A `kind` says what words are: "title",
"strong", "warning", "faint" or "name"; text has no use for it.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

GAP = "   "
"""What parts columns, and pieces of a line that do not belong together."""

_SHORT = 28  # characters of a condition that shares its line with others


@dataclass(frozen=True, slots=True)
class Heading:
    """A title, which is never parted."""

    text: str
    kind: str = "title"


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Sentences; an empty one is an empty line of text.

    `indent` is the number of spaces before each line of text. `keeps_units`: whether a
    number stays on the line of the sign that is its unit.
    """

    text: str
    kind: str = ""
    indent: int = 0
    keeps_units: bool = True


@dataclass(frozen=True, slots=True)
class Piece:
    """Words of a kind, in a line."""

    text: str
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """Pieces beside each other, and the signs between them."""

    pieces: tuple[Piece | str, ...]


@dataclass(frozen=True, slots=True)
class Items:
    """Short texts in a row, as many on a line as have room."""

    texts: tuple[str, ...]
    between: str
    indent: int


@dataclass(frozen=True, slots=True)
class Grid:
    """Rows of cells below a header, if there is one.

    A row with fewer cells than there are columns has in its last what is shown in place
    of all others.

    Attributes
    ----------
    rows : tuple of tuples of str
    numbers : tuple of bool
        For each column whether it is one of numbers.
    header : tuple of str
    kinds : tuple of str
        What the words of each column are; by default nothing special.
    indent, gap : int, str
        In text, the spaces before a line, and what parts its cells.
    is_aligned : bool
        In text, whether cells of a column are aligned.
    counts_characters : bool
        Whether a column is as wide as its longest text has characters; by default as it
        has cells of a terminal, of which a wide character takes two.
    """

    rows: tuple[tuple[str, ...], ...]
    numbers: tuple[bool, ...]
    header: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    indent: int = 0
    gap: str = "  "
    is_aligned: bool = True
    counts_characters: bool = False


@dataclass(frozen=True, slots=True)
class ShownCondition:
    """A condition: in one piece, and the name of the feature and what it may be."""

    text: str
    feature: str
    allowed: str

    @property
    def is_long(self) -> bool:
        """Whether it names many values, and so has a line of its own if need be."""
        return len(self.text) > _SHORT and ", " in self.allowed


@dataclass(frozen=True, slots=True)
class ShownRule:
    """A rule, or the default, as it is shown: `then` is its class.

    `remark` is shown where there are no conditions, or behind them; `numbers` are the
    cells of the columns.
    """

    name: str
    then: str
    conditions: tuple[ShownCondition, ...]
    remark: str
    numbers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """Rules below each other, what they are, and what is said of those not shown."""

    title: str
    about: str
    rules: tuple[ShownRule, ...]
    hidden: str


@dataclass(frozen=True, slots=True)
class RuleTable:
    """Rules in blocks, with numbers beside them; `columns` are the titles of those.

    Of a list, `otherwise` is shown below its rules as one of them does.
    """

    form: Literal["list", "set"]
    columns: tuple[str, ...]
    blocks: tuple[Block, ...]
    otherwise: ShownRule | None = None


Part: TypeAlias = Heading | Paragraph | Line | Items | Grid
Section: TypeAlias = tuple[Part, ...] | RuleTable


@dataclass(frozen=True, slots=True)
class Document:
    """A page: sections, with space between them."""

    sections: tuple[Section, ...]
