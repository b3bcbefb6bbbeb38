"""Every format is executed, and its options are checked."""

import pytest

import nn2rules
from export.cases import CASES, case, known_rows, network_answers
from export.executing import EXECUTORS, check_export
from export.exportable import rows_for
from nn2rules import OptionError
from nn2rules.export import EXPORTERS, CardProgram, program_of


def test_every_format_is_executed():
    assert EXECUTORS.keys() == EXPORTERS.keys()


@pytest.mark.parametrize("name", CASES)
def test_cases_use_all_features_and_classes(name):
    rules = case(name).rules
    used = {c.feature for rule in rules for c in rule.conditions}
    assert used == set(rules.domain.names)
    assert {rules.default, *(rule.then for rule in rules)} == set(rules.classes)


@pytest.mark.parametrize("name", CASES)
def test_programs_of_cases_answer_as_the_network(name):
    given = case(name)
    program = program_of(given.rules)
    rows = known_rows(program, rows_for(program, 20_000))
    assert len(rows) >= 1_000 or len(rows) >= given.rules.domain.n_inputs
    for row, label in zip(rows, network_answers(given, rows), strict=True):
        answer = program.predict(row)
        assert answer.label == label or answer.rule is None


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("format_name", EXPORTERS)
def test_an_export_answers_as_the_program(format_name, name):
    """Every input of the domain, where it has no ranges; ends of all bins else."""
    rules = case(name).rules
    check_export(rules, format_name, rows_for(program_of(rules), 13_000))


def test_an_unknown_format_lists_the_others():
    with pytest.raises(OptionError, match=r"expected one of .*python"):
        case("car list").rules.export("cobol")


def test_an_option_of_another_format_is_refused():
    with pytest.raises(OptionError, match="has no option 'dialect'; it has none"):
        case("car list").rules.export("python", dialect="duckdb")


def test_a_path_that_cannot_be_written_to_is_refused(tmp_path):
    with pytest.raises(ValueError, match="this is a folder"):
        case("car list").rules.export("python", tmp_path)


def test_what_cannot_hold_a_scorecard_says_what_can():
    network = nn2rules.Network(
        nn2rules.Domain((nn2rules.Feature("size", ("small", "big")),)),
        (nn2rules.Layer([[-1.0], [1.0]], [0.0], "sigmoid"),),
        ("no", "yes"),
    )
    card = nn2rules.extract(network)
    for name, form in EXPORTERS.items():
        if CardProgram.kind not in form.writers:
            with pytest.raises(OptionError, match="cannot hold scorecards; expected"):
                card.export(name)
    assert nn2rules.files.from_json(card.export("json")) == card
    with pytest.raises(OptionError, match="a Scorecard, expected a RuleList"):
        nn2rules.write_proofs(network, card, "card.proof")
