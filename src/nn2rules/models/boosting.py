"""Models of boosting libraries: trees, and no networks."""

from nn2rules.errors import UnsupportedModelError

_LIBRARIES = {
    "catboost": ("CatBoost", "model.save_model(path, format='json')"),
    "lightgbm": ("LightGBM", "model.booster_.trees_to_dataframe()"),
    "xgboost": ("XGBoost", "model.get_booster().trees_to_dataframe()"),
}


def refuse_boosting(model: object) -> None:
    """Refuse a model of trees by the library that it comes from.

    Their classifiers are scikit-learn's by descent, so this comes before that.
    """
    cls = type(model)
    for base in cls.__mro__:
        library, shown = _LIBRARIES.get(base.__module__.partition(".")[0], (None, ""))
        if library is not None:
            raise UnsupportedModelError(
                f"this {cls.__name__} of {library} is made of trees, and no network; "
                f"nn2rules reads networks and linear classifiers; {shown} shows the "
                f"trees, and packages such as te2rules make rules of them"
            )
