"""MODEL IN: whatever the user has becomes the one network form.

A framework's adapter is imported only when a model of that framework is handed over,
so nothing here needs the framework to be installed. Every adapter has three functions:
``prepare(model)``, which refuses what it cannot read; ``columns(model, encode)``, what
the model knows of its columns; and ``read(model, source, how)``, which follows the
model and returns a `Reading`.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any

from nn2rules.errors import UnsupportedModelError
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
"""The top-level module of a framework, and the adapter that reads its models."""


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

    It is compared with the model itself before it is returned: on the rows of `data`
    and on random inputs of the domain.

    Parameters
    ----------
    model : Network, or a model of scikit-learn, PyTorch, Keras or ONNX
    data : frame or list of dicts, optional
        Rows as the model was trained on: they say what its features can be.
    domain : Domain, or mapping, optional
        What the features can be, where the data do not say it: all of them, or some by
        name. See `Domain.from_data`.
    encode : callable, or fitted scikit-learn transformer, optional
        Turns rows of the data into the arrays that the model takes.
    classes : sequence of class labels, optional
        Where the model has none; by default 0, 1, ….
    threshold : float
        Of a model with a single output: class 1 iff its probability is larger.
    output : {"score", "probability"}, optional
        What a single output without a sigmoid means: a score (class 1 above 0) or a
        probability (class 1 above the threshold). A model that does not tell is
        refused unless you say it.
    other : bool, or sequence of feature names
        Whether features of words get a value `other`, for all that are not listed.

    Raises
    ------
    UnsupportedModelError
        If the model, or a step of it, cannot be read exactly; the message says which.
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


def network_of(model: object, how: ModelOptions) -> Network:
    """Return the `Network` of a model; `read_network` with its options as a value."""
    own = getattr(model, "network_", None)  # as our own classifier has
    if isinstance(model, Scorecard):
        model = model.network
    if isinstance(model, Network) or isinstance(own, Network):
        network = model if isinstance(model, Network) else own
        assert isinstance(network, Network), "one of the two is"
        how.check_for(network)
        return network
    adapter = _adapter(model)
    prepared = adapter.prepare(model)
    own = adapter.ready(prepared) if hasattr(adapter, "ready") else None
    if isinstance(own, Network):
        how.check_for(own)
        return own
    how.refuse_array()
    from nn2rules.models.reading import read_model  # loads what only models need

    return read_model(adapter, prepared, how)


def _adapter(model: object) -> ModuleType:
    if isinstance(model, type):
        raise UnsupportedModelError(
            f"{model.__name__} is a class; give a trained model of it"
        )
    refuse_boosting(model)
    for cls in type(model).__mro__:
        framework = cls.__module__.partition(".")[0]
        if framework in ADAPTERS:
            return import_module(ADAPTERS[framework])
    if isinstance(model, str | os.PathLike):
        raise UnsupportedModelError(
            f"{str(model)!r} is a path; read the model with nn2rules.load_model first"
        )
    cls = type(model)
    raise UnsupportedModelError(
        f"cannot read a {cls.__module__}.{cls.__qualname__}; nn2rules reads networks "
        f"(nn2rules.load) and models of {', '.join(sorted(ADAPTERS))}"
    )


_LIBRARIES = {
    "catboost": ("CatBoost", "model.save_model(path, format='json')"),
    "lightgbm": ("LightGBM", "model.booster_.trees_to_dataframe()"),
    "xgboost": ("XGBoost", "model.get_booster().trees_to_dataframe()"),
}


def refuse_boosting(model: object) -> None:
    """Refuse a model of trees by the library that it comes from.

    Their classifiers are scikit-learn's by descent, so this comes before that.
    """
    cls = type(model)
    for base in cls.__mro__:
        library, shown = _LIBRARIES.get(base.__module__.partition(".")[0], (None, ""))
        if library is not None:
            raise UnsupportedModelError(
                f"this {cls.__name__} of {library} is made of trees, and no network; "
                f"nn2rules reads networks and linear classifiers; {shown} shows the "
                f"trees, and packages such as te2rules make rules of them"
            )
