"""The entry point: rules or a scorecard, and what else was given; one HTML page out."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nn2rules.engine import ProgressOption
from nn2rules.errors import OptionError
from nn2rules.extraction import check_labels
from nn2rules.files import check_writable, size_text, write_text
from nn2rules.language import count
from nn2rules.models import needs_rows
from nn2rules.network import Network
from nn2rules.questions.audit import Audit, audit, protected_names
from nn2rules.report.card import card_data, card_section
from nn2rules.report.evidence import evidence_of
from nn2rules.report.html import embedded, filled_page
from nn2rules.report.script_data import curve_of, examples_of, plain_rules
from nn2rules.report.sections import errors_of, features_of
from nn2rules.report.subject import Subject, counted_on, network_of, rows_of
from nn2rules.report.summary import summary_of
from nn2rules.report.what_if import what_if_of
from nn2rules.rules import Description, RuleList
from nn2rules.scorecards import Scorecard
from nn2rules.space import Rows, Value, listed_rows


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """One self-contained HTML page.

    Attributes
    ----------
    html : str
        The page.
    data : mapping
        What the page computes with: features, rules or points, rows; plain JSON.
    """

    html: str
    data: Mapping[str, Any]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file, whole or not at all."""
        write_text(path, self.html)

    def __repr__(self) -> str:
        n_bytes = len(self.html.encode("utf-8", "replace"))
        is_card = self.data["form"] == Scorecard.form
        what = "a scorecard" if is_card else count(len(self.data["rules"]), "rule")
        return f"<Report: {what}, {size_text(n_bytes)}>"


_FIRST = ("elements.js", "numbers.js", "matching.js", "network.js", "known-class.js")
SCRIPTS = (*_FIRST, "counterfactuals.js", "rules.js", "curve.js", "what-if.js")
"""The scripts of a report on rules, in the order in which they need each other."""
CARD_SCRIPTS = (*_FIRST, "counterfactuals.js", "points.js", "what-if.js")
"""The scripts of a report on a scorecard."""


def report(
    rules: Description,
    path: str | os.PathLike[str] | None = None,
    *,
    model: Any = None,
    data: Rows = None,
    labels: Sequence[Value] | None = None,
    protected: Sequence[str] | str = (),
    title: str = "",
    rows: bool = True,
    time: float | None = None,
    n_jobs: int | None = None,
    files: Mapping[str, tuple[str, str]] | None = None,
    progress: ProgressOption = None,
) -> Report:
    """Write a self-contained HTML report about rules or a scorecard, and their model.

    Parameters
    ----------
    rules : RuleList or Scorecard
    path : str or path, optional
        Where to write the page.
    model : Network, or a model that `read_network` reads without further options
        The one that the rules were extracted from; any other is refused. With it, the
        page predicts inputs that no rule covers, and with `data` it includes an audit.
        A scorecard has its network in it, so it needs no model.
    data : frame or list of dicts, optional
        Rows on which everything is counted: the training rows, or others.
    labels : sequence of class labels, optional
        The true class of each row.
    protected : sequence of names
        Protected attributes to audit: features, or other columns of the data.
    title : str
        The title of the page; by default it names the predicted classes.
    rows : bool
        Whether to show some rows of the data below each rule. They are then stored in
        the file, so use False if the data are confidential.
    time : float, optional
        Seconds for the audit; by default a minute.
    n_jobs : int, optional
        Number of threads, processes or workers; by default as many as there are.
    files : mapping from the kind of a file to its name and its sha256, optional
        Files to list in the page: "model", "rows", "rules", "network".
    progress : callable or False, optional
        As in `extract`.

    Returns
    -------
    Report

    Examples
    --------
    >>> import nn2rules
    >>> network = nn2rules.load(nn2rules.datasets.network_file("tomato"))
    >>> page = nn2rules.extract(network).report(model=network)
    >>> len(page.data["rules"]), page.html[:15]
    (1, '<!DOCTYPE html>')
    """
    if not isinstance(rules, RuleList | Scorecard):
        raise OptionError(
            f"rules: a {type(rules).__name__}, expected a RuleList or a Scorecard"
        )
    if path is not None:
        check_writable(path)
    check_labels(labels)
    needs_rows(None, data, labels)
    data = None if data is None else listed_rows(data)
    network = network_of(rules, model, data)
    if protected and network is not None and data is not None:
        protected_names(protected, network, data)  # before any work is done
    read_rows = rows_of(rules, network, data, labels)
    subject = Subject(
        rules,
        counted_on(rules, network, read_rows),
        network,
        read_rows,
        data,
        labels,
        _audit(network, data, labels, protected, time, n_jobs, progress),
        title,
        files or {},
        rows,
    )
    page = page_of(subject)
    if path is not None:
        page.save(path)
    return page


def _audit(
    network: Network | None,
    data: Rows,
    labels: Sequence[Value] | None,
    protected: Sequence[str] | str,
    time: float | None,
    n_jobs: int | None,
    progress: ProgressOption,
) -> Audit | None:
    """Audit the model, if it was given with rows."""
    names = [protected] if isinstance(protected, str) else [*protected]
    if network is None or data is None:
        if names:
            raise OptionError(
                "protected: these attributes are audited with the model, on rows; give "
                "both, model and data"
            )
        return None
    return audit(
        network,
        data,
        protected=names,
        labels=labels,
        time=time,
        n_jobs=n_jobs,
        progress=progress,
    )


def page_of(subject: Subject) -> Report:
    """Return the page."""
    card = subject.card
    data = {
        **(card_data(card) if card is not None else plain_rules(subject.rules)),
        "curve": None if card is not None else curve_of(subject),
        "rows": examples_of(subject),
        "what_if": what_if_of(subject),
    }
    text = filled_page(
        "report.html.jinja",
        styles=("page.css", "report.css"),
        scripts=(*(SCRIPTS if card is None else CARD_SCRIPTS), "start.js"),
        card=None if card is None else card_section(subject, card),
        summary=summary_of(subject),
        features=features_of(subject),
        errors=errors_of(subject),
        evidence=evidence_of(subject),
        subject=subject,
        data=data,
        embedded=embedded(data),
    )
    return Report(text, data)
