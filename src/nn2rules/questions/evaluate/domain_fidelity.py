"""The fidelity of a description to a model on the whole domain.

Inputs that are not covered are counted apart. The result is as certain as possible, and
states how it is known:

1. *counted*: every input was evaluated;
2. *proved*: there is a certificate for exactly this description and network, and no
   input of a sample contradicts it;
3. *sampled*: an estimate from random inputs.

Inputs are left out as impossible only if such a certificate lists them; their number is
reported.
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
    model_predictions,
    rows_like,
    translation,
)
from nn2rules.questions.evaluate.result import DomainFidelity
from nn2rules.rules import Certificate, Description, RuleList, certificate_of
from nn2rules.scorecards import Scorecard
from nn2rules.space import (
    Condition,
    Inputs,
    Rows,
    boxes_of,
    inputs_by_volume,
    inside_any,
    wilson,
)


@dataclass(frozen=True, slots=True)
class ComparedInputs:
    """Inputs that were compared, and how many were left out as impossible.

    No rule covers `uncovered` of them. `different` are the covered inputs whose
    predictions differ.
    """

    inputs: int
    impossible: int
    uncovered: int
    different: Codes

    @property
    def same(self) -> int:
        """The number of covered inputs with the same prediction."""
        return self.inputs - self.uncovered - len(self.different)


@dataclass(frozen=True, slots=True)
class CertifiedDescription:
    """A description with what is proved of it: its certificate, or an empty one.

    `left_out` are the boxes of impossible inputs.
    """

    rules: Description
    certificate: Certificate
    left_out: NDArray[np.bool_]

    def possible(self, codes: Codes) -> NDArray[np.bool_]:
        """Tell which inputs can occur."""
        return ~inside_any(self.rules.domain, self.left_out, codes)

    def proved(self, sample: ComparedInputs) -> DomainFidelity | None:
        """Return what is proved; None if nothing, or if the sample contradicts it."""
        if not self.certificate.is_given:
            return None
        if self.rules.domain.has_ranges:
            return self._uncountable(sample)
        if not self._is_counted():
            return None
        inputs = self.rules.n_possible
        left_out = self.rules.domain.n_inputs - inputs
        if self.rules.scope == "support":
            covered = self._determined(sample)
            if covered is None:
                return None
            uncovered = inputs - covered
            return DomainFidelity(
                1.0, 1.0, "proved", covered, inputs, 1.0, left_out, uncovered
            )
        n_same = self._same(sample)
        if n_same is None:
            return None
        low = _part(n_same, inputs)
        return DomainFidelity(low, low, "proved", n_same, inputs, 1.0, left_out)

    def _uncountable(self, sample: ComparedInputs) -> DomainFidelity | None:
        """Return what is proved if inputs cannot be counted: everything, or nothing."""
        is_whole = self.rules.scope == "domain" and not len(self.left_out)
        is_proved = is_whole and self.certificate.is_complete
        if not is_proved or len(sample.different):
            return None
        return DomainFidelity(1.0, 1.0, "proved", None, None)

    def _determined(self, sample: ComparedInputs) -> int | None:
        """Return how many inputs the rules determine, all of them correctly."""
        assert isinstance(self.rules, RuleList), "only rules leave inputs uncovered"
        inputs_of_rules = [facts.inputs or 0 for facts in self.rules.facts]
        if len(sample.different) or not all(inputs_of_rules):
            return None
        return sum(inputs_of_rules) or None

    def _same(self, sample: ComparedInputs) -> int | None:
        """Return on how many inputs rules for the whole domain are correct."""
        # A search proves every rule, so there are no differences to count.
        certificate, different = self.certificate, self.certificate.different
        if certificate.engine == "search" and not certificate.is_approximate:
            different = 0
        n_seen = len(np.unique(sample.different, axis=0))
        if different is None or not certificate.is_complete:
            return None
        return None if n_seen > different else self.rules.n_possible - different

    def _is_counted(self) -> bool:
        """Tell whether the number of possible inputs is known and above 0."""
        certificate = self.certificate
        is_known = not certificate.has_impossible or certificate.possible is not None
        return is_known and self.rules.n_possible > 0


def with_certificate(
    rules: Description, network: Network | None
) -> CertifiedDescription:
    """Return what is proved for this network; nothing for another model."""
    certificate = certificate_of(rules)
    is_theirs = network is not None and certificate.rules == rules.digest
    if not is_theirs or certificate.network != network_digest(network):  # type: ignore[arg-type]
        certificate = Certificate()
    return CertifiedDescription(rules, certificate, _impossible(rules, certificate))


def _impossible(rules: Description, certificate: Certificate) -> NDArray[np.bool_]:
    """Return the boxes of inputs that a certificate lists as impossible.

    No boxes if they were a function, which is not stored: then all inputs count.
    """
    listed = certificate.impossible
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
    """Return a share that is 1 only if it is exact, regardless of rounding."""
    part = same / inputs
    return math.nextafter(1.0, 0.0) if part == 1 and same < inputs else part


_CONFIDENCE = 0.95


def domain_fidelity(
    rules: Description, model: Any, rows: Rows, *, samples: int, seed: int
) -> DomainFidelity | None:
    """Measure a description on the whole domain, with the strongest method possible.

    Parameters
    ----------
    rules : RuleList or Scorecard
    model : Network, or anything with predict
        A model that can be read as a network is evaluated as one.
    rows : frame or list of dicts
        Rows in the form that the model takes.
    samples : int
        How many inputs to draw if there are too many to evaluate all. With 0 none are.
    seed : int

    Returns
    -------
    DomainFidelity, or None if nothing is known: no inputs may be drawn, or they cannot
    be given to the model.
    """
    if isinstance(model, Description) and model.scope == "support":
        return None  # it may not cover every input
    random = np.random.default_rng(seed)
    network = _network_of(model)
    if network is None:
        return _by_predict(rules, model, rows, samples, random)
    translate = translation(network, rules)
    if translate is None:
        return None
    positions, certified = (
        class_positions(network, rules),
        with_certificate(rules, network),
    )
    domain, n_classes = network.domain, len(network.classes)
    n_inputs = None if domain.has_ranges else domain.n_inputs
    is_small = uses_table("auto", n_inputs, COVERED_INPUTS, Budget().memory)
    if is_small and n_classes <= MOST_CLASSES:
        return _counted(certified, _every_prediction(network, translate, positions))
    drawn = inputs_by_volume(domain, samples, random)
    predictions = positions[network.predict_codes(*drawn)]
    sample = _compare(certified, translate(*drawn), predictions)
    return certified.proved(sample) or _sampled(sample)


def _network_of(model: Any) -> Network | None:
    """Return the network of a model, or None if it cannot be read as one."""
    if isinstance(model, Scorecard):
        return model.network
    try:
        return read_network(model)
    except Nn2RulesError:
        return None


# Comparing


def _compare(
    certified: CertifiedDescription, inputs: Inputs, predictions: Codes
) -> ComparedInputs:
    """Compare the predictions of the rules with those of the model."""
    rules, possible = certified.rules, certified.possible(inputs.codes)
    n_drawn = len(inputs.codes)
    codes, predictions = inputs.codes[possible], predictions[possible]
    predicted, is_covered = rules.predictions(codes, inputs.numbers[possible])
    wrong = (predicted != predictions) & is_covered
    n_uncovered = len(codes) - int(is_covered.sum())
    return ComparedInputs(len(codes), n_drawn - len(codes), n_uncovered, codes[wrong])


def _every_prediction(
    network: Network, translate: Translation, positions: Codes
) -> Iterable[tuple[Inputs, Codes]]:
    """Yield every input, as the rules read it, and the network's prediction."""
    classes, start = table_of(network).classes, 0
    for codes in network.domain.inputs():
        stop = start + len(codes)
        yield translate(codes, None), positions[classes[start:stop]]
        start = stop


def _by_predict(
    rules: Description,
    model: Any,
    rows: Rows,
    samples: int,
    random: np.random.Generator,
) -> DomainFidelity | None:
    """Evaluate a model that is not a network, on all inputs or random ones."""
    domain = rules.domain
    if samples == 0:
        return None
    every, numbers = not domain.has_ranges and domain.n_inputs <= samples, None
    codes = np.concatenate([*domain.inputs()]) if every else None
    if codes is None:
        codes, numbers = inputs_by_volume(domain, samples, random)
    drawn = rows_like(rows, domain, codes, numbers)
    if drawn is None:
        return None
    predictions = model_predictions(model, rules, drawn, len(codes))
    certified = with_certificate(rules, None)
    inputs = Inputs(codes, np.ones(codes.shape) if numbers is None else numbers)
    if every:
        return _counted(certified, [(inputs, predictions)])
    return _sampled(_compare(certified, inputs, predictions))


# Results


def _counted(
    certified: CertifiedDescription, answered: Iterable[tuple[Inputs, Codes]]
) -> DomainFidelity | None:
    parts = [
        _compare(certified, inputs, predictions) for inputs, predictions in answered
    ]
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


def _sampled(sample: ComparedInputs) -> DomainFidelity | None:
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
