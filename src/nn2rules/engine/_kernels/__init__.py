"""Compiled inner loops: arrays in, numbers out, no checks and no Python objects.

House rules
-----------
* The modules of this package, and of ``nn2rules.cover._kernels``, are the only ones
  that import numba.
* ``fastmath`` stays off. It lets the compiler reorder sums and assume that nothing is
  infinite; the error bounds in `nn2rules.engine.flat` allow the first, not the second.
* Every kernel has a public caller that checks its arguments, and is compared with plain
  Python in the tests. Nothing else calls a kernel.

::

    network   evaluate the network at one input, or at all inputs one after another
    bounds    bound all scores over a box
    search    branch and bound: prove, count, minimise
    boxes     questions that need no network
"""

from pathlib import Path
from typing import Any


def is_cached(kernel: Any) -> bool:
    """Tell whether a kernel was compiled on this machine before."""
    cache = getattr(kernel, "_cache", None)  # absent when the JIT is off
    if cache is None:
        return True
    module = kernel.py_func.__module__.rpartition(".")[2]
    pattern = f"{module}.{kernel.py_func.__name__}*.nbi"
    return any(Path(cache.cache_path).glob(pattern))
