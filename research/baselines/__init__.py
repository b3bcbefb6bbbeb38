"""What rules of nn2rules are compared with: trees that only resemble the network.

`DecisionTree` learns from the labels of the data, `SimpleTrepan` from the network's
answers to the rows of the data; these are the baselines of the paper. `Trepan` is the
method that the second is named after: it also asks the network about inputs that it
draws itself, and its tests are of the kind *m of n*.

>>> import nn2rules
>>> from research.baselines import Trepan
>>> network = nn2rules.load(nn2rules.datasets.network_file("car"))
>>> car = nn2rules.datasets.load("car")
>>> tree = Trepan(network, max_nodes=3).fit(car.train.rows)
>>> print(tree.text())
1 of {safety = low, persons = 2}
  yes: unacc
  no: 2 of {buying ≤ med, maint ≤ med, lug_boot ≥ med}
    yes: acc
    no: 3 of {safety = med, buying = vhigh, maint = vhigh, buying ≥ high, maint ≠ med}
      yes: unacc
      no: acc

This package needs scikit-learn. `import nn2rules` does not load it.
"""

from nn2rules.errors import MissingExtraError

try:
    import sklearn  # noqa: F401
except ImportError:
    raise MissingExtraError("scikit-learn", "sklearn", "research.baselines") from None

from research.baselines.mofn import Literal, MofN
from research.baselines.trees import DecisionTree, SimpleTrepan
from research.baselines.trepan import Trepan

__all__ = ["DecisionTree", "Literal", "MofN", "SimpleTrepan", "Trepan"]
