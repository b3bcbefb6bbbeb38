"""Exports that are Prolog modules, run by SWI-Prolog: one process for each export."""

import json
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from export.executing import needs
from nn2rules.export.program import Prediction, Program

_DRIVER = r"""
:- use_module(library(http/json)).
:- initialization(main, main).

main :-
    set_stream(user_input, encoding(utf8)),
    set_stream(user_output, encoding(utf8)),
    json_read_dict(user_input, Rows, [tag('no column is called so')]),
    forall(nth0(Place, Rows, Row), answer(Place, Row)).

answer(Place, Dict) :-
    (   0 is Place mod 2
    ->  Row = Dict
    ;   dict_pairs(Dict, _, Row)
    ),
    (   catch(predict(Row, Class, Rule), error(Error, _), true)
    ->  true
    ;   Error = failed
    ),
    (   nonvar(Error)
    ->  functor(Error, Kind, _),
        format(string(Text), "~q", [Error]),
        Found = _{error: Kind, text: Text}
    ;   predict(Row, Class),
        Found = [Class, Rule]
    ),
    json_write_dict(user_output, Found, [width(0)]),
    nl.
"""


def ask(source: str, rows: list[dict[str, Any]]) -> list[Any]:
    """Return what a module answers: for each row a list, or an error as a dict."""
    found = _run(source, _DRIVER, json.dumps(rows, ensure_ascii=False))
    return [json.loads(line) for line in found.split("\n") if line]


def goals_of(source: str, goals: str) -> list[str]:
    """Return what goals print that use a module, line by line."""
    return _run(source, f"{goals}\n:- halt.\n", "").splitlines()


def _run(source: str, driver: str, given: str) -> str:
    needs(shutil.which("swipl") is not None, "swipl", "install swi-prolog-nox")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "rules.pl").write_text(source, encoding="utf-8")
        Path(folder, "driver.pl").write_text(":- use_module(rules).\n" + driver)
        done = subprocess.run(
            ["swipl", str(Path(folder, "driver.pl"))],
            input=given,
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )
    assert not done.stderr, done.stderr  # warnings, too
    assert done.returncode == 0
    return done.stdout


def execute(made: Any, program: Program, rows: Any) -> list[Prediction | None]:
    """Run an exported module."""
    return [_answer(found) for found in ask(made, rows)]


def _answer(found: Any) -> Prediction | None:
    if isinstance(found, dict):
        is_asked_for = found["error"] == "domain_error" or "(rule," in found["text"]
        assert is_asked_for, found
        return None
    return Prediction(*found)
