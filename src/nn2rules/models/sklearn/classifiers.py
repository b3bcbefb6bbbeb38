"""Which scikit-learn classifiers are read, and what the thresholds of some mean."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import ensemble, multiclass, multioutput
from sklearn.base import is_regressor
from sklearn.calibration import CalibratedClassifierCV
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.linear_model._base import LinearClassifierMixin
from sklearn.model_selection import (
    FixedThresholdClassifier,
    TunedThresholdClassifierCV,
)
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC
from sklearn.tree import BaseDecisionTree
from sklearn.utils.validation import check_is_fitted

from nn2rules.errors import OptionError, UnsupportedModelError
from nn2rules.models.source import as_array
from nn2rules.space import value_of

_FORESTS = (
    ensemble.ExtraTreesClassifier,
    ensemble.GradientBoostingClassifier,
    ensemble.HistGradientBoostingClassifier,
    ensemble.RandomForestClassifier,
)
_JOINED = (
    ensemble.AdaBoostClassifier,
    ensemble.BaggingClassifier,
    ensemble.StackingClassifier,
    ensemble.VotingClassifier,
    multiclass.OneVsOneClassifier,
    multiclass.OneVsRestClassifier,
    multiclass.OutputCodeClassifier,
    multioutput.ClassifierChain,
    multioutput.MultiOutputClassifier,
)


def refuse_unfitted(model: object) -> None:
    """Refuse an estimator that was never fitted."""
    try:
        check_is_fitted(model)
    except NotFittedError:
        raise UnsupportedModelError(
            f"the {type(model).__name__} is not fitted; call its fit method first"
        ) from None
    except TypeError:  # not an estimator that can be fitted: refused by its type
        return


def refuse_kind(final: Any) -> None:
    """Refuse what is not a supported classifier, each with its reason."""
    name = type(final).__name__
    if is_regressor(final):
        raise UnsupportedModelError(
            f"{name} predicts a number. nn2rules reads classifiers, such as "
            f"MLPClassifier."
        )
    _refuse_trees(final)
    _refuse_joined(final)
    if _is_multi_label(final):
        raise UnsupportedModelError(
            f"this {name} is multi-label. Train one classifier for each label."
        )
    if len(getattr(final, "classes_", ())) == 1:
        label = value_of(final.classes_[0])
        raise UnsupportedModelError(
            f"the {name} has only one class, {label!r}; train it on rows of at least "
            f"two classes"
        )
    if isinstance(final, MLPClassifier):
        return
    is_linear = isinstance(final, LinearClassifierMixin) and hasattr(final, "coef_")
    if isinstance(final, SVC) and final.kernel == "linear":
        is_linear = len(final.classes_) == 2
        if not is_linear:
            raise UnsupportedModelError(
                "an SVC with more than two classes votes between pairs of them, which "
                "a network cannot do; train a LinearSVC instead"
            )
    if not is_linear:
        raise UnsupportedModelError(
            f"{name} is not supported. From scikit-learn, nn2rules reads "
            f"MLPClassifier and linear classifiers, alone or at the end of a Pipeline."
        )


def _refuse_trees(final: Any) -> None:
    """Refuse trees, and name the tools for them."""
    name = type(final).__name__
    if isinstance(final, BaseDecisionTree):
        raise UnsupportedModelError(
            f"{name} is not a neural network. Its paths already are rules; print them "
            f"with sklearn.tree.export_text."
        )
    if isinstance(final, _FORESTS):
        raise UnsupportedModelError(
            f"{name} is an ensemble of trees, not a neural network. Extract rules with "
            f"a package for trees, such as te2rules."
        )


def _refuse_joined(final: Any) -> None:
    """Refuse ensembles of models."""
    name = type(final).__name__
    if isinstance(final, CalibratedClassifierCV):
        raise UnsupportedModelError(
            "CalibratedClassifierCV averages calibrated classifiers, which no single "
            "network does. Extract the rules of the classifier inside it: "
            "model.calibrated_classifiers_[0].estimator."
        )
    if isinstance(final, _JOINED) or hasattr(final, "estimators_"):
        raise UnsupportedModelError(
            f"{name} combines the predictions of several models, which no single "
            f"network does. Extract the rules of each of them, such as "
            f"model.estimators_[0]."
        )


def refuse_threshold(final: Any, threshold: float) -> None:
    """Refuse a threshold for a classifier without a sigmoid probability."""
    if threshold == 0.5:
        return
    if not has_probability(final):
        raise OptionError(
            f"{type(final).__name__} has no probability to compare with a threshold; "
            f"leave out `threshold`"
        )
    if len(final.classes_) != 2:
        raise OptionError(
            "a threshold needs a model with two classes; leave out `threshold`"
        )


def has_probability(final: Any) -> bool:
    """Tell whether a classifier's probability is the sigmoid of its score."""
    with_sigmoid = (LinearDiscriminantAnalysis, LogisticRegression, MLPClassifier)
    is_known = isinstance(final, with_sigmoid) or hasattr(final, "network_")
    return is_known or (isinstance(final, SGDClassifier) and final.loss == "log_loss")


