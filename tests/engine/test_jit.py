"""The kernels as plain Python, and with every index checked, in other processes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import reference

HERE = Path(__file__).parent
CODE = "import reference, sys; print(reference.digest(int(sys.argv[1])))"


def digest_elsewhere(n_networks, folder, **variables):
    """Work out the digest in a process of its own, with nothing compiled before."""
    places = [str(HERE), str(HERE.parent), *filter(None, sys.path)]
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", CODE, str(n_networks)],
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(places),
            "NUMBA_CACHE_DIR": str(folder),
            **variables,
        },
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


def test_the_fixed_questions_are_of_every_kind():
    text = "\n".join(reference.fixed_answers(60))
    assert "(True, None)" in text
    assert "(False, [" in text
    activations, depths, outputs = set(), set(), set()
    for seed in range(60):
        rng = reference.np.random.default_rng([2024, seed])
        network = reference.mixed_network(rng, max_inputs=24, max_units=3)
        activations |= {layer.activation for layer in network.layers[:-1]}
        depths.add(len(network.layers))
        outputs.add(len(network.layers[-1].bias))
    assert activations == set(reference.EVERY)
    assert depths == {1, 2, 3, 4, 5}
    assert outputs == {1, 2, 3, 4}


def test_results_without_the_jit_are_the_same(tmp_path):
    found = digest_elsewhere(60, tmp_path, NUMBA_DISABLE_JIT="1")
    assert found == reference.digest(60)


def test_kernels_stay_inside_their_arrays(tmp_path):
    """A read outside an array is an IndexError when indices are checked.

    Nothing is optimised, so that compiling is short; the answers are the same.
    """
    found = digest_elsewhere(60, tmp_path, NUMBA_BOUNDSCHECK="1", NUMBA_OPT="0")
    assert found == reference.digest(60)


@pytest.mark.parametrize("n_networks", [0, 3])
def test_digests_depend_on_the_predictions(n_networks):
    assert reference.digest(n_networks) != reference.digest(n_networks + 1)
