"""Why some steps of PyTorch models cannot be read, and what to use instead."""

_BY_NAME = {
    "layer_norm": (
        "each unit is divided by the spread of all units, so it is no longer a sum of "
        "the features; use BatchNorm1d, whose factors are fixed once it is trained"
    ),
    "attention": (
        "attention multiplies numbers that all depend on the input; nn2rules reads "
        "sums of inputs with fixed weights, so use Linear layers and ReLU"
    ),
    "conv": (
        "convolutions are for images and sequences; nn2rules reads networks on tables, "
        "so use Linear"
    ),
    "recurrent": (
        "recurrent layers multiply numbers that all depend on the input; nn2rules "
        "reads networks on tables, so use Linear layers"
    ),
    "pool": (
        "the largest of several units is not an activation of one; nn2rules reads "
        "networks on tables, so use Linear"
    ),
    "bilinear": (
        "it multiplies two numbers that both depend on the input; nn2rules reads sums "
        "of inputs with fixed weights"
    ),
    "other activation": (
        "nn2rules does not know this activation of numbers that depend on several "
        "features; use ReLU, LeakyReLU, Tanh, Sigmoid, SiLU, GELU, ELU or Softplus"
    ),
}

_KINDS = {
    "attention": ("attention", "Attention", "Transformer"),
    "bilinear": ("bilinear", "Bilinear", "bmm", "einsum", "outer"),
    "conv": ("conv", "Conv"),
    "layer_norm": (
        *("layer_norm", "LayerNorm", "group_norm", "GroupNorm", "instance_norm"),
        *("InstanceNorm", "rms_norm", "RMSNorm", "normalize"),
    ),
    "other activation": (
        *("glu", "GLU", "hardshrink", "Hardshrink", "hardswish", "Hardswish", "mish"),
        *("Mish", "selu", "SELU", "softmin", "Softmin", "softshrink", "Softshrink"),
        *("softsign", "Softsign", "tanhshrink", "Tanhshrink", "threshold"),
        "Threshold",
    ),
    "pool": ("pool", "Pool", "max", "min", "topk", "sort"),
    "recurrent": ("LSTM", "lstm", "GRU", "gru", "RNN", "rnn"),
}


def reason_of(name: str) -> str:
    """Return why a step called `name` is refused.

    Examples
    --------
    >>> reason_of("Conv2d")
    'convolutions are for images and sequences; nn2rules reads networks on tables, so
    use Linear'
    """
    for kind, parts in _KINDS.items():
        if any(part in name for part in parts):
            return _BY_NAME[kind]
    return (
        f"nn2rules does not know the step {name!r} of numbers that depend on several "
        f"features; leave it out, do it to each feature before the first layer, or "
        f"write it with Linear layers and activations"
    )
