"""Evaluate a description: compare it with a model and true labels, row by row."""

from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import OptionError, RowsError
from nn2rules.questions.evaluate.domain_fidelity import domain_fidelity
from nn2rules.questions.evaluate.predictions import (
    Codes,
    label_positions,
    model_predictions,
)
from nn2rules.questions.evaluate.ranking import auc_and_ks
from nn2rules.questions.evaluate.result import (
    ClassEvaluation,
    Evaluation,
    RowFigures,
    RuleListEvaluation,
    ScorecardEvaluation,
)
from nn2rules.rules import NO_RULE, Description, RuleList, bit_rows, numbers_for
from nn2rules.scorecards import TOO_CLOSE, Scorecard, bands_of, lines_of
from nn2rules.space import Range, Rows, whole_number

_CHUNK = 1 << 15  # rows at a time


@overload
def evaluate(
    model: Any,
    rules: RuleList,
    X: Rows,  # noqa: N803 (scikit-learn's name)
    y: Any = None,
    *,
    samples: int = ...,
    seed: int = ...,
) -> RuleListEvaluation: ...


@overload
def evaluate(
    model: Any,
    rules: Scorecard,
    X: Rows,  # noqa: N803 (scikit-learn's name)
    y: Any = None,
    *,
    samples: int = ...,
    seed: int = ...,
) -> ScorecardEvaluation: ...


@overload
def evaluate(
    model: Any,
    rules: Description,
    X: Rows,  # noqa: N803 (scikit-learn's name)
    y: Any = None,
    *,
    samples: int = ...,
    seed: int = ...,
) -> Evaluation: ...


def evaluate(
    model: Any,
    rules: Description,
    X: Rows,  # noqa: N803 (scikit-learn's name)
    y: Any = None,
    *,
    samples: int = 100_000,
    seed: int = 0,
) -> Evaluation:
    """Measure the fidelity of rules or a scorecard to a model, and their accuracy.

    Parameters
    ----------
    model : Network, or anything with predict
        It gets `X` unchanged, and must predict a class label for each row.
    rules : RuleList or Scorecard
    X : frame or list of dicts
        Rows of data; see `Domain.encode`.
    y : sequence of class labels, optional
        The true class of each row; texts from a CSV file match the class they spell.
    samples : int
        How many inputs of the domain to draw at random if there are too many to
        evaluate all. With 0 none are drawn.
    seed : int
        The same seed draws the same inputs.

    Returns
    -------
    RuleListEvaluation or ScorecardEvaluation
        `on_covered` has the figures for the rows that the rules cover, for which
        `rules.predict` gives a class. For rules of scope "support" nothing is proved
        about the default on other rows; only `with_unproved_default` counts it. A
        scorecard covers every row; `bands` has the distribution of its totals.

    Raises
    ------
    RowsError
        If there are no rows, or a column is missing.
    OptionError
        If a label or a prediction of the model is not a class of the rules, or their
        number is not that of the rows.
    UnsupportedModelError
        If the model has no predict method.

    Notes
    -----
    Takes O(rows × features) for every 64 rules. A network with up to 4,194,304 inputs
    is evaluated on every one of them.

    Examples
    --------
    >>> import nn2rules
    >>> network = nn2rules.load(nn2rules.datasets.network_file("tomato"))
    >>> rows = [{"color": "red", "size": "big"}, {"color": "yellow", "size": "big"}]
    >>> found = evaluate(network, nn2rules.extract(network), rows, ["ripe", "ripe"])
    >>> found.covered_share, found.on_covered.fidelity, found.on_covered.accuracy
    (1.0, 1.0, 0.5)
    >>> print(found.domain)
    100% of 6 inputs (counted)
    """
    _check(rules, samples, seed)
    codes = rules.domain.encode(X)
    if not len(codes):
        raise RowsError("there are no rows to evaluate; give at least one")
    truth = None if y is None else label_positions(rules, y, len(codes), "y")
    expected = model_predictions(model, rules, X, len(codes))
    numbers = numbers_for(rules, X)
    predicted, is_covered = rules.predictions(codes, numbers)
    compared = _ClassesOfRows(rules, predicted, expected, truth)
    shared: dict[str, Any] = {
        "scope": rules.scope,
        "n_rows": len(codes),
        "model_right": None if truth is None else int((expected == truth).sum()),
        "on_covered": compared.figures(is_covered),
        "with_unproved_default": (
            None if is_covered.all() else compared.figures(np.full(len(codes), True))
        ),
        "domain": domain_fidelity(rules, model, X, samples=samples, seed=seed),
    }
    if isinstance(rules, RuleList):
        return RuleListEvaluation(**shared, **_rule_figures(rules, codes))
    if isinstance(rules, Scorecard):
        figures = _card_figures(rules, codes, numbers, truth)
        return ScorecardEvaluation(**shared, **figures)
    return Evaluation(**shared)


