"""Rules of many models: listed in a file, extracted into a folder, resumable.

``plan.py`` reads the file and the inputs of each model, ``work.py`` extracts the rules,
and ``batch_report.py`` reports the results. This room may import everything but the
command line.
"""

from nn2rules.batch.batch_report import Entry, Report
from nn2rules.batch.work import extract_many

__all__ = ["Entry", "Report", "extract_many"]
