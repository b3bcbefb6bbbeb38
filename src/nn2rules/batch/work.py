"""Models in, a folder of rules out; models that are done are kept."""

import os
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

import joblib

from nn2rules.batch.batch_report import Entry, Report, read_report
from nn2rules.batch.plan import (
    REPORT,
    Inputs,
    ModelPlan,
    at_hand,
    digest_of,
    listed,
    read_inputs,
    read_plan,
    set_apart,
)
from nn2rules.engine import Meter, ProgressOption, closing_progress, progress_callback
from nn2rules.engine.parallel import as_completed, is_remote
from nn2rules.errors import BudgetExceededError, FormatError, Nn2RulesError, OptionError
from nn2rules.extraction import extract
from nn2rules.files import (
    check_folder,
    leads_out_of,
    read_bytes,
    to_json,
    uninterrupted,
    write_text,
)
from nn2rules.models import ModelInput, class_named, load_with_rows
from nn2rules.rules import RuleList, certificate_of

_PASSED = ("form", "engine", "scope", "max_rules", "fidelity", "effort", "seed")


def extract_many(
    plan: str | os.PathLike[str],
    folder: str | os.PathLike[str],
    *,
    again: bool = False,
    trust: bool = False,
    outside: bool = False,
    time: float | None = None,
    n_jobs: int | None = None,
    progress: ProgressOption = None,
) -> Report:
    r"""Extract the rules of many models into a folder; continue after a stop.

    Parameters
    ----------
    plan : str or path
        A TOML file with a table ``[[model]]`` for each: its ``name``, the file
        ``model``, and the options of the command ``nn2rules extract``, with ``_`` for
        ``-``; paths are relative to the file. ``[defaults]`` applies to all.
    folder : str or path
        Gets ``NAME.json`` for each model as soon as it is done, and ``report.json``.
    again : bool
        Whether to redo models that are done and whose files, options and version of
        nn2rules have not changed.
    trust : bool
        Whether to read models from files that can run code, as in `load_model`. It
        applies to all of them; the plan has no key for it.
    outside : bool
        Whether the plan may name files outside its own folder.
    time : float, optional
        Seconds for each model, unless the plan has a time for it.
    n_jobs : int, optional
        Number of models at a time; by default one for each core or worker. Within
        `nn2rules.cluster` the work is done there.
    progress : callable or False, optional
        As in `extract`.

    Returns
    -------
    Report
        The result of each model. An error in one does not stop the others.

    Raises
    ------
    FormatError
        If the plan cannot be read, names files outside its folder, or the folder cannot
        be written to.
    KeyboardInterrupt
        After Ctrl-C; its `report` lists what is left. The same call continues.

    Examples
    --------
    >>> import tempfile
    >>> import nn2rules
    >>> tomato = nn2rules.datasets.network_file("tomato").read_text()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     plan = Path(folder, "models.toml")
    ...     _ = plan.write_text("[[model]]\nname = 'tomato'\nmodel = 'net.json'")
    ...     _ = Path(folder, "net.json").write_text(tomato)
    ...     first = nn2rules.extract_many(plan, f"{folder}/rules")
    ...     second = nn2rules.extract_many(plan, f"{folder}/rules")
    >>> first["tomato"].rules, second["tomato"].is_new
    (1, False)
    """
    callback = progress_callback(progress)
    models, place = read_plan(plan, outside=outside, time=time), Path(folder)
    before = _before(place)
    _refuse_links(models, place)
    report, inputs = _begun(models, {} if again else before, place)
    place.mkdir(exist_ok=True)
    _write(report, place)
    common, tasks = set_apart(inputs)
    shared = _Shared(common, _threads_each(len(tasks), n_jobs), trust)
    meter = Meter(progress=callback)
    results = as_completed(_attempt, shared, tasks, meter=meter, n_jobs=n_jobs)
    with closing_progress(callback), closing(results):
        try:
            for number, (entry, text) in results:
                with uninterrupted():  # rules that are not in the report would be lost
                    report = _kept(report, tasks[number], entry, text, place)
                done = 1 - report.count("left") / len(models)
                meter.report(f"{len(models):,} models", done)
        except BaseException as stopped:
            meter.stop.is_asked = True
            if isinstance(stopped, KeyboardInterrupt):
                stopped.report = report  # type: ignore[attr-defined]
            raise
    return report


