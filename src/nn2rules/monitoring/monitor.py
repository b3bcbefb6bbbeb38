"""`monitor`: count reference and new rows part by part, and compare the counts."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine import ProgressOption, closing_progress, progress_callback
from nn2rules.errors import OptionError, RowsError
from nn2rules.language import condition_text, count, label_text
from nn2rules.monitoring.bins import (
    NO_SCORE,
    OUTSIDE,
    FeatureCells,
    Quantiles,
    bin_words,
    collect,
    is_binned,
)
from nn2rules.monitoring.counting import (
    Counts,
    Outcome,
    count_part,
    in_order,
    labels_of,
)
from nn2rules.monitoring.findings import findings_of
from nn2rules.monitoring.predicting import (
    Modelled,
    Predicted,
    model_of,
    predicted,
    target_of,
)
from nn2rules.monitoring.reading import (
    DataSet,
    EncodedColumn,
    Encoder,
    Part,
    RowsOrPath,
    data_set,
)
from nn2rules.monitoring.result import (
    DEFAULTS,
    Breakdown,
    Cell,
    Monitoring,
    Thresholds,
)
from nn2rules.rules import Description, Rule, RuleList
from nn2rules.scorecards import Scorecard
from nn2rules.space import Value, is_number

_MOST_CONDITIONS = 6  # in the words of a rule
_MOST_OUTSIDE = 20  # values outside the domain of each feature


def monitor(
    description: Description,
    reference: RowsOrPath,
    new: RowsOrPath,
    *,
    labels: str | None = None,
    by: str | None = None,
    model: Any = None,
    target: Value = None,
    bands: Sequence[float] | None = None,
    psi: float = DEFAULTS.psi,
    major_psi: float = DEFAULTS.major_psi,
    uncovered: float = DEFAULTS.uncovered,
    outside: float = DEFAULTS.outside,
    drop: float = DEFAULTS.drop,
    progress: ProgressOption = None,
) -> Monitoring:
    """Compare new rows with a reference, by rule, score band, class and feature.

    Parameters
    ----------
    description : RuleList or Scorecard
    reference, new : frame, list of dicts, or path
        The rows of the past, such as the training rows, and those of today. A path
        names a CSV, Parquet or Excel file; the first two may be larger than memory.
    labels : str, optional
        The column of the true classes, in both or in one of them. Cells may be empty.
    by : str, optional
        The column of the new rows that holds their period, such as the month.
    model : Network, or anything with predict, optional
        Its predictions are compared with the description's, and its scores are put
        into bands. For rows in files it must be a `Network`.
    target : class label, optional
        The class whose observed rate is counted, and whose score the model's score is;
        by default the second of two classes.
    bands : sequence of numbers, optional
        Where the second to the last score band begin; by default at the deciles of the
        reference. Scores are the printed totals of a scorecard, and otherwise those of
        the model, from 0 to 1.
    psi, major_psi : float
        From where on a population stability index is moderate, or major.
    uncovered, outside : float
        The largest share of new rows without a prediction, or outside the domain.
    drop : float
        By how much the label agreement may fall.
    progress : callable or False, optional
        As in `extract`.

    Returns
    -------
    Monitoring
        `findings` has what changed by more than its threshold.

    Notes
    -----
    The population stability index is ``Σ (q − p) · ln(q / p)`` over cells with the
    shares p of the reference and q of the new rows. Cells are rules, bands, classes,
    the values of a feature, or bins of its numbers between the deciles of the
    reference. A cell that is empty on one side counts as half a row there. It is a
    warning only where chance alone would exceed it in fewer than one of a thousand
    samples. A fall of the label agreement is a warning only where the intervals of both
    sides do not meet, and at least five labels differ. Intervals are Wilson's, 95%; for
    warnings by rule and band, which are many, they are wider (Bonferroni).

    Examples
    --------
    >>> import nn2rules
    >>> cars = nn2rules.datasets.load("car")
    >>> network = nn2rules.load(nn2rules.datasets.network_file("car"))
    >>> rules = nn2rules.extract(network)
    >>> found = monitor(rules, cars.train.rows, cars.test.rows)
    >>> found.is_stable, round(found.rules.psi(), 3)
    (True, 0.065)
    """
    thresholds = Thresholds(psi, major_psi, uncovered, outside, drop)
    _check(description, thresholds)
    on_progress = progress_callback(progress)
    sets = data_set("reference", reference), data_set("new", new)
    with closing_progress(on_progress):
        work = _work(description, sets, labels, by, model, target, bands, on_progress)
        return work.result(thresholds)


def _check(description: Any, thresholds: Thresholds) -> None:
    if not isinstance(description, Description):
        raise OptionError(
            f"description: a {type(description).__name__}, expected rules or a "
            f"scorecard; monitor takes these, then the reference, then the new rows"
        )
    for name in Thresholds.__dataclass_fields__:
        value = getattr(thresholds, name)
        if not is_number(value) or not 0 <= value < math.inf:
            raise OptionError(f"{name}: {value!r}, expected a number from 0 on")
    if thresholds.major_psi < thresholds.psi:
        raise OptionError(
            f"major_psi: {thresholds.major_psi}, expected at least psi, which is "
            f"{thresholds.psi}"
        )


def _work(
    description: Description,
    sets: tuple[DataSet, DataSet],
    labels: str | None,
    by: str | None,
    model: Any,
    target: Value,
    bands: Sequence[float] | None,
    on_progress: Any,
) -> "_Work":
    """Check the options against the columns, and return what is to be counted."""
    place = target_of(description, target)
    names: tuple[str, ...] = ()
    reader = None
    if model is not None:
        names, reader = model_of(model, description, place, sets)
    if labels is not None and not any(labels in data.header for data in sets):
        sets[0].check(description.domain, [labels])
    for data, more in zip(sets, ([], [by] if by else []), strict=True):
        data.check(description.domain, [*names, *more])
    score = None
    if isinstance(description, Scorecard):
        several = len(description.table.totals) > 1 or len(description.classes) > 2
        score = "points" if place is not None or not several else None
    elif model is not None and place is not None:
        score = "score"
    if bands is not None:
        bands = _checked_bands(bands, score)
    return _Work(
        description, sets, labels, by, reader, names, place, score, bands, on_progress
    )


def _checked_bands(bands: Sequence[float], score: str | None) -> tuple[float, ...]:
    if score is None:
        raise OptionError(
            "bands: there are no scores to put into bands; give a model with two "
            "classes, or the target"
        )
    try:
        listed = [float(edge) for edge in bands]
    except (TypeError, ValueError):
        listed = []
    is_finite = all(map(math.isfinite, listed))
    if not listed or not is_finite or any(a >= b for a, b in pairwise(listed)):
        raise OptionError(f"bands: {bands!r}, expected ascending numbers")
    return tuple(listed)


@dataclass(frozen=True, slots=True)
class _Work:
    """What is to be counted.

    `names` are the columns that the model reads, beside those of the description.
    """

    description: Description
    sets: tuple[DataSet, DataSet]
    labels: str | None
    by: str | None
    reader: Callable[[DataSet], Callable[[Part], Modelled]] | None
    names: tuple[str, ...]
    target: int | None
    score: str | None
    bands: tuple[float, ...] | None
    on_progress: Any

    def result(self, thresholds: Thresholds) -> Monitoring:
        """Count both data sets, and compare them."""
        edges, cells = self._cells()
        counts = []
        for index, data in enumerate(self.sets):
            counts.append(self._counts(data, edges, cells, is_new=index == 1))
            if not counts[-1].n_rows:
                raise RowsError(f"{data.name}: there are no rows; give at least one")
        reference, new = counts
        periods = in_order(new.periods)
        order = [new.periods[name] for name in periods]

        def joined(kind: str) -> NDArray[np.int64]:
            sides = reference.cells[kind], new.cells[kind][:, order]
            return np.concatenate(sides, axis=1)

        description = self.description
        found = Monitoring(
            form=description.form,
            reference_name=self.sets[0].name,
            new_name=self.sets[1].name,
            n_reference=reference.n_rows,
            n_new=new.n_rows,
            by=self.by,
            periods=tuple(periods),
            target=None if self.target is None else description.classes[self.target],
            score=self.score,
            rules=_rules(description, joined),
            bands=None if edges is None else self._bands(edges, joined),
            classes=_classes(description, joined),
            features=tuple(_feature(each, joined) for each in cells),
            outside={
                name: _most_frequent(values) for name, values in new.outside.items()
            },
            has_labels=self.labels is not None,
            has_model=self.reader is not None,
            thresholds=thresholds,
        )
        return replace(found, findings=findings_of(found))

    def _columns(self, data: DataSet) -> list[str]:
        """Return the columns to read, each once."""
        more = [name for name in (self.labels, self.by) if name in data.header]
        wanted = [*self.description.domain.names, *self.names, *more]
        return [*dict.fromkeys(name for name in wanted if name is not None)]

    def _parts(
        self, data: DataSet, what: str, names: Sequence[str]
    ) -> Iterator[tuple[Part, list[EncodedColumn]]]:
        """Yield the parts of a data set, with the columns of the features encoded."""
        encoder = Encoder(self.description.domain, is_file=data.is_file)
        n_rows = 0
        for part in data.parts(names):
            yield part, encoder.columns(part)
            n_rows += part.n_rows
            if self.on_progress is not None:
                self.on_progress(f"{what}: {count(n_rows, 'row')}", 0.0)

    def _cells(self) -> tuple[tuple[float, ...] | None, list[FeatureCells]]:
        """Return the edges of the bands, and the cells of each feature.

        Reads the reference once, if deciles are needed.
        """
        features = self.description.domain.features
        binned = {i: Quantiles() for i, f in enumerate(features) if is_binned(f)}
        scores = Quantiles()
        needs_scores = self.score is not None and self.bands is None
        if binned or needs_scores:
            data = self.sets[0]
            ask = self._model(data) if self.score == "score" else None
            parts = self._parts(data, "deciles of the reference", self._columns(data))
            for part, columns in parts:
                for index, quantiles in binned.items():
                    collect(quantiles, features[index], columns[index])
                if needs_scores:
                    values = self._scores(
                        predicted(self.description, columns, self.target),
                        None if ask is None else ask(part),
                    )
                    found = np.unique(values[~np.isnan(values)], return_counts=True)
                    scores.add(*found)
        edges = self.bands
        if needs_scores:
            edges = scores.edges()
        return edges, [
            FeatureCells(feature, binned[i].edges() if i in binned else None)
            for i, feature in enumerate(features)
        ]

    def _model(self, data: DataSet) -> Callable[[Part], Modelled] | None:
        return None if self.reader is None else self.reader(data)

    def _scores(
        self, found: Predicted, modelled: Modelled | None
    ) -> NDArray[np.float64]:
        """Return the scores of rows; NaN where there is none."""
        scores = found.totals
        if self.score == "score":
            scores = None if modelled is None else modelled.scores
        return np.full(len(found.classes), np.nan) if scores is None else scores

    def _counts(
        self,
        data: DataSet,
        edges: tuple[float, ...] | None,
        cells: list[FeatureCells],
        *,
        is_new: bool,
    ) -> Counts:
        """Count the rows of a data set."""
        sizes = {f"feature {each.feature.name}": len(each.words) for each in cells}
        sizes["classes"] = len(self.description.classes) + 2
        if isinstance(self.description, RuleList):
            sizes["rules"] = len(self.description) + 2
        if edges is not None:
            sizes["bands"] = len(edges) + 2
        counts, ask = Counts(sizes), self._model(data)
        by = self.by if is_new else None
        if not is_new:
            counts.periods[""] = 0
        what = "new rows" if is_new else "reference"
        for part, columns in self._parts(data, what, self._columns(data)):
            found = predicted(self.description, columns, self.target)
            modelled = None if ask is None else ask(part)
            labels = None
            if self.labels in part.columns:
                where = f"{data.name}, column {self.labels!r}"
                column = part.columns[str(self.labels)]
                labels = labels_of(self.description, column, where)
            scores = None if edges is None else (edges, self._scores(found, modelled))
            outcome = Outcome(labels, modelled, self.target)
            count_part(counts, part, columns, cells, found, outcome, scores, by)
        return counts

    def _bands(self, edges: Sequence[float], joined: "_Joined") -> Breakdown:
        unit = "points" if self.score == "points" else "score"
        named = [Cell(words, f"{unit} {words}") for words in bin_words(edges)]
        cells = (*named, Cell(NO_SCORE, NO_SCORE))
        return Breakdown("bands", "score bands", cells, joined("bands"), len(named))


_Joined: TypeAlias = Callable[[str], NDArray[np.int64]]
"""Returns the counts of both data sets for a kind of cells."""


def _most_frequent(values: dict[str, int]) -> tuple[tuple[str, int], ...]:
    listed = sorted(values.items(), key=lambda pair: (-pair[1], pair[0]))
    return tuple(listed[:_MOST_OUTSIDE])


def _rules(description: Description, joined: _Joined) -> Breakdown | None:
    """Return rows by rule: a cell for each, one for the default, one for others."""
    if not isinstance(description, RuleList):
        return None
    cells = [
        Cell(rule.name, f"rule {rule.name} ({_premise(description, rule)})")
        for rule in description
    ]
    otherwise = Cell("not covered", "not covered by a rule")
    n_compared = len(cells)
    if description.scope == "domain":
        default = f"otherwise → {label_text(description.default)}"
        otherwise = Cell("otherwise", f"no rule ({default})")
        n_compared += 1
    return Breakdown(
        "rules",
        "rules",
        (*cells, otherwise, Cell(OUTSIDE, OUTSIDE)),
        joined("rules"),
        n_compared,
    )


def _premise(rules: RuleList, rule: Rule) -> str:
    """Return the conditions and the class of a rule; of many conditions the first."""
    texts = [
        condition_text(rules.domain.feature(condition.feature), condition.values)
        for condition in rule.conditions
    ]
    more = len(texts) - _MOST_CONDITIONS
    if more > 0:
        texts = [*texts[:_MOST_CONDITIONS], f"{more} more"]
    return f"{' · '.join(texts) or 'always'} → {label_text(rule.then)}"


def _classes(description: Description, joined: _Joined) -> Breakdown:
    named = [
        Cell(label_text(label), f"predicted {label_text(label)}")
        for label in description.classes
    ]
    cells = (*named, Cell("not covered", "not covered"), Cell(OUTSIDE, OUTSIDE))
    counts = joined("classes")
    return Breakdown("classes", "predicted classes", cells, counts, len(named))


def _feature(each: FeatureCells, joined: _Joined) -> Breakdown:
    name = each.feature.name
    cells = tuple(Cell(words, f"{name}: {words}") for words in each.words)
    counts = joined(f"feature {name}")
    return Breakdown("feature", name, cells, counts, len(cells) - 1)
