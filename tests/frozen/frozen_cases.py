"""What is frozen: networks, the questions asked about them, and how outputs are stored.

Only the public API is used, so the cases outlive any change of the modules behind it.
Nothing depends on a clock: effort is limited in boxes, samples and rules, never in
seconds. One case in full, for instance to compare two versions with diff::

    PYTHONPATH=tests python -m frozen.frozen_cases car "rules: set"
"""

import hashlib
import io
import json
import math
import re
import sys
import tempfile
import warnings
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator

import nn2rules
from nn2rules import Budget, Domain, Feature, Layer, Network, RuleList, claims, datasets
from nn2rules.space import Binned, Grouped, Intervals, Listed, Range

Case = Callable[[], Any]
Cases = Iterator[tuple[str, Case]]

FORMATS = (
    *("csv", "dmn", "js", "json", "latex", "markdown", "onnx", "pandas", "pmml"),
    *("polars", "prolog", "python", "sql", "xlsx"),
)
FORMAT_OPTIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("python", {"unknown": "default", "uncovered": "error"}),
    ("dmn", {"hit_policy": "any"}),
    ("dmn", {"hit_policy": "unique"}),
    ("onnx", {"inputs": "codes"}),
    ("sql", {"dialect": "postgres", "table": "customers"}),
    ("sql", {"dialect": "sqlite", "only": "rule"}),
)
SLOW = (
    *("list, no rows", "set", "set of one class", "paper's form", "paper's engine"),
    *("paper's engine, approximate", "at most three", "fidelity", "no effort"),
    *("another seed", "impossible inputs", "impossible by function"),
)
"""Rules that are left out of networks with a large table of inputs."""

LONGEST = 250
"""Longer outputs are stored as a digest and their first characters."""

HEAD = 60
VOLATILE = ("version", "seconds")


class Parts(dict[str, Any]):
    """The parts of one output, which are stored one by one."""


@dataclass(frozen=True)
class Subject:
    """A network with rows to ask about, and the number of threads that answer."""

    name: str
    network: Network
    rows: list[dict[str, Any]]
    labels: list[Any]
    n_jobs: int = 1

    @property
    def domain(self) -> Domain:
        """The features of the network."""
        return self.network.domain

    @property
    def is_endless(self) -> bool:
        """Whether rules for every input would be too many."""
        return self.domain.n_numbers is None or self.domain.n_numbers > 15_000

    @property
    def is_quick(self) -> bool:
        """Whether the table of all inputs is small."""
        return not self.is_endless and self.domain.n_inputs < 10_000

    @property
    def boxes(self) -> dict[str, Any]:
        """Options of a question that may take a long search."""
        return self.quiet | {"budget": Budget(boxes=300)}

    @property
    def quiet(self) -> dict[str, Any]:
        """Options of every question."""
        return {"n_jobs": self.n_jobs, "progress": False}

    @property
    def impossible(self) -> list[dict[str, Any]]:
        """The first value of one feature never occurs with the last of another."""
        listed = [f for f in self.domain.features if not isinstance(f, Range)]
        first, last = listed[0], listed[-1]
        return [{first.name: [first.values[0]], last.name: [last.values[-1]]}]

    def extract(self, *, rows: bool = True, **options: Any) -> RuleList:
        """Extract rules, for the rows unless they are to be for the domain alone."""
        if rows:
            options = {"data": self.rows, "labels": self.labels} | options
        if self.is_endless:
            options = {"max_rules": 8, "engine": "search"} | options
        return nn2rules.extract(self.network, **options, **self.quiet)

    @cached_property
    def rules(self) -> RuleList:
        """The rules that most other questions are about."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self.extract(scope="domain")

    @cached_property
    def selected(self) -> RuleList:
        """Rules that are only to cover the rows."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self.extract(scope="support", max_rules=None)


# --- the networks


