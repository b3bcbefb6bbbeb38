"""The facts of a description in words: one phrase for one fact, wherever it is shown.

The printed page, the report, the summary of a command and the heads of exports use
these phrases, and so do the warnings to read before trusting a description.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from nn2rules.language import count, label_text, share
from nn2rules.rules.certificate import certificate_of
from nn2rules.rules.facts import (
    holds_alone,
    is_counted,
    is_exact,
    is_whole_domain,
)
from nn2rules.space import wilson

if TYPE_CHECKING:
    from nn2rules.rules.description import Description
    from nn2rules.rules.rule_list import RuleList

_LARGE = 10**15  # numbers from here on are rounded

OTHERWISE = "otherwise"
NOT_PROVED = "otherwise (not proved)"
"""What is before the default where it is a claim, and where it is not."""


def otherwise_text(description: "Description") -> str:
    """Return the words that take the place of conditions before the default."""
    return NOT_PROVED if description.scope == "support" else OTHERWISE


def classes_text(description: "Description", most: int) -> str:
    """Name the classes, or say how many there are if they are more than `most`."""
    names = [label_text(label) for label in description.classes]
    if len(names) > most:
        return f"{len(names):,} classes"
    return f"{', '.join(names[:-1])} or {names[-1]}"


def title_of(description: "Description", most: int) -> str:
    """Say what is predicted, with the names of at most `most` classes."""
    one_of = "one of " * (len(description.classes) > most)
    return f"Predicts {one_of}{classes_text(description, most)}"


def order_text(rules: "RuleList") -> str:
    """Say how rules are read."""
    return "tried in order" if rules.form == "list" else "each holds on its own"


def large_text(number: int) -> str:
    """Return a number in words that fit on a line.

    Examples
    --------
    >>> large_text(1728), large_text(3**40)
    ('1,728', 'about 1.2 × 10^19')
    """
    if number < _LARGE:
        return f"{number:,}"
    power = len(str(number)) - 1
    return f"about {number / 10**power:.1f} × 10^{power}"


def proof_of(description: "Description") -> str:
    """Say in a few words what is proved; nothing if nothing is."""
    if not is_exact(description):
        return ""
    if not is_whole_domain(description):
        rest = "nothing is claimed about other inputs"
        if not certificate_of(description).is_complete:
            rest = "extraction stopped early, so there may be more rules"
        return f"Proved for every input that a rule covers; {rest}"
    if is_counted(description):
        n_inputs = description.n_possible
        possible = "possible " * bool(certificate_of(description).impossible)
        text = f"Proved for all {large_text(n_inputs)} {possible}inputs"
        return text if n_inputs > 1 else "Proved"
    return "Proved for every input"


def proof_sentence_of(rules: "RuleList") -> str:
    """Say in plain sentences what is proved."""
    if not certificate_of(rules).is_given or not proof_of(rules):
        return (
            "Nothing is proved about these rules: their predictions may differ from "
            "those of the network."
        )
    alone = " Every rule holds on its own." * holds_alone(rules)
    if is_whole_domain(rules):
        inputs = "every possible input"
        if is_counted(rules) and rules.n_possible > 1:
            inputs = f"each of the {large_text(rules.n_possible)} possible inputs"
        return f"Proved: for {inputs}, the rules predict what the network does.{alone}"
    return (
        f"Proved: for every possible input that a rule covers, seen or not, the rules "
        f"predict what the network does. Nothing is claimed about inputs that no rule "
        f"covers.{alone}"
    )


def coverage_of(description: "Description") -> str:
    """Say how many new rows are covered; nothing where nothing is proved."""
    coverage = certificate_of(description).coverage
    if not is_exact(description):
        return ""
    if coverage is not None and coverage.rows and coverage.covered is not None:
        return _estimate(coverage.covered, coverage.rows, coverage.on)
    if description.is_everywhere:
        return ""
    reason = "no rows were held out" if coverage is None else coverage.reason
    return f"How many new rows are covered was not estimated: {reason}."


def _estimate(n_covered: int, n_rows: int, which: str) -> str:
    """State a share with its 95% interval.

    Examples
    --------
    >>> print(_estimate(28, 80, "held-out rows"))
    About 35% of new rows are covered (28 of 80 held-out rows; 95% interval 25% to 46%).
    >>> print(_estimate(3243, 3256, "held-out rows").partition(" held")[0])
    About 99.6% of new rows are covered (3,243 of 3,256
    >>> print(_estimate(80, 80, "test rows"))
    About 100% of new rows are covered (80 of 80 test rows; 95% interval 95% to 100%).
    """
    low, high = wilson(n_covered, n_rows)
    counted = f"{n_covered:,} of {count(n_rows, which.removesuffix('s'))}"
    percentage = 100 * n_covered / n_rows
    digits = 0 if n_covered == n_rows or percentage < 99 else 1
    shown = f"{percentage:.{digits}f}"
    shown = "more than 99.9" if 99.9 < percentage < 100 else shown
    return (
        f"About {shown}% of new rows are covered ({counted}; 95% interval "
        f"{100 * low:.{digits}f}% to {100 * high:.{digits}f}%)."
    )


_FEW_ROWS, _MANY_RULES = 2, 50
"""Many rules with fewer rows than that each do not describe the data."""


def caveats_of(description: "Description") -> list[str]:
    """Return what `Description.warnings` does."""
    caveats, certificate = [], certificate_of(description)
    n_different, method = certificate.different, certificate.method
    if n_different:
        n_inputs = description.n_possible
        caveats.append(
            f"APPROXIMATE ({method}): differs from the network on {n_different:,} of "
            f"{count(n_inputs, 'input')} ({share(n_different, n_inputs)})"
        )
    elif certificate.is_approximate:
        caveats.append(
            f"APPROXIMATE ({method}): predictions may differ from the network's"
        )
    return [*caveats, *origin_warnings(certificate.model)]


def overfitting_warnings(rules: "RuleList") -> list[str]:
    """Warn where there is about one rule per row, and say what helps."""
    n_covered = certificate_of(rules).rows_covered
    if rules.scope != "support" or len(rules) < _MANY_RULES:
        return []
    if n_covered is None or n_covered >= _FEW_ROWS * len(rules):
        return []
    return [
        f"POSSIBLE OVERFITTING: each rule determines only {n_covered / len(rules):.1f} "
        f"rows on average; no short exact rule set was found. Training differently may "
        f"help: early stopping, a larger alpha, fewer units or binned numbers; "
        f"nn2rules.ReadableClassifier (nn2rules train) trains networks with few rules, "
        f"and nn2rules.summarize(model, data) (nn2rules summarize) makes a short "
        f"summary, which is not exact"
    ]


def origin_warnings(origin: object) -> list[str]:
    """Say what is not proved about how a model was read, by its network's `origin`."""
    if not isinstance(origin, Mapping):
        return []
    return [
        *_summary(origin),
        *_unlisted_values(origin),
        *_missing_spellings(origin),
        *_rounding(origin),
        *_probed_steps(origin),
    ]


def is_summary(origin: object) -> bool:
    """Tell whether a network was trained to imitate a model, which it is not."""
    return isinstance(origin, Mapping) and "summary_of" in origin


def _summary(origin: Mapping[str, Any]) -> list[str]:
    """Say that a network only imitates a model, and how well."""
    if not is_summary(origin):
        return []
    rows, text = origin.get("unseen_rows"), origin.get("unseen_rows_text")
    measured = ""
    if isinstance(rows, int) and isinstance(text, str):
        measured = f": agrees with the model on {text} of unseen rows"
        measured += f" ({count(rows, 'row')})"
    return [f"Summary, not an exact description{measured}"]


def _unlisted_values(origin: Mapping[str, Any]) -> list[str]:
    """Say on how many rows one value in place of all unlisted ones differs."""
    n_rows, n_agreeing = origin.get("rows"), origin.get("rows_agreeing")
    if not isinstance(n_rows, int) or not isinstance(n_agreeing, int):
        return []
    n_different = n_rows - n_agreeing
    if n_different < 1:
        return []
    return [
        f"OTHER VALUES: on {n_different:,} of {count(n_rows, 'given row')} the model "
        f"itself predicts another class, because here one value stands for all "
        f"categories that are not listed"
    ]


def _missing_spellings(origin: Mapping[str, Any]) -> list[str]:
    """Say which spellings of missing the model does not treat as missing."""
    not_missing = origin.get("not_missing")
    if not isinstance(not_missing, Mapping) or not not_missing:
        return []
    listed = "; ".join(
        f"{name}: {' or '.join(map(str, spellings))}"
        for name, spellings in not_missing.items()
        if isinstance(spellings, list)
    )
    return [
        f"MISSING VALUES: the model does not treat some spellings as missing "
        f"({listed}); rows with one of them are rejected as unknown values"
    ]


def _rounding(origin: Mapping[str, Any]) -> list[str]:
    """Say on how many of the user's rows the model's own rounding matters."""
    compared = origin.get("compared_rows")
    if not isinstance(compared, Mapping):
        return []
    n_different = compared.get("data_rounded_differently")
    n_compared = compared.get("data")
    if not isinstance(n_different, int) or not isinstance(n_compared, int):
        return []
    if n_different < 1:
        return []
    return [
        f"ROUNDING: on {n_different:,} of your rows ({n_compared:,} were compared) the "
        f"model predicts another class because it rounds; such rows are fragile: their "
        f"scores tie within its rounding error, and the rules follow exact arithmetic"
    ]


def _probed_steps(origin: Mapping[str, Any]) -> list[str]:
    """Say which steps of the model were only probed."""
    if not isinstance(origin.get("probed"), list):
        return []
    steps, n_rows = ", ".join(map(str, origin["probed"])), origin.get("probed_rows")
    tested = count(n_rows, "row") if isinstance(n_rows, int) else "rows"
    if not steps:
        return []
    return [
        f"READ BY PROBING ({steps}): that it transforms each column on its own was "
        f"tested on {tested}, and is not proved"
    ]
