"""The paper's algorithm, complete and exact, to be read beside the paper.

G. R. Lal and V. Mithal, *NN2Rules: Extracting Rule List from Neural Networks*, 2022.
One module for each of its parts::

    section 4.3   select_weights    which values push a sum above a threshold
    section 4.3   lin_rule          where a linear neuron is active, and where not
    section 4.4   neuron_rule       the same for a neuron whose inputs are neurons
    section 4.5   conjunction       joining the rules of several neurons
    section 4.2   forward           all neurons, layer by layer
    section 5.2   rules             the rule list: Full and Support
    section 3.2   neurons           what one neuron does, for people to read

Where the paper is silent: `integers` (no rounding), `behaviour` (its tuples), `order`
(of the features) and `merge` (the authors' last step).
"""

from nn2rules.extraction.paper.neurons import Neuron, NeuronRule, neurons
from nn2rules.extraction.paper.order import feature_order
from nn2rules.extraction.paper.rules import paper_rules, prefix_rules

__all__ = [
    "Neuron",
    "NeuronRule",
    "feature_order",
    "neurons",
    "paper_rules",
    "prefix_rules",
]
