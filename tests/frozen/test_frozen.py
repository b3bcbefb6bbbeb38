"""Rules, verdicts, explanations and exports are what they were.

``make golden`` rewrites the files in ``data``; read the difference before committing.
"""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from frozen.frozen_cases import SUBJECTS, record

DATA = Path(__file__).parent / "data"


@pytest.mark.parametrize("name", SUBJECTS)
def test_outputs_are_unchanged(name: str) -> None:
    """Compare every output of a network with its golden file, or rewrite the file."""
    path = DATA / f"{name.replace(' ', '-')}.json"
    now = record(name)
    if os.environ.get("NN2RULES_GOLDEN"):
        path.write_text(_lines(now), "utf-8")
    before = json.loads(path.read_text("utf-8"))
    assert now == before, _differences(name, before, now)


@pytest.mark.parametrize("name", ["tomato", "bins and order"])
def test_threads_do_not_matter(name: str) -> None:
    """Two threads give what one gives."""
    assert record(name, n_jobs=2) == record(name, n_jobs=1)


def test_every_golden_file_is_compared() -> None:
    """A file that no network writes is not left behind."""
    names = {f"{name.replace(' ', '-')}.json" for name in SUBJECTS}
    assert {path.name for path in DATA.iterdir()} == names


def test_first_difference() -> None:
    """The message names the case and the place in it."""
    before = {"rules: set": {"text": ["A1", "a = 1"], "values": 2}, "gone": 1}
    now = {"rules: set": {"text": ["A1", "a = 2"], "values": 3}, "new": 1}
    assert _differences("car", before, now).splitlines() == [
        "car: 3 cases differ; make golden rewrites them",
        "rules: set: at text[1]: 'a = 1' became 'a = 2'",
        "gone: no longer there",
        "new: not in the golden file",
    ]


def _lines(cases: dict[str, Any]) -> str:
    """Return JSON with a line for each case."""
    lines = [
        f"{json.dumps(name)}: {json.dumps(found, ensure_ascii=False)}"
        for name, found in cases.items()
    ]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _differences(name: str, before: dict[str, Any], now: dict[str, Any]) -> str:
    """Return a line for each case that differs: its name and the first difference."""
    lines = []
    for case in before | now:
        if case not in now:
            lines.append(f"{case}: no longer there")
        elif case not in before:
            lines.append(f"{case}: not in the golden file")
        elif before[case] != now[case]:
            lines.append(f"{case}: {_first(before[case], now[case])}")
    head = f"{name}: {len(lines)} cases differ; make golden rewrites them"
    return "\n".join([head, *lines])


def _first(before: Any, now: Any, place: str = "") -> str:
    """Return where two outputs first differ, and how."""
    both = before, now
    if all(isinstance(one, dict) for one in both) and before.keys() == now.keys():
        key = next(key for key in before if before[key] != now[key])
        inner = f"{place}.{key}" if place else key
        return _first(before[key], now[key], inner)
    if all(isinstance(one, list) for one in both) and len(before) == len(now):
        index = next(i for i, one in enumerate(before) if one != now[i])
        return _first(before[index], now[index], f"{place}[{index}]")
    return f"at {place or 'the top'}: {before!r} became {now!r}"
