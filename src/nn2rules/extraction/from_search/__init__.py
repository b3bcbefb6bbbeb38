"""Rules for larger domains: boxes grown from rows, each proved by search."""
