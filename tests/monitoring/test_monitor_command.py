"""`nn2rules monitor`: exit codes, files, and one sentence for every mistake."""

import json

import pytest
from typer.testing import CliRunner

import nn2rules
from nn2rules import cli, datasets


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    network = nn2rules.load(datasets.network_file("car"))
    nn2rules.save(network, "car.json")
    nn2rules.extract(network).save("rules.json")
    cars = datasets.load("car")
    reference, new = cars.train.to_frame(), cars.test.to_frame()
    reference.to_csv("train.csv", index=False)
    new["month"] = "2026-10"
    new.to_csv("same.csv", index=False)
    new.loc[new["safety"] == "med", "safety"] = "low"
    new.to_csv("drifted.csv", index=False)
    new.to_parquet("drifted.parquet")


def run(text):
    return CliRunner().invoke(cli.app, ["monitor", *text.split()])


ROWS = "rules.json --reference train.csv --new"


def test_stable_rows():
    found = run(f"{ROWS} same.csv --labels label --model car.json")
    assert found.exit_code == 0
    assert found.output.startswith(
        "Stable: no change is above its threshold and beyond chance\n"
    )


def test_drift_exits_with_1_and_names_the_rule():
    found = run(f"{ROWS} drifted.csv --by month -o page.html --title Cars")
    assert found.exit_code == 1
    assert "rule 1 (safety = low → unacc)" in found.output
    with open("page.html", encoding="utf-8") as page:
        assert "<h1><bdi>Cars</bdi></h1>" in page.read()
    tolerant = run(f"{ROWS} drifted.csv --psi 9 --major-psi 9")
    assert tolerant.exit_code == 0


def test_json_of_both_kinds_of_files():
    texts = [run(f"{ROWS} drifted.{kind} --json") for kind in ("csv", "parquet")]
    made = [json.loads(text.stdout) for text in texts]
    assert made[0].pop("new")["name"] == "drifted.csv"
    assert made[1].pop("new") == {"name": "drifted.parquet", "rows": 346}
    assert made[0] == made[1]
    assert made[0]["stable"] is False


def test_bands_of_the_model():
    found = run(f"{ROWS} same.csv --model car.json --bands 0.5 --json")
    bands = json.loads(found.stdout)["breakdowns"][1]
    names = [cell["name"] for cell in bands["cells"]]
    assert names == ["below 0.5", "0.5 and above", "no score"]
    assert sum(cell["new"]["rows"] for cell in bands["cells"]) == 346


MISTAKES = {
    f"{ROWS} same.csv --labels y": "there is no column 'y'",
    f"{ROWS} nowhere.csv": "nowhere.csv",
    f"{ROWS} same.csv --bands a,b --model car.json": "expected numbers such as 0.2",
    f"{ROWS} same.csv --bands 0.5": "there are no scores to put into bands",
    f"{ROWS} same.csv --psi 0.5": "major_psi: 0.25, expected at least psi",
    f"{ROWS} same.csv -o train.csv": "train.csv",
    f"car.json {ROWS.removeprefix('rules.json ')} same.csv": "car.json",
    f"{ROWS} same.csv --target good": "target: the label 'good' is not a class",
}


@pytest.mark.parametrize("text", MISTAKES)
def test_mistakes_exit_with_2(text):
    found = run(text)
    assert found.exit_code == 2
    (line,) = [one for one in found.stderr.splitlines() if one.startswith("error")]
    assert MISTAKES[text] in line
