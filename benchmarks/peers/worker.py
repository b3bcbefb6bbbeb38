"""Fit models on folds of tables, in the environment of the models.

    python -m peers.worker SECONDS < jobs.json

For each job, in order, one line of JSON goes to the standard output: measures, or an
error. What libraries print goes to the standard error.
"""

import json
import os
import signal
import sys
import time
import warnings
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from peers.measures import agreement, measures


def main(seconds):
    lines = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGPROF, _late)
    for job in json.load(sys.stdin):
        signal.setitimer(signal.ITIMER_PROF, float(seconds))  # of processor time
        try:
            result = TASKS[job["task"]](job["function"], job["file"], job["fold"])
        except Exception as error:  # noqa: BLE001 - whatever a library raises is kept
            text = " ".join(str(error).split())[:200]
            result = {"error": f"{type(error).__name__}: {text}"}
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        lines.write(json.dumps(result) + "\n")


@cache
def loaded(file):
    """Return a table with its rows as a frame and its classes as numbers."""
    table = json.loads(Path(file).read_text("utf-8"))
    return {**table, "rows": rows_of(table), "y": labels_of(table)}


def _late(*_):
    raise TimeoutError("not done in time")


def rows_of(table):
    """Return the rows, with NaN for missing numbers and None for missing texts."""
    columns = {
        name: pd.Series(values, dtype=object if name in table["categorical"] else float)
        for name, values in table["columns"].items()
    }
    return pd.DataFrame(columns)


def labels_of(table):
    """Return the classes as 0, 1, …, in their order."""
    return np.searchsorted(sorted(set(table["labels"])), table["labels"])


def parts(file, fold):
    """Return the positions of training and test rows."""
    table = loaded(file)
    test = np.array(table["folds"][fold])
    return np.setdiff1d(np.arange(len(table["y"])), test), test


def classify(function, file, fold):
    """Fit a classifier on some rows and measure it on others."""
    from peers import models

    rows, y, categorical = (loaded(file)[key] for key in ("rows", "y", "categorical"))
    train, test = parts(file, fold)
    name, _, option = function.partition(":")
    fit = getattr(models, name)
    started = time.process_time()
    probabilities, size = fit(rows.iloc[train], y[train], categorical, option)
    seconds = time.process_time() - started
    answered = probabilities(rows.iloc[test])
    return {**measures(answered, y[test]), "size": size, "seconds": round(seconds, 2)}


def summarize(function, file, fold):
    """Fit a model that resembles a default MLP; measure how often it does."""
    from peers import summaries

    rows, categorical = loaded(file)["rows"], loaded(file)["categorical"]
    train, test = parts(file, fold)
    name, _, option = function.partition(":")
    network = network_of(file, fold)
    started = time.process_time()
    predict, size = getattr(summaries, name)(
        network, rows.iloc[train], categorical, option
    )
    seconds = time.process_time() - started
    unseen = rows.iloc[test]
    agreed = agreement(predict(unseen), network.predict(unseen))
    return {"agreement": agreed, "size": size, "seconds": round(seconds, 2)}


@cache
def network_of(file, fold):
    """Return a default MLP of the training rows of a fold."""
    from peers import models, summaries

    rows, y, categorical = (loaded(file)[key] for key in ("rows", "y", "categorical"))
    train, _ = parts(file, fold)
    return models.fitted(rows.iloc[train], y[train], categorical, summaries.network())


TASKS = {"classify": classify, "summarize": summarize}

if __name__ == "__main__":
    main(*sys.argv[1:])
