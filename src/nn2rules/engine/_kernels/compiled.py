"""How kernels are compiled, and what keeps that short.

Nothing is compiled before it is first asked for, and then kept for all later runs on
the machine. How long the first run takes is a matter of how kernels are written:

* A kernel holds the code of all kernels that it calls, and theirs: what lies five calls
  deep is compiled five times. What one kernel alone calls is `inlined`, so once.
* A kernel is compiled anew for each type of its arguments, and the number -1 in a call
  has a type of its own. Kernels are given `np.int64` numbers, such as `NONE`.
* Whole arrays cost most: sorting, the largest of an array, or assigning one array to
  another, whose error message alone takes a second. Loops cost next to nothing.
"""

import numpy as np
from numba import njit

NONE, NOUGHT, ONE = np.int64(-1), np.int64(0), np.int64(1)

kernel = njit(cache=True, nogil=True, no_cfunc_wrapper=True)
"""Compile a function."""

inlined = njit(cache=True, nogil=True, no_cfunc_wrapper=True, inline="always")
"""Make a function part of each kernel that calls it."""
