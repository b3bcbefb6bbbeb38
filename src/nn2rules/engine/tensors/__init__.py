"""The search once more, for thousands of questions at once: PyTorch on any device.

It does what `nn2rules.engine._kernels.search.search` does for each question, to the
last bit. The sums that decide are loops over units and features, in the kernel's
order, of operations on single elements, which float64 rounds alike everywhere; what is
done at once are boxes. PyTorch's own sums and products of matrices add in an order of
their own, and may not round in between, so they are not used where it matters.

Boxes lie along the last axis of every tensor. PyTorch is imported when a `Searcher` is
made, not before::

    nets       a network, and the layout of its columns, as tensors
    lines      activations, and the lines that hold them
    bounds     the lowest score of each box
    picking    the best value of each feature, as far as a line tells
    evaluate   the scores of inputs, and the way to better ones
    splitting  which feature a box is split on, and its halves
    covered    boxes and inputs that do not count
    stacks     the boxes that wait, question by question
    running    questions that are searched, round by round
    searching  the search, and what it found
"""

from nn2rules.engine.tensors.running import Found
from nn2rules.engine.tensors.searching import Searcher

__all__ = ["Found", "Searcher"]
