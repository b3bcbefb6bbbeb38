"""Load .keras files, and check them before Keras reads them.

The configuration in a ``.keras`` file names classes and functions by module, which
Keras imports and calls. Its safe mode blocks most of what is not a layer. The list here
of what may be named does not depend on the version of Keras.
"""

import io
import math
import os
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import h5py
import keras

from nn2rules.errors import FormatError
from nn2rules.files import MOST_BYTES, size_text
from nn2rules.models.file_checks import members, parsed, refuse_old
from nn2rules.models.tracing import reason_in

_FILES = r"config\.json|metadata\.json|model\.weights\.h5|assets/.+"

_MODULES = (
    r"keras(?:\.src)?(?:\.(?:activations|constraints|dtype_policies|initializers|layers"
    r"|models|ops|quantizers|random|regularizers)(?:\.\w+)*)?"
)
_CODE = frozenset(
    ("Lambda", "TorchModuleWrapper", "TFSMLayer", "JaxLayer", "FlaxLayer")
)
"""Layers that contain code instead of a description."""

_DATA = frozenset(
    (
        "__keras_tensor__",
        "__tensor__",
        "__numpy__",
        "__bytes__",
        "__ellipsis__",
        "__slice__",
    )
)
"""Plain values, which a configuration has besides classes and functions."""

_NO_SIZES = frozenset(("axis", "seed", "shared_object_id"))
"""Whole numbers in a configuration that are not sizes."""

MOST_WEIGHTS = 200_000_000
"""A configuration that may describe more weights is refused."""


def load(path: str | os.PathLike[str], *, trust: bool = False) -> Any:
    """Return the model of a ``.keras`` file, without running code of the file.

    Raises
    ------
    FormatError
        If there is no such file, or it is damaged, or holds Python code.
    """
    name = os.fspath(path)
    if not Path(name).is_file():
        raise FormatError(f"{name}: there is no such file")
    if not zipfile.is_zipfile(name):
        raise FormatError(
            f"{name} is damaged, or is not a .keras file; write one with "
            f"model.save('model.keras')"
        )
    if not trust:
        refuse_old(path, "keras", "3.13")
        refuse_unsafe(path)
    try:
        return keras.saving.load_model(name, compile=False, safe_mode=True)
    except Exception as error:  # noqa: BLE001  a damaged file may raise anything
        raise FormatError(f"{name}: {_reason(error)}") from None


def _reason(error: Exception) -> str:
    text = str(error)
    if "lambda" in text.lower():
        return (
            "the model has a Lambda layer, which is Python code that nn2rules does not "
            "run; if you trust the file, load it with keras.saving.load_model"
        )
    unknown = re.search(r"Could not locate (?:class|function) '([^']*)'", text)
    if unknown:
        return (
            f"the model uses {unknown[1]}, which is not part of Keras; load the file "
            f"with keras.saving.load_model and custom_objects"
        )
    return f"the model cannot be loaded ({reason_in(error)})"


def refuse_unsafe(path: str | os.PathLike[str]) -> None:
    """Refuse a file from which Keras might run code, or read other files."""
    files = members(path, ".keras file; write one with model.save('model.keras')")
    for name in files:
        if not re.fullmatch(_FILES, name):
            raise FormatError(f"{path}: the archive has an unexpected member {name!r}")
    try:
        config = parsed(files["config.json"])
        weights = files["model.weights.h5"]
    except (KeyError, ValueError, RecursionError):
        raise FormatError(f"{path} is damaged, or is not a .keras file") from None
    if isinstance(config, dict):
        config.pop("compile_config", None)  # how it was trained; never read
    reason = _unsafe(config)
    if reason is not None:
        raise FormatError(f"{path}: {reason}")
    _refuse_large(path, config)
    _refuse_weights(path, weights)


