"""Settings of hypothesis: the same examples on every run, and a few fresh ones beside.

``NN2RULES_HYPOTHESIS=fresh`` draws new examples, a tenth as many. The seed is given by
``--hypothesis-seed``, so the same command fails again; a failing example is printed
with the line that reproduces it alone.
"""

import os

import pytest
from hypothesis import HealthCheck, settings

_SLOW = (HealthCheck.too_slow, HealthCheck.data_too_large)
_PROFILE = os.environ.get("NN2RULES_HYPOTHESIS", "repeatable")
_FRESH_SHARE = 10

settings.register_profile(
    "repeatable",
    max_examples=200,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=_SLOW,
)
settings.register_profile(
    "fresh",
    max_examples=200,
    deadline=None,
    derandomize=False,
    database=None,
    print_blob=True,
    suppress_health_check=_SLOW,
)
settings.load_profile(_PROFILE)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Draw fewer fresh examples, also where a test says how many it wants."""
    if _PROFILE != "fresh":
        return
    for test in {getattr(item, "obj", None) for item in items}:
        own = getattr(test, "_hypothesis_internal_use_settings", None)
        if own is not None:
            fewer = settings(own, max_examples=max(3, own.max_examples // _FRESH_SHARE))
            test._hypothesis_internal_use_settings = fewer
