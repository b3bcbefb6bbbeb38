"""Pages of the reference that are made from code: of Python, and of the command line.

`GROUPS` says on which page a public name is; a test proves that it has all of them.
"""

from dataclasses import dataclass

from typer.testing import CliRunner

from nn2rules.cli import COMMANDS, app

_WIDTH = 92  # of the help, in characters


@dataclass(frozen=True)
class Group:
    """A page of the reference: its title, what it is about, and its names."""

    title: str
    about: str
    names: tuple[str, ...]


GROUPS = {
    "rules": Group(
        "Extract and rules",
        "From a model to its rules, and what can be done with them.",
        (
            "extract",
            "extract_many",
            "cluster",
            "RuleList",
            "Rule",
            "Condition",
            "Budget",
        ),
    ),
    "models": Group(
        "Models and domains",
        "What a model is read into: features with their values, and layers.",
        ("read_network", "load_model", "Network", "Layer", "Domain", "Feature"),
    ),
    "questions": Group(
        "Questions",
        "Each of these has an exact answer, with a proof or a counterexample.",
        (
            "explain",
            "verify",
            "Verdict",
            "claims",
            "compare",
            "audit",
            "influences",
            "evaluate",
        ),
    ),
    "checking": Group(
        "Checking",
        "A second opinion, by code that has no part in finding rules.",
        ("check", "write_proofs"),
    ),
    "classifiers": Group(
        "Classifiers",
        "Classifiers of scikit-learn that answer by rules.",
        ("ReadableClassifier", "RuleListClassifier"),
    ),
    "files": Group(
        "Files and data sets",
        "Networks and rules are kept in JSON files; "
        "[their formats](../formats.md) are described on a page of their own.",
        ("load", "load_rules", "save", "datasets"),
    ),
    "engine": Group(
        "The engine and the paper",
        "What rules are made with, for those who want to ask it themselves.",
        ("engine", "paper"),
    ),
    "errors": Group(
        "Errors and warnings",
        "All errors are of one family, `Nn2RulesError`. "
        "[The error messages](../error-messages.md) says what to do about each.",
        (
            "Nn2RulesError",
            "DomainError",
            "UnknownValueError",
            "RowsError",
            "OpenRowsError",
            "FormatError",
            "ParseError",
            "UnsupportedModelError",
            "MissingExtraError",
            "NoSuchRuleError",
            "OptionError",
            "BudgetExceededError",
            "ClusterError",
            "InternalError",
            "UndecidedError",
            "Nn2RulesWarning",
            "BinsWarning",
            "ByHeartWarning",
            "CertificateWarning",
            "OpenRowsWarning",
            "RetryWarning",
            "SpecialValueWarning",
        ),
    ),
}
"""Page → what is on it."""

NOT_SHOWN = ("__version__",)
"""Public names that need no page."""


def pages() -> dict[str, str]:
    """Return the pages: their paths on the site, and their Markdown."""
    made = {f"reference/api/{name}.md": _page(group) for name, group in GROUPS.items()}
    return made | {"reference/commands.md": _commands()}


def _page(group: Group) -> str:
    items = "\n\n".join(f"::: nn2rules.{name}" for name in group.names)
    return f"# {group.title}\n\n{group.about}\n\n{items}\n"


def _commands() -> str:
    """Return the help of all commands, as they print it."""
    modules = [module.__name__.rpartition(".")[2] for module in COMMANDS]
    names = [name.replace("_", "-") for name in modules]
    parts = [
        "# The commands",
        "What `nn2rules` and each of its commands print with `--help`. "
        "[How to use the command line](../how-to/command-line.md) shows them at work.",
        _help(),
    ]
    for name in names:
        parts += [f"## nn2rules {name}", _help(name)]
    return "\n\n".join(parts) + "\n"


def _help(*command: str) -> str:
    run = CliRunner().invoke(
        app,
        [*command, "--help"],
        prog_name="nn2rules",
        env={"COLUMNS": str(_WIDTH), "TERMINAL_WIDTH": str(_WIDTH), "NO_COLOR": "1"},
    )
    if run.exit_code != 0:
        raise RuntimeError(f"nn2rules {' '.join(command)} --help: {run.output}")
    lines = [line.rstrip() for line in run.output.strip("\n").splitlines()]
    return "\n".join(["```text", *lines, "```"])