def _threads_each(n_tasks: int, n_jobs: int | None) -> int:
    """Return the number of threads for each of several models at a time."""
    n_cores = os.cpu_count() or 1
    at_once = min(n_tasks, n_jobs if n_jobs and n_jobs > 0 else n_cores)
    return 1 if is_remote() else max(1, n_cores // max(1, at_once))


def _before(folder: Path) -> dict[str, Entry]:
    """Return the results of an earlier run, and refuse a folder with other files."""
    target = check_folder(folder)
    path = target / f"{REPORT}.json"
    if path.exists():
        return read_report(path)
    names = sorted(os.listdir(target)) if target.exists() else []
    if names:
        raise FormatError(
            f"{folder}: the folder contains {names[0]}, which is not a result of this "
            f"command; use a new or an empty folder"
        )
    return {}


def _refuse_links(models: list[ModelPlan], folder: Path) -> None:
    """Refuse to write through links, which a folder from someone else may have."""
    for name in (REPORT, *(model_plan.name for model_plan in models)):
        path = folder / f"{name}.json"
        if leads_out_of(folder, path):
            raise FormatError(f"{path}: this is a link to another folder; delete it")


def _begun(
    models: list[ModelPlan], before: dict[str, Entry], folder: Path
) -> tuple[Report, list[Inputs]]:
    """Return a report of what is done, and the models that are left."""
    entries, left = [], []
    for model_plan in models:
        try:
            inputs = read_inputs(model_plan)
        except Nn2RulesError as error:
            entries.append(Entry(model_plan.name, "failed", error=str(error)))
            continue
        entry = before.get(model_plan.name, Entry(model_plan.name))
        if not _is_there(entry, inputs, folder):
            entry = Entry(model_plan.name, digest=inputs.digest)
            left.append(inputs)
        entries.append(entry)
    return Report(tuple(entries)), left


def _is_there(entry: Entry, inputs: Inputs, folder: Path) -> bool:
    """Tell whether the rules of a model are there, from the same inputs."""
    if entry.state != "done" or entry.digest != inputs.digest:
        return False
    try:
        return digest_of(read_bytes(folder / f"{entry.name}.json")) == entry.result
    except FormatError:
        return False


def _kept(
    report: Report, inputs: Inputs, entry: Entry, text: str | None, folder: Path
) -> Report:
    """Write the rules of a model, and then the report."""
    entry = replace(entry, digest=inputs.digest)
    if text is not None:
        write_text(folder / f"{entry.name}.json", text)
        entry = replace(entry, result=digest_of(text.encode()))
    report = report.with_entry(entry)
    _write(report, folder)
    return report


def _write(report: Report, folder: Path) -> None:
    write_text(folder / f"{REPORT}.json", report.to_json())


class _Shared(NamedTuple):
    """What models share: files, threads for each, and whether they are trusted."""

    files: dict[str, bytes]
    n_threads: int
    trust: bool


class _ModelResult(NamedTuple):
    """The result of a worker: the rules as JSON, if there are any."""

    entry: Entry
    text: str | None = None


def _attempt(shared: _Shared, inputs: Inputs, meter: Meter) -> _ModelResult:
    """Extract the rules of a model, and turn any error into a sentence."""
    name, started = inputs.model_plan.name, monotonic()
    try:
        threads = joblib.parallel_config(backend="threading", n_jobs=shared.n_threads)
        with at_hand(inputs, shared.files) as files, threads:
            rules, rows = _rules(files, inputs.model_plan.options, meter, shared.trust)
        text = to_json(rules)
    except Nn2RulesError as error:
        state: Any = "stopped" if isinstance(error, BudgetExceededError) else "failed"
        return _ModelResult(Entry(name, state, error=str(error)))
    except Exception as error:  # noqa: BLE001  the other models continue
        text = f"failed with {type(error).__name__}: {error}"
        return _ModelResult(Entry(name, "failed", error=text))
    covered = certificate_of(rules).rows_covered
    covered = rows if covered is None else covered
    seconds = round(monotonic() - started, 3)
    return _ModelResult(Entry(name, "done", len(rules), rows, covered, seconds), text)


def _rules(
    files: dict[str, Path], options: Any, meter: Meter, trust: bool
) -> tuple[RuleList, int | None]:
    """Return the rules of a model, and the number of rows."""
    model_input = ModelInput(
        data=files.get("data"),
        labels=options.get("labels"),
        test=files.get("test"),
        encoder=files.get("encoder"),
        values=tuple(listed(options, "values") or ()),
        classes=_joined(options, "classes"),
        threshold=options.get("threshold"),
        model_output=options.get("model_output"),
        other=options.get("other", False),
        trust=trust,
        sign="",
    )
    loaded, target = load_with_rows(files["model"], model_input), options.get("target")
    if target is not None:
        label = class_named(target, loaded.network)
        if label is None:
            classes = ", ".join(str(label) for label in loaded.network.classes)
            raise OptionError(
                f"target: there is no class {target!r}; the classes are {classes}"
            )
        target = label
    passed = {key: options[key] for key in _PASSED if key in options}
    passed["form"] = passed.get("form") or "rules"
    with loaded.naming_lines():
        rules = extract(
            loaded.network,
            loaded.rows,
            labels=loaded.labels,
            test=loaded.test,
            target=target,
            order=listed(options, "order"),
            approximate=options.get("approximate"),
            time=options.get("time"),
            progress=lambda _what, _share: meter.spend(),
            **passed,
        )
    return rules, None if loaded.rows is None else len(loaded.rows)


def _joined(options: Any, key: str) -> str | None:
    value = options.get(key)
    return ",".join(value) if isinstance(value, list) else value
