"""REPORTS: one HTML file that holds all there is to know of a model and its rules.

It asks nothing of any network, works from disk, and can be mailed. The numbers in it
are the library's own::

    rules, a model, rows ──▶ Subject ──▶ a part for each section ──▶ one page
"""

from nn2rules.report.entry import Report, report

__all__ = ["Report", "report"]
