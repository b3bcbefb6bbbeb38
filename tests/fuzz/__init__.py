"""Random questions against a judge in exact arithmetic: ``make fuzz MINUTES=10``.

Each kind of question is a function in `KINDS`. It takes a random generator, calls
nn2rules, compares the result with the judge, and returns how many results it compared.
A wrong result raises an `AssertionError` whose text is code that reproduces it::

    judge      the class of every input, in exact arithmetic
    networks   random networks, with ordinary numbers and with every magnitude
    questions  questions to the engines: classes, boxes, counts, ranges
    rules      lists, sets and supports
    edits      edited files of rules
    words      printed conditions
    missing    spellings of missing values, through pipelines
    common     two networks on the part that their domains share
    endings    models whose single output may mean several things
    numbers    ranges of numbers: questions and rules
    proofs     proofs of rules, and forged ones
    cards      scorecards, their pages, and what `check` accepts
    lines      where scores bend and classes tie along such a range
    explanations  reasons and counterfactuals of single rows
    bulk       many Parquet and CSV files, and file names
    growing    small hostile files, read within limits of memory and time

`interrupting` presses Ctrl-C at any moment.
"""

from collections.abc import Callable

from numpy.random import Generator

from fuzz.bulk import name_files, predict_parquet
from fuzz.cards import check_cards, make_cards
from fuzz.common import compare_common
from fuzz.edits import edit_certificates, edit_rules
from fuzz.endings import read_endings
from fuzz.explanations import explain_numbers, explain_rows
from fuzz.growing import read_growing
from fuzz.missing import read_gaps
from fuzz.numbers import (
    ask_lines,
    ask_numbers,
    ask_score_ranges,
    ask_uncovered,
    make_number_rules,
)
from fuzz.proofs import prove_rules
from fuzz.questions import ask_counts, ask_ranges, ask_search, ask_table
from fuzz.rules import make_rules, make_support
from fuzz.words import read_conditions
from interrupting import interrupts

KINDS: dict[str, Callable[[Generator], int]] = {
    "table": ask_table,
    "search": ask_search,
    "counts": ask_counts,
    "ranges": ask_ranges,
    "rules": make_rules,
    "support": make_support,
    "edited rules": edit_rules,
    "edited certificates": edit_certificates,
    "conditions": read_conditions,
    "endings": read_endings,
    "spellings of missing": read_gaps,
    "common domains": compare_common,
    "numbers": ask_numbers,
    "lines of numbers": ask_lines,
    "numbers' scores": ask_score_ranges,
    "uncovered numbers": ask_uncovered,
    "rules of numbers": make_number_rules,
    "proofs": prove_rules,
    "scorecards": make_cards,
    "checked scorecards": check_cards,
    "explanations": explain_rows,
    "explained numbers": explain_numbers,
    "Parquet in bulk": predict_parquet,
    "file names": name_files,
    "small files that grow": read_growing,
    "interrupts": interrupts,
}
"""Every kind of question, by the name that ``--only`` takes."""
