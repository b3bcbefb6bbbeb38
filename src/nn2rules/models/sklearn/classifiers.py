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
    """Refuse what was never fitted."""
    try:
        check_is_fitted(model)
    except NotFittedError:
        raise UnsupportedModelError(
            f"the {type(model).__name__} is not fitted; call its fit method first"
        ) from None
    except TypeError:  # not an estimator that can be fitted: refused by its type
        return


def refuse_kind(final: Any) -> None:
    """Refuse what is no network, each with its reason."""
    name = type(final).__name__
    if is_regressor(final):
        raise UnsupportedModelError(
            f"a {name} predicts a number; nn2rules reads classifiers, such as "
            f"MLPClassifier"
        )
    _refuse_trees(final)
    _refuse_joined(final)
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


def _refuse_trees(final: Any) -> None:
    """Refuse trees, and say what reads them."""
    name = type(final).__name__
    if isinstance(final, BaseDecisionTree):
        raise UnsupportedModelError(
            f"a {name} is a tree, and no network; its paths are rules already, which "
            f"sklearn.tree.export_text prints"
        )
    if isinstance(final, _FORESTS):
        raise UnsupportedModelError(
            f"a {name} is made of decision trees, and is no network; for rules of "
            f"trees there are other tools, such as te2rules, and "
            f"sklearn.tree.export_text for a single one"
        )


def _refuse_joined(final: Any) -> None:
    """Refuse models that are made of several."""
    name = type(final).__name__
    if isinstance(final, CalibratedClassifierCV):
        raise UnsupportedModelError(
            "a CalibratedClassifierCV averages classifiers whose answers it bends, so "
            "no single network answers as it does; extract the rules of the classifier "
            "inside it: model.calibrated_classifiers_[0].estimator"
        )
    if isinstance(final, _JOINED) or hasattr(final, "estimators_"):
        raise UnsupportedModelError(
            f"a {name} puts the answers of several models together, so no single "
            f"network answers as it does; extract the rules of each of them: "
            f"model.estimators_[0]"
        )


def refuse_threshold(final: Any, threshold: float) -> None:
    """Refuse a threshold of a classifier whose probability is no sigmoid of a score."""
    if threshold == 0.5:
        return
    if not has_probability(final):
        raise OptionError(
            f"a {type(final).__name__} has no probability to compare with a threshold; "
            f"leave out `threshold`"
        )
    if len(final.classes_) != 2:
        raise OptionError("a threshold is for two classes; leave out `threshold`")


def has_probability(final: Any) -> bool:
    """Tell whether a classifier's probability is the sigmoid of its score."""
    known = (LinearDiscriminantAnalysis, LogisticRegression, MLPClassifier)
    is_known = isinstance(final, known) or hasattr(final, "network_")
    return is_known or (isinstance(final, SGDClassifier) and final.loss == "log_loss")


def refuse_weights(final: Any) -> None:
    """Refuse weights that are no numbers, as training that runs away leaves them."""
    listed = [*final.coefs_, *final.intercepts_] if hasattr(final, "coefs_") else []
    if not listed:
        listed = [as_array(final.coef_), np.atleast_1d(final.intercept_)]
    for weights in listed:
        wrong = weights[~np.isfinite(weights)]
        if len(wrong):
            raise UnsupportedModelError(
                f"a weight of the {type(final).__name__} is {wrong[0]}, so it has no "
                f"answers; train it again, with scaled columns or a smaller step"
            )


def _is_multi_label(final: Any) -> bool:
    if isinstance(final, MLPClassifier):
        return bool(final.out_activation_ == "logistic" and final.n_outputs_ > 1)
    binarizer = getattr(final, "_label_binarizer", None)
    return "multilabel" in getattr(binarizer, "y_type_", "")


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
