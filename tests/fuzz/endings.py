"""Models whose one output is a probability, a score, or neither."""

from collections.abc import Callable

import numpy as np
import torch
from numpy.random import Generator
from torch import Tensor, nn

from fuzz.questions import demand
from nn2rules import (
    Domain,
    Feature,
    Network,
    OptionError,
    UnsupportedModelError,
    read_network,
)
from nn2rules.engine.table import fragile_margins
from nn2rules.network.certified import logit

STEPS: dict[str, Callable[[Tensor, float], Tensor]] = {
    "sigmoid": lambda z, _: torch.sigmoid(z),
    "hard sigmoid": lambda z, _: nn.functional.hardsigmoid(z),
    "tanh": lambda z, _: torch.tanh(z),
    "clamp": lambda z, c: torch.clamp(z, -abs(c), abs(c)),
    "add": lambda z, c: z + c,
    "times": lambda z, c: z * c,
    "complement": lambda z, _: 1.0 - z,
    "halves": lambda z, _: (z + 1.0) / 2.0,
}
"""What may stand at the end of a model; some of it several times."""


class Ending(nn.Module):
    """A small network with an ending of several steps."""

    def __init__(self, rng: Generator) -> None:
        super().__init__()
        self.names = rng.choice(list(STEPS), size=int(rng.integers(0, 4))).tolist()
        self.numbers = rng.choice([-1.0, 0.05, 0.5, 0.9, 2.0], size=4).tolist()
        self.hidden, self.last = nn.Linear(3, 4), nn.Linear(4, 1)
        for weights in self.parameters():
            drawn = rng.normal(size=tuple(weights.shape)) * rng.choice([0.3, 1.0, 4.0])
            weights.data = torch.tensor(drawn, dtype=torch.float32)

    def forward(self, x: Tensor) -> Tensor:
        """Return one number for each row."""
        z = self.last(torch.relu(self.hidden(x)))
        for name, number in zip(self.names, self.numbers, strict=False):
            z = STEPS[name](z, number)
        return z


def read_endings(rng: Generator) -> int:
    """Read a model as its user means it: its decisions must come out, or a question."""
    sizes = rng.integers(2, 5, size=3)
    domain = Domain(
        tuple(Feature(f"f{i}", tuple(range(n))) for i, n in enumerate(sizes.tolist()))
    )
    codes = np.concatenate(list(domain.inputs()))
    model = Ending(rng).eval()
    given = rng.choice(["nothing", "score", "probability"])
    threshold = float(rng.choice([0.5, 0.5, 0.3, 0.95]))
    with torch.no_grad():
        outputs = model(torch.tensor(codes.astype(np.float32))).numpy()[:, 0]
    options = {} if given == "nothing" else {"output": str(given)}
    if given != "score":
        options["threshold"] = threshold
    try:
        network = read_network(model, domain=domain, classes=["no", "yes"], **options)
    except (OptionError, UnsupportedModelError):
        return 1  # it asks, or it does not know a step; both are no answer
    if given == "nothing":  # read by itself: after a sigmoid, or as a score
        is_share = "sigmoid" in model.names
        demand(
            is_share or not ((outputs >= 0) & (outputs <= 1)).all(),
            f"{model.names} was read by itself",
            network,
        )
        given = "probability" if is_share else "log-odds"
    limits = {"probability": threshold, "score": 0.0, "log-odds": logit(threshold)}
    limit = limits[str(given)]
    return _compare(network, codes, outputs > np.float32(limit), model.names)


def _compare(
    network: Network, codes: np.ndarray, truth: np.ndarray, names: list[str]
) -> int:
    """Compare decisions on every input that is not fragile."""
    margin = fragile_margins(network).get("model", np.inf)
    scores = network.scores_codes(codes) - logit(network.threshold)
    clear = np.abs(scores) > margin
    wrong = (network.predict_codes(codes) == 1) != truth
    demand(not (wrong & clear).any(), f"{names} is answered otherwise", network)
    return int(clear.sum())
