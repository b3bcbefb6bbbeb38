"""Compiled inner loops: arrays in, numbers out, no checks and no Python objects.

House rules
-----------
* Only the modules of this package, of ``nn2rules.extraction._kernels`` and of
  ``nn2rules.space._kernels`` import numba.
* ``fastmath`` stays off. It lets the compiler reorder sums and assume that nothing is
  infinite; the error bounds in `nn2rules.engine.flat` allow only the former.
* Every kernel has a public caller that checks its arguments, and is compared with plain
  Python in the tests. Nothing else calls a kernel.

::

    network   evaluate the network at one input, or at all inputs one after another
    bounds    bound all scores over a box
    search    branch and bound: prove, count, minimise
    reaching  branch and bound: find an input whose scores are all positive
    tabling   the class of every input of a domain
"""
