"""nn2rules train: a table in, a folder out, and one sentence for every mistake."""

import csv

import numpy as np
import pytest
from typer.testing import CliRunner

import nn2rules
from nn2rules import cli


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    with open("loans.csv", "w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["age", "job", "case", "repaid"])
        for number in range(200):
            age, job = rng.integers(18, 80), rng.choice(["cook", "smith", ""])
            is_good = age > 40 and job != "smith"
            rows.writerow([age, job, number, "yes" if is_good else "no"])
    return tmp_path


def run(*args):
    return CliRunner().invoke(cli.app, ["train", *args], prog_name="nn2rules")


RULES = ("--form", "rules")


def test_what_is_written_is_what_was_trained(folder):
    done = run(
        "loans.csv", "--labels", "repaid", "--drop", "case", "-o", "model", *RULES
    )
    assert done.exit_code == 0, done.output
    assert sorted(path.name for path in (folder / "model").iterdir()) == [
        "network.json",
        "path.csv",
        "path.svg",
        "rules.json",
        "rules.txt",
    ]
    network = nn2rules.load("model/network.json")
    rules = nn2rules.load("model/rules.json")
    assert nn2rules.check(network, rules).ok
    assert rules.text(top="all") + "\n" == (folder / "model/rules.txt").read_text()
    assert set(network.domain.names) == {"age", "job"}
    with open("model/path.csv", encoding="utf-8") as file:
        path = list(csv.DictReader(file))
    (taken,) = [row for row in path if row["chosen"]]
    assert int(taken["size"]) == len(rules)
    assert "← chosen" in done.output
    answered = CliRunner().invoke(
        cli.app, ["predict", "model/rules.json", "loans.csv"], prog_name="nn2rules"
    )
    told = list(csv.DictReader(answered.output.splitlines()))
    assert np.mean([row["prediction"] == row["repaid"] for row in told]) > 0.97
    again = run(
        "loans.csv", "--labels", "repaid", "--drop", "case", "-o", "model", *RULES
    )
    assert again.exit_code == 0
    assert nn2rules.load("model/rules.json") == rules


def test_a_scorecard_is_written(folder):
    args = ("--labels", "repaid", "--drop", "case", "--form", "scorecard", "--balanced")
    assert run("loans.csv", "--labels", "repaid", "-o", "model", *RULES).exit_code == 0
    done = run("loans.csv", *args, "--max-lines", "5", "-o", "model")
    assert done.exit_code == 0, done.output
    assert sorted(path.name for path in (folder / "model").iterdir()) == [
        "network.json",
        "path.csv",
        "path.svg",
        "scorecard.json",
        "scorecard.txt",
    ]
    card = nn2rules.load("model/scorecard.json")
    assert card.n_lines <= 5
    assert nn2rules.check(nn2rules.load("model/network.json"), card).ok
    assert card.text() + "\n" == (folder / "model/scorecard.txt").read_text()
    told = CliRunner().invoke(
        cli.app, ["predict", "model/scorecard.json", "loans.csv"], prog_name="nn2rules"
    )
    assert told.exit_code == 0


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--labels", "paid"], "there is no column 'paid'"),
        (["--labels", "repaid", "--drop", "wage"], "there is no column 'wage'"),
        (["--labels", "case"], "this is regression"),
        (["--labels", "repaid", "--form", "card"], "form: 'card', expected one of"),
        (["--labels", "job"], "line 2: the column 'job' is empty"),
        (["--labels", "repaid", "--monotone", "age"], "expected NAME=+1 or NAME=-1"),
        (["--labels", "repaid", "--monotone", "job=+1"], "categories without an order"),
    ],
)
def test_a_mistake_is_said_in_one_sentence(args, message):
    with open("loans.csv", encoding="utf-8") as file:
        lines = file.read().splitlines()
    lines[1] = "33,,0,no"
    with open("loans.csv", "w", encoding="utf-8") as file:
        file.write("\n".join(lines))
    done = run("loans.csv", *args, "-o", "model")
    assert done.exit_code == 2
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_header_alone_is_no_table(folder):
    (folder / "empty.csv").write_text("age,repaid\n")
    done = run("empty.csv", "--labels", "repaid", "-o", "model")
    assert done.exit_code == 2
    assert "there are no rows" in done.stderr


def test_a_folder_of_others_is_left_alone(folder):
    (folder / "model").mkdir()
    (folder / "model" / "thesis.txt").write_text("mine")
    done = run("loans.csv", "--labels", "repaid", "-o", "model")
    assert done.exit_code == 2
    assert "contains thesis.txt" in done.stderr
    assert [path.name for path in (folder / "model").iterdir()] == ["thesis.txt"]
