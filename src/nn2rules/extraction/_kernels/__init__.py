"""Compiled inner loops of the cover; see `nn2rules.engine._kernels` for the rules."""
