"""MONITORING: how new rows differ from those a description was approved on.

::

    description, reference, new ──▶ parts ──▶ counts by cell and period
                                             └──▶ Monitoring: findings, text, HTML

Rows are read part by part (`reading`), put into cells (`bins`), counted (`counting`)
and compared (`drift`, `findings`). Imports `report` for the page, `export` for files
that are larger than memory, and everything below.
"""

from nn2rules.monitoring.monitor import monitor
from nn2rules.monitoring.result import (
    Breakdown,
    Cell,
    Finding,
    Monitoring,
    Rate,
    Thresholds,
)

__all__ = [
    "Breakdown",
    "Cell",
    "Finding",
    "Monitoring",
    "Rate",
    "Thresholds",
    "monitor",
]
