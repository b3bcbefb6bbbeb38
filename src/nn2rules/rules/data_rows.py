"""The user's rows, read once, and what rules say about them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import InternalError, OptionError, UndecidedError
from nn2rules.network import Network
from nn2rules.rules.certificate import certificate_of
from nn2rules.rules.matching import NO_RULE
from nn2rules.rules.rule_list import RuleList
from nn2rules.rules.volume import covered
from nn2rules.space import Domain, Rows, Value, cut_codes

_CELLS, _RULES = 1 << 24, 256  # of what is compared at a time


@dataclass(frozen=True)
class GivenRows:
    """Rows of data as codes.

    Attributes
    ----------
    domain : Domain
        Of the network.
    codes : ndarray of int, shape (n_rows, n_features)
    numbers : ndarray of float, of the same shape, or None
        The numbers of ranges, and 1 elsewhere; None where no feature is a range.
    labels : ndarray of int, shape (n_rows,), or None
        The position of the true class of each row.
    """

    domain: Domain
    codes: NDArray[np.int64]
    numbers: NDArray[np.float64] | None = None
    labels: NDArray[np.int64] | None = None

    @cached_property
    def _distinct(self) -> tuple[NDArray[np.int64], ...]:
        """Where each of the different rows comes first, how often it occurs, and which.

        The last tells of each row which of the different ones it is.
        """
        both = self.codes
        if self.numbers is not None:
            both = np.hstack([self.codes, self.numbers.view(np.int64)])
        _, first, places, counts = np.unique(
            both, axis=0, return_index=True, return_inverse=True, return_counts=True
        )
        return first, counts, places.reshape(-1)

    @property
    def distinct(self) -> tuple[NDArray[np.int64], NDArray[np.float64] | None]:
        """The different rows: codes and, where there are ranges, numbers."""
        first = self._distinct[0]
        numbers = None if self.numbers is None else self.numbers[first]
        return self.codes[first], numbers

    def codes_in(self, domain: Domain) -> NDArray[np.int64]:
        """Return the codes of the rows in the network's domain, with ranges cut."""
        if self.numbers is None:
            return self.codes
        return cut_codes(domain, self.codes, self.numbers)

    def distinct_codes(self, domain: Domain) -> NDArray[np.int64]:
        """Return what `codes_in` does, of the different rows."""
        return self.codes_in(domain)[self._distinct[0]]

    @property
    def weights(self) -> NDArray[np.int64]:
        """How often each of the different rows occurs."""
        return self._distinct[1]

    @property
    def places(self) -> NDArray[np.int64]:
        """Of each row which of the different ones it is."""
        return self._distinct[2]

    def answers(self, network: Network) -> NDArray[np.int64]:
        """Return the classes that a network gives the different rows.

        They are kept, as that takes a while.
        """
        # The network is kept beside its answers: an id is free again once it is gone.
        known: dict[int, tuple[Network, NDArray[np.int64]]]
        known = self.__dict__.setdefault("_answers", {})
        if id(network) not in known:
            known[id(network)] = network, network.predict_codes(*self.distinct)
        return known[id(network)][1]

    def __getstate__(self) -> dict[str, Any]:
        """Leave out answers that are kept: elsewhere the networks are others."""
        return {k: v for k, v in self.__dict__.items() if k != "_answers"}

    def __len__(self) -> int:
        return len(self.codes)


def given_rows(
    network: Network, data: Rows, labels: Sequence[Value] | None = None
) -> GivenRows:
    """Read rows, and their true classes if there are any."""
    domain = network.domain
    codes, numbers = domain.inputs_of(data)
    positions = None
    if labels is not None:
        nothing = RuleList(domain, (), network.classes[0], network.classes)
        positions = nothing.positions(labels, len(codes))
    return GivenRows(domain, codes, numbers, positions)


def with_rows(
    rules: RuleList, rows: GivenRows, network: Network | None = None
) -> RuleList:
    """Return the rules with their support on the rows, and accuracy if labelled.

    Those of a set also with the rows that fit them, whatever other rules say.

    Raises
    ------
    InternalError
        If a rule of a set is wrong on a row, by the answers of the `network`.
    """
    fired = rules.match(rows.codes_in(rules.domain))
    decided = fired != NO_RULE
    support = np.bincount(fired[decided], minlength=len(rules))
    right = None
    if rows.labels is not None:
        hits = decided & (rows.labels == np.append(rules.answers, -1)[fired])
        right = np.bincount(fired[hits], minlength=len(rules))
    fitting = None
    if rules.form == "set":
        fitting = _fitting(rules, rows, rows.labels)
        if network is not None and not certificate_of(rules).has_impossible:
            _refuse_wrong(rules, rows, network)
    facts = [
        replace(
            known,
            covered=None if fitting is None else fitting[index][0],
            covered_agree=None if fitting is None else fitting[index][1],
            support=int(support[index]),
            accuracy=float(right[index] / support[index])
            if right is not None and support[index]
            else None,
        )
        for index, known in enumerate(rules.facts)
    ]
    return rules.replace(facts=facts)


def _refuse_wrong(rules: RuleList, rows: GivenRows, network: Network) -> None:
    """Compare each rule of a set with the network on all rows that fit it."""
    answers = rows.answers(network)[rows.places]
    for index, (total, right) in enumerate(_fitting(rules, rows, answers)):
        if total != right:
            raise InternalError(f"rule {rules.names[index]} is wrong on a row")


