"""What a reader must know before trusting rules."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from nn2rules.language import count, share
from nn2rules.rules.certificate import certificate_of

if TYPE_CHECKING:
    from nn2rules.rules.rule_list import RuleList

_FEW_ROWS, _MANY_RULES = 2, 50
"""Many rules that decide fewer rows than that each are no description."""


def warnings_of(rules: "RuleList") -> list[str]:
    """Return what `RuleList.warnings` does."""
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
    read = origin_warnings(known.model)
    return [*found, *read, *by_heart(rules)]


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
    decided = certificate_of(rules).rows_decided
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
