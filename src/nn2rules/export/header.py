"""What every export says of itself: what it is, of which network, and what is proved.

Nothing of the user's is in it, no name and no value, so it can stand in a comment of
any language; nor is there a date, so the same rules give the same export.
"""

from nn2rules.export.program import Policy, Program
from nn2rules.language import count
from nn2rules.rules import certificate_of, order_text, proof_of
from nn2rules.version import __version__

_OUTSIDE = {
    "none": "get no answer",
    "default": "get the default class, which is not proved there",
    "error": "are an error",
}


def header_of(program: Program) -> tuple[tuple[str, str], ...]:
    """Return what is said above an export, as pairs of a key and a sentence.

    Examples
    --------
    >>> import nn2rules
    >>> from nn2rules.export.program import program_of
    >>> network = nn2rules.load(nn2rules.datasets.network_file("tomato"))
    >>> for key, sentence in header_of(program_of(nn2rules.extract(network)))[:4]:
    ...     print(f"{key}: {sentence}")
    rules: 1 rule, tried from the top
    scope: domain: every possible input
    proved: Proved for all 6 inputs
    off the domain: inputs with unknown values get no answer
    """
    rules = program.rules
    pairs = [
        ("rules", f"{count(len(rules), 'rule')}, {order_text(rules)}"),
        ("scope", _SCOPES[rules.scope]),
        ("proved", proof_of(rules) or "nothing; nn2rules check compares with a model"),
        ("off the domain", f"inputs with unknown values {_OUTSIDE[program.unknown]}"),
        ("open", _open(rules.scope == "support", program.undecided)),
        ("network", certificate_of(rules).network or "not known"),
        ("digest", rules.digest),
        ("made by", f"nn2rules {__version__}"),
    ]
    return tuple(pairs)


_SCOPES = {
    "domain": "domain: every possible input",
    "support": "support: rules made for rows of data",
}


def _open(may_be: bool, policy: Policy) -> str:
    if not may_be:
        return "none: what no rule decides is the default"
    return f"inputs that no rule decides {_OUTSIDE[policy]}"
