"""What a Keras model says of its output by the loss that it was compiled with."""

from typing import Any

import keras

from nn2rules.models.decision import Said

_NUMBERS = (
    *("huber", "kl_divergence", "log_cosh", "mean_absolute_error", "poisson"),
    *("mean_absolute_percentage_error", "mean_squared_error"),
    *("mean_squared_logarithmic_error", "cosine_similarity", "tversky", "dice"),
)
"""Losses of models that predict numbers."""


def said_by_loss(model: Any) -> Said | None:
    """Return what the loss of a model says of its output, if it is unmistakable.

    The cross-entropy of two classes says it where it is told that it is given scores;
    where it is not, it is given probabilities, or was meant to be.
    """
    loss = getattr(model, "loss", None)
    if isinstance(loss, dict):
        loss = list(loss.values())
    if isinstance(loss, list | tuple):
        loss = loss[0] if len(loss) == 1 else None
    try:
        found = keras.losses.get(loss)
    except (TypeError, ValueError):
        return None
    config = found.get_config() if isinstance(found, keras.losses.Loss) else {}
    if config.get("from_logits") is True:
        return "score"
    function = getattr(found, "fn", found)
    name = getattr(function, "__name__", "")
    return "number" if name in _NUMBERS else None
