"""The file that lists models to extract, and the inputs of each.

The inputs of a model, its files and options, have a digest, by which the next run knows
whether they have changed; and they can be sent to a worker elsewhere.
"""

import json
import os
import re
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from nn2rules.errors import FormatError, Nn2RulesError, OptionError
from nn2rules.extraction import Length, Limits, RuleOptions
from nn2rules.files import decoded, leads_out_of, read_bytes
from nn2rules.version import __version__

FILES = ("model", "data", "test", "encoder")
"""Keys that are paths, relative to the file."""

_TEXTS = ("labels", "model_output", "form", "engine", "scope", "target", "approximate")
_LISTS = ("values", "classes", "order")
_NUMBERS = ("threshold", "fidelity", "time")
_WHOLE = ("max_rules", "effort", "seed")
_FLAGS = ("other",)

KEYS = ("name", *FILES, *_TEXTS, *_LISTS, *_NUMBERS, *_WHOLE, *_FLAGS)
"""Keys of a model: the options of the command extract."""

_KINDS: dict[str, tuple[tuple[type, ...], str]] = {
    **dict.fromkeys(("name", *FILES, *_TEXTS), ((str,), "a text")),
    **dict.fromkeys(_LISTS, ((str, list), "a text, or a list of texts")),
    **dict.fromkeys(_NUMBERS, ((int, float), "a number")),
    **dict.fromkeys(_WHOLE, ((int,), "a whole number")),
    **dict.fromkeys(_FLAGS, ((bool,), "true or false")),
}
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_TABLES = ("defaults", "model")
_LONGEST_NAME = 100
_MOST_BYTES = 1 << 24
_NO_KEYS = {
    "trust": "trust in the files of models cannot be given in a file: use the option "
    "--trust of the command, in Python trust=True"
}
"""Keys that are not allowed in a file, and what to use instead."""

REPORT = "report"
"""A name that no model can have, because the report has it."""


@dataclass(frozen=True, slots=True)
class ModelPlan:
    """A model to extract: its name, its files, and the options of `extract`."""

    name: str
    files: Mapping[str, Path]
    options: Mapping[str, Any]


def read_plan(
    path: str | os.PathLike[str], *, outside: bool = False, time: float | None = None
) -> list[ModelPlan]:
    """Read a plan; with `outside`, its paths may lead out of its folder.

    `time` is that of models for which the plan has none.

    Raises
    ------
    FormatError
        If it is not TOML, has keys that are not known, names a model twice, or names
        files that it may not.
    """
    document = _document(path)
    _refuse_unknown(document, _TABLES, str(path))
    defaults, tables = document.get("defaults", {}), document.get("model", [])
    if not isinstance(defaults, dict):
        raise FormatError(f"{path}: defaults is not a table; expected [defaults]")
    if not isinstance(tables, list) or not all(isinstance(t, dict) for t in tables):
        raise FormatError(f"{path}: model is not a list of tables; expected [[model]]")
    if not tables:
        raise FormatError(
            f"{path}: there is no model; expected a table [[model]] for each"
        )
    _check(defaults, f"{path}, [defaults]", without=("name",))
    if time is not None:
        defaults = {"time": time, **defaults}
    models: dict[str, ModelPlan] = {}
    for number, table in enumerate(tables, 1):
        place = f"{path}, model {number}"
        model_plan = _model_plan({**defaults, **table}, place, Path(path).parent)
        if not outside:
            _refuse_outside(model_plan, place, Path(path).parent)
        if model_plan.name.lower() in models:  # some disks do not tell A from a
            raise FormatError(f"{path}: there are two models named {model_plan.name!r}")
        models[model_plan.name.lower()] = model_plan
    return list(models.values())


def _document(path: str | os.PathLike[str]) -> dict[str, Any]:
    text = decoded(path, read_bytes(path, _MOST_BYTES))
    try:
        return tomllib.loads(text)
    except ValueError as error:  # TOMLDecodeError is one; so are numbers without end
        raise FormatError(f"{path}: this is not valid TOML: {error}") from None
    except RecursionError:
        raise FormatError(f"{path}: the TOML is nested too deeply") from None


def _refuse_outside(model_plan: ModelPlan, place: str, folder: Path) -> None:
    """Refuse files that are not in the folder of the plan, or in one below."""
    for key, file in model_plan.files.items():
        if leads_out_of(folder, file):
            raise FormatError(
                f"{place}: {key} is {str(file)!r}, which is outside the folder of the "
                f"file; move it there, or allow it with --outside, in Python with "
                f"outside=True"
            )


def _model_plan(table: dict[str, Any], place: str, folder: Path) -> ModelPlan:
    _check(table, place)
    for key in ("name", "model"):
        if key not in table:
            raise FormatError(f"{place}: there is no {key}")
    name = table["name"]
    if len(name) > _LONGEST_NAME:
        raise FormatError(
            f"{place}: the name has {len(name):,} characters; at most {_LONGEST_NAME} "
            f"are allowed"
        )
    if not _NAME.fullmatch(name) or name.lower() == REPORT:
        raise FormatError(
            f"{place}: the name {name!r} is not valid for a file; use letters, digits "
            f"and . _ - ({REPORT!r} is reserved)"
        )
    files = {key: folder / table[key] for key in FILES if key in table}
    options = {
        key: value for key, value in table.items() if key not in ("name", *FILES)
    }
    try:
        _check_together(options)
    except OptionError as error:
        raise FormatError(f"{place} ({name}): {error}") from None
    return ModelPlan(name, files, options)


