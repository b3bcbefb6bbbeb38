"""Classifiers of scikit-learn that compare another one's answer with a threshold."""

import math
from dataclasses import dataclass
from typing import Any

from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import (
    FixedThresholdClassifier,
    TunedThresholdClassifierCV,
)
from sklearn.pipeline import Pipeline

from nn2rules.errors import OptionError, UnsupportedModelError
from nn2rules.models.sklearn.refusals import has_probability


@dataclass(frozen=True)
class Decided:
    """A classifier, and how its answer is decided, if in a way of its own.

    Attributes
    ----------
    model : classifier, or Pipeline that ends in one
    wrapper : classifier, optional
        What asks the model and compares with a threshold.
    """

    model: Any
    wrapper: Any = None

    def threshold_of(self, final: Any, said: float) -> float:
        """Return the threshold: class 1 iff the probability is larger.

        The wrapper takes its class from the threshold on, so the float before it is
        what is to be exceeded; of class 0 it is the other way round.
        """
        if self.wrapper is None:
            return said
        name = type(self.wrapper).__name__
        if said != 0.5:
            raise OptionError(
                f"a {name} has a threshold of its own; leave out `threshold`"
            )
        limit, is_first = _limit(self.wrapper), _is_first(self.wrapper)
        methods = self.wrapper._get_response_method()
        methods = [methods] if isinstance(methods, str) else methods
        asked = next(method for method in methods if hasattr(final, method))
        if asked == "decision_function" and limit in (None, 0):
            return 0.5 if is_first else math.nextafter(0.5, 0)
        if asked == "decision_function" or not has_probability(final):
            raise UnsupportedModelError(
                f"the {name} compares what is no sigmoid of a score with {limit}; "
                f"nn2rules reads thresholds of probabilities, as of LogisticRegression "
                f"or MLPClassifier with response_method='predict_proba'"
            )
        limit = 0.5 if limit is None else float(limit)
        if not 0 < limit < 1:
            raise UnsupportedModelError(
                f"the {name} has the threshold {limit:g}, so it gives one answer to "
                f"all rows; expected one between 0 and 1"
            )
        return 1 - limit if is_first else math.nextafter(limit, 0)


def decided_of(model: Any) -> Decided:
    """Return a model without what is wrapped around its last step."""
    if isinstance(model, Pipeline):
        inner = decided_of(model.steps[-1][1])
        steps = [*model.steps[:-1], (model.steps[-1][0], inner.model)]
        return Decided(Pipeline(steps), inner.wrapper)
    if isinstance(model, FrozenEstimator):
        return decided_of(model.estimator)
    if isinstance(model, FixedThresholdClassifier | TunedThresholdClassifierCV):
        inner = decided_of(getattr(model, "estimator_", model.estimator))
        if inner.wrapper is not None:
            raise UnsupportedModelError(
                f"a {type(model).__name__} of a {type(inner.wrapper).__name__} has two "
                f"thresholds; extract the rules of the outer one's estimator"
            )
        return Decided(inner.model, model)
    return Decided(model)


def _limit(wrapper: Any) -> float | None:
    """Return the threshold that a wrapper was given or found; None for the usual."""
    found = getattr(wrapper, "best_threshold_", None)
    limit = wrapper.threshold if found is None else found
    return None if isinstance(limit, str) else float(limit)


def _is_first(wrapper: Any) -> bool:
    """Tell whether the threshold is one of the first class, instead of the second."""
    if isinstance(wrapper, TunedThresholdClassifierCV):
        label = wrapper._curve_scorer._get_pos_label()
    else:
        label = wrapper.pos_label
    return label is not None and bool(wrapper.classes_[0] == label)
