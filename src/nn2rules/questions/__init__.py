"""The questions that validators ask about a model, each answered exactly.

`explain` says why a row gets its class and what would change it, `verify` proves or
refutes claims, `compare` finds where two models differ, `evaluate` measures rules on
rows, and `audit` puts the answers on one page. Imports `extraction` and everything
below.
"""