def _refuse_large(path: str | os.PathLike[str], config: Any) -> None:
    """Refuse a configuration from which Keras would build very many weights.

    Keras builds all of them before it looks at the stored ones. A layer of n numbers
    after one of m has at most m·n weights; the widest layer bounds all that may come
    before.
    """
    widths = _widths(config)
    n_weights = sum(widths) * max(widths, default=0)
    if n_weights > MOST_WEIGHTS:
        raise FormatError(
            f"{path}: the configuration describes layers of up to {max(widths):,} "
            f"numbers, with up to {n_weights:,} weights; nn2rules reads at most "
            f"{MOST_WEIGHTS:,}"
        )


def _widths(node: Any) -> list[int]:
    """Return an upper bound on the numbers of each layer of a configuration."""
    if isinstance(node, list):
        return [width for item in node for width in _widths(item)]
    if not isinstance(node, dict):
        return []
    widths = _widths(list(node.values()))
    sizes = [_size_of(key, value) for key, value in node.items()]
    width = math.prod(size for size in sizes if size > 1)
    return [*widths, width] if width > 1 else widths


def _size_of(key: str, value: Any) -> int:
    """Return the size that a setting of a layer means; 1 if it is not a size."""
    if isinstance(value, int) and key not in _NO_SIZES:
        return abs(value)
    if isinstance(value, list) and re.search("shape|size|strides|padding", key):
        return math.prod(abs(n) for n in value if isinstance(n, int) and n)
    return 1


def _unsafe(node: Any) -> str | None:
    """Return what is wrong with a piece of the configuration, if anything is."""
    if isinstance(node, list):
        return next(filter(None, map(_unsafe, node)), None)
    if not isinstance(node, dict):
        return None
    if isinstance(node.get("vocabulary"), str):
        return (
            f"the model reads its vocabulary from another file, "
            f"{node['vocabulary']!r}; save it with the vocabulary inside"
        )
    if "class_name" in node:
        reason = _unsafe_class(node)
        if reason is not None:
            return reason
    return _unsafe(list(node.values()))


def _unsafe_class(node: Mapping[str, Any]) -> str | None:
    """Return what is wrong with a class or a function that is named."""
    name, module = str(node["class_name"]), node.get("module")
    if name in _CODE or name == "__lambda__":
        kind = "a Lambda layer" if "ambda" in name else f"the layer {name}"
        return (
            f"the model has {kind}, which is Python code that nn2rules does not run; "
            f"if you trust the file, load it with keras.saving.load_model"
        )
    if (
        name in _DATA
        or node.get("registered_name") in keras.saving.get_custom_objects()
    ):
        return None
    if name == "function":
        name = str(node.get("config"))
        if module == "builtins" and hasattr(keras.activations, name):
            return None
    if module is None or re.fullmatch(_MODULES, str(module), re.ASCII):
        return None
    return (
        f"the model uses {name} of {module}, which is not part of Keras; if you trust "
        f"the file, load it with keras.saving.load_model and custom_objects"
    )


def _refuse_weights(path: str | os.PathLike[str], data: bytes) -> None:
    """Refuse weights in other files, or weights that need too much memory."""
    try:
        with h5py.File(io.BytesIO(data), "r") as store:
            total = _size(store)
    except FormatError as error:
        raise FormatError(f"{path}: {error}") from None
    except Exception:  # noqa: BLE001  a damaged file raises anything
        raise FormatError(f"{path}: the weights in the file are damaged") from None
    if total > MOST_BYTES:
        raise FormatError(
            f"{path}: the weights need {size_text(total)} of memory; nn2rules reads at "
            f"most {size_text(MOST_BYTES)}"
        )


def _size(group: Any) -> int:
    """Return how many bytes the arrays of a group hold, refusing links."""
    total = 0
    for name in group:
        if not isinstance(group.get(name, getlink=True), h5py.HardLink):
            raise FormatError(f"the weights {name!r} are a link to another place")
        item = group[name]
        if isinstance(item, h5py.Group):
            total += _size(item)
        elif item.external or item.is_virtual:
            raise FormatError(f"the weights {name!r} are in another file")
        else:
            total += item.size * item.dtype.itemsize
    return total
