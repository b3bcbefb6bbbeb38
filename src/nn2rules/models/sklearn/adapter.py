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
from nn2rules.models.sklearn import ours as ours
from nn2rules.models.sklearn.classifiers import (
    Decided,
    decided_of,
    has_probability,
    refuse_kind,
    refuse_threshold,
    refuse_unfitted,
    refuse_weights,
)
from nn2rules.models.sklearn.columns import Known, known_columns, like_fitted
from nn2rules.models.sklearn.steps import Step, origin_of, steps_of
from nn2rules.models.source import Port, Source, as_array
from nn2rules.models.tracing import CONSTANT, FLOAT32, FLOAT64, Columns, Tensor, Trace
from nn2rules.network import Network
from nn2rules.space import Domain, Rows, cells_of, column_names, value_of

_ACTIVATIONS = {
    "identity": "identity",
    "logistic": "sigmoid",
    "relu": "relu",
    "tanh": "tanh",
}


def prepare(model: object) -> Decided:
    """Return the classifier that answers, refusing what is none that can be read."""
    if isinstance(model, BaseSearchCV):
        refuse_unfitted(model)
        if not hasattr(model, "best_estimator_"):
            raise UnsupportedModelError(
                f"the {type(model).__name__} kept no model; use refit=True"
            )
        model = model.best_estimator_
    refuse_boosting(_classifier(model))
    refuse_unfitted(model)
    decided = decided_of(model)
    final = _classifier(decided.model)
    if not ours.is_ours(final):
        refuse_kind(final)
        refuse_weights(final)
    if isinstance(decided.model, Pipeline) and len(_steps(decided.model)) == 0:
        return replace(decided, model=final)
    return decided


def ready(decided: Decided) -> Network | None:
    """Return the network that a classifier has already, if no step comes before it."""
    if not ours.is_ours(decided.model):
        return None
    network: Network = decided.model.network_
    if decided.wrapper is None:
        return network
    threshold = decided.threshold_of(decided.model, 0.5)
    return replace(network, threshold=threshold)


def columns(decided: Decided | None, encode: object = None) -> dict[str, Known] | None:
    """Return what the model knows of its columns, by their names; None if nothing.

    Examples
    --------
    >>> from sklearn.preprocessing import OneHotEncoder
    >>> columns(None, OneHotEncoder().fit([["red"], ["blue"]]))["x0"].values
    ('blue', 'red')
    """
    model = None if decided is None else decided.model
    first = encode if encode is not None else _preprocessing(model)
    if first is None:
        names = getattr(model, "feature_names_in_", None)
        return None if names is None else {str(name): Known() for name in names}
    if not hasattr(first, "transform"):
        return None
    refuse_unfitted(first)
    names = _names(first)
    found = known_columns(first, names)
    if model is not None and ours.is_ours(_classifier(model)):
        found = ours.with_bins(found, _classifier(model), first, names)
    if not hasattr(first, "feature_names_in_"):  # an array has all, used or not
        found = {name: found.get(name, Known()) for name in names}
    return found or None


def steps_origin(transformer: Any) -> dict[str, list[str]]:
    """Say which steps of a fitted transformer are known by their code."""
    return origin_of(steps_of(transformer, _names(transformer)))


def encoder(transformer: Any) -> Callable[[Rows], Any]:
    """Return a fitted transformer as a function of rows."""
    forms = _frames if hasattr(transformer, "feature_names_in_") else _arrays

    def encode(rows: Rows) -> Any:
        first: Exception | None = None
        for given in forms(rows, transformer):
            try:
                return transformer.transform(given)
            except Exception as error:  # noqa: BLE001  a transformer may raise anything
                first = first or error
        assert first is not None, "there is a form to try"
        raise first

    return encode


