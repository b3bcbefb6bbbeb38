"""nn2rules train: a table in, an interpretable network with its description out."""

import io
from pathlib import Path
from typing import Annotated, Any

import typer

import nn2rules
from nn2rules.cli.app import command, stderr, working
from nn2rules.cli.options import (
    FILES,
    PERFORMANCE,
    Help,
    SeedOption,
    Workers,
    flag,
    number,
    option,
)
from nn2rules.errors import MissingExtraError, OptionError, RowsError
from nn2rules.files import Results, Table, read_table, table_text, to_json
from nn2rules.language import count
from nn2rules.models import typed_frame

_NETWORK, _PATH, _PLOT = "network.json", "path.csv", "path.svg"
_FORMS = ("rules", "scorecard")
RESULTS = Results(
    frozenset(
        (
            *(f"{form}.{ending}" for form in _FORMS for ending in ("json", "txt")),
            _NETWORK,
            _PATH,
            _PLOT,
        )
    ),
    _NETWORK,
    "nn2rules-network/1",
)
"""The files that are written."""


@command("train train.csv --labels y -o model")
def train(
    data: Annotated[
        Path, typer.Argument(metavar="ROWS", help="Rows with a header line.")
    ],
    labels: Annotated[
        str, option("COLUMN", "The column of ROWS that holds the true classes.", FILES)
    ],
    output: Annotated[
        Path,
        option(
            "FOLDER",
            "A new folder, or that of an earlier run, for the network, its rules or "
            "scorecard, and the path of models that were tried.",
            FILES,
            "-o",
            "--output",
        ),
    ],
    workers: Annotated[
        Workers, Help(jobs="Number of processes; by default one on each core.")
    ],
    *,
    drop: Annotated[
        list[str] | None,
        option("COLUMN", "Leave a column out. May be repeated.", FILES),
    ] = None,
    form: Annotated[
        str,
        option(
            "FORM",
            "rules, scorecard, or auto for whichever is better on held-out rows.",
        ),
    ] = "auto",
    max_rules: Annotated[
        int | None, number(help="Keep at most N rules; by default 30.", minimum=0)
    ] = None,
    max_lines: Annotated[
        int, number(help="Keep at most N lines of a scorecard.", minimum=2)
    ] = 30,
    tolerance: Annotated[
        float | None,
        number(
            help="How much accuracy and AUC may be lost for a shorter description, "
            "compared with the best model, as in 0.01; by default 0.003.",
            metavar="0..1",
            minimum=0,
        ),
    ] = None,
    monotone: Annotated[
        list[str] | None,
        option(
            "COLUMN=+1",
            "Require monotonicity: a larger number may only make the second class more "
            "likely (+1) or less likely (-1). May be repeated.",
        ),
    ] = None,
    balanced: Annotated[
        bool, flag("--balanced", "Give each class the same weight, however rare it is.")
    ] = False,
    peers: Annotated[
        bool,
        flag(
            "--peers",
            "Also measure scikit-learn's default network, a tree and logistic "
            "regression on the same rows; slow on large tables.",
            PERFORMANCE,
        ),
    ] = False,
    seed: SeedOption = 0,
) -> None:
    """Train an interpretable network, with its rules or its scorecard."""
    RESULTS.check(output)
    frame, classes = _read(data, labels, drop or [])
    model = nn2rules.ReadableClassifier(
        form=form,  # type: ignore[arg-type]
        max_rules=max_rules,
        max_lines=max_lines,
        class_weight="balanced" if balanced else None,
        tolerance=tolerance,
        monotone=dict(_sign(text) for text in monotone or ()),
        random_state=seed,
        n_jobs=workers.jobs,
    )
    with working(workers) as progress:
        model.set_params(progress=progress).fit(frame, classes)
        others = model.peers(frame, classes) if peers else []
    RESULTS.write(output, _files(model, others))
    print(model.path_)
    for peer in others:
        size = "" if peer.size is None else f", {peer.size:,} {peer.unit}"
        print(f"{peer.name}: {100 * peer.accuracy:.1f}%{size}")
    print()
    print(model.description_)
    print()
    point = model.path_.points[model.path_.chosen]
    size = count(point.size, "rule" if point.form == "rules" else "line")
    print(f"{size}; {_NETWORK} and more are in {output}")


def _read(data: Path, label_column: str, drop: list[str]) -> tuple[Any, list[Any]]:
    """Return the columns and the classes of a table."""
    table = read_table(data)
    if not table.rows:
        raise RowsError(f"{data}: there are no rows below the header")
    classes = _classes(table, label_column)
    for name in (label_column, *drop):
        table.column(name)
        table = table.without(name)
    if not table.header:
        raise OptionError(f"{data}: there is no column besides {label_column!r}")
    return typed_frame(table), classes


def _classes(table: Table, label_column: str) -> list[Any]:
    for row, cell in enumerate(table.texts(label_column)):
        if cell == "":
            raise RowsError(
                f"{table.place(row)}: the column {label_column!r} is empty; leave out "
                f"rows without a class"
            )
    return [row[label_column] for row in table.typed()]


def _sign(text: str) -> tuple[str, int]:
    name, equals, sign = text.rpartition("=")
    if not equals or sign not in ("+1", "1", "-1"):
        raise OptionError(f"--monotone: {text!r}, expected NAME=+1 or NAME=-1")
    return name, int(sign)


def _files(model: Any, peers: list[Any]) -> dict[str, bytes]:
    """Return the files of a trained model, by their names."""
    columns = model.path_.columns()
    rows = [list(map(_cell, row)) for row in zip(*columns.values(), strict=True)]
    name = model.path_.points[model.path_.chosen].form
    files = {
        _NETWORK: to_json(model.network_),
        f"{name}.json": to_json(model.description_),
        f"{name}.txt": _text(model) + "\n",
        _PATH: table_text(list(columns), rows),
    }
    contents = {name: text.encode() for name, text in files.items()}
    try:
        contents[_PLOT] = _plot(model, peers)
    except MissingExtraError as error:
        stderr.print(f"note: the path is not plotted: {error}")
    return contents


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else ""
    return value if isinstance(value, str) else repr(value)


def _text(model: Any) -> str:
    """Return the page of the description, with all rules."""
    if isinstance(model.description_, nn2rules.RuleList):
        return model.description_.text(top="all")
    text: str = model.description_.text()
    return text


def _plot(model: Any, peers: list[Any]) -> bytes:
    axes = model.path_.plot(peers=peers)
    drawn = io.BytesIO()
    axes.figure.savefig(drawn, format="svg", metadata={"Date": None})
    return drawn.getvalue()
