"""An independent check: do rules answer as the network does?

This module is for whoever must trust the answer. Of a network it takes the stored
numbers, of a rule list the stored conditions, and works both answers out again in
plain code of its own. It shares no code with the extraction, so no mistake made there
can hide here. In the order of reading:

1. `check` compares the two on every input, or on a sample, and reports;
2. `_Rules` writes the rules in the network's codes, and applies them;
3. `_classify` answers as the network does: in float64 where no tie is near, and
   otherwise in fractions (`_exact_class`).
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_UP, Context, Decimal, localcontext
from fractions import Fraction
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from nn2rules.domain import Rows, Value, text_of
from nn2rules.errors import DomainError, OptionError
from nn2rules.layer import Layer
from nn2rules.network import Network
from nn2rules.rules import RuleList

_Floats = NDArray[np.float64]
_Codes = NDArray[np.int64]

_CHUNK = 1 << 16  # inputs compared at a time
_SHOWN = 5  # counterexamples kept
_LEAST = 32  # inputs drawn from the box of a rule, at least
_NONE = -1  # no rule answers; or no class is certain


@dataclass(frozen=True, slots=True)
class Counterexample:
    """An input on which the two differ, and what each says.

    `rule` is the position, from 0, of the rule that answers; None for the default.
    """

    row: dict[str, Value]
    network: Value
    rules: Value
    rule: int | None

    def __str__(self) -> str:
        row = ", ".join(f"{name} = {value!r}" for name, value in self.row.items())
        who = "the default" if self.rule is None else f"rule {self.rule + 1:,}"
        return f"{row}: the network says {self.network!r}, {who} says {self.rules!r}"


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What was compared, and what came of it; as text, a report in plain English.

    Attributes
    ----------
    method : {"every input", "sample"}
    scope : {"domain", "support"}
        What the rules claim to decide.
    checked, different : int
        Answers compared, and those that differ. A sample may hold an input twice.
    undecided : int
        Inputs too near to a tie for the arithmetic of this module; not compared.
    left_to_default : int
        Inputs of which rules of scope "support" claim nothing; not compared.
    unreached : int
        Rules that answered none of the inputs: of these nothing was compared.
    admitted : int
        Inputs on which the rules differ by their own certificate.
    counterexamples : tuple of Counterexample
        The first few differences.
    compared, confidence : str
        Which inputs were compared, and what follows for the others.
    """

    method: Literal["every input", "sample"]
    scope: Literal["domain", "support"]
    checked: int
    different: int
    undecided: int
    left_to_default: int
    unreached: int
    admitted: int
    counterexamples: tuple[Counterexample, ...]
    compared: str
    confidence: str

    @property
    def ok(self) -> bool:
        """Whether answers were compared, none differs, and none was undecided."""
        return self.checked > 0 and self.different == 0 and self.undecided == 0

    def _verdict(self) -> str:
        if self.different:
            return "DIFFERENT: the rules do not answer as the network does."
        if not self.ok:
            return "NOT SHOWN: no difference was found, but too little was compared."
        if self.method == "sample":
            return "NO DIFFERENCE FOUND, in a sample of the inputs."
        where = "on every input" if self.scope == "domain" else "where a rule decides"
        return f"EQUAL: the rules answer as the network does {where}."

    def __str__(self) -> str:
        remarks = (
            (self.undecided, "Not compared, too close to a tie to tell: {:,}."),
            (
                self.left_to_default,
                "Not compared, left to the default: {:,}. "
                "Rules of scope 'support' claim nothing about these.",
            ),
            (self.unreached, "Rules that no compared input reached: {:,}."),
            (
                self.admitted,
                "The rules say themselves that they are approximate, and differ from "
                "the network on {:,} inputs.",
            ),
        )
        lines = [
            self._verdict(),
            f"Method: {self.method}. Compared: {self.compared}.",
            f"Answers compared: {self.checked:,}. Different: {self.different:,}.",
            *(text.format(number) for number, text in remarks if number),
            *((self.confidence,) if self.confidence else ()),
            *(f"  {example}" for example in self.counterexamples),
        ]
        return "\n".join(lines)


def check(
    network: Network,
    rules: RuleList,
    *,
    rows: Rows = None,
    samples: int = 100_000,
    seed: int = 0,
    largest: int = 1 << 24,
) -> CheckReport:
    """Compare the answers of a rule list with those of a network.

    Parameters
    ----------
    network : Network
    rules : RuleList
        Over the same features, values and classes, in whatever order.
    rows : frame, list of dicts, or array of the network's codes, optional
        Rows that must be answered alike, also where the default answers.
    samples : int
        How many inputs to draw where there are too many to compare them all.
    seed : int
        The same seed draws the same inputs.
    largest : int
        A domain of at most so many inputs is compared on every one of them.

    Returns
    -------
    CheckReport
        Its `ok` is the verdict.

    Raises
    ------
    DomainError
        If the two are not over the same features, values and classes.

    Notes
    -----
    Rules of scope "support" claim that a rule is right wherever it answers, and that
    `rows` are answered right; what else falls to the default is counted, not compared.
    In a rule *set* every rule that holds must be right, not only the first.

    Examples
    --------
    >>> import nn2rules
    >>> network = nn2rules.load(nn2rules.datasets.network_file("tomato"))
    >>> print(check(network, nn2rules.extract(network)))
    EQUAL: the rules answer as the network does on every input.
    Method: every input. Compared: all 6 inputs of the domain.
    Answers compared: 6. Different: 0.
    """
    if samples < 1:
        raise OptionError(f"samples: {samples}, expected at least 1")
    own, tally = _Rules(network, rules), _Tally(network, rules)
    given = None if rows is None else network.domain.encode(rows)
    inputs, claims_all = network.domain.n_inputs, rules.scope == "domain"
    if every := inputs <= largest:
        compared, confidence = f"all {inputs:,} inputs of the domain", ""
        for codes in network.domain.inputs(chunk=_CHUNK):
            tally.add(own, codes, default_counts=claims_all)
    else:
        random, each = np.random.default_rng(seed), own.draws_each(samples)
        compared = (
            f"{samples:,} inputs drawn at random from the {inputs:,} of the domain, "
            f"and {each:,} from the box of each rule"
        )
        confidence = _confidence(samples, rules.scope)
        for codes in own.draw(samples, np.random.default_rng(seed)):
            tally.add(own, codes, default_counts=claims_all)
    return tally