@dataclass(frozen=True)
class _Asked:
    """A fitted classifier, to be asked about rows.

    Attributes
    ----------
    final : classifier
    encode : Encode
        What comes before it.
    decision : Decision
    is_mirrored : bool
        Whether the network has both classes, and the score, the other way round.
    """

    final: Any
    encode: Encode
    decision: Decision
    is_mirrored: bool

    def outputs(self, rows: Rows) -> NDArray[Any]:
        """Return scores, or shares of classes if the network makes such."""
        final, has_shares = self.final, self.decision.has_shares
        with _quiet():
            [array] = self.encode(rows)
            if has_shares and has_probability(final):
                return np.asarray(final.predict_proba(array))
            scores = np.asarray(final.decision_function(array))
        scores = -scores if self.is_mirrored else scores
        return (
            np.stack([expit(-scores), expit(scores)], axis=1) if has_shares else scores
        )

    def predictions(self, rows: Rows) -> NDArray[np.int64]:
        """Return the positions of the classes that it predicts."""
        with _quiet():
            [array] = self.encode(rows)
            found = np.searchsorted(self.final.classes_, self.final.predict(array))
        found = 1 - found if self.is_mirrored else found
        return np.asarray(found, dtype=np.int64)


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep back warnings that arrays have no feature names; that is fine here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def read(decided: Decided, source: Source, how: ModelOptions) -> Reading:
    """Return the network of a fitted classifier, with the classifier's own answers."""
    final, first = _classifier(decided.model), _preprocessing(decided.model)
    _refuse_options(final, first, source, how)
    how = replace(how, threshold=decided.threshold_of(final, how.threshold))
    if first is not None:
        source = replace(source, encode=encoder(first), is_stated=True)
        if source.maker.like is None:
            source.maker.like = like_fitted(first, _names(first))
    encode = source.arrays([Port("X", int(final.n_features_in_))])
    tensor = _probed(final, first, source, encode)
    steps = [] if first is None else steps_of(first, _shown(first, source.domain))
    _refuse_mixing(steps, source.domain.names)
    # libsvm gives an exact tie to the second class, and a network to its first one.
    is_mirrored = isinstance(final, SVC) and decided.wrapper is None
    trace = Trace(source.domain, source.ranges)
    decision, unit = _decision(final, trace, tensor, how, is_mirrored=is_mirrored)
    asked = _Asked(final, encode, decision, is_mirrored)
    # A threshold of the user's, or of a wrapper, is not in the classifier's predict.
    has_own = decided.wrapper is None and how.threshold == 0.5
    origin = {"framework": "scikit-learn", "version": sklearn.__version__}
    real = source.real or source.domain
    ranges = [f.name for f in real.features if f.limits is not None]
    is_coarse = any(table.dtype == np.float32 for table in tensor.tables)
    return Reading(
        decision,
        asked.outputs,
        unit,
        origin | origin_of(steps, ranges),
        frozenset(trace.bent),
        FLOAT32 if is_coarse else FLOAT64,
        predictions=asked.predictions if has_own else None,
    )


def _refuse_options(final: Any, first: Any, source: Source, how: ModelOptions) -> None:
    """Refuse to be told what a fitted classifier says itself."""
    if how.classes is not None:
        raise OptionError("a scikit-learn model knows its classes; leave out `classes`")
    if how.output is not None:
        raise OptionError(
            "a scikit-learn model defines its own output; leave out `output`"
        )
    refuse_threshold(final, how.threshold)
    if first is not None and source.encode is not None:
        raise OptionError("a Pipeline encodes its rows itself; leave out `encode`")


