"""Model files: one function for each kind, chosen by the ending of the name.

Some kinds are programs in disguise: reading a pickle runs whatever its author put into
it. These are read only when the caller says that the file is to be trusted. Of the
others, whatever could run code is refused before their frameworks see them;
SECURITY.md says what that covers.
"""

import os
import re
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeAlias

from nn2rules.errors import FormatError, MissingExtraError
from nn2rules.files import check_readable, load_network, read_bytes
from nn2rules.models.model_files.archive import members

FilePath: TypeAlias = str | os.PathLike[str]


def load_model(path: FilePath, *, trust: bool = False) -> Any:
    """Read a model from a file, for `extract` and `read_network`.

    Parameters
    ----------
    path : str or path
        A network (.json), or a model of ONNX (.onnx), Keras (.keras), PyTorch (.pt2
        from torch.export.save, or .pt from torch.save) or scikit-learn (.skops, or
        .joblib, .pkl).
    trust : bool
        Whether to read files that can run code when they are read: pickles, in
        .joblib, .pkl and .pt files; .pt2 files; and what is not known to be harmless
        in .keras and .skops files.

    Raises
    ------
    FormatError
        If the file is missing, damaged, of an unknown kind, or not to be trusted.
    MissingExtraError
        If the library that reads it is not installed; gives the pip command.

    Examples
    --------
    >>> from nn2rules.datasets import network_file
    >>> load_model(network_file("tomato")).classes
    ('unripe', 'ripe')
    """
    suffix = Path(path).suffix.lower()
    if suffix in (".h5", ".hdf5"):
        raise FormatError(
            f"{path}: this is the old format of Keras; save it anew with "
            f'model.save("model.keras")'
        )
    if suffix not in (".json", *READERS):
        return _unknown(path)
    if suffix != ".json":
        check_readable(path)  # the usual sentences
    return READERS[suffix](path, trust)


def _unknown(path: FilePath) -> Any:
    """Read a file of unknown kind as a network."""
    try:
        return load_network(path)
    except FormatError as error:
        if "JSON" not in str(error):
            raise
        endings = ", ".join(READERS)
        raise FormatError(f"{error}; files of models end in {endings}") from None


def _network(path: FilePath, _trust: bool) -> Any:
    return load_network(path)


def _onnx(path: FilePath, _trust: bool) -> Any:
    try:
        from nn2rules.models.onnx import load
    except ModuleNotFoundError:
        raise MissingExtraError("onnx", "onnx", "reading an .onnx file") from None
    return load(path)


def _keras(path: FilePath, trust: bool) -> Any:
    try:
        from nn2rules.models.keras import load
        from nn2rules.models.model_files.keras_files import refuse_unsafe
    except ModuleNotFoundError as error:
        if error.name != "keras":
            raise FormatError(
                f"{path}: Keras finds no backend ({error.name}); install one, such as "
                f"torch, and set KERAS_BACKEND to its name"
            ) from None
        raise MissingExtraError("keras", "keras", "reading a .keras file") from None
    if not trust:
        _refuse_old(path, "keras", "3.13")
        refuse_unsafe(path)
    return load(path)


def _torch_program(path: FilePath, trust: bool) -> Any:
    torch = _torch()
    if not trust:
        raise FormatError(
            f"{path}: this is a file of torch.export.save, and reading one can run "
            f"code from it; export the model to ONNX (torch.onnx.export), or, if you "
            f"trust the file's author, {_ALLOW}"
        )
    from nn2rules.models.torch.program import silence

    members(path, "file of torch.export.save")
    try:
        with silence():
            return torch.export.load(path)
    except Exception as error:  # noqa: BLE001  a damaged archive raises anything
        raise FormatError(
            f"{path}: this is not a whole file of torch.export.save: {_line(error)}"
        ) from None


