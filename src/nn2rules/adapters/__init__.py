"""MODEL IN: whatever the user has becomes the one network form.

A framework's adapter is imported only when a model of that framework is handed over,
so nothing here needs the framework to be installed.
"""

import os
from importlib import import_module
from typing import Any

from nn2rules.errors import OptionError, UnsupportedModelError
from nn2rules.network import Network

ADAPTERS = {"sklearn": "nn2rules.adapters.sklearn"}
"""The top-level module of a framework, and the adapter that reads its models."""


def read_network(model: object, *, domain: Any = None) -> Network:
    """Return the `Network` that computes what `model` computes.

    Parameters
    ----------
    model : Network, or a fitted scikit-learn MLPClassifier or Pipeline
    domain : Domain, or fitted OneHotEncoder, optional
        How the columns of the model group into features; models that know it
        themselves need none.
    """
    if isinstance(model, Network):
        if domain is not None and domain != model.domain:
            raise OptionError("a Network has its own domain; leave out `domain`")
        return model
    for cls in type(model).__mro__:
        framework = cls.__module__.partition(".")[0]
        if framework in ADAPTERS:
            network = import_module(ADAPTERS[framework]).read(model, domain)
            assert isinstance(network, Network), "every adapter returns a Network"
            return network
    if isinstance(model, str | os.PathLike):
        raise UnsupportedModelError(
            f"{str(model)!r} is a path; read the network with nn2rules.load first"
        )
    cls = type(model)
    raise UnsupportedModelError(
        f"cannot read a {cls.__module__}.{cls.__qualname__}; nn2rules reads networks "
        f"(nn2rules.load) and models of {', '.join(sorted(ADAPTERS))}"
    )
