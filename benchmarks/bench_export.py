"""Benchmarks of exported rules: SQL in DuckDB against the network that they equal."""

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from timing import best_of, markdown

import nn2rules
from nn2rules.export.bulk import predict_file

ROWS = 10_000_000
SLICE = 500_000
"""So many rows the network answers; ten million take it minutes."""


def export() -> str:
    """Ten million rows: rules as SQL against the network in two libraries."""
    import duckdb

    pipeline = _trained()
    rules = nn2rules.extract(pipeline, progress=False)
    with tempfile.TemporaryDirectory() as folder, duckdb.connect() as base:
        rows = Path(folder) / "rows.parquet"
        base.execute("SELECT setseed(0.5)")
        base.execute(f"CREATE TABLE cases AS {_drawn(rules.domain)}")
        base.execute(f"COPY cases TO '{rows}' (FORMAT parquet)")
        base.execute(str(rules.export("sql", table="cases")))
        part = f"WHERE id < {SLICE} ORDER BY id"
        frame = base.execute(f"SELECT * EXCLUDE (id) FROM cases {part}").df()
        asked = base.execute(f"SELECT prediction FROM cases_predicted {part}")
        expected = pipeline.predict(frame)
        n_same = int((asked.df()["prediction"] == expected).sum())
        network, n_alike = _in_onnxruntime(pipeline, frame, expected)
        slow = best_of(lambda: pipeline.predict(frame), 1) / SLICE
        rule = rules.export("sql", only="rule")
        plain = f"SELECT count(rule) FROM (SELECT {rule} AS rule FROM cases {part})"
        counted = "SELECT prediction, rule, count(*) FROM cases_predicted GROUP BY ALL"
        timed = [
            ("network in scikit-learn, data frame", slow),
            ("network in onnxruntime, texts", network / SLICE),
            (
                "rules, expression in DuckDB",
                best_of(lambda: base.execute(plain).fetchall(), 1) / SLICE,
            ),
            (
                "rules, view in DuckDB, as masks of bits",
                best_of(lambda: base.execute(counted).fetchall(), 1) / ROWS,
            ),
            (
                "rules, `nn2rules predict`, Parquet to Parquet",
                best_of(lambda: predict_file(rules, rows, f"{rows}.out.parquet"), 1)
                / ROWS,
            ),
        ]
    lines = [
        (name, f"{1 / seconds / 1e6:.2f}", f"{slow / seconds:.1f}")
        for name, seconds in timed
    ]
    return (
        f"{len(rules):,} rules, {ROWS:,} rows drawn at random; the network and the "
        f"expression predict {SLICE:,} of them. On these, the view predicts as "
        f"scikit-learn does on {n_same:,}, and onnxruntime on {n_alike:,}.\n\n"
        + markdown(("what", "million rows per second", "times scikit-learn"), lines)
    )


def _trained() -> Any:
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    train = nn2rules.datasets.load("adult").train.to_frame()
    pipeline = make_pipeline(
        OneHotEncoder(), MLPClassifier((6, 3), max_iter=20, random_state=0)
    )
    with np.errstate(all="ignore"):
        return pipeline.fit(train.drop(columns="label"), train["label"])


def _drawn(domain: nn2rules.Domain) -> str:
    """Return a query that draws rows, each value of a feature as likely as others."""
    columns = []
    for feature in domain.features:
        values = ", ".join(f"'{value}'" for value in feature.values)
        place = f"1 + CAST(floor(random() * {len(feature)}) AS INTEGER)"
        columns.append(f'([{values}])[{place}] AS "{feature.name}"')
    return f"SELECT {', '.join(columns)}, id FROM range({ROWS}) drawn(id)"


def _in_onnxruntime(pipeline: Any, frame: Any, expected: Any) -> tuple[float, int]:
    """Return the seconds of onnxruntime, and how many answers are the same."""
    import onnxruntime
    from skl2onnx import to_onnx
    from skl2onnx.common.data_types import StringTensorType

    kinds = [(name, StringTensorType([None, 1])) for name in frame.columns]
    made = to_onnx(pipeline, initial_types=kinds, options={"zipmap": False})
    session = onnxruntime.InferenceSession(
        made.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    names = [each.name for each in session.get_inputs()]
    cells = [frame[[name]].to_numpy(dtype=object) for name in frame.columns]
    given = dict(zip(names, cells))

    def run() -> Any:
        return session.run([session.get_outputs()[0].name], given)[0]

    n_same = int((run() == expected).sum())
    return best_of(run, 1), n_same
