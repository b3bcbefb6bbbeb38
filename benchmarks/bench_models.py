"""Benchmarks of reading models: a pipeline on the raw columns of Adult."""

import time
import warnings

from timing import best_of, markdown

import nn2rules

NUMBERS = ["age", "education-num", "capital-gain", "capital-loss", "hours-per-week"]
SAID = {
    "age": "20..80:5",
    "capital-gain": [0, 1000, 3000, 5000, 7000, 10000, 20000],
    "capital-loss": [0, 1000, 1500, 2000, 2500],
    "hours-per-week": "10..80:10",
}


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
    for name, said, n_rows in (
        ("as they occur", None, 200),
        ("said", SAID, 200),
        ("said", SAID, 1000),
    ):
        options = {"domain": said, "nearest": True, "other": True, "n_jobs": -1}
        started = time.perf_counter()
        rules = nn2rules.extract(model, data=rows[:n_rows], scope="support", **options)
        seconds = time.perf_counter() - started
        fired = rules.apply(unseen)
        decided = fired >= 0
        same = (rules.predict(unseen) == own)[decided].mean()
        table.append(
            (
                name,
                f"{rules.domain.n_inputs:.1e}",
                n_rows,
                len(rules),
                f"{seconds:.1f} s",
                f"{decided.mean():.1%}",
                f"{same:.2%}",
            )
        )
    return (
        f"Reading the pipeline, with its 32,561 rows, takes {reading:.2f} s, "
        f"{reading / answering:.1f} times its own answer to them. A number that is not "
        f"among those of its feature goes to the nearest.\n\n"
        + markdown(
            (
                "numbers",
                "inputs",
                "rows",
                "rules",
                "time",
                "test rows decided",
                "of these as the model",
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
