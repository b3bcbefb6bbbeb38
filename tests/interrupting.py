"""Ctrl-C at random moments, by real signals: what it leaves must be right."""

import os
import signal
import threading
import time

import numpy as np

from nn2rules import Domain, Feature, Layer, Network, extract


def a_network(rng, most=3000):
    """Return a random network of small to medium size."""
    sizes = [int(size) for size in rng.integers(2, 9, rng.integers(2, 9))]
    while np.prod(sizes) > most:
        sizes.pop()
    names = [f"f{index}" for index in range(len(sizes))]
    domain = Domain(
        tuple(
            Feature(name, tuple(f"v{code}" for code in range(size)))
            for name, size in zip(names, sizes, strict=True)
        )
    )
    width, n_classes = int(rng.integers(1, 12)), int(rng.integers(2, 4))
    n_scores = 1 if n_classes == 2 else n_classes
    layers = (
        Layer(rng.normal(size=(sum(sizes), width)), rng.normal(size=width), "relu"),
        Layer(
            rng.normal(size=(width, n_scores)),
            rng.normal(size=n_scores),
            "sigmoid" if n_scores == 1 else "softmax",
        ),
    )
    return Network(domain, layers, tuple("abc"[:n_classes]))


def some_options(rng, network):
    """Return options of extract that mean something for the network."""
    forms = ["list", "list", "set", "paper"] if network.is_binary else ["list", "set"]
    options = {
        "form": str(rng.choice(forms)),
        "engine": str(rng.choice(["table", "table", "search"])),
        "n_jobs": [None, 2][int(rng.integers(2))],
        "effort": int(rng.integers(3)),
    }
    sizes = network.domain.sizes
    codes = rng.integers(sizes, size=(100, len(sizes)))
    if rng.random() < 0.5:
        options["data"] = network.domain.decode(codes)
        options["scope"] = ["domain", "support"][int(rng.integers(2))]
    return options


def check_right(rules, network):
    """Compare rules with the network: wherever they decide, or everywhere."""
    codes = np.concatenate(list(network.domain.inputs()))
    fired = rules.match(codes)
    answers = np.append(rules.answers, rules.classes.index(rules.default))
    right = answers[fired] == network.predict_codes(codes)
    if rules.scope == "support":
        right |= fired < 0
    assert right.all()
    if rules.certificate.get("different") is not None:
        assert rules.scope == "domain"


def interrupted(network, options, after):
    """Extract and interrupt; return the result or the error, and how late it came."""
    default, done, shots = signal.default_int_handler, threading.Event(), []
    # Shells start programs in the background with a signal that is ignored.
    before = signal.signal(signal.SIGINT, default)

    def shoot():
        while signal.getsignal(signal.SIGINT) is default:
            if done.wait(0.0005):
                return
        if not done.wait(after) and signal.getsignal(signal.SIGINT) is not default:
            shots.append(time.perf_counter())
            os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=shoot)
    thread.start()
    try:
        found = extract(network, **options)
    except KeyboardInterrupt as error:
        found = error
    late = time.perf_counter()
    done.set()
    thread.join()
    assert isinstance(found, KeyboardInterrupt) == bool(shots)  # none is swallowed
    assert signal.signal(signal.SIGINT, before) is default
    return found, late - shots[0] if shots else 0.0


def interrupts(rng) -> int:
    """Interrupt extractions of a random network; return how many were stopped."""
    network = a_network(rng)
    options = some_options(rng, network)
    n_threads = threading.active_count()
    stopped = 0
    longest = float(rng.choice([0.05, 0.3, 1.0]))
    for after in rng.uniform(0, longest, size=4):
        found, _ = interrupted(network, options, after)
        if isinstance(found, KeyboardInterrupt):
            stopped += 1
            found = found.rules
        if found is not None:
            check_right(found, network)
        assert threading.active_count() == n_threads
    return stopped
