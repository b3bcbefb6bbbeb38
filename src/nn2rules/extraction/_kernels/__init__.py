"""Compiled inner loops of extraction; `nn2rules.engine._kernels` has house rules.

::

    packed      boxes in bit-packed tables: scan and grow them
    covering    find an input that no box has
    proposing, box_growth, near_rows   grow a box from a row, near the other rows
    proving     branch and bound that records its steps as a proof
    greedy, improve, rebuild           choose rules, and improve a list of them
"""
