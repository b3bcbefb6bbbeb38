"""Summarize a model of any size: a small network that imitates it, and how well.

The model is asked for its predictions and probabilities on the user's rows and on rows
drawn around them. A student learns these; what it achieves is measured on rows that it
did not see.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from nn2rules.engine import ProgressOption, closing_progress, progress_callback
from nn2rules.errors import (
    Nn2RulesError,
    OptionError,
    RowsError,
    UnsupportedModelError,
)
from nn2rules.extraction import extract
from nn2rules.extraction.scorecard_form import MOST_PARTS
from nn2rules.learn.training.student import (
    ColumnLines,
    Lesson,
    Student,
    lines_for,
    retrained,
    students,
)
from nn2rules.learn.training.targets import Floats, Targets
from nn2rules.models import ModelOutput, read_network
from nn2rules.models.model_rows import like_frame
from nn2rules.network import Layer, Network, checked_classes
from nn2rules.questions.compare import compare
from nn2rules.scorecards import Scorecard, bands_of
from nn2rules.space import (
    Binned,
    Domain,
    Range,
    Rows,
    Value,
    cells_of,
    column_names,
    picked_rows,
    value_of,
    whole_number,
)
from nn2rules.summaries import Agreement, Example, ProvedCutOff, Summary, clipped

_DRAWN = 5000
"""This many rows are drawn around the rows of the data."""

_CHANGED = 0.1
"""In a drawn row, each column has this chance to be that of another row."""

_MOST_ROWS = 10_000
"""The student is trained on at most this many rows, besides the drawn ones."""

_FEWEST_ROWS = 10

_HELD_OUT = 5
"""One row in this many is held out."""

_ALPHA = 0.3
"""The penalty on the squares of the student's weights, for all rows together."""

_PARTS = (1, 2, 4)
"""Fewer parts are tried, too."""

_WORTH = 0.003
"""More parts have to agree on this share of rows more."""

_LISTED_INPUTS = 1 << 16
"""Of at most this many inputs, all are compared."""


def summarize(
    model: object,
    data: Rows,
    *,
    max_lines: int = 20,
    max_parts: int = MOST_PARTS,
    test: Rows = None,
    domain: Domain | Mapping[str, Any] | None = None,
    encode: Any = None,
    classes: Sequence[Value] | None = None,
    threshold: float = 0.5,
    output: ModelOutput | None = None,
    other: bool | Sequence[str] = False,
    time: float = 10.0,
    random_state: int = 0,
    progress: ProgressOption = None,
) -> Summary:
    """Return a small scorecard that imitates a model, and how often it agrees.

    A summary is not an exact description. It says how often it is wrong about the
    model, and is meant for models whose exact description is too long to read.

    Parameters
    ----------
    model : model, Network, or another object with predict
        What `extract` takes, of any size. Any other classifier works, too, if it has
        ``predict(rows)`` for rows like `data`, such as a gradient boosting model; with
        ``predict_proba`` and ``classes_``, its probabilities are learned. Nothing is
        searched or proved about a model that cannot be read.
    data : frame or list of dicts
        Rows like those that the model was trained on; no labels are needed.
    max_lines : int
        The maximum number of lines: a slope for numbers, a group of categories, or
        missing.
    max_parts : int
        The maximum number of part cards, which are the columns of points. With 1, the
        summary is an ordinary scorecard.
    test : frame or list of dicts, optional
        Rows to measure the agreement on. By default a fifth of `data` is held out.
    domain, encode, classes, threshold, output, other
        How the model is read; see `read_network`.
    time : float
        Seconds for the search for an input on which the two differ, if no unseen row
        is one.
    random_state : int
        Seed; the same rows and seed give the same summary.
    progress : callable or False, optional
        As in `extract`.

    Returns
    -------
    Summary

    Examples
    --------
    >>> import nn2rules
    >>> cars = nn2rules.datasets.load("car").train
    >>> network = nn2rules.load(nn2rules.datasets.network_file("car"))
    >>> summary = nn2rules.summarize(network, cars.rows, progress=False)
    >>> print(str(summary).splitlines()[0][:34])
    Summary, not an exact description:
    """
    whole_number("max_lines", max_lines, 2)
    whole_number("max_parts", max_parts, 1)
    whole_number("random_state", random_state)
    if max_parts > MOST_PARTS:
        raise OptionError(
            f"max_parts: {max_parts}, expected at most {MOST_PARTS}; more columns of "
            f"points are not readable"
        )
    if not time >= 0:
        raise OptionError(f"time: {time!r}, expected a number of seconds")
    options = {
        "domain": domain,
        "encode": encode,
        "classes": classes,
        "threshold": threshold,
        "output": output,
        "other": other,
    }
    teacher = _teacher_of(model, data, options)
    report = progress_callback(progress)
    with closing_progress(report):
        if report is not None:
            report("asking the model", 0.0)
        lines = _Split.of(teacher, test, random_state)
        if report is not None:
            report("training a summary", 0.1)
        with threadpool_limits(1):  # so that the order of sums does not depend on cores
            student = _student(lines, max_lines, max_parts, random_state)
        if report is not None:
            report("measuring the summary", 0.8)
        return _measured(lines, student, time)


