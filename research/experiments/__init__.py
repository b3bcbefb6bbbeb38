"""The paper's experiments, run anew in one call, with nn2rules' own lists beside them.

::

    study        run(): every data set and every training seed, then the folder
    cases        the data sets: the paper's, or the user's CSV file
    train        a network of the paper's shape, trained and read; or the user's model
    measure      what is measured on one network: methods, numbers, seconds
    methods      rule lists, trees, and networks that are made to be read
    first_rules  what the first k rules of a list achieve
    results      all measurements of a run, and their spreads
    printed      the figures that the paper prints
    contrast     where this run and the paper differ, and by how much
    table        a table, as Markdown, CSV and JSON
    tables       the tables of the experiments
    figures      the figures of the experiments
    sentences    what the numbers show, in sentences
    page         all of it on one HTML page

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
