"""The version of the package and the command that installs it, each in one place."""

__version__ = "0.1.0"

INSTALL = 'pip install ".[{extras}]" (in your clone of nn2rules)'
"""How to install extras. The package is not on PyPI; change this when it is."""


def install_command(*extras: str) -> str:
    """Return the command that installs the package with these extras.

    Examples
    --------
    >>> print(install_command("sklearn", "plot"))
    pip install ".[sklearn,plot]" (in your clone of nn2rules)
    """
    return INSTALL.format(extras=",".join(extras))
