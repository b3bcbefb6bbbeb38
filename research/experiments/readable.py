"""A network that is made to be read, trained on the rows that the others see."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from nn2rules.errors import Nn2RulesError
from nn2rules.learn import ReadableClassifier
from nn2rules.space.values import text_of
from research.experiments.case import Case

NAME = "Network made to be read"
ANOTHER = "The network made to be read is another one, trained on the same rows."


@dataclass(frozen=True)
class Readable:
    """What was measured on a network that is made to be read.

    Attributes
    ----------
    accuracy : float
        On the test rows.
    n_rules : int
        Of a list that equals it on every input of its domain.
    n_columns : int
        The columns that it asks for.
    """

    accuracy: float
    n_rules: int
    n_columns: int


def readable(case: Case, seed: int) -> Readable:
    """Train a network with this seed on the training rows, and check its rules.

    Raises
    ------
    OptionError, RowsError, UnknownValueError
        If there is nothing to learn from the training rows, or a test row has what no
        network can learn from them.
    Nn2RulesError
        If its rules differ from it on any input of its domain, or on any row.
    """
    model = ReadableClassifier(random_state=seed, progress=False)
    model.fit(case.train.frame, [text_of(label) for label in case.train.labels])
    _refuse_inexact(model, (case.train.frame, case.test.frame))
    truth = [text_of(label) for label in case.test.labels]
    right = model.predict(case.test.frame) == np.array(truth)
    return Readable(
        accuracy=int(right.sum()) / len(right),
        n_rules=len(model.rules_),
        n_columns=len(model.network_.domain.features),
    )


def _refuse_inexact(model: ReadableClassifier, frames: Iterable[Any]) -> None:
    network, rules = model.network_, model.rules_
    asked = [
        (rules.predict_codes(codes), network.predict_codes(codes))
        for codes in network.domain.inputs()
    ]
    asked += [(rules.predict(frame), model.predict(frame)) for frame in frames]
    if not all(np.array_equal(given, wanted) for given, wanted in asked):
        raise Nn2RulesError(
            "the rules of a network that is made to be read do not answer as it does; "
            "this is an error of nn2rules, please report it"
        )
