"""Compiled operations on boxes, and how kernels are compiled.

`boxes` has the operations, `loops` replaces functions of numpy that are slow to
compile, and `compiled` declares kernels.
"""
