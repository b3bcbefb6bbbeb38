"""Read a model: with ranges of numbers where it goes along lines, else with lists.

Nobody needs to say which columns are ranges. Those of numbers are taken for ranges, and
where the network that comes of it is not along a line, or cannot be read, they get the
numbers that occur instead.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

from nn2rules.adapters.confirm import Reading, confirm
from nn2rules.adapters.features import (
    domain_of,
    probed_bins,
    probed_ranges,
)
from nn2rules.adapters.options import ModelOptions
from nn2rules.adapters.origin import (
    Counted,
    agreement,
    check_strangers,
    counted,
    origin_of_encode,
)
from nn2rules.adapters.ranges import Sampled, sampled
from nn2rules.adapters.rows import RowMaker
from nn2rules.adapters.source import Source, encoder_of
from nn2rules.domain import Domain
from nn2rules.errors import (
    DomainError,
    FormatError,
    Nn2RulesError,
    UnsupportedModelError,
)
from nn2rules.network import Network


def read_model(adapter: ModuleType, model: Any, how: ModelOptions) -> Network:
    """Return the network of a model that an adapter has prepared."""
    known = adapter.columns(model, how.encode)
    asked = counted(encoder_of(how.encode))
    listed: list[str] = []
    failed: Nn2RulesError | None = None
    while True:
        try:
            domain = domain_of(
                how.data, how.domain, known, other=how.other, listed=listed
            )
        except DomainError:
            if failed is None:
                raise
            raise failed from None
        attempts = _Attempts(adapter, model, how, sampled(domain, how.data), asked)
        found = attempts.best()
        if isinstance(found, Read):
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
class Read:
    """A model that was read, and the rows that were made on the way."""

    reading: Reading
    network: Network
    maker: RowMaker
    facts: Mapping[str, Any]
    n_made: int


@dataclass(frozen=True)
class Bent:
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
    asked: Counted | None

    def best(self) -> Read | Bent:
        """Return what was read; if nothing was, the features to blame."""
        bent: list[Bent] = []
        for ranges in dict.fromkeys((self.sampled.ranges, frozenset[int]())):
            try:
                found = self._read(ranges)
            except (FormatError, UnsupportedModelError) as error:
                found = self._blamed(error)
            if isinstance(found, Read):
                return found
            bent.append(found)
        named = [each for each in bent if each.names]
        return min(named, key=lambda each: len(each.names)) if named else bent[0]

    def _blamed(self, error: Nn2RulesError) -> Bent:
        """Return the range that cannot be read, if the error names one."""
        name = getattr(error, "feature", None)
        names = [self.sampled.real.names[index] for index in self.sampled.ranges]
        return Bent((name,) if name in names else (), error)

    def _read(self, ranges: frozenset[int]) -> Read | Bent:
        how, real = self.how, self.sampled.real
        maker = RowMaker(self.sampled.domain, how.data, self.sampled.codes_of)
        is_stated = isinstance(how.domain, Domain)
        source = Source(self.sampled.domain, maker, self.asked, is_stated, real, ranges)
        reading = self.adapter.read(self.model, source, how)
        facts = check_strangers(reading, maker)
        decision = reading.decision
        unit = max(reading.unit, reading.grain)
        network, bent = self.sampled.straightened(decision.network, unit)
        if bent:
            return Bent(tuple(bent))
        after, before = network.model_error, decision.network.model_error
        slack = 0.0 if after is None or before is None else after - before
        decision = replace(decision, network=network)
        reading = replace(reading, decision=decision, slack=slack)
        again = RowMaker(real, maker.like)
        network = confirm(reading, again, how.data)
        return Read(reading, network, again, facts, maker.n_made + again.n_made)


def _not_straight(name: str) -> UnsupportedModelError:
    return UnsupportedModelError(
        f"feature {name!r} is to be a range of numbers, and the model does not read it "
        f"along a straight line, as it does behind StandardScaler; say the numbers "
        f"that occur, by domain={{{name!r}: 'observed'}} (--values {name}=observed), "
        f"or the model's bins, by 'bins:...'"
    )


def _with_origin(
    found: Read,
    how: ModelOptions,
    known: Mapping[str, Any] | None,
    asked: Counted | None,
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
    facts = origin_of_encode(how.encode, asked, tried, found.n_made)
    facts |= dict(found.facts) | agreement(found.reading, how.data)
    origin = dict(network.origin or {})
    if "probed" in origin:
        own = [each for each in origin["probed"] if each not in facts["probed"]]
        facts["probed"] = [*own, *facts.get("probed", ())]
    if listed:
        facts["not_along_a_line"] = listed
    return replace(network, origin=origin | facts)
