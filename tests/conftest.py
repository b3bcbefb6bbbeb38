"""Settings of hypothesis: the same examples on every run, unless asked to explore."""

import os

from hypothesis import HealthCheck, settings

_SLOW = (HealthCheck.too_slow, HealthCheck.data_too_large)

settings.register_profile(
    "repeatable",
    max_examples=200,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=_SLOW,
)
settings.register_profile(
    "explore",
    max_examples=200,
    deadline=None,
    derandomize=False,
    database=None,
    print_blob=True,
    suppress_health_check=_SLOW,
)
settings.load_profile(os.environ.get("NN2RULES_HYPOTHESIS", "repeatable"))
