"""What the scikit-learn classifiers here share: checked frames and arrays as rows."""

from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    check_consistent_length,
    column_or_1d,
    validate_data,
)

from nn2rules.errors import OptionError
from nn2rules.space import Rows


class TabularClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier of rows with named columns; those of arrays are x0, x1 and so on."""

    def _allows_gaps(self) -> bool:
        """Tell whether cells may be missing."""
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._allows_gaps()
        return tags

    def _training_data(self, X: Any, y: Any) -> tuple[Any, NDArray[Any]]:  # noqa: N803
        """Return the table and the labels to train on, checked."""
        table = self._checked(X, y, is_new=True)
        labels = column_or_1d(y, warn=True)
        check_consistent_length(table, labels)
        try:
            check_classification_targets(labels)
        except ValueError as error:
            raise OptionError(str(error)) from None
        if len(np.unique(labels)) < 2:
            raise OptionError("y has only one class; a classifier needs at least two")
        return table, labels

    def _checked(self, X: Any, y: Any = None, *, is_new: bool = False) -> Any:  # noqa: N803
        """Return a frame as it is, and anything else as a checked array."""
        if _is_frame(X) and (is_new or hasattr(self, "feature_names_in_")):
            labels = {"y": y} if is_new else {}
            validate_data(self, X, reset=is_new, skip_check_array=True, **labels)
            check_consistent_length(X)
            return X
        if isinstance(X, list | tuple) and X and isinstance(X[0], dict):
            raise OptionError(
                "X is a list of dicts, expected a frame, such as pandas.DataFrame(X), "
                "or an array"
            )
        finite = "allow-nan" if self._allows_gaps() else True
        options = {"reset": is_new, "ensure_all_finite": finite}
        if is_new:
            options["y"] = y
        dtype = None if _has_text(X) else np.float64
        checked = validate_data(self, X, dtype=dtype, **options)
        return checked[0] if is_new else checked

    def _rows(self, table: Any) -> Rows:
        """Return a checked table as rows with the names of the rules."""
        if not isinstance(table, np.ndarray):
            return table
        return [dict(zip(self._names, row, strict=True)) for row in table.tolist()]

    @property
    def _names(self) -> list[str]:
        names = getattr(self, "feature_names_in_", None)
        if names is None:
            return [f"x{index}" for index in range(self.n_features_in_)]
        return [str(name) for name in names]


def _is_frame(X: Any) -> bool:  # noqa: N803
    """Tell whether `X` is a frame whose columns have names."""
    try:
        columns = nw.from_native(X, eager_only=True).columns
    except (TypeError, nw.exceptions.NarwhalsError):
        return False
    return all(isinstance(name, str) for name in columns)


def _has_text(X: Any) -> bool:  # noqa: N803
    array = np.asarray(X) if isinstance(X, list | tuple) else X
    kind = getattr(getattr(array, "dtype", None), "kind", "")
    return kind in "US" or (
        kind == "O" and any(isinstance(cell, str) for cell in array.flat)
    )
