"""Random questions against a judge in exact arithmetic: ``make fuzz MINUTES=10``.

Every kind of question is one function in `KINDS`: it is given a random generator, asks
something of nn2rules, compares with the judge, and returns how many answers it
compared. A wrong answer is an `AssertionError` whose text is code that shows it.
"""

from collections.abc import Callable

from numpy.random import Generator

from fuzz.questions import ask_counts, ask_ranges, ask_search, ask_table

KINDS: dict[str, Callable[[Generator], int]] = {
    "table": ask_table,
    "search": ask_search,
    "counts": ask_counts,
    "ranges": ask_ranges,
}
"""Every kind of question, by the name that ``--only`` takes."""
