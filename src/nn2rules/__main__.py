"""The program ``nn2rules``, and ``python -m nn2rules``.

Ctrl-C must end it in the same way whenever it comes. While a command works, that is
`cli.app.plain_errors`' affair. Before and after, most of which is imports, there is
nothing to keep: the program says so and ends at once.
"""

import os
import signal
from types import FrameType


def main() -> None:
    """Run the command line."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:  # as nohup jobs have it
        signal.signal(signal.SIGINT, _stop)
    from nn2rules.cli import main as run

    try:
        run()
    except SystemExit as end:
        if end.code == _INTERRUPTED:  # do not wait for threads that still work
            os._exit(_INTERRUPTED)
        raise


def _stop(_signal: int, _frame: FrameType | None) -> None:
    os.write(2, b"interrupted\n")
    os._exit(_INTERRUPTED)


_INTERRUPTED = 130


if __name__ == "__main__":
    main()
