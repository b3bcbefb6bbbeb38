"""What all commands share: the app, errors as one sentence, the progress bar.

Exit codes: 0 done, 1 differs or does not hold, 2 bad input, 3 a limit came first, 130
interrupted.
"""

import inspect
import re
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import (
    AbstractContextManager,
    closing,
    contextmanager,
    redirect_stdout,
    suppress,
)
from functools import wraps
from types import FrameType
from typing import Annotated, Any, TypeVar

import typer
from rich.console import Console
from rich.markup import escape
from typer.core import TyperCommand, TyperGroup

import nn2rules
from nn2rules import cli
from nn2rules.cli.options import OUTPUT, Workers, expanded, flag
from nn2rules.cli.output import Visible, drop, visible
from nn2rules.engine import LogProgress, TerminalProgress
from nn2rules.errors import BudgetExceededError, Nn2RulesError, Nn2RulesWarning
from nn2rules.extraction import other_network
from nn2rules.network import Network
from nn2rules.rules import Description, RuleList


def _plain_message(message: str) -> str:
    """Return what is wrong with an option in plain words.

    Typer takes its messages from Click or from Pydantic, by its version.
    """
    for pattern, replacement in _PLAIN:
        message = re.sub(pattern, replacement, message)
    return visible(message)


_PLAIN = (
    ("Value error, ", ""),
    (r"Input should be a valid integer\b.*", "expected a whole number"),
    (r"Input should be a valid number\b.*", "expected a number"),
    (r"('.*') is not a valid int(eger)?\.", r"\1 is not a whole number"),
    (r"('.*') is not a valid float\.", r"\1 is not a number"),
)


@contextmanager
def _plain_messages() -> Iterator[None]:
    """Say in plain words what is wrong in the arguments of a command."""
    try:
        yield
    except Exception as error:
        if hasattr(error, "format_message"):  # Typer may bring a Click of its own
            error.message = _plain_message(error.message or "")  # type: ignore[attr-defined]
        raise


def _keep_brackets(command: Any) -> None:
    """Let Rich print brackets in help texts, and not take them for styles.

    Typer creates commands and options for each use, so no text is escaped twice.
    """
    if command.rich_markup_mode != "rich":  # if the user turned Rich off
        return
    command.help, command.epilog = (
        escape(command.help or ""),
        escape(command.epilog or ""),
    )
    for parameter in command.params:
        parameter.help = escape(getattr(parameter, "help", None) or "")


class _PlainHelp:
    """What the help of a single command and of all commands have in common."""

    help_panel: str | None = None

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        _keep_brackets(self)

    def make_context(self, *args: Any, **options: Any) -> Any:
        """Return the context."""
        with _plain_messages():
            return super().make_context(*args, **options)  # type: ignore[misc]

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, without types that say nothing to a user."""
        parameters: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for parameter in parameters:
            if parameter.param_type_name == "argument":  # MODEL, and not MODEL <path>
                parameter.display_type_rich = _no_type
            elif getattr(parameter, "is_flag", False) and parameter.metavar is None:
                parameter.metavar = ""
            if parameter.name == "help":
                parameter.rich_help_panel = self.help_panel
                parameter.help = "Show this help and exit."
        return parameters


def _no_type(ctx: Any) -> None:
    """Return that a type is not shown."""


class Command(_PlainHelp, TyperCommand):
    """One command."""

    help_panel = OUTPUT

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the usage: MODEL RULES [OPTIONS]."""
        options, *arguments = super().collect_usage_pieces(ctx)
        return [*(argument.strip("{}") for argument in arguments), options]


class Group(_PlainHelp, TyperGroup):
    """All commands, in the order of `COMMANDS` of this package."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        with _plain_messages():
            return super().invoke(ctx)

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the commands, in the order of use."""
        modules = [module.__name__.rpartition(".")[2] for module in cli.COMMANDS]
        names = [name.replace("_", "-") for name in modules]
        return sorted(super().list_commands(ctx), key=names.index)


app = typer.Typer(
    cls=Group,
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    epilog="Exit codes: 0 done, 1 differs or does not hold, 2 bad input, 3 a limit "
    "came first, 130 interrupted.",
)


class VisibleConsole(Console):
    """A console that escapes control characters; see `Visible`."""

    def print(self, *objects: Any, **options: Any) -> None:
        """Print texts, without control characters, and anything else Rich can show."""
        shown = (visible(each) if isinstance(each, str) else each for each in objects)
        super().print(*shown, **options)

    def on_broken_pipe(self) -> None:
        """Print nothing more if nobody reads it; the command continues."""
        drop(sys.stderr)


stderr = VisibleConsole(stderr=True, highlight=False, markup=False, soft_wrap=True)

Function = TypeVar("Function", bound=Callable[..., None])


QuietOption = Annotated[
    bool, flag("--quiet", "Print no notes and no progress bar.", OUTPUT)
]


