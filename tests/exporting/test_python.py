"""Rules as Python."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporting.cases import case
from exporting.executing import check_export
from exporting.exportable import exportable, rows_for
from nn2rules.exporting import program_of

policies = st.sampled_from(["none", "default", "error"])


@given(exportable(), policies, policies)
def test_any_rules(rules, unknown, undecided):
    rows = rows_for(program_of(rules))
    check_export(rules, "python", rows, unknown=unknown, undecided=undecided)


def test_a_text_in_a_column_of_numbers_is_an_error():
    module: dict = {}
    exec(case("three classes, list").rules.export("python"), module)
    with pytest.raises(TypeError, match="column 'weight' holds '2', expected a number"):
        module["predict"]({"shape": "star", "weight": "2", "country": None})
