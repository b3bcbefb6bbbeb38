"""REPORTS: one HTML file about a model and its rules or its scorecard.

It makes no network requests, works from disk, and can be mailed. Its numbers are the
library's own::

    rules, a model, rows ──▶ subject ──▶ a part for each section ──▶ one page (`html`)

`entry` has `report`. The parts are `summary` (the model, what is proved, the top
rules), `sections` (what features do, where the model errs), `card` (a scorecard) and
`evidence` (the certificate). `what_if` and `script_data` are what the page's own
scripts work with. May import any room below.
"""

from nn2rules.report.entry import Report, report

__all__ = ["Report", "report"]
