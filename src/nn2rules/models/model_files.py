"""Model files: one function for each kind, chosen by the ending of the name.

Some kinds are programs in disguise: reading a pickle runs whatever its author put into
it. These are read only when the caller says that the file is to be trusted. Of the
others, whatever could run code is refused before their frameworks see them;
SECURITY.md says what that covers.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from nn2rules.errors import FormatError, MissingExtraError
from nn2rules.files import check_readable, load_network
from nn2rules.models.file_checks import first_line, untrusted

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
    except ModuleNotFoundError as error:
        if error.name != "keras":
            raise FormatError(
                f"{path}: Keras finds no backend ({error.name}); install one, such as "
                f"torch, and set KERAS_BACKEND to its name"
            ) from None
        raise MissingExtraError("keras", "keras", "reading a .keras file") from None
    return load(path, trust=trust)


def _torch(path: FilePath, trust: bool) -> Any:
    try:
        from nn2rules.models.torch import load_pickle, load_program
    except ModuleNotFoundError:
        raise MissingExtraError("torch", "torch", "reading a PyTorch file") from None
    is_program = Path(path).suffix.lower() == ".pt2"
    return (load_program if is_program else load_pickle)(path, trust=trust)


def _skops(path: FilePath, trust: bool) -> Any:
    try:
        from nn2rules.models.sklearn.files import load_skops
    except ModuleNotFoundError:
        raise MissingExtraError("skops", "sklearn", "reading a .skops file") from None
    return load_skops(path, trust=trust)


def _pickle(path: FilePath, trust: bool) -> Any:
    if not trust:
        raise untrusted(path, "a pickle")
    import joblib

    try:
        return joblib.load(path)
    except Exception as error:  # noqa: BLE001  a pickle can raise anything
        raise FormatError(f"{path}: cannot be read: {first_line(error)}") from None


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
"""The ending of a file's name, and what reads it."""
