"""Estimators from a .skops file, checked before any of them is asked.

skops calls a type harmless if making one runs no code of the file. An estimator of such
a type may still open files or start processes once it is asked: so only the estimators
that pipelines of tables have are let through, with options that do neither.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

_PACKAGES = frozenset(
    (
        *("calibration", "compose", "discriminant_analysis", "feature_extraction"),
        *("feature_selection", "frozen", "impute", "linear_model", "model_selection"),
        *("neural_network", "pipeline", "preprocessing", "svm"),
    )
)
"""The parts of scikit-learn that classifiers of tables are made of."""

_MOST_JOBS = 64


def unsafe_in(model: object) -> str | None:
    """Return what in a model could open files or start processes, if anything."""
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
            f"the {name} has input={options['input']!r}, so it opens the files that "
            f"cells of the data name"
        )
    if options.get("memory") is not None:
        return f"the {name} has a `memory`, which writes files"
    jobs = options.get("n_jobs")
    if jobs is not None and not (isinstance(jobs, int) and abs(jobs) <= _MOST_JOBS):
        return f"the {name} has n_jobs={jobs!r}, more than {_MOST_JOBS}"
    return None
