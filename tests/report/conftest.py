"""One browser for all reports, and each report made once."""

import pytest
from browsing import started
from subjects import case


@pytest.fixture(scope="session")
def driver(tmp_path_factory):
    """Return a browser with an empty profile."""
    made = started(tmp_path_factory.mktemp("profile"))
    yield made
    made.quit()


@pytest.fixture(scope="session")
def report_of(tmp_path_factory):
    """Return what writes the report of a model, once, and says where it is."""
    folder, known = tmp_path_factory.mktemp("reports"), {}

    def made(name):
        if name not in known:
            known[name] = folder / f"{name}.html"
            case(name).report(known[name])
        return known[name]

    return made
