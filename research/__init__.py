"""The laboratory: what the paper measured, measured again, and what rules compete with.

`experiments` repeats the paper's experiments (``python -m research -o results``, or
``make paper``); `baselines` holds the trees that they compare rules with. Both use the
library as its users do, may import all of it, and are imported by nothing in it. They
are part of the repository and not of the installed package.
"""
