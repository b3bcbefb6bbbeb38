"""Ask random questions for some minutes; stop at the first wrong answer.

PYTHONPATH=tests python -m fuzz --minutes 10 [--seed 7] [--only search]

A question is determined by the seed, its kind and its round. These are printed with a
wrong answer; --round repeats it.
"""

import argparse
import itertools
import secrets
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator

import numpy as np

from fuzz import KINDS


def main() -> int:
    """Ask, count, and report; the exit status is 1 after a wrong answer."""
    options = _options()
    print(f"seed {options.seed}", flush=True)
    rounds: Counter[str] = Counter()
    answers: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    for number in _rounds(options):
        for name in options.only or KINDS:
            rng = np.random.default_rng([options.seed, *name.encode(), number])
            rounds[name] += 1
            try:
                answers[name] += KINDS[name](rng)
            except Exception as error:
                wrong[name] += 1
                _report(options.seed, name, number, error)
        if wrong and not options.all:
            break
    for name, count in rounds.items():
        tally = f"{answers[name]:11,} answers, {wrong[name]:,} wrong"
        print(f"{name:20} {count:9,} rounds {tally}")
    return 1 if wrong else 0


def _options() -> argparse.Namespace:
    first, _, rest = (__doc__ or "").partition("\n")
    parser = argparse.ArgumentParser("python -m fuzz", description=first, epilog=rest)
    parser.add_argument("--minutes", type=float, default=1.0, help="how long to ask")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(10**6))
    parser.add_argument("--only", choices=KINDS, action="append", help="of this kind")
    parser.add_argument("--round", type=int, help="ask this one alone")
    parser.add_argument("--all", action="store_true", help="go on after a wrong answer")
    return parser.parse_args()


def _rounds(options: argparse.Namespace) -> Iterator[int]:
    """Yield the numbers of the rounds, until the time is over."""
    if options.round is not None:
        yield options.round
        return
    until = time.monotonic() + 60 * options.minutes
    for number in itertools.count():
        yield number
        if time.monotonic() > until:
            return


def _report(seed: int, name: str, number: int, error: Exception) -> None:
    """Print what is wrong, and how to see it again."""
    again = f"--only {name!r} --seed {seed} --round {number}"
    print(f"\nWRONG: {name}\nPYTHONPATH=tests python -m fuzz {again}\n", flush=True)
    traceback.print_exception(error, limit=-2, file=sys.stdout)


sys.exit(main())
