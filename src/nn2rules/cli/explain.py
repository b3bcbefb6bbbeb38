"""nn2rules explain: why rows get their classes, and what would change that."""

from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer

import nn2rules
from nn2rules.cli.app import command, stderr, working
from nn2rules.cli.options import (
    FILES,
    OUTPUT,
    Help,
    ImpossibleOption,
    JsonOption,
    Limits,
    ModelFile,
    ModelOptions,
    flag,
    names_of,
    number,
    option,
    read_impossible,
)
from nn2rules.errors import DomainError, OptionError, RowsError
from nn2rules.files import Table, load_rules, read_table
from nn2rules.language import count
from nn2rules.models import class_named, load_with_rows
from nn2rules.questions.explain import Explanations
from nn2rules.space import Domain, Range, did_you_mean, number_of

_MOST_NAMED = 10
"""Rows that cannot be explained and are named one by one."""


@command("explain model.onnx rows.csv --data train.csv")
def explain(
    model: ModelFile,
    rows: Annotated[
        Path, typer.Argument(metavar="ROWS", help="Rows to explain, with a header.")
    ],
    model_options: ModelOptions,
    limits: Annotated[
        Limits,
        Help(
            seconds="Stop after this many seconds; what is not known by then is "
            "reported as such."
        ),
    ],
    *,
    data: Annotated[
        Path | None,
        option(
            "ROWS",
            "Rows like those the model was trained on: the possible values of its "
            "features, if the model does not state them.",
            FILES,
        ),
    ] = None,
    smallest: Annotated[
        bool, flag("--smallest", "Find reasons with the fewest features.")
    ] = False,
    reasons: Annotated[
        int, number(help="Number of reasons for each row.", minimum=1)
    ] = 1,
    immutable: Annotated[
        str | None,
        option("A,B", "Features that a counterfactual must not change."),
    ] = None,
    increase: Annotated[
        str | None,
        option("A,B", "Features that a counterfactual may only increase."),
    ] = None,
    decrease: Annotated[
        str | None,
        option("A,B", "Features that a counterfactual may only decrease."),
    ] = None,
    forbid: Annotated[
        list[str] | None,
        option(
            "NAME=A,B",
            "Values that a feature must not change to; numbers of a range as "
            "LOW..HIGH. May be repeated.",
        ),
    ] = None,
    impossible: ImpossibleOption = None,
    cost: Annotated[
        list[str] | None,
        option(
            "NAME=COST",
            "The cost of changing a feature, optionally plus that of each step: 2, or "
            "1+0.5. May be repeated; other features cost 1.",
        ),
    ] = None,
    step: Annotated[
        list[str] | None,
        option("NAME=SIZE", "The size of a step in a range of numbers."),
    ] = None,
    reason_codes: Annotated[
        Path | None,
        option(
            "CODES",
            "Reason codes for adverse action notices: a table with the columns "
            "feature, direction (low, high or any) and text.",
            FILES,
        ),
    ] = None,
    adverse: Annotated[
        str | None,
        option("CLASS", "The only class whose rows get reason codes."),
    ] = None,
    rules: Annotated[
        Path | None,
        option("RULES", "Also name the rules of this file that cover a row.", FILES),
    ] = None,
    top: Annotated[
        int | None,
        number(help="Explain only the first N rows.", panel=OUTPUT, minimum=1),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Explain predictions: sufficient reasons and counterfactuals (smallest changes).

    A reason is a set of features that force the predicted class, regardless of the
    others. Rows that cannot be explained do not stop the others. Exit code 0 if all is
    known, 2 if a row cannot be explained, 3 if a limit came first.
    """
    loaded = load_with_rows(model, model_options.given(data=data))
    network = loaded.network
    table = read_table(rows)
    table.check(network.domain)
    adverse_class = None if adverse is None else class_named(adverse, network)
    if adverse is not None and adverse_class is None:
        classes = ", ".join(str(label) for label in network.classes)
        raise OptionError(
            f"--adverse: there is no class {adverse!r}; the classes are {classes}"
            f"{did_you_mean(adverse, network.classes)}"
        )
    with working(limits) as progress, table.naming_lines():
        explanations = nn2rules.explain(
            network,
            table.rows_in(network.domain)[:top],
            data=loaded.rows,
            smallest=smallest,
            reasons=reasons,
            immutable=names_of(immutable, "--immutable") or (),
            increase=names_of(increase, "--increase") or (),
            decrease=names_of(decrease, "--decrease") or (),
            forbidden=_forbidden(forbid, network.domain),
            impossible=read_impossible(impossible),
            costs=_costs(cost),
            steps=_steps(step),
            reason_codes=None if reason_codes is None else _codes(reason_codes),
            adverse=adverse_class,
            rules=None if rules is None else load_rules(rules),
            skip_invalid=True,
            time=limits.seconds,
            n_jobs=limits.jobs,
            progress=progress,
        )
    if explanations.skipped and not len(explanations):
        row, reason = next(iter(explanations.skipped.items()))
        raise RowsError(f"{table.path}, line {table.lines[row]}: {reason}")
    print(explanations.to_json() if as_json else explanations.text(), flush=True)
    _refuse_skipped(table, explanations)
    n_undecided = sum(bool(explanation.undecided) for explanation in explanations)
    if n_undecided:
        stderr.print(
            f"note: a limit came first for {n_undecided:,} of "
            f"{len(explanations):,} rows"
        )
        raise typer.Exit(3)


def _refuse_skipped(table: Table, explanations: Explanations) -> None:
    """Name the rows that cannot be explained, the first of them one by one."""
    skipped = explanations.skipped
    if not skipped:
        return
    for row in islice(skipped, _MOST_NAMED):
        stderr.print(f"note: {table.path}, line {table.lines[row]}: {skipped[row]}")
    if len(skipped) > _MOST_NAMED:
        stderr.print(f"note: and {count(len(skipped) - _MOST_NAMED, 'more row')}")
    total = count(len(skipped) + len(explanations), "row")
    raise RowsError(
        f"{table.path}: {len(skipped):,} of {total} cannot be explained; the others are"
    )


def _named(
    texts: list[str] | None, name_of_option: str, form: str
) -> list[tuple[str, str]]:
    """Split texts of the form NAME=SPEC."""
    parts = []
    for text in texts or ():
        name, equals, spec = text.rpartition("=")
        if not equals or not name or not spec:
            raise OptionError(f"{name_of_option}: {text!r}, expected {form}")
        parts.append((name, spec))
    return parts


def _number(text: str, name_of_option: str) -> float:
    value = number_of(text)
    if value is None:
        raise OptionError(f"{name_of_option}: {text!r} is not a number")
    return value


def _costs(texts: list[str] | None) -> dict[str, Any] | None:
    costs: dict[str, Any] = {}
    for name, spec in _named(texts, "--cost", "NAME=2, or NAME=1+0.5"):
        parts = [_number(part, "--cost") for part in spec.split("+")]
        costs[name] = parts[0] if len(parts) == 1 else tuple(parts)
    return costs or None


def _steps(texts: list[str] | None) -> dict[str, float] | None:
    named = _named(texts, "--step", "NAME=SIZE, as in income=1000")
    return {name: _number(spec, "--step") for name, spec in named} or None


def _forbidden(texts: list[str] | None, domain: Domain) -> dict[str, Any] | None:
    """Return the values that features must not become; numbers of ranges as pairs."""
    forbidden: dict[str, list[Any]] = {}
    for name, spec in _named(texts, "--forbid", "NAME=A,B"):
        try:
            is_range = isinstance(domain.feature(name), Range)
        except DomainError as error:
            raise OptionError(f"--forbid: {error}") from None
        for value in names_of(spec, "--forbid") or ():
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
