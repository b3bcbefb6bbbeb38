"""Which features turn answers: every feature counted, the protected ones in full."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nn2rules.engine import Meter
from nn2rules.errors import BudgetExceededError, UndecidedError
from nn2rules.extraction import DRAWN_ROWS, Influences, counted
from nn2rules.models import GivenRows
from nn2rules.network import Network
from nn2rules.questions.audit.findings import Influence, Protected
from nn2rules.questions.audit.sharing import Question, Sharing, verdicts
from nn2rules.questions.claims import independent_of
from nn2rules.questions.verify import Asker, Verdict
from nn2rules.space import Value

_SHARE = 0.4  # of the time, at most, to count on all rows


@dataclass(frozen=True)
class Askers:
    """Who is asked: about all inputs (and rows, by a table), and about some rows."""

    everywhere: Asker
    on_rows: Asker | None
    impossible: Any = None

    @property
    def network(self) -> Network:
        """The network."""
        return self.everywhere.network


def count_rows(network: Network, rows: GivenRows, meter: Meter) -> Influences | None:
    """Count on all rows what each feature turns, or on some if that takes long."""
    whole, began = meter.budget.seconds, monotonic()
    try:
        found = counted(network, rows, meter)
    except (BudgetExceededError, UndecidedError):
        return None
    ahead = 1.5 * (monotonic() - began) * len(rows) / max(1, found.rows)
    is_drawn = found.rows <= DRAWN_ROWS < len(rows)
    if is_drawn and (whole is None or ahead <= _SHARE * whole):
        try:
            return counted(network, rows, meter, most=len(rows))
        except (BudgetExceededError, UndecidedError):
            return found
    return found


def turning(
    askers: Askers,
    drawn: Influences | None,
    protected: Sequence[str],
    rows: GivenRows,
    sharing: Sharing,
) -> tuple[dict[str, Influence], dict[str, Protected]]:
    """Return what each feature turns, and what the protected ones do."""
    network = askers.network
    found_of = _verdicts(askers, drawn, protected, sharing)
    answers: dict[str, dict[Value, dict[Value, int]]] = {}
    for name in protected:
        verdict = found_of.get(name)
        is_plain = askers.impossible is None  # or some values would be none
        if verdict is not None and verdict.status != "proved" and is_plain:
            answers[name] = _answers(network, rows, name)
            found_of[name] = _with_rows(verdict, answers[name], len(rows))
    found = [_influence(n, verdict, drawn) for n, verdict in found_of.items()]
    found.sort(key=lambda one: (-(one.rows or 0), -(one.inputs or 0)))
    words = {"proved": "never", "refuted": "turns", "open": "open"}
    by_name = {}
    for name in protected:
        verdict = found_of.get(name)
        status: Any = "unseen" if verdict is None else words[verdict.status]
        by_name[name] = Protected(name, status, verdict, answers.get(name, {}))
    return {one.feature: one for one in found}, by_name


def _with_rows(
    verdict: Verdict, answers: Mapping[Value, Mapping[Value, int]], n_rows: int
) -> Verdict:
    """Tell a verdict what every value makes of all rows, where values are listed."""
    if not answers:
        return verdict
    turned = sum(next(iter(answers.values())).values())
    return replace(verdict, status="refuted", reason="", rows=turned, total_rows=n_rows)


def is_asked(name: str, drawn: Influences | None, protected: Sequence[str]) -> bool:
    """Tell whether a feature needs a proof: no row says that it matters."""
    return name in protected or drawn is None or not drawn.of[name]


def _verdicts(
    askers: Askers,
    drawn: Influences | None,
    protected: Sequence[str],
    sharing: Sharing,
) -> dict[str, Verdict | None]:
    """Ask whether features matter; None if some row says so and no more is asked."""
    found: dict[str, Verdict | None] = dict.fromkeys(askers.network.domain.names)
    asked = [name for name in found if is_asked(name, drawn, protected)]
    for name, verdict in _ask(askers.everywhere, asked, sharing).items():
        found[name] = _with_drawn(verdict, name, drawn)
    if askers.on_rows is None:
        return found
    full = [name for name in asked if name in protected]
    full = [name for name in full if not _is_proved(found[name])]
    for name, own in _ask(askers.on_rows, full, sharing).items():
        found[name] = _with_own(found[name], own)
    return found


def _ask(asker: Asker, names: Sequence[str], sharing: Sharing) -> dict[str, Verdict]:
    questions = [Question(name, independent_of(name)) for name in names]
    return dict(zip(names, verdicts(asker, questions, sharing), strict=True))


def _is_proved(verdict: Verdict | None) -> bool:
    return verdict is not None and verdict.status == "proved"


def _with_drawn(verdict: Verdict, name: str, drawn: Influences | None) -> Verdict:
    """Tell a verdict what was counted on rows."""
    if drawn is None:
        return verdict
    known = replace(verdict, rows=drawn.of[name], total_rows=drawn.rows)
    return replace(known, status="refuted", reason="") if drawn.of[name] else known


def _with_own(verdict: Verdict | None, own: Verdict) -> Verdict | None:
    """Tell a verdict which row breaks the claim, if one does."""
    if verdict is None or own.status != "refuted":
        return verdict
    return replace(
        verdict,
        status="refuted",
        reason="",
        counterexample=own.counterexample,
        answer=own.answer,
        distance=own.distance,
        boxes=verdict.boxes + own.boxes,
        seconds=verdict.seconds + own.seconds,
    )


def _influence(
    name: str, verdict: Verdict | None, drawn: Influences | None
) -> Influence:
    if verdict is None:
        assert drawn is not None, "a row said so"
        return Influence(name, "turns", None, None, drawn.of[name], drawn.rows)
    words = {"proved": "dead", "refuted": "turns", "open": "open"}
    return Influence(
        name,
        words[verdict.status],  # type: ignore[arg-type]
        verdict.count,
        verdict.total,
        verdict.rows,
        verdict.total_rows,
    )


def _answers(
    network: Network, rows: GivenRows, name: str
) -> dict[Value, dict[Value, int]]:
    """Count the classes that the rows a feature turns would get with each value."""
    index = network.domain.index(name)
    feature = network.domain.features[index]
    if feature.limits is not None:
        return {}
    codes, numbers = rows.distinct
    found: list[NDArray[np.int64]] = []
    for code in range(len(feature)):
        changed = codes.copy()
        changed[:, index] = code
        found.append(network.predict_codes(changed, numbers))
    answers = np.stack(found)
    turned = (answers != answers[0]).any(axis=0)
    weights, n_classes = rows.weights[turned], len(network.classes)
    if not turned.any():
        return {}
    return {
        value: dict(
            zip(
                network.classes,
                np.bincount(own[turned], weights, n_classes).astype(int).tolist(),
                strict=True,
            )
        )
        for value, own in zip(feature.values, answers, strict=True)
    }
