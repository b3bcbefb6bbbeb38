"""Load .skops files, and check their estimators before any of them is called.

skops calls a type harmless if creating one runs no code from the file. An estimator of
such a type may still open files or start processes when it is called. So only the
estimators that occur in pipelines for tabular data are accepted, with options that do
neither.
"""

import math
from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from skops import io

from nn2rules.errors import FormatError, UnsupportedModelError
from nn2rules.files import read_bytes
from nn2rules.models.file_checks import ALLOW, first_line, members, refuse_old

_PACKAGES = frozenset(
    (
        *("calibration", "compose", "discriminant_analysis", "feature_extraction"),
        *("feature_selection", "frozen", "impute", "linear_model", "model_selection"),
        *("neural_network", "pipeline", "preprocessing", "svm"),
    )
)
"""The parts of scikit-learn that classifiers for tabular data are made of."""

_MOST_JOBS = 64

_MOST_COLUMNS = 1 << 12
"""Columns that one step may make, where it makes them dense."""

_LIMITS = {
    "n_features": 1 << 20,  # a sparse table: the default of HashingVectorizer
    "n_features_in_": 1 << 20,
    "n_output_features_": _MOST_COLUMNS,
    "_n_out_full": _MOST_COLUMNS,
    "_max_degree": _MOST_COLUMNS,
}
"""Attributes that set the number of columns, and the most that is accepted."""


HARMLESS = frozenset(
    (
        "numpy.dtype",
        "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
        "sklearn.neural_network._stochastic_optimizers.SGDOptimizer",
    )
)
"""Types inside every saved MLPClassifier, which skops does not list as harmless."""


def load_skops(path: str | PathLike[str], *, trust: bool = False) -> Any:
    """Return the estimator in a .skops file, without running code of the file."""
    if not trust:
        refuse_old(path, "skops", "0.13")
    members(path, ".skops file")
    data = read_bytes(path)  # once, so that what is checked is what is loaded
    try:
        named = io.get_untrusted_types(data=data)
        unknown = [name for name in named if name not in HARMLESS]
        if not unknown or trust:
            model = io.loads(data, trusted=named)
    except Exception as error:  # noqa: BLE001  a damaged archive raises anything
        raise FormatError(
            f"{path} is damaged, or is not a .skops file: {first_line(error)}"
        ) from None
    if any(name.startswith("sklearn.tree.") for name in unknown):
        raise UnsupportedModelError(
            f"{path} holds trees, not a neural network. nn2rules reads neural networks "
            f"and linear classifiers; for trees use a package such as te2rules."
        )
    if unknown and not trust:
        raise FormatError(
            f"{path} has types that skops does not know to be harmless "
            f"({', '.join(unknown)}); if you trust the author, {ALLOW}"
        )
    reason = None if trust else _unsafe_in(model)
    if reason is not None:
        raise FormatError(f"{path}: {reason}; if you trust the author, {ALLOW}")
    return model


def _unsafe_in(model: object) -> str | None:
    """Return the part of a model that could open files or start processes, if any."""
    waiting, seen = [model], {id(model)}
    while waiting:
        item = waiting.pop()
        if isinstance(item, BaseEstimator):
            reason = _unsafe(item)
            if reason is not None:
                return reason
        for part in _parts(item):
            if id(part) not in seen:
                seen.add(id(part))
                waiting.append(part)
    return None


def _parts(item: object) -> Iterable[Any]:
    if isinstance(item, dict):
        return [*item.keys(), *item.values()]
    if isinstance(item, list | tuple | set | frozenset):
        return list(item)
    if isinstance(item, np.ndarray):
        return item.reshape(-1).tolist() if item.dtype == object else ()
    return list(getattr(item, "__dict__", {}).values())


def _unsafe(estimator: BaseEstimator) -> str | None:
    name, options = type(estimator).__name__, vars(estimator)
    library, *packages = type(estimator).__module__.split(".")
    if library == "sklearn" and packages[0] not in _PACKAGES:
        return f"the model has a {name}, which is not known to be harmless"
    if options.get("input", "content") != "content":
        return (
            f"the {name} has input={options['input']!r}, so it opens files that are "
            f"named in the data"
        )
    if options.get("memory") is not None:
        return f"the {name} has a `memory`, which writes files"
    jobs = options.get("n_jobs")
    if jobs is not None and not (isinstance(jobs, int) and abs(jobs) <= _MOST_JOBS):
        return f"the {name} has n_jobs={jobs!r}; at most {_MOST_JOBS} are accepted"
    return _too_wide(name, options)


def _too_wide(name: str, options: Mapping[str, Any]) -> str | None:
    """Return the option with which a step would make too many columns, if any."""
    sizes = {key: options[key] for key in _LIMITS if options.get(key) is not None}
    for key, number in sizes.items():
        if not isinstance(number, int | np.integer) or not 0 <= number <= _LIMITS[key]:
            limit = f"{_LIMITS[key]:,}"
            return f"the {name} has {key}={number!r}, expected an integer up to {limit}"
    if name != "PolynomialFeatures":
        return None
    highest = int(sizes.get("_max_degree", 0))
    n_columns = math.comb(int(sizes.get("n_features_in_", 1)) + highest, highest)
    if n_columns > _MOST_COLUMNS:
        return f"the {name} of degree {highest} makes {n_columns:,} columns"
    return None
