"""On how many inputs of the whole domain rules predict what a model does.

An input that no rule covers has no part in it, and is counted beside it. What is said
is as strong as can be, and says how strong it is:

1. *counted*, where every input can be asked;
2. *proved*, where the certificate is of these very rules and of this very network, and
   no input of a sample contradicts it;
3. *sampled*, an estimate from random inputs, elsewhere.

Inputs are left out as impossible only where such a certificate lists them, and the
number of these is told.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine import COVERED_INPUTS, MOST_CLASSES, Budget, table_of, uses_table
from nn2rules.errors import DomainError, Nn2RulesError, OptionError
from nn2rules.extraction import network_digest
from nn2rules.models import read_network
from nn2rules.network import Network
from nn2rules.questions.evaluate.predictions import (
    Codes,
    Translation,
    class_positions,
    model_answers,
    rows_like,
    translation,
)
from nn2rules.questions.evaluate.result import DomainFidelity
from nn2rules.rules import Certificate, RuleList, certificate_of
from nn2rules.space import (
    Condition,
    Rows,
    boxes_of,
    inputs_by_volume,
    inside_any,
    wilson,
)


@dataclass(frozen=True, slots=True)
class Compared:
    """Inputs that were compared, and how many were left out, as impossible.

    No rule covers `uncovered` of them; `different` holds those of the others whose
    predictions differ.
    """

    inputs: int
    impossible: int
    uncovered: int
    different: Codes

    @property
    def same(self) -> int:
        """On how many covered inputs the predictions are the same."""
        return self.inputs - self.uncovered - len(self.different)


@dataclass(frozen=True, slots=True)
class Claims:
    """Rules, and what is proved of them: the certificate, or nothing.

    `left_out` holds the boxes of inputs that cannot occur.
    """

    rules: RuleList
    certificate: Certificate
    left_out: NDArray[np.bool_]

    def possible(self, codes: Codes) -> NDArray[np.bool_]:
        """Tell which inputs can occur."""
        return ~inside_any(self.rules.domain, self.left_out, codes)

    def proved(self, sample: Compared) -> DomainFidelity | None:
        """Return what is proved; None if nothing, or if the sample denies it."""
        if not self.certificate.is_given:
            return None
        if self.rules.domain.has_ranges:
            return self._endless(sample)
        if not self._is_counted():
            return None
        inputs = self.rules.n_possible
        left_out = self.rules.domain.n_inputs - inputs
        if self.rules.scope == "support":
            covered = self._decided(sample)
            if covered is None:
                return None
            uncovered = inputs - covered
            return DomainFidelity(
                1.0, 1.0, "proved", covered, inputs, 1.0, left_out, uncovered
            )
        known = self._same(sample)
        if known is None:
            return None
        low = _part(known, inputs)
        return DomainFidelity(low, low, "proved", known, inputs, 1.0, left_out)

    def _endless(self, sample: Compared) -> DomainFidelity | None:
        """Return what is proved where inputs cannot be counted: of all, or nothing."""
        is_whole = self.rules.scope == "domain" and not len(self.left_out)
        is_proved = is_whole and self.certificate.is_complete
        if not is_proved or len(sample.different):
            return None
        return DomainFidelity(1.0, 1.0, "proved", None, None)

    def _decided(self, sample: Compared) -> int | None:
        """Return how many inputs rules decide, each of which is right."""
        decided = [facts.inputs or 0 for facts in self.rules.facts]
        return (
            None if len(sample.different) or not all(decided) else sum(decided) or None
        )

    def _same(self, sample: Compared) -> int | None:
        """Return on how many inputs rules for the whole domain are right."""
        # The search proves every rule, and has nothing to count.
        known, different = self.certificate, self.certificate.different
        if known.engine == "search" and not known.is_approximate:
            different = 0
        found = len(np.unique(sample.different, axis=0))
        if different is None or not known.is_complete:
            return None
        return None if found > different else self.rules.n_possible - different

    def _is_counted(self) -> bool:
        """Tell whether it is known how many inputs can occur, and whether any can."""
        known = self.certificate
        is_known = not known.has_impossible or known.possible is not None
        return is_known and self.rules.n_possible > 0


def claims_of(rules: RuleList, network: Network | None) -> Claims:
    """Return what is proved of rules about this network; nothing of another model."""
    known = certificate_of(rules)
    is_theirs = network is not None and known.rules == rules.digest
    if not is_theirs or known.network != network_digest(network):  # type: ignore[arg-type]
        known = Certificate()
    return Claims(rules, known, _impossible(rules, known))


def _impossible(rules: RuleList, known: Certificate) -> NDArray[np.bool_]:
    """Return the boxes of inputs that a certificate lists as impossible.

    None where it only says that they were given as a function: then all can occur.
    """
    listed = known.impossible
    if not isinstance(listed, list):
        listed = []
    try:
        _, boxes = boxes_of(
            rules.domain,
            [[Condition(n, tuple(v)) for n, v in box.items()] for box in listed],
        )
    except (AttributeError, TypeError, DomainError):
        raise OptionError(
            "the certificate of the rules lists impossible inputs that are not of "
            "their domain; expected a list of dicts from features to values"
        ) from None
    return boxes


def _part(same: int, inputs: int) -> float:
    """Return a share, below 1 unless it is 1, however many inputs there are."""
    part = same / inputs
    return math.nextafter(1.0, 0.0) if part == 1 and same < inputs else part


_CONFIDENCE = 0.95


def domain_fidelity(
    rules: RuleList, model: Any, rows: Rows, *, samples: int, seed: int
) -> DomainFidelity | None:
    """Measure the rules on the whole domain, as surely as can be.

    Parameters
    ----------
    rules : RuleList
    model : Network, or anything with predict
        A model that an adapter reads is compared as the network it is.
    rows : frame or list of dicts
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
    if isinstance(model, RuleList) and model.scope == "support":
        return None  # it may not cover every input
    random = np.random.default_rng(seed)
    network = _network_of(model)
    if network is None:
        return _by_asking(rules, model, rows, samples, random)
    translate = translation(network, rules)
    if translate is None:
        return None
    positions, claims = class_positions(network, rules), claims_of(rules, network)
    domain, n_classes = network.domain, len(network.classes)
    n_inputs = None if domain.has_ranges else domain.n_inputs
    is_small = uses_table("auto", n_inputs, COVERED_INPUTS, Budget().memory)
    if is_small and n_classes <= MOST_CLASSES:
        return _counted(claims, _every_answer(network, translate, positions))
    drawn = inputs_by_volume(domain, samples, random)
    answers = positions[network.predict_codes(*drawn)]
    sample = _compare(claims, translate(*drawn), answers)
    return claims.proved(sample) or _sampled(sample)


