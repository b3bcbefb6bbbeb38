"""Decision tables, run by Drools: the native executor of KIE, started once.

One call costs milliseconds, so the table is called from a loop in the engine: the table
is taken from its decision, as it is written, and made a function of a second model.
Some rows are also given to the file as it is, one by one, and must get the same answer.
"""

import atexit
import http.client
import json
import os
import socket
import subprocess
import time
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.sax.saxutils import escape

from export.executing import needs
from nn2rules.export.card_program import CardProgram, Scored
from nn2rules.export.card_text import total_names
from nn2rules.export.program import NO_PREDICTION, Prediction, Program

ENGINES = Path(__file__).parents[3] / ".venv" / "engines" / "node_modules"
_BINARY = ENGINES / "@kie-tools/jitexecutor-native/dist/linux/jitexecutor"
_MODEL = "https://www.omg.org/spec/DMN/20191111/MODEL/"
_ONE_BY_ONE = 12

# Drools takes `not(null)` for `-` when it looks for rows that are alike.
_FALSE_ALARMS = ("First Normal Form Violation",)


@cache
def _port() -> int:
    """Start the engine, which ends with this process."""
    needs(_BINARY.exists(), "the DMN engine", "tests/engines.sh installs it")
    os.chmod(_BINARY, 0o755)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = [f"-Dquarkus.http.port={port}", "-Dquarkus.http.host=127.0.0.1"]
    options += ["-Dquarkus.http.limits.max-body-size=500M"]
    engine = subprocess.Popen(
        [_BINARY, *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    atexit.register(engine.kill)
    for _ in range(500):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.02)
        else:
            return port
    raise RuntimeError("the DMN engine did not start")


def post(path: str, content: Any) -> Any:
    """Ask the engine."""
    connection = http.client.HTTPConnection("127.0.0.1", _port(), timeout=120)
    headers = {"Content-Type": "application/json"}
    connection.request("POST", path, json.dumps(content), headers)
    response = connection.getresponse()
    text = response.read()
    connection.close()
    assert response.status == 200, text[:500]
    return json.loads(text)


def errors_of(model: str) -> list[str]:
    """Return what the engine finds wrong with a model; it would run it all the same."""
    resource = {"URI": "a.dmn", "content": model}
    found = post("/jitdmn/validate", {"mainURI": "a.dmn", "resources": [resource]})
    texts = [each["message"] for each in found if each["severity"] == "ERROR"]
    return [text for text in texts if not text.startswith(_FALSE_ALARMS)]


def _columns_apart(model: str) -> str:
    """Return a model with the tests of each column in a table of its own.

    The engine looks for gaps in a table when it validates it, which takes for ever with
    many columns; but only then does it say that a test cannot be read.
    """
    root = ElementTree.fromstring(model)
    space = f"{{{_MODEL}}}"
    columns = [node.attrib["name"] for node in root.iter(f"{space}inputData")]
    kinds = [node.attrib["typeRef"] for node in root.iter(f"{space}inputExpression")]
    tests: list[set[str]] = [set() for _ in columns]
    for row in root.iter(f"{space}rule"):
        for found, entry in zip(tests, row.iter(f"{space}inputEntry"), strict=True):
            found.add(entry.findtext(f"{space}text") or "")
    parts = []
    for name, kind, found in zip(columns, kinds, tests, strict=True):
        rows = "".join(
            f"<rule><inputEntry><text>{escape(test)}</text></inputEntry>"
            "<outputEntry><text>1</text></outputEntry></rule>"
            for test in sorted(found)
        )
        parts.append(
            f'<inputData id="i_{name}" name="{name}"><variable name="{name}" '
            f'typeRef="{kind}"/></inputData><decision id="d_{name}" name="d_{name}">'
            f'<variable name="d_{name}" typeRef="number"/><informationRequirement>'
            f'<requiredInput href="#i_{name}"/></informationRequirement>'
            f'<decisionTable hitPolicy="FIRST"><input><inputExpression '
            f'typeRef="{kind}"><text>{name}</text></inputExpression></input>'
            f'<output typeRef="number"/>{rows}</decisionTable></decision>'
        )
    head = f'<definitions xmlns="{_MODEL}" id="v" name="v" namespace="urn:v">'
    return f"{head}{''.join(parts)}</definitions>"


def variables_of(model: str) -> dict[str, str]:
    """Return the column of each variable, as the file says."""
    root = ElementTree.fromstring(model)
    text = root.findtext(f"{{{_MODEL}}}description") or ""
    return json.loads(text.partition("columns, by variable: ")[2])


def execute(made: Any, program: Program, rows: Any) -> list[Prediction | None]:
    """Run a decision table; tables of points row by row, as they are."""
    if isinstance(program, CardProgram):
        return _scored(made, program, rows)
    assert errors_of(_columns_apart(made)) == []
    columns = variables_of(made)
    contexts = [{v: row[column] for v, column in columns.items()} for row in rows]
    results = _all(made, contexts)
    step = max(1, len(rows) // _ONE_BY_ONE)
    for context, result in list(zip(contexts, results, strict=True))[::step]:
        assert _one(made, context) == result
    return [
        _answer(result, program, row) for result, row in zip(results, rows, strict=True)
    ]


def _scored(made: str, program: CardProgram, rows: Any) -> list[Prediction | None]:
    columns = variables_of(made)
    found: list[Prediction | None] = []
    for row in rows:
        told = post(
            "/jitdmn/dmnresult",
            {"model": made, "context": {v: row[c] for v, c in columns.items()}},
        )
        errors = [each for each in told["messages"] if each["severity"] != "WARN"]
        assert not errors, errors[:3]
        [result] = [
            each["result"]
            for each in told["decisionResults"]
            if each["decisionName"] == "decision"
        ]
        if result is None:
            found.append(program.outside)
            continue
        label = result.pop("class")
        totals = [result[name] for name in total_names(program)]
        found.append(Scored(label, None, tuple(totals)))
    return found


def _one(model: str, context: dict[str, Any]) -> Any:
    told = post("/jitdmn/dmnresult", {"model": model, "context": context})
    return _result(told)


def _all(model: str, contexts: list[dict[str, Any]]) -> list[Any]:
    given = [list(context.values()) for context in contexts]
    content = {"model": _looped(model), "context": {"rows": given}}
    return _result(post("/jitdmn/dmnresult", content))


def _result(told: Any) -> Any:
    """Return a result; that no row holds is a warning, and all else is an error."""
    errors = [each for each in told["messages"] if each["severity"] != "WARN"]
    assert not errors, errors[:3]
    return told["decisionResults"][0]["result"]


def _looped(model: str) -> str:
    """Return a model that calls the table for each of its rows."""
    parts = []
    for place, part in enumerate(model.split("<inputData ")[1:]):
        name = part.partition('name="')[2].partition('"')[0]
        kind = part.partition('typeRef="')[2].partition('"')[0]
        parts.append(f'<formalParameter id="p{place}" name="{name}" typeRef="{kind}"/>')
    start, end = model.index("<decisionTable"), model.index("</decisionTable>")
    table = model[start:end] + "</decisionTable>"
    each = ", ".join(f"r[{place + 1}]" for place in range(len(parts)))
    return f"""<definitions xmlns="{_MODEL}" id="l" name="l" namespace="urn:l">
<inputData id="rows_" name="rows"><variable id="rv" name="rows"/></inputData>
<businessKnowledgeModel id="f_" name="f"><variable id="fv" name="f"/>
<encapsulatedLogic id="el">{"".join(parts)}{table}</encapsulatedLogic>
</businessKnowledgeModel>
<decision id="loop" name="loop"><variable id="lv" name="loop"/>
<informationRequirement id="li"><requiredInput href="#rows_"/></informationRequirement>
<knowledgeRequirement id="lk"><requiredKnowledge href="#f_"/></knowledgeRequirement>
<literalExpression id="le"><text>for r in rows return f({each})</text>
</literalExpression></decision></definitions>"""


def _answer(result: Any, program: Program, row: Any) -> Prediction:
    """Return what a table says of a row.

    Of all rules that hold, the first of the program is told. A table that tells the
    class alone is taken to mean the rule that the program does.
    """
    if isinstance(result, list):
        names = [branch.name for branch in program.branches]
        assert len({each["class"] for each in result}) <= 1, "rules contradict"
        is_held = {each["rule"]: each for each in result}
        found = [is_held[name] for name in names if name in is_held] or result
        result = found[0] if found else None
    if result is None:
        return NO_PREDICTION
    if isinstance(result, dict):
        return Prediction(result["class"], result["rule"])
    expected = program.predict(row)
    return Prediction(result, expected.rule if expected is not None else None)
