"""Rule sets of PMML, run by two engines, which must agree: JPMML and PMML4S.

Both run on Java. PMML4S does not tell which rule answered, so that is JPMML's word.
"""

import atexit
import json
import math
import shutil
import tempfile
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from export.executing import needs
from nn2rules.export.card_program import CardProgram, Scored
from nn2rules.export.program import Prediction, Program

_LABEL = "prediction"


def execute(made: Any, program: Program, rows: Any) -> list[Prediction | None]:
    """Run a rule set in both engines."""
    needs_java()
    names = [column.name for column in program.columns]
    label, beside = (_unused(n, names) for n in (_LABEL, program.beside[0]))
    by_jpmml = in_jpmml(made, rows)
    by_pmml4s = in_pmml4s(made, rows)
    found = []
    for row, one, other in zip(rows, by_jpmml, by_pmml4s, strict=True):
        told = _told(one.get(label), program)
        assert _told(other.get(label), program) == told, row
        shown = _told(one.get(beside), None)
        if isinstance(program, CardProgram):
            assert _told(other.get(beside), None) == shown, row
            found.append(Scored(told, None, (shown,)))
        else:
            found.append(Prediction(told, shown))
    return found


def needs_java() -> None:
    """Skip a test without Java."""
    is_there = shutil.which("java") and find_spec("pypmml")
    needs(bool(is_there and find_spec("jpmml_evaluator")), "Java", "install it")


def in_jpmml(made: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the output fields of each row, from JPMML."""
    import pandas as pd
    from jpmml_evaluator import make_evaluator

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rules.pmml"
        path.write_text(made, encoding="utf-8")
        evaluator = make_evaluator(str(path), backend=_jpmml())
    frame = pd.DataFrame(rows, dtype=object)
    told = evaluator.evaluateAll(frame)
    assert "errors" not in told, told["errors"].dropna().iloc[0]
    return told.to_dict(orient="records")


@cache
def _jpmml() -> Any:
    """Start JPMML in a process of its own: within this one, Java takes over imports."""
    from jpmml_evaluator.py4j import Py4JBackend

    backend = Py4JBackend()
    atexit.register(_stop, Py4JBackend)
    return backend


def _stop(backend: Any) -> None:
    if backend.gateway is not None:
        backend.destroyGateway()


def in_pmml4s(made: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the output fields of each row, from PMML4S; frames would round numbers."""
    return json.loads(_pmml4s().fromString(made).predict(json.dumps(rows)))


@cache
def _pmml4s() -> Any:
    from pypmml import Model

    atexit.register(Model.close)
    return Model


def _told(value: Any, program: Program | None) -> Any:
    """Return a field without NaN, and a class of true and false as such."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if program is not None and program.label_kind == "truth":
        return {"true": True, "false": False}[value]
    return value


def _unused(name: str, names: list[str]) -> str:
    while name in names:
        name += "_"
    return name
