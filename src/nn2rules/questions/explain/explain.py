"""Explain rows: why they get their class, and what would change that."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from nn2rules.engine import Budget, ProgressOption, judge_of, progress_callback, session
from nn2rules.errors import OptionError
from nn2rules.extraction import Limits
from nn2rules.models import ModelOutput, read_network
from nn2rules.questions.explain.options import (
    Request,
    checked_rules,
    constraints_of,
    prices_of,
    steps_of,
)
from nn2rules.questions.explain.points import card_reasons
from nn2rules.questions.explain.reason_codes import read_reason_codes
from nn2rules.questions.explain.result import Explanations
from nn2rules.questions.explain.row_explainer import RowExplainer, inputs_of
from nn2rules.rules import RuleList
from nn2rules.scorecards import Scorecard
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
    counterfactuals: bool = True,
    costs: Mapping[str, Any] | None = None,
    steps: Mapping[str, float] | None = None,
    immutable: Sequence[str] = (),
    increase: Sequence[str] = (),
    decrease: Sequence[str] = (),
    forbidden: Mapping[str, Any] | None = None,
    impossible: Sequence[Mapping[str, Any] | str] | None = None,
    reason_codes: Mapping[Any, str] | None = None,
    adverse: Value = None,
    rules: RuleList | None = None,
    scorecard: Scorecard | None = None,
    points_against: Literal["best", "typical"] = "best",
    skip_invalid: bool = False,
    engine: Literal["auto", "table", "search"] = "auto",
    budget: Budget | None = None,
    time: float | None = None,
    n_jobs: int | None = None,
    progress: ProgressOption = None,
) -> Any:
    """Explain predictions: what guarantees each one, and what would flip it.

    Reasons are sufficient conditions, and counterfactuals the smallest changes that
    flip the prediction. Both are proved for every input, not estimated from samples.

    Parameters
    ----------
    model : Network, or a trained model of scikit-learn, PyTorch, Keras or ONNX
    rows : dict or Series, or frame or list of dicts
        One row, or several.
    data : frame or list of dicts, optional
        Training rows, which show what values the features can have.
    domain, encode, classes, threshold, output, other
        How a model is read; see `read_network`.
    reasons : int
        The number of different reasons to look for.
    smallest : bool
        Whether to find reasons with the fewest features, with proof. By default a
        reason only has no feature that could be left out.
    widen : bool
        Whether to state reasons as widely as they hold, as ranges and sets of values.
        Otherwise they have the row's own values.
    counterfactuals : bool
        Whether to look for counterfactuals, and for the radius.
    costs : dict, optional
        The cost of changing a feature: a number, or a pair, for the change and for
        each step. Features not named cost 1. The cheapest counterfactuals are found
        then; by default, those that change the fewest features.
    steps : dict, optional
        The step size in ranges of numbers: by default 1 for whole numbers, otherwise
        the largest power of ten that is at most a thousandth of the range. Among
        ordered values a step is one place.
    immutable, increase, decrease : sequences of feature names
        Features that must not change, may only increase, or may only decrease.
    forbidden : dict, optional
        Values that features must not change to; for ranges of numbers, pairs (low,
        high).
    impossible : list of dicts or texts, optional
        Inputs that cannot occur: each is a dict from features to values, or conditions
        as rules print them. Reasons and counterfactuals ignore them.
    reason_codes : dict, optional
        Texts for adverse action notices, by (feature, direction). The direction is
        "low" if a higher value would help, "high" if a lower one would, or "any". A
        feature alone means "any".
    adverse : class label, optional
        The only class whose rows get reason codes.
    rules : RuleList, optional
        Rules for the same features. Of a set, all rules that cover a row are listed; of
        a list, the one that determines its prediction.
    scorecard : Scorecard, optional
        The card whose points show which features cost a row most. By default the one
        that `extract` makes of the model and `data`, if the model has one: no hidden
        layer, one hidden unit, or up to eight piecewise-linear units.
    points_against : {"best", "typical"}
        What each feature is compared with: its best value for the row, or its typical
        one in `data`.
    skip_invalid : bool
        Whether to leave out rows that have an unknown value or are impossible;
        `Explanations.skipped` has their numbers and why. By default the first such row
        is an error, and a single row always is.
    engine : {"auto", "table", "search"}
        Use a table of all inputs, by default up to a million of them, or a search.
    budget : Budget, optional
    time : float, optional
        Seconds for all rows. What is not known by then is reported as undecided.
    n_jobs : int, optional
        The number of threads, by default one for each core. The result does not depend
        on it.
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
    Prediction: unripe (probability 0.731, margin 1).
    These conditions alone guarantee it, regardless of the other feature:
      size = small
    2 counterfactuals (1 change each):
      size = small → size ≠ small   (ripe)
    No smaller change flips the prediction.
    Changing a single feature can flip the prediction.
    Points that each feature costs towards another class (scorecard):
      size = small: 100 (best: size = medium)
    """
    progress_bar = progress_callback(progress)
    limits = Limits(1, 0, n_jobs, budget, progress_bar, time)
    n_reasons = whole_number("reasons", reasons, 1)
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
        class_list = ", ".join(repr(label) for label in network.classes)
        hint = did_you_mean(adverse, network.classes)
        raise OptionError(
            f"adverse: {adverse!r} is not a class; the classes are {class_list}{hint}"
        )
    points = card_reasons(network, scorecard, points_against, data)
    constraints = constraints_of(
        network.domain,
        immutable=immutable,
        increase=increase,
        decrease=decrease,
        forbidden=forbidden,
        impossible=impossible,
    )
    request = Request(
        n_reasons=n_reasons,
        smallest=smallest,
        widen=widen,
        counterfactuals=counterfactuals,
        constraints=constraints,
        prices=prices_of(network.domain, costs),
        steps=steps_of(network.domain, steps),
        reason_codes=None
        if reason_codes is None
        else read_reason_codes(network.domain, reason_codes),
        adverse=adverse,
        rules=checked_rules(network, rules),
        has_costs=costs is not None,
        points=points,
    )
    is_one = listed_rows(rows) is not rows
    inputs, skipped = inputs_of(
        network.domain, constraints, rows, skip=skip_invalid and not is_one
    )
    meter = limits.meter()
    with session(meter, n_jobs=n_jobs):
        judge = judge_of(network, engine, constraints.impossible, meter, n_jobs)
        explanations = RowExplainer(network, judge, request).explain(
            inputs, meter, n_jobs
        )
    return explanations[0] if is_one else Explanations(tuple(explanations), skipped)
