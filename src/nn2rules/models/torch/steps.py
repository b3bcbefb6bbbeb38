"""The steps of a PyTorch model, under one name each, however they are written.

``nn.ReLU()``, ``F.relu(x)``, ``torch.relu(x)``, ``x.relu_()`` and the operator
``aten.relu`` of an exported program are all the step "relu". A step has the arguments
that the function of ``torch.nn.functional`` takes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import fx, nn
from torch.fx.node import map_aggregate

from nn2rules.errors import UnsupportedModelError
from nn2rules.models.torch.values import BATCH, Run, Traced
from nn2rules.models.tracing import FIXED, unbatched

_NORM = (
    *("running_mean", "running_var", "weight", "bias", "training", "momentum", "eps"),
)

MODULES: dict[type[nn.Module], tuple[str, tuple[str, ...]]] = {
    nn.AlphaDropout: ("dropout", ("p", "training")),
    nn.BatchNorm1d: ("batch_norm", _NORM),
    nn.CELU: ("celu", ("alpha",)),
    nn.Dropout: ("dropout", ("p", "training")),
    nn.Dropout1d: ("dropout", ("p", "training")),
    nn.ELU: ("elu", ("alpha",)),
    nn.Embedding: ("embedding", ("weight", "padding_idx", "max_norm")),
    nn.EmbeddingBag: ("EmbeddingBag", ("weight", "mode", "padding_idx", "max_norm")),
    nn.FeatureAlphaDropout: ("dropout", ("p", "training")),
    nn.Flatten: ("flatten", ("start_dim", "end_dim")),
    nn.GELU: ("gelu", ("approximate",)),
    nn.Hardsigmoid: ("hardsigmoid", ()),
    nn.Hardtanh: ("hardtanh", ("min_val", "max_val")),
    nn.Identity: ("identity", ()),
    nn.LeakyReLU: ("leaky_relu", ("negative_slope",)),
    nn.Linear: ("linear", ("weight", "bias")),
    nn.LogSigmoid: ("logsigmoid", ()),
    nn.LogSoftmax: ("log_softmax", ("dim",)),
    nn.PReLU: ("prelu", ("weight",)),
    nn.RReLU: ("rrelu", ("lower", "upper", "training")),
    nn.ReLU: ("relu", ()),
    nn.SiLU: ("silu", ()),
    nn.Sigmoid: ("sigmoid", ()),
    nn.Softmax: ("softmax", ("dim",)),
    nn.Softplus: ("softplus", ("beta", "threshold")),
    nn.Tanh: ("tanh", ()),
    nn.Unflatten: ("unflatten", ("dim", "unflattened_size")),
}
"""From modules to the name of their step, and to the attributes for its arguments."""

CASTS = (
    *("bfloat16", "bool", "double", "float", "half", "int", "long", "to", "type"),
    "type_as",
)
"""Steps that only change the format of numbers."""

_ALIASES = {
    "_log_softmax": "log_softmax",
    "_softmax": "softmax",
    "_to_copy": "to",
    "_unsafe_view": "view",
    "alpha_dropout": "dropout",
    "clip": "clamp",
    "concat": "cat",
    "concatenate": "cat",
    "divide": "div",
    "expit": "sigmoid",
    "feature_alpha_dropout": "dropout",
    "iadd": "add",
    "imul": "mul",
    "isub": "sub",
    "itruediv": "div",
    "log_sigmoid": "logsigmoid",
    "mm": "matmul",
    "multiply": "mul",
    "negative": "neg",
    "pos": "identity",
    "positive": "identity",
    "special_expit": "sigmoid",
    "subtract": "sub",
    "true_divide": "div",
    "truediv": "div",
}

_OTHER_NAMES = {"dim": "axis", "other": "mat2", "training": "train"}
"""Other names of an argument, in other families of functions."""

_IN_PLACE = ("iadd", "imul", "isub", "itruediv")


@dataclass(frozen=True)
class Call:
    """One use of an operation in a model.

    Attributes
    ----------
    name : str
    args, kwargs
        Its arguments; tensors that depend on the input are `Traced`.
    own : callable
        The operation itself.
    given : tuple
        The arguments of `own`, which may be fewer than `args`, and by name.
    traced : tuple of Traced
        The tensors among the arguments that depend on the input, in order.
    is_in_place : bool
        Whether it changes its first argument.
    """

    name: str
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    own: Run
    given: tuple[Any, ...]
    traced: tuple[Traced, ...]
    is_in_place: bool = False

    def option(self, position: int, name: str, default: Any = None) -> Any:
        """Return an argument, by position or by name."""
        if position < len(self.args):
            return self.args[position]
        other = self.kwargs.get(_OTHER_NAMES.get(name, ""), default)
        return self.kwargs.get(name, other)

    def run(self, *tensors: torch.Tensor, by_entry: bool = False) -> Any:
        """Let PyTorch run this step with tensors in place of those in `traced`.

        With `by_entry`, for any number of rows, so constants lose their batch.
        """
        rest, ndim = iter(tensors), max((each.ndim for each in tensors), default=0)

        def filled(argument: Any) -> Any:
            if isinstance(argument, Traced):
                return next(rest)
            if by_entry and torch.is_tensor(argument) and argument.ndim == ndim > 0:
                return unbatched(argument, ndim - 1, BATCH)[None]
            return argument

        args, kwargs = map_aggregate(self.given, filled)
        with torch.no_grad():
            return self.own(*args, **kwargs)

    @property
    def first(self) -> Traced:
        """The first argument, the only one that may depend on the input."""
        place = (1, "mat1") if self.name == "addmm" else (0, "input")
        value = self.option(*place)
        if not isinstance(value, Traced):
            raise UnsupportedModelError(FIXED)
        return value


def call_of(
    node: fx.Node,
    values: Mapping[fx.Node, Any],
    modules: Mapping[str, nn.Module],
) -> Call:
    """Return the call of a node of a graph.

    Parameters
    ----------
    values : mapping
        The values of the nodes before it.
    modules : mapping from paths to modules
    """
    args = map_aggregate(node.args, lambda x: _value(x, values))
    kwargs = map_aggregate(node.kwargs, lambda x: _value(x, values))
    assert isinstance(args, tuple), "a node has a tuple of arguments"
    assert isinstance(kwargs, dict), "a node has named arguments"
    name, extra = name_of(node, modules)
    traced = tuple(_leaves((args, kwargs)))
    given: tuple[Any, ...] = (*args, *extra)
    if isinstance(node.target, torch._ops.OpOverload):
        given = _in_order(name, given)
    inplace = kwargs.get("inplace", False) or _is_in_place(node, modules)
    return Call(
        name,
        given,
        kwargs,
        _own(node, modules),
        (args, kwargs),
        traced,
        bool(inplace),
    )


def name_of(
    node: fx.Node, modules: Mapping[str, nn.Module]
) -> tuple[str, tuple[Any, ...]]:
    """Return the name of a node's step, and the arguments stored in a module."""
    if node.op == "call_module":
        module = modules[str(node.target)]
        for cls in type(module).__mro__:
            if cls in MODULES:
                name, attributes = MODULES[cls]
                return name, tuple(getattr(module, each) for each in attributes)
        return type(module).__name__, ()
    name = _raw_name(node)
    if not name.startswith("__"):
        name = name.removesuffix("_")
    name = name.removeprefix("__").removesuffix("__")
    return _ALIASES.get(name, name), ()


