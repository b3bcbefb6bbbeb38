"""Run the peers that have no results yet."""

import argparse
import json
import sys
import time
from itertools import groupby
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from peers import registry, report, running
from peers.tables import REPETITIONS, TABLES, load_tables


def main() -> None:
    parser = argparse.ArgumentParser(prog="peers", description=__doc__)
    known = [*registry.PEERS, *registry.SUMMARIES]
    for option, names in (("peers", known), ("tables", list(TABLES))):
        parser.add_argument(
            f"--{option}",
            type=lambda text, names=names: _chosen(text, names),
            default=names,
            help=f"some of {', '.join(names)}, separated by commas",
        )
    parser.add_argument(
        "--repetitions",
        type=int,
        default=REPETITIONS,
        help="1 leaves out the second repetition of the folds of short tables",
    )
    parser.add_argument("--results", type=Path, default=running.RESULTS)
    parser.add_argument(
        "--again", choices=["all", "errors"], help="forget what these peers did before"
    )
    parser.add_argument(
        "--facts", action="store_true", help="only write what is known of the tables"
    )
    options = parser.parse_args()
    if options.facts:
        facts = {table.name: running.facts_of(table) for table in load_tables()}
        report.FACTS.write_text(json.dumps(facts, indent=1) + "\n", "utf-8")
        return
    if options.again:
        running.forget(
            options.results, options.peers, errors_only=options.again == "errors"
        )
    tables = load_tables(options.tables)
    todo = running.jobs(tables, options.peers, options.repetitions)
    ran = running.run(todo, options.results)
    started = time.perf_counter()
    for (peer, table), some in groupby(ran, key=lambda pair: _place(pair[0])):
        lines = [line for _, line in some]
        errors = sum("error" in line for line in lines)
        spent, started = time.perf_counter() - started, time.perf_counter()
        failed = f", {errors} failed" if errors else ""
        print(f"{peer:18} {table:14} {len(lines)} folds {spent:7.1f} s{failed}")
        sys.stdout.flush()


def _place(job: running.Job) -> tuple[str, str]:
    return job.peer, job.table


def _chosen(text: str, names: list[str]) -> list[str]:
    chosen = text.split(",")
    unknown = [name for name in chosen if name not in names]
    if unknown:
        raise argparse.ArgumentTypeError(
            f"{unknown[0]!r} is unknown; expected some of {', '.join(names)}"
        )
    return chosen


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("stopped; the next run continues here")
