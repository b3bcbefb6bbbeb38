"""Compiled inner loops of extraction; see `nn2rules.engine._kernels` for the rules."""
