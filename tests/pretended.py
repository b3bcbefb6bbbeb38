"""A device that is not there: tensors that say "cuda", and are worked on here.

What CUDA refuses is refused: a tensor of the processor among the operands, unless it
has no axes or is an index; numpy without ``.cpu()``; and memory that is shared with
numpy. What CUDA lacks, rounds otherwise or does slowly is not seen.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

torch = pytest.importorskip("torch")

HERE, THERE = torch.device("cpu"), torch.device("cuda:0")


class Pretended(torch.Tensor):
    """A tensor of the device; what PyTorch makes of it is one, too."""


class Device(torch.overrides.TorchFunctionMode):
    """Is asked before every function, method and property of PyTorch.

    Attributes
    ----------
    n_made : int
        How many tensors came to the device, or were made there without another.
    """

    n_made = 0

    def __torch_function__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """Call a function as it would be called with the device."""
        kwargs = dict(kwargs or {})
        if function == torch.Tensor.device.__get__ and is_there(args[0]):
            return THERE
        if function == torch.Tensor.is_cuda.__get__:
            return is_there(args[0])
        if function in (torch.Tensor.numpy, torch.Tensor.__array__):
            if is_there(args[0]):
                raise TypeError("a tensor of cuda:0 is no array; use .cpu()")
        elif function is torch.Tensor.cpu:
            return to(HERE, args[0])
        elif function is torch.Tensor.to:
            return self._moved(*args, **kwargs)
        elif function is not torch.Tensor.copy_:
            refuse_mixed(function, args, kwargs)
        device = kwargs.get("device")
        if device is None:
            return function(*args, **kwargs)
        self.n_made += 1
        return to(device, function(*args, **{**kwargs, "device": HERE}))

    def _moved(self, own: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
        """Do what ``own.to`` does, with a device among its arguments or without."""
        devices = [one for one in args if isinstance(one, str | torch.device)]
        devices += [kwargs.pop("device")] if "device" in kwargs else []
        rest = [one for one in args if not isinstance(one, str | torch.device)]
        found = own.to(*rest, **kwargs) if rest or kwargs else own
        if not devices:
            return found
        self.n_made += torch.device(devices[0]).type == "cuda"
        return to(devices[0], found)


def is_there(one: object) -> bool:
    """Tell whether something is a tensor of the device."""
    return isinstance(one, Pretended)


def to(device: Any, own: torch.Tensor) -> torch.Tensor:
    """Return a tensor on a device: itself, if it is there."""
    kind = Pretended if torch.device(device).type == "cuda" else torch.Tensor
    return own if type(own) is kind else own.detach().clone().as_subclass(kind)


def refuse_mixed(function: Any, args: Any, kwargs: Any) -> None:
    """Raise what CUDA raises if operands are on two devices."""
    operands = list(tensors_in((args, kwargs)))
    indexing = torch.Tensor.__getitem__, torch.Tensor.__setitem__
    if function in indexing and operands and is_there(args[0]):
        operands = list(tensors_in((args[0], args[2:])))  # any index will do
    if any(map(is_there, operands)):
        for one in operands:
            if not is_there(one) and one.dim() > 0:
                raise RuntimeError(f"{function.__name__}: one is on cpu, one on cuda:0")


def tensors_in(parts: Any) -> Iterator[torch.Tensor]:
    """Yield all tensors in lists, tuples and mappings."""
    if isinstance(parts, torch.Tensor):
        yield parts
    elif isinstance(parts, list | tuple | dict):
        for part in parts.values() if isinstance(parts, dict) else parts:
            yield from tensors_in(part)


@contextmanager
def cuda() -> Iterator[Device]:
    """Let there be one device "cuda", for a while."""
    real = torch.cuda.is_available, torch.cuda.device_count
    torch.cuda.is_available, torch.cuda.device_count = lambda: True, lambda: 1
    try:
        with Device() as device:
            yield device
    finally:
        torch.cuda.is_available, torch.cuda.device_count = real
