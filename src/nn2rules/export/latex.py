"""Rules and scorecards as LaTeX: documents for XeLaTeX or LuaLaTeX, with long tables.

A character that the font does not have is taken from other fonts, and if none has it
its number is shown, so no part of a value is lost. Long words may be split anywhere.
"""

import re

from nn2rules.export.card_program import CardProgram
from nn2rules.export.card_text import card_parts
from nn2rules.export.program import RuleProgram
from nn2rules.export.rule_table import Line, RuleTable, rule_table_of
from nn2rules.output import Grid, Heading

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    '"': r"\textquotedbl{}",
    "'": r"\textquotesingle{}",
    "`": r"\textasciigrave{}",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "≠": r"$\neq$",
    "–": r"\textendash{}",
    "−": r"$-$",
    "×": r"$\times$",
    "…": r"\ldots{}",
}
_LONG = 14  # this many characters of a word stay together
_FONTS = ("DejaVu Sans", "Noto Sans", "Noto Sans CJK SC", "Unifont")
_ORDINALS = ("One", "Two", "Three", "Four")

_PREAMBLE = r"""\documentclass[10pt]{article}
\usepackage[a4paper,margin=2cm]{geometry}
\usepackage{fontspec}
\usepackage{array,booktabs,longtable}
\setlength{\parindent}{0pt}
\setlength{\LTleft}{0pt}
\newcommand{\glyph}[1]{{\iffontchar\font"#1 \symbol{"#1}\else\glyphOne{#1}\fi}}
FONTS\newcommand{\glyphFive}[1]{\texttt{U+#1}}
"""
_FONT = r"""\IfFontExistsTF{NAME}{%
  \newfontfamily\fontHERE{NAME}%
  \newcommand{\glyphHERE}[1]{\fontHERE
    \iffontchar\font"#1 \symbol{"#1}\else\normalfont\glyphNEXT{#1}\fi}%
}{\newcommand{\glyphHERE}[1]{\glyphNEXT{#1}}}
"""


def write(program: RuleProgram) -> str:
    """Return rules as the text of a LaTeX document."""
    page = rule_table_of(program)
    lines = [
        *_start(page.about),
        rf"\section*{{{escaped(page.title)}}}",
        *_about(page.about),
        *_rules(page),
        r"\section*{Features}",
        *_features(page),
        r"\end{document}",
    ]
    return "\n".join(lines) + "\n"


def write_card(program: CardProgram) -> str:
    """Return the page of a scorecard as the text of a LaTeX document."""
    lines = _start(program.about)
    is_first = True
    for part in card_parts(program):
        if isinstance(part, Grid):
            lines += _grid(part)
            continue
        is_title = isinstance(part, Heading)
        lines.append(
            rf"\section*{{{escaped(part.text)}}}"
            if is_title
            else rf"{escaped(part.text)}\par\smallskip"
        )
        if is_title and is_first:
            lines += [*_about(program.about), r"\par\medskip"]
            is_first = False
    return "\n".join([*lines, r"\end{document}"]) + "\n"


def _start(about: tuple[tuple[str, str], ...]) -> list[str]:
    return [
        "% !TEX program = xelatex",
        *(f"% {key}: {text}" for key, text in about),
        _preamble(),
        r"\begin{document}",
    ]


def _about(about: tuple[tuple[str, str], ...]) -> list[str]:
    return [
        r"\begin{tabular}{@{}>{\raggedright}p{0.16\linewidth}"
        r">{\raggedright\arraybackslash}p{0.78\linewidth}@{}}",
        *(rf"{key} & {escaped(text)} \\" for key, text in about),
        r"\end{tabular}",
    ]


def _grid(grid: Grid) -> list[str]:
    """Return a table of a page: texts wrap, numbers are on the right."""
    n_texts = sum(not is_number for is_number in grid.numbers)
    columns = "@{}"
    for is_number in grid.numbers:
        wide = 0.26 if not is_number else 0.4 / max(1, len(grid.numbers) - n_texts)
        wide = min(wide, 0.2) if is_number else wide
        side = r"\raggedleft" if is_number else r"\raggedright"
        columns += rf">{{{side}\arraybackslash}}p{{{wide:.2f}\linewidth}}"
    header = tuple(map(escaped, grid.header or ("",) * len(grid.numbers)))
    return _longtable(columns + "@{}", header, list(grid.rows))


def _preamble() -> str:
    fonts = ""
    for place, name in enumerate(_FONTS):
        own, following = (*_ORDINALS, "Five")[place : place + 2]
        made = _FONT.replace("NAME", name).replace("NEXT", following)
        fonts += made.replace("HERE", own)
    return _PREAMBLE.replace("FONTS", fonts)


def escaped(text: str) -> str:
    r"""Return a text that LaTeX sets as it is.

    Examples
    --------
    >>> print(escaped("50% of {a_b} ≥ 3"))
    50\% of \{a\_b\} $\geq$ 3
    >>> print(escaped("日本"))
    \glyph{65E5}\glyph{672C}
    """
    return " ".join(_word(word) for word in text.split(" "))


def _word(word: str) -> str:
    pieces = [word[start : start + _LONG] for start in range(0, len(word), _LONG)]
    joined = r"\allowbreak{}".join("".join(map(_sign, piece)) for piece in pieces)
    return re.sub(r"(?<=([-<>,]))(?=\1)", "{}", joined)


def _sign(sign: str) -> str:
    if sign in _SPECIAL:
        return _SPECIAL[sign]
    is_plain = sign.isascii() or ("À" <= sign <= "ÿ" and sign.isalpha())
    return sign if is_plain else rf"\glyph{{{ord(sign):04X}}}"


def _rules(page: RuleTable) -> list[str]:
    header = ("rule", "if", "then", *page.columns)
    wide = 0.66 - 0.11 * len(page.columns)
    columns = (
        rf"@{{}}>{{\raggedright}}p{{0.07\linewidth}}>{{\raggedright}}p{{{wide:.2f}"
        rf"\linewidth}}>{{\raggedright}}p{{0.18\linewidth}}"
        + r">{\raggedleft\arraybackslash}p{0.09\linewidth}" * len(page.columns)
        + "@{}"
    )
    return _longtable(columns, header, [_cells(line) for line in page.lines])


def _cells(line: Line) -> tuple[str, ...]:
    return line.name, " and ".join(line.conditions), line.then, *line.numbers


def _features(page: RuleTable) -> list[str]:
    columns = (
        r"@{}>{\raggedright}p{0.2\linewidth}>{\raggedright}p{0.2\linewidth}"
        r">{\raggedright\arraybackslash}p{0.52\linewidth}@{}"
    )
    return _longtable(columns, ("feature", "kind", "values"), list(page.features))


def _longtable(
    columns: str, header: tuple[str, ...], rows: list[tuple[str, ...]]
) -> list[str]:
    """Return a table whose header is repeated on every page."""
    return [
        rf"\begin{{longtable}}{{{columns}}}",
        r"\toprule",
        rf"{' & '.join(header)} \tabularnewline",
        r"\midrule",
        r"\endhead",
        r"\bottomrule",
        r"\endfoot",
        *(rf"{' & '.join(map(escaped, row))} \tabularnewline" for row in rows),
        r"\end{longtable}",
    ]
