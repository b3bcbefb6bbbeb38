"""Read fitted scikit-learn classifiers: MLPs and linear ones, with their pipelines."""

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import narwhals as nw
import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.base import is_regressor
from sklearn.calibration import CalibratedClassifierCV
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.linear_model._base import LinearClassifierMixin
from sklearn.model_selection._search import BaseSearchCV
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC
from sklearn.utils.validation import check_is_fitted

from nn2rules.adapters.boosting import refuse_boosting
from nn2rules.adapters.confirm import FLOAT32, FLOAT64, Reading
from nn2rules.adapters.decision import Decision, decide
from nn2rules.adapters.options import ModelOptions
from nn2rules.adapters.probing import probe, refused
from nn2rules.adapters.rows import like_frame
from nn2rules.adapters.sklearn_columns import Known, known_columns, like_fitted
from nn2rules.adapters.source import Port, Source, as_array
from nn2rules.adapters.tracing import CONSTANT, Columns, Tensor, Trace
from nn2rules.domain import Domain, Rows, cells_of, column_names
from nn2rules.errors import OptionError, UnsupportedModelError
from nn2rules.values import value_of

_ACTIVATIONS = {
    "identity": "identity",
    "logistic": "sigmoid",
    "relu": "relu",
    "tanh": "tanh",
}


def prepare(model: object) -> object:
    """Return the classifier that answers, refusing what is none that can be read."""
    if isinstance(model, BaseSearchCV):
        _refuse_unfitted(model)
        if not hasattr(model, "best_estimator_"):
            raise UnsupportedModelError(
                f"the {type(model).__name__} kept no model; use refit=True"
            )
        model = model.best_estimator_
    refuse_boosting(_classifier(model))
    _refuse_unfitted(model)
    final = _classifier(model)
    _refuse_kind(final)
    if isinstance(model, Pipeline) and len(_steps(model)) == 0:
        return final
    return model


def columns(model: object, encode: object = None) -> dict[str, Known] | None:
    """Return what the model knows of its columns, by their names; None if nothing.

    Examples
    --------
    >>> from sklearn.preprocessing import OneHotEncoder
    >>> columns(None, OneHotEncoder().fit([["red"], ["blue"]]))["x0"].values
    ('blue', 'red')
    """
    first = encode if encode is not None else _preprocessing(model)
    if first is None:
        names = getattr(model, "feature_names_in_", None)
        return None if names is None else {str(name): Known() for name in names}
    if not hasattr(first, "transform"):
        return None
    _refuse_unfitted(first)
    names = _names(first)
    found = known_columns(first, names)
    if not hasattr(first, "feature_names_in_"):  # an array has all, used or not
        found = {name: found.get(name, Known()) for name in names}
    return found or None


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


def read(model: Any, source: Source, how: ModelOptions) -> Reading:
    """Return the network of a fitted classifier, with the classifier's own answers."""
    if how.classes is not None:
        raise OptionError("a scikit-learn model knows its classes; leave out `classes`")
    if how.gives is not None:
        raise OptionError("a scikit-learn model knows what it gives; leave out `gives`")
    final, first = _classifier(model), _preprocessing(model)
    _refuse_threshold(final, how.threshold)
    if first is not None and source.encode is not None:
        raise OptionError("a Pipeline encodes its rows itself; leave out `encode`")
    if first is not None:
        source = Source(source.domain, source.maker, encoder(first))
        if source.maker.like is None:
            source.maker.like = like_fitted(first, _names(first))
    encode = source.arrays([Port("X", int(final.n_features_in_))])
    trace = Trace(source.domain)
    with warnings.catch_warnings():  # arrays have no feature names; that is fine here
        warnings.simplefilter("ignore")
        [tensor] = probe(encode, source.maker, names=_entry_names(first or final))
    if tensor.shape != (final.n_features_in_,):
        raise UnsupportedModelError(
            f"the preprocessing makes {tensor.shape[0]} columns, but the "
            f"{type(final).__name__} was trained on {final.n_features_in_}"
        )
    _refuse_gaps(tensor, source.domain)
    decision, unit = _decision(final, trace, tensor, how)

    def outputs(rows: Rows) -> NDArray[Any]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            [array] = encode(rows)
            if decision.has_shares:
                return np.asarray(final.predict_proba(array))
            return np.asarray(final.decision_function(array))

    origin = {"framework": "scikit-learn", "version": sklearn.__version__}
    return Reading(decision, outputs, unit, origin)