def _rule_figures(rules: RuleList, codes: Codes) -> dict[str, Any]:
    """Return what is counted of single rules."""
    n_covering = _n_covering(rules, codes)
    return {
        "determined": _determined(rules, rules.match(codes)),
        "overlapping": int((n_covering > 1).sum()),
        "covering": int(n_covering.sum()),
        **_sizes(rules),
    }


def _card_figures(
    card: Scorecard,
    codes: Codes,
    numbers: NDArray[np.float64] | None,
    truth: Codes | None,
) -> dict[str, Any]:
    """Return what is counted of points."""
    is_close = card.table.predict_codes(codes, numbers) == TOO_CLOSE
    auc = ks = None
    if len(card.classes) == 2 and truth is not None:
        scores = card.network.scores_codes(codes, numbers).reshape(len(codes), -1)
        score = scores[:, -1] - (scores[:, 0] if scores.shape[1] == 2 else 0.0)
        auc, ks = auc_and_ks(score, truth == 1)
    return {
        "n_lines": len(lines_of(card.domain)),
        "n_regions": len(card.regions),
        "too_close": int(is_close.sum()),
        "bands": bands_of(card, codes, numbers, truth),
        "auc": auc,
        "ks": ks,
    }


@dataclass(frozen=True, slots=True)
class _ClassesOfRows:
    """The classes that rules, model and labels give each row, as positions."""

    rules: Description
    predicted: Codes
    expected: Codes
    truth: Codes | None

    def figures(self, rows: NDArray[np.bool_]) -> RowFigures:
        """Count on these rows."""
        predicted, expected = self.predicted[rows], self.expected[rows]
        truth = None if self.truth is None else self.truth[rows]
        same = predicted == expected
        right = model_right = same_where_right = None
        if truth is not None:
            right = int((predicted == truth).sum())
            model_right = int((expected == truth).sum())
            same_where_right = int((same & (expected == truth)).sum())
        return RowFigures(
            n_rows=len(predicted),
            same=int(same.sum()),
            right=right,
            model_right=model_right,
            same_where_right=same_where_right,
            by_class=_by_class(self.rules, predicted, expected, truth),
        )


def _check(rules: Any, samples: int, seed: int) -> None:
    if not isinstance(rules, Description):
        raise OptionError(
            f"rules: a {type(rules).__name__}, expected a RuleList or a Scorecard; "
            f"evaluate takes the model, then its description, then the rows"
        )
    whole_number("samples", samples)
    whole_number("seed", seed)


def _determined(rules: RuleList, fired: Codes) -> tuple[int, ...]:
    """Return how many rows the first k rules determine, for k from 0 to all."""
    by_rule = np.bincount(fired[fired != NO_RULE], minlength=len(rules))
    return (0, *np.cumsum(by_rule).tolist())


def _n_covering(rules: RuleList, codes: Codes) -> NDArray[np.int64]:
    """Return how many rules cover each row, by bits; see `rules.matching`."""
    bits, offsets = bit_rows(rules.boxes), rules.domain.offsets
    counts = np.zeros(len(codes), dtype=np.int64)
    for start in range(0, len(codes), _CHUNK):
        columns = codes[start : start + _CHUNK] + offsets[:-1]
        for word in bits:
            both = word[columns[:, 0]]
            for feature in range(1, columns.shape[1]):
                both &= word[columns[:, feature]]
            counts[start : start + _CHUNK] += np.bitwise_count(both)
    return counts


def _sizes(rules: RuleList) -> dict[str, int]:
    """Return the numbers of conditions and values; all values are not a condition."""
    starts = rules.domain.offsets[:-1]
    allowed = np.add.reduceat(rules.boxes.astype(np.int64), starts, axis=1)
    restricted = allowed < np.array(rules.domain.sizes)
    for index, feature in enumerate(rules.domain.features):
        if isinstance(feature, Range):  # a span counts as one value
            start = int(starts[index])
            cells = rules.boxes[:, start : start + feature.n_plain].astype(np.int64)
            begins = (np.diff(cells, axis=1, prepend=0) == 1).sum(axis=1)
            allowed[:, index] += begins - cells.sum(axis=1)
    return {
        "n_conditions": int(restricted.sum()),
        "most_conditions": int(restricted.sum(axis=1).max(initial=0)),
        "n_values": int(allowed[restricted].sum()),
    }


def _by_class(
    rules: Description, predicted: Codes, expected: Codes, truth: Codes | None
) -> tuple[ClassEvaluation, ...]:
    """Count the predictions of the rules and of the model for each class."""
    classes = []
    for position, label in enumerate(rules.classes):
        is_predicted, is_expected = predicted == position, expected == position
        labelled = right = None
        if truth is not None:
            labelled = int((truth == position).sum())
            right = int((is_predicted & (truth == position)).sum())
        classes.append(
            ClassEvaluation(
                label,
                n_rules=(
                    int((rules.answers == position).sum())
                    if isinstance(rules, RuleList)
                    else None
                ),
                n_rows=int(is_expected.sum()),
                same=int((is_predicted & is_expected).sum()),
                predicted=int(is_predicted.sum()),
                labelled=labelled,
                right=right,
            )
        )
    return tuple(classes)
