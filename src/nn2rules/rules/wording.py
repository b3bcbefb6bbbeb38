"""The facts of rules in words: one phrase for one fact, wherever it is said.

The printed page, the report, the summary of a command and the heads of exports all
speak with these; so do the warnings that a reader must know before trusting rules.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from nn2rules.language import count, label_text, share
from nn2rules.rules.certificate import certificate_of
from nn2rules.rules.facts import (
    is_counted,
    is_right,
    is_true_alone,
    is_whole_domain,
)
from nn2rules.space import wilson

if TYPE_CHECKING:
    from nn2rules.rules.description import Description
    from nn2rules.rules.rule_list import RuleList


_HUGE = 10**15


def classes_text(rules: "Description", most: int) -> str:
    """Name the classes, or say how many there are if they are more than `most`."""
    names = [label_text(label) for label in rules.classes]
    if len(names) > most:
        return f"{len(names):,} classes"
    return f"{', '.join(names[:-1])} or {names[-1]}"


def question_of(rules: "Description", most: int) -> str:
    """Return the question that rules answer, with the names of `most` classes."""
    asked = classes_text(rules, most)
    return f"Which of {asked}?" if len(rules.classes) > most else f"{asked}?"


def order_text(rules: "RuleList") -> str:
    """Say how rules are read."""
    return "tried from the top" if rules.form == "list" else "each true on its own"


def large_text(number: int) -> str:
    """Return a number in words that have room on a line.

    Examples
    --------
    >>> large_text(1728), large_text(3**40)
    ('1,728', 'about 1.2 × 10^19')
    """
    if number < _HUGE:
        return f"{number:,}"
    power = len(str(number)) - 1
    return f"about {number / 10**power:.1f} × 10^{power}"


def proof_of(rules: "Description") -> str:
    """Say in a few words what is proved; nothing if nothing is."""
    if not is_right(rules):
        return ""
    if not is_whole_domain(rules):
        rest = "what none decides is open"
        if not certificate_of(rules).is_complete:
            rest = "stopped early, so what none decides is not known yet"
        return f"Proved wherever a rule decides; {rest}"
    if is_counted(rules):
        inputs = rules.n_possible
        possible = "possible " * bool(certificate_of(rules).impossible)
        words = f"Proved for all {large_text(inputs)} {possible}inputs"
        return words if inputs > 1 else "Proved"
    return "Proved for every input"


def proved_of(rules: "RuleList") -> str:
    """Say in one plain sentence what is proved."""
    if not certificate_of(rules).is_given or not proof_of(rules):
        return (
            "Nothing is proved of these rules: they need not answer as the network "
            "does."
        )
    alone = " Each rule is true on its own." * is_true_alone(rules)
    if is_whole_domain(rules):
        every = "every possible input"
        if is_counted(rules) and rules.n_possible > 1:
            every = f"every one of the {rules.n_possible:,} possible inputs"
        return f"Proved: on {every}, these rules answer as the network does.{alone}"
    return (
        f"Proved: wherever a rule decides, on any possible input, seen or not, the "
        f"network gives the same answer. What no rule decides is open.{alone}"
    )


def coverage_of(rules: "Description") -> str:
    """Say how many new rows are covered; nothing where nothing is proved of rules."""
    found = certificate_of(rules).coverage
    if not is_right(rules):
        return ""
    if found is not None and found.rows and found.covered is not None:
        return _counted(found.covered, found.rows, found.on)
    if rules.is_everywhere:
        return ""
    reason = "no rows were held out" if found is None else found.reason
    return f"How many new rows are covered is not estimated: {reason}."


def _counted(covered: int, rows: int, which: str) -> str:
    """Say the share with its 95% interval.

    Examples
    --------
    >>> print(_counted(28, 80, "held-out rows"))
    About 35% of new rows are covered (28 of 80 held-out rows; 95% interval 25% to 46%).
    >>> print(_counted(3243, 3256, "held-out rows").partition(" held")[0])
    About 99.6% of new rows are covered (3,243 of 3,256
    >>> print(_counted(80, 80, "test rows"))
    About 100% of new rows are covered (80 of 80 test rows; 95% interval 95% to 100%).
    """
    low, high = wilson(covered, rows)
    counted = f"{covered:,} of {count(rows, which.removesuffix('s'))}"
    share = 100 * covered / rows
    digits = 0 if covered == rows or share < 99 else 1
    shown = "more than 99.9" if 99.9 < share < 100 else f"{share:.{digits}f}"
    return (
        f"About {shown}% of new rows are covered ({counted}; 95% interval "
        f"{100 * low:.{digits}f}% to {100 * high:.{digits}f}%)."
    )


_FEW_ROWS, _MANY_RULES = 2, 50
"""Many rules that decide fewer rows than that each are no description."""


def caveats_of(rules: "Description") -> list[str]:
    """Return what `Description.warnings` does."""
    found, known = [], certificate_of(rules)
    if known.different:
        inputs = rules.n_possible
        found.append(
            f"APPROXIMATE ({known.method}): not the network's answer on "
            f"{known.different:,} of {count(inputs, 'input')} "
            f"({share(known.different, inputs)})"
        )
    elif known.is_approximate:
        found.append(
            f"APPROXIMATE ({known.method}): a rule may give another answer than the "
            f"network"
        )
    return [*found, *origin_warnings(known.model)]


def origin_warnings(origin: object) -> list[str]:
    """Say what is not proved of how a model was read, by the origin of its network."""
    if not isinstance(origin, Mapping):
        return []
    return [
        *_stood_for(origin),
        *_spelled(origin),
        *_rounded(origin),
        *_probed(origin),
    ]


def by_heart(rules: "RuleList") -> list[str]:
    """Say that a network needs about one rule a row, and what helps."""
    decided = certificate_of(rules).rows_covered
    if rules.scope != "support" or len(rules) < _MANY_RULES:
        return []
    if decided is None or decided >= _FEW_ROWS * len(rules):
        return []
    return [
        f"LEARNT BY HEART: {decided / len(rules):.1f} rows a rule; such a network has "
        f"no short exact description. What helps is to train it otherwise: stop early, "
        f"a larger alpha, fewer units, bins for numbers; nn2rules.ReadableClassifier "
        f"(nn2rules train) makes networks to be read"
    ]


def _stood_for(origin: Mapping[str, Any]) -> list[str]:
    """Say where the model answers otherwise, since one word stands for all others."""
    n_rows, n_agreeing = origin.get("rows"), origin.get("rows_agreeing")
    if not isinstance(n_rows, int) or not isinstance(n_agreeing, int):
        return []
    n_other = n_rows - n_agreeing
    if n_other < 1:
        return []
    return [
        f"OTHER VALUES: the model itself answers otherwise on {n_other:,} of "
        f"{count(n_rows, 'given row')}, where a word stands for all others here"
    ]


def _spelled(origin: Mapping[str, Any]) -> list[str]:
    """Say which spellings of missing the model does not take for missing."""
    refused = origin.get("not_missing")
    if not isinstance(refused, Mapping) or not refused:
        return []
    shown = "; ".join(
        f"{name}: {' or '.join(map(str, spellings))}"
        for name, spellings in refused.items()
        if isinstance(spellings, list)
    )
    return [
        f"MISSING VALUES: the model tells some from its missing value ({shown}); rows "
        f"that hold one are refused as unknown values"
    ]


def _rounded(origin: Mapping[str, Any]) -> list[str]:
    """Say on how many of the user's rows the model's own rounding decides."""
    compared = origin.get("compared_rows")
    if not isinstance(compared, Mapping):
        return []
    n_rows, n_given = compared.get("given_rounded_otherwise"), compared.get("given")
    if not isinstance(n_rows, int) or not isinstance(n_given, int) or n_rows < 1:
        return []
    return [
        f"ROUNDING: on {n_rows:,} of your rows ({n_given:,} were compared) the model's "
        f"own rounding decides otherwise; such rows are fragile: their scores tie "
        f"within the model's rounding error, and the rules follow exact arithmetic"
    ]


def _probed(origin: Mapping[str, Any]) -> list[str]:
    """Say which steps of the model were only probed."""
    if not isinstance(origin.get("probed"), list):
        return []
    steps, n_rows = ", ".join(map(str, origin["probed"])), origin.get("probed_rows")
    tried = count(n_rows, "row") if isinstance(n_rows, int) else "rows"
    if not steps:
        return []
    return [
        f"READ BY PROBING ({steps}): that each column is treated on its own was tried "
        f"on {tried}, and is not proved"
    ]
