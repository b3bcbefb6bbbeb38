"""Many files of rows: Parquet as pyarrow writes it, with any name."""

import csv
import os
import tempfile
import warnings
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.random import Generator

from fuzz.networks import pick
from nn2rules import Condition, Domain, Feature, Rule, RuleList
from nn2rules.export.bulk import predict_file
from nn2rules.space import Range

NAN, INF = float("nan"), float("inf")
_NUMBERS = (0.0, -0.0, 1.0, 2.5, 5.0, 7.0, 10.0, -3.0, 1e308, -1e308, 5e-324, 0.1)
_SPECIALS = (NAN, NAN, None, INF, -INF)
_SIGNS = "ab1[]*?{}!-,~#%&;:'\"\\$ \n\x1b\u202eé.="


def predict_parquet(rng: Generator) -> int:
    """Answer a Parquet file in bulk and by the exported SQL, as the library does."""
    features = [_feature(rng, f"f{n}") for n in range(rng.integers(1, 4))]
    rules = _rules(rng, Domain(tuple(features)))
    n_rows = int(rng.integers(1, 30))
    columns = {f.name: _column(rng, f, n_rows) for f in features}
    rows = [dict(zip(columns, cells, strict=True)) for cells in _cells(columns)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = rules.predict(rows, unknown="none").tolist()
    with tempfile.TemporaryDirectory() as folder:
        path, output = Path(folder, "rows.parquet"), Path(folder, "out.parquet")
        pq.write_table(
            pa.table(columns),
            path,
            write_statistics=bool(rng.integers(3)),
            row_group_size=int(rng.integers(1, 12)),
            use_dictionary=bool(rng.integers(2)),
        )
        predict_file(rules, path, output, unknown="none")
        found = pq.read_table(output)["prediction"].to_pylist()
        assert found == expected, _shown("bulk", rules, rows, found, expected)
        text = rules.export("sql", only="class")
        asked = f"SELECT {text} FROM read_parquet('{path}')"
        found = [label for (label,) in duckdb.sql(asked).fetchall()]
        assert found == expected, _shown("SQL", rules, rows, found, expected)
    return 2 * n_rows


def _shown(what: str, rules: RuleList, rows: Any, found: Any, expected: Any) -> str:
    return f"{what}: {found}, expected {expected}\n{rules}\n{rules.domain}\n{rows}"


def _feature(rng: Generator, name: str) -> Feature:
    """Return a feature of any kind that a column of Parquet can be."""
    missing = bool(rng.integers(2))
    gap = (None,) if missing else ()
    kind = pick(rng, ["real", "whole", "bins", "list", "other", "words"])
    if kind == "real":
        return Feature.real(name, -3.0, 10.0, missing=missing)
    if kind == "whole":
        return Feature.real(name, -3, 10, whole=True, missing=missing)
    if kind == "bins":
        edges = sorted({float(pick(rng, [-3.0, 0.0, 0.1, 2.5, 5.0])) for _ in range(3)})
        return Feature.bins(name, edges, missing=missing)
    if kind == "list":
        return Feature(name, (0.0, 2.5, 5.0, *gap))
    if kind == "other":
        return Feature(name, (2.5, 5.0, "other", *gap), other="other")
    return Feature(name, ("a", "b", *gap))


def _rules(rng: Generator, domain: Domain) -> RuleList:
    made = []
    for number in range(int(rng.integers(1, 45))):  # beyond 30, views use masks of bits
        conditions = []
        for feature in domain.features:
            allowed = _allowed(rng, feature)
            if allowed is not None:
                conditions.append(Condition(feature.name, allowed))
        if conditions:
            made.append(Rule(tuple(conditions), f"c{number % 3}"))
    return RuleList(domain, tuple(made), "rest", ("rest", "c0", "c1", "c2"))


def _allowed(rng: Generator, feature: Feature) -> tuple[Any, ...] | None:
    """Return some values of a feature, but not all; or None."""
    if rng.integers(3) == 0:
        return None
    if isinstance(feature, Range):
        low, high = sorted(rng.integers(-3, 10, size=2).tolist())
        gap = [None] if None in feature.values and rng.integers(2) else []
        return ((low, high), *gap)
    kept = [value for value in feature.values if rng.integers(2)]
    return tuple(kept) if 0 < len(kept) < len(feature.values) else None


def _column(rng: Generator, feature: Feature, n_rows: int) -> Any:
    """Return cells of a feature; few different ones, so that statistics say much."""
    if "a" in feature.values:
        words = ["a", "b", "c", "", None]
        return pa.array([pick(rng, words) for _ in range(n_rows)], pa.string())
    pool: list[Any] = [pick(rng, _NUMBERS) for _ in range(rng.integers(1, 4))]
    pool += [pick(rng, _SPECIALS) for _ in range(rng.integers(0, 3))]
    cells = [pick(rng, pool) for _ in range(n_rows)]
    kind = pick(rng, [pa.float64(), pa.float64(), pa.float32(), pa.int64()])
    if kind == pa.int64():
        whole = [c for c in pool if c is None or (abs(c) < 99 and c == int(c))] or [3]
        cells = [pick(rng, whole) for _ in range(n_rows)]
        return pa.array([None if c is None else int(c) for c in cells], kind)
    if kind == pa.float32():
        with np.errstate(over="ignore"):
            cells = [None if c is None else np.float32(c) for c in cells]
    return pa.array(cells, kind, from_pandas=False)


def _cells(columns: dict[str, Any]) -> Any:
    return zip(*(column.to_pylist() for column in columns.values()), strict=True)


def name_files(rng: Generator) -> int:
    """Answer a file of any name, beside others of such names."""
    domain = Domain((Feature("f", ("a", "b")),))
    rules = RuleList(
        domain, (Rule((Condition("f", ("a",)),), "yes"),), "no", ("no", "yes")
    )
    suffix = pick(rng, [".parquet", ".csv"])
    names = {_name(rng) + suffix for _ in range(6)}
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home, pick(rng, ["plain", "[a]", "b*", "c?", "{d,e}"]))
        folder.mkdir()
        for name in names:
            _write(folder / name, name)
        output = folder / f"{_name(rng)}.out{suffix}"
        for name in sorted(names):
            predict_file(rules, folder / name, output)
            who = _who(output)
            assert who == ascii(name), f"{name!r} gave the rows of {who}"
            assert set(os.listdir(folder)) == names | {output.name}
    return len(names)


def _name(rng: Generator) -> str:
    return "".join(pick(rng, _SIGNS) for _ in range(rng.integers(1, 6)))


def _write(path: Path, who: str) -> None:
    if path.suffix == ".csv":
        path.write_text(f'f,who\na,"{ascii(who).replace(chr(34), chr(34) * 2)}"\n')
        return
    with path.open("wb") as stream:
        pq.write_table(pa.table({"f": ["a"], "who": [ascii(who)]}), stream)


def _who(path: Path) -> Any:
    with path.open("rb") as stream:
        if path.suffix == ".csv":
            return next(csv.DictReader(stream.read().decode().splitlines()))["who"]
        return pq.read_table(stream)["who"].to_pylist()[0]
