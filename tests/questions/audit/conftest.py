"""Audits have the time that they need: no finding here may hang on a clock."""

import pytest


@pytest.fixture(autouse=True, scope="session")
def _no_clock():
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("nn2rules.questions.audit.entry.SECONDS", 3600.0)
        yield