def _torch_pickle(path: FilePath, trust: bool) -> Any:
    torch = _torch()
    if not trust:
        _refuse_old(path, "torch", "2.6")
    try:
        weights = torch.load(path, weights_only=True, map_location="cpu")
    except Exception as error:  # noqa: BLE001  a damaged archive raises anything
        if not trust and "weights" in str(error).lower():
            raise _untrusted(path, "a pickled PyTorch module") from None
        weights = None
    if weights is not None:
        raise FormatError(
            f"{path}: this file holds weights without their network; save the whole "
            f"model with torch.save(model, path), or, safer, export it to ONNX"
        )
    if not trust:
        raise FormatError(f"{path}: this is not a file of torch.save, or it is damaged")
    try:
        return torch.load(path, weights_only=False, map_location="cpu")
    except Exception as error:  # noqa: BLE001
        raise FormatError(f"{path}: cannot be read: {_line(error)}") from None


def _torch() -> Any:
    try:
        import torch
        import torch.export
    except ModuleNotFoundError:
        raise MissingExtraError("torch", "torch", "reading a PyTorch file") from None
    return torch


def _skops(path: FilePath, trust: bool) -> Any:
    try:
        from skops import io

        from nn2rules.models.model_files.skops_files import unsafe_in
    except ModuleNotFoundError:
        raise MissingExtraError("skops", "sklearn", "reading a .skops file") from None
    if not trust:
        _refuse_old(path, "skops", "0.13")
    members(path, ".skops file")
    data = read_bytes(path)  # once, so that what is checked is what is loaded
    try:
        named = io.get_untrusted_types(data=data)
        unknown = [name for name in named if name not in HARMLESS]
        if not unknown or trust:
            model = io.loads(data, trusted=named)
    except Exception as error:  # noqa: BLE001  a damaged archive raises anything
        raise FormatError(f"{path}: not a whole .skops file: {_line(error)}") from None
    if unknown and not trust:
        raise FormatError(
            f"{path}: the file names types that skops does not know to be harmless "
            f"({', '.join(unknown)}); if you trust its author, {_ALLOW}"
        )
    reason = None if trust else unsafe_in(model)
    if reason is not None:
        raise FormatError(f"{path}: {reason}; if you trust its author, {_ALLOW}")
    return model


def _pickle(path: FilePath, trust: bool) -> Any:
    if not trust:
        raise _untrusted(path, "a pickle")
    import joblib

    try:
        return joblib.load(path)
    except Exception as error:  # noqa: BLE001  a pickle can raise anything
        raise FormatError(f"{path}: cannot be read: {_line(error)}") from None


def _untrusted(path: FilePath, kind: str) -> FormatError:
    return FormatError(
        f"{path}: this is {kind}, and reading one runs whatever program its author put "
        f"into it; if you trust its author, {_ALLOW}"
    )


def _refuse_old(path: FilePath, library: str, safe: str) -> None:
    """Refuse to read with a library that is known to run code of such files."""
    found = version(library)
    if _numbers(found) < _numbers(safe):
        raise FormatError(
            f"{path}: {library} {found} is known to run code from such files; install "
            f"{library} {safe} or later, or, if you trust the file's author, {_ALLOW}"
        )


def _numbers(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", text)[:2]]


_ALLOW = "allow it with --trust, in Python with trust=True"


def _line(error: Exception) -> str:
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0]


HARMLESS = frozenset(
    (
        "numpy.dtype",
        "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
        "sklearn.neural_network._stochastic_optimizers.SGDOptimizer",
    )
)
"""Types inside every saved MLPClassifier, which skops does not list as harmless."""

READERS: dict[str, Callable[[FilePath, bool], Any]] = {
    ".json": _network,
    ".onnx": _onnx,
    ".keras": _keras,
    ".pt2": _torch_program,
    ".pt": _torch_pickle,
    ".pth": _torch_pickle,
    ".skops": _skops,
    ".joblib": _pickle,
    ".pkl": _pickle,
    ".pickle": _pickle,
}
"""The ending of a file's name, and what reads it."""
