"""Compiled inner loops: arrays in, numbers out, no checks and no Python objects.

House rules
-----------
* Only the modules of this package, of ``nn2rules.extraction._kernels`` and of
  ``nn2rules.space._kernels`` import numba.
* ``fastmath`` stays off. It lets the compiler reorder sums and assume that nothing is
  infinite; the error bounds in `nn2rules.engine.flat` allow the first, not the second.
* Every kernel has a public caller that checks its arguments, and is compared with plain
  Python in the tests. Nothing else calls a kernel.

::

    network   evaluate the network at one input, or at all inputs one after another
    bounds    bound all scores over a box
    search    branch and bound: prove, count, minimise
    boxes     questions that need no network
    loops     what numpy does with whole arrays
    compiled  how all of them are compiled
"""
