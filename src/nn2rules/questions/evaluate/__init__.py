"""HOW GOOD ARE RULES: against the model, the true labels, and the whole domain.

::

    measure      evaluate(): rules, a model and rows in, numbers out
    answers      what the model predicts, as positions of the rules' classes
    on_domain    the fidelity on covered inputs of the domain: counted, proved, or
                 estimated
    claims       what a certificate proves, if it is of these rules and this network
    fidelity     that number, and how it is known
    row_figures  what is counted on covered rows, and on all rows with the default
    report       the numbers, and the same as JSON and data frame
    table        the numbers as text
"""

from nn2rules.questions.evaluate.evaluate import evaluate
from nn2rules.questions.evaluate.result import (
    ClassEvaluation,
    DomainFidelity,
    Evaluation,
    RowFigures,
)

__all__ = ["ClassEvaluation", "DomainFidelity", "Evaluation", "RowFigures", "evaluate"]
