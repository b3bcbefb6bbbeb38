"""BIG BOXES: from the engine's answers to rules.

::

    paper_form  the paper's own form: prefixes in one order of the features
"""
