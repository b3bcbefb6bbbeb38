"""On how many inputs of the whole domain rules answer as a model does.

What is said is as strong as can be, and says how strong it is:

1. *counted*, where every input can be asked;
2. *proved*, or *bounded* on both sides, where the certificate of the rules is that of
   this very network, and no input of a sample contradicts it;
3. *sampled*, an estimate from random inputs, elsewhere.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from nn2rules.adapters import read_network
from nn2rules.boxes import Condition, boxes_of
from nn2rules.certificate import network_digest
from nn2rules.domain import Domain, Rows
from nn2rules.engine import build_table
from nn2rules.engine.table import MOST_CLASSES
from nn2rules.errors import Nn2RulesError
from nn2rules.evaluation.answers import (
    Codes,
    model_answers,
    network_positions,
    rows_like,
    translation,
)
from nn2rules.extraction import COVERED_INPUTS
from nn2rules.matching import NO_RULE
from nn2rules.network import Network
from nn2rules.rules import RuleList
from nn2rules.text import count, share

_CONFIDENCE = 0.95
_QUANTILE = 1.959963984540054  # of the normal distribution, for 95 % on two sides


@dataclass(frozen=True, slots=True)
class DomainFidelity:
    """The share of inputs of the domain on which rules answer as the model does.

    Attributes
    ----------
    low, high : float
        The share lies between them; where it is known exactly they are equal.
    how : {"counted", "proved", "bounded", "sampled"}
        Every input was asked; or a certificate proves the number, or two bounds on it;
        or random inputs were asked, and the ends are Wilson's interval.
    same : int or None
        On how many inputs the answers are the same; None if only bounds are known. Of
        a sample, the number among those drawn.
    inputs : int
        Of how many: all inputs that can occur, or those drawn.
    confidence : float
        1 for what is certain, 0.95 for a sample.
    """

    low: float
    high: float
    how: Literal["counted", "proved", "bounded", "sampled"]
    same: int | None
    inputs: int
    confidence: float = 1.0

    def __str__(self) -> str:
        if self.how == "sampled":
            drawn = count(self.inputs, "random input")
            return f"{self._range()} with 95 % confidence, from {drawn}"
        if self.same is None:
            return f"{self._range()} of {count(self.inputs, 'input')} ({self.how})"
        exact = share(self.same, self.inputs)
        return f"{exact} of {count(self.inputs, 'input')} ({self.how})"

    def _range(self) -> str:
        """Return both ends in percent, rounded outwards, but never to 100 %."""
        floor, ceiling = math.floor(1000 * self.low), math.ceil(1000 * self.high)
        high = "> 99.9 %" if self.high < 1 and ceiling == 1000 else share(ceiling, 1000)
        return f"{share(floor, 1000)} to {high}"


def wilson(same: int, inputs: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval for a share, of which a sample shows `same`.

    Examples
    --------
    >>> low, high = wilson(8, 10)
    >>> round(low, 4), round(high, 4)
    (0.4902, 0.9433)
    """
    if inputs == 0:
        return 0.0, 1.0
    part, square = same / inputs, _QUANTILE**2 / inputs
    centre, scale = part + square / 2, 1 + square
    spread = math.sqrt(part * (1 - part) * square + square**2 / 4)
    low = 0.0 if same == 0 else (centre - spread) / scale
    high = 1.0 if same == inputs else (centre + spread) / scale
    return low, high


def domain_fidelity(
    rules: RuleList, model: Any, rows: Rows, *, samples: int, seed: int
) -> DomainFidelity | None:
    """Measure the rules on the whole domain, as surely as can be.

    Parameters
    ----------
    rules : RuleList
    model : Network, or anything with predict
        A model that an adapter reads is compared as the network it is.
    rows : frame, list of dicts, or array of codes
        Rows of the kind that the model takes.
    samples : int
        How many inputs to draw where there are too many to ask them all. With 0 none
        are.
    seed : int

    Returns
    -------
    DomainFidelity, or None if nothing is known: nothing may be drawn, or inputs of the
    domain cannot be given to the model.
    """
    random = np.random.default_rng(seed)
    network = _network_of(model)
    if network is None:
        return _by_asking(rules, model, rows, samples, random)
    translate = translation(network, rules)
    if translate is None:
        return None
    positions = network_positions(network, rules)
    domain, n_classes = network.domain, len(network.classes)
    if domain.n_inputs <= COVERED_INPUTS and n_classes <= MOST_CLASSES:
        return _counted(rules, _every_answer(network, translate, positions))
    drawn = _draw(domain, samples, random)
    answers = positions[network.predict_codes(drawn)]
    sample = _compare(rules, translate(drawn), answers)
    return _certified(rules, network, sample) or _sampled(sample)


def _network_of(model: Any) -> Network | None:
    """Return the network that a model is, or None where it cannot be read as one."""
    try:
        return read_network(model)
    except Nn2RulesError:
        return None


# Comparing


