"""LEARN: classifiers that are trained together with their rules, and summaries.

`readable_classifier` trains small networks with scorecards or short exact rule lists
(`training`); `rule_list_classifier` wraps another classifier and predicts with its
rules; `summarize` trains a small scorecard that imitates a model. `tabular` reads
frames and arrays. Needs scikit-learn. May import any room below.
"""

from nn2rules.errors import MissingExtraError

try:
    import sklearn  # noqa: F401
except ModuleNotFoundError:
    raise MissingExtraError("scikit-learn", "sklearn", "nn2rules.learn") from None

from nn2rules.learn.readable_classifier import ReadableClassifier
from nn2rules.learn.rule_list_classifier import RuleListClassifier
from nn2rules.learn.summarize import summarize

__all__ = ["ReadableClassifier", "RuleListClassifier", "summarize"]
