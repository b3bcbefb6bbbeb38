"""Benchmarks of monitoring: files that are larger than memory."""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from timing import markdown

import nn2rules

ROWS = 10_000_000
PART = 500_000

MONITOR = """
import sys, time
import nn2rules
folder, name, model = sys.argv[1:]
description = nn2rules.load(f"{folder}/{name}.json")
network = nn2rules.load(f"{folder}/network.json") if model else None
def peak():  # ru_maxrss would be that of the parent, if this was larger
    with open("/proc/self/status") as lines:
        (line,) = [line for line in lines if line.startswith("VmHWM")]
    return int(line.split()[1]) * 1024
def run(new):
    return nn2rules.monitor(description, f"{folder}/reference.csv", new,
        labels="paid", by="month", model=network, progress=False)
run(f"{folder}/few.parquet")  # compiles
before = peak()
started, worked = time.perf_counter(), time.process_time()
found = run(f"{folder}/new.parquet")
after = peak()
print(found.n_new, time.perf_counter() - started, time.process_time() - worked,
      before, after, len(found.findings), found.findings[0].text, sep="|")
"""


def monitor() -> str:
    """Ten million rows in a Parquet file, with drift in the last of twelve months."""
    with tempfile.TemporaryDirectory(prefix="nn2rules-") as name:
        folder = Path(name)
        sizes = _prepared(folder)
        rows = [
            _measured(folder, *what)
            for what in (
                ("rules", "", f"{sizes[0]:,} rules"),
                ("rules", "model", f"{sizes[0]:,} rules, and their network"),
                ("card", "", f"scorecard of {sizes[1]} features"),
            )
        ]
        n_bytes = (folder / "new.parquet").stat().st_size
    finding = rows[0].pop()
    for row in rows[1:]:
        row.pop()
    return (
        f"{ROWS:,} rows of 5 features (three of numbers), a label and a month, in a "
        f"Parquet file of {n_bytes / 1e6:,.0f} MB; the reference is a CSV file of "
        f"1,200 rows. Memory is the peak of the process so far, after 1,000 rows and "
        f"after all. The month with planted drift is found: “{finding}”.\n\n"
        + markdown(
            ("description", "time", "CPU time", "rows/s", "1,000 rows", "all rows"),
            rows,
        )
    )


def _measured(folder: Path, name: str, model: str, title: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", MONITOR, str(folder), name, model],
        check=True,
        capture_output=True,
        text=True,
    )
    n_rows, seconds, cpu, before, after, n_findings, finding = done.stdout.split("|")
    assert int(n_rows) == ROWS
    assert int(n_findings)
    return [
        title,
        f"{float(seconds):.1f} s",
        f"{float(cpu):.1f} s",
        f"{ROWS / float(seconds) / 1e6:.2f} million",
        f"{float(before) / 1e6:,.0f} MB",
        f"{float(after) / 1e6:,.0f} MB",
        finding.strip(),
    ]


def _prepared(folder: Path) -> tuple[int, int]:
    """Write the descriptions and the rows; return how large the former are."""
    import pandas as pd
    import pyarrow as pa
    from pyarrow import parquet
    from sklearn.compose import make_column_transformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    loans = pd.read_csv(nn2rules.datasets.table_file("loans"))
    features, labels = loans.drop(columns="paid"), loans["paid"]

    def fitted(model: object) -> object:
        columns = make_column_transformer(
            (OneHotEncoder(), ["late_payments", "housing"]),
            remainder=StandardScaler(),
        )
        return make_pipeline(columns, model).fit(features, labels)

    network = nn2rules.read_network(
        fitted(MLPClassifier((4,), max_iter=500, random_state=0)), data=features
    )
    rules = nn2rules.extract(network, features, form="set", progress=False)
    card = nn2rules.extract(fitted(LogisticRegression()), features, progress=False)
    for name, each in (("network", network), ("rules", rules), ("card", card)):
        nn2rules.save(each, folder / f"{name}.json")
    loans.to_csv(folder / "reference.csv", index=False)
    rng = np.random.default_rng(0)

    def drawn(number: int) -> pa.Table:
        """Draw loans with other incomes; in December many payments are late."""
        frame = loans.iloc[rng.integers(len(loans), size=number)].reset_index(drop=True)
        income = (frame["income"] * rng.uniform(0.99, 1.01, number)).round()
        frame["income"] = income.clip(loans["income"].min(), loans["income"].max())
        frame["month"] = rng.integers(1, 13, number)
        is_late = (frame["month"] == 12) & (rng.random(number) < 0.4)
        frame.loc[is_late, "late_payments"] = "several"
        return pa.Table.from_pandas(frame, preserve_index=False)

    first = drawn(PART)
    parquet.write_table(first[:1000], folder / "few.parquet")
    with parquet.ParquetWriter(folder / "new.parquet", first.schema) as writer:
        for start in range(0, ROWS, PART):
            writer.write_table(drawn(PART) if start else first)
    return len(rules), len(features.columns)
