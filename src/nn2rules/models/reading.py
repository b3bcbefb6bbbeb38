"""Read a model: with ranges where it is linear in a column, else with listed numbers.

Nobody needs to declare ranges. Numeric columns are first read as ranges; those in which
the model is not linear, or cannot be read, get the numbers that occur instead. How a
network was read goes into its `origin`, and from there into certificates.
"""

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

import narwhals as nw
import numpy as np

from nn2rules.errors import (
    BinsWarning,
    DomainError,
    FormatError,
    Nn2RulesError,
    UnsupportedModelError,
)
from nn2rules.models.confirm import Reading, confirm
from nn2rules.models.features import domain_of, probed_bins, probed_ranges
from nn2rules.models.model_rows import RowMaker, distinguished, picked
from nn2rules.models.options import ModelOptions
from nn2rules.models.ranges import Sampled, curves_of, sampled
from nn2rules.models.source import Source, encoder_of
from nn2rules.models.tracing import FLOAT64
from nn2rules.network import Layer, Network
from nn2rules.space import (
    UNKNOWN,
    Domain,
    Feature,
    Intervals,
    Range,
    Rows,
    observed_columns,
    special_value_warnings,
)

_MANY = 30

_BASES = 8
_MOST_ROWS = 200_000


@dataclass(frozen=True)
class _Read:
    """A network that was read, and the rows that were made for it."""

    reading: Reading
    network: Network
    maker: RowMaker
    facts: Mapping[str, Any]
    n_made: int


@dataclass(frozen=True)
class _Nonlinear:
    """Features in which the model is not linear; empty if that is not known.

    `error` is another reason why a model cannot be read with ranges, if there is one.
    """

    names: tuple[str, ...] = ()
    error: Nn2RulesError | None = None

    def to_list(self, assumed: list[str]) -> list[str]:
        """Return the assumed ranges that must have listed numbers instead.

        Raises an error if the user declared one of them, or if there are none.
        """
        declared = [name for name in self.names if name not in assumed]
        if declared or not assumed:
            raise self.error or _not_linear(declared[0])
        return [*(self.names or assumed)]


class _CountingEncoder:
    """The user's `encode` function, which counts the rows it is called on.

    Attributes
    ----------
    n_rows : int
    """

    def __init__(self, encode: Callable[[Rows], Any]) -> None:
        self._encode, self.n_rows = encode, 0

    def __call__(self, rows: Rows) -> Any:
        """Encode rows."""
        is_list = isinstance(rows, list | tuple)
        self.n_rows += len(rows if is_list else nw.from_native(rows))
        return self._encode(rows)


def _with_count(encode: Callable[[Rows], Any] | None) -> _CountingEncoder | None:
    """Return `encode` with a count of its rows."""
    return None if encode is None else _CountingEncoder(encode)


def read_model(adapter: ModuleType, model: Any, options: ModelOptions) -> Network:
    """Return the network of a model that an adapter has prepared."""
    network = _read(adapter, model, options)
    if isinstance(options.domain, Domain):
        return network
    _hint_at_bins(network)
    network = _without_unused(network)
    _hint_at_special_values(network, options.data, options.domain or ())
    return network


def _read(adapter: ModuleType, model: Any, options: ModelOptions) -> Network:
    """Read a model with ranges where that is possible."""
    column_facts = adapter.columns(model, options.encode)
    encoder = _with_count(encoder_of(options.encode))
    listed: list[str] = []
    failed: Nn2RulesError | None = None
    while True:
        try:
            domain = domain_of(
                options.data,
                options.domain,
                column_facts,
                other=options.other,
                listed=listed,
                is_curved=options.is_curved,
            )
        except DomainError:
            if failed is None:
                raise
            raise failed from None
        attempts = _Attempts(
            adapter, model, options, sampled(domain, options.data), encoder
        )
        attempt = attempts.best()
        if isinstance(attempt, _Read):
            return _with_origin(attempt, options, column_facts, encoder, listed)
        try:
            listed += attempt.to_list(_assumed(domain, options))
        except Nn2RulesError:
            if failed is None or getattr(failed, "feature", None) is not None:
                raise
            raise failed from None
        failed = attempt.error


def _assumed(domain: Domain, options: ModelOptions) -> list[str]:
    """Return the ranges that the user did not declare."""
    if isinstance(options.domain, Domain):
        return []
    declared = options.domain or {}
    return [
        f.name
        for f in domain.features
        if isinstance(f, Range) and f.name not in declared
    ]


