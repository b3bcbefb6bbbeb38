"""nn2rules explain: why rows get their classes, and what would turn that."""

from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer

import nn2rules
from nn2rules.cli.app import command, stderr, working
from nn2rules.cli.options import Help, Limits, ModelFile, ModelOptions, names_of
from nn2rules.errors import DomainError, FormatError, OptionError, RowsError
from nn2rules.files import Node, Table, load_rules, parse_json, read_table, read_text
from nn2rules.language import count
from nn2rules.models import class_named, load
from nn2rules.questions.explain import Explanations
from nn2rules.space import Domain, did_you_mean, number_of

_NAMED = 10  # so many rows that cannot be explained


@command("explain model.onnx rows.csv --data train.csv")
def explain(
    model: ModelFile,
    rows: Annotated[
        Path, typer.Argument(metavar="ROWS", help="Rows to explain, with a header.")
    ],
    how: ModelOptions,
    limits: Annotated[
        Limits,
        Help(seconds="Stop after so many seconds; what is not known then is said."),
    ],
    *,
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="DATA",
            help="Rows as the model was trained on: what its features can be, where "
            "the model does not say it.",
        ),
    ] = None,
    top: Annotated[
        int | None, typer.Option(min=1, help="Explain the first so many rows.")
    ] = None,
    smallest: Annotated[
        bool, typer.Option("--smallest", help="Reasons with the fewest features.")
    ] = False,
    reasons: Annotated[int, typer.Option(min=1, help="How many reasons.")] = 1,
    immutable: Annotated[
        str | None, typer.Option(metavar="A,B", help="Features that cannot change.")
    ] = None,
    increase: Annotated[
        str | None, typer.Option(metavar="A,B", help="Features that may only go up.")
    ] = None,
    decrease: Annotated[
        str | None, typer.Option(metavar="A,B", help="Features that may only go down.")
    ] = None,
    forbid: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=A,B",
            help="Values that a feature must not become; numbers of a range as "
            "LOW..HIGH. May be repeated.",
        ),
    ] = None,
    impossible: Annotated[
        Path | None,
        typer.Option(
            metavar="BOXES.json",
            help="Inputs that cannot occur: a list of objects, from features to lists "
            "of values, and of pairs [low, high] of numbers.",
        ),
    ] = None,
    cost: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=COST",
            help="What a change costs, and each step of it: 2, or 1+0.5. May be "
            "repeated; other features cost 1.",
        ),
    ] = None,
    step: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=SIZE", help="How long a step is in a range of numbers."
        ),
    ] = None,
    codes: Annotated[
        Path | None,
        typer.Option(
            metavar="CODES",
            help="Reason codes: columns feature, direction (low, high or any), text.",
        ),
    ] = None,
    adverse: Annotated[
        str | None,
        typer.Option(
            metavar="CLASS", help="The only class whose rows get reason codes."
        ),
    ] = None,
    rules: Annotated[
        Path | None,
        typer.Option(metavar="RULES", help="Also name the rules that hold."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Explain rows: what forces their class, and the fewest changes that turn it.

    Rows that cannot be explained do not stop the others; exit 2 then. Exit 3 if the
    time ended before all was known.
    """
    given = how.given(data=data)
    found = load(model, given)
    network, table = found.network, read_table(rows)
    table.check(network.domain)
    shown = table.rows_in(network.domain)[:top]
    is_adverse = None if adverse is None else class_named(adverse, network)
    if adverse is not None and is_adverse is None:
        known = ", ".join(str(label) for label in network.classes)
        raise OptionError(
            f"--adverse: there is no class {adverse!r}; the classes are {known}"
            f"{did_you_mean(adverse, network.classes)}"
        )
    with working(limits) as progress, table.naming_lines():
        explained = nn2rules.explain(
            network,
            shown,
            smallest=smallest,
            reasons=reasons,
            immutable=names_of(immutable) or (),
            increase=names_of(increase) or (),
            decrease=names_of(decrease) or (),
            forbidden=_forbidden(forbid, network.domain),
            impossible=None if impossible is None else _boxes(impossible),
            costs=_costs(cost),
            steps=_steps(step),
            codes=None if codes is None else _codes(codes),
            adverse=is_adverse,
            rules=None if rules is None else load_rules(rules),
            skip=True,
            time=limits.seconds,
            n_jobs=limits.jobs,
            progress=progress,
        )
    if explained.skipped and not len(explained):
        row, reason = next(iter(explained.skipped.items()))
        raise RowsError(f"{table.path}, line {table.lines[row]}: {reason}")
    print(explained.to_json() if as_json else explained.text(), flush=True)
    _refuse_skipped(table, explained)
    n_open = sum(bool(explanation.open) for explanation in explained)
    if n_open:
        stderr.print(f"note: of {n_open:,} of {len(explained):,} rows not all is known")
        raise typer.Exit(3)


def _refuse_skipped(table: Table, explained: Explanations) -> None:
    """Name the rows that cannot be explained, the first of them one by one."""
    skipped = explained.skipped
    if not skipped:
        return
    for row in islice(skipped, _NAMED):
        stderr.print(f"note: {table.path}, line {table.lines[row]}: {skipped[row]}")
    if len(skipped) > _NAMED:
        stderr.print(f"note: and {count(len(skipped) - _NAMED, 'more row')}")
    total = count(len(skipped) + len(explained), "row")
    raise RowsError(
        f"{table.path}: {len(skipped):,} of {total} cannot be explained; all others are"
    )


def _named(texts: list[str] | None, option: str, form: str) -> list[tuple[str, str]]:
    """Split NAME=WHAT."""
    parts = []
    for text in texts or ():
        name, equals, said = text.rpartition("=")
        if not equals or not name or not said:
            raise OptionError(f"{option}: {text!r}, expected {form}")
        parts.append((name, said))
    return parts


def _number(text: str, option: str) -> float:
    number = number_of(text)
    if number is None:
        raise OptionError(f"{option}: {text!r} is not a number")
    return number


def _costs(texts: list[str] | None) -> dict[str, Any] | None:
    costs: dict[str, Any] = {}
    for name, said in _named(texts, "--cost", "NAME=2, or NAME=1+0.5"):
        parts = [_number(part, "--cost") for part in said.split("+")]
        costs[name] = parts[0] if len(parts) == 1 else tuple(parts)
    return costs or None


def _steps(texts: list[str] | None) -> dict[str, float] | None:
    named = _named(texts, "--step", "NAME=SIZE, as in income=1000")
    return {name: _number(said, "--step") for name, said in named} or None


def _forbidden(texts: list[str] | None, domain: Domain) -> dict[str, Any] | None:
    """Return the values that features must not become; numbers of ranges as pairs."""
    forbidden: dict[str, list[Any]] = {}
    for name, said in _named(texts, "--forbid", "NAME=A,B"):
        try:
            is_range = domain.feature(name).limits is not None
        except DomainError as error:
            raise OptionError(f"--forbid: {error}") from None
        for value in names_of(said) or ():
            low, dots, high = value.partition("..")
            span = (_number(end, "--forbid") for end in (low, high) if dots)
            forbidden.setdefault(name, []).append(
                tuple(span) if dots and is_range else value
            )
    return forbidden or None


def _codes(path: Path) -> dict[tuple[str, str], str]:
    """Read reason codes; an empty direction is "any"."""
    table = read_table(path)
    columns = [table.texts(name) for name in ("feature", "direction", "text")]
    return {
        (feature, direction or "any"): text
        for feature, direction, text in zip(*columns, strict=True)
    }


def _boxes(path: Path) -> list[dict[str, list[Any]]]:
    """Read the boxes of inputs that cannot occur; numbers of ranges are pairs."""
    text = read_text(path)
    try:
        return [
            {
                name: [_value(value) for value in values.items()]
                for name, values in box.entries()
            }
            for box in parse_json(text).items()
        ]
    except FormatError as error:
        raise FormatError(f"{path}: {error}") from None


def _value(node: Node) -> Any:
    if isinstance(node.value, list):
        return tuple(end.number() for end in node.items())
    return node.scalar()
