"""Rules from a table of every input, packed as bits (`packing`).

`by_table` is the entry; `covers` makes lists, sets and rules for rows, `beginning` and
`short_list` are variants of lists. `greedy`, `polish` and `runs` are the steps.
"""
