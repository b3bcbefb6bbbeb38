"""Count the inputs of each class one by one on a device, on domains of any size."""

import numpy as np

from nn2rules.engine.budget import Meter
from nn2rules.engine.device_scores import UNDECIDED
from nn2rules.engine.sweep import Sweep
from nn2rules.engine.table import settle_codes, table_obstacle
from nn2rules.errors import UnsupportedModelError
from nn2rules.network import Network
from nn2rules.spans import refuse_ranges


def count_every(
    network: Network, device: str, *, meter: Meter | None = None
) -> list[int]:
    """Return the number of inputs of each class, exactly.

    Parameters
    ----------
    network : Network
    device : str
        Where PyTorch works: "cuda", "cuda:1", or "cpu".
    meter : Meter, optional
        The budget to spend; it is looked at between tiles of inputs.

    Raises
    ------
    BudgetExceededError
        If the time is spent.
    UnsupportedModelError
        If a feature is a range of numbers, or there are more than 255 classes.

    Notes
    -----
    In float32 first; what is too near to a tie for its error again in float64, and what
    is left in exact arithmetic. No table is held: memory does not grow with the domain.

    Examples
    --------
    >>> from nn2rules import datasets, load
    >>> tomato = load(datasets.network_file("tomato"))
    >>> count_every(tomato, "cpu")
    [4, 2]
    """
    counts = [0] * len(network.classes)
    add_every(network, device, counts, meter or Meter())
    return counts


def add_every(network: Network, device: str, counts: list[int], meter: Meter) -> None:
    """Add the number of inputs of each class to `counts`, as far as time allows."""
    refuse_ranges(network.domain.features, "device: counting every input")
    obstacle = table_obstacle(network)
    if obstacle is not None:
        raise UnsupportedModelError(f"device: {obstacle}; leave device out")
    sweep = Sweep(network, device)
    for start, stop in sweep.tiles():
        codes, left = sweep.classify(start, stop)
        found = codes.bincount(minlength=UNDECIDED + 1).tolist()
        for position in left:
            found[settle_codes(network, _codes(network, start + position))] += 1
            meter.spend()
        for index in range(len(counts)):
            counts[index] += found[index]
        meter.report("counting every input", stop / network.domain.n_inputs)
        meter.spend()


def _codes(network: Network, number: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return the codes of an input by its number, however large that is."""
    codes = []
    for size in reversed(network.domain.sizes):
        number, code = divmod(number, size)
        codes.append(code)
    return np.array(codes[::-1], dtype=np.int64)
