"""Certificates: what was proved about a description, and how, as a typed value.

`Description.certificate` is what is stored: a JSON mapping, which other programs may
have written and newer versions may extend. It is read here, in one place: an entry of
the wrong type is ignored.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from nn2rules.errors import OptionError
from nn2rules.rules.rule import FACTS, Facts
from nn2rules.space import Domain, Grouped, Intervals, Range

if TYPE_CHECKING:
    from nn2rules.rules.description import Description
    from nn2rules.rules.rule_list import RuleList


_PROVING = ("table", "search", "paper", "scorecard")
"""The engines whose results are exact unless they are marked as approximate."""


@dataclass(frozen=True, slots=True)
class CertifiedInfluence:
    """For how many of `rows` each feature alone can flip the prediction."""

    rows: int
    of: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class CertifiedCoverage:
    """How many of `rows` were covered, and of which rows; or why that is unknown.

    Either both numbers are known, or neither.
    """

    rows: int | None
    covered: int | None
    on: str
    reason: str


@dataclass(frozen=True, slots=True)
class EarlierRules:
    """Rules of an earlier extraction of the same network, which were kept.

    The first `rules` of the description are theirs; `digest` is of them alone, and
    `rows` is the number of rows that they were extracted with, if that is known.
    """

    rules: int
    digest: str | None
    rows: int | None


@dataclass(frozen=True, slots=True)
class Certificate:
    """The entries of a certificate; None or empty where there is none.

    Attributes
    ----------
    is_given : bool
        Whether there is a certificate: without one, nothing is proved.
    rules, network : str or None
        The digests of the description and of the network.
    engine, method, version : str or None
        How it was proved, as a word and as a sentence, and by which version.
    is_approximate : bool
        Whether predictions may differ from the network.
    is_complete : bool
        False if extraction stopped early.
    different : int or None
        For how many inputs the prediction differs from the network.
    inputs, possible : int or None
        How many inputs the domain has, and how many of them are possible.
    impossible
        The boxes of impossible inputs, or a remark; None if there are none.
    has_impossible : bool
        Whether some were declared, even if they are not listed.
    class_inputs, class_rows : tuple of int, or None
        For how many inputs, and rows, the network predicts each class.
    rows, rows_covered, rows_different, labels_agree : int or None
        How many rows there were, how many of them are covered, on how many the
        prediction differs from the network, and for how many the network predicts the
        label.
    uncovered, uncovered_at_least, uncovered_at_most : int or None
        How many possible inputs are not covered, or bounds on that.
    scorecard_lines : int or None
        How many lines a scorecard of the network has, which would cover every input.
    fewest_rules : int or None
        A lower bound: no equivalent set has fewer rules.
    influence : CertifiedInfluence or None
    coverage : CertifiedCoverage or None
        An estimate for new rows.
    earlier : tuple of EarlierRules
        Earlier extractions whose rules were kept, the first one first.
    model : mapping
        How the network was read from a model; see `models.reading`.
    questions, boxes, settled_exactly : int or None
        The boxes to be decided, the boxes examined, and the scores settled in exact
        arithmetic.
    smallest_margin : float or None
    fragile : mapping or None
        For how many inputs rounding may flip the prediction, by what rounds.
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
    scorecard_lines: int | None = None
    influence: CertifiedInfluence | None = None
    coverage: CertifiedCoverage | None = None
    earlier: tuple[EarlierRules, ...] = ()
    model: Mapping[str, Any] = field(default_factory=dict)
    questions: int | None = None
    boxes: int | None = None
    settled_exactly: int | None = None
    smallest_margin: float | None = None
    fragile: Mapping[str, Any] | None = None
    fragile_inputs: tuple[Any, ...] = ()

    @property
    def is_exact(self) -> bool:
        """Whether every covered input is proved to be predicted as by the network."""
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
    "scorecard_lines",
    "questions",
    "boxes",
    "settled_exactly",
)


def certificate_of(description: "Description") -> Certificate:
    """Return the certificate of a description as a typed value.

    Examples
    --------
    >>> import nn2rules
    >>> network = nn2rules.load(nn2rules.datasets.network_file("tomato"))
    >>> certificate = certificate_of(nn2rules.extract(network))
    >>> certificate.engine, certificate.different, certificate.class_inputs
    ('table', 0, (4, 2))
    """
    entries = description.certificate
    margin, model, fragile = map(entries.get, ("smallest_margin", "model", "fragile"))
    inputs = entries.get("fragile_inputs")
    texts: dict[str, Any] = {name: _text(entries.get(name)) for name in _TEXTS}
    numbers: dict[str, Any] = {name: _number(entries.get(name)) for name in _NUMBERS}
    return Certificate(
        **texts,
        **numbers,
        is_given=bool(entries),
        is_approximate=bool(entries.get("different") or entries.get("approximate")),
        is_complete=entries.get("complete") is not False,
        impossible=entries.get("impossible"),
        has_impossible="impossible" in entries,
        class_inputs=_of_classes(entries.get("class_inputs"), len(description.classes)),
        class_rows=_of_classes(entries.get("class_rows"), len(description.classes)),
        influence=_influence(entries.get("influence")),
        coverage=_coverage(entries.get("coverage")),
        earlier=_earlier(entries.get("earlier")),
        model=model if isinstance(model, Mapping) else {},
        smallest_margin=margin if type(margin) is float else None,
        fragile=fragile if isinstance(fragile, Mapping) else None,
        fragile_inputs=tuple(inputs) if isinstance(inputs, list) else (),
    )


