"""The paper's experiments, run anew in one call, with nn2rules' own lists beside them.

::

    study      run(): every data set and every training seed, then the folder
    case       a data set with its two parts, and how a network is trained on it
    own_data   the same for the user's CSV file
    train      a network of the paper's shape, trained and read; or the user's model
    measure    what is measured on one network: lists, trees, numbers, seconds
    lists      the rule lists of one network, and the proof that they are exact
    trees      the trees that only resemble it
    readable   a network that is made to be read, on the same rows
    first      what the first k rules of a list achieve
    results    all measurements of a run, and their spreads
    printed    the figures that the paper prints
    table      a table, as Markdown, CSV and JSON
    tables     the tables of the experiments
    counts     those of them that are about the number of rules
    contrast   where this run and the paper differ, and by how much
    figures    the figures: bars and curves, drawn by drawing
    findings   what the numbers show, in sentences
    prose      the words that do not depend on numbers
    page       all of it on one HTML page
    folder     where the files go: whole, or not at all

>>> from research import experiments
>>> page = experiments.run("results", datasets=["car"], seeds=2)  # doctest: +SKIP

This package needs scikit-learn, pandas, matplotlib and Jinja2. `import nn2rules` does
not load it.
"""

from importlib.util import find_spec

from nn2rules.errors import MissingExtraError

for _module, _library, _extra in (
    ("sklearn", "scikit-learn", "sklearn"),
    ("pandas", "pandas", "pandas"),
    ("matplotlib", "matplotlib", "plot"),
    ("jinja2", "jinja2", "report"),
):
    if find_spec(_module) is None:
        raise MissingExtraError(_library, _extra, "research.experiments")

from research.experiments.study import run  # noqa: E402

__all__ = ["run"]
