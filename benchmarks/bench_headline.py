"""The figures that README and docs cite, kept in `headline.json`.

Counts, which are the same on every machine. `scripts/fill_results.py` writes them into
the pages that name them, and a test fails where a page says something else.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
from bench_rules import NAMES
from timing import markdown

import nn2rules

FILE = Path(__file__).parent / "headline.json"


def headline() -> str:
    """Count the rules of the frozen networks in each form, and write the file."""
    results = {name: figures_of(name) for name in NAMES}
    FILE.write_text(json.dumps(results, indent=2) + "\n", "utf-8")
    header = ("network", *next(iter(results.values())))
    return markdown(header, [(name, *row.values()) for name, row in results.items()])


def figures_of(name: str) -> dict[str, Any]:
    """Return the figures of one network; all rules are checked on every input."""
    network = nn2rules.load(nn2rules.datasets.network_file(name))
    train, test = (getattr(nn2rules.datasets.load(name), part) for part in _PARTS)
    forms = {
        form: nn2rules.extract(network, form=form) for form in ("paper", "list", "set")
    }
    rows = nn2rules.extract(network, data=train.rows, scope="support")
    for rules in (*forms.values(), rows):
        assert nn2rules.check(network, rules).ok
    decided = rows.curve(train.rows)["covered"]
    return {
        "inputs": network.domain.n_inputs,
        "paper": len(forms["paper"]),
        "list": len(forms["list"]),
        "set": len(forms["set"]),
        "rows": len(train.rows),
        "support": len(rows),
        "support_90": int(np.argmax(decided >= 0.9)),
        "test_covered": round(float(rows.covers(test.rows).mean()), 4),
    }


_PARTS = ("train", "test")
