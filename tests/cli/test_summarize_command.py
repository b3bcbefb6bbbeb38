"""nn2rules summarize: what it prints and writes, and mistakes."""

import json

import nn2rules
from tests.cli.test_cli import run


def car(tmp_path, n_rows=200):
    cars = nn2rules.datasets.load("car").train
    data = tmp_path / "rows.csv"
    cars.to_frame().head(n_rows).to_csv(data, index=False)
    return str(nn2rules.datasets.network_file("car")), data


def test_summarize_prints_the_page_and_writes_the_file(tmp_path):
    network, data = car(tmp_path)
    output = tmp_path / "summary.json"
    given = ("summarize", network, "--data", str(data), "--max-lines", "6")
    result = run(*given, "-o", str(output))
    assert result.exit_code == 0
    summary = nn2rules.load(output)
    assert result.stdout.startswith("Summary, not an exact description: agrees")
    assert result.stdout.rstrip("\n") == summary.text(width=80).rstrip("\n")
    assert json.loads(run(*given, "--json").stdout) == summary.to_dict()
    refused = run("predict", str(output), str(data))
    assert refused.exit_code == 2
    assert "a summary, which is not an exact description" in refused.stderr


def test_summarize_states_mistakes(tmp_path):
    network, data = car(tmp_path, n_rows=2)
    result = run("summarize", network, "--data", str(data))
    assert result.exit_code == 2
    assert "data has 2 rows; a summary needs at least 10" in result.stderr
    assert run("summarize", network).exit_code == 2
    assert run("summarize", network, "--data", str(data), "--max-lines", "1").exit_code
    missing = run("summarize", network, "--data", str(tmp_path / "no.csv"))
    assert missing.exit_code == 2
    assert "Traceback" not in missing.stderr