def place_of(node: fx.Node, modules: Mapping[str, nn.Module]) -> str:
    """Return the place of a node in the model: the path of a module, or the nearest."""
    if node.op == "call_module":
        return f"{node.target} ({type(modules[str(node.target)]).__name__})"
    stack = node.meta.get("nn_module_stack", {})
    paths = [str(entry[0]) for entry in stack.values() if isinstance(entry, tuple)]
    inside = paths[-1] if paths and not paths[-1].startswith("_") else ""
    return f"the step {_raw_name(node)!r}" + (f" of {inside}" if inside else "")


def _raw_name(node: fx.Node) -> str:
    target = node.target
    if isinstance(target, str):
        return target
    if isinstance(target, torch._ops.OpOverload):
        return str(target.overloadpacket.__name__)
    return str(getattr(target, "__name__", target))


def _own(node: fx.Node, modules: Mapping[str, nn.Module]) -> Run:
    """Return the operation itself."""
    if node.op == "call_module":
        return modules[str(node.target)]
    if node.op == "call_method":
        method = str(node.target)
        return lambda self, *args, **kwargs: getattr(self, method)(*args, **kwargs)
    assert callable(node.target), "a function is called"
    return node.target


def _is_in_place(node: fx.Node, modules: Mapping[str, nn.Module]) -> bool:
    if node.op == "call_module":
        return bool(getattr(modules[str(node.target)], "inplace", False))
    name = _raw_name(node)
    return name in _IN_PLACE or (name.endswith("_") and not name.endswith("__"))


def _value(argument: Any, values: Mapping[fx.Node, Any]) -> Any:
    return values[argument] if isinstance(argument, fx.Node) else argument


def _leaves(arguments: Any) -> Sequence[Traced]:
    leaves: list[Traced] = []

    def visit(argument: Any) -> Any:
        if isinstance(argument, Traced):
            leaves.append(argument)
        return argument

    map_aggregate(arguments, visit)
    return leaves


def _in_order(name: str, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the arguments of an operator in the order of the function of its name."""
    if name == "embedding":
        return (args[1], args[0])
    if name == "batch_norm":
        x, weight, bias, mean, variance, training, momentum, eps, *_ = args
        return (x, mean, variance, weight, bias, training, momentum, eps)
    if name == "_native_batch_norm_legit_no_training":
        x, weight, bias, mean, variance, momentum, eps = args
        return (x, mean, variance, weight, bias, False, momentum, eps)
    return args