def _fitting(
    rules: RuleList, rows: GivenRows, classes: NDArray[np.int64] | None
) -> list[tuple[int, int | None]]:
    """Return for each rule how many rows fit it, and how many are of its class.

    By the classes of the rows, if there are any.
    """
    codes, places = np.unique(rows.codes_in(rules.domain), axis=0, return_inverse=True)
    kinds = len(rules.classes)
    labels = np.zeros(len(places), dtype=np.int64)
    labels = labels if classes is None else classes
    weights = np.zeros((len(codes), kinds), dtype=np.int64)
    np.add.at(weights, (places.ravel(), labels), 1)
    found = np.zeros((len(rules), kinds), dtype=np.int64)
    n_columns = rules.boxes.shape[1]
    step = max(1, _CELLS // n_columns)
    for start in range(0, len(codes), step):
        part = codes[start : start + step] + rules.domain.offsets[:-1]
        has = np.zeros((len(part), n_columns), dtype=np.float32)
        has[np.arange(len(part))[:, np.newaxis], part] = 1
        for first in range(0, len(rules), _RULES):
            forbidden = ~rules.boxes[first : first + _RULES]
            is_covered = has @ forbidden.T.astype(np.float32) == 0
            found[first : first + _RULES] += (
                is_covered.T @ weights[start : start + step]
            )
    totals, answers = found.sum(axis=1).tolist(), rules.answers
    agreeing = found[np.arange(len(rules)), answers].tolist()
    return [
        (total, None if classes is None else agree)
        for total, agree in zip(totals, agreeing, strict=True)
    ]


def by_support(rules: RuleList, rows: GivenRows, scope: str) -> RuleList:
    """Sort rules of one class by their support; in the scope "support" keep some.

    Those are the rules with any support.
    """
    rules = with_rows(rules, rows)
    support = np.array([facts.support for facts in rules.facts], dtype=np.int64)
    order = np.argsort(-support, kind="stable")
    certificate = {k: v for k, v in rules.certificate.items() if k != "rules"}
    if scope == "support":
        if certificate.pop("different", None):  # a number that holds no more
            certificate["approximate"] = True
        order = order[: int((support > 0).sum())]
    # The rules have one answer and no input in common, so the facts hold in any order.
    rules = rules.replace(
        boxes=rules.boxes[order],
        answers=rules.answers[order],
        facts=[rules.facts[index] for index in order.tolist()],
        scope=scope,
        certificate=certificate,
    )
    return rules if scope == "domain" else with_decided(rules, rows)


def with_decided(rules: RuleList, rows: GivenRows) -> RuleList:
    """Certify how much rules of the scope "support" decide.

    Of the rows and, where it is known how many inputs can occur, of inputs: by what
    each rule decides, or by the union of their boxes.
    """
    fired = rules.match(rows.codes_in(rules.domain))
    certificate = {**rules.certificate, "rows": len(fired)}
    certificate["rows_covered"] = int((fired != NO_RULE).sum())
    return rules.replace(certificate={**certificate, **_uncovered(rules)})


def _uncovered(rules: RuleList) -> dict[str, int]:
    """Count the inputs that no rule decides, or bound their number on both sides."""
    decided = [facts.inputs for facts in rules.facts]
    known = certificate_of(rules)
    is_cut_down = known.has_impossible
    if rules.domain.has_ranges:
        return {}
    if None not in decided and (known.possible is not None or not is_cut_down):
        return {"uncovered": rules.n_possible - sum(decided)}  # type: ignore[arg-type]
    if is_cut_down:
        return {}
    found = covered(rules.domain, rules.boxes)
    least, most = found.total - found.upper, found.total - found.lower
    if least == most:
        return {"uncovered": least}
    return {"uncovered_at_least": least, "uncovered_at_most": most}


def with_different(rules: RuleList, network: Network, rows: GivenRows) -> RuleList:
    """Certify on how many rows the rules answer otherwise than the network."""
    found = rules.predictions(rows.distinct_codes(rules.domain)).classes
    wrong = found != rows.answers(network)
    certificate = {
        **rules.certificate,
        "rows_different": int(rows.weights[wrong].sum()),
    }
    return rules.replace(certificate=certificate)


def with_class_rows(
    rules: RuleList, network: Network, rows: GivenRows | None
) -> RuleList:
    """Certify on how many rows the network answers each class, and as labelled."""
    if rows is None:
        return rules
    try:
        answers = rows.answers(network)
    except UndecidedError:  # no arithmetic of ours tells the answer of some row
        return rules
    counts = np.bincount(answers, rows.weights, minlength=len(network.classes))
    certificate = {**rules.certificate, "class_rows": [int(n) for n in counts]}
    if rows.labels is not None:
        agreeing = rows.labels == answers[rows.places]
        certificate["labels_agree"] = int(agreeing.sum())
    return rules.replace(certificate=certificate)


def needs_rows(scope: str | None, data: Rows, labels: object) -> None:
    """Refuse options that rows are missing for."""
    if data is not None:
        return
    if labels is not None:
        raise OptionError("labels belong to rows; give the data, too")
    if scope == "support":
        raise OptionError("the scope 'support' needs data: rows that are to be decided")
