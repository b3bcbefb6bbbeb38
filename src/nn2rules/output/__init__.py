"""What results look like outside of Python: HTML for notebooks, escaped.

Imports `language` and `space`.
"""

from nn2rules.output.markup import (
    below,
    document,
    kept,
    paragraph,
    piece,
    table,
    text_table,
)

__all__ = ["below", "document", "kept", "paragraph", "piece", "table", "text_table"]
