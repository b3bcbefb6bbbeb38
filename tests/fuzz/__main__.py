"""Ask random questions for some minutes; stop at the first wrong answer.

    PYTHONPATH=tests python -m fuzz --minutes 10 [--seed 7] [--only search]

Every question follows from the seed, its kind and its round, which are printed with a
wrong answer; ``--round`` asks that one alone.
"""

import argparse
import secrets
import sys
import time
import traceback
from collections import Counter

import numpy as np

from fuzz import KINDS


def main() -> int:
    """Ask, count, and report; the exit status is 1 after a wrong answer."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(10**6))
    parser.add_argument("--only", choices=KINDS, action="append")
    parser.add_argument("--round", type=int, help="ask this one alone")
    parser.add_argument("--keep-going", action="store_true", help="count wrong answers")
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    rounds, answers, wrong = Counter(), Counter(), Counter()
    until = time.monotonic() + 60 * options.minutes
    number = options.round or 0
    while number == (options.round or 0) or (
        options.round is None and time.monotonic() < until
    ):
        for name in options.only or KINDS:
            rng = np.random.default_rng([options.seed, *name.encode(), number])
            try:
                answers[name] += KINDS[name](rng)
            except Exception:
                wrong[name] += 1
                again = f"--only {name} --seed {options.seed} --round {number}"
                print(f"\n{name} is wrong: PYTHONPATH=tests python -m fuzz {again}\n")
                if not options.keep_going:
                    traceback.print_exc(file=sys.stdout)
                    return 1
            rounds[name] += 1
        number += 1
    for name, count in rounds.items():
        print(
            f"{name:9} {count:9,} rounds {answers[name]:11,} answers {wrong[name]} wrong"
        )
    return 1 if wrong else 0


sys.exit(main())