def subject(name: str, n_jobs: int = 1) -> Subject:
    """Return the subject called `name`, one of `SUBJECTS`."""
    if name not in datasets.NETWORKS:
        return _drawn(name, n_jobs)
    network = nn2rules.load(datasets.network_file(name))
    data = datasets.load(name).train
    return Subject(
        name, network, list(data.rows[:100]), list(data.labels[:100]), n_jobs
    )


def _letters(name: str, size: int, **options: Any) -> Feature:
    return Feature(name, tuple("abcdefgh"[:size]), **options)


_AGE = Feature.real("age", 17, 90, whole=True, special=[999], missing=True)
_ROOMS = Feature.real("rooms", 0, 12, whole=True)
_AMOUNT = Feature.real("amount", -0.5, 2000.0, missing=True)
_RATE = Feature.real("rate", 0, 1, special=[-1])
_JOB = Feature.grouped(
    "job", [["clerk", "cook"], ["judge"], ["nurse", None], []], other=3
)
_BINS = Feature.bins("income", (1000.0, 2500.5, 4000.0), missing=True)
_YEARS = Feature.bins("years", (1, 5, 10), whole=True)
_SIZE = Feature("size", ("small", "medium", "big"), ordered=True)
_TOWN = Feature("town", ("Bonn", "Köln", "other"), other="other")
_LEVEL = Feature("level", (3, 1, 2, None), ordered=True)
_FLAG = Feature("flag", (False, True), labels=("off", "on"))

DRAWN: dict[str, dict[str, Any]] = {
    "categories": {
        "features": [
            _letters(n, s) for n, s in zip("uvwxy", (2, 3, 4, 3, 2), strict=True)
        ]
    },
    "bins and order": {"features": [_BINS, _YEARS, _SIZE, _letters("kind", 3)]},
    "groups and others": {"features": [_JOB, _TOWN, _SIZE, _letters("kind", 4)]},
    "three classes": {
        "features": [_SIZE, _TOWN, _YEARS, _letters("kind", 5)],
        "classes": ("low", "middle", "high"),
        "units": (5, 4),
    },
    "sigmoid": {
        "features": [_letters("kind", 4), _SIZE, _BINS, _letters("place", 3)],
        "activation": "sigmoid",
        "threshold": 0.3,
    },
    "whole ranges": {"features": [_AGE, _ROOMS, _letters("kind", 3)]},
    "real ranges": {"features": [_AMOUNT, _RATE, _letters("kind", 2)]},
    "all kinds": {
        "features": [_AGE, _AMOUNT, _JOB, _SIZE, _BINS],
        "classes": ("no", "ask", "yes"),
        "activation": "sigmoid",
        "units": (3,),
    },
    "ties": {"features": [_letters(n, 3) for n in "pqrst"], "whole": True},
    "constant": {"features": [_SIZE, _LEVEL, _FLAG], "scale": 0.0},
    "numbers as words": {
        "features": [_LEVEL, _FLAG, _letters("kind", 3), _SIZE],
        "classes": (False, True),
        "activation": "leaky_relu",
    },
    "many inputs": {"features": [_letters(f"f{i}", 3) for i in range(10)]},
}
"""How the random networks are drawn."""

SUBJECTS = (*datasets.NETWORKS, *DRAWN)


def _drawn(name: str, n_jobs: int) -> Subject:
    rng = np.random.default_rng(list(DRAWN).index(name))
    network = draw_network(rng, **DRAWN[name])
    rows = [draw_row(rng, network.domain) for _ in range(80)]
    labels = network.predict(rows).tolist()
    labels[::9] = [network.classes[0]] * len(labels[::9])  # the network is not perfect
    return Subject(name, network, rows, labels, n_jobs)


