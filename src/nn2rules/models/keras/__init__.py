"""Keras 3 models, on any backend: Sequential and functional ones.

`adapter` reads a model, `graph` traces it layer by layer (`layers`, `calls`), `files`
loads one safely.
"""

from nn2rules.models.keras.adapter import columns, prepare, read
from nn2rules.models.keras.files import load

__all__ = ["columns", "load", "prepare", "read"]
