"""The user's rows, read once, and the facts about rules that they show."""

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

_CELLS, _RULES = 1 << 24, 256  # the most that is compared at once


@dataclass(frozen=True)
class GivenRows:
    """Rows of data as codes.

    Attributes
    ----------
    domain : Domain
        Of the network.
    codes : ndarray of int, shape (n_rows, n_features)
    numbers : ndarray of float, of the same shape, or None
        The numbers of ranges, and 1 elsewhere; None if no feature is a range.
    labels : ndarray of int, shape (n_rows,), or None
        The position of the true class of each row.
    """

    domain: Domain
    codes: NDArray[np.int64]
    numbers: NDArray[np.float64] | None = None
    labels: NDArray[np.int64] | None = None

    @cached_property
    def _distinct(self) -> tuple[NDArray[np.int64], ...]:
        """The first position of each distinct row, its count, and an index.

        The index has the position of each row among the distinct ones.
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
        """The distinct rows: codes and, if there are ranges, numbers."""
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
        """Return the classes that a network predicts for the distinct rows.

        They are cached.
        """
        # The network is kept beside its predictions, so that its id stays in use.
        cache: dict[int, tuple[Network, NDArray[np.int64]]]
        cache = self.__dict__.setdefault("_predictions", {})
        if id(network) not in cache:
            cache[id(network)] = network, network.predict_codes(*self.distinct)
        return cache[id(network)][1]

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the cache: ids differ in another process."""
        return {k: v for k, v in self.__dict__.items() if k != "_predictions"}

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

    Rules of a set also get the number of rows that they cover, regardless of others.

    Raises
    ------
    InternalError
        If a rule of a set contradicts the `network` on a row.
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
    """Compare each rule of a set with the network on all rows that it covers."""
    answers = rows.answers(network)[rows.places]
    for index, (total, right) in enumerate(_fitting(rules, rows, answers)):
        if total != right:
            raise InternalError(
                f"rule {rules.names[index]} contradicts the network on a row"
            )


def _fitting(
    rules: RuleList, rows: GivenRows, classes: NDArray[np.int64] | None
) -> list[tuple[int, int | None]]:
    """Return for each rule the rows that it covers, and those with its class.

    The latter only if the rows have classes.
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
    """Sort rules of one class by their support.

    In the scope "support", rules without support are left out.
    """
    rules = with_rows(rules, rows)
    support = np.array([facts.support for facts in rules.facts], dtype=np.int64)
    order = np.argsort(-support, kind="stable")
    certificate = {k: v for k, v in rules.certificate.items() if k != "rules"}
    if scope == "support":
        if certificate.pop("different", None):  # no longer the right number
            certificate["approximate"] = True
        order = order[: int((support > 0).sum())]
    # The rules have one class and no input in common, so their order does not matter.
    rules = rules.replace(
        boxes=rules.boxes[order],
        answers=rules.answers[order],
        facts=[rules.facts[index] for index in order.tolist()],
        scope=scope,
        certificate=certificate,
    )
    return rules if scope == "domain" else with_decided(rules, rows)


def with_decided(rules: RuleList, rows: GivenRows) -> RuleList:
    """Add to the certificate how much rules of the scope "support" cover.

    This counts rows and, if it is known how many inputs can occur, inputs: those of
    each rule, or the union of their boxes.
    """
    fired = rules.match(rows.codes_in(rules.domain))
    certificate = {**rules.certificate, "rows": len(fired)}
    certificate["rows_covered"] = int((fired != NO_RULE).sum())
    return rules.replace(certificate={**certificate, **_uncovered(rules)})


def _uncovered(rules: RuleList) -> dict[str, int]:
    """Count the inputs that no rule covers, or bound their number."""
    decided = [facts.inputs for facts in rules.facts]
    known = certificate_of(rules)
    is_cut_down = known.has_impossible
    if rules.domain.has_ranges:
        return {}
    if None not in decided and (known.possible is not None or not is_cut_down):
        return {"uncovered": rules.n_possible - sum(decided)}  # type: ignore[arg-type]
    if is_cut_down:
        return {}
    union = covered(rules.domain, rules.boxes)
    minimum, maximum = union.total - union.upper, union.total - union.lower
    if minimum == maximum:
        return {"uncovered": minimum}
    return {"uncovered_at_least": minimum, "uncovered_at_most": maximum}


def with_different(rules: RuleList, network: Network, rows: GivenRows) -> RuleList:
    """Add to the certificate on how many rows the rules differ from the network."""
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
    """Add to the certificate how often the network predicts each class, and rightly."""
    if rows is None:
        return rules
    try:
        answers = rows.answers(network)
    except UndecidedError:  # a row is too near to a tie
        return rules
    counts = np.bincount(answers, rows.weights, minlength=len(network.classes))
    certificate = {**rules.certificate, "class_rows": [int(n) for n in counts]}
    if rows.labels is not None:
        agreeing = rows.labels == answers[rows.places]
        certificate["labels_agree"] = int(agreeing.sum())
    return rules.replace(certificate=certificate)


def needs_rows(scope: str | None, data: Rows, labels: object) -> None:
    """Refuse options that need rows, if there are none."""
    if data is not None:
        return
    if labels is not None:
        raise OptionError("labels belong to rows; give data, too")
    if scope == "support":
        raise OptionError("the scope 'support' needs data: rows for the rules to cover")
