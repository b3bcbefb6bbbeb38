"""Claims have the time that they need: no verdict here may hang on a clock."""

import pytest


@pytest.fixture(autouse=True, scope="session")
def _no_clock():
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("nn2rules.questions.verify.entry.SECONDS", 3600.0)
        yield
