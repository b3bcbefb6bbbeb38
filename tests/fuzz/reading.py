"""The imports of the process from which `fuzz.growing` forks."""

import os

os.environ.setdefault("KERAS_BACKEND", "torch")

import h5py  # noqa: F401
import keras  # noqa: F401
import onnx  # noqa: F401
import openpyxl  # noqa: F401
import pyarrow.parquet  # noqa: F401
import skops.io  # noqa: F401
