"""The steps of a PyTorch model as a graph, and the inputs that it takes."""

import io
import logging
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from typing import Any

import torch
from torch import fx, nn

from nn2rules.models.source import Port


@dataclass(frozen=True)
class Input:
    """A tensor that the model takes.

    Attributes
    ----------
    port : Port
    dtype : torch.dtype
    node : fx.Node
        The placeholder of the graph.
    key : str or None
        Of a placeholder that is a dict: which of its tensors.
    ndim : int or None
        The number of axes, the batch included, if that is known.
    """

    port: Port
    dtype: torch.dtype
    node: fx.Node
    key: str | None = None
    ndim: int | None = None


@dataclass(frozen=True)
class Program:
    """A model that can be followed step by step.

    Attributes
    ----------
    graph : fx.Graph
    inputs : tuple of Input
    constants : mapping from placeholders to what they always hold
    root : nn.Module or None
        Has the modules and attributes that nodes name.
    call : callable
        The model itself, given a tensor for each of `inputs`.
    dtypes : frozenset of torch.dtype
        The formats of its floating-point numbers.
    """

    graph: fx.Graph
    inputs: tuple[Input, ...]
    constants: Mapping[fx.Node, Any]
    root: nn.Module | None
    call: Callable[[Sequence[torch.Tensor]], Any]
    dtypes: frozenset[torch.dtype]

    @property
    def modules(self) -> dict[str, nn.Module]:
        """The modules that nodes name, by their paths."""
        return {} if self.root is None else dict(self.root.named_modules())


@contextmanager
def silence() -> Iterator[None]:
    """Keep back what PyTorch says while it tries: its errors are reported by us."""
    disabled = logging.root.manager.disable
    quiet = io.StringIO()
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings(), redirect_stderr(quiet), redirect_stdout(quiet):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(disabled)


def float_dtype(model: nn.Module) -> torch.dtype:
    """Return the format that a model computes in: that of its first parameter."""
    for tensor in tensors_of(model):
        if tensor.dtype.is_floating_point:
            return tensor.dtype
    return torch.get_default_dtype()


def tensors_of(model: nn.Module) -> Iterator[torch.Tensor]:
    """Yield the parameters and the buffers of a module."""
    yield from model.parameters()
    yield from model.buffers()


def float_dtypes(tensors: Iterable[torch.Tensor]) -> frozenset[torch.dtype]:
    """Return the formats of floating-point numbers among some tensors."""
    return frozenset(t.dtype for t in tensors if t.dtype.is_floating_point)