@dataclass(frozen=True)
class _Attempts:
    """The two ways to read a model: by layers, or by tables of the samples.

    By layers, a model is linear in a range by its code. But some steps that no layer
    can express may be linear all the same.
    """

    adapter: ModuleType
    model: Any
    options: ModelOptions
    sampled: Sampled
    encoder: _CountingEncoder | None

    def best(self) -> _Read | _Nonlinear:
        """Return the network that was read, or the features that prevent it."""
        nonlinear: list[_Nonlinear] = []
        for ranges in dict.fromkeys((self.sampled.ranges, frozenset[int]())):
            try:
                attempt = self._read(ranges)
            except (FormatError, UnsupportedModelError) as error:
                attempt = self._blamed(error)
            if isinstance(attempt, _Read):
                return attempt
            nonlinear.append(attempt)
        named = [each for each in nonlinear if each.names]
        return min(named, key=lambda each: len(each.names)) if named else nonlinear[0]

    def _blamed(self, error: Nn2RulesError) -> _Nonlinear:
        """Return the range that an error names, if it names one."""
        name = getattr(error, "feature", None)
        names = [self.sampled.real.names[index] for index in self.sampled.ranges]
        return _Nonlinear((name,) if name in names else (), error)

    def _read(self, ranges: frozenset[int]) -> _Read | _Nonlinear:
        options, real = self.options, self.sampled.real
        maker = RowMaker(self.sampled.domain, options.data, self.sampled.codes_of)
        is_stated = isinstance(options.domain, Domain)
        source = Source(
            self.sampled.domain, maker, self.encoder, is_stated, real, ranges
        )
        reading = self.adapter.read(self.model, source, options)
        facts = _check_unseen_values(reading, maker)
        decision = reading.decision
        unit = max(reading.unit, reading.grain)
        curves = curves_of(real)
        if curves and reading.grain != FLOAT64:
            return _Nonlinear(
                tuple(curves)
            )  # float32 libraries round curves differently
        network, nonlinear = self.sampled.with_ranges(decision.network, unit)
        if nonlinear:
            return _Nonlinear(tuple(nonlinear))
        after, before = network.model_error, decision.network.model_error
        slack = 0.0 if after is None or before is None else after - before
        decision = replace(decision, network=network)
        reading = replace(reading, decision=decision, slack=slack)
        again = RowMaker(real.uncurved, maker.like)
        network = confirm(reading, again, options.data)
        return _Read(reading, network, again, facts, maker.n_made + again.n_made)


def _not_linear(name: str) -> UnsupportedModelError:
    return UnsupportedModelError(
        f"feature {name!r} is declared as a range, but the model is not linear in it; "
        f"list the observed values instead with domain={{{name!r}: 'observed'}} "
        f"(--values {name}=observed), or give the model's bins with 'bins:...'"
    )


def _with_origin(
    read: _Read,
    options: ModelOptions,
    column_facts: Mapping[str, Any] | None,
    encoder: _CountingEncoder | None,
    listed: list[str],
) -> Network:
    """Add to the network how it was read."""
    network = read.network
    domain = network.domain
    tried = [
        f"bins of {name}" for name in probed_bins(options.data, domain, column_facts)
    ]
    nonlinear = {domain.names[index] for index in read.reading.nonlinear}
    nonlinear.update(
        probed_ranges(
            options.data, domain, column_facts, encoded=options.encode is not None
        )
    )
    tried += [
        f"range of {f.name}"
        for f in domain.features
        if isinstance(f, Range) and f.name in nonlinear
    ]
    facts = _origin_of_encode(options.encode, encoder, tried, read.n_made)
    facts |= dict(read.facts) | _agreement(read.reading, options.data)
    origin = dict(network.origin or {})
    if "probed" in origin:
        from_framework = [
            each for each in origin["probed"] if each not in facts["probed"]
        ]
        facts["probed"] = [*from_framework, *facts.get("probed", ())]
    if curves := curves_of(domain):
        facts["curves"] = curves
    if listed:
        facts["not_linear"] = listed
    return replace(network, origin=origin | facts)


def _origin_of_encode(
    encode: Any, encoder: _CountingEncoder | None, tried: list[str], n_made: int
) -> dict[str, Any]:
    """Return how the user's `encode` was read: by its code, or by probing.

    `tried` are bins and ranges that were only tested on some numbers, in `n_made` rows.
    """
    if encode is None or encoder is None:
        return {"probed": tried, "probed_rows": n_made} if tried else {}
    owner = getattr(encode, "__self__", None)
    if getattr(encode, "__name__", "") == "transform" and hasattr(owner, "transform"):
        encode = owner
    origin: dict[str, Any] = {"probed": ["encode"]}
    if hasattr(encode, "transform"):
        from nn2rules.models.sklearn import steps_origin

        origin = dict(steps_origin(encode))
    probed = [*origin.get("probed", ()), *tried]
    return origin | (
        {"probed": probed, "probed_rows": encoder.n_rows} if probed else {}
    )


