"""Compare two models, a model and rules, or two rule lists on every input.

::

    compare ──▶ common_domain    the features and values that both know
           ├──▶ canonical_form   equal weights or rules, seen without a search
           ├──▶ by_table         input by input, where these fit in a table
           ├──▶ by_search        box by box elsewhere
           └──▶ by_regions       networks with few linear regions
                                 └──▶ result: `Comparison`, shown by page

`predictors` asks either one what it predicts; `differences` is what the engines return.
Imports no other question.
"""

from nn2rules.questions.compare.compare import compare
from nn2rules.questions.compare.result import Change, Comparison, Difference

__all__ = ["Change", "Comparison", "Difference", "compare"]