def draw_network(
    rng: Generator,
    features: Sequence[Feature],
    classes: Sequence[Any] = ("no", "yes"),
    *,
    units: Sequence[int] = (4, 3),
    activation: str = "relu",
    threshold: float = 0.5,
    whole: bool = False,
    scale: float = 1.0,
) -> Network:
    """Draw weights of three decimals, or small whole ones, many of them zero."""
    domain = Domain(tuple(features))

    def numbers(*shape: int) -> Any:
        if whole:
            return rng.integers(-1, 2, size=shape).astype(float)
        return np.round(scale * 2 * rng.normal(size=shape), 3)

    widths = [int(domain.offsets[-1]), *units, 1 if len(classes) == 2 else len(classes)]
    names = [activation] * len(units) + ["sigmoid" if widths[-1] == 1 else "softmax"]
    layers = [
        [numbers(n_in, n_out), numbers(n_out), name]
        for n_in, n_out, name in zip(widths, widths[1:], names, strict=False)
    ]
    weights, bias, _ = layers[0]
    for feature, start in zip(domain.features, domain.offsets, strict=False):
        if isinstance(feature, Range):  # the prediction flips within the range
            low, high = feature.limits
            weights[start] *= 4 / (high - low)
            bias -= weights[start] * (low + high) / 2
    made = tuple(Layer(*layer) for layer in layers)
    return Network(domain, made, classes, threshold)


def draw_row(rng: Generator, domain: Domain) -> dict[str, Any]:
    """Draw a row; numbers have at most two decimals."""
    return {feature.name: _draw_cell(rng, feature) for feature in domain.features}


def _draw_cell(rng: Generator, feature: Feature) -> Any:
    code = int(rng.integers(len(feature)))
    value = feature.values[code]
    if isinstance(feature, Range) and (code == 0 or rng.random() < 0.8):
        low, high = feature.limits
        number = round(float(rng.uniform(low, high)), 2)
        return int(number) if feature.whole else number
    if isinstance(feature, Binned) and value is not None:
        edge = feature.edges[int(rng.integers(len(feature.edges)))]
        return edge + int(rng.integers(-1, 2))
    if isinstance(feature, Grouped):
        words = [word for group in feature.groups for word in group]
        return words[int(rng.integers(len(words)))]
    return value


# --- the questions


def cases(of: Subject) -> Cases:
    """Yield the names of all cases of a subject, and what answers them."""
    return chain(
        _rules_cases(of),
        _reading_cases(of),
        _check_cases(of),
        _verify_cases(of),
        _explain_cases(of),
        _compare_cases(of),
        _audit_cases(of),
        _export_cases(of),
    )


def _rules_cases(of: Subject) -> Cases:
    """Extract rules in every form and scope, by every engine, with every option."""
    options: dict[str, dict[str, Any]] = {
        "list": {"scope": "domain"},
        "list, no rows": {"rows": False},
        "set": {"form": "set", "scope": "domain"},
        "set of one class": {
            "form": "set",
            "scope": "domain",
            "target": of.network.classes[-1],
        },
        "set for rows": {"scope": "support"},
        "list for rows": {"scope": "support", "form": "list"},
        "set for rows, by search": {"scope": "support", "engine": "search"},
        "list by search": {"scope": "domain", "engine": "search", "max_rules": 12},
        "set by search": {
            "scope": "domain",
            "form": "set",
            "engine": "search",
            "max_rules": 12,
        },
        "paper's form": {"form": "paper", "max_rules": None},
        "paper's engine": {
            "form": "paper",
            "engine": "paper",
            "rows": False,
            "max_rules": None,
        },
        "paper's engine, approximate": {
            "form": "paper",
            "engine": "paper",
            "approximate": "soft-binary",
            "max_rules": None,
        },
        "at most three": {"scope": "domain", "max_rules": 3},
        "fidelity": {"scope": "domain", "fidelity": 0.9, "max_rules": None},
        "no effort": {"scope": "domain", "effort": 0},
        "another seed": {"scope": "domain", "seed": 7},
        "impossible inputs": {"scope": "domain", "impossible": of.impossible},
        "impossible by function": {
            "scope": "domain",
            "impossible": lambda rows: [row == rows[0] for row in rows],
            "rows": False,
        },
        "rows to test": {
            "scope": "support",
            "data": of.rows[:-20],
            "labels": of.labels[:-20],
            "test": of.rows[-20:],
        },
        "budget of boxes": {
            "scope": "domain",
            "engine": "search",
            "max_rules": None,
            "budget": Budget(boxes=50),
        },
    }
    for name, chosen in options.items():
        is_small = of.is_quick or of.domain.has_ranges
        if name in SLOW and not is_small:
            continue
        yield f"rules: {name}", lambda chosen=chosen: of.extract(**chosen)


