"""What inputs are: values, features, domains, conditions, boxes, and the user's rows.

Everything else is built on this package. A `Domain` is a set of `Feature` objects. It
encodes rows (`frames`) as codes and numbers; a condition of a rule is a set of values
or a range of numbers of one feature (`conditions`, `spans`). ``_kernels`` holds the
compiled operations on boxes. Imports nothing but `nn2rules.errors`.
"""

from nn2rules.space.bins import Cut, cut_above, cut_below, has_bins, has_odd_bins
from nn2rules.space.conditions import (
    Condition,
    boxes_of,
    conditions_of,
    intersecting,
    without_idle_edges,
)
from nn2rules.space.curve import KINDS, Curve, Shape
from nn2rules.space.domain import Domain, box_sizes
from nn2rules.space.feature import UNKNOWN, Feature, Lookup
from nn2rules.space.feature_spec import Column, is_range, quantile
from nn2rules.space.frames import (
    Rows,
    cells_of,
    column_names,
    columns_for,
    listed_rows,
    observed_columns,
    picked_rows,
    separator_hint,
)
from nn2rules.space.intervals import wilson
from nn2rules.space.observed import (
    are_whole,
    feature_of,
    said_of,
    special_value_warnings,
)
from nn2rules.space.parts import refuse_parts
from nn2rules.space.spans import (
    Span,
    cells_of_spans,
    checked_spans,
    edge_after,
    edges_of,
    refuse_curves,
    refuse_ranges,
    spans_of,
    special_values,
    volumes,
)
from nn2rules.space.values import (
    MISSING_TEXTS,
    SECONDS,
    SPELLING_TEXTS,
    SPELLINGS,
    Value,
    checked_values,
    did_you_mean,
    edge_text,
    is_missing,
    is_missing_text,
    is_number,
    number_of,
    plain_number,
    spelling_of,
    text_of,
    value_of,
    whole_number,
)

__all__ = [
    "KINDS",
    "MISSING_TEXTS",
    "SECONDS",
    "SPELLINGS",
    "SPELLING_TEXTS",
    "UNKNOWN",
    "Column",
    "Condition",
    "Curve",
    "Cut",
    "Domain",
    "Feature",
    "Lookup",
    "Rows",
    "Shape",
    "Span",
    "Value",
    "are_whole",
    "box_sizes",
    "boxes_of",
    "cells_of",
    "cells_of_spans",
    "checked_spans",
    "checked_values",
    "column_names",
    "columns_for",
    "conditions_of",
    "cut_above",
    "cut_below",
    "did_you_mean",
    "edge_after",
    "edge_text",
    "edges_of",
    "feature_of",
    "has_bins",
    "has_odd_bins",
    "intersecting",
    "is_missing",
    "is_missing_text",
    "is_number",
    "is_range",
    "listed_rows",
    "number_of",
    "observed_columns",
    "picked_rows",
    "plain_number",
    "quantile",
    "refuse_curves",
    "refuse_parts",
    "refuse_ranges",
    "said_of",
    "separator_hint",
    "spans_of",
    "special_value_warnings",
    "special_values",
    "spelling_of",
    "text_of",
    "value_of",
    "volumes",
    "whole_number",
    "wilson",
    "without_idle_edges",
]
