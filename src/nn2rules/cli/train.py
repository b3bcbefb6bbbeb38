"""nn2rules train: a table in, a network that is made to be read out."""

import io
from pathlib import Path
from typing import Annotated, Any

import typer

import nn2rules
from nn2rules.cli.app import command, stderr, working
from nn2rules.cli.options import Help, Workers
from nn2rules.errors import MissingExtraError, OptionError, RowsError
from nn2rules.files import Results, Table, read_table, table_text, to_json
from nn2rules.language import count
from nn2rules.models import typed_frame

_NETWORK, _RULES, _TEXT = "network.json", "rules.json", "rules.txt"
_PATH, _PLOT = "path.csv", "path.svg"
FILES = Results(
    frozenset((_NETWORK, _RULES, _TEXT, _PATH, _PLOT)), _NETWORK, "nn2rules-network/1"
)
"""What is written."""


@command("train train.csv --target y -o model")
def train(
    data: Annotated[
        Path, typer.Argument(metavar="DATA", help="Rows with a header line.")
    ],
    target: Annotated[
        str, typer.Option(metavar="COLUMN", help="The column with the true classes.")
    ],
    output: Annotated[
        Path,
        typer.Option(
            "-o",
            "--output",
            metavar="FOLDER",
            help="A new folder, or that of an earlier run, for the network, its rules, "
            "and the path.",
        ),
    ],
    workers: Annotated[Workers, Help(jobs="How many processes; by default all cores.")],
    *,
    drop: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="Leave a column out. May be repeated."),
    ] = None,
    max_rules: Annotated[
        int | None, typer.Option(min=0, help="At most so many rules.")
    ] = None,
    tolerance: Annotated[
        float | None,
        typer.Option(
            min=0,
            help="How much accuracy may be lost against the best of the path, as 0.01; "
            "by default one standard error.",
        ),
    ] = None,
    monotone: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN=+1",
            help="With a larger number the second class may only become more likely "
            "(+1) or less (-1). May be repeated.",
        ),
    ] = None,
    peers: Annotated[
        bool,
        typer.Option(
            "--peers",
            help="Measure scikit-learn's default network, a tree and logistic "
            "regression on the same rows, too; slow on large tables.",
        ),
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="Of everything random.")] = 0,
) -> None:
    """Train a network that is made to be read, with its rules.

    Example: nn2rules train loans.csv --target repaid -o model
    """
    FILES.check(output)
    frame, labels = _read(data, target, drop or [])
    model = nn2rules.ReadableClassifier(
        max_rules=max_rules,
        tolerance=tolerance,
        monotone=dict(_sign(text) for text in monotone or ()),
        random_state=seed,
        n_jobs=workers.jobs,
    )
    with working(workers) as progress:
        model.set_params(progress=progress).fit(frame, labels)
        others = model.peers(frame, labels) if peers else []
    FILES.write(output, _files(model, others))
    print(model.path_)
    for peer in others:
        size = "" if peer.size is None else f", {peer.size:,} {peer.unit}"
        print(f"{peer.name}: {100 * peer.accuracy:.1f}%{size}")
    print()
    print(model.rules_)
    print()
    print(f"{count(len(model.rules_), 'rule')}, {_NETWORK} and more are in {output}")


def _read(data: Path, target: str, drop: list[str]) -> tuple[Any, list[Any]]:
    """Return the columns and the classes of a table."""
    table = read_table(data)
    if not table.rows:
        raise RowsError(f"{data}: there are no rows below the header")
    labels = _labels(table, target)
    for name in (target, *drop):
        table.column(name)
        table = table.without(name)
    if not table.header:
        raise OptionError(f"{data}: there is no column besides {target!r}")
    return typed_frame(table), labels


def _labels(table: Table, target: str) -> list[Any]:
    for row, cell in enumerate(table.texts(target)):
        if cell == "":
            raise RowsError(
                f"{table.place(row)}: the column {target!r} is empty; leave out "
                f"rows without a class"
            )
    return [row[target] for row in table.typed()]


def _sign(text: str) -> tuple[str, int]:
    name, equals, sign = text.rpartition("=")
    if not equals or sign not in ("+1", "1", "-1"):
        raise OptionError(f"--monotone: {text!r}, expected NAME=+1 or NAME=-1")
    return name, int(sign)


def _files(model: Any, peers: list[Any]) -> dict[str, bytes]:
    """Return the files of a trained model, by their names."""
    rows = [
        [
            str(point.questions),
            str(len(point.network.domain.features)),
            str(point.network.domain.n_inputs),
            str(len(point.rules)),
            repr(point.accuracy),
            repr(point.error),
            "yes" if place == model.path_.chosen else "",
        ]
        for place, point in enumerate(model.path_.points)
    ]
    names = ["questions", "columns", "inputs", "rules", "accuracy", "error", "chosen"]
    files = {
        _NETWORK: to_json(model.network_),
        _RULES: to_json(model.rules_),
        _TEXT: model.rules_.text(top="all") + "\n",
        _PATH: table_text(names, rows),
    }
    made = {name: text.encode() for name, text in files.items()}
    try:
        made[_PLOT] = _plot(model, peers)
    except MissingExtraError as error:
        stderr.print(f"note: no picture of the path is drawn: {error}")
    return made


def _plot(model: Any, peers: list[Any]) -> bytes:
    axes = model.path_.plot(peers=peers)
    drawn = io.BytesIO()
    axes.figure.savefig(drawn, format="svg", metadata={"Date": None})
    return drawn.getvalue()
