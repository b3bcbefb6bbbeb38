"""PyTorch modules, and programs exported from them.

`program` makes a graph of a model, `steps` and `operations` describe what each node
does to its `values`, `adapter` reads the model, `files` loads one.
"""

from nn2rules.models.torch.adapter import columns, prepare, read
from nn2rules.models.torch.files import load_pickle, load_program

__all__ = ["columns", "load_pickle", "load_program", "prepare", "read"]
