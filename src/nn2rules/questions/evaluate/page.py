"""An evaluation as a page: a few lines, then small tables."""

from itertools import count as counting
from typing import TYPE_CHECKING

from nn2rules.language import count, label_text, share
from nn2rules.output import Document, Grid

if TYPE_CHECKING:
    from nn2rules.questions.evaluate.result import Evaluation

SHARES = (0.9, 0.95, 0.99, 1.0)
"""The shares of rows of which a report says how many rules decide them."""

_NOTHING = "–"


def steps(n_rules: int) -> list[int]:
    """Return 1, 2, 5, 10, … below the number of rules, and that number.

    Examples
    --------
    >>> steps(37), steps(5), steps(0)
    ([1, 2, 5, 10, 20, 37], [1, 2, 5], [])
    """
    found: list[int] = []
    for power in counting():
        for digit in (1, 2, 5):
            if digit * 10**power >= n_rules:
                return [*found, n_rules] if n_rules else []
            found.append(digit * 10**power)
    raise AssertionError("the steps grow beyond every number")


def document_of(found: "Evaluation") -> Document:
    """Return an evaluation as people read it."""
    tables = [Grid(_summary(found), (False, False), counts_characters=True)]
    for rows in _tables(found):
        numbers = (False, *[True] * (len(rows[0]) - 1))
        shown = tuple(map(tuple, rows))
        tables.append(Grid(shown, numbers, counts_characters=True))
    return Document(tuple((table,) for table in tables))


def _tables(found: "Evaluation") -> list[list[list[str]]]:
    """Return the tables of numbers."""
    tables = [_classes(found)]
    if found.n_rules:
        tables += [_first_rules(found), _rules_needed(found)]
    return tables


def _summary(found: "Evaluation") -> tuple[tuple[str, str], ...]:
    rows, size = found.n_rows, f"{found.n_rules:,}"
    if found.conditions_per_rule is not None:
        mean, most = found.conditions_per_rule, found.most_conditions
        size += f"; {mean:.1f} conditions each, {most} at most"
    if found.values_per_condition is not None:
        size += f"; {found.values_per_condition:.1f} values in a condition"
    several, mean = share(found.overlapping, rows), found.rules_per_row
    lines = {
        "rules": size,
        **_coverage(found),
        "overlap": f"{several} of rows; {mean:.1f} rules hold for a row",
        "fidelity": _of_rows(found, found.on_covered.same),
        **_where(found),
        "  in the domain": str(found.domain or "not measured"),
        **_accuracy(found),
        **_with_default(found),
    }
    return tuple(lines.items())


def _coverage(found: "Evaluation") -> dict[str, str]:
    """Return how many rows are covered."""
    covered, rows = found.n_covered, found.n_rows
    if not found.n_uncovered:
        decided = f"{share(found.decided[-1], rows)} decided by a rule"
        return {"rows": f"{rows:,}; {decided}", "covered": "100% of rows"}
    return {
        "rows": f"{rows:,}",
        "covered": f"{share(covered, rows)} of rows ({covered:,} of {rows:,}); "
        f"for the other {found.n_uncovered:,} nothing is predicted",
    }


def _of_rows(found: "Evaluation", part: int | None) -> str:
    """Return a share of the rows that are covered."""
    which = "covered rows" if found.n_uncovered else "rows"
    return f"{_share(part, found.n_covered)} of {which}"


def _accuracy(found: "Evaluation") -> dict[str, str]:
    """Return the accuracy of the rules, and of the model on the same rows."""
    covered = found.on_covered
    if found.model_right is None:
        return {}
    model = _of_rows(found, covered.model_right)
    if found.n_uncovered:
        model += f"; {_share(found.model_right, found.n_rows)} of all rows"
    return {
        "accuracy of the rules": _of_rows(found, covered.right),
        "accuracy of the model": model,
    }


def _with_default(found: "Evaluation") -> dict[str, str]:
    """Return what the default would add, which is not proved."""
    figures = found.with_unproved_default
    if figures is None:
        return {}
    text = f"fidelity {_share(figures.same, figures.n_rows)} of all rows"
    if figures.right is not None:
        text += f", accuracy {_share(figures.right, figures.n_rows)} of all rows"
    return {"with UNPROVED default": text}


def _where(found: "Evaluation") -> dict[str, str]:
    """Return the fidelity where the model is right, and where it is wrong."""
    covered = found.on_covered
    right, wrong = covered.model_right, covered.model_wrong
    if right is None or wrong is None:
        return {}
    noun = "covered row" if found.n_uncovered else "row"
    same = (
        _share(covered.same_where_right, right),
        _share(covered.same_where_wrong, wrong),
    )
    return {
        "  where the model is right": f"{same[0]} of {count(right, noun)}",
        "  where it is wrong": f"{same[1]} of {count(wrong, noun)}",
    }


def _classes(found: "Evaluation") -> list[list[str]]:
    rows = "covered rows" if found.n_uncovered else "rows"
    lines = [["class", "rules", rows, "fidelity", "recall", "precision"]]
    for one in found.on_covered.by_class:
        numbers = [f"{one.n_rules:,}", f"{one.n_rows:,}", _share(one.same, one.n_rows)]
        recall, precision = (one.right, one.labelled), (one.right, one.answered)
        shares = [_share(*recall), _share(*precision)]
        lines.append([label_text(one.label), *numbers, *shares])
    return lines if found.model_right is not None else [line[:4] for line in lines]


def _first_rules(found: "Evaluation") -> list[list[str]]:
    ks = steps(found.n_rules)
    return [
        ["first rules", *(f"{k:,}" for k in ks)],
        ["rows decided", *(share(found.decided[k], found.n_rows) for k in ks)],
    ]


def _rules_needed(found: "Evaluation") -> list[list[str]]:
    needed = [found.rules_for(wanted) for wanted in SHARES]
    return [
        ["rows decided", *(f"{100 * wanted:.0f}%" for wanted in SHARES)],
        ["rules needed", *(_NOTHING if k is None else f"{k:,}" for k in needed)],
    ]


def _share(part: int | None, whole: int | None) -> str:
    return _NOTHING if part is None or not whole else share(part, whole)
