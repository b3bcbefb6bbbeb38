"""Tables of numbers and words, drawn at random: like those of credit and medicine.

No row is copied from anywhere. Every column has a distribution of ours, chosen so that
ranges, shapes and the number of different values are like those of well-known tables;
the label is a noisy score of some columns, so a network has something to learn.
"""

from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator

Table = tuple[pd.DataFrame, Any]
"""Rows and their labels."""


def credit(n_rows: int = 1000, seed: int = 0) -> Table:
    """Return a table like German Credit: 7 columns of numbers and 13 of words.

    Amounts are log-normal (median 2,300) and cut to 250 to 18,500, durations multiples
    of 3 or 6 months, ages 19 plus a gamma. Words have 2 to 10 values each, with weights
    of a Dirichlet distribution. The risk rises with duration, amount and two of the
    words, falls with age, and is told with a noise as large as all of these.
    """
    rng = np.random.default_rng([seed, 1])
    duration = np.clip(rng.gamma(3, 7, n_rows).astype(int), 4, 72)
    duration -= np.where(rng.random(n_rows) < 0.9, duration % 3, 0)
    rows = {
        "duration": np.maximum(duration, 4),
        "credit_amount": np.clip(rng.lognormal(7.75, 0.78, n_rows), 250, 18500).astype(
            int
        ),
        "installment_rate": rng.choice(
            [1, 2, 3, 4], n_rows, p=[0.14, 0.23, 0.16, 0.47]
        ),
        "residence_since": rng.choice([1, 2, 3, 4], n_rows, p=[0.13, 0.31, 0.15, 0.41]),
        "age": np.clip(19 + rng.gamma(2, 8.5, n_rows), 19, 75).astype(int),
        "existing_credits": rng.choice(
            [1, 2, 3, 4], n_rows, p=[0.63, 0.33, 0.03, 0.01]
        ),
        "dependents": rng.choice([1, 2], n_rows, p=[0.85, 0.15]),
    }
    sizes = (4, 5, 10, 5, 5, 4, 3, 4, 3, 3, 4, 2, 2)
    words = [_words(rng, f"w{index}", size, n_rows) for index, size in enumerate(sizes)]
    effects = [rng.normal(size=size) for size in sizes[:2]]
    risk = 0.04 * rows["duration"] + 0.6 * np.log(rows["credit_amount"])
    risk = risk - 0.03 * rows["age"]
    for codes, effect in zip(words, effects, strict=False):
        risk = risk + effect[codes]
    named = {
        f"w{i}": [f"A{i}{code}" for code in codes] for i, codes in enumerate(words)
    }
    return pd.DataFrame({**rows, **named}), _labels(rng, risk, ("good", "bad"), 0.3)


def _words(rng: Generator, name: str, size: int, n_rows: int) -> Any:
    """Draw codes of words; every one occurs."""
    del name
    codes = rng.choice(size, n_rows, p=rng.dirichlet(np.full(size, 2.0)))
    codes[:size] = np.arange(size)
    return codes


def health(n_rows: int = 768, seed: int = 0) -> Table:
    """Return a table like Pima: 8 columns of numbers, zeros where one was not taken.

    Glucose and pressure are normal, insulin log-normal and not taken in half of the
    rows, the pedigree log-normal with three decimals, the mass index normal with one.
    """
    rng = np.random.default_rng([seed, 2])

    def taken(numbers: Any, share: float) -> Any:
        return np.where(rng.random(n_rows) < share, numbers, 0)

    glucose, mass = rng.normal(121, 30, n_rows), rng.normal(32.4, 6.9, n_rows)
    age = np.clip(21 + rng.gamma(1.1, 11, n_rows), 21, 81).astype(int)
    pregnancies = np.minimum(rng.poisson(age / 9), 17)
    rows = {
        "pregnancies": pregnancies,
        "glucose": taken(np.clip(glucose, 44, 199).astype(int), 0.99),
        "pressure": taken(
            np.clip(rng.normal(72, 12, n_rows), 24, 122).astype(int), 0.95
        ),
        "skin": taken(np.clip(rng.normal(29, 10, n_rows), 7, 99).astype(int), 0.7),
        "insulin": taken(rng.lognormal(4.8, 0.7, n_rows).astype(int), 0.51),
        "mass": taken(np.round(np.clip(mass, 18, 67), 1), 0.985),
        "pedigree": np.round(np.clip(rng.lognormal(-1, 0.6, n_rows), 0.08, 2.4), 3),
        "age": age,
    }
    risk = 0.035 * glucose + 0.08 * mass + 0.03 * age + 0.1 * pregnancies
    return pd.DataFrame(rows), _labels(rng, risk, ("no", "yes"), 0.35)


def numeric(n_columns: int, n_rows: int = 1000, seed: int = 0) -> Table:
    """Return a table of real numbers alone: normal, of all scales, a third related.

    The label is whether a sum of products of pairs and of single columns, with noise,
    is among the upper half.
    """
    rng = np.random.default_rng([seed, 3, n_columns])
    plain = rng.normal(size=(n_rows, n_columns))
    mixed = plain @ rng.normal(size=(n_columns, n_columns)) / np.sqrt(n_columns)
    plain[:, ::3] = mixed[:, ::3]
    single = plain @ rng.normal(size=n_columns)
    risk = single + plain[:, 0] * plain[:, 1] + plain[:, 2] * plain[:, 3]
    scales = 10.0 ** rng.integers(-2, 5, size=n_columns)
    names = [f"x{index}" for index in range(n_columns)]
    frame = pd.DataFrame(np.round(plain * scales, 4), columns=names)
    return frame, _labels(rng, risk, ("low", "high"), 0.5)


def _labels(rng: Generator, risk: Any, classes: tuple[str, str], share: float) -> Any:
    """Return classes by a noisy score, so many of the second."""
    noisy = risk + rng.normal(size=len(risk)) * risk.std()
    return np.where(noisy > np.quantile(noisy, 1 - share), classes[1], classes[0])
