"""Evaluate rules: compare them with a model and with labels, row by row."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import OptionError, RowsError
from nn2rules.questions.evaluate.domain_fidelity import domain_fidelity
from nn2rules.questions.evaluate.predictions import (
    Codes,
    label_positions,
    model_answers,
)
from nn2rules.questions.evaluate.result import ClassEvaluation, Evaluation, RowFigures
from nn2rules.rules import NO_RULE, RuleList, bit_rows
from nn2rules.space import Rows, whole_number

_CHUNK = 1 << 15  # rows at a time


def evaluate(
    rules: RuleList,
    model: Any,
    X: Rows,  # noqa: N803 (scikit-learn's name)
    y: Any = None,
    *,
    samples: int = 100_000,
    seed: int = 0,
) -> Evaluation:
    """Measure how well rules stand for a model, and how well they do on their own.

    Parameters
    ----------
    rules : RuleList
    model : Network, or anything with predict
        It is given `X` as it is, and must answer a class label for each row.
    X : frame or list of dicts
        Rows of data; see `Domain.encode`.
    y : sequence of class labels, optional
        The true class of each row. The text of a CSV file finds the class it spells.
    samples : int
        How many inputs of the domain to draw at random where they are too many to ask
        about all of them. With 0 none are drawn.
    seed : int
        The same seed draws the same inputs.

    Returns
    -------
    Evaluation
        `on_covered` has the figures for rows that the rules cover, those to which
        `rules.predict` gives a class. Rules of scope "support" leave other rows out:
        nothing is proved of the default there, and only `with_unproved_default` counts
        it.

    Raises
    ------
    RowsError
        If there are no rows, or a column is missing.
    OptionError
        If a label, or an answer of the model, is no class of the rules, or their number
        is not that of the rows.
    UnsupportedModelError
        If the model has no predict method.

    Notes
    -----
    Takes O(rows × features) for each 64 rules. A network of up to 4,194,304 inputs is
    asked about every one of them.

    Examples
    --------
    >>> import nn2rules
    >>> network = nn2rules.load(nn2rules.datasets.network_file("tomato"))
    >>> rows = [{"color": "red", "size": "big"}, {"color": "yellow", "size": "big"}]
    >>> found = evaluate(nn2rules.extract(network), network, rows, ["ripe", "ripe"])
    >>> found.covered_share, found.on_covered.fidelity, found.on_covered.accuracy
    (1.0, 1.0, 0.5)
    >>> print(found.domain)
    100% of 6 inputs (counted)
    """
    _check(rules, samples, seed)
    codes = rules.domain.encode(X)
    if not len(codes):
        raise RowsError("there are no rows; an evaluation needs at least one")
    truth = None if y is None else label_positions(rules, y, len(codes), "y")
    wanted = model_answers(model, rules, X, len(codes))
    fired = rules.match(codes)
    given, is_covered = rules.predictions_by(fired)
    compared, holding = _Compared(rules, given, wanted, truth), _holding(rules, codes)
    return Evaluation(
        scope=rules.scope,
        n_rows=len(codes),
        model_right=None if truth is None else int((wanted == truth).sum()),
        on_covered=compared.figures(is_covered),
        with_unproved_default=(
            None if is_covered.all() else compared.figures(np.full(len(codes), True))
        ),
        decided=_decided(rules, fired),
        overlapping=int((holding > 1).sum()),
        holding=int(holding.sum()),
        **_sizes(rules),
        domain=domain_fidelity(rules, model, X, samples=samples, seed=seed),
    )


@dataclass(frozen=True, slots=True)
class _Compared:
    """The classes that rules, model and labels give each row, by position."""

    rules: RuleList
    given: Codes
    wanted: Codes
    truth: Codes | None

    def figures(self, rows: NDArray[np.bool_]) -> RowFigures:
        """Count on these rows."""
        given, wanted = self.given[rows], self.wanted[rows]
        truth = None if self.truth is None else self.truth[rows]
        same = given == wanted
        right = model_right = same_where_right = None
        if truth is not None:
            right = int((given == truth).sum())
            model_right = int((wanted == truth).sum())
            same_where_right = int((same & (wanted == truth)).sum())
        return RowFigures(
            n_rows=len(given),
            same=int(same.sum()),
            right=right,
            model_right=model_right,
            same_where_right=same_where_right,
            by_class=_by_class(self.rules, given, wanted, truth),
        )


def _check(rules: Any, samples: int, seed: int) -> None:
    if not isinstance(rules, RuleList):
        raise OptionError(
            f"rules: a {type(rules).__name__}, expected a RuleList; evaluate takes the "
            f"rules, then the model, then the rows"
        )
    whole_number("samples", samples)
    whole_number("seed", seed)


def _decided(rules: RuleList, fired: Codes) -> tuple[int, ...]:
    """Return how many rows the first k rules decide, for k from 0 to all."""
    by_rule = np.bincount(fired[fired != NO_RULE], minlength=len(rules))
    return (0, *np.cumsum(by_rule).tolist())


def _holding(rules: RuleList, codes: Codes) -> NDArray[np.int64]:
    """Return how many rules hold for each row, by bits; see `rules.matching`."""
    bits, offsets = bit_rows(rules.boxes), rules.domain.offsets
    found = np.zeros(len(codes), dtype=np.int64)
    for start in range(0, len(codes), _CHUNK):
        columns = codes[start : start + _CHUNK] + offsets[:-1]
        for word in bits:
            both = word[columns[:, 0]]
            for feature in range(1, columns.shape[1]):
                both &= word[columns[:, feature]]
            found[start : start + _CHUNK] += np.bitwise_count(both)
    return found


def _sizes(rules: RuleList) -> dict[str, int]:
    """Return how many conditions and values there are; all values are no condition."""
    starts = rules.domain.offsets[:-1]
    allowed = np.add.reduceat(rules.boxes.astype(np.int64), starts, axis=1)
    restricted = allowed < np.array(rules.domain.sizes)
    for index, feature in enumerate(rules.domain.features):
        if feature.limits is not None:  # a span counts as one value
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
    rules: RuleList, given: Codes, wanted: Codes, truth: Codes | None
) -> tuple[ClassEvaluation, ...]:
    """Count for each class the answers of the rules (`given`) and of the model."""
    found = []
    for position, label in enumerate(rules.classes):
        ours, theirs = given == position, wanted == position
        labelled = right = None
        if truth is not None:
            labelled = int((truth == position).sum())
            right = int((ours & (truth == position)).sum())
        found.append(
            ClassEvaluation(
                label,
                n_rules=int((rules.answers == position).sum()),
                n_rows=int(theirs.sum()),
                same=int((ours & theirs).sum()),
                answered=int(ours.sum()),
                labelled=labelled,
                right=right,
            )
        )
    return tuple(found)
