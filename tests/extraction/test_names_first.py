"""Names are checked before any work: no progress is reported before the error."""

import pytest

import nn2rules
from nn2rules import Nn2RulesError, datasets
from nn2rules.questions import claims

CAR = nn2rules.load(datasets.network_file("car"))
ROWS = datasets.load("car").test.rows[:5]
RULES = nn2rules.extract(CAR, effort=0)


def idle(*_args, **_options):
    """Refuse every report of progress: it would be of work."""
    raise AssertionError("work was done before the mistake was found")


def refused(function, *args, **options):
    with pytest.raises(Nn2RulesError) as error:
        function(*args, progress=idle, **options)
    return str(error.value)


@pytest.mark.parametrize(
    "options",
    [
        {"immutable": ["safty"]},
        {"increase": ["safty"]},
        {"decrease": ["safty"]},
        {"costs": {"safty": 2}},
        {"steps": {"safty": 2}},
        {"forbidden": {"safty": ["low"]}},
        {"forbidden": {"safety": ["lowe"]}},
        {"impossible": [{"safty": ["low"]}]},
        {"impossible": ["safty = low"]},
        {"reason_codes": {("safty", "any"): "R1"}},
        {"adverse": "unac"},
        {"domain": {"safty": ["low"]}},
    ],
)
def test_explain(options):
    name = next(iter(options))
    text = refused(nn2rules.explain, CAR, ROWS, **options)
    assert "safty" in text or "lowe" in text or "unac" in text or name in text


@pytest.mark.parametrize(
    ("claim", "options", "text"),
    [
        ("never unac", {}, "there is no class unac"),
        ("never unacc if safty = low", {}, "there is no feature safty"),
        ("never unacc", {"within": "safty = low"}, "there is no feature safty"),
        ("never unacc", {"within": {"safty": ["low"]}}, "did you mean 'safety'?"),
        (
            ["never unacc", claims.independent_of("safty")],
            {},
            "claim 2: there is no feature 'safty'",
        ),
        (
            {"first": "never unacc", "second": claims.unreachable("unac")},
            {},
            "claim second: there is no class 'unac'; the classes are 'unacc', 'acc'; "
            "did you mean 'unacc'?",
        ),
        (
            ["never unacc", claims.unreachable("unacc", within={"safety": ["lowe"]})],
            {},
            "claim 2: ",
        ),
    ],
)
def test_verify(claim, options, text):
    """The first claim of a book was verified before a later one was refused."""
    assert text in refused(nn2rules.verify, CAR, claim, **options)


def test_audit_and_report():
    text = refused(nn2rules.audit, CAR, ROWS, protected=["Safty"])
    assert text.endswith("; did you mean 'safety'?")
    text = refused(RULES.report, model=CAR, data=ROWS, protected="Safty")
    assert text.endswith("; did you mean 'safety'?")


@pytest.mark.parametrize(
    "options",
    [
        {"target": "unac"},
        {"impossible": [{"safty": ["low"]}]},
        {"data": ROWS, "labels": ["unac"] * 5},
    ],
)
def test_extract(options):
    text = refused(nn2rules.extract, CAR, **options)
    assert "did you mean" in text or "labels" in options
