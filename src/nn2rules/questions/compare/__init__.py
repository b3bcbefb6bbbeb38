"""What two models, or a model and rules, or two rule lists decide differently.

They are brought to one domain first (`meeting`), and then compared on all of it: input
by input where these fit in a table (`by_table`), and box by box elsewhere
(`by_search`). What differs comes as rules, each from an old class to a new one.
"""

from nn2rules.questions.compare.compare import compare
from nn2rules.questions.compare.result import Change, Comparison, Difference

__all__ = ["Change", "Comparison", "Difference", "compare"]
