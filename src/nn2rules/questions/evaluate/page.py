"""An evaluation as a page: a few lines, then small tables."""

from itertools import count as counting
from typing import TYPE_CHECKING

from nn2rules.language import count, label_text, share
from nn2rules.output import Document, Grid

if TYPE_CHECKING:
    from nn2rules.questions.evaluate.result import (
        Evaluation,
        RuleListEvaluation,
        ScorecardEvaluation,
    )

SHARES = (0.9, 0.95, 0.99, 1.0)
"""The shares of rows for which the page shows how many rules are needed."""

_NOTHING = "–"


def steps(n_rules: int) -> list[int]:
    """Return 1, 2, 5, 10, … below the number of rules, and that number.

    Examples
    --------
    >>> steps(37), steps(5), steps(0)
    ([1, 2, 5, 10, 20, 37], [1, 2, 5], [])
    """
    numbers: list[int] = []
    for power in counting():
        for digit in (1, 2, 5):
            if digit * 10**power >= n_rules:
                return [*numbers, n_rules] if n_rules else []
            numbers.append(digit * 10**power)
    raise AssertionError("the steps grow beyond every number")


def page_of(evaluation: "Evaluation") -> Document:
    """Return an evaluation of any description as people read it."""
    return _page({}, _covered(evaluation), evaluation, [])


def page_of_rules(evaluation: "RuleListEvaluation") -> Document:
    """Return an evaluation of rules as people read it."""
    rows, size = evaluation.n_rows, f"{evaluation.n_rules:,}"
    if evaluation.conditions_per_rule is not None:
        mean, most = evaluation.conditions_per_rule, evaluation.most_conditions
        size += f"; {mean:.1f} conditions each, {most} at most"
    if evaluation.values_per_condition is not None:
        size += f"; {evaluation.values_per_condition:.1f} values in a condition"
    several, mean = share(evaluation.overlapping, rows), evaluation.rules_per_row
    coverage = _covered(evaluation)
    if not evaluation.n_uncovered:
        coverage["rows"] += (
            f"; {share(evaluation.determined[-1], rows)} determined by a rule"
        )
    coverage["overlap"] = f"{several} of rows; {mean:.1f} rules cover a row"
    tables = []
    if evaluation.n_rules:
        tables = [_first_rules(evaluation), _rules_needed(evaluation)]
    return _page({"rules": size}, coverage, evaluation, tables)


def page_of_card(evaluation: "ScorecardEvaluation") -> Document:
    """Return an evaluation of a scorecard as people read it."""
    size = f"{evaluation.n_lines:,}"
    if evaluation.n_regions:
        size += f"; {count(evaluation.n_regions, 'region')}"
    lines = _covered(evaluation)
    if evaluation.too_close or evaluation.bands:
        close = evaluation.too_close
        text = f"{share(close, evaluation.n_rows)} of rows"
        lines["too close for the points"] = f"{text} ({close:,})" if close else "no row"
    ranking = {}
    if evaluation.auc is not None:
        text = f"AUC {evaluation.auc:.3f}, Gini {evaluation.gini:.3f}"
        ranking = {"ranking of the labels": f"{text}, KS {evaluation.ks:.3f}"}
    return _page({"lines": size}, lines, evaluation, [_bands(evaluation)], ranking)


def _page(
    size: dict[str, str],
    coverage: dict[str, str],
    evaluation: "Evaluation",
    tables: list[list[list[str]]],
    ranking: dict[str, str] | None = None,
) -> Document:
    """Return the summary, the table of classes, and further tables."""
    lines = size | coverage | _agreement(evaluation, ranking or {})
    grids = [Grid(tuple(lines.items()), (False, False), counts_characters=True)]
    for rows in [_classes(evaluation), *filter(None, tables)]:
        numbers = (False, *[True] * (len(rows[0]) - 1))
        shown = tuple(map(tuple, rows))
        grids.append(Grid(shown, numbers, counts_characters=True))
    return Document(tuple((grid,) for grid in grids))


def _agreement(evaluation: "Evaluation", ranking: dict[str, str]) -> dict[str, str]:
    """Return how often the model, and the labels, agree."""
    return {
        "fidelity": _of_rows(evaluation, evaluation.on_covered.same),
        **_where(evaluation),
        "  in the domain": str(evaluation.domain or "not measured"),
        **_accuracy(evaluation),
        **ranking,
        **_with_default(evaluation),
    }


