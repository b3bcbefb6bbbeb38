"""What `extract` makes where it is left open: form, scope and engine.

Before the model is read, the options tell whether a scorecard, rules or either of them
is asked for (`wanted_form`). Once the network is known, `becomes_scorecard` decides
between these two, and `settled` chooses the scope, form and engine of rules. Two forms
follow from other options as soon as these are given (`RuleOptions`): the engine "paper"
makes the form "paper", and a target makes a set.
"""

from dataclasses import replace
from typing import Literal

from nn2rules.engine import (
    COUNTED_NUMBERS,
    COVERED_INPUTS,
    ROW_LIST_INPUTS,
    ROW_SET_INPUTS,
    Budget,
    engine_for,
)
from nn2rules.errors import OptionError
from nn2rules.extraction.options import Form, Limits, Request, RuleOptions, RulesForm
from nn2rules.models import GivenRows
from nn2rules.network import Network
from nn2rules.space import Domain, Range, refuse_ranges


def wanted_form(
    form: str | None, **rule_options: object
) -> Literal["scorecard", "rules", "either"]:
    """Tell what is to be extracted, by the form and by options that rules have.

    Refuses those for a scorecard.
    """
    given = [
        name
        for name, value in rule_options.items()
        if value is not None and not (name == "engine" and value == "auto")
    ]
    if form != "scorecard":
        return "rules" if form is not None or given else "either"
    if rule_options.get("scope") == "domain":
        given.remove("scope")
    if given:
        raise OptionError(
            f"{given[0]} is for rules; a scorecard covers every input as it is"
        )
    return "scorecard"


def rules_form(form: Form | None) -> RulesForm | None:
    """Return the form of rules that is asked for; None if the scope decides."""
    return None if form in ("rules", "scorecard") else form  # type: ignore[return-value]


def becomes_scorecard(
    wanted: Literal["scorecard", "rules", "either"], network: Network
) -> bool:
    """Tell whether a scorecard is made: by request, or of a network that is linear.

    Such a network is a scorecard of one line for each value, without parts.
    """
    is_linear = len(network.layers) == 1 and not network.domain.has_curves
    return wanted == "scorecard" or (wanted == "either" and is_linear)


def settled(request: Request, network: Network, rows: GivenRows | None) -> Request:
    """Choose the scope, the form and the engine where they are not given."""
    chosen = _chosen(request.rules, network, rows, request.limits)
    request = replace(request, rules=chosen)
    request.check_length()
    if chosen.scope == "domain" and request.length.max_rules is None:
        _refuse_endless(network.domain, request.limits.spendable)
    return request


def _chosen(
    options: RuleOptions, network: Network, rows: GivenRows | None, limits: Limits
) -> RuleOptions:
    """Return the options with scope, form and engine chosen if they are not given."""
    domain = network.domain
    if options.form == "paper":
        instead = "use the form 'list' or 'set', or "
        refuse_ranges(domain.features, "the form 'paper'", instead)
    if options.scope is None:
        is_large = domain.n_inputs > COVERED_INPUTS
        if domain.has_ranges:
            is_large = domain.n_numbers is None or domain.n_numbers > COUNTED_NUMBERS
        is_support = is_large and rows is not None
        options = replace(options, scope="support" if is_support else "domain")
    if options.form is None:
        options = replace(options, form="set" if options.scope == "support" else "list")
    if options.engine == "paper":
        return options
    most, memory = COVERED_INPUTS, limits.spendable.memory
    if options.scope == "support":
        most = ROW_SET_INPUTS if options.form == "set" else ROW_LIST_INPUTS
    if options.form == "paper":
        most = memory
    return replace(options, engine=engine_for(network, options.engine, most, memory))


def _refuse_endless(domain: Domain, budget: Budget) -> None:
    """Refuse rules for every real number without a limit.

    Two classes may be separated by a slanted line, which boxes can only approach.
    """
    real = [f for f in domain.features if isinstance(f, Range) and not f.whole]
    if real and budget.seconds is None and budget.boxes is None:
        raise OptionError(
            f"rules for every number of {real[0].name!r} may never be complete; give "
            f"rows to cover (data, with the scope 'support'), or a limit: time=60 "
            f"(--time 60) or max_rules"
        )
