"""Rules of many models: a file says which, a folder gets them, and a stop costs little.

``plan.py`` reads the file and what each model is made from, ``work.py`` has the models
extracted, and ``batch_report.py`` says what came of it. This room may import everything
but the command line.
"""

from nn2rules.batch.batch_report import Entry, Report
from nn2rules.batch.work import extract_many

__all__ = ["Entry", "Report", "extract_many"]
