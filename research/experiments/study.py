"""The files of a run of the experiments."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from nn2rules.errors import OptionError, RowsError, UnknownValueError
from nn2rules.files import Results as ResultFolder
from research.experiments.cases import (
    PAPER_SETS,
    Case,
    FilePath,
    Own,
    own_case,
    paper_cases,
)
from research.experiments.figures import figure_files, figures_of
from research.experiments.measure import Measured, measure
from research.experiments.methods import Readable, Seconds, readable, timed, warm_up
from research.experiments.page import page
from research.experiments.printed import METHODS, NAMES
from research.experiments.results import Result, Results
from research.experiments.table import files_of
from research.experiments.tables import tables_of, timings
from research.experiments.train import Trial, given, trained

MARK = '<meta name="generator" content="python -m research">'
"""What tells a page of ours from others."""

PAGE = "index.html"

TABLES = (
    "data-sets",
    "fidelity",
    "fidelity-on-the-domain",
    "accuracy",
    "number-of-rules",
    "with-and-without",
    "fidelity-on-errors",
    "side-by-side",
    "support-at-the-same-number-of-rules",
    "rules-needed",
    "differences",
)
FIGURES = (
    "fidelity-bars",
    "fidelity-by-rules",
    "accuracy-by-rules",
    "errors-bars",
    "rules-needed",
)
OURS = frozenset(
    (
        PAGE,
        *(f"timings{ending}" for ending in (".md", ".csv", ".json")),
        *(f"tables/{name}{end}" for name in TABLES for end in (".md", ".csv", ".json")),
        *(f"figures/{name}{ending}" for name in FIGURES for ending in (".png", ".svg")),
    )
)
"""Every file that a run may write."""

RESULTS = ResultFolder(OURS, PAGE, MARK)
"""The folder of a run."""


Progress: TypeAlias = Callable[[str, float], None]


def run(
    folder: FilePath,
    *,
    datasets: Iterable[str] | None = None,
    seeds: int = 5,
    seed: int = 0,
    progress: Progress | None = None,
    data: FilePath | None = None,
    labels: str | None = None,
    model: FilePath | None = None,
    trust: bool = False,
) -> Path:
    """Repeat the paper's experiments, and write tables, figures and a page.

    Parameters
    ----------
    folder : path
        Where the results go. It is made if it is missing; an earlier result in it is
        replaced, and a folder with any other file is refused.
    datasets : sequence of str, optional
        Which of the paper's: car, nursery, contraception and adult; by default all.
    seeds : int
        How many networks are trained for each data set.
    seed : int
        The seed of the first; the others follow. The same seed gives the same files,
        byte for byte, except for the timings.
    progress : callable, optional
        Called now and then with what is being done and the share that is done.
    data : path, optional
        The user's own rows instead, as a CSV file.
    labels : str, optional
        The column of `data` that holds the true classes.
    model : path, optional
        The user's model for these rows, instead of networks trained here.
    trust : bool
        Whether to read a `model` that can run code when it is read, such as a pickle.

    Returns
    -------
    Path
        The page, ``index.html``.

    Raises
    ------
    OptionError, FormatError, RowsError
        If an option makes no sense, or a file or the folder cannot be used.
    Nn2RulesError
        If a list that must be exact differs from its network on any input.

    Notes
    -----
    Five seeds of all four sets take some ten minutes on two cores; car alone takes
    half a minute.

    Examples
    --------
    >>> page = run("results", datasets=["car"], seeds=2)  # doctest: +SKIP
    """
    own = Own(data, labels, model, trust)
    _check(seeds, seed, datasets, own)
    RESULTS.check(folder)
    if own.data is None:
        cases = paper_cases(PAPER_SETS if datasets is None else datasets)
    else:
        cases = [own_case(own, seed)]
    steps = _Steps(progress, cases, 1 if own.model is not None else seeds)
    numbers = range(seed, seed + steps.seeds)
    warm_up()
    sets = tuple(_studied(case, numbers, steps, own) for case in cases)
    steps.say("drawing")
    files = _files(Results(sets, steps.seeds, seed))
    steps.say("writing")
    return RESULTS.write(folder, files)


def _check(seeds: Any, seed: Any, datasets: Any, own: Own) -> None:
    if not isinstance(seeds, int) or isinstance(seeds, bool) or seeds < 1:
        raise OptionError(f"seeds: {seeds!r}, expected 1 or more networks")
    if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
        raise OptionError(f"seed: {seed!r}, expected a whole number from 0 on")
    if own.data is None:
        for name, value in (("labels", own.labels), ("model", own.model)):
            if value is not None:
                raise OptionError(f"{name} belongs to rows of your own; give data, too")
    elif datasets is not None:
        raise OptionError("datasets are the paper's, data are your own; give only one")


_TO_BE_READ = 10
"""The steps of training a network to be read: about as long as all the others."""


class _Steps:
    """How far the work is: one step for training and one for each method."""

    _EACH = 1 + _TO_BE_READ + len(METHODS)

    def __init__(
        self, progress: Progress | None, cases: list[Case], seeds: int
    ) -> None:
        self.progress, self.seeds, self.done = progress, seeds, 0.0
        self.weights = {case.name: _weight(case) for case in cases}
        self.total = sum(self.weights.values()) * seeds * self._EACH

    def say(self, words: str) -> None:
        if self.progress is not None:
            self.progress(words, min(self.done / self.total, 1.0))

    def next(self, case: Case, seed: int, what: str, steps: int = 1) -> None:
        self.say(f"{case.title}, seed {seed}: {what}")
        self.done += self.weights[case.name] * steps


def _weight(case: Case) -> float:
    inputs = 0 if case.domain is None else min(case.domain.n_inputs, 500_000)
    return 1 + inputs / 2000


def _studied(case: Case, numbers: range, steps: _Steps, own: Own) -> Result:
    """Train and measure the networks of one data set."""
    networks: list[Measured] = []
    trial: Trial | None = None
    for number in numbers:
        steps.next(case, number, "training")
        seconds: Seconds = {}
        if own.model is not None:
            trial = given(case, own.model, number, trust=own.trust)
        else:
            trial = timed(partial(trained, case, number), "training", seconds)
        steps.next(case, number, "training a network to be read", _TO_BE_READ)
        made, unread = _to_be_read(case, number, seconds)

        def report(method: str, number: int = number) -> None:
            steps.next(case, number, NAMES[method])

        is_first = number == numbers.start
        found = measure(trial, seconds, is_first=is_first, report=report)
        networks.append(replace(found, readable=made, unread=unread))
    assert trial is not None, "there is at least one seed"
    sizes = trial.network.domain.sizes
    is_paper, is_given = own.data is None, own.model is not None
    return Result(case, sizes, tuple(networks), is_paper, is_given)


def _to_be_read(case: Case, seed: int, seconds: Seconds) -> tuple[Readable | None, str]:
    """Return a network made to be read, or why these rows allow none."""
    try:
        return timed(partial(readable, case, seed), "readable", seconds), ""
    except (OptionError, RowsError, UnknownValueError) as error:
        return None, str(error)


def _files(results: Results) -> dict[str, bytes]:
    """Return every file of the folder."""
    tables, drawings = tables_of(results), figures_of(results)
    text = page(results, tables, drawings)
    return {
        PAGE: text.encode(),
        **files_of(tables, "tables/"),
        **files_of([timings(results)]),
        **figure_files(drawings),
    }
