"""The models: each function fits one and returns its probabilities and its size.

A function gets the training rows, their classes as 0, 1, …, the names of the columns of
texts, and what follows a colon in its registration. It returns a function from rows to
probabilities, one column per class, and the size as the registry defines it. Packages
are imported where they are used, since each has an environment of its own.
"""

import inspect

import numpy as np

from peers.preparing import Questions, encoder

MISSING = "missing"
LEAVES = (2, 3, 5, 8, 12, 18, 27, 40, 60, 90, 135, 200)


def majority(rows, y, categorical, _):
    """Predict the shares of the classes for every row."""
    del rows, categorical
    shares = np.bincount(y) / len(y)
    return lambda test: np.tile(shares, (len(test), 1)), 0


def fitted(rows, y, categorical, model, scaled=True):
    """Return a pipeline that prepares the columns, and the model fitted to them."""
    from sklearn.pipeline import make_pipeline

    return make_pipeline(encoder(rows, categorical, scaled), model).fit(rows, y)


def logistic(rows, y, categorical, _):
    """Fit scikit-learn's logistic regression with its default penalty."""
    from sklearn.linear_model import LogisticRegression

    model = fitted(rows, y, categorical, LogisticRegression(max_iter=1000))
    return model.predict_proba, int(np.count_nonzero(model[-1].coef_))


def tree(rows, y, categorical, most):
    """Fit a tree with the number of leaves that is best in cross-validation."""
    from sklearn.model_selection import GridSearchCV
    from sklearn.tree import DecisionTreeClassifier

    leaves = [number for number in LEAVES if number <= int(most or LEAVES[-1])]
    if most:
        leaves = sorted({*leaves, int(most)})
    search = GridSearchCV(
        DecisionTreeClassifier(random_state=0), {"max_leaf_nodes": leaves}
    )
    model = fitted(rows, y, categorical, search, scaled=False)
    return model.predict_proba, int(model[-1].best_estimator_.get_n_leaves())


def mlp(rows, y, categorical, _):
    """Fit scikit-learn's network as it comes: one layer of 100 units."""
    from sklearn.neural_network import MLPClassifier

    model = fitted(rows, y, categorical, MLPClassifier(random_state=0))
    return model.predict_proba, int(sum(part.size for part in model[-1].coefs_))


def boosting(rows, y, categorical, _):
    """Fit scikit-learn's gradient boosting as it comes: 100 trees per class."""
    from sklearn.ensemble import GradientBoostingClassifier

    model = fitted(
        rows, y, categorical, GradientBoostingClassifier(random_state=0), False
    )
    trees = model[-1].estimators_.ravel()
    return model.predict_proba, int(sum(one.get_n_leaves() for one in trees))


def ebm(rows, y, categorical, _):
    """Fit interpret's explainable boosting machine as it comes."""
    from interpret.glassbox import ExplainableBoostingClassifier

    kinds = ["nominal" if name in categorical else "continuous" for name in rows]
    model = ExplainableBoostingClassifier(
        feature_types=kinds, random_state=0, n_jobs=1
    ).fit(_with_missing(rows, categorical), y)
    size = sum(scores[..., 0].size for scores in map(_by_class, model.term_scores_))
    return lambda test: model.predict_proba(_with_missing(test, categorical)), int(size)


def _by_class(scores):
    """Return scores with a last axis for classes; two classes share one score."""
    return scores if scores.ndim > 2 else scores[..., np.newaxis]


def _with_missing(rows, categorical):
    """Return rows with a category for missing texts, and NaN for missing numbers."""
    rows = rows.copy()
    for name in categorical:
        rows[name] = rows[name].fillna(MISSING)
    return rows


def _encoded(rows, y, categorical):
    """Return a function that makes a matrix of rows, and the matrix of these rows."""
    encode = encoder(rows, categorical, scaled=False).fit(rows, y)
    return encode.transform, np.asarray(encode.transform(rows), dtype=float)


def figs(rows, y, categorical, most):
    """Fit a sum of small trees with at most `most` splits."""
    from imodels import FIGSClassifier

    encode, matrix = _encoded(rows, y, categorical)
    model = FIGSClassifier(max_rules=int(most), random_state=0).fit(matrix, y)
    return lambda test: model.predict_proba(encode(test)), int(model.complexity_)


def rulefit(rows, y, categorical, _):
    """Fit a sparse sum of rules and columns as it comes."""
    from imodels import RuleFitClassifier

    encode, matrix = _encoded(rows, y, categorical)
    model = RuleFitClassifier(random_state=0).fit(matrix, y)
    terms = model._get_rules()
    used = terms[(terms["coef"] != 0) & (terms["type"] != "bias")]
    return lambda test: model.predict_proba(encode(test)), len(used)