def _probed(final: Any, first: Any, source: Source, encode: Encode) -> Columns:
    """Return what the classifier is given, as tables of the features."""
    probed, names = encode, _entry_names(first or final)
    if ours.is_ours(final):
        probed, names = ours.one_hot(final, encode), ours.column_names(final)
    with _quiet():
        [tensor] = probe(probed, source.maker, names=names)
    if not ours.is_ours(final) and tensor.shape != (final.n_features_in_,):
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
    how: ModelOptions,
    *,
    is_mirrored: bool = False,
) -> tuple[Decision, float]:
    """Return the decision, with both classes and the score turned if mirrored."""
    labels = tuple(value_of(label) for label in final.classes_)
    if ours.is_ours(final):
        shares = ours.scores_of(final, trace, tensor)
        return decide(trace, shares, labels, how, unit=FLOAT64), FLOAT64
    if isinstance(final, MLPClassifier):
        unit = FLOAT32 if final.coefs_[0].dtype == np.float32 else FLOAT64
        shares = _of_mlp(final, trace, tensor)
        return decide(trace, shares, labels, how, unit=unit), unit
    weights = np.atleast_2d(as_array(final.coef_))
    bias = np.atleast_1d(final.intercept_)
    if isinstance(final, SVC):  # it adds up products with its support vectors
        tensor = trace.linear(tensor, as_array(final.support_vectors_).T)
        weights = as_array(final.dual_coef_)
    if is_mirrored:
        weights, bias, labels = -weights, -bias, labels[::-1]
    scores = trace.linear(tensor, weights.T, bias)
    if how.threshold != 0.5:
        scores = trace.pair(scores)
    unit = FLOAT32 if weights.dtype == np.float32 else FLOAT64
    made = decide(
        trace, scores, labels, how, unit=unit, said="score", is_classifier=True
    )
    return made, unit


def _of_mlp(final: MLPClassifier, trace: Trace, tensor: Tensor) -> Tensor:
    """Return the shares of classes that an MLPClassifier makes."""
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
    """Refuse steps that may mix columns in rows that were never tried."""
    for step in steps:
        if step.may_mix:
            listed = [repr(name) for name in names if name in step.sees]
            shown = ", ".join(listed[:3]) + (" and others" if len(listed) > 3 else "")
            raise UnsupportedModelError(
                f"the step {step.name} sees several columns at once ({shown}), and "
                f"nothing shows that it never mixes them; give each column a step of "
                f"its own, as in ColumnTransformer([(name, {step.name}(...), [name]) "
                f"for name in columns]), or extract the rules of the classifier alone, "
                f"with encode=model[:-1].transform: they then rest on the rows tried"
            )


def _names(transformer: Any) -> list[str]:
    """Return the columns that a transformer was fitted on; x0, x1, … of an array."""
    names = getattr(transformer, "feature_names_in_", None)
    if names is None:
        n_columns = getattr(transformer, "n_features_in_", 0)
        return [f"x{index}" for index in range(n_columns)]
    return [str(name) for name in names]


def _shown(transformer: Any, domain: Domain) -> list[str]:
    """Return the columns that a transformer was fitted on, by the user's names."""
    names = _names(transformer)
    is_array = not hasattr(transformer, "feature_names_in_")
    same = is_array and len(domain.names) == len(names)
    return list(domain.names) if same else names


def _frames(rows: Rows, transformer: Any) -> Iterator[Any]:
    """Yield rows as a transformer of frames takes them."""
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
    """Yield rows as a transformer of arrays may take them: as numbers, as objects.

    The columns are called as in `_names`, or are all that there are.
    """
    listed, found = _names(transformer), column_names(rows)
    if not set(listed) <= set(found):
        listed = found
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
    """Refuse values that the preprocessing turns into nothing the model can take."""
    for owner, table in zip(tensor.owners, tensor.tables, strict=True):
        wrong = np.flatnonzero(~np.isfinite(np.asarray(table, dtype=np.float64)))
        if owner != CONSTANT and len(wrong):
            feature = domain.features[owner]
            raise refused(feature, int(wrong[0]), f"it makes {table[wrong[0]]} of it")


def _entry_names(step: Any) -> Callable[[int, int], str]:
    """Return how encoded columns are called, for messages."""
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
    found = [step for _, step in pipeline.steps[:-1]]
    if isinstance(pipeline.steps[-1][1], Pipeline):
        found += _steps(pipeline.steps[-1][1])
    # Samplers of imbalanced-learn work in fit alone; its predict passes them over, too.
    found = [step for step in found if not hasattr(step, "fit_resample")]
    return [step for step in found if step not in (None, "passthrough")]


def _preprocessing(model: object) -> Any:
    """Return the steps before the classifier as one transformer; None without any."""
    if not isinstance(model, Pipeline):
        return None
    steps = _steps(model)
    if not steps:
        return None
    return Pipeline([(f"step {index}", step) for index, step in enumerate(steps)])