@dataclass(frozen=True, slots=True)
class _Compared:
    """Inputs that were compared, of those that can occur.

    `different` holds those answered differently; `misjudged` tells whether a rule, and
    not only the default, did so.
    """

    inputs: int
    different: Codes
    misjudged: bool

    @property
    def same(self) -> int:
        return self.inputs - len(self.different)


def _compare(rules: RuleList, codes: Codes, answers: Codes) -> _Compared:
    """Compare the answers of the rules with the model's `answers`."""
    possible = _possible(rules, codes)
    codes, answers = codes[possible], answers[possible]
    fired = rules.match(codes)
    default = rules.classes.index(rules.default)
    wrong = np.append(rules.answers, default)[fired] != answers
    misjudged = bool((fired[wrong] != NO_RULE).any())
    return _Compared(len(codes), codes[wrong], misjudged)


def _possible(rules: RuleList, codes: Codes) -> NDArray[np.bool_]:
    """Tell which inputs can occur, as far as the certificate lists those that cannot.

    Where it only says that they were given as a function, all can.
    """
    possible = np.ones(len(codes), dtype=np.bool_)
    listed = rules.certificate.get("impossible")
    if isinstance(listed, list):
        conditions = [[Condition(n, tuple(v)) for n, v in b.items()] for b in listed]
        for box in boxes_of(rules.domain, conditions):
            possible &= ~box[codes + rules.domain.offsets[:-1]].all(axis=1)
    return possible


def _every_answer(
    network: Network, translate: Callable[[Codes], Codes], positions: Codes
) -> Iterable[tuple[Codes, Codes]]:
    """Yield every input, in the codes of the rules, and the network's answer."""
    classes, start = build_table(network).classes, 0
    for codes in network.domain.inputs():
        stop = start + len(codes)
        yield translate(codes), positions[classes[start:stop]]
        start = stop


def _by_asking(
    rules: RuleList,
    model: Any,
    rows: Rows,
    samples: int,
    random: np.random.Generator,
) -> DomainFidelity | None:
    """Ask a model that is no network, about every input or about random ones."""
    domain = rules.domain
    if samples == 0:
        return None
    every = domain.n_inputs <= samples
    codes = np.concatenate([*domain.inputs()]) if every else None
    if codes is None:
        codes = _draw(domain, samples, random)
    inputs = rows_like(rows, domain, codes)
    if inputs is None:
        return None
    answers = model_answers(model, rules, inputs, len(codes))
    if every:
        return _counted(rules, [(codes, answers)])
    return _sampled(_compare(rules, codes, answers))


def _draw(domain: Domain, samples: int, random: np.random.Generator) -> Codes:
    return random.integers(0, domain.sizes, (samples, len(domain.sizes)))


# What follows


def _counted(
    rules: RuleList, answered: Iterable[tuple[Codes, Codes]]
) -> DomainFidelity | None:
    parts = [_compare(rules, codes, answers) for codes, answers in answered]
    inputs, same = sum(p.inputs for p in parts), sum(p.same for p in parts)
    if inputs == 0:
        return None
    return DomainFidelity(same / inputs, same / inputs, "counted", same, inputs)


def _sampled(sample: _Compared) -> DomainFidelity | None:
    if sample.inputs == 0:
        return None
    low, high = wilson(sample.same, sample.inputs)
    same, inputs = sample.same, sample.inputs
    return DomainFidelity(low, high, "sampled", same, inputs, _CONFIDENCE)


def _certified(
    rules: RuleList, network: Network, sample: _Compared
) -> DomainFidelity | None:
    """Return what the certificate proves; None if nothing, or if the sample denies it.

    Rules keep their certificate when some of them are taken out, so it may claim too
    much: hence the sample.
    """
    certificate, inputs = rules.certificate, rules.domain.n_inputs
    inputs = int(certificate.get("possible", inputs))
    if inputs < 1 or certificate.get("network") != network_digest(network):
        return None
    if rules.scope == "support":
        decided = [facts.inputs for facts in rules.facts]
        known = sum(number for number in decided if number is not None)
        if None in decided or "undecided" not in certificate or sample.misjudged:
            return None
        if known < inputs:
            return DomainFidelity(_part(known, inputs), 1.0, "bounded", None, inputs)
        return DomainFidelity(1.0, 1.0, "proved", inputs, inputs)
    # The search proves every rule, and has nothing to count.
    proved = 0 if certificate.get("engine") == "search" else None
    different = certificate.get("different", proved)
    found = len(np.unique(sample.different, axis=0))
    if different is None or certificate.get("complete") is False or found > different:
        return None
    same = inputs - int(different)
    part = _part(same, inputs)
    return DomainFidelity(part, part, "proved", same, inputs)


def _part(same: int, inputs: int) -> float:
    """Return a share, below 1 unless it is 1, however many inputs there are."""
    part = same / inputs
    return math.nextafter(1.0, 0.0) if part == 1 and same < inputs else part
