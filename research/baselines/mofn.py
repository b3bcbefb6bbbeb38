"""Tests of the kind *m of n*, and the search for a good one.

A test of n literals holds if at least m of them do. One literal alone makes an
ordinary test; ``1 of`` means *or*, ``n of n`` means *and*.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri, xlogy

from nn2rules.language import condition_text
from nn2rules.space import Domain, Feature

SIGNIFICANCE = 0.05
"""How often a literal that tells nothing may get into a test."""


@dataclass(frozen=True, slots=True)
class Literal:
    """A condition on one feature: the values, by code, for which it holds.

    Examples
    --------
    >>> size = Feature("size", ("small", "medium", "big"))
    >>> literal = Literal(0, (True, False, True))
    >>> literal.text(Domain((size,)))
    'size ≠ medium'
    """

    feature: int
    allowed: tuple[bool, ...]

    def text(self, domain: Domain) -> str:
        """Return the literal as rules print it."""
        feature = domain.features[self.feature]
        pairs = zip(feature.values, self.allowed, strict=True)
        return condition_text(feature, [value for value, allowed in pairs if allowed])


@dataclass(frozen=True, slots=True)
class MofN:
    """A test that holds if at least `m` of its literals do.

    Examples
    --------
    >>> size = Feature("size", ("small", "medium", "big"), ordered=True)
    >>> domain = Domain((size, Feature("color", ("red", "yellow"))))
    >>> small, red = Literal(0, (True, True, False)), Literal(1, (True, False))
    >>> test = MofN(2, (small, red))
    >>> test.text(domain)
    '2 of {size ≤ medium, color = red}'
    >>> test.holds(np.array([[0, 0], [0, 1], [2, 0]]))
    array([ True, False, False])
    """

    m: int
    literals: tuple[Literal, ...]

    def holds(self, codes: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Tell for each input whether the test holds."""
        count = np.zeros(len(codes), dtype=np.int64)
        for literal in self.literals:
            count += np.array(literal.allowed)[codes[:, literal.feature]]
        return count >= self.m

    @property
    def features(self) -> frozenset[int]:
        """The features that the literals are about, by position."""
        return frozenset(literal.feature for literal in self.literals)

    def text(self, domain: Domain) -> str:
        """Return the test as a tree prints it."""
        texts = [literal.text(domain) for literal in self.literals]
        return texts[0] if len(texts) == 1 else f"{self.m} of {{{', '.join(texts)}}}"


def literals_of(domain: Domain) -> tuple[Literal, ...]:
    """Return every literal: =, ≠ and, for ordered features, ≤ and ≥.

    Of literals that hold for the same values only the first is kept.

    Examples
    --------
    >>> size = Feature("size", ("small", "medium", "big"), ordered=True)
    >>> domain = Domain((size, Feature("color", ("red", "yellow"))))
    >>> [literal.text(domain) for literal in literals_of(domain)]
    ... # doctest: +NORMALIZE_WHITESPACE
    ['size = small', 'size = medium', 'size = big', 'size ≤ medium', 'size ≥ medium',
     'size ≠ medium', 'color = red', 'color = yellow']
    """
    found: dict[Literal, None] = {}
    for index, feature in enumerate(domain.features):
        for allowed in _allowed(feature):
            if any(allowed) and not all(allowed):
                found[Literal(index, allowed)] = None
    return tuple(found)


def _allowed(feature: Feature) -> Iterable[tuple[bool, ...]]:
    codes = range(len(feature))
    equal = [tuple(code == one for code in codes) for one in codes]
    below = [tuple(code <= one for code in codes) for one in codes]
    tests = equal + below if feature.ordered else equal
    return [*tests, *(tuple(not one for one in test) for test in reversed(tests))]


