"""The subject of a report: a description, and what else was given with it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from nn2rules.errors import DomainError, OptionError, UnsupportedModelError
from nn2rules.extraction import other_network, row_counts
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
from nn2rules.rules import Description, RuleList, certificate_of, is_exact
from nn2rules.scorecards import TOO_CLOSE, Scorecard
from nn2rules.space import Domain, Rows, Value, refuse_curves


@dataclass(frozen=True)
class Subject:
    """The subject of a report.

    Attributes
    ----------
    description : RuleList or Scorecard
        As it was given; the certificate belongs to this one.
    counted : RuleList or Scorecard
        The same, with facts counted on the rows of this report.
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

    description: Description
    counted: Description
    network: Network | None = None
    rows: GivenRows | None = None
    data: Rows = None
    labels: Sequence[Value] | None = None
    audit: Audit | None = None
    title: str = ""
    files: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    shows_rows: bool = True

    @property
    def rules(self) -> RuleList:
        """The rules, with facts counted on the rows; a scorecard has none."""
        assert isinstance(self.counted, RuleList), "asked only of rules"
        return self.counted

    @property
    def card(self) -> Scorecard | None:
        """The scorecard, with facts counted on the rows, if it is one."""
        return self.counted if isinstance(self.counted, Scorecard) else None


def network_of(rules: Description, model: Any, data: Rows) -> Network | None:
    """Return the network of a model, which must be that of the description.

    A scorecard has its network in it.
    """
    if model is None:
        return rules.network if isinstance(rules, Scorecard) else None
    network = _read(model, rules.domain.uncut, data)
    refuse_curves(network.domain.features, "a report with model=", "leave it out")
    if different := other_network(rules, network):
        raise OptionError(
            f"model: this is not the network that the {noun_of(rules)} "
            f"extracted from: {different}"
        )
    return network


def noun_of(description: Description) -> str:
    """Return what a description is called in a sentence about where it is from."""
    return "scorecard was" if isinstance(description, Scorecard) else "rules were"


def _read(model: Any, domain: Domain, data: Rows) -> Network:
    """Read a model as it was for these rules: on their domain."""
    if isinstance(model, Network):
        return model
    try:
        return read_network(model, domain=domain, data=data)
    except (DomainError, UnsupportedModelError):
        return read_network(model, data=data)


def rows_of(
    rules: Description,
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
    description: Description, network: Network | None, rows: GivenRows | None
) -> Description:
    """Return a description with facts counted on these rows, and on no others."""
    if rows is None:
        return description
    if isinstance(description, Scorecard):
        return _card_on(description, rows)
    assert isinstance(description, RuleList), "a description is one of the two"
    return _rules_on(description, network, rows)


def _card_on(card: Scorecard, rows: GivenRows) -> Scorecard:
    """Return a scorecard with its rows counted, and those too close for its points."""
    kept = {k: v for k, v in card.certificate.items() if k not in _ROW_ENTRIES}
    profile = card.profile
    if profile is not None:
        is_close = card.table.predict_codes(*rows.distinct) == TOO_CLOSE
        n_close = int(rows.weights[is_close].sum())
        profile = replace(profile, between=(n_close, len(rows)))
    if card.certificate:
        kept |= row_counts(card.network, rows)
    return card.replace(profile=profile, certificate=kept)


def _rules_on(rules: RuleList, network: Network | None, rows: GivenRows) -> RuleList:
    """Return rules with facts counted on these rows."""
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
