"""Which models are compared, where they run, and what counts as their size."""

from dataclasses import dataclass

ENVIRONMENTS = {
    "ours": (),
    "fasterrisk": ("fasterrisk==0.1.10",),
    "gosdt": ("gosdt==1.0.4",),
    "imodels": ("imodels==3.0.4", "six==1.17.0"),
    "interpret": ("interpret-core==0.7.8", "scikit-learn==1.9.1"),
    "optbinning": ("optbinning==1.0.0",),
    "wittgenstein": ("wittgenstein==0.3.5", "scikit-learn==1.9.1"),
}
"""Packages of each environment; `ours` is the one that runs the benchmark."""


@dataclass(frozen=True)
class Peer:
    """A model: its function is the one of `models.py` or `summaries.py` of that name.

    Attributes
    ----------
    function : str
        The function that fits it; what follows a colon is handed on to it.
    title : str
    size : str
        What `size` counts.
    environment : str
    more_classes : bool
        Whether it can tell more than two classes apart.
    """

    function: str
    title: str
    size: str
    environment: str = "ours"
    more_classes: bool = True


PEERS = {
    "majority": Peer("majority", "majority class", "nothing"),
    "logistic": Peer("logistic", "logistic regression", "coefficients"),
    "tree": Peer("tree", "decision tree, leaves tuned", "leaves"),
    "tree-30": Peer("tree:30", "decision tree, at most 30 leaves", "leaves"),
    "tree-10": Peer("tree:10", "decision tree, at most 10 leaves", "leaves"),
    "mlp": Peer("mlp", "default MLP", "weights"),
    "boosting": Peer("boosting", "gradient boosting", "leaves"),
    "ebm": Peer("ebm", "EBM (interpret)", "bins", "interpret"),
    "figs": Peer("figs:12", "FIGS (imodels), 12 rules", "splits", "imodels"),
    "figs-30": Peer("figs:30", "FIGS (imodels), 30 rules", "splits", "imodels"),
    "rulefit": Peer("rulefit", "RuleFit (imodels)", "terms", "imodels", False),
    "ripper": Peer("ripper", "RIPPER (wittgenstein)", "rules", "wittgenstein", False),
    "fasterrisk": Peer("fasterrisk:10", "FasterRisk", "terms", "fasterrisk", False),
    "optbinning": Peer(
        "optbinning", "scorecard of optbinning", "lines", "optbinning", False
    ),
    "gosdt": Peer("gosdt", "GOSDT", "leaves", "gosdt"),
    "rules": Peer("readable:rules", "**ReadableClassifier, rules**", "rules"),
    "scorecard": Peer("readable:scorecard", "**ReadableClassifier, card**", "lines"),
    "auto": Peer("readable:auto", "**ReadableClassifier, auto**", "lines or rules"),
}
"""Classifiers; those with bold titles are of nn2rules."""

SUMMARIES = {
    "surrogate-tree": Peer("tree", "decision tree", "leaves"),
    "surrogate-drawn": Peer(
        "drawn_tree", "decision tree, also on drawn rows", "leaves"
    ),
    "surrogate-logistic": Peer("logistic", "logistic regression", "coefficients"),
    "surrogate-rules": Peer("readable", "ReadableClassifier", "rules"),
    "summary": Peer("summary", "**nn2rules.summarize**", "lines"),
}
"""Models that resemble a default MLP."""