@dataclass(frozen=True)
class Sample:
    """Inputs at a node: which literals they satisfy, and what each class weighs.

    Parameters
    ----------
    literals : tuple of Literal
    satisfied : ndarray of shape (n_inputs, n_literals)
        1 where the literal holds, else 0.
    weights : ndarray of shape (n_inputs, n_classes)
        How often the input occurs, in the column of its class; 0 in the others.
    """

    literals: tuple[Literal, ...]
    satisfied: NDArray[np.float64]
    weights: NDArray[np.float64]

    @cached_property
    def kinds(self) -> NDArray[np.int64]:
        """A number for each literal; two that are the same here, or opposite, share it.

        Among the inputs of a node many literals coincide: if nothing big is left, *not
        small* is *medium*.
        """
        bits = self.satisfied != self.satisfied[:1]
        numbers: dict[bytes, int] = {}
        columns = np.packbits(bits.T, axis=1)
        kinds = [numbers.setdefault(one.tobytes(), len(numbers)) for one in columns]
        return np.array(kinds, dtype=np.int64)

    @cached_property
    def features(self) -> NDArray[np.int64]:
        """The feature of each literal, by position."""
        return np.array([literal.feature for literal in self.literals], dtype=np.int64)

    @cached_property
    def total(self) -> NDArray[np.float64]:
        """What each class weighs."""
        return np.asarray(self.weights.sum(axis=0))

    def gains(self, holding: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what tests tell about the class, given the weights where they hold.

        This is the information gain in nats, times twice the number of inputs: the
        statistic of the likelihood-ratio test. Rounded, so that equals are equal.
        """
        failing = self.total - holding
        told = _order(holding) + _order(failing) - _order(self.total)
        return np.asarray(np.round(2 * told, 6))


def _order(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return minus the entropy of the classes, times the number of inputs."""
    total = weights.sum(axis=-1)
    return np.asarray(xlogy(weights, weights).sum(axis=-1) - xlogy(total, total))


@dataclass(frozen=True)
class _Candidate:
    """A test on its way: its literals by position, and how many each input has."""

    m: int
    chosen: tuple[int, ...]
    count: NDArray[np.float64]
    gain: float

    @property
    def key(self) -> tuple[int, frozenset[int]]:
        return self.m, frozenset(self.chosen)


def best_test(
    sample: Sample, *, barred: Collection[int] = (), width: int = 2
) -> MofN | None:
    """Return the test that tells most about the class, of those the search meets.

    Parameters
    ----------
    sample : Sample
    barred : collection of int
        Features that occur only in tests of one literal.
    width : int
        How many tests the search follows at a time; 1 is hill-climbing.

    Returns
    -------
    MofN or None
        None if no literal tells the inputs apart.

    Notes
    -----
    The search starts from the best single literals. A step adds a literal and leaves
    m, or adds one to m too. It counts only if the test tells significantly more than
    before: more than the best of useless literals would, by chance, in one of twenty
    steps (chi-square, with Bonferroni's correction for the number of literals tried).
    A step takes O(n_inputs · n_literals).

    Examples
    --------
    >>> domain = Domain(tuple(Feature(name, (0, 1)) for name in "abc"))
    >>> codes = next(domain.inputs())
    >>> majority = np.eye(2)[(codes.sum(axis=1) >= 2).astype(int)]
    >>> table = literals_of(domain)
    >>> sample = Sample(table, satisfied(table, codes), 100 * majority)
    >>> best_test(sample).text(domain)
    '2 of {a = 0, b = 0, c = 0}'
    """
    beam = _seeds(sample, width)
    if not beam:
        return None
    n_tried = 2 * len(sample.literals)
    freedom = max(np.count_nonzero(sample.total) - 1, 1)
    needed = float(chdtri(freedom, SIGNIFICANCE / n_tried))
    fresh = beam
    while fresh:
        steps = [
            step
            for candidate in fresh
            for step in _steps(sample, candidate, barred, width)
            if step.gain > candidate.gain + needed
        ]
        pool: dict[tuple[int, frozenset[int]], _Candidate] = {}
        for candidate in (*beam, *steps):
            pool.setdefault(candidate.key, candidate)
        best = sorted(pool.values(), key=_rank)[:width]
        fresh = [one for one in best if all(one is not old for old in beam)]
        beam = best
    literals = tuple(sample.literals[index] for index in beam[0].chosen)
    return MofN(beam[0].m, literals)


def _rank(candidate: _Candidate) -> tuple[float, int]:
    """Sort tests: those that tell most first, and of equals the shorter."""
    return -candidate.gain, len(candidate.chosen)


def satisfied(
    literals: tuple[Literal, ...], codes: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Tell for each input which of `literals` hold, as a matrix of 0 and 1."""
    matrix = np.empty((len(codes), len(literals)))
    for index, literal in enumerate(literals):
        matrix[:, index] = np.array(literal.allowed)[codes[:, literal.feature]]
    return matrix


def _seeds(sample: Sample, width: int) -> list[_Candidate]:
    """Return the best literals that tell inputs apart; of two opposite ones, one."""
    holding = sample.satisfied.T @ sample.weights
    gains = sample.gains(holding)
    seeds: list[_Candidate] = []
    is_constant = np.isin(holding.sum(axis=1), [0, sample.total.sum()])
    taken = set(sample.kinds[is_constant].tolist())
    for index in np.argsort(-gains, kind="stable").tolist():
        if len(seeds) == width:
            break
        if sample.kinds[index] not in taken:
            taken.add(sample.kinds[index])
            count = sample.satisfied[:, index]
            seeds.append(_Candidate(1, (index,), count, float(gains[index])))
    return seeds


def _steps(
    sample: Sample, candidate: _Candidate, barred: Collection[int], width: int
) -> list[_Candidate]:
    """Return the best tests with one literal more, `width` for either operator."""
    is_barred = np.isin(sample.features, list(barred))
    chosen = list(candidate.chosen)
    if is_barred[chosen].any():
        return []
    is_out = is_barred | np.isin(sample.kinds, sample.kinds[chosen])
    steps = []
    for m in (candidate.m, candidate.m + 1):
        # The new literal decides where one is still needed; elsewhere nothing changes.
        open_weights = sample.weights * (candidate.count == m - 1)[:, np.newaxis]
        sure = sample.weights[candidate.count >= m].sum(axis=0)
        gains = sample.gains(sure + sample.satisfied.T @ open_weights)
        gains[is_out] = -np.inf
        for index in np.argsort(-gains, kind="stable")[:width].tolist():
            count = candidate.count + sample.satisfied[:, index]
            keys = (*candidate.chosen, index)
            steps.append(_Candidate(m, keys, count, float(gains[index])))
    return steps
