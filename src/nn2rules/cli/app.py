"""What all commands share: the app, errors as one sentence, the progress bar.

Exit codes: 0 done, 1 rules differ, 2 bad input, 3 limit exceeded, 130 interrupted.
"""

import inspect
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
from nn2rules.cli.options import SHOWING, Workers, expanded
from nn2rules.cli.output import Visible, drop, visible
from nn2rules.engine import LogProgress, TerminalProgress
from nn2rules.errors import BudgetExceededError, Nn2RulesError, Nn2RulesWarning
from nn2rules.extraction import other_network
from nn2rules.network import Network
from nn2rules.rules import RuleList


def _plain_flags(options: list[Any]) -> list[Any]:
    """Show flags as flags, without a type behind them."""
    for option in options:
        if getattr(option, "is_flag", False) and option.metavar is None:
            option.metavar = ""
    return options


def _keep_brackets(made: Any) -> None:
    """Let Rich print the brackets in the texts of a command, not take them for styles.

    Typer makes commands and options anew for each use, so no text is escaped twice.
    """
    if made.rich_markup_mode != "rich":  # where the user turned Rich off
        return
    made.help, made.epilog = escape(made.help or ""), escape(made.epilog or "")
    for option in made.params:
        option.help = escape(getattr(option, "help", None) or "")


@contextmanager
def _visible_mistakes() -> Iterator[None]:
    """Spell out what a terminal would obey where a message repeats what was typed."""
    try:
        yield
    except Exception as error:
        if hasattr(error, "format_message"):  # Typer may bring a Click of its own
            error.message = visible(error.message or "")  # type: ignore[attr-defined]
        raise


class Command(TyperCommand):
    """One command."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        _keep_brackets(self)

    def make_context(self, *args: Any, **options: Any) -> Any:
        """Return the context; mistakes in the arguments are made visible."""
        with _visible_mistakes():
            return super().make_context(*args, **options)

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the options."""
        return _plain_flags(super().get_params(ctx))


class Group(TyperGroup):
    """All commands, in the order of `COMMANDS` of this package."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        _keep_brackets(self)

    def make_context(self, *args: Any, **options: Any) -> Any:
        """Return the context; mistakes in the arguments are made visible."""
        with _visible_mistakes():
            return super().make_context(*args, **options)

    def invoke(self, ctx: Any) -> Any:
        """Run a command; a mistake in its name is made visible."""
        with _visible_mistakes():
            return super().invoke(ctx)

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the options that are not of a command."""
        return _plain_flags(super().get_params(ctx))

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the commands, the first to be used first."""
        known = super().list_commands(ctx)
        modules = [module.__name__.rpartition(".")[2] for module in cli.COMMANDS]
        names = [name.replace("_", "-") for name in modules]
        return sorted(known, key=names.index)


app = typer.Typer(
    cls=Group,
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    epilog="Exit codes: 0 done or holds, 1 differs or does not hold, 2 bad input, "
    "3 a limit came first, 130 interrupted.",
)


class VisibleConsole(Console):
    """A console that spells out what a terminal would obey; see `Visible`."""

    def print(self, *objects: Any, **options: Any) -> None:
        """Print texts, all of them visible, and what else Rich can show."""
        shown = (visible(each) if isinstance(each, str) else each for each in objects)
        super().print(*shown, **options)

    def on_broken_pipe(self) -> None:
        """Print nothing more where nobody reads it; the command works on."""
        drop(sys.stderr)


stderr = VisibleConsole(stderr=True, highlight=False, markup=False, soft_wrap=True)

Function = TypeVar("Function", bound=Callable[..., None])


QuietOption = Annotated[
    bool,
    typer.Option(
        "--quiet", help="No notes, and no progress bar.", rich_help_panel=SHOWING
    ),
]


def command(example: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make a function a command, with an example below its help.

    It gets all options of a `ModelOptions`, `Workers` or `Limits` that it takes.
    """

    def register(function: Callable[..., None]) -> Callable[..., None]:
        made = app.command(cls=Command, epilog=f"Example: nn2rules {example}")
        return made(plain_errors(expanded(function)))

    return register


def plain_errors(command: Function) -> Function:
    """Turn the errors of a command, and Ctrl-C, into one sentence and an exit code.

    Warnings become notes. The command gets an option more, `--quiet`.
    """

    @wraps(command)
    def wrapped(*args: Any, quiet: bool = False, **kwargs: Any) -> None:
        stderr.quiet = False
        try:
            stderr.quiet = quiet
            with _remembered(), _warnings_as_notes(), _visible_output():
                try:
                    command(*args, **kwargs)
                finally:  # a reader that is gone must not show after the exit code
                    sys.stdout.flush()
        except Nn2RulesError as error:
            stderr.quiet = False
            stderr.print(f"error: {error}")
            code = 3 if isinstance(error, BudgetExceededError) else 2
            raise typer.Exit(code) from None
        except KeyboardInterrupt:
            with suppress(OSError):  # the reader may be gone
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
    """Let all that is printed go through `Visible`."""
    return redirect_stdout(Visible(sys.stdout))


def _add_option(function: Callable[..., None], name: str, kind: Any) -> None:
    """Let a function seem to have an option more."""
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
    """Remember that Ctrl-C was pressed, and end with it whatever comes of it.

    Libraries catch a KeyboardInterrupt, as scikit-learn does while it trains, or turn
    it into another error, and callbacks from C, as those of the compiler, lose it.
    `progress_bar` asks, too.
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
    if before is not signal.SIG_IGN:  # a job that is to go on, whatever is pressed
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
    """Interrupt once more, if that was lost."""
    if _interrupted:
        raise KeyboardInterrupt


@contextmanager
def _warnings_as_notes() -> Iterator[None]:
    """Print our own warnings as notes; those of others go their own way."""
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
    """Shows how far the work is, and notices Ctrl-C.

    A bar on a terminal, elsewhere a line now and then.
    """

    def __init__(self) -> None:
        self._bar, self._lines = TerminalProgress(stderr), LogProgress(stderr)

    def __call__(self, what: str, share: float) -> None:
        """Show what is being done, and the share that is done."""
        _notice_interrupt()
        (self._bar if stderr.is_terminal else self._lines)(what, share)

    def print(self, text: str) -> None:
        """Print a result while the work goes on: at once, and not into the bar.

        While a bar is shown, standard output goes where the bar is, to standard error.
        """
        self._bar.pause()
        print(text, flush=True)

    def close(self) -> None:
        """Take the bar away."""
        self._bar.close()


@contextmanager
def progress_bar() -> Iterator[ProgressBar]:
    """Show how far the work is: a bar on a terminal, elsewhere a line now and then."""
    with closing(ProgressBar()) as progress:
        yield progress


@contextmanager
def working(workers: Workers) -> Iterator[ProgressBar]:
    """Let work be done where the user says, and show how far it is."""
    with workers.at_work(), progress_bar() as progress:
        yield progress


@app.callback(invoke_without_command=True)
def root(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = (
        False
    ),
) -> None:
    """Turn a trained neural network into rules that answer the same on every input."""
    if version:
        print(f"nn2rules {nn2rules.__version__}")
        raise typer.Exit


def note_other_network(rules: RuleList, network: Network) -> None:
    """Say on standard error that rules were extracted from another network."""
    if different := other_network(rules, network):
        stderr.print(
            f"note: this is not the network that the rules were extracted from: "
            f"{different}"
        )
