"""Every kind of question of the fuzz script, a few times: so that none of them rots."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import fuzz

TESTS = Path(__file__).parent


@pytest.mark.parametrize("name", fuzz.KINDS)
def test_every_kind_of_question(name):
    asked = [fuzz.KINDS[name](np.random.default_rng([11, seed])) for seed in range(12)]
    assert sum(asked) > 0


def test_a_wrong_answer_ends_the_run_and_says_how_to_see_it_again():
    broken = (
        "import fuzz, runpy, sys\n"
        "from fuzz.questions import ask_table\n"
        "import nn2rules.checker.run_network as evaluate\n"
        "evaluate.classify = lambda network, codes: codes[:, 0] * 0 + 9\n"
        "fuzz.KINDS.clear()\n"
        "fuzz.KINDS['table'] = ask_table\n"
        "sys.argv = ['fuzz', '--seed', '5', '--minutes', '0.01']\n"
        "runpy.run_module('fuzz', run_name='__main__')\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", broken],
        capture_output=True,
        text=True,
        cwd=TESTS,
        check=False,
    )
    assert run.returncode == 1, run.stderr
    assert run.stdout.startswith("seed 5\n")
    assert "python -m fuzz --only 'table' --seed 5 --round 0" in run.stdout
    assert "checker says 9" in run.stdout
    assert "network = Network(domain, layers, " in run.stdout
    assert "1 wrong" in run.stdout
