"""Explain rows: why they get their class, and what would change that."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from nn2rules.engine import Budget, ProgressOption, judge_of, progress_callback, session
from nn2rules.errors import OptionError
from nn2rules.extraction import Limits
from nn2rules.models import ModelOutput, read_network
from nn2rules.questions.explain.options import (
    Wanted,
    checked_rules,
    codes_table,
    constraints_of,
    prices_of,
    steps_of,
)
from nn2rules.questions.explain.result import Explanations
from nn2rules.questions.explain.row_explainer import Work, inputs_of
from nn2rules.rules import RuleList
from nn2rules.space import (
    Domain,
    Rows,
    Value,
    did_you_mean,
    listed_rows,
    refuse_curves,
    whole_number,
)


def explain(
    model: object,
    rows: Rows,
    *,
    data: Rows = None,
    domain: Domain | Mapping[str, Any] | None = None,
    encode: Any = None,
    classes: Sequence[Value] | None = None,
    threshold: float = 0.5,
    output: ModelOutput | None = None,
    other: bool | Sequence[str] = False,
    reasons: int = 1,
    smallest: bool = False,
    widen: bool = True,
    changes: bool = True,
    costs: Mapping[str, Any] | None = None,
    steps: Mapping[str, float] | None = None,
    immutable: Sequence[str] = (),
    increase: Sequence[str] = (),
    decrease: Sequence[str] = (),
    forbidden: Mapping[str, Any] | None = None,
    impossible: Sequence[Mapping[str, Any] | str] | None = None,
    codes: Mapping[Any, str] | None = None,
    adverse: Value = None,
    rules: RuleList | None = None,
    skip: bool = False,
    engine: Literal["auto", "table", "search"] = "auto",
    budget: Budget | None = None,
    time: float | None = None,
    n_jobs: int | None = None,
    progress: ProgressOption = None,
) -> Any:
    """Say why rows get their classes, and what would turn that; all of it proved.

    Parameters
    ----------
    model : Network, or a trained model of scikit-learn, PyTorch, Keras or ONNX
    rows : dict or Series, or frame or list of dicts
        One row, or several.
    data : frame or list of dicts, optional
        Rows as the model was trained on: they say what its features can be.
    domain, encode, classes, threshold, gives, other
        How a model is read; see `read_network`.
    reasons : int
        How many different reasons to look for.
    smallest : bool
        Whether reasons are to be those with the fewest features, with proof. Otherwise
        a reason only has no feature that could be left out.
    widen : bool
        Whether reasons are said as widely as they are true, as ranges and sets of
        values, or with the row's own values.
    changes : bool
        Whether to look for changes, and the radius.
    costs : dict, optional
        What changing a feature costs: a number, or two, of a change and of each step.
        The cheapest changes are found then; features not named cost 1. By default the
        fewest changes are.
    steps : dict, optional
        How long a step is, of ranges of numbers: by default 1 for whole numbers, and
        else the power of ten next below a thousandth of the range. In an order of
        values a step is a place.
    immutable, increase, decrease : sequences of feature names
        What changes must leave as it is, may only raise, and may only lower.
    forbidden : dict, optional
        Values that features must not become; of a range of numbers, pairs (low, high).
    impossible : list of dicts or texts, optional
        Inputs that cannot occur: each is a box, a dict from features to values, or
        conditions as rules print them. Neither reasons nor changes look at them.
    codes : dict, optional
        Reason codes: from (feature, direction) to a text, where the direction is "low"
        if a higher value would help, "high" if a lower one would, or "any". A feature
        alone stands for "any".
    adverse : class label, optional
        The only class whose rows get reason codes.
    rules : RuleList, optional
        Rules of the same features: of a set those that hold for a row are named, of a
        list the one that answers.
    skip : bool
        Whether rows that cannot be explained, as they hold a value that the model does
        not know or are impossible, are left out: `Explanations.skipped` has their
        numbers and the reasons. By default the first such row is an error, and so is a
        single row that cannot be explained.
    engine : {"auto", "table", "search"}
        Who answers: a table of all inputs, by default up to a million, or a search.
    budget : Budget, optional
    time : float, optional
        Seconds for all rows. What is not known by then is said to be open.
    n_jobs : int, optional
        How many threads, by default one on each core; the result is the same whatever
        their number.
    progress : callable or False, optional
        As in `extract`.

    Returns
    -------
    Explanation, or Explanations of several rows

    Examples
    --------
    >>> import nn2rules
    >>> network = nn2rules.load(nn2rules.datasets.network_file("tomato"))
    >>> print(nn2rules.explain(network, {"color": "red", "size": "small"}))
    The answer is unripe (probability 0.731, margin 1).
    It follows from these conditions alone, whatever the other feature is:
      size = small
    It turns with 1 change, in 2 ways:
      size = small → size ≠ small   (ripe)
    Nothing less turns it.
    A single feature can turn it.
    """
    told = progress_callback(progress)
    how = Limits(1, 0, n_jobs, budget, told, time)
    number = whole_number("reasons", reasons, 1)
    network = read_network(
        model,
        data=data,
        domain=domain,
        encode=encode,
        classes=classes,
        threshold=threshold,
        output=output,
        other=other,
    )
    refuse_curves(network.domain.features, "explain")
    if adverse is not None and adverse not in network.classes:
        known = ", ".join(repr(label) for label in network.classes)
        hint = did_you_mean(adverse, network.classes)
        raise OptionError(
            f"adverse: {adverse!r} is not a class; there are {known}{hint}"
        )
    limits = constraints_of(
        network.domain,
        immutable=immutable,
        increase=increase,
        decrease=decrease,
        forbidden=forbidden,
        impossible=impossible,
    )
    wanted = Wanted(
        number=number,
        smallest=smallest,
        widen=widen,
        changes=changes,
        limits=limits,
        prices=prices_of(network.domain, costs),
        steps=steps_of(network.domain, steps),
        codes=None if codes is None else codes_table(network.domain, codes),
        adverse=adverse,
        rules=checked_rules(network, rules),
        has_costs=costs is not None,
    )
    is_one = listed_rows(rows) is not rows
    inputs, skipped = inputs_of(network.domain, limits, rows, skip=skip and not is_one)
    meter = how.meter()
    with session(meter, n_jobs=n_jobs):
        judge = judge_of(network, engine, limits.impossible, meter, n_jobs)
        found = Work(network, judge, wanted).explain(inputs, meter, n_jobs)
    return found[0] if is_one else Explanations(tuple(found), skipped)
