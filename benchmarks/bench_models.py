"""Benchmarks of reading models: a pipeline on the raw columns of Adult."""

import time
import warnings

from timing import best_of, markdown

import nn2rules

NUMBERS = ["age", "education-num", "capital-gain", "capital-loss", "hours-per-week"]


def models() -> str:
    """Numbers scaled, words one-hot, missing imputed: read, and extract for rows."""
    train, test = nn2rules.datasets.raw("adult")
    rows, labels = train.to_frame().drop(columns="label"), train.labels
    unseen = test.to_frame()
    model = _pipeline(rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # twenty rounds are enough here
        model.fit(rows, labels)
    reading = best_of(lambda: nn2rules.read_network(model, data=rows), 2)
    answering = best_of(lambda: model.predict(rows), 2)
    own = model.predict(unseen)
    table = []
    said = {name: (rows[name].min(), rows[name].max()) for name in NUMBERS}
    for n_rows in (200, 1000):
        options = {"domain": said, "other": True, "n_jobs": -1}
        started = time.perf_counter()
        rules = nn2rules.extract(model, data=rows[:n_rows], scope="support", **options)
        seconds = time.perf_counter() - started
        is_input = (rules.domain.encode(unseen, unknown="mark") >= 0).all(axis=1)
        decided = rules.apply(unseen[is_input]) >= 0
        answers = rules.predict(unseen[is_input], uncovered="none")
        same = (answers == own[is_input])[decided].mean()
        table.append(
            (
                n_rows,
                len(rules),
                f"{seconds:.1f} s",
                f"{1 - is_input.mean():.1%}",
                f"{decided.sum() / len(unseen):.1%}",
                f"{same:.2%}",
            )
        )
    return (
        f"Reading the pipeline, with its 32,561 rows, takes {reading:.2f} s, "
        f"{reading / answering:.1f} times the model's own prediction of them.\n\n"
        + markdown(
            (
                "rows",
                "rules",
                "time",
                "test rows outside of the ranges",
                "test rows covered",
                "of these predicted as by the model",
            ),
            table,
        )
    )


def _pipeline(rows):
    from sklearn.compose import make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    words = [name for name in rows if name not in NUMBERS]
    return make_pipeline(
        make_column_transformer(
            (make_pipeline(SimpleImputer(), StandardScaler()), NUMBERS),
            (
                make_pipeline(
                    SimpleImputer(strategy="most_frequent"),
                    OneHotEncoder(handle_unknown="ignore"),
                ),
                words,
            ),
        ),
        MLPClassifier((6, 3), max_iter=20, random_state=0),
    )
