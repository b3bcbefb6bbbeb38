"""Compile the kernels that most tests need: each engine is used once.

python tests/kernels.py
"""

from nn2rules import datasets, extract, load
from nn2rules.engine import Meter
from nn2rules.extraction.extract import compile_search
from nn2rules.questions import compare, verify
from nn2rules.questions.explain.judges import compile_judge


def compile_kernels() -> None:
    """Ask a small question of every kind."""
    extract(load(datasets.network_file("car")), form="set")
    compile_search(everywhere=True)
    compile_judge(by_search=True)
    compile_judge(by_search=False)
    compare.by_search.compile_search()
    verify.searching.compile_search(Meter())


if __name__ == "__main__":
    compile_kernels()
