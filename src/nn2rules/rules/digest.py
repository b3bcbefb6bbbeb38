"""What a certificate belongs to: a digest of everything that rules say."""

import hashlib
import json
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from nn2rules.rules.rule_list import RuleList


def digest_of(rules: "RuleList") -> str:
    """Return the sha256 of rules: equal for equal ones, also once they were stored.

    It is of the domain, the boxes and their answers, the default, the classes, the form
    and the scope, and of what is known of each rule. The certificate is no part of it.
    """
    said = (
        [
            (f.name, f.values, f.ordered, f.labels, f.edges, f.nearest, f.other)
            for f in rules.domain.features
        ],
        rules.classes,
        rules.default,
        rules.form,
        rules.scope,
        rules.answers.tolist(),
        [(f.support, f.inputs, f.probability, f.accuracy) for f in rules.facts],
    )
    digest = hashlib.sha256(json.dumps(said).encode())
    digest.update(np.packbits(rules.boxes, axis=1).tobytes())
    return digest.hexdigest()
