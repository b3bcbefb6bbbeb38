"""The commands that make scorecards, and take them."""

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

import nn2rules
from nn2rules import cli
from nn2rules.scorecards import Scorecard

LINEAR = {
    "format": "nn2rules-network/1",
    "features": [
        {"name": "color", "values": ["red", "yellow"]},
        {"name": "weight", "range": [50, 250], "whole": True, "values": [None]},
    ],
    "layers": [
        {
            "weights": [[1.5], [-1.0], [0.01], [0.25]],
            "bias": [-2.0],
            "activation": "sigmoid",
        }
    ],
    "classes": ["unripe", "ripe"],
}


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("linear.json").write_text(json.dumps(LINEAR))
    Path("rows.csv").write_text("color,weight\nred,120\nyellow,\nyellow,250\nred,999\n")


def run(*args: str) -> Result:
    return CliRunner().invoke(cli.app, args, prog_name="nn2rules")


def test_a_linear_model_has_a_scorecard_by_default():
    result = run("extract", "linear.json")
    assert result.exit_code == 0, result.output
    assert "Scorecard: unripe or ripe" in result.stdout
    assert "weight  50 to 250 (whole): per 1" in result.stdout
    printed = json.loads(run("extract", "linear.json", "--json").stdout)
    assert printed["format"] == "nn2rules-scorecard/1"
    rules = run("extract", "linear.json", "--form", "rules", "--json")
    assert json.loads(rules.stdout)["format"] == "nn2rules-rules/1"


def test_many_rules_of_a_small_network_end_with_a_note_on_its_scorecard():
    numbers = [{"name": name, "range": [0, 1]} for name in "abcd"]
    hidden = {
        "weights": [[5, -3, 1], [-4, 2, 3], [3, 3, -5], [-2, 4, 4]],
        "bias": [-1, -1.5, -0.5],
        "activation": "relu",
    }
    last = {"weights": [[1], [-1.5], [1]], "bias": [-0.1], "activation": "sigmoid"}
    network = {**LINEAR, "features": numbers, "layers": [hidden, last]}
    Path("small.json").write_text(json.dumps(network))
    rows = np.random.default_rng(0).random((150, 4)).round(3)
    np.savetxt("some.csv", rows, "%g", ",", header="a,b,c,d", comments="")
    result = run("extract", "small.json", "--data", "some.csv", "-o", "rules.json")
    assert result.exit_code == 0, result.output
    assert len(nn2rules.load("rules.json")) > 20
    note = "note: a scorecard with 4 lines would cover every input: --form scorecard"
    assert result.stderr.splitlines()[-1] == note


def test_a_scale_is_chosen_and_rows_are_predicted():
    scale = ("--points-to-double-odds", "20", "--odds", "1", "--base-score", "500")
    result = run("extract", "linear.json", *scale, "-o", "card.json")
    assert result.exit_code == 0, result.output
    assert "equal to the network on every input" in result.stdout
    card = nn2rules.load("card.json")
    assert isinstance(card, Scorecard)
    assert card.scale.offset == 500
    result = run("predict", "card.json", "rows.csv", "--unknown", "none")
    assert result.exit_code == 0, result.output
    header, *lines = result.stdout.splitlines()
    assert header == "color,weight,prediction,points"
    assert [line.split(",")[2] for line in lines] == ["ripe", "unripe", "unripe", ""]
    points = float(lines[0].split(",")[3])
    assert abs(points - (500 + 20 / 0.6931 * 0.7)) < 1


def test_numbers_are_printed_in_bins():
    result = run("extract", "linear.json", "--bins", "201", "-o", "card.json")
    assert result.exit_code == 0, result.output
    card = nn2rules.load("card.json")
    assert card.scale.bins == 201
    assert "weight  50 " in card.text()
    assert "per 1" not in card.text()


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["extract", "linear.json", "--bins", "many"], "expected a number or auto"),
        (["extract", "linear.json", "--bins", "0"], "expected 1 to 1000"),
        (["extract", "linear.json", "--bins", "1"], "between two proved cut-offs"),
        (["extract", "linear.json", "--form", "set", "--bins", "5"], "for a scorecard"),
        (["extract", "linear.json", "--form", "set", "--odds", "2"], "for a scorecard"),
        (["extract", "linear.json", "--odds", "2"], "go with points_to_double_odds"),
        (
            ["extract", "linear.json", "--minimum", "0", "--higher", "x"],
            "there is no class 'x'",
        ),
        (
            ["extract", "linear.json", "--form", "scorecard", "--max-rules", "3"],
            "max_rules is for rules",
        ),
        (["predict", "card.json", "rows.csv", "--unknown", "default"], "no default"),
        (["predict", "card.json", "rows.csv"], "999"),
        (["predict", "linear.json", "rows.csv"], "expected rules or a scorecard"),
    ],
)
def test_mistakes(args, message):
    run("extract", "linear.json", "-o", "card.json")
    result = run(*args)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())


def test_a_scorecard_is_checked():
    assert run("extract", "linear.json", "-o", "card.json").exit_code == 0
    result = run("check", "linear.json", "card.json", "--data", "rows.csv")
    assert result.exit_code == 2
    assert "999" in result.stderr
    result = run("check", "linear.json", "card.json")
    assert result.exit_code == 0
    assert result.stdout == (
        "PROVED: the scorecard predicts as the network does on every input.\n"
        "Predictions: proved. All 5 numbers of the scorecard are those of the "
        "network.\n"
        "Printed points: proved. 2 statements on every input.\n"
        "Tried as well: 60 inputs, some near a cut-off.\n"
    )
    found = json.loads(run("check", "linear.json", "card.json", "--json").stdout)
    assert [claim["status"] for claim in found["claims"]] == ["proved", "proved"]


def test_an_edited_scorecard_is_refuted_by_an_input():
    assert run("extract", "linear.json", "-o", "card.json").exit_code == 0
    text = Path("card.json").read_text()
    Path("edited.json").write_text(text.replace('"slope": 0.01', '"slope": 0.0099'))
    result = run("check", "linear.json", "edited.json")
    assert result.exit_code == 1
    assert result.stdout.startswith("DIFFERENT: the scorecard does not predict as")
    assert "color = 'red', weight = 50: the network predicts 'ripe', the" in (
        result.stdout
    )
    assert "which was changed after it was made" in result.stderr
    Path("other.json").write_text(text.replace('"yellow"', '"blue"'))
    result = run("check", "linear.json", "other.json")
    assert result.exit_code == 2
    assert "feature 'color': the scorecard has 'blue', the network has not" in (
        result.stderr
    )
    Path("half.json").write_text(text[: len(text) // 2])
    result = run("check", "linear.json", "half.json")
    assert result.exit_code == 2
    assert "half.json: not valid JSON, or truncated" in result.stderr
    result = run("check", "linear.json", "card.json", "--proofs", "x")
    assert result.exit_code == 2
    assert "proofs is for rules" in result.stderr
