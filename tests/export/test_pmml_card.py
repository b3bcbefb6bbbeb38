"""Scorecards of PMML, in two engines."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from export.card_cases import card, card_rows, drawn_cards
from export.cases import known_rows
from export.engines.in_java import in_jpmml, in_pmml4s, needs_java
from export.executing import check_card
from export.test_pmml import _is_xml
from nn2rules import OptionError, UnsupportedModelError
from nn2rules.export import card_program_of


@settings(max_examples=25)
@given(
    drawn_cards(_is_xml, kinds=("single",)).filter(lambda c: "" not in c.domain.names),
    st.sampled_from(["fine", "printed"]),
)
def test_any_card(drawn, points):
    try:
        drawn.export("pmml", points=points)
    except UnsupportedModelError:
        assume(False)
    rows = card_rows(card_program_of(drawn, points=points), 40)
    check_card(drawn, "pmml", rows, points=points)


def test_reason_codes_are_the_features_that_cost_most_points():
    needs_java()
    given_card = card("whole points")
    program = card_program_of(given_card, points="printed")
    rows = known_rows(program, card_rows(program, 40))
    made = given_card.export("pmml", points="printed")
    points = given_card.points(rows).values[:, 0]
    for found in (in_jpmml(made, rows), in_pmml4s(made, rows)):
        for one, (age, size) in zip(found, points, strict=True):
            lost = {"age": 180 - age, "size": 25 - size}
            if lost["age"] != lost["size"]:
                assert one["reason 1"] == max(lost, key=lambda name: lost[name])


def test_a_card_with_several_columns_is_refused():
    for name in ("parts", "three classes", "regions"):
        with pytest.raises(OptionError, match="one column of points"):
            card(name).export("pmml")
