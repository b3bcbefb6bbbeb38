"""The reference of commands, which is made of the commands themselves."""

import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from nn2rules import cli

SCRIPT = Path(__file__).parents[2] / "scripts" / "command_reference.py"


@pytest.fixture(scope="module")
def text() -> str:
    spec = importlib.util.spec_from_file_location("command_reference", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    written: str = module.reference()
    return written


def commands() -> dict[str, Any]:
    group: Any = get_command(cli.app)
    return dict(group.commands)


def section(text: str, name: str) -> str:
    (found,) = re.findall(rf"(?ms)^## nn2rules {name}$(.*?)(?=^## |\Z)", text)
    return str(found)


@pytest.mark.parametrize("name", commands())
def test_the_reference_has_every_option_and_argument(text: str, name: str):
    command, own = commands()[name], section(text, name)
    for parameter in command.params:
        if parameter.param_type_name == "argument":
            assert f"| `{parameter.metavar}` |" in own
        else:
            for spelling in parameter.opts:
                assert f"`{spelling}`" in own
    assert "`--help`" in own
    assert f"nn2rules {name}" in own


def test_the_reference_has_every_command_in_the_order_of_use(text: str):
    sections = re.findall(r"(?m)^## nn2rules (.*)$", text)
    modules = [module.__name__.rpartition(".")[2] for module in cli.COMMANDS]
    assert sections == [name.replace("_", "-") for name in modules]
    assert [name for name in sections if f"| `{name}` |" not in text] == []


def test_tables_have_cells_of_plain_text(text: str):
    assert "<int" not in text
    assert "<float" not in text
    for line in text.splitlines():
        if line.startswith("| "):
            assert len(re.findall(r"(?<!\\)\|", line)) == 3, line
