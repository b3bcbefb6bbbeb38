"""Rules of many models: listed in a file, extracted into a folder, resumable.

`plan` reads the file and the inputs of each model, `work` extracts the rules,
and `batch_report` reports the results. May import any room below.
"""

from nn2rules.batch.batch_report import Entry, Report
from nn2rules.batch.work import extract_many

__all__ = ["Entry", "Report", "extract_many"]
