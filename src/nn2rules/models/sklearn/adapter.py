"""Read fitted scikit-learn classifiers: MLPs and linear ones, with their pipelines."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
import sklearn
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.exceptions import NotFittedError
from sklearn.model_selection._search import BaseSearchCV
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC

from nn2rules.errors import OptionError, UnsupportedModelError
from nn2rules.models.adapters import refuse_boosting
from nn2rules.models.confirm import Reading
from nn2rules.models.decision import Decision, decide
from nn2rules.models.model_rows import like_frame
from nn2rules.models.options import ModelOptions
from nn2rules.models.probing import Encode, probe, refused
from nn2rules.models.sklearn import own_classifiers
from nn2rules.models.sklearn.classifiers import (
    Unwrapped,
    has_probability,
    refuse_kind,
    refuse_threshold,
    refuse_unfitted,
    refuse_weights,
    unwrapped,
)
from nn2rules.models.sklearn.columns import ColumnFacts, column_facts_of, like_fitted
from nn2rules.models.sklearn.steps import Step, origin_of, steps_of
from nn2rules.models.source import Port, Source, as_array
from nn2rules.models.tracing import CONSTANT, FLOAT32, FLOAT64, Columns, Tensor, Trace
from nn2rules.network import Network
from nn2rules.space import Domain, Range, Rows, cells_of, column_names, value_of

_ACTIVATIONS = {
    "identity": "identity",
    "logistic": "sigmoid",
    "relu": "relu",
    "tanh": "tanh",
}


def prepare(model: object) -> Unwrapped:
    """Return the classifier inside a model, refusing one that cannot be read."""
    if isinstance(model, BaseSearchCV):
        refuse_unfitted(model)
        if not hasattr(model, "best_estimator_"):
            raise UnsupportedModelError(
                f"the {type(model).__name__} has no fitted model; use refit=True"
            )
        model = model.best_estimator_
    refuse_boosting(_classifier(model))
    refuse_unfitted(model)
    classifier = unwrapped(model)
    final = _classifier(classifier.model)
    if not own_classifiers.has_network(final):
        refuse_kind(final)
        refuse_weights(final)
    if isinstance(classifier.model, Pipeline) and len(_steps(classifier.model)) == 0:
        return replace(classifier, model=final)
    return classifier


def ready(classifier: Unwrapped) -> Network | None:
    """Return the network of a classifier that has one, and no step before it."""
    if not own_classifiers.has_network(classifier.model):
        return None
    network: Network = classifier.model.network_
    if classifier.wrapper is None:
        return network
    threshold = classifier.threshold_of(classifier.model, 0.5)
    return replace(network, threshold=threshold)


def columns(
    classifier: Unwrapped | None, encode: object = None
) -> dict[str, ColumnFacts] | None:
    """Return what the model knows of its columns, by name; None if nothing.

    Examples
    --------
    >>> from sklearn.preprocessing import OneHotEncoder
    >>> columns(None, OneHotEncoder().fit([["red"], ["blue"]]))["x0"].values
    ('blue', 'red')
    """
    model = None if classifier is None else classifier.model
    first = encode if encode is not None else _preprocessing(model)
    if first is None:
        names = getattr(model, "feature_names_in_", None)
        return None if names is None else {str(name): ColumnFacts() for name in names}
    if not hasattr(first, "transform"):
        return None
    refuse_unfitted(first)
    names = _names(first)
    facts = column_facts_of(first, names)
    if model is not None and own_classifiers.has_network(_classifier(model)):
        facts = own_classifiers.with_bins(facts, _classifier(model), first, names)
    if not hasattr(first, "feature_names_in_"):  # an array has all, used or not
        facts = {name: facts.get(name, ColumnFacts()) for name in names}
    return facts or None


def steps_origin(transformer: Any) -> dict[str, list[str]]:
    """Return which steps of a fitted transformer are known by their code."""
    return origin_of(steps_of(transformer, _names(transformer)))


def encoder(transformer: Any) -> Callable[[Rows], Any]:
    """Return a fitted transformer as a function of rows."""
    forms = _frames if hasattr(transformer, "feature_names_in_") else _arrays

    def encode(rows: Rows) -> Any:
        first: Exception | None = None
        for form in forms(rows, transformer):
            try:
                return transformer.transform(form)
            except Exception as error:  # noqa: BLE001  a transformer may raise anything
                first = first or error
        assert first is not None, "there is a form to try"
        raise first

    return encode


@dataclass(frozen=True)
class _RunnableClassifier:
    """A fitted classifier, to be run on rows.

    Attributes
    ----------
    final : classifier
    encode : Encode
        The preprocessing before it.
    decision : Decision
    is_mirrored : bool
        Whether the network has its classes and its score reversed.
    """

    final: Any
    encode: Encode
    decision: Decision
    is_mirrored: bool

    def outputs(self, rows: Rows) -> NDArray[Any]:
        """Return scores, or probabilities if the network ends in those."""
        final, has_probabilities = self.final, self.decision.has_probabilities
        with _quiet():
            [array] = self.encode(rows)
            if has_probabilities and has_probability(final):
                return np.asarray(final.predict_proba(array))
            scores = np.asarray(final.decision_function(array))
        scores = -scores if self.is_mirrored else scores
        return (
            np.stack([expit(-scores), expit(scores)], axis=1)
            if has_probabilities
            else scores
        )

    def predictions(self, rows: Rows) -> NDArray[np.int64]:
        """Return the positions of the classes that it predicts."""
        with _quiet():
            [array] = self.encode(rows)
            positions = np.searchsorted(self.final.classes_, self.final.predict(array))
        positions = 1 - positions if self.is_mirrored else positions
        return np.asarray(positions, dtype=np.int64)


@contextmanager
def _quiet() -> Iterator[None]:
    """Suppress warnings that arrays have no feature names."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def read(classifier: Unwrapped, source: Source, options: ModelOptions) -> Reading:
    """Return the network of a fitted classifier, and how to run the classifier."""
    final, first = (
        _classifier(classifier.model),
        _preprocessing(classifier.model),
    )
    _refuse_options(final, first, source, options)
    options = replace(
        options, threshold=classifier.threshold_of(final, options.threshold)
    )
    if first is not None:
        source = replace(source, encode=encoder(first), is_stated=True)
        if source.maker.like is None:
            source.maker.like = like_fitted(first, _names(first))
    encode = source.arrays([Port("X", int(final.n_features_in_))])
    tensor = _probed(final, first, source, encode)
    steps = [] if first is None else steps_of(first, _shown(first, source.domain))
    _refuse_mixing(steps, source.domain.names)
    # libsvm predicts the second class at an exact tie, a network the first one.
    is_mirrored = isinstance(final, SVC) and classifier.wrapper is None
    trace = Trace(source.domain, source.ranges)
    decision, unit = _decision(final, trace, tensor, options, is_mirrored=is_mirrored)
    runnable = _RunnableClassifier(final, encode, decision, is_mirrored)
    # The classifier's own predict ignores a threshold of the user or of a wrapper.
    has_own = classifier.wrapper is None and options.threshold == 0.5
    origin = {"framework": "scikit-learn", "version": sklearn.__version__}
    real = source.real or source.domain
    ranges = [f.name for f in real.features if isinstance(f, Range)]
    is_coarse = any(table.dtype == np.float32 for table in tensor.tables)
    return Reading(
        decision,
        runnable.outputs,
        unit,
        origin | origin_of(steps, ranges),
        frozenset(trace.nonlinear),
        FLOAT32 if is_coarse else FLOAT64,
        predictions=runnable.predictions if has_own else None,
    )


