"""Load a model from a file, by the ending of its name.

Some kinds are programs in disguise: loading a pickle runs any code in it. These
are loaded only when the caller trusts the file. In the other kinds, what could run code
is refused before the framework sees it; SECURITY.md says what that covers.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from nn2rules.errors import FormatError, MissingExtraError
from nn2rules.files import check_readable, load_network
from nn2rules.models.file_checks import first_line, is_data_file, untrusted

FilePath: TypeAlias = str | os.PathLike[str]


def load_model(path: FilePath, *, trust: bool = False) -> Any:
    """Read a model from a file, for `extract` and `read_network`.

    Parameters
    ----------
    path : str or path
        A network (.json), or an ONNX (.onnx), Keras (.keras), PyTorch (.pt2 from
        torch.export.save, .pt from torch.save) or scikit-learn model (.skops, .joblib,
        .pkl).
    trust : bool
        Whether to load files that can run code when they are loaded: pickles (.joblib,
        .pkl and .pt files), .pt2 files, and .keras and .skops files with parts that
        are not known to be harmless.

    Raises
    ------
    FormatError
        If the file is missing, damaged, of an unknown kind, or not trusted.
    MissingExtraError
        If the library that reads it is not installed; the message has the pip command.

    Examples
    --------
    >>> from nn2rules.datasets import network_file
    >>> load_model(network_file("tomato")).classes
    ('unripe', 'ripe')
    """
    suffix = Path(path).suffix.lower()
    if suffix in (".h5", ".hdf5"):
        raise FormatError(
            f"{path} has the old HDF5 format of Keras; save the model again with "
            f'model.save("model.keras")'
        )
    if suffix != ".json":
        check_readable(path)
    if suffix in READERS:
        return READERS[suffix](path, trust)
    if is_data_file(path):
        raise FormatError(
            f"{path} is a file of data, not a model; give a model file ({_ENDINGS}), "
            f"and the rows with --data (in Python, data=)"
        )
    return _unknown(path)


def _unknown(path: FilePath) -> Any:
    """Read a file with an unknown ending as a network."""
    try:
        return load_network(path)
    except FormatError as error:
        if "JSON" not in str(error):
            raise
        raise FormatError(
            f"{path} is not a model file that nn2rules knows; the name of a model file "
            f"ends in {_ENDINGS}"
        ) from None


def _network(path: FilePath, _trust: bool) -> Any:
    return load_network(path)


def _onnx(path: FilePath, _trust: bool) -> Any:
    try:
        from nn2rules.models.onnx import load
    except ModuleNotFoundError:
        raise MissingExtraError("onnx", "onnx", "loading an .onnx file") from None
    return load(path)


def _keras(path: FilePath, trust: bool) -> Any:
    try:
        from nn2rules.models.keras import load
    except ModuleNotFoundError as error:
        if error.name != "keras":
            raise FormatError(
                f"{path}: Keras has no backend ({error.name} is not installed); "
                f"install one, such as torch, and set KERAS_BACKEND to its name"
            ) from None
        raise MissingExtraError("keras", "keras", "loading a .keras file") from None
    return load(path, trust=trust)


def _torch(path: FilePath, trust: bool) -> Any:
    try:
        from nn2rules.models.torch import load_pickle, load_program
    except ModuleNotFoundError:
        raise MissingExtraError("torch", "torch", "loading a PyTorch file") from None
    is_program = Path(path).suffix.lower() == ".pt2"
    return (load_program if is_program else load_pickle)(path, trust=trust)


def _skops(path: FilePath, trust: bool) -> Any:
    try:
        from nn2rules.models.sklearn.files import load_skops
    except ModuleNotFoundError:
        raise MissingExtraError("skops", "sklearn", "loading a .skops file") from None
    return load_skops(path, trust=trust)


def _pickle(path: FilePath, trust: bool) -> Any:
    if not trust:
        raise untrusted(path, "a pickle")
    import joblib

    try:
        return joblib.load(path)
    except Exception as error:  # noqa: BLE001  a pickle can raise anything
        raise FormatError(f"{path} cannot be loaded: {first_line(error)}") from None


READERS: dict[str, Callable[[FilePath, bool], Any]] = {
    ".json": _network,
    ".onnx": _onnx,
    ".keras": _keras,
    ".pt2": _torch,
    ".pt": _torch,
    ".pth": _torch,
    ".skops": _skops,
    ".joblib": _pickle,
    ".pkl": _pickle,
    ".pickle": _pickle,
}
"""From the ending of a file's name to the function that reads it."""

_ENDINGS = ", ".join(READERS)