def _network_of(model: Any) -> Network | None:
    """Return the network that a model is, or None where it cannot be read as one."""
    try:
        return read_network(model)
    except Nn2RulesError:
        return None


# Comparing


def _compare(claims: Claims, codes: Codes, answers: Codes) -> Compared:
    """Compare the predictions of the rules with the model's `answers`."""
    rules, possible = claims.rules, claims.possible(codes)
    n_drawn = len(codes)
    codes, answers = codes[possible], answers[possible]
    given, is_covered = rules.predictions(codes)
    wrong = (given != answers) & is_covered
    n_uncovered = len(codes) - int(is_covered.sum())
    return Compared(len(codes), n_drawn - len(codes), n_uncovered, codes[wrong])


def _every_answer(
    network: Network, translate: Translation, positions: Codes
) -> Iterable[tuple[Codes, Codes]]:
    """Yield every input, in the codes of the rules, and the network's answer."""
    classes, start = table_of(network).classes, 0
    for codes in network.domain.inputs():
        stop = start + len(codes)
        yield translate(codes, None), positions[classes[start:stop]]
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
    every, numbers = not domain.has_ranges and domain.n_inputs <= samples, None
    codes = np.concatenate([*domain.inputs()]) if every else None
    if codes is None:
        codes, numbers = inputs_by_volume(domain, samples, random)
    inputs = rows_like(rows, domain, codes, numbers)
    if inputs is None:
        return None
    answers = model_answers(model, rules, inputs, len(codes))
    claims = claims_of(rules, None)
    if every:
        return _counted(claims, [(codes, answers)])
    return _sampled(_compare(claims, codes, answers))


# What follows


def _counted(
    claims: Claims, answered: Iterable[tuple[Codes, Codes]]
) -> DomainFidelity | None:
    parts = [_compare(claims, codes, answers) for codes, answers in answered]
    inputs, same = sum(p.inputs for p in parts), sum(p.same for p in parts)
    if inputs == 0:
        return None
    uncovered, left_out = (
        sum(p.uncovered for p in parts),
        sum(p.impossible for p in parts),
    )
    covered = inputs - uncovered
    low, high = (same / covered,) * 2 if covered else (0.0, 1.0)
    return DomainFidelity(
        low, high, "counted", same, inputs, impossible=left_out, uncovered=uncovered
    )


def _sampled(sample: Compared) -> DomainFidelity | None:
    if sample.inputs == 0:
        return None
    low, high = wilson(sample.same, sample.inputs - sample.uncovered)
    return DomainFidelity(
        low,
        high,
        "sampled",
        sample.same,
        sample.inputs,
        _CONFIDENCE,
        sample.impossible,
        sample.uncovered,
    )