def _text(entry: object) -> str | None:
    return entry if isinstance(entry, str) else None


def _number(entry: object) -> int | None:
    return entry if type(entry) is int and entry >= 0 else None


def _of_classes(entry: object, n_classes: int) -> tuple[int, ...] | None:
    """Return a number for each class."""
    if not isinstance(entry, list) or len(entry) != n_classes:
        return None
    return tuple(entry) if all(type(number) is int for number in entry) else None


def _influence(entry: object) -> CertifiedInfluence | None:
    if not isinstance(entry, Mapping):
        return None
    of, rows = entry.get("of"), entry.get("rows")
    if not isinstance(of, Mapping) or type(rows) is not int:
        return None
    numbers = {name: number for name, number in of.items() if type(number) is int}
    return CertifiedInfluence(rows, numbers)


def _coverage(entry: object) -> CertifiedCoverage | None:
    if not isinstance(entry, Mapping) or not entry:
        return None
    reason = entry.get("reason", "no rows were held out")
    rows, covered = _number(entry.get("rows")), _number(entry.get("covered"))
    if rows is None or covered is None or covered > rows:
        rows = covered = None
    return CertifiedCoverage(rows, covered, str(entry.get("on")), str(reason))


def _earlier(entry: object) -> tuple[EarlierRules, ...]:
    if not isinstance(entry, list):
        return ()
    return tuple(
        EarlierRules(n_rules, _text(one.get("digest")), _number(one.get("rows")))
        for one in entry
        if isinstance(one, Mapping)
        and (n_rules := _number(one.get("rules"))) is not None
    )


def own_certificate(
    certificate: Mapping[str, Any] | None, digest: str
) -> dict[str, Any] | None:
    """Return a certificate if it belongs to rules with this digest, otherwise None."""
    if not isinstance(certificate, Mapping | None):
        raise OptionError(
            f"certificate: a {type(certificate).__name__}, expected a dict"
        )
    if not certificate:
        return {}
    is_valid = certificate.get("rules", digest) == digest
    return {**certificate, "rules": digest} if is_valid else None


def of_any(certificate: Any, digest: str) -> Any:
    """Return a certificate of rules with this digest without the digest.

    So it can be passed on to rules that were changed in a way that keeps it true.
    """
    if not isinstance(certificate, Mapping) or certificate.get("rules") != digest:
        return certificate
    return {key: value for key, value in certificate.items() if key != "rules"}


_OF_ALL_RULES = (
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
    """Return a certificate without the entries about all rules together."""
    return {key: v for key, v in certificate.items() if key not in _OF_ALL_RULES}


def digest_of(rules: "RuleList") -> str:
    """Return the sha256 of rules: equal for equal rules, also after storing them.

    It covers the domain, the boxes and their classes, the default, the form and the
    scope, and the facts about each rule. It does not cover the certificate.
    """
    content = (
        features_content(rules.domain),
        rules.classes,
        rules.default,
        rules.form,
        rules.scope,
        rules.answers.tolist(),
        [_facts_content(facts) for facts in rules.facts],
    )
    digest = hashlib.sha256(json.dumps(content).encode())
    digest.update(np.packbits(rules.boxes, axis=1).tobytes())
    return digest.hexdigest()


def features_content(domain: Domain) -> list[tuple[Any, ...]]:
    """Return the part of a domain that a digest covers, as plain values."""
    return [
        (f.name, f.values, f.ordered, f.labels)
        + (f.edges if isinstance(f, Intervals) else None, f.other)
        + ((f.limits, f.whole) if isinstance(f, Range) else ())
        + ((f.groups,) if isinstance(f, Grouped) else ())
        for f in domain.features
    ]


def _facts_content(facts: Facts) -> tuple[Any, ...]:
    """Return the facts that a digest covers; later ones count only where known."""
    first = (facts.support, facts.inputs, facts.probability, facts.accuracy)
    later = ((name, getattr(facts, name)) for name in FACTS[len(first) :])
    return (*first, *(fact for fact in later if fact[1] is not None))
