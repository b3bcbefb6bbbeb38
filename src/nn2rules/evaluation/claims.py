"""What a certificate proves of rules, if it is of these rules and of this network."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nn2rules.boxes import Condition, boxes_of
from nn2rules.certificate import network_digest
from nn2rules.errors import DomainError, OptionError
from nn2rules.evaluation.answers import Codes
from nn2rules.evaluation.fidelity import DomainFidelity
from nn2rules.network import Network
from nn2rules.rules import RuleList


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
    certificate: Mapping[str, Any]
    left_out: NDArray[np.bool_]

    def possible(self, codes: Codes) -> NDArray[np.bool_]:
        """Tell which inputs can occur."""
        possible = np.ones(len(codes), dtype=np.bool_)
        for box in self.left_out:
            possible &= ~box[codes + self.rules.domain.offsets[:-1]].all(axis=1)
        return possible

    def proved(self, sample: Compared) -> DomainFidelity | None:
        """Return what is proved; None if nothing, or if the sample denies it."""
        if not self.certificate:
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
        is_proved = is_whole and self.certificate.get("complete") is not False
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
        is_search = self.certificate.get("engine") == "search"
        different = self.certificate.get("different", 0 if is_search else None)
        found = len(np.unique(sample.different, axis=0))
        if different is None or self.certificate.get("complete") is False:
            return None
        return None if found > different else self.rules.n_possible - int(different)

    def _is_counted(self) -> bool:
        """Tell whether it is known how many inputs can occur, and whether any can."""
        keys = self.certificate
        return ("impossible" not in keys or "possible" in keys) and (
            self.rules.n_possible > 0
        )


def claims_of(rules: RuleList, network: Network | None) -> Claims:
    """Return what is proved of rules about this network; nothing of another model."""
    certificate: Mapping[str, Any] = rules.certificate
    is_theirs = network is not None and certificate.get("rules") == rules.digest
    if not is_theirs or certificate.get("network") != network_digest(network):  # type: ignore[arg-type]
        certificate = {}
    return Claims(rules, certificate, _impossible(rules, certificate))


def _impossible(rules: RuleList, certificate: Mapping[str, Any]) -> NDArray[np.bool_]:
    """Return the boxes of inputs that a certificate lists as impossible.

    None where it only says that they were given as a function: then all can occur.
    """
    listed = certificate.get("impossible")
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
