"""What was proved of rules, and how: their certificate, as a typed value.

`RuleList.certificate` is what is stored: a mapping of JSON, which newer versions may
have more in, and which other programs may have written. Here it is read, once for all:
whatever is not of the kind that it must be is as if it was not said.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from nn2rules.errors import OptionError
from nn2rules.rules.rule import FACTS, Facts
from nn2rules.space import Domain

if TYPE_CHECKING:
    from nn2rules.rules.description import Description
    from nn2rules.rules.rule_list import RuleList


_PROVING = ("table", "search", "paper", "scorecard")
"""The engines whose rules are right, unless they are approximate."""


@dataclass(frozen=True, slots=True)
class CertifiedInfluence:
    """On how many of `rows` each feature alone can turn the answer."""

    rows: int
    of: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class CertifiedCoverage:
    """How many of `rows` were covered, of which rows; or why that is not known.

    Either both numbers are known, or none.
    """

    rows: int | None
    covered: int | None
    on: str
    reason: str


@dataclass(frozen=True, slots=True)
class Certificate:
    """What a certificate says; None, or nothing, where it does not say it.

    Attributes
    ----------
    is_given : bool
        Whether there is one: without it nothing is proved.
    rules, network : str or None
        The digests of what was proved, and of what it was proved about.
    engine, method, version : str or None
        How it was proved, in one word and in a sentence, and by which version.
    is_approximate : bool
        Whether rules may answer otherwise than the network.
    is_complete : bool
        False if the work was stopped early.
    different : int or None
        On how many inputs the rules answer otherwise.
    inputs, possible : int or None
        How many inputs the domain has, and how many of them can occur.
    impossible
        The boxes of inputs that cannot occur, or a remark; None if all can.
    has_impossible : bool
        Whether some were declared, be it that none of them is listed.
    class_inputs, class_rows : tuple of int, or None
        How many inputs, and rows, the network answers with each class.
    rows, rows_covered, rows_different, labels_agree : int or None
        How many rows there were, how many of them a rule decides, on how many the
        rules answer otherwise than the network, and how many are labelled as the
        network answers.
    uncovered, uncovered_at_least, uncovered_at_most : int or None
        How many inputs that can occur no rule decides, or bounds on it.
    fewest_rules : int or None
        No such set has fewer rules.
    influence : CertifiedInfluence or None
    coverage : CertifiedCoverage or None
        What is known of new rows.
    model : mapping
        How the network was read from a model; see `models.reading`.
    questions, boxes, settled_exactly : int or None
        The boxes asked about and looked at, and scores settled in exact arithmetic.
    smallest_margin : float or None
    fragile : mapping or None
        How many inputs rounding may turn, by what rounds.
    fragile_inputs : tuple
        Some of them, as rows.
    """

    is_given: bool = False
    rules: str | None = None
    network: str | None = None
    engine: str | None = None
    method: str | None = None
    version: str | None = None
    is_approximate: bool = False
    is_complete: bool = True
    different: int | None = None
    inputs: int | None = None
    possible: int | None = None
    impossible: Any = None
    has_impossible: bool = False
    class_inputs: tuple[int, ...] | None = None
    class_rows: tuple[int, ...] | None = None
    rows: int | None = None
    rows_covered: int | None = None
    rows_different: int | None = None
    labels_agree: int | None = None
    uncovered: int | None = None
    uncovered_at_least: int | None = None
    uncovered_at_most: int | None = None
    fewest_rules: int | None = None
    influence: CertifiedInfluence | None = None
    coverage: CertifiedCoverage | None = None
    model: Mapping[str, Any] = field(default_factory=dict)
    questions: int | None = None
    boxes: int | None = None
    settled_exactly: int | None = None
    smallest_margin: float | None = None
    fragile: Mapping[str, Any] | None = None
    fragile_inputs: tuple[Any, ...] = ()

    @property
    def is_right(self) -> bool:
        """Whether rules are right wherever they decide."""
        return self.engine in _PROVING and not self.is_approximate


_TEXTS = ("rules", "network", "engine", "method", "version")
_NUMBERS = (
    "different",
    "inputs",
    "possible",
    "rows",
    "rows_covered",
    "rows_different",
    "labels_agree",
    "uncovered",
    "uncovered_at_least",
    "uncovered_at_most",
    "fewest_rules",
    "questions",
    "boxes",
    "settled_exactly",
)


def certificate_of(rules: "Description") -> Certificate:
    """Return the certificate of rules, or another description, as a typed value.

    Examples
    --------
    >>> import nn2rules
    >>> network = nn2rules.load(nn2rules.datasets.network_file("tomato"))
    >>> found = certificate_of(nn2rules.extract(network))
    >>> found.engine, found.different, found.class_inputs, found.rows
    ('table', 0, (4, 2), None)
    """
    said = rules.certificate
    margin, model, fragile = map(said.get, ("smallest_margin", "model", "fragile"))
    inputs = said.get("fragile_inputs")
    texts: dict[str, Any] = {name: _text(said.get(name)) for name in _TEXTS}
    numbers: dict[str, Any] = {name: _number(said.get(name)) for name in _NUMBERS}
    return Certificate(
        **texts,
        **numbers,
        is_given=bool(said),
        is_approximate=bool(said.get("different") or said.get("approximate")),
        is_complete=said.get("complete") is not False,
        impossible=said.get("impossible"),
        has_impossible="impossible" in said,
        class_inputs=_of_classes(said.get("class_inputs"), len(rules.classes)),
        class_rows=_of_classes(said.get("class_rows"), len(rules.classes)),
        influence=_influence(said.get("influence")),
        coverage=_coverage(said.get("coverage")),
        model=model if isinstance(model, Mapping) else {},
        smallest_margin=margin if type(margin) is float else None,
        fragile=fragile if isinstance(fragile, Mapping) else None,
        fragile_inputs=tuple(inputs) if isinstance(inputs, list) else (),
    )


def _text(said: object) -> str | None:
    return said if isinstance(said, str) else None


def _number(said: object) -> int | None:
    return said if type(said) is int and said >= 0 else None


def _of_classes(said: object, n_classes: int) -> tuple[int, ...] | None:
    """Return a number for each class."""
    if not isinstance(said, list) or len(said) != n_classes:
        return None
    return tuple(said) if all(type(number) is int for number in said) else None


def _influence(said: object) -> CertifiedInfluence | None:
    if not isinstance(said, Mapping):
        return None
    of, rows = said.get("of"), said.get("rows")
    if not isinstance(of, Mapping) or type(rows) is not int:
        return None
    numbers = {name: number for name, number in of.items() if type(number) is int}
    return CertifiedInfluence(rows, numbers)


def _coverage(said: object) -> CertifiedCoverage | None:
    if not isinstance(said, Mapping) or not said:
        return None
    reason = said.get("reason", "no rows were held out")
    rows, covered = _number(said.get("rows")), _number(said.get("covered"))
    if rows is None or covered is None or covered > rows:
        rows = covered = None
    return CertifiedCoverage(rows, covered, str(said.get("on")), str(reason))


def own_certificate(
    certificate: Mapping[str, Any] | None, digest: str
) -> dict[str, Any] | None:
    """Return a certificate of rules with this digest; None if it is of others."""
    if not isinstance(certificate, Mapping | None):
        raise OptionError(
            f"certificate: a {type(certificate).__name__}, expected a dict"
        )
    if not certificate:
        return {}
    is_theirs = certificate.get("rules", digest) == digest
    return {**certificate, "rules": digest} if is_theirs else None


def of_any(certificate: Any, digest: str) -> Any:
    """Return a certificate of rules with this digest as one that names no rules.

    So whoever changes rules in a way that leaves it true can hand it on.
    """
    if not isinstance(certificate, Mapping) or certificate.get("rules") != digest:
        return certificate
    return {key: value for key, value in certificate.items() if key != "rules"}


_COUNTED = (
    "rules",
    "fewest_rules",
    "rows",
    "rows_covered",
    "rows_different",
    "uncovered",
    "uncovered_at_least",
    "uncovered_at_most",
    "coverage",
)


def of_some(certificate: Mapping[str, Any]) -> dict[str, Any]:
    """Return a certificate without what does not hold for some of the rules."""
    return {key: v for key, v in certificate.items() if key not in _COUNTED}


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