def _refuse_options(
    final: Any, first: Any, source: Source, options: ModelOptions
) -> None:
    """Refuse options that contradict a fitted classifier."""
    if options.classes is not None:
        raise OptionError("a scikit-learn model names its classes; leave out `classes`")
    if options.output is not None:
        raise OptionError(
            "a scikit-learn model defines its own output; leave out `output`"
        )
    refuse_threshold(final, options.threshold)
    if first is not None and source.encode is not None:
        raise OptionError("a Pipeline encodes its own rows; leave out `encode`")


def _probed(final: Any, first: Any, source: Source, encode: Encode) -> Columns:
    """Return the input of the classifier as tables of the features."""
    probed, names = encode, _entry_names(first or final)
    if own_classifiers.has_network(final):
        probed, names = (
            own_classifiers.one_hot(final, encode),
            own_classifiers.column_names(final),
        )
    with _quiet():
        [tensor] = probe(probed, source.maker, names=names)
    if not own_classifiers.has_network(final) and tensor.shape != (
        final.n_features_in_,
    ):
        raise UnsupportedModelError(
            f"the preprocessing makes {tensor.shape[0]} columns, but the "
            f"{type(final).__name__} was trained on {final.n_features_in_}"
        )
    _refuse_gaps(tensor, source.domain)
    return tensor