def _check(table: dict[str, Any], place: str, without: tuple[str, ...] = ()) -> None:
    """Refuse keys that are not known, and values of the wrong kind."""
    _refuse_unknown(table, [key for key in KEYS if key not in without], place)
    for key, value in table.items():
        kinds, expected = _KINDS[key]
        is_right = isinstance(value, kinds) and isinstance(value, bool) == (
            bool in kinds
        )
        if isinstance(value, list):
            is_right = is_right and all(isinstance(item, str) for item in value)
        if not is_right:
            raise FormatError(f"{place}: {key} is {value!r}, expected {expected}")


def _refuse_unknown(
    table: Mapping[str, Any], known: list[str] | tuple[str, ...], place: str
) -> None:
    for key in table:
        if key in _NO_KEYS:
            raise FormatError(f"{place}: {key!r} is not a key: {_NO_KEYS[key]}")
        if key not in known:
            raise FormatError(
                f"{place}: there is no key {key!r}; expected one of {', '.join(known)}"
            )


def _check_together(options: dict[str, Any]) -> None:
    """Refuse options that conflict, before any work."""
    asked = {
        key: options.get(key) for key in ("form", "scope", "target", "approximate")
    }
    RuleOptions(
        **asked, engine=options.get("engine", "auto"), order=listed(options, "order")
    )
    Length(options.get("max_rules"), options.get("fidelity"))
    Limits(options.get("effort", 1), options.get("seed", 0), time=options.get("time"))


def listed(options: Mapping[str, Any], key: str) -> list[str] | None:
    """Return an option that is a list, or a text with commas."""
    value = options.get(key)
    if not isinstance(value, str):
        return value
    return [value] if key == "values" else [part.strip() for part in value.split(",")]


_MANY = 2  # files that this many models share are sent once
_SHORT = 4


@dataclass(frozen=True, slots=True)
class Inputs:
    """A model to extract, with the content of its files, by their paths and digests.

    `contents` leaves out those that are sent apart.
    """

    model_plan: ModelPlan
    digests: Mapping[Path, str]
    contents: Mapping[str, bytes] = field(repr=False)

    @property
    def digest(self) -> str:
        """What changes with the files, the options and the version of nn2rules."""
        roles = {
            role: self.digests[path] for role, path in self.model_plan.files.items()
        }
        own = set(self.model_plan.files.values())
        beside = {p.name: d for p, d in self.digests.items() if p not in own}
        names = {role: path.name for role, path in self.model_plan.files.items()}
        parts = [__version__, roles, names, beside, dict(self.model_plan.options)]
        return digest_of(json.dumps(parts, sort_keys=True).encode())


def digest_of(data: bytes) -> str:
    """Return what tells a content from others."""
    return sha256(data).hexdigest()


def read_inputs(model_plan: ModelPlan) -> Inputs:
    """Read the files of a model."""
    contents = {path: read_bytes(path) for path in model_plan.files.values()}
    model = model_plan.files["model"]
    if model.suffix.lower() == ".onnx":
        contents |= _beside(model, contents[model])
    digests = {path: digest_of(data) for path, data in contents.items()}
    return Inputs(
        model_plan, digests, {digests[p]: data for p, data in contents.items()}
    )


def _beside(model: Path, data: bytes) -> dict[Path, bytes]:
    """Read files that an ONNX model names: numbers may be in a second one.

    Links that lead out of the model's folder are left out, as `load_model` refuses
    them: a copy of such a file, for a worker elsewhere, would pass for a file inside.
    """
    return {
        path: read_bytes(path)
        for path in sorted(model.parent.iterdir())
        if len(path.name) > _SHORT
        and path.name.encode() in data
        and path.is_file()
        and not leads_out_of(model.parent, path)
    }


def set_apart(inputs: list[Inputs]) -> tuple[dict[str, bytes], list[Inputs]]:
    """Take out the files that several models have, so that they are sent once."""
    counts: dict[str, int] = {}
    for each in inputs:
        for digest in each.contents:
            counts[digest] = counts.get(digest, 0) + 1
    common: dict[str, bytes] = {}
    rest = []
    for each in inputs:
        own: dict[str, bytes] = {}
        for digest, data in each.contents.items():
            (common if counts[digest] >= _MANY else own)[digest] = data
        rest.append(Inputs(each.model_plan, each.digests, own))
    return common, rest


@contextmanager
def at_hand(inputs: Inputs, common: Mapping[str, bytes]) -> Iterator[dict[str, Path]]:
    """Name the files of a model: its own, or copies where these cannot be seen."""
    if all(_is_same(path, digest) for path, digest in inputs.digests.items()):
        yield dict(inputs.model_plan.files)
        return
    with tempfile.TemporaryDirectory() as folder:
        places = {}
        for path, digest in inputs.digests.items():
            data = inputs.contents.get(digest, common.get(digest, b""))
            parent = digest_of(str(path.parent).encode())[:16]  # names may be the same
            places[path] = Path(folder, parent, path.name)
            places[path].parent.mkdir(exist_ok=True)
            places[path].write_bytes(data)
        try:
            yield {role: places[path] for role, path in inputs.model_plan.files.items()}
        except Nn2RulesError as error:
            message = str(error)
            for path, copy in places.items():
                message = message.replace(str(copy), str(path))
            error.args = (message,)
            raise


def _is_same(path: Path, digest: str) -> bool:
    try:
        return digest_of(path.read_bytes()) == digest
    except OSError:
        return False
