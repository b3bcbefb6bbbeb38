"""Compile the kernels that most tests need: each engine is used once.

python tests/kernels.py
"""

from nn2rules import comparing, cover, datasets, extract, load, verifying
from nn2rules.engine import Meter
from nn2rules.explaining.judges import compile_judge


def compile_kernels() -> None:
    """Ask a small question of every kind."""
    extract(load(datasets.network_file("car")), form="set")
    cover.compiling.compile_search(everywhere=True)
    compile_judge(by_search=True)
    compile_judge(by_search=False)
    comparing.by_search.compile_search()
    verifying.searching.compile_search(Meter())


if __name__ == "__main__":
    compile_kernels()
