"""MONITORING: how new rows differ from those a description was approved on.

::

    monitor ──▶ reading    rows, part by part, as files may be larger than memory
           ├──▶ predicting what the description, and a model, predict for a part
           ├──▶ counting   counts by cell (`bins`) and period
           └──▶ drift      distances between counts, and `findings` above a threshold
                           └──▶ result: `Monitoring`, shown by page and html_page

May import any room below: `report` for the page, `export` for large files.
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
