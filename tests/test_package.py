import ast
import importlib
import importlib.util
import inspect
import pkgutil
import re
import subprocess
import sys
from importlib.metadata import metadata
from pathlib import Path

import pytest

import nn2rules
from nn2rules import cli
from nn2rules.export import EXPORTERS
from nn2rules.extraction.extract import ENGINES, FORMS
from nn2rules.models.adapters import ADAPTERS
from nn2rules.version import INSTALL

HEAVY = (
    "keras",
    "matplotlib",
    "numba",
    "onnx",
    "pandas",
    "polars",
    "pyarrow",
    "scipy",
    "sklearn",
    "tensorflow",
    "torch",
)


def modules_after(code):
    run = subprocess.run(
        [sys.executable, "-c", f"import sys; {code}; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    return {name.partition(".")[0] for name in run.stdout.split()}


@pytest.mark.parametrize(
    "code",
    [
        "import nn2rules",
        "from nn2rules.space import Boxes, Inputs; import nn2rules",
        "import nn2rules; nn2rules.load(nn2rules.datasets.network_file('tomato'))",
        "import nn2rules; nn2rules.load(nn2rules.datasets.network_file('tomato'))"
        ".predict([{'color': 'red', 'size': 'big'}])",
    ],
)
def test_importing_and_loading_need_no_framework(code):
    loaded = modules_after(code)
    assert "nn2rules" in loaded
    assert loaded & set(HEAVY) == set()


def test_install_commands_work_in_a_clone():
    """The package is not on PyPI: every message and page installs from a clone."""
    root = Path(__file__).parent.parent
    pages = [root / "README.md", *(root / "docs").rglob("*.md")]
    for file in [*pages, *(root / "src").rglob("*.py")]:
        found = re.findall(r"nn2rules\[\w|pip install nn2rules", file.read_text())
        assert not found, f"{file}: {found}"
    commands = [
        command
        for page in pages
        for command in re.findall(r'pip install "([^"]*\[.*?)"', page.read_text())
    ]
    assert len(commands) > 10
    extras = set(metadata("nn2rules").get_all("Provides-Extra") or ())
    for command in commands:
        place, _, named = command.removesuffix("]").partition("[")
        assert INSTALL.startswith(f'pip install "{place}[')
        assert set(named.split(",")) <= extras


def test_public_names_are_sorted_and_exist():
    assert nn2rules.__all__ == sorted(nn2rules.__all__)
    assert len(set(nn2rules.__all__)) == len(nn2rules.__all__)
    for name in nn2rules.__all__:
        assert getattr(nn2rules, name) is not None
    assert set(dir(nn2rules)) >= set(nn2rules.__all__)


@pytest.mark.parametrize("missing", [(), ("matplotlib", "jinja2")])
def test_a_star_import_needs_no_extra_for_drawing(missing):
    blocked = "".join(f"sys.modules[{name!r}] = None; " for name in missing)
    code = f"import sys; {blocked}from nn2rules import *; print(extract.__name__)"
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert (found.stdout, found.stderr) == ("extract\n", "")


def test_experiments_are_there_when_they_are_asked_for():
    from research import experiments

    assert callable(experiments.run)


def test_names_that_do_not_exist():
    with pytest.raises(AttributeError, match="'nn2rules' has no attribute 'extrakt'"):
        nn2rules.extrakt  # noqa: B018


def test_everything_public_is_documented():
    for name in nn2rules.__all__:
        item = getattr(nn2rules, name)
        if not (inspect.isclass(item) or inspect.isroutine(item)):
            continue
        assert inspect.getdoc(item), name
        if not inspect.isclass(item):
            continue
        for attribute, member in vars(item).items():
            is_public = not attribute.startswith("_")
            is_code = inspect.isroutine(member) or isinstance(
                member, property | classmethod
            )
            if is_public and is_code:
                assert inspect.getdoc(getattr(item, attribute)), f"{name}.{attribute}"


def test_every_module_says_what_it_is():
    for info in pkgutil.walk_packages(nn2rules.__path__, "nn2rules."):
        source = importlib.util.find_spec(info.name).origin
        assert ast.get_docstring(ast.parse(Path(source).read_text("utf-8"))), info.name


ROOT = Path(__file__).parent.parent
SOURCES = Path(nn2rules.__file__).parent
PACKAGES = sorted(
    path.parent.relative_to(SOURCES).as_posix()
    for path in SOURCES.rglob("__init__.py")
    if path.parent != SOURCES
)
LISTED = {
    "cli": {module.__name__.rpartition(".")[2] for module in cli.COMMANDS},
    "export": {
        writer.partition(".")[0]
        for form in EXPORTERS.values()
        for writer in form.writers.values()
    },
}
"""Modules that a table of the package names, which its docstring need not."""


def purpose(package):
    return ast.get_docstring(ast.parse((SOURCES / package / "__init__.py").read_text()))


@pytest.mark.parametrize("package", PACKAGES)
def test_packages_say_what_each_module_is_for(package):
    folder = SOURCES / package
    names = {path.stem for path in folder.glob("[a-z]*.py")}
    names |= {path.parent.name for path in folder.glob("[a-z]*/__init__.py")}
    named = set(re.findall(r"\w+", purpose(package)))
    assert sorted(names - named - LISTED.get(package, set())) == []


def rooms_imported_by(room):
    """Return the rooms that the modules of a room import."""
    rooms = set()
    for source in (SOURCES / room).rglob("*.py"):
        for node in ast.walk(ast.parse(source.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom):
                names = [node.module]
                if node.module == "nn2rules":
                    names = [f"nn2rules.{alias.name}" for alias in node.names]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            else:
                continue
            parts = [name.split(".") for name in names]
            rooms |= {each[1] for each in parts if each[0] == "nn2rules" if each[1:]}
    return rooms - {room, "errors", "version"}


@pytest.mark.parametrize("room", [name for name in PACKAGES if "/" not in name])
def test_rooms_say_what_they_import(room):
    """Upper rooms may import any room below; the others list what they do import."""
    text = " ".join(purpose(room).split())
    if "May import any room below" in text:
        return
    listed = re.search(r"Imports ((?:`\w+`(?:, | and )?)+)", text)
    named = set(re.findall(r"`(\w+)`", listed[1])) if listed else set()
    assert named == rooms_imported_by(room)


GUIDES = ("CONTRIBUTING.md", "docs/explanation/architecture.md")
CODE = re.compile(r"`([^`\n]+)`")
INVENTED = re.compile(r"NAME|FRAMEWORK|FORMAT|ENGINE\b|paper-results|\*")


@pytest.mark.parametrize("guide", GUIDES)
def test_guides_name_files_that_exist(guide):
    homes = (ROOT, SOURCES, ROOT / "docs")
    paths = [
        name
        for name in CODE.findall((ROOT / guide).read_text("utf-8"))
        if ("/" in name or name.endswith(".py")) and " " not in name
        if not INVENTED.search(name)
    ]
    assert len(paths) > 15
    missing = [name for name in paths if not any((h / name).exists() for h in homes)]
    assert [name for name in missing if name != "site/"] == []


@pytest.mark.parametrize("guide", GUIDES)
def test_guides_name_symbols_that_exist(guide):
    """Every name in backticks is a word of the code; so is each part of a.b."""
    written = [*SOURCES.rglob("*.py"), *(ROOT / "tests").rglob("*.py")]
    words = set(re.findall(r"\w+", " ".join(f.read_text("utf-8") for f in written)))
    names = [
        name
        for text in CODE.findall((ROOT / guide).read_text("utf-8"))
        for name in re.findall(r"^[\w.]+(?=$|\()", text)
        if not name.endswith((".md", ".toml", ".txt", ".py"))
    ]
    assert len(names) > 15
    unknown = [name for name in names if not set(name.split(".")) <= words]
    assert [name for name in unknown if name not in (".venv", "pycon", "toctree")] == []


def test_docs_name_modules_that_exist():
    """Such as `nn2rules.network.exact`: what is found by importing and looking."""
    found = 0
    for page in (ROOT / "docs").rglob("*.md"):
        for name in re.findall(r"`nn2rules((?:\.\w+)+)`", page.read_text("utf-8")):
            item = nn2rules
            for part in name.removeprefix(".").split("."):
                if not hasattr(item, part):
                    importlib.import_module(f"{item.__name__}.{part}")
                item = getattr(item, part)
            found += 1
    assert found > 5


def test_the_checker_is_kept_from_each_engine():
    """A new module of the engine is forbidden to it, unless it is about the work."""
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    modules = {
        f"nn2rules.engine.{p.stem}" for p in (SOURCES / "engine").glob("[a-z]*.py")
    }
    allowed = {"nn2rules.engine.limits", "nn2rules.engine.progress"}
    assert modules - set(re.findall(r'^  "(nn2rules[\w.]+)",$', text, re.M)) == allowed


def test_every_adapter_can_be_imported():
    assert "sklearn" in ADAPTERS
    for module in ADAPTERS.values():
        assert callable(importlib.import_module(module).read)


def test_every_engine_extracts_the_tomatoes():
    tomato = nn2rules.load(nn2rules.datasets.network_file("tomato"))
    expected = nn2rules.extract(tomato, engine="paper").rules
    assert "paper" in ENGINES
    assert FORMS
    for engine in ENGINES:
        assert nn2rules.extract(tomato, form="paper", engine=engine).rules == expected


def test_errors_are_of_one_family():
    errors = [
        getattr(nn2rules, name) for name in nn2rules.__all__ if name.endswith("Error")
    ]
    assert len(errors) >= 9
    assert all(issubclass(error, nn2rules.Nn2RulesError) for error in errors)
    for name in vars(nn2rules.errors):
        if name.endswith("Error"):
            assert name in nn2rules.__all__
            assert name in nn2rules.errors.__doc__
