"""Rules of many models: a file says which, a folder gets them, and a stop costs little.

``plan.py`` reads the file, ``inputs.py`` what a model is made from and whether that has
changed, ``work.py`` has the models extracted, and ``report.py`` says what came of it.
"""

from nn2rules.batch.report import Entry, Report
from nn2rules.batch.work import extract_many

__all__ = ["Entry", "Report", "extract_many"]
