"""Descriptions of a network: rule lists, and a form that is no list of rules."""

import numpy as np
import pytest

from nn2rules import (
    Condition,
    Domain,
    Feature,
    OptionError,
    Rule,
    RuleList,
    UncoveredRowsError,
    UncoveredRowsWarning,
    UnknownValueError,
)
from nn2rules.output import Document, Paragraph, html_of, text_of
from nn2rules.rules import Description, Predictions, certificate_of, head_of

DOMAIN = Domain((Feature("color", ("red", "yellow")),))
RED = Rule((Condition("color", ("red",)),), "ripe")
ROWS = [{"color": "red"}, {"color": "yellow"}]


def described(scope) -> Description:
    return RuleList(DOMAIN, (RED,), "unripe", ("unripe", "ripe"), scope=scope)


@pytest.mark.parametrize("scope", ["domain", "support"])
def test_it_predicts_what_it_covers(scope):
    rules = described(scope)
    assert rules.covers(ROWS).tolist() == [True, scope == "domain"]
    answers = rules.predict(ROWS, uncovered="none").tolist()
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


class Threshold(Description):
    """One number, compared with a cut-off; claims nothing at the cut-off itself."""

    needs_numbers = True
    form = "threshold"
    domain = Domain((Feature.real("age", 0, 100),))
    classes, default, scope = ("young", "old"), "young", "support"

    def __init__(self, certificate=()):
        self.certificate = dict(certificate)

    @property
    def digest(self):
        """Return what it is known by."""
        return "abc"

    def predictions(self, codes, numbers=None):
        """Compare numbers with the cut-off."""
        assert len(codes) == len(numbers)
        ages = numbers[:, 0]
        return Predictions((ages > 40).astype(np.int64), ages != 40)

    def document(self):
        """Return a page."""
        return Document((head_of(self, ("Old above 40.",)), (Paragraph("age > 40"),)))


AGES = [{"age": 18}, {"age": 40}, {"age": 40.5}]


def test_another_form_predicts_as_rules_do():
    found = Threshold()
    assert found.covers(AGES).tolist() == [True, False, True]
    assert found.predict(AGES, uncovered="none").tolist() == ["young", None, "old"]
    assert found.predict(AGES, uncovered="default").tolist() == [
        "young",
        "young",
        "old",
    ]
    with pytest.warns(UncoveredRowsWarning, match="1 of 3 rows"):
        assert found.predict(AGES).tolist() == ["young", None, "old"]
    with pytest.raises(UncoveredRowsError):
        found.predict(AGES, uncovered="error")
    rows = [*AGES, {"age": 101}]
    given = found.predict(rows, unknown="default", uncovered="none")
    assert given.tolist() == ["young", None, "old", "young"]
    given = found.predict(rows, unknown="none", uncovered="none")
    assert given.tolist() == ["young", None, "old", None]
    with pytest.raises(OptionError, match="unknown: 'skip'"):
        found.predict(rows, unknown="skip")


def test_another_form_has_the_page_and_the_certificate_of_every_description():
    certificate = {"engine": "regions", "rows": 3, "class_rows": [2, 1]}
    found = Threshold(certificate)
    assert certificate_of(found).class_rows == (2, 1)
    assert str(found).splitlines() == [
        "Predicts young or old   1 feature · 1 range of numbers · 3 rows",
        "The network predicts old for 33.3% of rows.",
        "Old above 40.",
        "Numbers: age 0 to 100.",
        "",
        "age > 40",
    ]
    assert "age &gt;\N{NO-BREAK SPACE}40" in found._repr_html_()
    assert found.positions(["old"], 1).tolist() == [1]
    approximate = Threshold({"engine": "regions", "approximate": True})
    assert approximate.warnings()[0].startswith("APPROXIMATE")


def test_rules_are_written_as_their_file_has_them(tmp_path):
    rules = described("domain")
    rules.save(tmp_path / "rules.json")
    assert rules.to_json() == (tmp_path / "rules.json").read_text("utf-8")
    assert rules.to_dict()["classes"] == ["unripe", "ripe"]
