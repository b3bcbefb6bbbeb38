"""Read a scikit-learn MLPClassifier trained on one-hot columns."""

import warnings

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.validation import check_is_fitted

from nn2rules.domain import Domain
from nn2rules.errors import DomainError, OptionError, UnsupportedModelError
from nn2rules.feature import Feature
from nn2rules.layer import Layer
from nn2rules.network import Network
from nn2rules.values import Value, value_of

_ACTIVATIONS = {
    "identity": "identity",
    "logistic": "sigmoid",
    "relu": "relu",
    "tanh": "tanh",
}


def read(model: object, domain: object = None) -> Network:
    """Return the network of an MLPClassifier, or of a one-hot encoder and one.

    Parameters
    ----------
    model : MLPClassifier, or Pipeline of OneHotEncoder and MLPClassifier
    domain : Domain or fitted OneHotEncoder
        How the classifier's columns group into features: a Domain whose values are the
        columns, in order, or the encoder that made them. A Pipeline needs none.
    """
    _refuse_unfitted(model)
    if isinstance(model, Pipeline):
        if domain is not None:
            raise OptionError("a Pipeline knows its features; leave out `domain`")
        return _read_pipeline(model)
    if not isinstance(model, MLPClassifier):
        raise UnsupportedModelError(
            f"cannot read a {type(model).__name__}; of scikit-learn, nn2rules reads "
            f"MLPClassifier, alone or behind a OneHotEncoder in a Pipeline"
        )
    if domain is None:
        raise UnsupportedModelError(
            "an MLPClassifier does not know which of its columns belong to one "
            "feature; give domain= the fitted OneHotEncoder, or a Domain"
        )
    if isinstance(domain, OneHotEncoder):
        _refuse_unfitted(domain)
        return _read_encoded(domain, model)
    if not isinstance(domain, Domain):
        raise UnsupportedModelError(
            f"domain= is a Domain or a fitted OneHotEncoder, not a "
            f"{type(domain).__name__}"
        )
    return _network(domain, np.asarray(model.coefs_[0], dtype=np.float64), model)


def _read_pipeline(pipeline: Pipeline) -> Network:
    steps = [step for _, step in pipeline.steps if step not in (None, "passthrough")]
    kinds = [type(step).__name__ for step in steps]
    if kinds != ["OneHotEncoder", "MLPClassifier"]:
        raise UnsupportedModelError(
            f"cannot read a Pipeline of {', '.join(kinds)}; it must be a OneHotEncoder "
            f"and an MLPClassifier"
        )
    return _read_encoded(*steps)


def _refuse_unfitted(model: object) -> None:
    try:
        check_is_fitted(model)
    except NotFittedError:
        raise UnsupportedModelError(
            f"the {type(model).__name__} is not fitted; call its fit method first"
        ) from None
    except TypeError:  # not an estimator that can be fitted: refused by its type
        return


def _read_encoded(encoder: OneHotEncoder, model: MLPClassifier) -> Network:
    """Ask the encoder for the columns of every value, and add up their weights.

    The encoder itself says what a value becomes, so dropped and infrequent categories
    need no special case.
    """
    categories = encoder.categories_
    names = getattr(encoder, "feature_names_in_", None)
    if names is None:
        names = [f"x{index}" for index in range(len(categories))]
    domain = Domain(
        tuple(
            Feature(str(name), tuple(_value(item) for item in items))
            for name, items in zip(names, categories, strict=True)
        )
    )
    encoded, owners = _encoded_values(encoder), _owners(encoder)
    first = np.asarray(model.coefs_[0], dtype=np.float64)
    if not encoded.shape[1] == len(owners) == len(first):
        raise UnsupportedModelError(
            f"the OneHotEncoder makes {encoded.shape[1]} columns, but the "
            f"MLPClassifier was trained on {len(first)}"
        )
    tables = [
        encoded[: len(items), owners == feature] @ first[owners == feature]
        for feature, items in enumerate(categories)
    ]
    return _network(domain, np.concatenate(tables), model)


def _owners(encoder: OneHotEncoder) -> NDArray[np.int64]:
    """Return which feature each encoded column belongs to."""
    categories = encoder.categories_
    infrequent = getattr(encoder, "infrequent_categories_", [None] * len(categories))
    dropped = encoder.drop_idx_
    n_columns = []
    for feature, items in enumerate(categories):
        grouped = infrequent[feature]
        n_grouped = 0 if grouped is None else len(grouped) - 1  # one column for all
        is_dropped = dropped is not None and dropped[feature] is not None
        n_columns.append(len(items) - n_grouped - is_dropped)
    return np.repeat(np.arange(len(categories)), n_columns)


def _encoded_values(encoder: OneHotEncoder) -> NDArray[np.float64]:
    """Encode rows in which every feature goes through its values, from the first on.

    A feature with fewer values than another stays at its first one.
    """
    longest = max(len(items) for items in encoder.categories_)
    rows = np.empty((longest, len(encoder.categories_)), dtype=object)
    for feature, items in enumerate(encoder.categories_):
        rows[:, feature] = items[0]
        rows[: len(items), feature] = items
    with warnings.catch_warnings():  # an array has no feature names; that is fine here
        warnings.simplefilter("ignore", UserWarning)
        encoded = encoder.transform(rows)
    dense = encoded.toarray() if hasattr(encoded, "toarray") else encoded
    return np.asarray(dense, dtype=np.float64)


def _value(item: object) -> Value:
    try:
        return value_of(item)
    except DomainError as error:
        raise UnsupportedModelError(f"the OneHotEncoder: {error}") from None


def _network(
    domain: Domain, tables: NDArray[np.float64], model: MLPClassifier
) -> Network:
    if model.out_activation_ == "logistic" and model.n_outputs_ > 1:
        raise UnsupportedModelError(
            "this MLPClassifier is multi-label: it answers several questions at once; "
            "train one classifier for each label"
        )
    if len(tables) != domain.offsets[-1]:
        raise UnsupportedModelError(
            f"the domain has {domain.offsets[-1]} values, but the MLPClassifier was "
            f"trained on {len(tables)} columns; it needs one column for each value"
        )
    weights = [tables, *model.coefs_[1:]]
    last = len(weights) - 1
    hidden = _ACTIVATIONS[model.activation]
    output = "softmax" if model.out_activation_ == "softmax" else "sigmoid"
    layers = tuple(
        Layer(matrix, bias, output if index == last else hidden)
        for index, (matrix, bias) in enumerate(
            zip(weights, model.intercepts_, strict=True)
        )
    )
    return Network(domain, layers, tuple(value_of(c) for c in model.classes_))
