"""Choose the adapter that reads a model.

A framework's adapter is imported only when a model of that framework is passed, so
nothing here needs the framework to be installed. Every adapter has three functions:
``prepare(model)`` refuses what it cannot read; ``columns(model, encode)`` returns what
the model knows of its columns; ``read(model, source, options)`` traces the model and
returns a `Reading`.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any

from nn2rules.errors import UnsupportedModelError
from nn2rules.models.file_checks import is_data_file
from nn2rules.models.options import ModelOptions, ModelOutput
from nn2rules.network import Network
from nn2rules.scorecards import Scorecard
from nn2rules.space import Domain, Rows, Value

ADAPTERS = {
    "keras": "nn2rules.models.keras",
    "onnx": "nn2rules.models.onnx",
    "sklearn": "nn2rules.models.sklearn",
    "torch": "nn2rules.models.torch",
}
"""From the top-level module of a framework to the adapter that reads its models."""


def read_network(
    model: object,
    *,
    data: Rows = None,
    domain: Domain | Mapping[str, Any] | None = None,
    encode: Callable[[Rows], Any] | Any = None,
    classes: Sequence[Value] | None = None,
    threshold: float = 0.5,
    output: ModelOutput | None = None,
    other: bool | Sequence[str] = False,
) -> Network:
    """Return the `Network` that computes what `model` computes.

    The network is compared with the model before it is returned, on the rows of `data`
    and on random inputs of the domain.

    Parameters
    ----------
    model : Network, or a scikit-learn, PyTorch, Keras or ONNX model
    data : frame or list of dicts, optional
        Rows like those the model was trained on. They show which values each feature
        can have.
    domain : Domain, or mapping, optional
        The possible values of the features, or of some of them by name, where the data
        do not show them. See `Domain.from_data`.
    encode : callable, or fitted scikit-learn transformer, optional
        Turns rows of the data into the arrays that the model takes.
    classes : sequence of class labels, optional
        The classes of a model that does not name them; by default 0, 1, ….
    threshold : float
        For a model with a single output: class 1 is predicted if its probability is
        larger.
    output : {"score", "probability"}, optional
        What a single output without a sigmoid means: a score (class 1 above 0) or a
        probability (class 1 above the threshold). If the model does not show it, it is
        refused unless you declare it.
    other : bool, or sequence of feature names
        Which categorical features get a category `other` for values that are not
        listed: all (True) or the named ones.

    Raises
    ------
    UnsupportedModelError
        If the model, or a step of it, cannot be read exactly; the message names it.
    """
    options = ModelOptions(
        data=data,
        domain=domain.uncut if isinstance(domain, Domain) else domain,
        encode=encode,
        classes=classes,
        threshold=threshold,
        output=output,
        other=other,
    )
    return network_of(model, options)


def network_of(model: object, options: ModelOptions) -> Network:
    """Do what `read_network` does, with the options as one value."""
    if isinstance(model, Scorecard):
        model = model.network
    network = getattr(model, "network_", model)  # as the classifiers of nn2rules have
    if not isinstance(network, Network):
        adapter = _adapter(model)
        prepared = adapter.prepare(model)
        network = adapter.ready(prepared) if hasattr(adapter, "ready") else None
    if isinstance(network, Network):
        options.check_for(network)
        return network
    options.refuse_array()
    from nn2rules.models.reading import read_model  # loads what only models need

    return read_model(adapter, prepared, options)


def _adapter(model: object) -> ModuleType:
    if isinstance(model, type):
        raise UnsupportedModelError(
            f"{model.__name__} is a class; pass a trained model instead"
        )
    refuse_boosting(model)
    for cls in type(model).__mro__:
        framework = cls.__module__.partition(".")[0]
        if framework in ADAPTERS:
            return import_module(ADAPTERS[framework])
    raise UnsupportedModelError(f"{_description(model)}; {_READ}")


_READ = (
    "nn2rules reads scikit-learn, PyTorch, Keras and ONNX models, and networks from "
    "nn2rules.load"
)


def _description(model: object) -> str:
    """Return what was passed in place of a model, and what to do instead if known."""
    cls = type(model)
    if isinstance(model, str | os.PathLike):
        path = str(model)
        if is_data_file(path):
            return (
                f"{path!r} is a file of data, not a model; pass a trained model, and "
                f"the rows of the file as data="
            )
        return f"{path!r} is a path; load the model first: load_model({path!r})"
    is_frame = hasattr(model, "columns") or isinstance(model, list | tuple | dict)
    if is_frame or (hasattr(model, "shape") and hasattr(model, "dtype")):
        return (
            f"{cls.__name__} is data, not a model; pass a trained model, and the "
            f"rows as data="
        )
    return f"{cls.__module__}.{cls.__qualname__} is not a supported model"


_LIBRARIES = {
    "catboost": ("CatBoost", "model.save_model(path, format='json')"),
    "lightgbm": ("LightGBM", "model.booster_.trees_to_dataframe()"),
    "xgboost": ("XGBoost", "model.get_booster().trees_to_dataframe()"),
}


def refuse_boosting(model: object) -> None:
    """Refuse tree ensembles by the library that they come from.

    Their classifiers derive from scikit-learn's, so this comes before that adapter.
    """
    cls = type(model)
    for base in cls.__mro__:
        library, shown = _LIBRARIES.get(base.__module__.partition(".")[0], (None, ""))
        if library is not None:
            raise UnsupportedModelError(
                f"{cls.__name__} ({library}) is an ensemble of trees, not a neural "
                f"network. Inspect its trees with {shown}, or extract rules with a "
                f"package for trees, such as te2rules."
            )