def _agreement(reading: Reading, data: Rows) -> dict[str, int]:
    """Count the rows for which the network predicts the same class as the model.

    This is only needed if a category stands for all others.
    """
    decision = reading.decision
    network = decision.network
    has_others = any(f.other is not None for f in network.domain.features)
    if data is None or not has_others:
        return {}
    rows = data[:_MOST_ROWS]
    codes = network.domain.encode(rows, unknown="mark")
    inputs = np.flatnonzero((codes != UNKNOWN).all(axis=1))
    if not len(inputs):
        return {}
    chosen = picked(rows, inputs.tolist())
    theirs = np.asarray(reading.outputs(chosen), dtype=np.float64)
    theirs = theirs.reshape(-1) if theirs.size == len(inputs) else theirs
    ours = network.predict_codes(*network.domain.inputs_of(chosen))
    same = int((decision.predicted(theirs) == ours).sum())
    return {"rows": len(inputs), "rows_agreeing": same}


def _check_unseen_values(reading: Reading, maker: RowMaker) -> dict[str, Any]:
    """Refuse a model that distinguishes values which a category for others stands for.

    Each unseen value is tried in rows that are otherwise equal. Returns how many were
    tried.
    """
    domain, rng = maker.domain, np.random.default_rng(5)
    for index, feature in enumerate(domain.features):
        if feature.other is None:
            continue
        code = feature.other_code
        unseen_values = maker.examples(index, code)
        bases = rng.integers(domain.sizes, size=(_BASES, len(domain.sizes)))
        codes = np.repeat(bases, len(unseen_values), axis=0)
        cells = [
            [maker.examples(place, code)[0] for code in codes[:, place].tolist()]
            for place in range(len(domain.sizes))
        ]
        cells[index] = unseen_values * _BASES
        outputs = np.asarray(reading.outputs(maker.frame(cells)), np.float64)
        outputs = outputs.reshape(_BASES, len(unseen_values), -1)
        first = outputs[:, :1]
        slack = reading.unit**0.5 * (1 + np.abs(first))
        differs = (~(np.abs(outputs - first) <= slack)).any(axis=(0, 2))
        if differs.any():
            raise distinguished(
                feature, unseen_values[0], unseen_values[int(differs.argmax())]
            )
    return {"unseen_values": maker.n_unseen_values} if maker.n_unseen_values else {}


def _without_unused(network: Network) -> Network:
    """Leave out features that the model does not use, such as dropped columns.

    This is not known of a feature with a single value, or of a range of one number: the
    model may use it, and predict another class for another value.
    """
    domain, first = network.domain, network.layers[0]
    blocks = np.split(first.weights, domain.offsets[1:-1])
    if not first.weights.any():
        return network
    used = [
        bool(block.any()) or _is_single(feature)
        for feature, block in zip(domain.features, blocks, strict=True)
    ]
    if all(used):
        return network
    chosen = [block for block, is_used in zip(blocks, used, strict=True) if is_used]
    layer = Layer(np.concatenate(chosen), first.bias, first.activation, first.slope)
    kept = tuple(f for f, u in zip(domain.features, used, strict=True) if u)
    return replace(network, domain=Domain(kept), layers=(layer, *network.layers[1:]))


def _is_single(feature: Feature) -> bool:
    """Tell whether a feature has one value, apart from special ones."""
    if isinstance(feature, Range):
        return feature.limits[0] == feature.limits[1]
    return feature.n_plain == 1


def _hint_at_bins(network: Network) -> None:
    """Warn about numbers that the model distinguishes only in a few ranges.

    It may have bins, but only numbers that occur were tried, and none between them.
    With bins that the user declares, rules are shorter and found sooner.
    """
    blocks = np.split(network.layers[0].weights, network.domain.offsets[1:-1])
    for feature, block in zip(network.domain.features, blocks, strict=True):
        numbers = feature.values[: feature.n_plain]
        if isinstance(feature, Intervals) or not feature.has_numbers:
            continue
        changes = ~np.isclose(block[1 : len(numbers)], block[: len(numbers) - 1], 1e-12)
        places = np.flatnonzero(changes.any(axis=1)).tolist()
        if len(numbers) <= _MANY or not 0 < len(places) < len(numbers) // 4:
            continue
        gaps = [f"{numbers[place]} and {numbers[place + 1]}" for place in places]
        shown = ", ".join(gaps[:4]) + (", …" if len(gaps) > 4 else "")
        warnings.warn(
            BinsWarning(
                f"feature {feature.name!r} has {len(numbers)} numbers, but the model "
                f"distinguishes only {len(places) + 1} ranges of them; if it has bins, "
                f"declare their edges (between {shown}) with "
                f"domain={{{feature.name!r}: "
                f"'bins:...'}} (--values {feature.name}=bins:...), and rules are found "
                f"sooner"
            ),
            stacklevel=5,
        )


def _hint_at_special_values(
    network: Network, data: Rows, declared: Iterable[str]
) -> None:
    """Warn about undeclared codes such as 999 in ranges."""
    if data is None:
        return
    columns = observed_columns(data, network.domain.names)
    features = network.domain.uncurved.features
    for hint in special_value_warnings(features, columns, declared):
        warnings.warn(hint, stacklevel=5)
