"""How a network was read: what is known by code, and what rests on rows tried.

What is said here goes into the network's `origin`, and from there into certificates.
"""

from collections.abc import Callable
from typing import Any

import narwhals as nw
import numpy as np

from nn2rules.models.confirm import Reading
from nn2rules.models.model_rows import RowMaker, picked
from nn2rules.models.unseen_values import told_apart
from nn2rules.space import UNKNOWN, Rows

_BASES = 8
_MOST_ROWS = 200_000


class Counted:
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


def counted(encode: Callable[[Rows], Any] | None) -> Counted | None:
    """Return what the user gave as `encode`, so that its rows are counted."""
    return None if encode is None else Counted(encode)


def origin_of_encode(
    encode: Any, asked: Counted | None, tried: list[str], n_made: int
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


def check_strangers(reading: Reading, maker: RowMaker) -> dict[str, Any]:
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


def agreement(reading: Reading, data: Rows) -> dict[str, int]:
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
