"""What an ONNX graph can have that is refused, each with a sentence."""

from collections.abc import Sequence

import onnx

from nn2rules.errors import UnsupportedModelError
from nn2rules.models.onnx.graph import Node
from nn2rules.models.tracing import CONSTANT, Columns, Tensor
from nn2rules.space import Domain

IMPUTE = "impute in the pipeline"
"""What to do about missing numbers."""

_READ = (
    "dense layers (Gemm, MatMul, Add, Sub, Mul, Div by constants, BatchNormalization) "
    "with Relu, LeakyRelu, PRelu, Elu, Gelu, SiLU, Softplus, Sigmoid, HardSigmoid, "
    "Tanh or Clip, and Softmax last"
)


_NO_TABLES = {
    **dict.fromkeys(("Conv", "ConvInteger", "ConvTranspose"), "images or series"),
    **dict.fromkeys(("GRU", "LSTM", "RNN"), "series"),
}


def refuse_kind(step: Node) -> None:
    """Refuse what is no network, each with its reason."""
    if step.op.startswith("TreeEnsemble"):
        raise UnsupportedModelError(
            f"{step} is {step.kind}: the model is made of trees and is no network; "
            f"nn2rules reads networks and linear classifiers"
        )
    if step.op.startswith("SVM"):
        raise UnsupportedModelError(
            f"{step} is {step.kind}: a support vector machine is no network; nn2rules "
            f"reads networks and linear classifiers, such as LinearSVC"
        )
    if step.op == "LinearRegressor":
        raise UnsupportedModelError(
            f"{step} is a LinearRegressor: the model predicts a number; nn2rules reads "
            f"classifiers"
        )
    if step.op in _NO_TABLES:
        raise UnsupportedModelError(
            f"{step} is {step.kind}: the model is for {_NO_TABLES[step.op]}; nn2rules "
            f"reads networks whose inputs are columns, made of {_READ}"
        )
    if step.op in ("If", "Loop", "Scan"):
        raise UnsupportedModelError(
            f"{step} is {step.kind}: the model has branches or loops; export it "
            f"without them, such as with fixed shapes"
        )


def refuse_bfloat16(model: onnx.ModelProto) -> None:
    """Refuse a model in a format that neither numpy nor most runtimes have."""
    kinds = [tensor.data_type for tensor in model.graph.initializer]
    values = (*model.graph.input, *model.graph.output)
    kinds += [value.type.tensor_type.elem_type for value in values]
    if onnx.TensorProto.BFLOAT16 in kinds:
        raise UnsupportedModelError(
            "the ONNX model holds numbers in bfloat16; nn2rules reads float16, float32 "
            "and float64, so export it after model.float()"
        )


def unknown(
    step: Node, tensors: Sequence[Tensor], domain: Domain
) -> UnsupportedModelError:
    """Return the error of an operator that is not read where features meet."""
    owners: set[int] = set()
    for tensor in tensors:
        if not isinstance(tensor, Columns):
            return UnsupportedModelError(
                f"{step} is {step.kind}; once features have met, nn2rules reads {_READ}"
            )
        owners.update(owner for owner in tensor.owners if owner != CONSTANT)
    names = " and ".join(repr(domain.names[owner]) for owner in sorted(owners)[:3])
    return UnsupportedModelError(
        f"{step} is {step.kind}, and mixes features such as {names}; where features "
        f"meet, nn2rules reads {_READ}"
    )
