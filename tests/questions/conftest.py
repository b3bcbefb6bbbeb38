"""Audits and claims have the time that they need: no result may hang on a clock."""

from importlib import import_module

import pytest

# The packages export a function of the same name, so these are imported by name.
_TIMED = ("nn2rules.questions.audit.audit", "nn2rules.questions.verify.verify")


@pytest.fixture(autouse=True, scope="session")
def _no_clock():
    with pytest.MonkeyPatch.context() as patched:
        for name in _TIMED:
            patched.setattr(import_module(name), "SECONDS", 3600.0)
        yield
