"""Drawing inputs that reach a node of a tree, exactly as a model of the data would.

The model draws each feature on its own, from its *marginal*: the share of each value
among some rows. What reaches a node meets the tests on its path, so the features are
drawn under this condition. Nothing is drawn and thrown away: a feature is drawn with
the probability that the features after it can still meet the tests, which is worked
out from the last feature back to the first (dynamic programming).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import OptionError
from nn2rules.space import Domain
from research.baselines.mofn import MofN

Path: TypeAlias = tuple[tuple[MofN, bool], ...]
"""Tests from the root of a tree, each with whether it holds."""

Marginals: TypeAlias = tuple[NDArray[np.float64], ...]
"""For each feature, the probability of each of its values."""


def marginals_of(
    domain: Domain, codes: NDArray[np.int64], weights: NDArray[np.float64]
) -> Marginals:
    """Return the share of each value of each feature among rows, given their weights.

    Examples
    --------
    >>> from nn2rules.space import Feature
    >>> domain = Domain((Feature("color", ("red", "yellow")),))
    >>> marginals_of(domain, np.array([[0], [1], [1], [1]]), np.ones(4))
    (array([0.25, 0.75]),)
    """
    return tuple(
        np.bincount(column, weights=weights, minlength=size) / weights.sum()
        for column, size in zip(codes.T, domain.sizes, strict=True)
    )


def is_disjunctive(test: MofN, holds: bool) -> bool:
    """Tell whether a test leaves open which of its literals hold.

    Examples
    --------
    >>> from research.baselines import Literal
    >>> a, b = Literal(0, (True, False)), Literal(1, (True, False))
    >>> [is_disjunctive(MofN(m, (a, b)), holds) for m in (1, 2) for holds in (0, 1)]
    [False, True, True, False]
    """
    return test.m != (len(test.literals) if holds else 1)


def crowded_features(path: Path, *, limit: int) -> frozenset[int]:
    """Return the features that a further disjunctive test must not have.

    These are all features of the disjunctive tests of `path`, as soon as these tests
    have more than `limit` states together. So `draw` never has many more.

    Examples
    --------
    >>> from research.baselines import Literal
    >>> a, b = Literal(0, (True, False)), Literal(2, (True, False))
    >>> path = ((MofN(1, (a, b)), True),)
    >>> sorted(crowded_features(path, limit=1)), sorted(crowded_features(path, limit=2))
    ([0, 2], [])
    """
    tests = [test for test, holds in path if is_disjunctive(test, holds)]
    if math.prod(test.m + 1 for test in tests) <= limit:
        return frozenset()
    return frozenset().union(*(test.features for test in tests))


def draw(
    marginals: Marginals, path: Path, n_inputs: int, random: np.random.Generator
) -> NDArray[np.int64]:
    """Draw inputs from `marginals`, given that they take `path`.

    Returns
    -------
    ndarray of int, shape (n_inputs, n_features)
        Independent draws, of exactly the conditional distribution.

    Raises
    ------
    OptionError
        If no input of positive probability takes the path.

    Notes
    -----
    Runs in O((n_inputs + n_states) · n_values). Tests that share features have as
    many states as the product of their m + 1; see `crowded_features`.

    Examples
    --------
    >>> from research.baselines import Literal
    >>> a, b = Literal(0, (True, False)), Literal(1, (True, False))
    >>> fair = (np.array([0.5, 0.5]), np.array([0.5, 0.5]))
    >>> path = ((MofN(1, (a, b)), True), (MofN(2, (a, b)), False))
    >>> codes = draw(fair, path, 1000, np.random.default_rng(0))
    >>> np.unique(codes, axis=0, return_counts=True)
    (array([[0, 1],
           [1, 0]]), array([473, 527]))
    """
    allowed = _restricted(marginals, path)
    codes = np.empty((n_inputs, len(marginals)), dtype=np.int64)
    free = set(range(len(marginals)))
    for group in _groups(path):
        features = sorted(frozenset().union(*(test.features for test, _ in group)))
        codes[:, features] = _walk(_counter(group, features, allowed), n_inputs, random)
        free -= set(features)
    for feature in sorted(free):
        weights = np.broadcast_to(allowed[feature], (n_inputs, len(allowed[feature])))
        codes[:, feature] = _choose(weights, random)
    return codes


def _restricted(marginals: Marginals, path: Path) -> list[NDArray[np.float64]]:
    """Return the marginals without the values that conjunctive tests rule out."""
    allowed = [probabilities.copy() for probabilities in marginals]
    for test, holds in path:
        if not is_disjunctive(test, holds):
            for literal in test.literals:
                allowed[literal.feature][np.array(literal.allowed) != holds] = 0
    for probabilities in allowed:
        if not probabilities.any():
            raise OptionError("no input of positive probability takes this path")
    return allowed


def _groups(path: Path) -> list[Path]:
    """Return the disjunctive tests of a path; those that share features together."""
    groups: list[Path] = []
    for step in path:
        if not is_disjunctive(*step):
            continue
        joined: Path = (step,)
        apart = []
        for group in groups:
            if any(step[0].features & test.features for test, _ in group):
                joined = (*group, *joined)
            else:
                apart.append(group)
        groups = [*apart, joined]
    return groups


@dataclass(frozen=True)
class _Counter:
    """How the features of some tests are drawn, one after another.

    A state is how many literals of each test are satisfied so far, at most m. For each
    feature `after` has the state that follows a state and a value, and `weights` how
    likely the value is, times the probability that the tests come out as they must.
    States are numbered anew before each feature; only those that occur have a number.
    """

    after: list[NDArray[np.int64]]
    weights: list[NDArray[np.float64]]


def _counter(
    group: Path, features: Sequence[int], allowed: Sequence[NDArray[np.float64]]
) -> _Counter:
    most = np.array([test.m for test, _ in group])
    counts, after = np.zeros((1, len(group)), dtype=np.int64), []
    for feature in features:
        total = counts[:, np.newaxis] + _hits(feature, group, len(allowed[feature]))
        counts, following = _distinct(np.minimum(total, most), most)
        after.append(following)
    met = (counts == most) == [holds for _, holds in group]
    chance, weights = met.all(axis=1).astype(np.float64), []
    for feature, following in zip(reversed(features), reversed(after), strict=True):
        weights.append(allowed[feature] * chance[following])
        chance = weights[-1].sum(axis=1)
    if not chance[0]:
        raise OptionError("no input of positive probability takes this path")
    return _Counter(after, weights[::-1])


def _hits(feature: int, group: Path, n_values: int) -> NDArray[np.int64]:
    """Return how many literals of each test each value of a feature satisfies."""
    hits = np.zeros((n_values, len(group)), dtype=np.int64)
    for index, (test, _) in enumerate(group):
        for literal in test.literals:
            if literal.feature == feature:
                hits[:, index] += np.array(literal.allowed)
    return hits


def _distinct(
    counts: NDArray[np.int64], most: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the distinct states among `counts`, and the number of each state."""
    keys = np.ravel_multi_index(tuple(np.moveaxis(counts, -1, 0)), tuple(most + 1))
    _, first, numbers = np.unique(keys, return_index=True, return_inverse=True)
    return counts.reshape(-1, len(most))[first], numbers.reshape(keys.shape)


def _walk(
    counter: _Counter, n_inputs: int, random: np.random.Generator
) -> NDArray[np.int64]:
    """Draw the features of a group of tests; a column for each."""
    state = np.zeros(n_inputs, dtype=np.int64)
    columns = []
    for after, weights in zip(counter.after, counter.weights, strict=True):
        columns.append(_choose(weights[state], random))
        state = after[state, columns[-1]]
    return np.stack(columns, axis=1)


def _choose(
    weights: NDArray[np.float64], random: np.random.Generator
) -> NDArray[np.int64]:
    """Draw a value for each row of `weights`, never one of weight 0."""
    sums = weights.cumsum(axis=1)
    target = random.random(len(weights)) * sums[:, -1]
    return np.asarray((sums <= target[:, np.newaxis]).sum(axis=1), dtype=np.int64)
