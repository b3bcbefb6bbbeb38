"""Read a model: with ranges of numbers where it goes along lines, else with lists.

Nobody needs to say which columns are ranges. Those of numbers are taken for ranges, and
where the network that comes of it is not along a line, or cannot be read, they get the
numbers that occur instead.
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
from nn2rules.models.model_rows import RowMaker, picked, told_apart
from nn2rules.models.options import ModelOptions
from nn2rules.models.ranges import Sampled, curves_of, sampled
from nn2rules.models.source import Source, encoder_of
from nn2rules.models.tracing import FLOAT64
from nn2rules.network import Layer, Network
from nn2rules.space import (
    UNKNOWN,
    Domain,
    Feature,
    Rows,
    observed_columns,
    special_value_warnings,
)

_MANY = 30

_BASES = 8
_MOST_ROWS = 200_000


@dataclass(frozen=True)
class _Read:
    """A model that was read, and the rows that were made on the way."""

    reading: Reading
    network: Network
    maker: RowMaker
    facts: Mapping[str, Any]
    n_made: int


@dataclass(frozen=True)
class _Bent:
    """Features that are not along a line; none are named where that is not known.

    `error` is why a model cannot be read with ranges, if it is more than that.
    """

    names: tuple[str, ...] = ()
    error: Nn2RulesError | None = None

    def to_list(self, assumed: list[str]) -> list[str]:
        """Return those of the assumed ranges that are to have listed numbers instead.

        If what is said stands in the way, or nothing is left to list, this raises.
        """
        said = [name for name in self.names if name not in assumed]
        if said or not assumed:
            raise self.error or _not_straight(said[0])
        return [*(self.names or assumed)]


class _Counted:
    """The user's own way from rows to arrays, which counts the rows it is asked about.

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


def _counted(encode: Callable[[Rows], Any] | None) -> _Counted | None:
    """Return what the user gave as `encode`, so that its rows are counted."""
    return None if encode is None else _Counted(encode)


def read_model(adapter: ModuleType, model: Any, how: ModelOptions) -> Network:
    """Return the network of a model that an adapter has prepared."""
    network = _read(adapter, model, how)
    if isinstance(how.domain, Domain):
        return network
    _hint_at_bins(network)
    network = _without_unused(network)
    _hint_at_special_values(network, how.data, how.domain or ())
    return network


def _read(adapter: ModuleType, model: Any, how: ModelOptions) -> Network:
    """Read a model with ranges where that is possible."""
    known = adapter.columns(model, how.encode)
    asked = _counted(encoder_of(how.encode))
    listed: list[str] = []
    failed: Nn2RulesError | None = None
    while True:
        try:
            domain = domain_of(
                how.data,
                how.domain,
                known,
                other=how.other,
                listed=listed,
                is_curved=how.is_curved,
            )
        except DomainError:
            if failed is None:
                raise
            raise failed from None
        attempts = _Attempts(adapter, model, how, sampled(domain, how.data), asked)
        found = attempts.best()
        if isinstance(found, _Read):
            return _with_origin(found, how, known, asked, listed)
        try:
            listed += found.to_list(_assumed(domain, how))
        except Nn2RulesError:
            if failed is None or getattr(failed, "feature", None) is not None:
                raise
            raise failed from None
        failed = found.error


def _assumed(domain: Domain, how: ModelOptions) -> list[str]:
    """Return the ranges of which nobody said that they are ranges."""
    if isinstance(how.domain, Domain):
        return []
    said = how.domain or {}
    return [
        f.name for f in domain.features if f.limits is not None and f.name not in said
    ]


