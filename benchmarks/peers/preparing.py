"""Columns as models need them: numbers, filled and scaled, or yes-or-no questions.

Imported in the environment of each peer, so it uses old and common parts only.
"""

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler


def encoder(rows, categorical, scaled=True):
    """Return a transformer: one column per category, numbers filled by the median.

    A column of numbers with missing values has a second one that says where. A missing
    text is a category.
    """
    numbers = [name for name in rows if name not in categorical]
    fill = SimpleImputer(strategy="median", add_indicator=True)
    return make_column_transformer(
        (make_pipeline(fill, StandardScaler()) if scaled else fill, numbers),
        (OneHotEncoder(handle_unknown="ignore"), list(categorical)),
        sparse_threshold=0,
    )


class Questions:
    """Columns of 0 and 1: categories, and whether a number is at most a quantile."""

    def __init__(self, rows, categorical, quantiles=10):
        self.names, self._asked = [], []
        for name in rows:
            column = rows[name]
            if name in categorical:
                values = sorted(set(column.dropna()))
                asked = [(f"{name} = {value}", "is", value) for value in values]
                asked = asked[:-1] if len(values) == 2 else asked
            else:
                shares = np.linspace(0, 1, quantiles + 1)[1:-1]
                cuts = np.unique(np.quantile(column.dropna(), shares, method="lower"))
                cuts = [cut for cut in cuts if cut < column.max()]
                asked = [(f"{name} <= {cut:g}", "at most", cut) for cut in cuts]
            if column.isna().any():
                asked.append((f"{name} is missing", "missing", None))
            self.names += [text for text, _, _ in asked]
            self._asked += [(name, kind, value) for _, kind, value in asked]

    def of(self, rows):
        """Return the answers for each row."""
        columns = []
        for name, kind, value in self._asked:
            column = rows[name]
            if kind == "missing":
                columns.append(column.isna())
            elif kind == "is":
                columns.append(column == value)
            else:
                columns.append(column <= value)
        answers = np.column_stack(columns).astype(int)
        return pd.DataFrame(answers, columns=self.names)
