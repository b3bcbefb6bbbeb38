"""HOW GOOD ARE RULES: against the model, the true labels, and the whole domain.

::

    measure    evaluate(): rules, a model and rows in, numbers out
    answers    what the model answers, as positions of the rules' classes
    on_domain  how many inputs of the domain are answered alike: counted or proved,
               bounded, or estimated
    claims     what a certificate proves, if it is of these rules and this network
    fidelity   that number, and how it is known
    report     the numbers, and the same as JSON and data frame
    table      the numbers as text
"""

from nn2rules.evaluation.fidelity import DomainFidelity
from nn2rules.evaluation.measure import evaluate
from nn2rules.evaluation.report import ClassEvaluation, Evaluation

__all__ = ["ClassEvaluation", "DomainFidelity", "Evaluation", "evaluate"]
