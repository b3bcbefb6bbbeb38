"""Benchmarks of rule application."""

import numpy as np
from timing import best_of, markdown

import nn2rules

ROWS = 1_000_000


def predict() -> str:
    """A million rows: the rules against the network in scikit-learn."""
    import pandas as pd
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    adult = nn2rules.datasets.load("adult")
    train = adult.train.to_frame()
    features = train.drop(columns="label")
    pipeline = make_pipeline(
        OneHotEncoder(), MLPClassifier((6, 3), max_iter=20, random_state=0)
    )
    with np.errstate(all="ignore"):
        pipeline.fit(features, train["label"])
    rules = nn2rules.extract(pipeline)
    sampled = features.sample(ROWS, replace=True, random_state=0)
    frame = pd.DataFrame(sampled.reset_index(drop=True))
    codes = rules.domain.encode(frame)
    answers = rules.predict(frame)
    same = int((answers == pipeline.predict(frame)).sum())
    model = best_of(lambda: pipeline.predict(frame), 2)
    rows = [
        ("scikit-learn pipeline, data frame", f"{ROWS / model / 1e6:.2f}", "1.0"),
        *(
            (name, f"{ROWS / seconds / 1e6:.2f}", f"{model / seconds:.1f}")
            for name, seconds in (
                ("rules, data frame", best_of(lambda: rules.predict(frame), 2)),
                ("rules, codes", best_of(lambda: rules.predict_codes(codes), 2)),
            )
        ),
    ]
    return (
        f"{len(rules):,} rules, {ROWS:,} rows, {same:,} predictions "
        f"equal the model's.\n\n"
        + markdown(("what", "million rows per second", "times the model"), rows)
    )