@dataclass(frozen=True)
class _Attempts:
    """The two ways in which a model is read: by layers, or by tables of the samples.

    By layers, what a model makes of a range is along a line by its code. But there are
    steps that no layer can hold, which may be along a line all the same.
    """

    adapter: ModuleType
    model: Any
    how: ModelOptions
    sampled: Sampled
    asked: _Counted | None

    def best(self) -> _Read | _Bent:
        """Return what was read; if nothing was, the features to blame."""
        bent: list[_Bent] = []
        for ranges in dict.fromkeys((self.sampled.ranges, frozenset[int]())):
            try:
                found = self._read(ranges)
            except (FormatError, UnsupportedModelError) as error:
                found = self._blamed(error)
            if isinstance(found, _Read):
                return found
            bent.append(found)
        named = [each for each in bent if each.names]
        return min(named, key=lambda each: len(each.names)) if named else bent[0]

    def _blamed(self, error: Nn2RulesError) -> _Bent:
        """Return the range that cannot be read, if the error names one."""
        name = getattr(error, "feature", None)
        names = [self.sampled.real.names[index] for index in self.sampled.ranges]
        return _Bent((name,) if name in names else (), error)

    def _read(self, ranges: frozenset[int]) -> _Read | _Bent:
        how, real = self.how, self.sampled.real
        maker = RowMaker(self.sampled.domain, how.data, self.sampled.codes_of)
        is_stated = isinstance(how.domain, Domain)
        source = Source(self.sampled.domain, maker, self.asked, is_stated, real, ranges)
        reading = self.adapter.read(self.model, source, how)
        facts = _check_strangers(reading, maker)
        decision = reading.decision
        unit = max(reading.unit, reading.grain)
        curves = curves_of(real)
        if curves and reading.grain != FLOAT64:
            return _Bent(tuple(curves))  # a library rounds curves otherwise in float32
        network, bent = self.sampled.straightened(decision.network, unit)
        if bent:
            return _Bent(tuple(bent))
        after, before = network.model_error, decision.network.model_error
        slack = 0.0 if after is None or before is None else after - before
        decision = replace(decision, network=network)
        reading = replace(reading, decision=decision, slack=slack)
        again = RowMaker(real.uncurved, maker.like)
        network = confirm(reading, again, how.data)
        return _Read(reading, network, again, facts, maker.n_made + again.n_made)


def _not_straight(name: str) -> UnsupportedModelError:
    return UnsupportedModelError(
        f"feature {name!r} is to be a range of numbers, and the model does not read it "
        f"along a straight line, as it does behind StandardScaler; say the numbers "
        f"that occur, by domain={{{name!r}: 'observed'}} (--values {name}=observed), "
        f"or the model's bins, by 'bins:...'"
    )


def _with_origin(
    found: _Read,
    how: ModelOptions,
    known: Mapping[str, Any] | None,
    asked: _Counted | None,
    listed: list[str],
) -> Network:
    """Return the network with how it was read."""
    network = found.network
    domain = network.domain
    tried = [f"bins of {name}" for name in probed_bins(how.data, domain, known)]
    bent = {domain.names[index] for index in found.reading.bent}
    bent.update(probed_ranges(how.data, domain, known, encoded=how.encode is not None))
    tried += [
        f"range of {f.name}"
        for f in domain.features
        if f.limits is not None and f.name in bent
    ]
    facts = _origin_of_encode(how.encode, asked, tried, found.n_made)
    facts |= dict(found.facts) | _agreement(found.reading, how.data)
    origin = dict(network.origin or {})
    if "probed" in origin:
        own = [each for each in origin["probed"] if each not in facts["probed"]]
        facts["probed"] = [*own, *facts.get("probed", ())]
    if curves := curves_of(domain):
        facts["curves"] = curves
    if listed:
        facts["not_along_a_line"] = listed
    return replace(network, origin=origin | facts)


def _origin_of_encode(
    encode: Any, asked: _Counted | None, tried: list[str], n_made: int
) -> dict[str, Any]:
    """Say how the user's `encode` was read: by its code, or by probing.

    `tried` are bins and ranges that rest on numbers tried, in so many rows that were
    made.
    """
    if encode is None or asked is None:
        return {"probed": tried, "probed_rows": n_made} if tried else {}
    own = getattr(encode, "__self__", None)
    if getattr(encode, "__name__", "") == "transform" and hasattr(own, "transform"):
        encode = own
    found: dict[str, Any] = {"probed": ["encode"]}
    if hasattr(encode, "transform"):
        from nn2rules.models.sklearn import steps_origin

        found = dict(steps_origin(encode))
    probed = [*found.get("probed", ()), *tried]
    return found | ({"probed": probed, "probed_rows": asked.n_rows} if probed else {})


