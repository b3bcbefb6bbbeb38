"""What a report is about: rules, and what else was given to say more of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nn2rules.errors import DomainError, OptionError, UnsupportedModelError
from nn2rules.extraction import other_network
from nn2rules.models import (
    GivenRows,
    given_rows,
    read_network,
    with_class_rows,
    with_decided,
    with_different,
    with_rows,
)
from nn2rules.network import Network
from nn2rules.questions.audit import Audit
from nn2rules.rules import RuleList, certificate_of, is_right
from nn2rules.space import Domain, Rows, Value, refuse_curves


@dataclass(frozen=True)
class Subject:
    """What a report is about.

    Attributes
    ----------
    rules : RuleList
        As they were given: what the certificate belongs to.
    counted : RuleList
        The same rules, with what is known of them on the rows of this report.
    network : Network or None
    rows : GivenRows or None
    data, labels
        The same as they were given.
    audit : Audit or None
    title : str
    files : mapping from what a file is to its name and its sha256
    shows_rows : bool
        Whether rows of the data may be in the page.
    """

    rules: RuleList
    counted: RuleList
    network: Network | None = None
    rows: GivenRows | None = None
    data: Rows = None
    labels: Sequence[Value] | None = None
    audit: Audit | None = None
    title: str = ""
    files: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    shows_rows: bool = True


def network_of(rules: RuleList, model: Any, data: Rows) -> Network | None:
    """Return the network of a model, which must be the one the rules are of."""
    if model is None:
        return None
    network = _read(model, rules.domain.uncut, data)
    refuse_curves(network.domain.features, "a report with model=", "leave it out")
    if different := other_network(rules, network):
        raise OptionError(
            f"model: it is not the network that the rules were extracted from: "
            f"{different}"
        )
    return network


def _read(model: Any, domain: Domain, data: Rows) -> Network:
    """Read a model as it was for these rules: on their domain."""
    if isinstance(model, Network):
        return model
    try:
        return read_network(model, domain=domain, data=data)
    except (DomainError, UnsupportedModelError):
        return read_network(model, data=data)


def rows_of(
    rules: RuleList,
    network: Network | None,
    data: Rows,
    labels: Sequence[Value] | None,
) -> GivenRows | None:
    """Read the rows, and their true classes if there are any."""
    if data is None:
        return None
    if network is not None:
        return given_rows(network, data, labels)
    domain = rules.domain.uncut
    codes, numbers = domain.inputs_of(data)
    positions = None if labels is None else rules.positions(labels, len(codes))
    return GivenRows(domain, codes, numbers, positions)


def counted_on(
    rules: RuleList, network: Network | None, rows: GivenRows | None
) -> RuleList:
    """Return the rules with what is known of them on these rows, and on no others."""
    if rows is None:
        return rules
    found = _forgotten(rules)
    if network is not None:
        found = with_class_rows(found, network, rows)
    elif rows.labels is not None and is_right(rules):
        found = _labelled(found, rows)
    found = with_rows(found, rows, network)
    if rules.scope == "support":
        return with_decided(found, rows)
    certificate = {**found.certificate, "rows": len(rows)}
    found = found.replace(certificate=certificate) if rules.certificate else found
    is_exact = is_right(rules) and not certificate_of(rules).has_impossible
    if network is None or is_exact or not rules.certificate:
        return found
    return with_different(found, network, rows)


_OF_ROWS = frozenset(
    ("class_rows", "labels_agree", "rows", "rows_covered", "rows_different")
)
"""What a certificate says of the rows that rules were extracted with."""


def _forgotten(rules: RuleList) -> RuleList:
    """Return rules whose certificate says nothing of other rows."""
    kept = {k: v for k, v in rules.certificate.items() if k not in _OF_ROWS}
    return rules.replace(certificate=kept) if rules.certificate else rules


def _labelled(rules: RuleList, rows: GivenRows) -> RuleList:
    """Say what rules that answer every row as the network does know of the labels."""
    fired = rules.match(rows.codes_in(rules.domain))
    answers, is_covered = rules.predictions_by(fired)
    if not is_covered.all():
        return rules
    counts = np.bincount(answers, minlength=len(rules.classes))
    certificate = {
        **rules.certificate,
        "class_rows": counts.tolist(),
        "labels_agree": int((answers == rows.labels).sum()),
    }
    return rules.replace(certificate=certificate)
