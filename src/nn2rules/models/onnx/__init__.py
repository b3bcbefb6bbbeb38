"""ONNX models: networks, linear classifiers, and their preprocessing.

Such models come from scikit-learn (skl2onnx), PyTorch (torch.onnx) and Keras. `adapter`
reads a model, `follow` goes through its graph node by node, `running` runs it. Only
this package imports onnx.
"""

from nn2rules.models.onnx.adapter import columns, prepare, read
from nn2rules.models.onnx.files import load

__all__ = ["columns", "load", "prepare", "read"]
