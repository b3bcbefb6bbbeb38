"""Run the benchmarks and keep their results as text.

    python benchmarks/run.py [lists] [support] [chess] [wide] [paper] …

Ratios are taken within one run, so that they mean the same on any machine; seconds are
those of the machine that ran them. `benchmarks/results.md` is rewritten, section by
section, and the figures of growth and reach go to `docs/explanation`.
"""

import re
import sys
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import bench_adult
import bench_audit
import bench_compare
import bench_engine
import bench_explain
import bench_export
import bench_forms
import bench_headline
import bench_models
import bench_monitor
import bench_numbers
import bench_predict
import bench_reach
import bench_readable
import bench_regions
import bench_rules
import bench_spread
from peers import report

SECTIONS = {
    "headline": bench_headline.headline,
    "lists": bench_rules.lists,
    "support": bench_rules.support,
    "chess": bench_rules.chess,
    "wide": bench_rules.wide,
    "paper": bench_engine.paper,
    "table": bench_engine.table,
    "oracle": bench_engine.oracle,
    "growth": bench_engine.growth,
    "predict": bench_predict.predict,
    "monitor": bench_monitor.monitor,
    "models": bench_models.models,
    "numbers": bench_numbers.numbers,
    "adult": bench_adult.adult,
    "reach": bench_reach.reach,
    "forms": bench_forms.forms,
    "regions": bench_regions.regions,
    "readable": bench_readable.readable,
    "overfitted": bench_readable.overfitted,
    "compare": bench_compare.compare,
    "explain": bench_explain.explain,
    "audit": bench_audit.audit,
    "export": bench_export.export,
    "spread": bench_spread.spread,
    **{name: partial(report.section, name) for name in report.SECTIONS},
}
RESULTS = Path(__file__).parent / "results.md"


def main(names: list[str]) -> None:
    """Run the sections called `names`, or all, and write their results."""
    unknown = [name for name in names if name not in SECTIONS]
    if unknown:
        sys.exit(f"there is no section {unknown[0]!r}; there are {', '.join(SECTIONS)}")
    kept = _read()
    for name in names or SECTIONS:
        print(f"## {name}\n", flush=True)
        text = SECTIONS[name]()
        print(f"{text}\n", flush=True)
        kept[name] = text
    parts = [f"## {name}\n\n{kept[name]}\n" for name in SECTIONS if name in kept]
    RESULTS.write_text("\n".join(["# Benchmark results\n", *parts]), encoding="utf-8")


def _read() -> dict[str, str]:
    """Return the sections of the last results, so that one can be run alone."""
    if not RESULTS.exists():
        return {}
    text = RESULTS.read_text(encoding="utf-8")
    parts = re.split(r"^## (.+)\n", text, flags=re.MULTILINE)[1:]
    return {name: body.strip() for name, body in zip(parts[::2], parts[1::2])}


if __name__ == "__main__":
    main(sys.argv[1:])
