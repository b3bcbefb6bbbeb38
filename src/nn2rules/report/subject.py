"""The subject of a report: rules, and what else was given to describe them."""

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
from nn2rules.rules import RuleList, certificate_of, is_exact
from nn2rules.space import Domain, Rows, Value, refuse_curves


@dataclass(frozen=True)
class Subject:
    """The subject of a report.

    Attributes
    ----------
    rules : RuleList
        As they were given; the certificate belongs to these.
    counted : RuleList
        The same rules, with facts counted on the rows of this report.
    network : Network or None
    rows : GivenRows or None
    data, labels
        The same as they were given.
    audit : Audit or None
    title : str
    files : mapping from the kind of a file to its name and its sha256
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
    """Return the network of a model, which must be that of the rules."""
    if model is None:
        return None
    network = _read(model, rules.domain.uncut, data)
    refuse_curves(network.domain.features, "a report with model=", "leave it out")
    if different := other_network(rules, network):
        raise OptionError(
            f"model: this is not the network that the rules were extracted from: "
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
    """Return the rules with facts counted on these rows, and on no others."""
    if rows is None:
        return rules
    counted = _without_rows(rules)
    if network is not None:
        counted = with_class_rows(counted, network, rows)
    elif rows.labels is not None and is_exact(rules):
        counted = _with_labels(counted, rows)
    counted = with_rows(counted, rows, network)
    if rules.scope == "support":
        return with_decided(counted, rows)
    if rules.certificate:
        certificate = {**counted.certificate, "rows": len(rows)}
        counted = counted.replace(certificate=certificate)
    is_proved = is_exact(rules) and not certificate_of(rules).has_impossible
    if network is None or is_proved or not rules.certificate:
        return counted
    return with_different(counted, network, rows)


_ROW_ENTRIES = frozenset(
    ("class_rows", "labels_agree", "rows", "rows_covered", "rows_different")
)
"""Entries of a certificate about the rows that rules were extracted with."""


def _without_rows(rules: RuleList) -> RuleList:
    """Return rules whose certificate has no entries about other rows."""
    kept = {k: v for k, v in rules.certificate.items() if k not in _ROW_ENTRIES}
    return rules.replace(certificate=kept) if rules.certificate else rules


def _with_labels(rules: RuleList, rows: GivenRows) -> RuleList:
    """Count labels where rules cover every row, and so predict as the network does."""
    classes, is_covered = rules.predictions(rows.codes_in(rules.domain))
    if not is_covered.all():
        return rules
    counts = np.bincount(classes, minlength=len(rules.classes))
    certificate = {
        **rules.certificate,
        "class_rows": counts.tolist(),
        "labels_agree": int((classes == rows.labels).sum()),
    }
    return rules.replace(certificate=certificate)
