"""ONNX models: networks, linear classifiers, and their preprocessing.

Such models come from scikit-learn (skl2onnx), PyTorch (torch.onnx) and Keras. `files`
loads a model and `adapter` reads it: `graph` lists its nodes, `outputs` finds scores
and labels, `follow` goes through the nodes one by one (`operators`, `walk`), `running`
runs them. Only this package imports onnx.
"""

from nn2rules.models.onnx.adapter import columns, prepare, read
from nn2rules.models.onnx.files import load

__all__ = ["columns", "load", "prepare", "read"]
