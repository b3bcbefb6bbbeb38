"""What a certificate belongs to: a digest of everything that rules say."""

import hashlib
import json
from typing import TYPE_CHECKING, Any

import numpy as np

from nn2rules.rules.rule import FACTS, Facts
from nn2rules.space import Domain

if TYPE_CHECKING:
    from nn2rules.rules.rule_list import RuleList


def digest_of(rules: "RuleList") -> str:
    """Return the sha256 of rules: equal for equal ones, also once they were stored.

    It is of the domain, the boxes and their answers, the default, the classes, the form
    and the scope, and of what is known of each rule. The certificate is no part of it.
    """
    said = (
        features_content(rules.domain),
        rules.classes,
        rules.default,
        rules.form,
        rules.scope,
        rules.answers.tolist(),
        [_known(facts) for facts in rules.facts],
    )
    digest = hashlib.sha256(json.dumps(said).encode())
    digest.update(np.packbits(rules.boxes, axis=1).tobytes())
    return digest.hexdigest()


def features_content(domain: Domain) -> list[tuple[Any, ...]]:
    """Return what a digest covers of a domain, as plain values."""
    return [
        (f.name, f.values, f.ordered, f.labels, f.edges, f.other)
        + (() if f.limits is None else (f.limits, f.whole))
        + (() if f.groups is None else (f.groups,))
        for f in domain.features
    ]


def _known(facts: Facts) -> tuple[Any, ...]:
    """Return what is known of a rule; what came later counts where it is known."""
    first = (facts.support, facts.inputs, facts.probability, facts.accuracy)
    later = ((name, getattr(facts, name)) for name in FACTS[len(first) :])
    return (*first, *(known for known in later if known[1] is not None))
