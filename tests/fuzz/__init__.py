"""Random questions against a judge in exact arithmetic: ``make fuzz MINUTES=10``.

Every kind of question is one function in `KINDS`: it is given a random generator, asks
something of nn2rules, compares with the judge, and returns how many answers it
compared. A wrong answer is an `AssertionError` whose text is code that shows it::

    judge      the class of every input, in exact arithmetic
    networks   random networks, of ordinary numbers and of every magnitude
    questions  of the engines: classes, boxes, counts, ranges
    rules      lists, sets and supports
    edits      files of rules that someone edited
    words      printed conditions
    missing    spellings of missing, None and NaN and others, through pipelines
    common     two networks on what their domains have in common
    endings    models whose one output may mean several things
    numbers    ranges of numbers: questions and rules
    proofs     proofs of rules, and forgeries of them
    cards      scorecards, their pages, and what `check` accepts
    lines      where scores bend and classes tie along such a range
    explanations  reasons and changes of single rows
    bulk       Parquet and CSV files in bulk, and what files are called
    growing    small hostile files, read in little memory and time

Ctrl-C at any moment is in `interrupting`.
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
