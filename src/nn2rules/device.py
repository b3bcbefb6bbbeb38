"""Where batches of numbers are worked on: PyTorch's name of a processor."""

from typing import Any

from nn2rules.errors import MissingExtraError, OptionError


def torch_device(name: str) -> tuple[Any, Any]:
    """Return PyTorch, and the device of this name.

    Parameters
    ----------
    name : str
        As PyTorch says it: "cuda", "cuda:1", or "cpu".

    Raises
    ------
    MissingExtraError
        If PyTorch is not installed.
    OptionError
        If this is no device, or this machine has none of the kind.

    Examples
    --------
    >>> torch_device("abacus")
    Traceback (most recent call last):
    ...
    nn2rules.errors.OptionError: device: 'abacus', expected cuda, cuda:0, … or cpu
    """
    kind, _, number = name.partition(":") if isinstance(name, str) else ("", "", "")
    if kind not in ("cuda", "cpu") or not (number.isdigit() or ":" not in name):
        raise OptionError(f"device: {name!r}, expected cuda, cuda:0, … or cpu")
    try:
        import torch
    except ImportError:
        raise MissingExtraError("torch", "torch", f"device={name!r}") from None
    if kind == "cuda":
        n_devices = torch.cuda.device_count() if torch.cuda.is_available() else 0
        if n_devices <= int(number or 0):
            found = f"only {n_devices}" if n_devices else "none"
            raise OptionError(
                f"device: {name!r}, but PyTorch finds {found} on this machine; leave "
                f"it out to work on the processor's cores"
            )
    return torch, torch.device(name)
