"""Rules for large domains: boxes grown from rows, each proved by search.

`by_search` is the entry; `covering` covers rows or a domain, `growing` (with
`growth_context`) grows boxes, `merging` joins rules, `checkpoints` saves the state.
"""