def _agreement(reading: Reading, data: Rows) -> dict[str, int]:
    """Count the rows on which the network answers as the model itself does.

    Only where one word stands for all others. Elsewhere the network is the model.
    """
    decision = reading.decision
    network = decision.network
    stands = any(f.other is not None for f in network.domain.features)
    if data is None or not stands:
        return {}
    rows = data[:_MOST_ROWS]
    codes = network.domain.encode(rows, unknown="mark")
    known = np.flatnonzero((codes != UNKNOWN).all(axis=1))
    if not len(known):
        return {}
    chosen = picked(rows, known.tolist())
    theirs = np.asarray(reading.outputs(chosen), dtype=np.float64)
    theirs = theirs.reshape(-1) if theirs.size == len(known) else theirs
    ours = network.predict_codes(*network.domain.inputs_of(chosen))
    same = int((decision.answers(theirs) == ours).sum())
    return {"rows": len(known), "rows_agreeing": same}


def _check_strangers(reading: Reading, maker: RowMaker) -> dict[str, Any]:
    """Refuse a model that tells apart what the value for others stands for.

    Each stranger takes its turn in rows that are otherwise equal. Returns how many were
    tried.
    """
    domain, rng = maker.domain, np.random.default_rng(5)
    for index, feature in enumerate(domain.features):
        if feature.other is None:
            continue
        code = feature.values.index(feature.other)
        strangers = maker.examples(index, code)
        bases = rng.integers(domain.sizes, size=(_BASES, len(domain.sizes)))
        codes = np.repeat(bases, len(strangers), axis=0)
        cells = [
            [maker.examples(place, code)[0] for code in codes[:, place].tolist()]
            for place in range(len(domain.sizes))
        ]
        cells[index] = strangers * _BASES
        answers = np.asarray(reading.outputs(maker.frame(cells)), np.float64)
        answers = answers.reshape(_BASES, len(strangers), -1)
        first = answers[:, :1]
        slack = reading.unit**0.5 * (1 + np.abs(first))
        differs = (~(np.abs(answers - first) <= slack)).any(axis=(0, 2))
        if differs.any():
            raise told_apart(feature, strangers[0], strangers[int(differs.argmax())])
    return {"strangers": maker.n_strangers} if maker.n_strangers else {}


def _without_unused(network: Network) -> Network:
    """Leave out features that the model does not look at, such as dropped columns.

    Of a feature that has but one value, and of a range of one number, that is not
    known: the model may well look at it, and answer otherwise to another value.
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
    """Tell whether a feature has one value, whatever stands beside it."""
    if feature.limits is not None:
        return feature.limits[0] == feature.limits[1]
    return feature.n_plain == 1


def _hint_at_bins(network: Network) -> None:
    """Warn of numbers that the model tells apart in a few ranges only.

    It may have bins, but only numbers that occur were asked about, and none between
    them. With bins that the user states, rules are shorter and quickly found.
    """
    blocks = np.split(network.layers[0].weights, network.domain.offsets[1:-1])
    for feature, block in zip(network.domain.features, blocks, strict=True):
        numbers = feature.values[: feature.n_plain]
        if feature.edges is not None or not feature.has_numbers:
            continue
        changes = ~np.isclose(block[1 : len(numbers)], block[: len(numbers) - 1], 1e-12)
        places = np.flatnonzero(changes.any(axis=1)).tolist()
        if len(numbers) <= _MANY or not 0 < len(places) < len(numbers) // 4:
            continue
        gaps = [f"{numbers[place]} and {numbers[place + 1]}" for place in places]
        shown = ", ".join(gaps[:4]) + (", …" if len(gaps) > 4 else "")
        warnings.warn(
            BinsWarning(
                f"feature {feature.name!r} has {len(numbers)} numbers, which the model "
                f"tells apart in {len(places) + 1} ranges only; if it has bins, state "
                f"their edges (between {shown}), by domain={{{feature.name!r}: "
                f"'bins:...'}} (--values {feature.name}=bins:...), and rules are found "
                f"sooner"
            ),
            stacklevel=5,
        )


def _hint_at_special_values(network: Network, data: Rows, said: Iterable[str]) -> None:
    """Warn of codes such as 999 in ranges that nobody declares."""
    if data is None:
        return
    columns = observed_columns(data, network.domain.names)
    features = network.domain.uncurved.features
    for hint in special_value_warnings(features, columns, said):
        warnings.warn(hint, stacklevel=5)