def _decision(
    final: Any,
    trace: Trace,
    tensor: Tensor,
    options: ModelOptions,
    *,
    is_mirrored: bool = False,
) -> tuple[Decision, float]:
    """Return the decision, with the classes and the score reversed if mirrored."""
    labels = tuple(value_of(label) for label in final.classes_)
    if own_classifiers.has_network(final):
        output = own_classifiers.scores_of(final, trace, tensor)
        return decide(trace, output, labels, options, unit=FLOAT64), FLOAT64
    if isinstance(final, MLPClassifier):
        unit = FLOAT32 if final.coefs_[0].dtype == np.float32 else FLOAT64
        output = _of_mlp(final, trace, tensor)
        return decide(trace, output, labels, options, unit=unit), unit
    weights = np.atleast_2d(as_array(final.coef_))
    bias = np.atleast_1d(final.intercept_)
    if isinstance(final, SVC):  # it sums products with its support vectors
        tensor = trace.linear(tensor, as_array(final.support_vectors_).T)
        weights = as_array(final.dual_coef_)
    if is_mirrored:
        weights, bias, labels = -weights, -bias, labels[::-1]
    scores = trace.linear(tensor, weights.T, bias)
    if options.threshold != 0.5:
        scores = trace.pair(scores)
    unit = FLOAT32 if weights.dtype == np.float32 else FLOAT64
    decision = decide(
        trace, scores, labels, options, unit=unit, hint="score", is_classifier=True
    )
    return decision, unit


def _of_mlp(final: MLPClassifier, trace: Trace, tensor: Tensor) -> Tensor:
    """Return the class probabilities of an MLPClassifier."""
    hidden = _ACTIVATIONS[final.activation]
    for index, (weights, bias) in enumerate(
        zip(final.coefs_, final.intercepts_, strict=True)
    ):
        if index > 0:
            tensor = trace.activate(tensor, hidden)
        tensor = trace.linear(tensor, weights, bias)
    if final.out_activation_ == "softmax":
        return trace.activate(tensor, "softmax")
    return trace.pair(tensor)


def _refuse_mixing(steps: Sequence[Step], names: Sequence[str]) -> None:
    """Refuse steps that may combine columns in rows that were never tried."""
    for step in steps:
        if step.may_mix:
            listed = [repr(name) for name in names if name in step.sees]
            shown = ", ".join(listed[:3]) + (" and others" if len(listed) > 3 else "")
            raise UnsupportedModelError(
                f"the step {step.name} takes several columns at once ({shown}), and "
                f"nn2rules cannot know that it never combines them; use one such step "
                f"per column, as in ColumnTransformer([(name, {step.name}(...), "
                f"[name]) "
                f"for name in columns]), or extract the rules of the classifier alone "
                f"with encode=model[:-1].transform; they are then only tested on rows, "
                f"not proved"
            )


