"""Which scikit-learn models are read, and what is said of the others."""

from typing import Any

import numpy as np
from sklearn import ensemble, multiclass, multioutput
from sklearn.base import is_regressor
from sklearn.calibration import CalibratedClassifierCV
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.linear_model._base import LinearClassifierMixin
from sklearn.neural_network import MLPClassifier
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
