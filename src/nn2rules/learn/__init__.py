"""Classifiers that are trained together with their rules, in scikit-learn's manner.

`ReadableClassifier` trains small networks with short exact rule lists;
`RuleListClassifier` wraps another classifier and predicts with its rules. Imports
`extraction` and everything below.
"""
