"""The questions that validators ask about a model, each answered exactly.

`explain` finds reasons and counterfactuals for a prediction, `verify` proves or
refutes `claims`, `compare` finds where two models differ, `evaluate` measures rules on
rows, and `audit` summarises a model on one page. Only `audit` uses other questions:
`explain` and `verify`. May import any room below.
"""