def command(example: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Turn a function into a command, with an example below its help.

    It gets an option for each field of the `ModelOptions`, `Workers` or `Limits` that
    it takes.
    """

    def register(function: Callable[..., None]) -> Callable[..., None]:
        paragraphs = (inspect.getdoc(function) or "").split("\n\n")
        decorate = app.command(
            cls=Command,
            help="\n\n".join(" ".join(text.split()) for text in paragraphs),
            epilog=f"Example: nn2rules {example}",
        )
        return decorate(plain_errors(expanded(function)))

    return register


def plain_errors(command: Function) -> Function:
    """Turn the errors of a command, and Ctrl-C, into one sentence and an exit code.

    Warnings become notes. The command gets another option, `--quiet`.
    """

    @wraps(command)
    def wrapped(*args: Any, quiet: bool = False, **kwargs: Any) -> None:
        stderr.quiet = False
        try:
            stderr.quiet = quiet
            with _remembered(), _warnings_as_notes(), _visible_output():
                try:
                    command(*args, **kwargs)
                finally:  # a closed pipe must be noticed before the exit code
                    sys.stdout.flush()
        except Nn2RulesError as error:
            stderr.quiet = False
            stderr.print(f"error: {error}")
            code = 3 if isinstance(error, BudgetExceededError) else 2
            raise typer.Exit(code) from None
        except KeyboardInterrupt:
            with suppress(OSError):  # the pipe may be closed
                sys.stdout.flush()
            stderr.quiet = False
            stderr.print("interrupted")
            raise typer.Exit(130) from None
        except OSError as error:
            drop(sys.stdout)
            stderr.quiet = False
            stderr.print(f"error: the output cannot be written: {error.strerror}")
            raise typer.Exit(2) from None

    _add_option(wrapped, "quiet", QuietOption)
    return wrapped  # type: ignore[return-value]


def _visible_output() -> AbstractContextManager[Any]:
    """Print everything through `Visible`."""
    return redirect_stdout(Visible(sys.stdout))


def _add_option(function: Callable[..., None], name: str, kind: Any) -> None:
    """Add an option to the signature of a function."""
    signature = inspect.signature(function)
    option = inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=False, annotation=kind
    )
    function.__annotations__ = {**function.__annotations__, name: kind}
    function.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[*signature.parameters.values(), option]
    )


_interrupted = False


@contextmanager
def _remembered() -> Iterator[None]:
    """Remember that Ctrl-C was pressed, and end the command even if that gets lost.

    Libraries catch a KeyboardInterrupt, as scikit-learn does while it trains, or turn
    it into another error, and callbacks from C, as those of the compiler, lose it.
    `progress_bar` checks, too.
    """
    global _interrupted  # noqa: PLW0603  a signal belongs to the whole process
    _interrupted = False
    if threading.current_thread() is not threading.main_thread():
        yield  # signals come to the main thread only
        return

    def interrupt(_signal: int, _frame: FrameType | None) -> None:
        global _interrupted  # noqa: PLW0603
        _interrupted = True
        raise KeyboardInterrupt

    def unraisable(lost: Any) -> None:
        if not issubclass(lost.exc_type, KeyboardInterrupt):
            sys.__unraisablehook__(lost)

    before = signal.getsignal(signal.SIGINT)
    if before is not signal.SIG_IGN:  # nohup jobs continue regardless of Ctrl-C
        signal.signal(signal.SIGINT, interrupt)
    sys.unraisablehook, hook = unraisable, sys.unraisablehook
    try:
        yield
    except Exception:
        if _interrupted:
            raise KeyboardInterrupt from None
        raise
    finally:
        signal.signal(signal.SIGINT, before)
        sys.unraisablehook = hook
    if _interrupted:
        raise KeyboardInterrupt


def _notice_interrupt() -> None:
    """Interrupt again, if the first time was lost."""
    if _interrupted:
        raise KeyboardInterrupt


@contextmanager
def _warnings_as_notes() -> Iterator[None]:
    """Print warnings of nn2rules as notes; leave those of other libraries alone."""
    with warnings.catch_warnings():
        show = warnings.showwarning
        warnings.simplefilter("always", Nn2RulesWarning)

        def note(message: Any, category: type[Warning], *args: Any, **kw: Any) -> None:
            if issubclass(category, Nn2RulesWarning):
                stderr.print(f"note: {message}")
            else:
                show(visible(str(message)), category, *args, **kw)

        warnings.showwarning = note
        yield


class ProgressBar:
    """Shows progress, and notices Ctrl-C.

    A bar on a terminal, elsewhere a line from time to time.
    """

    def __init__(self) -> None:
        self._bar, self._lines = TerminalProgress(stderr), LogProgress(stderr)

    def __call__(self, what: str, share: float) -> None:
        """Show what is being done, and which share of it is done."""
        _notice_interrupt()
        (self._bar if stderr.is_terminal else self._lines)(what, share)

    def print(self, text: str) -> None:
        """Print a result at once, while the work continues.

        The bar is paused: while it is shown, standard output goes to standard error.
        """
        self._bar.pause()
        print(text, flush=True)

    def close(self) -> None:
        """Remove the bar."""
        self._bar.close()


@contextmanager
def progress_bar() -> Iterator[ProgressBar]:
    """Show progress: a bar on a terminal, elsewhere a line from time to time."""
    with closing(ProgressBar()) as progress:
        yield progress


@contextmanager
def working(workers: Workers) -> Iterator[ProgressBar]:
    """Work where the user asks for it, and show progress."""
    with workers.at_work(), progress_bar() as progress:
        yield progress


@app.callback(invoke_without_command=True)
def root(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = (
        False
    ),
) -> None:
    """Convert a neural network for tabular data into provably equivalent rules."""
    if version:
        print(f"nn2rules {nn2rules.__version__}")
        raise typer.Exit


def note_other_network(rules: Description, network: Network) -> None:
    """Note that a description was extracted from another network."""
    if difference := other_network(rules, network):
        what = "rules were" if isinstance(rules, RuleList) else "scorecard was"
        stderr.print(f"note: the {what} extracted from another network: {difference}")
