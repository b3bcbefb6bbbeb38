"""Certificates: what was proved about a rule list, and how."""

import hashlib
import math
from dataclasses import replace
from typing import Any

from nn2rules.engine import Oracle, Table
from nn2rules.files import to_json
from nn2rules.network import Network
from nn2rules.version import __version__


def network_digest(network: Network) -> str:
    """Return the sha256 of a network; equal networks have equal digests."""
    plain = replace(network, origin=None)
    return hashlib.sha256(to_json(plain).encode()).hexdigest()


def table_certificate(network: Network, table: Table) -> dict[str, Any]:
    """Return the certificate of rules made from a table of every input."""
    return {
        "engine": "table",
        "method": "every input classified; float64 beyond its certified error, exact "
        "arithmetic within it",
        "inputs": network.domain.n_inputs,
        "class_inputs": table.counts(),
        "different": 0,
        **_margin(table),
        "settled_exactly": table.n_settled,
        "fragile": table.fragile,
        "fragile_inputs": table.fragile_inputs,
        **_origin(network),
    }


def _margin(table: Table) -> dict[str, float]:
    """Return the minimum margin of an input, if float64 can represent it."""
    margin = table.smallest_margin
    return {"smallest_margin": margin} if math.isfinite(margin) else {}


def search_certificate(network: Network, oracle: Oracle) -> dict[str, Any]:
    """Return the certificate of rules that were proved by search."""
    is_endless = network.domain.has_ranges
    return {
        "engine": "search",
        "method": "every rule proved by branch and bound with certified bounds",
        **({} if is_endless else {"inputs": network.domain.n_inputs}),
        "questions": oracle.n_questions,
        "boxes": oracle.meter.boxes,
        "settled_exactly": oracle.n_settled,
        **_origin(network),
    }


def scorecard_certificate(network: Network) -> dict[str, Any]:
    """Certify a scorecard, which keeps the numbers of a network."""
    is_endless = network.domain.has_ranges
    return {
        "engine": "scorecard",
        "method": "the network's own numbers as points; float64 beyond its certified "
        "error, exact arithmetic within it",
        **({} if is_endless else {"inputs": network.domain.n_inputs}),
        "different": 0,
        **_origin(network),
    }


def paper_certificate(
    network: Network, method: str, class_inputs: list[int], different: int
) -> dict[str, Any]:
    """Return the certificate of rules made by the paper's algorithm."""
    return {
        "engine": "paper",
        "method": method,
        "inputs": network.domain.n_inputs,
        "class_inputs": class_inputs,
        "different": different,
        **_origin(network),
    }


def _origin(network: Network) -> dict[str, Any]:
    """Return the network's digest, the model it was read from, and the version."""
    origin = {} if network.origin is None else {"model": dict(network.origin)}
    return {"network": network_digest(network), **origin, "version": __version__}
