"""Settings of every test run, the examples of the docs included.

Models are trained in tests and docs. These settings make training repeatable on other
processors, and must be there before numpy is.
"""

import os

os.environ.setdefault("OPENBLAS_CORETYPE", "Haswell")  # the same sums everywhere
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("KERAS_BACKEND", "torch")  # TensorFlow is not needed here

collect_ignore_glob = ["*conftest.py"]  # settings hold no examples, and share one name
