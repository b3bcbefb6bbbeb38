"""Compile the kernels that most tests need: each engine is used once.

python tests/kernels.py
"""

from nn2rules import datasets, extract, load
from nn2rules.engine import Meter, compile_for
from nn2rules.extraction.from_search.by_search import compile_search


def compile_kernels() -> None:
    """Ask a small question of every kind."""
    extract(load(datasets.network_file("car")), form="set")
    compile_search(everywhere=True)
    compile_for(Meter(), "table", "search", "pairs", "halves")


if __name__ == "__main__":
    compile_kernels()