def _covered(evaluation: "Evaluation") -> dict[str, str]:
    """Return how many rows are covered."""
    covered, rows = evaluation.n_covered, evaluation.n_rows
    if not evaluation.n_uncovered:
        return {"rows": f"{rows:,}", "covered": f"{share(1, 1)} of rows"}
    return {
        "rows": f"{rows:,}",
        "covered": f"{share(covered, rows)} of rows ({covered:,} of {rows:,}); "
        f"the other {evaluation.n_uncovered:,} have no prediction",
    }


def _of_rows(evaluation: "Evaluation", part: int | None) -> str:
    """Return a share of the rows that are covered."""
    which = "covered rows" if evaluation.n_uncovered else "rows"
    return f"{_share(part, evaluation.n_covered)} of {which}"


def _accuracy(evaluation: "Evaluation") -> dict[str, str]:
    """Return the accuracy of the rules, and of the model on the same rows."""
    covered = evaluation.on_covered
    if evaluation.model_right is None:
        return {}
    model = _of_rows(evaluation, covered.model_right)
    if evaluation.n_uncovered:
        model += f"; {_share(evaluation.model_right, evaluation.n_rows)} of all rows"
    is_rules = any(one.n_rules is not None for one in covered.by_class)
    own = "accuracy of the rules" if is_rules else "accuracy of the scorecard"
    return {
        own: _of_rows(evaluation, covered.right),
        "accuracy of the model": model,
    }


def _with_default(evaluation: "Evaluation") -> dict[str, str]:
    """Return the figures with the default, which is not proved."""
    figures = evaluation.with_unproved_default
    if figures is None:
        return {}
    text = f"fidelity {_share(figures.same, figures.n_rows)} of all rows"
    if figures.right is not None:
        text += f", accuracy {_share(figures.right, figures.n_rows)} of all rows"
    return {"with UNPROVED default": text}


def _where(evaluation: "Evaluation") -> dict[str, str]:
    """Return the fidelity where the model is right, and where it is wrong."""
    covered = evaluation.on_covered
    right, wrong = covered.model_right, covered.model_wrong
    if right is None or wrong is None:
        return {}
    noun = "covered row" if evaluation.n_uncovered else "row"
    same = (
        _share(covered.same_where_right, right),
        _share(covered.same_where_wrong, wrong),
    )
    return {
        "  where the model is right": f"{same[0]} of {count(right, noun)}",
        "  where it is wrong": f"{same[1]} of {count(wrong, noun)}",
    }


def _classes(evaluation: "Evaluation") -> list[list[str]]:
    rows = "covered rows" if evaluation.n_uncovered else "rows"
    classes = evaluation.on_covered.by_class
    has_rules = any(one.n_rules is not None for one in classes)
    has_labels = evaluation.model_right is not None
    header = ["class", *["rules"] * has_rules, rows, "fidelity"]
    lines = [header + ["recall", "precision"] * has_labels]
    for one in classes:
        line = [label_text(one.label)]
        if one.n_rules is not None:
            line.append(f"{one.n_rules:,}")
        line += [f"{one.n_rows:,}", _share(one.same, one.n_rows)]
        shares = (one.right, one.labelled), (one.right, one.predicted)
        lines.append(line + [_share(*each) for each in shares] * has_labels)
    return lines


def _bands(evaluation: "ScorecardEvaluation") -> list[list[str]]:
    """Return how the totals of the rows are distributed, in bands of points."""
    if not evaluation.bands:
        return []
    label = label_text(evaluation.on_covered.by_class[1].label)
    has_labels = evaluation.model_right is not None
    header = ["total", "rows", "share", f"predicted {label}"]
    lines = [header + [f"labelled {label}"] * has_labels]
    for band in evaluation.bands:
        numbers = [f"{band.rows:,}", share(band.rows, evaluation.n_rows)]
        numbers.append(_share(band.predicted, band.rows))
        lines.append([band.text, *numbers])
        if has_labels:
            lines[-1].append(_share(band.labelled, band.rows))
    return lines


def _first_rules(evaluation: "RuleListEvaluation") -> list[list[str]]:
    ks = steps(evaluation.n_rules)
    return [
        ["first rules", *(f"{k:,}" for k in ks)],
        [
            "rows determined",
            *(share(evaluation.determined[k], evaluation.n_rows) for k in ks),
        ],
    ]


def _rules_needed(evaluation: "RuleListEvaluation") -> list[list[str]]:
    needed = [evaluation.rules_for(wanted) for wanted in SHARES]
    return [
        ["rows determined", *(f"{100 * wanted:.0f}%" for wanted in SHARES)],
        ["rules needed", *(_NOTHING if k is None else f"{k:,}" for k in needed)],
    ]


def _share(part: int | None, total: int | None) -> str:
    return _NOTHING if part is None or not total else share(part, total)