def _decision(
    final: Any, trace: Trace, tensor: Tensor, how: ModelOptions
) -> tuple[Decision, float]:
    labels = tuple(value_of(label) for label in final.classes_)
    if not isinstance(final, MLPClassifier):
        weights = np.atleast_2d(as_array(final.coef_))
        bias = np.atleast_1d(final.intercept_)
        if isinstance(final, SVC):  # it adds up products with its support vectors
            tensor = trace.linear(tensor, as_array(final.support_vectors_).T)
            weights = as_array(final.dual_coef_)
        scores = trace.linear(tensor, weights.T, bias)
        if how.threshold != 0.5:
            scores = trace.pair(scores)
        unit = FLOAT32 if weights.dtype == np.float32 else FLOAT64
        made = decide(
            trace, scores, labels, how, unit=unit, said="score", is_classifier=True
        )
        return made, unit
    hidden = _ACTIVATIONS[final.activation]
    for index, (weights, bias) in enumerate(
        zip(final.coefs_, final.intercepts_, strict=True)
    ):
        if index > 0:
            tensor = trace.activate(tensor, hidden)
        tensor = trace.linear(tensor, weights, bias)
    if final.out_activation_ == "softmax":
        tensor = trace.activate(tensor, "softmax")
    else:
        tensor = trace.pair(tensor)
    unit = FLOAT32 if final.coefs_[0].dtype == np.float32 else FLOAT64
    return decide(trace, tensor, labels, how, unit=unit), unit


def _names(transformer: Any) -> list[str]:
    """Return the columns that a transformer was fitted on; x0, x1, … of an array."""
    names = getattr(transformer, "feature_names_in_", None)
    if names is None:
        n_columns = getattr(transformer, "n_features_in_", 0)
        return [f"x{index}" for index in range(n_columns)]
    return [str(name) for name in names]


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
        is_object = not isinstance(rows, list | tuple) and any(
            dtype == nw.Object for dtype in nw.from_native(rows).schema.values()
        )
        forms.insert(int(is_object), objects.astype(np.float64))
    yield from forms


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
    return [step for step in found if step not in (None, "passthrough")]


def _preprocessing(model: object) -> Any:
    """Return the steps before the classifier as one transformer; None without any."""
    if not isinstance(model, Pipeline):
        return None
    steps = _steps(model)
    if not steps:
        return None
    return Pipeline([(f"step {index}", step) for index, step in enumerate(steps)])


def _refuse_unfitted(model: object) -> None:
    try:
        check_is_fitted(model)
    except NotFittedError:
        raise UnsupportedModelError(
            f"the {type(model).__name__} is not fitted; call its fit method first"
        ) from None
    except TypeError:  # not an estimator that can be fitted: refused by its type
        return


def _refuse_kind(final: Any) -> None:
    """Refuse what is no network, each with its reason."""
    name = type(final).__name__
    if isinstance(final, CalibratedClassifierCV):
        raise UnsupportedModelError(
            "a CalibratedClassifierCV averages classifiers whose answers it bends, so "
            "no single network answers as it does; extract the rules of the classifier "
            "inside it: model.calibrated_classifiers_[0].estimator"
        )
    if is_regressor(final):
        raise UnsupportedModelError(
            f"a {name} predicts a number; nn2rules reads classifiers, such as "
            f"MLPClassifier"
        )
    if hasattr(final, "tree_") or hasattr(final, "estimators_"):
        raise UnsupportedModelError(
            f"a {name} is made of trees or of other models, and is no network; of "
            f"scikit-learn, nn2rules reads MLPClassifier and linear classifiers, alone "
            f"or at the end of a Pipeline"
        )
    if _is_multi_label(final):
        raise UnsupportedModelError(
            f"this {name} is multi-label: it answers several questions at once; train "
            f"one classifier for each label"
        )
    if len(getattr(final, "classes_", ())) == 1:
        label = value_of(final.classes_[0])
        raise UnsupportedModelError(
            f"the {name} knows one class only, {label!r}; train it on rows of two "
            f"classes or more"
        )
    if isinstance(final, MLPClassifier):
        return
    is_linear = isinstance(final, LinearClassifierMixin) and hasattr(final, "coef_")
    if isinstance(final, SVC) and final.kernel == "linear":
        is_linear = len(final.classes_) == 2
        if not is_linear:
            raise UnsupportedModelError(
                "an SVC of several classes lets them compete in pairs, which is no "
                "network; train a LinearSVC instead"
            )
    if not is_linear:
        raise UnsupportedModelError(
            f"cannot read a {name}; of scikit-learn, nn2rules reads MLPClassifier and "
            f"linear classifiers, alone or at the end of a Pipeline"
        )


def _refuse_threshold(final: Any, threshold: float) -> None:
    """Refuse a threshold of a classifier whose probability is no sigmoid of a score."""
    known = (LinearDiscriminantAnalysis, LogisticRegression, MLPClassifier)
    has_probability = isinstance(final, known) or (
        isinstance(final, SGDClassifier) and final.loss == "log_loss"
    )
    if threshold != 0.5 and not has_probability:
        raise OptionError(
            f"a {type(final).__name__} has no probability to compare with a threshold; "
            f"leave out `threshold`"
        )
    if threshold != 0.5 and len(final.classes_) != 2:
        raise OptionError("a threshold is for two classes; leave out `threshold`")


def _is_multi_label(final: Any) -> bool:
    if isinstance(final, MLPClassifier):
        return bool(final.out_activation_ == "logistic" and final.n_outputs_ > 1)
    binarizer = getattr(final, "_label_binarizer", None)
    return "multilabel" in getattr(binarizer, "y_type_", "")
