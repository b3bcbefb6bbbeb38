"""Compiled operations on boxes, and how kernels are compiled."""
