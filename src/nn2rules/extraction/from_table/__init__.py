"""Rules for networks whose inputs all fit into a table, as packed bits."""
