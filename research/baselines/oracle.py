"""Whom a tree is to resemble: a network, or anything else that predicts.

Trees work with codes and with the numbers of classes; this module asks the oracle in
the way it understands, and counts how often.
"""

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import DomainError, OptionError, RowsError
from nn2rules.network import Network
from nn2rules.space import Domain, Rows, Value, refuse_ranges, value_of


class TreeOracle:
    """Answers for codes, as numbers of classes.

    Parameters
    ----------
    model : Network, or any object with a method `predict`
        A network is asked in codes, whatever `like` is.
    domain : Domain
    like : frame or list of dicts
        Every other model is given rows of this kind: a list of dicts, or a frame of
        the same library, with a column for each feature.

    Attributes
    ----------
    classes : list
        The labels seen so far, in the order of their numbers. A model with an
        attribute `classes` or `classes_` gives them all at once.
    n_queries : int
        The number of inputs asked about.

    Examples
    --------
    >>> from nn2rules.space import Feature
    >>> class Reds:
    ...     def predict(self, rows):
    ...         return ["ripe" if row["color"] == "red" else "unripe" for row in rows]
    >>> domain = Domain((Feature("color", ("red", "yellow")),))
    >>> oracle = TreeOracle(Reds(), domain, like=[])
    >>> oracle.ask(np.array([[1], [0], [1]])), oracle.classes
    (array([0, 1, 0]), ['unripe', 'ripe'])
    """

    def __init__(self, model: Any, domain: Domain, *, like: Rows) -> None:
        self.model, self.domain, self.like = model, domain, like
        known = getattr(model, "classes", getattr(model, "classes_", ()))
        self.classes: list[Value] = [value_of(label) for label in known]
        self.n_queries = 0

    def ask(self, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the number of the class that the model gives each input."""
        self.n_queries += len(codes)
        if isinstance(self.model, Network):
            return self.model.predict_codes(codes)
        labels = labels_of(self.model.predict(self._rows(codes)), len(codes))
        numbers = {label: number for number, label in enumerate(self.classes)}
        answers = [numbers.setdefault(label, len(numbers)) for label in labels]
        self.classes = list(numbers)
        return np.array(answers, dtype=np.int64)

    def labels(self, codes: NDArray[np.int64]) -> list[Value]:
        """Return the class label that the model gives each input."""
        return [self.classes[number] for number in self.ask(codes).tolist()]

    def _rows(self, codes: NDArray[np.int64]) -> Rows:
        if isinstance(self.like, list | tuple):
            return self.domain.decode(codes, accepted=True)
        columns = {
            feature.name: [feature.cells[code] for code in column]
            for feature, column in zip(self.domain.features, codes.T, strict=True)
        }
        frame = nw.from_native(self.like, eager_only=True)
        return nw.from_dict(columns, backend=frame.implementation).to_native()


def domain_for(oracle: Any, domain: Domain | None) -> Domain:
    """Return the domain of a tree: the one given, or else the oracle's own.

    Raises
    ------
    OptionError
        If there is no oracle, if it cannot predict, or if there is no domain, or
        another one than the network's.
    """
    if not callable(getattr(oracle, "predict", None)):
        found = "missing" if oracle is None else f"a {type(oracle).__name__}"
        raise OptionError(
            f"the oracle is {found}; it is a Network, or an object with a method "
            f"predict"
        )
    own = getattr(oracle, "domain", None)
    if domain is None:
        domain = own
    if not isinstance(domain, Domain):
        raise OptionError(
            f"the features are not known; give domain= a Domain "
            f"(this oracle, a {type(oracle).__name__}, has none)"
        )
    if isinstance(oracle, Network) and domain != own:
        raise OptionError("a Network has its own domain; leave out `domain`")
    refuse_ranges(domain.features, "a tree")
    if domain != own:
        _refuse_groups(domain)
    return domain


def _refuse_groups(domain: Domain) -> None:
    """Refuse groups of words, of which an oracle would be asked about one word only."""
    for feature in domain.features:
        if feature.joins_categories:
            raise OptionError(
                f"feature {feature.name!r} has groups of words, which the oracle may "
                f"tell apart; give the words as values"
            )


def labels_of(labels: Any, n_rows: int) -> list[Value]:
    """Return class labels as plain values, one for each row.

    Raises
    ------
    RowsError
        If their number is not that of the rows, or if one is missing.

    Examples
    --------
    >>> labels_of(np.array(["ripe", "unripe"]), 2)
    ['ripe', 'unripe']
    """
    try:
        found = [value_of(label) for label in labels]
    except (TypeError, DomainError) as error:
        raise RowsError(f"the labels cannot be read: {error}") from None
    if len(found) != n_rows:
        raise RowsError(
            f"there are {len(found)} labels for {n_rows} rows; each row needs one"
        )
    if None in found:
        raise RowsError(f"row {found.index(None)} has no label")
    return found


def agreement(answers: NDArray[Any], labels: Any, weights: Any = None) -> float:
    """Return the share of `answers` that are the labels given, by weight if any.

    Raises
    ------
    RowsError
        If there are no answers, or if the labels cannot be read.

    Examples
    --------
    >>> agreement(np.array(["ripe", "ripe"]), ["ripe", "unripe"])
    0.5
    """
    if not len(answers):
        raise RowsError("there are no rows to score")
    pairs = zip(answers.tolist(), labels_of(labels, len(answers)), strict=True)
    return float(np.average([one == other for one, other in pairs], weights=weights))


def resemblance(tree: Any, rows: Rows, labels: Any, weights: Any) -> float:
    """Return the share of rows that a tree answers as labelled, or as its oracle.

    The oracle is asked where `labels` is None.
    """
    codes = tree.domain_.encode(rows)
    if labels is None:
        labels = TreeOracle(tree.oracle, tree.domain_, like=rows).labels(codes)
    return agreement(tree.classes_[tree.predict_codes(codes)], labels, weights)


def class_number(classes: Sequence[Value], label: object) -> int:
    """Return the number of the class called `label`.

    Raises
    ------
    OptionError
        If no class is called so.
    """
    known = list(classes)
    if label not in known:
        listed = ", ".join(repr(one) for one in known)
        raise OptionError(f"there is no class {label!r}; there are {listed}")
    return known.index(label)


def encoded_rows(domain: Domain, rows: Rows) -> NDArray[np.int64]:
    """Return the codes of the rows that a tree is trained on; there must be some."""
    codes = domain.encode(rows)
    if not len(codes):
        raise RowsError("there are no rows; a tree is trained on at least one")
    return codes