# ------------------------------------------------------------------ asking the model


@dataclass(frozen=True, eq=False)
class _Teacher:
    """A model with rows: what it predicts where each cell is that of some row.

    Attributes
    ----------
    name : str
        The kind of the model.
    names : tuple of str
        The columns that it reads.
    classes : tuple of labels
    rows : frame or list of dicts
    network : Network or None
        The model, if it can be read.
    ask : callable
        From an array of shape (n, n_names), the number of the row that each cell is
        taken from, to the position of the predicted class of each, and the
        probabilities.
    on : callable
        From other rows to their teacher.
    """

    name: str
    names: tuple[str, ...]
    classes: tuple[Value, ...]
    rows: Rows
    n_rows: int
    network: Network | None
    ask: Callable[[NDArray[np.int64]], tuple[NDArray[np.int64], Floats]]
    on: Callable[[Rows], "_Teacher"]

    def all(self) -> tuple[NDArray[np.int64], Floats]:
        """Return the predictions for the rows themselves."""
        return self.ask(self.taken(np.arange(self.n_rows)))

    def taken(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return whole rows as `ask` takes them."""
        return np.repeat(places[:, np.newaxis], len(self.names), axis=1)


def _teacher_of(model: object, data: Rows, options: dict[str, Any]) -> _Teacher:
    """Read a model, or ask it by its own methods."""
    if data is None:
        raise OptionError("data is missing: a summary is made for rows")
    listed = cells_of(data, column_names(data)[:1])
    n_rows = len(listed[0]) if listed else 0
    if n_rows < _FEWEST_ROWS:
        raise RowsError(
            f"data has {n_rows} rows; a summary needs at least {_FEWEST_ROWS}, better "
            f"some hundred"
        )
    name = _name_of(model)
    try:
        network = read_network(model, data=data, **options)
    except UnsupportedModelError:
        if isinstance(model, type) or not callable(getattr(model, "predict", None)):
            raise
        return _by_methods(name, model, data, options["classes"])
    return _by_network(name, network, data)


def _name_of(model: object) -> str:
    """Return the kind of a model: of a pipeline, that of its last step."""
    steps = getattr(model, "steps", None)
    if isinstance(steps, list) and steps and isinstance(steps[-1], tuple):
        return _name_of(steps[-1][-1])
    return type(model).__name__


def _by_network(name: str, network: Network, rows: Rows) -> _Teacher:
    codes, numbers = network.domain.inputs_of(rows)
    shift = 0.0
    if network.is_binary and network.threshold != 0.5:
        shift = float(np.log(network.threshold) - np.log1p(-network.threshold))

    def ask(taken: NDArray[np.int64]) -> tuple[NDArray[np.int64], Floats]:
        columns = np.arange(codes.shape[1])
        own = None if numbers is None else numbers[taken, columns]
        inputs = codes[taken, columns], own
        scores = network.scores_codes(*inputs)
        return network.predict_codes(*inputs), _shares(scores, shift)

    return _Teacher(
        name,
        network.domain.names,
        network.classes,
        rows,
        len(codes),
        network,
        ask,
        lambda others: _by_network(name, network, others),
    )


def _shares(scores: Floats, shift: float) -> Floats:
    """Return probabilities of which the largest is that of the predicted class."""
    if scores.ndim == 1 or scores.shape[1] == 1:
        second = 0.5 * (1 + np.tanh(0.5 * (scores.reshape(-1) - shift)))
        return np.column_stack([1 - second, second])
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares: Floats = powers / powers.sum(axis=1, keepdims=True)
    return shares


def _by_methods(
    name: str, model: Any, rows: Rows, classes: Sequence[Value] | None
) -> _Teacher:
    listed = getattr(model, "feature_names_in_", None)
    names = column_names(rows) if listed is None else [str(name) for name in listed]
    cells = cells_of(rows, names)
    if classes is None:
        classes = getattr(model, "classes_", None)
    if classes is None:
        classes = sorted(set(np.asarray(model.predict(rows)).tolist()), key=str)
    labels = checked_classes([value_of(label) for label in classes])
    place_of = {label: place for place, label in enumerate(labels)}

    def ask(taken: NDArray[np.int64]) -> tuple[NDArray[np.int64], Floats]:
        columns = {
            one: [column[place] for place in taken[:, index].tolist()]
            for index, (one, column) in enumerate(zip(names, cells, strict=True))
        }
        given: Any = [
            dict(zip(columns, row, strict=True))
            for row in zip(*columns.values(), strict=True)
        ]
        if hasattr(rows, "columns"):
            given = _frame_like(columns, rows)
        predicted = [value_of(label) for label in np.asarray(model.predict(given))]
        unknown = next((label for label in predicted if label not in place_of), None)
        if unknown is not None:
            raise OptionError(f"the model predicts {unknown!r}, which is not a class")
        places = np.array([place_of[label] for label in predicted], dtype=np.int64)
        shares = np.eye(len(labels))[places]
        if hasattr(model, "predict_proba") and hasattr(model, "classes_"):
            shares = np.asarray(model.predict_proba(given), dtype=np.float64)
        return places, shares

    return _Teacher(
        name,
        tuple(names),
        labels,
        rows,
        len(cells[0]),
        None,
        ask,
        lambda others: _by_methods(name, model, others, labels),
    )


def _frame_like(columns: dict[str, list[Any]], rows: Any) -> Any:
    """Return a frame of the kind of `rows`."""
    if type(rows).__module__.startswith("pandas"):
        return like_frame(columns, rows)
    import narwhals as nw

    like = nw.from_native(rows, eager_only=True)
    return nw.from_dict(columns, backend=like.implementation).to_native()


# ------------------------------------------------------------------ learning from it


@dataclass(frozen=True, eq=False)
class _Split:
    """A model, the rows to learn from, and the rows to measure on.

    Attributes
    ----------
    teacher : _Teacher
    train : ndarray
        The rows to learn from, as positions.
    judge : _Teacher
        The rows to measure on, and what the model predicts for them.
    places : ndarray
        Their positions in the rows that the user gave.
    is_test : bool
    """

    teacher: _Teacher
    train: NDArray[np.int64]
    judge: _Teacher
    places: NDArray[np.int64]
    is_test: bool

    @classmethod
    def of(cls, teacher: _Teacher, test: Rows, seed: int) -> "_Split":
        """Hold rows out, unless there are test rows."""
        order = np.random.default_rng(seed).permutation(teacher.n_rows)
        if test is not None:
            judge = teacher.on(test)
            if not judge.n_rows:
                raise RowsError("test has no rows")
            return cls(
                teacher,
                np.sort(order[:_MOST_ROWS]),
                judge,
                np.arange(judge.n_rows),
                True,
            )
        held = np.sort(order[: max(1, teacher.n_rows // _HELD_OUT)])
        train = np.sort(order[len(held) :][:_MOST_ROWS])
        judge = teacher.on(picked_rows(teacher.rows, held))
        return cls(teacher, train, judge, held, False)


def _student(split: _Split, max_lines: int, max_parts: int, seed: int) -> Student:
    """Train students with few parts, and return the one that is worth its size."""
    teacher, rng = split.teacher, np.random.default_rng([seed, 1])
    columns, inputs = _columns(teacher)

    def lesson(taken: NDArray[np.int64], weights: Floats) -> Lesson:
        _, shares = teacher.ask(taken)
        own = [table[taken[:, place]] for place, table in inputs]
        return Lesson(tuple(columns), tuple(own), Targets(shares, weights))

    train = teacher.taken(split.train)
    drawn = _drawn(split.train, len(teacher.names), _DRAWN, rng)
    weights = np.concatenate(
        [np.full(len(train), _DRAWN / len(train)), np.ones(len(drawn))]
    )
    learned = lesson(np.vstack([train, drawn]), weights)
    fresh = _drawn(split.train, len(teacher.names), _DRAWN, rng)
    judged = lesson(fresh, np.ones(len(fresh)))
    best = students(learned, max_parts, max_lines, _ALPHA, seed)
    agrees = _agrees(best, judged)
    for units in _PARTS:
        if units >= max_parts:
            break
        fewer = retrained(best, learned, units, _ALPHA, seed)
        if _agrees(fewer, judged) >= agrees - _WORTH:
            return fewer
    return best


def _columns(
    teacher: _Teacher,
) -> tuple[list[ColumnLines], list[tuple[int, Floats]]]:
    """Return the lines that columns begin with, and the inputs of all rows."""
    columns, inputs = [], []
    cells = cells_of(teacher.rows, teacher.names)
    for place, (name, column) in enumerate(zip(teacher.names, cells, strict=True)):
        lines = lines_for(name, column)
        if lines is not None:
            columns.append(lines)
            inputs.append((place, lines.inputs(column)))
    if not columns:
        raise RowsError("every column has the same value in all rows")
    return columns, inputs


def _drawn(
    places: NDArray[np.int64], n_columns: int, number: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return rows of the data with some columns of other rows."""
    own = np.repeat(rng.choice(places, number)[:, np.newaxis], n_columns, axis=1)
    others = rng.choice(places, own.shape)
    return np.where(rng.random(own.shape) < _CHANGED, others, own)


def _agrees(student: Student, lesson: Lesson) -> float:
    """Return on which share of the rows a student has the model's class."""
    classes = student.classes(lesson)
    return float((classes == lesson.targets.truth).mean())


# ------------------------------------------------------------------ measuring


def _measured(split: _Split, student: Student, time: float) -> Summary:
    """Return the summary: the card of a student, and what is measured of it."""
    teacher, judge = split.teacher, split.judge
    plain = student.network(teacher.classes)
    codes, numbers = plain.domain.inputs_of(clipped(plain.domain, judge.rows))
    predicted = plain.predict_codes(codes, numbers)
    truth, _ = judge.all()
    agree = predicted == truth
    agreement = _agreement_on(agree)
    network = replace(
        plain,
        origin={
            "summary_of": teacher.name,
            "unseen_rows": agreement.rows,
            "unseen_rows_agreeing": agreement.agree,
            "unseen_rows_text": agreement.text,
        },
    )
    rows = clipped(plain.domain, picked_rows(teacher.rows, split.train))
    card = extract(network, data=rows, form="scorecard", progress=False)
    assert isinstance(card, Scorecard), "this form was asked for"
    different = np.flatnonzero(~agree)
    notes: list[str] = []
    example = None
    if len(different):
        first = int(different[0])
        [row] = _as_dicts(picked_rows(judge.rows, different[:1]), teacher.names)
        pair = int(truth[first]), int(predicted[first])
        example = Example(row, *(teacher.classes[place] for place in pair))
    elif teacher.network is None:
        notes.append(
            "The model cannot be read, so no input on which they differ was searched "
            "for."
        )
    else:
        example, note = _searched(teacher.network, card, time)
        notes += note
    cut_offs: tuple[ProvedCutOff, ...] = ()
    if teacher.network is not None:
        cut_offs = _proved_cut_offs(teacher.network, card)
    return Summary(
        card,
        teacher.name,
        len(split.train),
        agreement,
        split.is_test,
        {
            label: _agreement_on(agree[truth == place])
            for place, label in enumerate(teacher.classes)
        },
        _by_band(card, codes, numbers, agree),
        tuple(split.places[different].tolist()),
        example,
        tuple(notes),
        cut_offs,
    )


def _agreement_on(agree: NDArray[np.bool_]) -> Agreement:
    return Agreement(len(agree), int(agree.sum()))


def _as_dicts(rows: Rows, names: Sequence[str]) -> list[dict[str, Value]]:
    cells = [[value_of(cell) for cell in column] for column in cells_of(rows, names)]
    return [dict(zip(names, row, strict=True)) for row in zip(*cells, strict=True)]


def _by_band(
    card: Scorecard,
    codes: NDArray[np.int64],
    numbers: NDArray[np.float64] | None,
    agree: NDArray[np.bool_],
) -> dict[str, Agreement]:
    """Return the agreement in each band of printed totals."""
    bands = bands_of(card, codes, numbers, agree.astype(np.int64))
    return {
        band.text: Agreement(band.rows, band.labelled or 0)
        for band in bands
        if band.rows
    }


def _restated(card: Scorecard, domain: Domain) -> Network | None:
    """Return the network of a card with the features of a model, nearly equal to it.

    Products of slopes and listed numbers are rounded, so what is found with it has to
    be confirmed. None if a feature of the model has bins.
    """
    network, tables = card.network, []
    starts = dict(zip(card.domain.names, card.domain.offsets.tolist(), strict=False))
    weights = network.layers[0].weights
    for feature in domain.features:
        if feature.name not in starts:
            tables.append(np.zeros((len(feature), weights.shape[1])))
            continue
        own = card.domain.feature(feature.name)
        start, alone = starts[feature.name], Domain((own,))
        plain = feature.n_plain if isinstance(feature, Range) else 0
        if plain:
            if not isinstance(own, Range):
                return None
            tables.append(np.repeat(weights[[start]], plain, axis=0))
        elif isinstance(feature, Binned):
            return None
        cells = [
            feature.categories_at(code)[:1] or (value,)
            for code, value in enumerate(feature.values)
            if code >= plain
        ]
        if not cells:
            continue
        listed = clipped(alone, [{own.name: cell} for [cell] in cells])
        if (alone.encode(listed, unknown="mark") < 0).any():
            return None
        codes, numbers = alone.inputs_of(listed)
        table = weights[start + codes[:, 0]]
        tables.append(table if numbers is None else table * numbers)
    first = Layer(np.vstack(tables), network.layers[0].bias, "relu")
    return Network(domain, (first, *network.layers[1:]), network.classes)


def _searched(
    model: Network, card: Scorecard, time: float
) -> tuple[Example | None, list[str]]:
    """Search for an input on which the two differ; it is confirmed with the card."""
    nothing = "No input on which they differ was found by search within the time limit."
    try:
        restated = _restated(card, model.domain)
        if restated is None:
            return None, ["No search: a feature of the model has values of its own."]
        found = compare(model, restated, time=time, progress=False)
    except Nn2RulesError as error:
        return None, [f"No input on which they differ was searched for: {error}."]
    row = found.counterexample
    if row is None:
        return None, [nothing]
    both = (
        value_of(model.predict([row])[0]),
        value_of(card.predict(clipped(card.domain, [row]))[0]),
    )
    return (None, [nothing]) if both[0] == both[1] else (Example(row, *both), [])


def _proved_cut_offs(model: Network, card: Scorecard) -> tuple[ProvedCutOff, ...]:
    """Compare the two on all inputs, if there are few, and return proved cut-offs.

    A cut-off is left out if no input of the class is beyond it.
    """
    domain, table = model.domain, card.table
    size = None if domain.has_ranges else domain.n_inputs
    is_small = size is not None and size <= _LISTED_INPUTS
    if not is_small or table.regions or len(table.cut_offs) != 1:
        return ()
    codes = np.vstack(list(domain.inputs()))
    rows = clipped(card.domain, domain.decode(codes))
    if (card.domain.encode(rows, unknown="mark") < 0).any():
        return ()
    own = card.domain.inputs_of(rows)
    totals = table.totals_of(table.sums_at(*own))[:, 0].astype(object)
    truth, predicted = model.predict_codes(codes), card.predict_codes(*own)
    [cut] = table.cut_offs
    found = []
    for place, is_least in ((cut.above, True), (cut.below, False)):
        wrong = totals[(truth != place) | (predicted != place)]
        if is_least:
            beyond = totals if not len(wrong) else totals[totals > max(wrong)]
            edge = min(beyond, default=None)
        else:
            beyond = totals if not len(wrong) else totals[totals < min(wrong)]
            edge = max(beyond, default=None)
        if edge is not None:
            total, label = float(edge * table.step), card.classes[place]
            found.append(ProvedCutOff(label, total, is_least, len(beyond), len(totals)))
    return tuple(found)