def _reading_cases(of: Subject) -> Cases:
    """Ask rules for everything that they tell."""
    for kind, rules in (("domain", of.rules), ("rows", of.selected)):
        asked: dict[str, Case] = {
            "all in words": lambda r=rules: r.text("all", width=120, verbose=True),
            "three in words": lambda r=rules: r.text(3, width=60),
            "sentences": lambda r=rules: [r.rule_text(rule) for rule in r],
            "warnings": lambda r=rules: list(r.warnings()),
            "frame": lambda r=rules: r.to_frame().to_csv(),
            "predictions": lambda r=rules: [
                r.predict(of.rows),
                r.apply(of.rows),
                r.support(of.rows),
            ],
            "curve": lambda r=rules: r.curve(of.rows, of.labels),
            "top": lambda r=rules: r.top(2),
            "sorted": lambda r=rules: r.sorted_by_support(of.rows),
            "reversed": lambda r=rules: r.take(range(len(r))[::-1]),
            "saved": lambda r=rules: _saved(r),
            "evaluation": lambda r=rules: nn2rules.evaluate(
                of.network, r, of.rows, of.labels, samples=500
            ),
            "evaluation, no labels": lambda r=rules: nn2rules.evaluate(
                of.network, r, of.rows, samples=0
            ),
        }
        for name, case in asked.items():
            yield f"rules for the {kind}: {name}", case


def _check_cases(of: Subject) -> Cases:
    short = {"samples": 500, "time": 0, "largest": 10_000}
    for kind, rules in (("domain", of.rules), ("rows", of.selected)):
        asked: dict[str, dict[str, Any]] = {
            "sample": short | {"largest": 1},
            "rows": short | {"rows": of.rows},
            "default": short | {"default": True},
            "impossible": short | {"impossible": of.impossible},
        }
        if of.is_quick:
            asked["search"] = short | {"largest": 1, "time": 3600}
        for name, options in asked.items():
            yield (
                f"check of rules for the {kind}: {name}",
                lambda r=rules, o=options: nn2rules.check(of.network, r, **o),
            )
        yield (
            f"check of wrong rules for the {kind}",
            lambda r=rules: nn2rules.check(of.network, _wrong(r), **short),
        )
        yield f"proofs of rules for the {kind}", lambda r=rules: _proved(of, r)


def _verify_cases(of: Subject) -> Cases:
    book = dict(enumerate(_claims(of), 1))
    first = dict(list(book.items())[1:4])
    options: dict[str, dict[str, Any]] = {
        "all inputs": {"count": True},
        "with rows": {"data": of.rows},
        "on rows": {"data": of.rows, "on": "rows"},
        "by search": {"engine": "search", "count": True},
        "impossible inputs": {"impossible": of.impossible},
    }
    if of.domain.n_inputs > 1000:
        options = {name: options[name] for name in ("all inputs", "on rows")}
    for number, claim in book.items():
        for name, chosen in options.items():
            yield (
                f"claim {number}, {name}: {claim}",
                lambda c=claim, o=chosen: nn2rules.verify(
                    of.network, c, **o, **of.boxes
                ),
            )
    yield "claims in a book", lambda: _book(of, first)
    for name, claim in (
        ("equivalent", claims.equivalent(of.rules)),
        ("equivalent, wrong", claims.equivalent(_wrong(of.rules))),
        ("subsumes", claims.subsumes(of.selected)),
    ):
        yield (
            f"claim {name}",
            lambda c=claim: nn2rules.verify(of.network, c, **of.boxes),
        )


