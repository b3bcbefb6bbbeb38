"""The files of a run of the experiments."""

from nn2rules.files import Results

MARK = '<meta name="generator" content="python -m research">'
"""What tells a page of ours from others."""

PAGE = "index.html"

TABLES = (
    "data-sets",
    "fidelity",
    "fidelity-on-the-domain",
    "accuracy",
    "number-of-rules",
    "with-and-without",
    "fidelity-on-errors",
    "side-by-side",
    "support-at-the-same-number-of-rules",
    "rules-needed",
    "differences",
)
FIGURES = (
    "fidelity-bars",
    "fidelity-by-rules",
    "accuracy-by-rules",
    "errors-bars",
    "rules-needed",
)
OURS = frozenset(
    (
        PAGE,
        *(f"timings{ending}" for ending in (".md", ".csv", ".json")),
        *(f"tables/{name}{end}" for name in TABLES for end in (".md", ".csv", ".json")),
        *(f"figures/{name}{ending}" for name in FIGURES for ending in (".png", ".svg")),
    )
)
"""Every file that a run may write."""

RESULTS = Results(OURS, PAGE, MARK)
"""The folder of a run."""
