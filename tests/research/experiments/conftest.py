"""What is the same for every run of the experiments here."""

from functools import partial

import pytest

from nn2rules import ReadableClassifier
from research.experiments import methods

QUICK = {"units": 2, "cuts": 2, "questions": 4, "folds": 2}


@pytest.fixture(scope="package", autouse=True)
def _quick():
    """Train small networks to be read; the default takes seconds each."""
    with pytest.MonkeyPatch.context() as patch:
        quick = partial(ReadableClassifier, **QUICK)
        patch.setattr(methods, "ReadableClassifier", quick)
        yield