def _claims(of: Subject) -> list[str]:
    """Return a claim of each kind, in words."""
    first, last = of.domain.features[0], of.domain.features[-1]
    low, high = of.network.classes[0], of.network.classes[-1]
    ordered = next((f for f in of.domain.features if f.ordered), first)
    rule = of.rules.rule_text(of.rules[0]) if len(of.rules) else f"never {high}"
    return [
        rule.split(" (")[0],
        f"never {low}",
        f"never {high} if {_condition(last)}",
        f"if {_condition(first)} then not {high}",
        f"independent of {first.name}",
        f"independent of {first.name}, {last.name}",
        f"increasing in {ordered.name}",
        f"decreasing in {ordered.name} toward {low}",
        f"probability of {high} between 0.05 and 0.95",
        f"probability of {low} between 0 and 1 if {_condition(last)}",
    ]


def _condition(feature: Feature) -> str:
    if isinstance(feature, Range):
        return f"{feature.name} > {sum(feature.limits) / 2:g}"
    if isinstance(feature, Intervals):
        return f"{feature.name} >= {feature.edges[0]:g}"
    value = feature.categories[-1]
    label = feature.values.index(value) if feature.labels else None
    shown = value if label is None else feature.labels[label]
    return f"{feature.name} = {'missing' if shown is None else shown}"


def _explain_cases(of: Subject) -> Cases:
    rows, names = _spread(of.rows, 4), of.domain.names
    ordered = [f.name for f in of.domain.features if f.ordered]
    ends = {
        (name, side): f"{name} is {side}"
        for name in ordered
        for side in ("low", "high")
    }
    options: dict[str, dict[str, Any]] = {
        "plain": {},
        "smallest reasons": {"reasons": 3, "smallest": True, "counterfactuals": False},
        "own values": {"widen": False, "reasons": 2},
        "by search": {"engine": "search", "reasons": 2},
        "immutable": {"immutable": [names[0]]},
        "increase": {"increase": ordered[:1], "decrease": ordered[1:2]},
        "costs": {"costs": {names[0]: 3, names[-1]: 0.5}},
        "forbidden": {"forbidden": _forbidden(of.domain.features[-1])},
        "impossible": {"impossible": of.impossible, "skip_invalid": True},
        "codes": {
            "reason_codes": ends | {name: f"see {name}" for name in names},
            "adverse": of.network.classes[0],
        },
        "rules": {"rules": of.rules},
        "rules for rows": {"rules": of.selected},
        "skipped": {
            "rows": [{**rows[0], names[0]: "never seen"}, rows[1]],
            "skip_invalid": True,
        },
        "unseen value": {"rows": {**rows[0], names[0]: "never seen"}},
    }
    for name, chosen in options.items():
        yield (
            f"explain: {name}",
            lambda o=chosen: nn2rules.explain(
                of.network, **({"rows": rows} | o), **of.boxes
            ),
        )
    yield "explain: one row", lambda: nn2rules.explain(of.network, rows[0], **of.boxes)


def _forbidden(feature: Feature) -> dict[str, Any]:
    if not isinstance(feature, Range):
        return {feature.name: [feature.values[0]]}
    low, high = feature.limits
    return {feature.name: [(low, (low + high) / 2)]}


def _compare_cases(of: Subject) -> Cases:
    other = _rounded(of.network)
    options: dict[str, dict[str, Any]] = {
        "table": {"new": other},
        "with rows": {"new": other, "data": of.rows},
        "search": {"new": other, "engine": "search"},
        "itself": {"new": of.network},
        "rules": {"new": of.rules},
        "wrong rules": {"new": _wrong(of.rules)},
        "rules for rows": {"new": of.selected},
        "where rules decide": {"new": of.selected, "covered_only": True},
        "other domain": {"new": _narrower(other)},
        "common": {"new": _narrower(other), "common": True},
        "common, by search": {
            "new": _narrower(other),
            "common": True,
            "engine": "search",
            "data": of.rows,
        },
    }
    for name, chosen in options.items():
        if "rules" in name and not (of.is_quick or of.domain.has_ranges):
            continue
        yield (
            f"compare: {name}",
            lambda o=chosen: nn2rules.compare(of.network, **o, **of.boxes),
        )