def _names(transformer: Any) -> list[str]:
    """Return the columns that a transformer was fitted on; x0, x1, … of an array."""
    names = getattr(transformer, "feature_names_in_", None)
    if names is None:
        n_columns = getattr(transformer, "n_features_in_", 0)
        return [f"x{index}" for index in range(n_columns)]
    return [str(name) for name in names]


def _shown(transformer: Any, domain: Domain) -> list[str]:
    """Return the columns that a transformer was fitted on, with the user's names."""
    names = _names(transformer)
    is_array = not hasattr(transformer, "feature_names_in_")
    same = is_array and len(domain.names) == len(names)
    return list(domain.names) if same else names


def _frames(rows: Rows, transformer: Any) -> Iterator[Any]:
    """Yield rows in the form that a transformer of frames takes."""
    if isinstance(rows, list | tuple):
        types = like_fitted(transformer, _names(transformer))
        columns = dict(zip(types, cells_of(rows, list(types)), strict=True))
        yield like_frame(columns, types)
        return
    frame = nw.from_native(rows, eager_only=True)
    frame = frame.select(name for name in _names(transformer) if name in frame.columns)
    is_arrow = frame.implementation.is_pyarrow()
    yield frame.to_pandas() if is_arrow else frame.to_native()


def _arrays(rows: Rows, transformer: Any) -> Iterator[NDArray[Any]]:
    """Yield rows in the forms that a transformer of arrays may take: numbers, objects.

    The columns are those in `_names`, or all of them.
    """
    listed, columns = _names(transformer), column_names(rows)
    if not set(listed) <= set(columns):
        listed = columns
    objects = np.array(cells_of(rows, listed), dtype=object).T
    forms = [objects]
    if not any(isinstance(cell, str) for cell in objects.flat):
        kinds = [] if isinstance(rows, list | tuple) else _kinds(rows, listed)
        is_float32 = bool(kinds) and set(kinds) == {nw.Float32}
        numbers = objects.astype(np.float32 if is_float32 else np.float64)
        forms.insert(int(nw.Object in kinds), numbers)
    yield from forms


def _kinds(rows: Rows, names: Sequence[str]) -> list[Any]:
    schema = nw.from_native(rows).schema
    return [schema[name] for name in names]


def _refuse_gaps(tensor: Columns, domain: Domain) -> None:
    """Refuse values that the preprocessing turns into numbers that are not finite."""
    for owner, table in zip(tensor.owners, tensor.tables, strict=True):
        wrong = np.flatnonzero(~np.isfinite(np.asarray(table, dtype=np.float64)))
        if owner != CONSTANT and len(wrong):
            feature = domain.features[owner]
            raise refused(feature, int(wrong[0]), f"it becomes {table[wrong[0]]}")


def _entry_names(step: Any) -> Callable[[int, int], str]:
    """Return the names of encoded columns, for messages."""
    try:
        names = [str(name) for name in step.get_feature_names_out()]
    except (AttributeError, ValueError, TypeError, NotFittedError):
        names = []

    def name(_array: int, entry: int) -> str:
        return repr(names[entry]) if entry < len(names) else f"column {entry}"

    return name


def _classifier(model: object) -> Any:
    """Return the last step of a pipeline, or the model itself."""
    while isinstance(model, Pipeline):
        model = model.steps[-1][1]
    return model


def _steps(pipeline: Pipeline) -> list[Any]:
    steps = [step for _, step in pipeline.steps[:-1]]
    if isinstance(pipeline.steps[-1][1], Pipeline):
        steps += _steps(pipeline.steps[-1][1])
    # Samplers of imbalanced-learn only work in fit; its predict skips them, too.
    steps = [step for step in steps if not hasattr(step, "fit_resample")]
    return [step for step in steps if step not in (None, "passthrough")]


def _preprocessing(model: object) -> Any:
    """Return the steps before the classifier as one transformer; None without any."""
    if not isinstance(model, Pipeline):
        return None
    steps = _steps(model)
    if not steps:
        return None
    return Pipeline([(f"step {index}", step) for index, step in enumerate(steps)])
