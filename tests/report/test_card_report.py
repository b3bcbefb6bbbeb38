"""What is in the report of a scorecard, and what is refused."""

import dataclasses
import json
import re
from fractions import Fraction
from html import unescape

import pandas as pd
import pytest
from card_subjects import NETWORKS, card_case
from test_report import embedded_data
from typer.testing import CliRunner

import nn2rules
from nn2rules import OptionError, cli
from nn2rules.output import Grid, Paragraph
from nn2rules.questions.evaluate import evaluate
from nn2rules.scorecards import number_text

TAG = re.compile(r"<[^>]*>")


def words(html):
    return " ".join(unescape(TAG.sub(" ", html)).split())


@pytest.mark.parametrize("name", NETWORKS)
def test_every_part_of_the_printed_page_is_in_the_report(name):
    case = card_case(name)
    made = case.report()
    html, card = made.html, case.rules
    for section in card.document().sections[1:]:
        for part in section:
            if isinstance(part, Paragraph):
                assert " ".join(part.text.split()) in words(html)
            elif isinstance(part, Grid):
                for row in part.rows:
                    assert " ".join(" ".join(row).split()) in words(html)
    assert card.digest in html
    assert card.certificate["network"] in html
    agree = card.certificate["labels_agree"]
    assert f"predicts the label of {agree:,})" in html
    assert embedded_data(html) == json.loads(json.dumps(made.data))
    assert repr(made).startswith("<Report: a scorecard, ")


@pytest.mark.parametrize("name", ["one sum", "parts", "words"])
def test_totals_and_reasons_are_those_of_the_library(name):
    case = card_case(name)
    shown = words(case.report().html)
    found = evaluate(case.network, case.rules, case.rows, case.labels)
    for band in found.bands:
        assert f"{band.text} {band.rows:,} " in shown
    totals = case.rules.points(case.rows).totals[:, 0].tolist()
    low, high = min(totals), max(totals)
    for end in (low, high):
        row = case.rows[totals.index(end)]
        label, reasons = case.rules.predict([row])[0], case.rules.reasons([row])[0]
        assert f"{number_text(Fraction(end))} {label} " in shown
        assert reasons[0].feature in shown


def test_rows_of_another_table_are_counted_anew():
    case = card_case("one sum")
    rows, labels = case.rows[:50], case.labels[:50]
    html = words(case.rules.report(data=rows, labels=labels, time=1).html)
    printed = case.rules.table.predict_codes(*case.network.domain.inputs_of(rows))
    close = int((printed < 0).sum())
    assert f"Of 50 rows, {close or 'none'} " in html
    right = (case.network.predict(rows) == labels).sum()
    assert f"predicts the label of {right:,})" in html


def test_no_row_is_in_the_file_if_that_is_asked_for():
    found = card_case("one sum").report(rows=False)
    assert found.data["rows"]["cells"] == []
    assert "Reasons of some rows" not in found.html
    assert "It contains no rows of the data" in found.html


def test_a_scorecard_alone_makes_a_report():
    card = card_case("words").rules
    found = card.report()
    assert found.data["what_if"]["table"] is not None
    assert "Provide rows" in found.html
    assert (
        "nothing is proved" in words(card.replace(certificate={}).report().html).lower()
    )


def test_another_network_is_refused():
    case = card_case("parts")
    with pytest.raises(OptionError, match="that the scorecard was extracted from"):
        case.rules.report(model=card_case("leaky parts").network)


@pytest.fixture
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    case = card_case("one sum")
    case.rules.save("card.json")
    nn2rules.save(case.network, "network.json")
    pd.DataFrame(case.rows).assign(y=case.labels).to_csv("rows.csv", index=False)


def command(*args):
    return CliRunner().invoke(cli.app, ["report", *args])


@pytest.mark.usefixtures("_folder")
def test_the_command_takes_a_scorecard_or_makes_one(tmp_path):
    options = ["--data", "rows.csv", "--labels", "y", "--time", "2"]
    done = command("card.json", *options, "-o", "first.html")
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("written to first.html: a scorecard, ")
    html = (tmp_path / "first.html").read_text("utf-8")
    assert card_case("one sum").rules.digest in html
    assert "nn2rules check network.json card.json" in html
    saved = ("--save-rules", "c.json")
    done = command("network.json", *options, "--form", "scorecard", *saved)
    assert done.exit_code == 0, done.output
    html = (tmp_path / "report.html").read_text("utf-8")
    assert nn2rules.load("c.json").digest in html
    done = command("network.json", *options, "--form", "scorecard", "--json")
    assert json.loads(done.stdout)["lines"] == 8


@pytest.mark.usefixtures("_folder")
def test_a_scorecard_of_a_model_that_rounds_is_its_own_network(tmp_path):
    """Its file does not hold the rounding error of the model it was read from."""
    case = card_case("one sum")
    rounding = dataclasses.replace(case.network, model_error=1e-12)
    nn2rules.extract(rounding, case.rows, form="scorecard").save("card.json")
    done = command("card.json", "--data", "rows.csv", "--labels", "y", "--time", "2")
    assert done.exit_code == 0, done.output
    assert (tmp_path / "report.html").is_file()


@pytest.mark.usefixtures("_folder")
@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["card.json", "--form", "set"], "card.json is a scorecard"),
        (["card.json", "--scope", "domain"], "card.json is a scorecard"),
        (["network.json", "--form", "scorecard", "--scope", "support"], "for rules"),
        (["card.json", "--labels", "y"], "names a column of --data"),
        (["rows.csv"], "rows.csv"),
    ],
)
def test_mistakes_are_one_sentence(args, message):
    done = command(*args)
    assert done.exit_code == 2
    assert message in " ".join(done.stderr.split())
    assert done.stderr.count("\n") == 1