def _audit_cases(of: Subject) -> Cases:
    first = of.domain.names[0]
    groups = [{**row, "group": "AB"[i % 2]} for i, row in enumerate(of.rows[:40])]
    options: dict[str, dict[str, Any]] = {
        "plain": {},
        "protected": {"protected": [first], "labels": of.labels[:40], "fragile": 2},
        "group not seen": {"protected": ["group"], "data": groups},
        "by search": {"engine": "search", "data": of.rows[:20]},
        "impossible": {"impossible": of.impossible},
    }
    for name, chosen in options.items():
        yield (
            f"audit: {name}",
            lambda o=chosen: nn2rules.audit(
                of.network,
                **({"data": of.rows[:40]} | o),
                **(of.boxes | {"budget": Budget(boxes=50)}),
            ),
        )
    yield "influences", lambda: nn2rules.influences(of.network, of.rows)


def _export_cases(of: Subject) -> Cases:
    for kind, rules in (("domain", of.rules), ("rows", of.selected)):
        plain = [(name, {}) for name in FORMATS]
        for name, options in chain(plain, FORMAT_OPTIONS):
            if options.get("hit_policy") == "unique" and not of.is_quick:
                continue  # rules of many features are cut into too many pieces
            title = ", ".join([name, *map(str, options.values())])
            yield (
                f"export of rules for the {kind}: {title}",
                lambda r=rules, n=name, o=options: r.export(n, **o),
            )
    yield "export: unknown format", lambda: of.rules.export("fortran")


# --- what the questions need