def refuse_weights(final: Any) -> None:
    """Refuse weights that are not finite, as training that diverges leaves them."""
    listed = [*final.coefs_, *final.intercepts_] if hasattr(final, "coefs_") else []
    if not listed:
        listed = [as_array(final.coef_), np.atleast_1d(final.intercept_)]
    for weights in listed:
        wrong = weights[~np.isfinite(weights)]
        if len(wrong):
            raise UnsupportedModelError(
                f"a weight of the {type(final).__name__} is {wrong[0]}: its training "
                f"diverged; train it again with scaled columns or a lower learning rate"
            )


def _is_multi_label(final: Any) -> bool:
    if isinstance(final, MLPClassifier):
        return bool(final.out_activation_ == "logistic" and final.n_outputs_ > 1)
    binarizer = getattr(final, "_label_binarizer", None)
    return "multilabel" in getattr(binarizer, "y_type_", "")


@dataclass(frozen=True)
class Unwrapped:
    """A classifier, without the wrapper that compares it with a threshold.

    Attributes
    ----------
    model : classifier, or Pipeline that ends in one
    wrapper : classifier, optional
        The estimator that compares the model's output with a threshold.
    """

    model: Any
    wrapper: Any = None

    def threshold_of(self, final: Any, user_threshold: float) -> float:
        """Return the threshold that the probability of class 1 must exceed.

        The wrapper includes the threshold itself, so this is the float before it; for
        class 0 it is the other way round.
        """
        if self.wrapper is None:
            return user_threshold
        name = type(self.wrapper).__name__
        if user_threshold != 0.5:
            raise OptionError(f"{name} has its own threshold; leave out `threshold`")
        limit, is_first = _limit(self.wrapper), _is_first(self.wrapper)
        methods = self.wrapper._get_response_method()
        methods = [methods] if isinstance(methods, str) else methods
        encoder = next(method for method in methods if hasattr(final, method))
        if encoder == "decision_function" and limit in (None, 0):
            return 0.5 if is_first else math.nextafter(0.5, 0)
        if encoder == "decision_function" or not has_probability(final):
            raise UnsupportedModelError(
                f"the {name} compares something other than a sigmoid probability with "
                f"{limit}; nn2rules reads thresholds on probabilities, such as those "
                f"of "
                f"LogisticRegression or MLPClassifier with "
                f"response_method='predict_proba'"
            )
        limit = 0.5 if limit is None else float(limit)
        if not 0 < limit < 1:
            raise UnsupportedModelError(
                f"the {name} has the threshold {limit:g}, so it predicts one class for "
                f"all rows; expected a threshold between 0 and 1"
            )
        return 1 - limit if is_first else math.nextafter(limit, 0)


def unwrapped(model: Any) -> Unwrapped:
    """Return a model without the wrapper around its last step."""
    if isinstance(model, Pipeline):
        inner = unwrapped(model.steps[-1][1])
        steps = [*model.steps[:-1], (model.steps[-1][0], inner.model)]
        return Unwrapped(Pipeline(steps), inner.wrapper)
    if isinstance(model, FrozenEstimator):
        return unwrapped(model.estimator)
    if isinstance(model, FixedThresholdClassifier | TunedThresholdClassifierCV):
        inner = unwrapped(getattr(model, "estimator_", model.estimator))
        if inner.wrapper is not None:
            raise UnsupportedModelError(
                f"{type(model).__name__} of a {type(inner.wrapper).__name__} has two "
                f"thresholds; extract the rules of the outer one's estimator"
            )
        return Unwrapped(inner.model, model)
    return Unwrapped(model)


def _limit(wrapper: Any) -> float | None:
    """Return the threshold of a wrapper; None for the default."""
    tuned = getattr(wrapper, "best_threshold_", None)
    limit = wrapper.threshold if tuned is None else tuned
    return None if isinstance(limit, str) else float(limit)


def _is_first(wrapper: Any) -> bool:
    """Tell whether the threshold applies to the first class, not the second."""
    if isinstance(wrapper, TunedThresholdClassifierCV):
        label = wrapper._curve_scorer._get_pos_label()
    else:
        label = wrapper.pos_label
    return label is not None and bool(wrapper.classes_[0] == label)
