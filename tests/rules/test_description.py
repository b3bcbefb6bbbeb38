"""A rule list is a description: of inputs that it covers, and of nothing else."""

import pytest

from nn2rules import Condition, Domain, Feature, Rule, RuleList, UnknownValueError
from nn2rules.output import html_of, text_of
from nn2rules.rules import Description

DOMAIN = Domain((Feature("color", ("red", "yellow")),))
RED = Rule((Condition("color", ("red",)),), "ripe")
ROWS = [{"color": "red"}, {"color": "yellow"}]


def described(scope) -> Description:
    return RuleList(DOMAIN, (RED,), "unripe", ("unripe", "ripe"), scope=scope)


@pytest.mark.parametrize("scope", ["domain", "support"])
def test_it_predicts_what_it_covers(scope):
    rules = described(scope)
    assert rules.covers(ROWS).tolist() == [True, scope == "domain"]
    answers = rules.predict(ROWS, undecided="none").tolist()
    known = [label is not None for label in answers]
    assert known == rules.covers(ROWS).tolist()


def test_rows_outside_the_domain_are_refused():
    with pytest.raises(UnknownValueError):
        described("domain").covers([{"color": "blue"}])


def test_its_page_is_what_is_printed():
    rules = described("domain")
    assert text_of(rules.document(), 80) == str(rules)
    assert html_of(rules.document()) == rules._repr_html_()
    assert text_of(rules.document("all", verbose=True), 80) == rules.text(
        "all", verbose=True
    )