def _spread(items: Sequence[Any], number: int) -> list[Any]:
    return list(items[:: max(1, len(items) // number)][:number])


def _wrong(rules: RuleList) -> RuleList:
    """Return rules without the first one: wrong wherever it was needed."""
    return rules.take(range(1, len(rules)))


def _rounded(network: Network) -> Network:
    """Return another network: the weights of this one, rounded, and a bias moved."""
    layers = [
        Layer(
            np.round(layer.weights, 1),
            layer.bias + 0.05,
            layer.activation,
            layer.slope,
        )
        for layer in network.layers
    ]
    return Network(network.domain, layers, network.classes, network.threshold)


def _narrower(network: Network) -> Network:
    """Return a network that does not know one of the values."""
    index, feature = next(
        (index, feature)
        for index, feature in enumerate(network.domain.features)
        if isinstance(feature, Listed)
    )
    keep = slice(1, None) if len(feature) > 2 else slice(None)
    narrow = Feature(
        feature.name,
        feature.values[keep],
        ordered=feature.ordered,
        other=feature.other,
        labels=feature.labels and feature.labels[keep],
    )
    features = list(network.domain.features)
    features[index] = narrow
    first, start = network.layers[0], int(network.domain.offsets[index])
    weights = first.weights
    if len(narrow) < len(feature):
        weights = np.delete(weights, start, axis=0)
    layers = [Layer(weights, first.bias, first.activation, first.slope)]
    domain = Domain(tuple(features))
    rest = network.layers[1:]
    return Network(domain, [*layers, *rest], network.classes, network.threshold)


def _saved(rules: RuleList) -> Any:
    """Save and load rules; return the text of the file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rules.json"
        rules.save(path)
        assert nn2rules.load(path) == rules
        return json.loads(path.read_text("utf-8"))


def _proved(of: Subject, rules: RuleList) -> Any:
    """Write proofs and follow them."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rules.proof"
        number = nn2rules.write_proofs(
            of.network, rules, path, budget=Budget(boxes=20_000)
        )
        report = nn2rules.check(
            of.network, rules, samples=100, time=0, largest=1, proofs=path
        )
        return [number, path.read_bytes(), report]


def _book(of: Subject, book: Mapping[int, str]) -> Any:
    """Verify the claims of a file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "claims.json"
        entries = [{"name": f"c{n}", "claim": claim} for n, claim in book.items()]
        path.write_text(json.dumps(entries), "utf-8")
        found = claims.read_claims(path)
    return nn2rules.verify(of.network, found, count=True, **of.boxes)


# --- how outputs are stored


def record(name: str, n_jobs: int = 1) -> dict[str, Any]:
    """Return everything that is frozen of a subject, by case."""
    return {title: stored(full) for title, full in outputs(subject(name, n_jobs))}


def outputs(of: Subject) -> Iterator[tuple[str, Any]]:
    """Yield the name and the full output of each case."""
    for title, case in cases(of):
        yield title, output(case)


def output(case: Case) -> Any:
    """Return what a case gives, as plain values; refusals and warnings belong to it."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always", nn2rules.Nn2RulesWarning)
        try:
            found = plain(case())
        except nn2rules.BudgetExceededError as error:
            found = Parts(refused=_refusal(error), rules=plain(error.rules))
        except nn2rules.Nn2RulesError as error:
            found = Parts(refused=_refusal(error))
    told = [w for w in heard if issubclass(w.category, nn2rules.Nn2RulesWarning)]
    if told:
        lines = [f"{w.category.__name__}: {w.message}" for w in told]
        found = Parts(warnings=lines, output=found)
    return found


def _refusal(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def plain(value: Any) -> Any:
    """Return a result as JSON has it, with its text and its HTML beside its values."""
    match value:
        case RuleList():
            return _three(json.loads(value.export("json")), value)
        case nn2rules.Verdict():
            is_few = value.domain is None or value.domain.n_inputs < 10_000
            broken = value.rules if value.status == "refuted" and is_few else None
            shown = None if broken is None else broken.export("json")
            return Parts(_three(value.to_dict(), value), rules=plain(shown))
        case np.ndarray():
            return plain(value.tolist())
        case bytes():
            return _members(value)
        case str():
            return _scrubbed(value)
        case Mapping():
            found = {str(key): plain(one) for key, one in value.items()}
            return {key: one for key, one in found.items() if key not in VOLATILE}
        case _ if hasattr(value, "to_json") and hasattr(value, "_repr_html_"):
            return _three(json.loads(value.to_json()), value)
        case list() | tuple():
            return [plain(one) for one in value]
        case None | bool() | int():
            return value
        case float():
            return value if math.isfinite(value) else str(value)
    return plain(str(value))


def _three(values: Any, result: Any) -> dict[str, Any]:
    html = plain(result._repr_html_())
    return Parts(
        values=plain(values),
        text=plain(str(result)),
        html=hashlib.sha256(html.encode()).hexdigest(),
    )


def _members(archive: bytes) -> Any:
    """Return the files of a workbook, or the digest of a model."""
    version = nn2rules.__version__.encode()
    if not zipfile.is_zipfile(io.BytesIO(archive)):
        return hashlib.sha256(archive.replace(version, b"VERSION")).hexdigest()
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        return {name: plain(opened.read(name).decode()) for name in opened.namelist()}


def _scrubbed(text: str) -> str:
    text = re.sub(r"[\d.]+ seconds", "N seconds", text)
    return text.replace(nn2rules.__version__, "VERSION")


def stored(full: Any) -> Any:
    """Return an output for a golden file: long parts as a digest behind their head."""
    if isinstance(full, Parts):
        return {key: stored(part) for key, part in full.items()}
    text = full if isinstance(full, str) else json.dumps(full, ensure_ascii=False)
    if len(text) > LONGEST:
        digest = hashlib.sha256(text.encode()).hexdigest()
        return f"{text[:HEAD]} … sha256 {digest}"
    return full.splitlines() if isinstance(full, str) and "\n" in full else full


if __name__ == "__main__":
    for title_, full_ in outputs(subject(sys.argv[1])):
        if title_ in sys.argv[2:] or len(sys.argv) == 2:
            shown = json.dumps(full_, indent=1, ensure_ascii=False)
            sys.stdout.write(f"# {title_}\n{shown}\n")