def ripper(rows, y, categorical, _):
    """Fit rules for the rarer class as they come; missing numbers are the median."""
    import wittgenstein

    medians = rows.drop(columns=list(categorical)).median()

    def filled(given):
        return _with_missing(given, categorical).fillna(medians)

    rare = int(np.argmin(np.bincount(y)))
    model = wittgenstein.RIPPER(random_state=0)
    model.fit(filled(rows), y=(y == rare), pos_class=True)

    def probabilities(test):
        rare_share = model.predict_proba(filled(test))[:, 1]
        both = np.column_stack([1 - rare_share, rare_share])
        return both if rare == 1 else both[:, ::-1]

    return probabilities, len(model.ruleset_.rules)


def fasterrisk(rows, y, categorical, most):
    """Fit the best of the integer scores with at most `most` of the questions."""
    from fasterrisk.fasterrisk import RiskScoreClassifier, RiskScoreOptimizer

    questions = Questions(rows, categorical)
    matrix = questions.of(rows).to_numpy(dtype=float)
    terms = min(int(most), matrix.shape[1])
    optimizer = RiskScoreOptimizer(matrix, np.where(y == 1, 1.0, -1.0), k=terms)
    optimizer.optimize()
    multiplier, intercept, coefficients = optimizer.get_models(model_index=0)
    model = RiskScoreClassifier(multiplier, intercept, coefficients)

    def probabilities(test):
        second = model.predict_prob(questions.of(test).to_numpy(dtype=float))
        return np.column_stack([1 - second, second])

    return probabilities, int(np.count_nonzero(coefficients))


def optbinning(rows, y, categorical, _):
    """Fit a scorecard: optimal bins, logistic regression, whole points of 0 to 100."""
    from optbinning import BinningProcess, Scorecard
    from sklearn.linear_model import LogisticRegression

    process = BinningProcess(list(rows), categorical_variables=list(categorical))
    card = Scorecard(
        process,
        LogisticRegression(max_iter=1000),
        scaling_method="min_max",
        scaling_method_params={"min": 0, "max": 100},
        rounding=True,
    ).fit(rows, y)
    lines = card.table()
    lines = lines[lines["Bin"].astype(str) != "Special"]
    unused = (lines["Bin"].astype(str) == "Missing") & lines["Variable"].map(
        rows.notna().all()
    )
    return card.predict_proba, len(lines) - int(unused.sum())


def gosdt(rows, y, categorical, _):
    """Fit an optimal sparse tree on guessed thresholds, with a guess of its bound."""
    import pandas as pd
    from gosdt import GOSDTClassifier, ThresholdGuessBinarizer
    from sklearn.ensemble import GradientBoostingClassifier

    encode, matrix = _encoded(rows, y, categorical)
    names = [f"x{index}" for index in range(matrix.shape[1])]
    frame = pd.DataFrame(matrix, columns=names)
    binarizer = ThresholdGuessBinarizer(n_estimators=40, max_depth=1, random_state=0)
    binarizer.set_output(transform="pandas")
    binary = binarizer.fit_transform(frame, y)
    reference = GradientBoostingClassifier(n_estimators=40, max_depth=1, random_state=0)
    guess = reference.fit(binary, y).predict(binary)
    has_all = len(np.unique(guess)) == len(np.unique(y))  # GOSDT refuses it otherwise
    model = GOSDTClassifier(
        regularization=max(0.01, 1 / len(y)),
        depth_budget=6,
        similar_support=False,
        time_limit=30,
        verbose=False,
    ).fit(binary, y, y_ref=guess if has_all else None)

    def probabilities(test):
        encoded = pd.DataFrame(encode(test), columns=names)
        return np.asarray(model.predict_proba(binarizer.transform(encoded)))

    return probabilities, _leaves_of(model.trees_[0].tree)


def _leaves_of(node):
    """Count the leaves of a tree of GOSDT."""
    if hasattr(node, "left_child"):
        return _leaves_of(node.left_child) + _leaves_of(node.right_child)
    return 1


def readable(rows, y, categorical, form):
    """Fit ReadableClassifier with that form."""
    from nn2rules import ReadableClassifier

    options = {"n_jobs": 1, "progress": False, "random_state": 0}
    if "form" in inspect.signature(ReadableClassifier).parameters:
        options["form"] = form
    elif form != "rules":
        raise NotImplementedError(f"this nn2rules has no form={form!r}")
    model = ReadableClassifier(**options).fit(rows, y)
    return lambda test: model.predict_proba(known(test, rows, categorical)), size_of(
        model
    )


def known(test, rows, categorical):
    """Return test rows with values that a model of `rows` can have seen.

    A text that no training row has, or a missing value in a column that has none, is
    replaced by the most frequent text or the median, as an imputer would do.
    """
    test = test.copy()
    for name in rows:
        column, seen = test[name], rows[name]
        strange = column.isna() & seen.notna().all()
        if name in categorical:
            strange |= column.notna() & ~column.isin(seen.dropna())
            test.loc[strange, name] = seen.mode()[0]
        else:
            test.loc[strange, name] = seen.median()
    return test


def size_of(model):
    """Return how many rules or lines a person reads of a ReadableClassifier."""
    if hasattr(model, "description_"):
        return int(model.description_.n_lines)
    return len(model.rules_)
