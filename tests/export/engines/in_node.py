"""Exports that are ES modules, imported and run by one node for all tests."""

import atexit
import json
import math
import shutil
import subprocess
from functools import cache
from typing import Any

from export.executing import needs
from nn2rules.export.card_program import Scored
from nn2rules.export.program import Prediction, Program

_DRIVER = """
import { createInterface } from "node:readline";
const special = { nan: NaN, inf: Infinity, "-inf": -Infinity, undefined: undefined };
const cell = (made) => (Array.isArray(made) ? special[made[0]] : made);
const ask = (whole, predict, row) => {
  for (const name of Object.keys(row)) row[name] = cell(row[name]);
  try {
    const found = whole(row);
    return [found.class, found.totals || found.rule, predict(row) === found.class];
  } catch (error) {
    return { name: error.name, message: error.message };
  }
};
for await (const line of createInterface({ input: process.stdin })) {
  const { source, rows } = JSON.parse(line);
  const url = "data:text/javascript;base64," + Buffer.from(source).toString("base64");
  let answers;
  try {
    const made = await import(url);
    const whole = made.predictWithTotals || made.predictWithRule;
    answers = rows.map((row) => ask(whole, made.predict, row));
  } catch (error) {
    answers = { name: error.name, message: error.message };
  }
  process.stdout.write(JSON.stringify(answers) + "\\n");
}
"""


@cache
def _node() -> subprocess.Popen[str]:
    process = subprocess.Popen(
        ["node", "--input-type=module", "-e", _DRIVER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    atexit.register(process.terminate)
    return process


def ask(source: str, rows: list[dict[str, Any]]) -> Any:
    """Return what an ES module answers: for each row a list, or an error as a dict."""
    needs(shutil.which("node") is not None, "node", "install nodejs")
    process = _node()
    assert process.stdin is not None
    assert process.stdout is not None
    given = [{name: _sent(cell) for name, cell in row.items()} for row in rows]
    process.stdin.write(json.dumps({"source": source, "rows": given}) + "\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())


def _sent(cell: Any) -> Any:
    """Return a cell as JSON has it; what JSON lacks is in a list."""
    if isinstance(cell, float) and not math.isfinite(cell):
        return [str(cell)]
    return cell


def execute(made: Any, program: Program, rows: Any) -> list[Prediction | None]:
    """Run an exported module."""
    found = ask(made, rows)
    assert isinstance(found, list), found
    return [_answer(each) for each in found]


def _answer(found: Any) -> Prediction | None:
    if isinstance(found, dict):
        assert found["name"] == "RangeError", found
        return None
    label, beside, is_same = found
    assert is_same
    if isinstance(beside, list):
        return Scored(label, None, tuple(beside))
    return Prediction(label, beside)
