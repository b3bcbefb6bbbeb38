"""Load PyTorch files. Both kinds can run code, so both need the user's trust."""

from os import PathLike
from typing import Any

import torch
import torch.export

from nn2rules.errors import FormatError
from nn2rules.models.file_checks import (
    ALLOW,
    first_line,
    members,
    refuse_old,
    untrusted,
)
from nn2rules.models.torch.program import silence


def load_program(path: str | PathLike[str], *, trust: bool = False) -> Any:
    """Return the program in a file of ``torch.export.save``."""
    if not trust:
        raise FormatError(
            f"{path} was written by torch.export.save, and loading it can run code; "
            f"export the model to ONNX instead (torch.onnx.export), or, if you trust "
            f"the file's author, {ALLOW}"
        )
    members(path, "file written by torch.export.save")
    try:
        with silence():
            return torch.export.load(path)
    except Exception as error:  # noqa: BLE001  a damaged archive raises anything
        raise FormatError(
            f"{path} is damaged, or was not written by torch.export.save: "
            f"{first_line(error)}"
        ) from None


def load_pickle(path: str | PathLike[str], *, trust: bool = False) -> Any:
    """Return the module in a file of ``torch.save``."""
    if not trust:
        refuse_old(path, "torch", "2.6")
    try:
        weights = torch.load(path, weights_only=True, map_location="cpu")
    except Exception as error:  # noqa: BLE001  a damaged archive raises anything
        if not trust and "weights" in str(error).lower():
            raise untrusted(path, "a pickled PyTorch module") from None
        weights = None
    if weights is not None:
        raise FormatError(
            f"{path} holds only weights, not the network; save the whole model with "
            f"torch.save(model, path), or, safer, export it to ONNX"
        )
    if not trust:
        raise FormatError(f"{path} is damaged, or was not written by torch.save")
    try:
        return torch.load(path, weights_only=False, map_location="cpu")
    except Exception as error:  # noqa: BLE001
        raise FormatError(f"{path} cannot be loaded: {first_line(error)}") from None
