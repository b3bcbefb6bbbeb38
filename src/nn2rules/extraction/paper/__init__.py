"""The paper's algorithm, complete and exact, in the structure of the paper.

G. R. Lal and V. Mithal, *NN2Rules: Extracting Rule List from Neural Networks*, 2022.
One module for each of its parts::

    section 4.3   select_weights    which values lift a sum above a threshold
    section 4.3   lin_rule          where a linear neuron is active, and where not
    section 4.4   neuron_rule       the same for a neuron whose inputs are neurons
    section 4.5   neuron_rule       joining the rules of several neurons
    section 4.2   forward           all neurons, layer by layer
    section 5.2   rules             the rule list: Full and Support
    section 3.2   neurons           what one neuron computes, as text

Not in the paper: `prefixes` (the order of the features, and the last step of the
authors' code) and `by_engine` (the same rules from a table or by search).
"""

from nn2rules.extraction.paper.by_engine import paper_form
from nn2rules.extraction.paper.neurons import Neuron, NeuronRule, neurons
from nn2rules.extraction.paper.prefixes import feature_order
from nn2rules.extraction.paper.rules import paper_rules, prefix_rules

__all__ = [
    "Neuron",
    "NeuronRule",
    "feature_order",
    "neurons",
    "paper_form",
    "paper_rules",
    "prefix_rules",
]
