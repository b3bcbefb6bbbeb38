"""Interpretable classifiers on the same tables, the same folds and the same measures.

    make peers                       # or: .venv/bin/python benchmarks/peers
    .venv/bin/python benchmarks/peers --tables heart,pima --peers tree,rules

Each peer runs in an environment of its own, in `build/peers`. Every fold is kept as a
line of `results.jsonl`, so that a run continues where the last one stopped.
"""
