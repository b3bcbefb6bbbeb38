"""Settings of every test run, the examples of the docs included."""

import os

os.environ.setdefault("KERAS_BACKEND", "torch")  # TensorFlow is not needed here
