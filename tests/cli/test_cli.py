"""The command line: what it prints, and one sentence for every mistake.

Most tests call the commands in this process, because starting Python takes longer than
the command; those at the end run the real program.
"""

import gzip
import inspect
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace
from importlib.metadata import entry_points
from pathlib import Path
from random import Random

import numpy as np
import pytest
from typer.testing import CliRunner, Result

import nn2rules
import nn2rules.checker
import ranged
from golden import assert_golden
from nn2rules import cli, datasets
from nn2rules.cli.extract import summary as summary_of
from nn2rules.cli.options import PANELS
from nn2rules.engine.progress import COMPILING
from nn2rules.extraction.extract import ENGINES, FORMS
from nn2rules.extraction.paper import select_weights
from nn2rules.files import read_table, table_text
from nn2rules.models import user_files
from nn2rules.questions.claims.claim import IndependentOf
from nn2rules.questions.verify.verifier import Verifier
from nn2rules.version import install_command

COMMANDS = [
    str(command.name or command.callback.__name__.replace("_", "-"))
    for command in cli.app.registered_commands
]

TOMATO = datasets.network_file("tomato").read_text()

CAR = str(datasets.network_file("car"))

RIPE = """\
Proved for all 6 inputs                    inputs determined
1  ripe    if color = red · size ≠ small               33.3%
   unripe  otherwise                                   66.7%
"""

RIPE_BY_THE_PAPER = """\
Proved for all 6 inputs.
ripe   33.3% of inputs; 2 rules    inputs covered
 A1  color = red · size = medium            16.7%
 A2  color = red · size = big               16.7%
unripe   otherwise
"""

PAPER_RULES = nn2rules.files.to_json(
    nn2rules.extract(nn2rules.files.from_json(TOMATO), form="paper")
)

SUMMARY = """\
written to made.json
rules    1, otherwise unripe
inputs   6: unripe 4 (66.7%), ripe 2 (33.3%)
fidelity equal to the network on every input
seconds  #
"""

NEURONS = """\
layer 0, neuron 0 (relu): 4 rules
  if color = red and size = small then 0
  if color = red and size = medium then 1
  if color = red and size = big then 1
  if color = yellow then 0

layer 0, neuron 1 (relu): 4 rules
  if color = red and size = small then 0
  if color = red and size = medium then 1
  if color = red and size = big then 1
  if color = yellow then 0

layer 1, neuron 0 (score): 4 rules
  if color = red and size = small then -1
  if color = red and size = medium then 1
  if color = red and size = big then 1
  if color = yellow then -1
"""

BASKET = "id,color,size\n1,red,big\n2,yellow,big\n3,red,big\n4,red,medium\n"

ANSWERS = """\
id,color,size,prediction,rule
1,red,big,ripe,A2
2,yellow,big,unripe,default
3,red,big,ripe,A2
4,red,medium,ripe,A1
"""


@pytest.fixture(autouse=True)
def _plain_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in an empty folder that holds a network, two rules for it, and rows."""
    for name in ("FORCE_COLOR", "PY_COLORS", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    Path("net.json").write_text(TOMATO)
    Path("rules.json").write_text(PAPER_RULES)
    Path("rows.csv").write_text(BASKET)
    Path("old").write_text("what was here before")
    Path("folder").mkdir()


def run(*args: str) -> Result:
    return CliRunner().invoke(cli.app, args, prog_name="nn2rules")


def done(*args: str) -> str:
    """Run a command that works; return what it prints."""
    result = run(*args)
    assert result.stderr in ("", f"{COMPILING}\n")
    assert result.exit_code == 0
    return result.stdout


def refused(*args: str, code: int = 2) -> str:
    """Run a command that fails; return its one sentence.

    No file is written, none is changed, and no temporary file stays behind.
    """
    if args[0] in ("extract", "predict") and "-o" not in args:
        args = (*args, "-o", "old")
    before = folder_content()
    result = run(*args)
    assert result.exit_code == code, result
    assert result.stdout == ""
    assert folder_content() == before
    return sentence(result.stderr)


def sentence(stderr: str) -> str:
    assert stderr.startswith("error: ")
    assert stderr.endswith("\n")
    assert stderr.count("\n") == 1
    return stderr.removeprefix("error: ").removesuffix("\n")


def folder_content() -> dict[str, bytes]:
    return {
        str(path): path.read_bytes() if path.is_file() else b""
        for path in Path().rglob("*")
    }


def replaced(old: str, new: str, text: str = TOMATO) -> str:
    assert old in text
    return text.replace(old, new)


def without_seconds(text: str) -> str:
    text = re.sub(r"(?m)^seconds  \d+\.\d\d$", "seconds  #", text)
    return re.sub(r"\bin \d+\.\d s\.", "in # s.", text)


def large_network() -> str:
    """Return a network with 30 features of 3 values."""
    random = Random(1)
    weights = [[random.gauss(0, 1) for _ in range(4)] for _ in range(90)]
    document = {
        "format": "nn2rules-network/1",
        "features": [{"name": f"f{i}", "values": ["a", "b", "c"]} for i in range(30)],
        "layers": [
            {"weights": weights, "bias": [0] * 4, "activation": "relu"},
            {
                "weights": [[1], [-1], [1], [-1]],
                "bias": [0],
                "activation": "sigmoid",
            },
        ],
        "classes": ["no", "yes"],
    }
    return json.dumps(document)


# Networks that are well written, but that the paper's algorithm cannot read exactly.
SIGMOID = replaced('"relu"', '"sigmoid"')
SIGMOID_OFF = replaced('"bias": [-1]', '"bias": [-0.9]', SIGMOID)
TANH = replaced('"relu"', '"tanh"')
MULTICLASS = replaced(
    '[[1], [1]], "bias": [-1], "activation": "sigmoid"',
    '[[1, 2, 3], [1, 2, 3]], "bias": [0, 0, 0], "activation": "softmax"',
    replaced(
        '["unripe", "ripe"], "threshold": 0.5',
        '["green", "pink", "red"]',
    ),
)


# extract: what it prints and writes


def agree(rules_file: str, network_file: str = "net.json") -> bool:
    """Tell whether rules and network, both from files, agree on every input."""
    rules, network = nn2rules.load(rules_file), nn2rules.load(network_file)
    codes = next(network.domain.inputs(chunk=network.domain.n_inputs))
    return bool((rules.predict_codes(codes) == network.predict_codes(codes)).all())


def test_extract_prints_a_list():
    assert done("extract", "net.json") == RIPE
    assert done("extract", "net.json", "--form", "list") == RIPE


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_prints_the_rules_of_the_paper(engine: str):
    text = done("extract", "net.json", "--form", "paper", "--engine", engine)
    assert text == RIPE_BY_THE_PAPER


def test_the_engine_of_the_paper_needs_no_form():
    assert done("extract", "net.json", "--engine", "paper") == RIPE_BY_THE_PAPER


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("engine", ["table", "search"])
def test_every_engine_agrees_with_the_network(form: str, engine: str):
    options = ("--form", form, "--engine", engine, "-o", "made.json")
    text = without_seconds(done("extract", "net.json", *options))
    assert "\nfidelity equal to the network on every input\nseconds  #\n" in text
    counted = engine == "table" or form == "paper"
    assert ("unripe 4 (66.7%), ripe 2 (33.3%)" in text) == counted
    assert agree("made.json")
    rules = nn2rules.load("made.json")
    assert rules.certificate["engine"] == engine
    said = f"otherwise {rules.default}\n"
    if form == "set":
        said = "each holds by itself: unripe 2, ripe 1\n"
    assert f"\nrules    {len(rules)}, {said}" in text


def test_extract_of_a_set_says_how_few_rules_there_can_be():
    text = done("extract", "net.json", "--form", "set", "-o", "made.json")
    counted = "rules    3, each holds by itself: unripe 2, ripe 1\n"
    assert without_seconds(text) == SUMMARY.replace(
        "rules    1, otherwise unripe\n",
        f"{counted}         no such set has fewer than 3 rules\n",
    )
    assert nn2rules.load("made.json").form == "set"


@pytest.mark.parametrize("name", ["unripe", "ripe"])
def test_class_chooses_the_class_of_a_set(name: str):
    options = ("--form", "set", "--target", name, "-o", "made.json")
    done("extract", "net.json", *options)
    rules = nn2rules.load("made.json")
    assert {rule.then for rule in rules.rules} == {name}
    assert rules.default != name
    assert agree("made.json")


def test_class_finds_labels_that_are_no_strings():
    Path("net.json").write_text(replaced('"unripe", "ripe"', "0, 1"))
    text = done("extract", "net.json", "--form", "set", "--target", "0")
    assert "\n0   66.7% of inputs; 2 rules " in text
    assert text.endswith("\n1   otherwise\n")


def test_extract_counts_support_on_rows():
    text = done("extract", "net.json", "--data", "rows.csv")
    assert "\n1 rule, tried in order                     rows determined\n" in text
    assert "\n1  ripe    if color = red · size ≠ small                 3\n" in text


def test_extract_says_more_if_asked():
    text = done("extract", "net.json", "--verbose")
    assert re.search(r"inputs +network\n.* determined +probability\n", text)
    assert re.search(r"33.3%? +0.73 to 0.74\n", text)


def test_extract_sorts_by_support():
    options = ("--form", "paper", "--data", "rows.csv")
    text = done("extract", "net.json", *options)
    assert re.search(r"\n A1  color = red · size = big +2\n", text)
    assert re.search(r"\n A2  color = red · size = medium +1\n", text)


def test_extract_counts_how_often_rules_are_right():
    Path("rows.csv").write_text(
        "color,truth,size\nred,ripe,big\nred,unripe,big\nyellow,ripe,big\n"
    )
    options = ("--data", "rows.csv", "--labels", "truth")
    text = done("extract", "net.json", *options)
    assert "rows determined   labels agree\n" in text
    assert "if color = red · size ≠ small                 2            50%\n" in text
    assert "“Labels agree” is the network's accuracy on the rows of each rule." in text


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        (["ripe", "", "unripe"], "rows.csv, line 3: column 'truth' is empty; the "),
        (["ripe", "unripe", "green"], "rows.csv, line 4: column 'truth' holds 'gr"),
        (["a", "b", "a"], "column 'truth' holds a, b, but the model's classes are"),
        (["", "", ""], "column 'truth' holds nothing, but the model's classes are"),
    ],
)
def test_labels_that_are_no_classes(cells: list[str], words: str):
    rows = [f"red,{cell},big\n" for cell in cells]
    Path("rows.csv").write_text("color,truth,size\n" + "".join(rows))
    options = ("--data", "rows.csv", "--labels", "truth")
    assert refused("extract", "net.json", *options).startswith(words)


@pytest.mark.parametrize(
    "command",
    [
        ("extract", "net.json", "--data", "rows.csv"),
        ("check", "net.json", "rules.json", "--data", "rows.csv"),
        ("predict", "rules.json", "rows.csv"),
    ],
    ids=lambda command: command[0],
)
def test_a_file_with_semicolons(command: tuple[str, ...]):
    Path("rows.csv").write_text(BASKET.replace(",", ";"))
    assert refused(*command) == (
        "rows.csv: its columns seem to be separated by semicolons, expected commas"
    )


def test_rows_are_encoded_once(monkeypatch: pytest.MonkeyPatch):
    sizes = []
    encode = nn2rules.Domain.encode

    def counting(self: nn2rules.Domain, rows: object, **options: str) -> object:
        sizes.append(len(rows))  # type: ignore[arg-type]
        return encode(self, rows, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(nn2rules.Domain, "encode", counting)
    done("predict", "rules.json", "rows.csv")
    assert sizes.count(4) == 1


@pytest.mark.parametrize("scope", [(), ("--scope", "support")])
def test_a_scope_that_nobody_chose_is_told(scope: tuple[str, ...]):
    Path("net.json").write_text(large_network())
    names = [f"f{i}" for i in range(30)]
    rows = [",".join("abc"[(i + j) % 3] for i in range(30)) for j in range(6)]
    Path("rows.csv").write_text("\n".join([",".join(names), *rows]) + "\n")
    result = run("extract", "net.json", "--data", "rows.csv", *scope)
    assert result.exit_code == 0
    told = (
        f"note: the domain has {3**30:,} inputs, so these rules are for the rows of "
        f"--data (--scope support). They are right wherever they apply; "
    )
    assert result.stderr.startswith(told) == (scope == ())
    assert result.stderr.count("\n") == (scope == ())


def test_rows_that_no_rule_decides_are_counted():
    options = ("--data", "rows.csv", "--scope", "support", "--max-rules", "0")
    result = run("extract", "net.json", *options)
    assert result.stderr == "note: 4 of 4 rows are not covered by any rule\n"
    text = done("extract", "net.json", *options, "-o", "made.json")
    assert "; 4 of 4 rows are not covered by any rule\n" in text


def test_extract_support_leaves_out_rules_that_decide_no_row():
    Path("rows.csv").write_text("color,size\nred,big\nyellow,big\n")
    options = ("--data", "rows.csv", "--scope", "support")
    result = run("extract", "net.json", "--form", "paper", *options)
    assert " A1  color = red · size = big " in result.stdout
    assert "1 of 2 rows is not covered." in result.stdout
    assert result.stdout.endswith("\nunripe   otherwise (not proved)\n")
    assert result.stderr == "note: 1 of 2 rows are not covered by any rule\n"
    text = done("extract", "net.json", *options, "--form", "list")
    assert len(re.findall(r"if .*  1\n", text)) == 2
    assert re.search(r"unripe  otherwise \(not proved\) +0\n$", text)
    text = done("extract", "net.json", *options)
    assert len(re.findall(r"(?m)^ [AB]1  .*  1$", text)) == 2


def test_extract_reads_rows_packed_by_gzip():
    Path("rows.csv.gz").write_bytes(gzip.compress(BASKET.encode()))
    packed = done("extract", "net.json", "--data", "rows.csv.gz")
    assert packed == done("extract", "net.json", "--data", "rows.csv")


def test_files_without_an_end_are_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("nn2rules.files.tables.MOST_TEXT", 1 << 20)
    monkeypatch.setattr("nn2rules.files.safe_files.MOST_TEXT", 1 << 20)
    Path("bomb.csv.gz").write_bytes(gzip.compress(b"color,size\n" + bytes(9 << 20)))
    assert refused("extract", "net.json", "--data", "bomb.csv.gz") == (
        "bomb.csv.gz: the file is larger than 1 MB when unpacked, which is the limit"
    )
    Path("long.csv").write_bytes(b"color,size\n" + bytes(9 << 20))
    Path("long.json").write_bytes(b" " * (9 << 20))
    too_large = "the file is larger than 1 MB, which is the limit"
    for name in ("long.csv", "/dev/zero"):
        said = refused("extract", "net.json", "--data", name)
        assert said == f"{name}: {too_large}"
    assert refused("extract", "long.json") == f"long.json: {too_large}"


def test_extract_with_a_header_and_no_rows_counts_nothing():
    Path("rows.csv").write_text("color,size\n")
    text = done("extract", "net.json", "--data", "rows.csv")
    assert re.search(r"if color = red · size ≠ small +0\n", text)
    text = done("extract", "net.json", "--data", "rows.csv", "--scope", "support")
    assert text.endswith("\nunripe   otherwise (not proved)\n")


def test_extract_fixes_features_in_the_order_asked_for():
    own = "buying, maint, doors, persons, lug_boot, safety"
    options = ("--form", "paper", "-o", "made.json")
    assert "rules    117, " in done("extract", CAR, *options)
    assert "rules    532, " in done("extract", CAR, *options, "--order", own)


def test_order_takes_a_name_with_a_comma_in_quotes():
    Path("net.json").write_text(replaced('"size"', '"size, rough"'))
    options = ("--layer", "0", "--order", '"size, rough",color')
    text = done("neurons", "net.json", *options)
    assert '\n  if "size, rough" = medium and color = red then 1\n' in text


@pytest.mark.parametrize(
    ("top", "lines"),
    [
        (["--all"], RIPE_BY_THE_PAPER),
        (
            ["--top", "1"],
            RIPE_BY_THE_PAPER.replace(
                " A2  color = red · size = big               16.7%\n",
                ' …   1 more rule; top="all" (--all) shows it\n',
            ),
        ),
        (["--top", "2"], RIPE_BY_THE_PAPER),
        (["--top", "9"], RIPE_BY_THE_PAPER),
    ],
)
def test_extract_prints_so_many_rules_at_most(top: list[str], lines: str):
    assert done("extract", "net.json", "--form", "paper", *top) == lines


def test_extract_writes_the_rules_and_says_so():
    text = done("extract", "net.json", "-o", "made.json")
    assert without_seconds(text) == SUMMARY
    assert nn2rules.load("made.json") == nn2rules.extract(nn2rules.load("net.json"))


def test_extract_replaces_an_older_file_and_leaves_nothing_else():
    before = set(folder_content())
    done("extract", "net.json", "-o", "old")
    assert set(folder_content()) == before
    assert len(nn2rules.load("old")) == 1


@pytest.mark.parametrize(
    "options",
    [(), ("--form", "set"), ("--seed", "7"), ("--jobs", "2"), ("--effort", "2")],
    ids=" ".join,
)
def test_extract_writes_the_same_bytes_twice(options: tuple[str, ...]):
    Path("net.json").write_text(MULTICLASS)
    done("extract", "net.json", *options, "-o", "one.json")
    done("extract", "net.json", *options, "-o", "two.json")
    assert Path("one.json").read_bytes() == Path("two.json").read_bytes()


def test_jobs_and_seed_change_no_answer(car_rules: str):
    options = ("--seed", "3", "--effort", "0", "--jobs", "-1", "-o", "made.json")
    done("extract", CAR, *options)
    assert agree("made.json", CAR)
    effortless, usual = nn2rules.load("made.json"), nn2rules.load(car_rules)
    assert len(usual) <= len(effortless)


def test_extract_support_says_that_it_holds_for_the_rows_only():
    options = ("--data", "rows.csv", "--scope", "support", "-o", "made.json")
    text = done("extract", "net.json", *options)
    promise = "right wherever a rule applies; every row is covered"
    assert f"\nfidelity {promise}\n" in text
    rules = nn2rules.load("made.json")
    assert rules.scope == "support"
    assert "different" not in rules.certificate
    uncovered = rules.certificate["uncovered"]
    assert f"\n         {uncovered} inputs (" in text
    assert (rules.apply_codes(next(rules.domain.inputs())) < 0).sum() == uncovered
    table = [line.split(",") for line in BASKET.splitlines()]
    rows = [dict(zip(table[0], cells, strict=True)) for cells in table[1:]]
    assert (rules.apply(rows) >= 0).all()


@pytest.mark.parametrize(
    "options",
    [("--target", "ripe"), ("--form", "paper"), ("--max-rules", "1")],
    ids=" ".join,
)
def test_extract_support_promises_no_more_than_it_keeps(options: tuple[str, ...]):
    support = ("--data", "rows.csv", "--scope", "support", "-o", "made.json")
    text = done("extract", "net.json", *support, *options)
    rules = nn2rules.load("made.json")
    left = int((rules.apply_codes(next(rules.domain.inputs())) < 0).sum())
    assert rules.certificate.get("uncovered", left) == left
    assert left > 0
    assert "every row is covered" not in text  # the yellow one is not


def test_max_rules_of_a_support_keeps_the_first():
    options = ("--data", "rows.csv", "--scope", "support", "--form", "list")
    first = done("extract", "net.json", *options).splitlines()[0]
    text = run("extract", "net.json", *options, "--max-rules", "1").stdout
    assert text.splitlines()[0] == first
    assert re.search(r"\n   ripe  otherwise \(not proved\) +1\n$", text)


# The first rules of a list


@pytest.fixture(scope="module")
def car_rules(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return a file with the rules for cars, extracted once for all tests."""
    path = str(tmp_path_factory.mktemp("cars") / "rules.json")
    nn2rules.save(nn2rules.extract(nn2rules.load(CAR)), path)
    return path


def differences(rules_file: str) -> int:
    rules, network = nn2rules.load(rules_file), nn2rules.load(CAR)
    codes = next(network.domain.inputs(chunk=network.domain.n_inputs))
    return int(np.sum(rules.predict_codes(codes) != network.predict_codes(codes)))


def test_max_rules_says_on_how_many_inputs_they_differ(car_rules: str):
    text = done("extract", CAR, "--max-rules", "3", "-o", "made.json")
    rules, whole = nn2rules.load("made.json"), nn2rules.load(car_rules)
    assert len(rules) == 3
    different = differences("made.json")
    assert rules.certificate["different"] == different > 0
    assert different < whole.top(3).certificate["different"]
    assert (
        f"\nfidelity APPROXIMATE (a short list): differs from the network "
        f"on {different} of 1,728 inputs (" in text
    )


def test_fidelity_takes_the_fewest_rules_that_reach_it(car_rules: str):
    done("extract", CAR, "--fidelity", "0.95", "-o", "made.json")
    rules, whole = nn2rules.load("made.json"), nn2rules.load(car_rules)
    assert differences("made.json") <= 0.05 * 1728
    nn2rules.save(whole.top(len(rules) - 1), "fewer.json")
    assert differences("fewer.json") > 0.05 * 1728


@pytest.mark.parametrize(
    "options",
    [("--max-rules", "1"), ("--max-rules", "9"), ("--fidelity", "1")],
    ids=" ".join,
)
def test_a_list_that_is_short_enough_is_not_cut(options: tuple[str, ...]):
    assert done("extract", "net.json", *options) == RIPE


@pytest.mark.parametrize("options", [("--max-rules", "0"), ("--fidelity", "0.5")])
def test_no_rules_at_all_are_the_commonest_class(options: tuple[str, ...]):
    assert done("extract", "net.json", *options) == (
        "APPROXIMATE (the first 0 of 1 rules): differs from the network on 2 of 6 "
        "inputs\n(33.3%)\n\nunripe  otherwise\n"
    )


def test_extract_says_where_an_approximation_is_wrong():
    Path("net.json").write_text(SIGMOID_OFF)
    warning = (
        "APPROXIMATE (soft-binary): differs from the network on 1 of 6 inputs (16.7%)"
    )
    options = ("--engine", "paper", "--approximate", "soft-binary")
    assert done("extract", "net.json", *options).startswith(
        f"{warning}\nripe   2 rules"
    )
    text = done("extract", "net.json", *options, "-o", "made.json")
    assert f"fidelity {warning}\n" in text
    rules = nn2rules.load("made.json")
    network = nn2rules.load("net.json")
    codes = next(network.domain.inputs())
    assert (rules.predict_codes(codes) != network.predict_codes(codes)).sum() == 1


def test_approximate_changes_nothing_where_there_is_no_sigmoid():
    options = ("--engine", "paper", "--approximate", "soft-binary")
    assert done("extract", "net.json", *options) == RIPE_BY_THE_PAPER


@pytest.mark.parametrize(
    "text", [SIGMOID_OFF, TANH, MULTICLASS], ids=["sigmoid", "tanh", "multiclass"]
)
@pytest.mark.parametrize("form", ["list", "set"])
def test_extract_reads_other_networks_exactly(form: str, text: str):
    Path("net.json").write_text(text)
    done("extract", "net.json", "--form", form, "-o", "made.json")
    assert agree("made.json")


# explain

UNRIPE = """\
Row 0
Prediction: ripe (probability 0.731, margin 1).
These conditions alone guarantee it:
  color = red · size ≠ small
2 counterfactuals (1 change each):
  color = red → color = yellow   (unripe)
  size = big → size = small   (unripe)
No smaller change flips the prediction.
Changing a single feature can flip the prediction.
Points that each feature costs towards another class (scorecard):
  color = red: 100 (best: color = yellow)
  size = big: 100 (best: size = small)
"""


def test_explain_prints_reasons_and_changes():
    assert done("explain", "net.json", "rows.csv", "--top", "1") == UNRIPE
    text = done("explain", "net.json", "rows.csv", "--data", "rows.csv")
    assert text.startswith(UNRIPE + "\nRow 1\n")


def test_explain_prints_json():
    found = json.loads(done("explain", "net.json", "rows.csv", "--json"))
    assert [one["prediction"] for one in found] == ["ripe", "unripe", "ripe", "ripe"]
    assert found[0]["counterfactuals"] == [{"color": "yellow"}, {"size": "small"}]
    assert all(one["proved"]["fewest"] for one in found)


def test_explain_takes_every_option():
    Path("codes.csv").write_text("feature,direction,text\nsize,,too big\n")
    Path("boxes.json").write_text('[{"color": ["yellow"], "size": ["small"]}]')
    text = done(
        *("explain", "net.json", "rows.csv", "--top", "1", "--json", "--smallest"),
        *("--reasons", "2", "--immutable", "color", "--cost", "size=1.5"),
        *("--reason-codes", "codes.csv", "--adverse", "ripe", "--rules", "rules.json"),
        *("--impossible", "boxes.json", "--time", "60"),
    )
    [found] = json.loads(text)
    assert (found["counterfactuals"], found["cost"]) == ([{"size": "small"}], 1.5)
    assert found["reason_codes"] == ["too big"]
    assert [rule["name"] for rule in found["rules"]] == ["A2"]
    forbidden = ("--forbid", "size=small", "--forbid", "color=yellow")
    text = done("explain", "net.json", "rows.csv", "--top", "1", *forbidden)
    assert "No allowed change flips the prediction (proved)." in text


def test_explain_of_ranges_of_numbers():
    domain = nn2rules.Domain(
        (
            nn2rules.Feature.real("age", 18, 99, whole=True),
            nn2rules.Feature("job", ("a", "b")),
        )
    )
    last = nn2rules.Layer([[1], [0], [2]], [-40], "sigmoid")
    nn2rules.save(nn2rules.Network(domain, (last,), ("no", "yes")), "ages.json")
    Path("ages.csv").write_text("age,job\n30,a\n")
    Path("boxes.json").write_text('[{"age": [[41, 43]]}]')
    [found] = json.loads(
        done(
            *("explain", "ages.json", "ages.csv", "--json"),
            *("--forbid", "age=50..99,44", "--impossible", "boxes.json"),
            *("--cost", "age=1+0.5", "--step", "age=5", "--increase", "age"),
        )
    )
    assert (found["counterfactuals"], found["cost"]) == ([{"age": 45}], 2.5)
    assert found["reasons"] == [{"age": [[18, 35]]}]


def test_explain_says_what_is_open():
    Path("large.json").write_text(large_network())
    names = [f"f{i}" for i in range(30)]
    Path("large.csv").write_text(",".join(names) + "\n" + ",".join("a" * 30) + "\n")
    result = run("explain", "large.json", "large.csv", "--time", "0")
    assert result.exit_code == 3
    assert "Undecided\n" in result.stdout
    assert result.stderr == "note: a limit came first for 1 of 1 rows\n"


@pytest.mark.parametrize(
    ("options", "fact"),
    [
        (("--immutable", "hue"), "immutable: there is no feature 'hue'"),
        (("--cost", "size"), "--cost: 'size', expected NAME=2, or NAME=1+0.5"),
        (("--cost", "size=much"), "--cost: 'much' is not a number"),
        (("--step", "size=1"), "steps: feature 'size' has listed values"),
        (("--forbid", "hue=1"), "--forbid: there is no feature 'hue'"),
        (("--forbid", "size=huge"), "forbidden: feature 'size' has no value 'huge'"),
        (("--adverse", "green"), "--adverse: there is no class 'green'"),
        (("--reason-codes", "rows.csv"), "rows.csv: there is no column 'feature'"),
        (("--impossible", "net.json"), "net.json: expected a list, found an object"),
    ],
)
def test_explain_refuses_what_makes_no_sense(options: tuple[str, ...], fact: str):
    assert fact in refused("explain", "net.json", "rows.csv", *options)


def test_explain_goes_on_where_a_row_cannot_be_explained():
    bad = [f"red,huge{number}" for number in range(12)]
    Path("rows.csv").write_text("\n".join(["color,size", bad[0], "red,big", *bad[1:]]))
    result = run("explain", "net.json", "rows.csv")
    assert result.exit_code == 2
    assert result.stdout == UNRIPE.replace("Row 0", "Row 1")
    first, *_, tenth, more, last = result.stderr.splitlines()
    assert first.startswith(
        "note: rows.csv, line 2: feature 'size' has no value 'huge0'"
    )
    assert tenth.startswith("note: rows.csv, line 12: ")
    assert more == "note: and 2 more rows"
    assert last == (
        "error: rows.csv: 12 of 13 rows cannot be explained; the others are"
    )
    result = run("explain", "net.json", "rows.csv", "--json", "--quiet", "--top", "2")
    refused_row, explained = json.loads(result.stdout)
    assert refused_row["error"].startswith("feature 'size' has no value 'huge0'")
    assert explained["prediction"] == "ripe"
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1


def test_explain_goes_on_where_a_row_is_impossible():
    Path("boxes.json").write_text('[{"color": ["red"], "size": ["big"]}]')
    Path("rows.csv").write_text("color,size\nred,big\nred,small\n")
    given = ("explain", "net.json", "rows.csv", "--impossible", "boxes.json")
    result = run(*given)
    assert (result.exit_code, result.stdout[:6]) == (2, "Row 1\n")
    assert "line 2: it is among the impossible inputs" in result.stderr
    Path("rows.csv").write_text("color,size\nred,big\n")
    assert refused(*given) == "rows.csv, line 2: it is among the impossible inputs"


def test_explain_names_the_line_of_a_row():
    Path("rows.csv").write_text("color,size\nred,huge\nred,huge\n")
    message = refused("explain", "net.json", "rows.csv")
    assert message.startswith("rows.csv, line 2: feature 'size' has no value 'huge'")
    Path("rows.csv").write_text("color\nred\n")
    message = refused("explain", "net.json", "rows.csv")
    assert message.startswith("rows.csv: the feature 'size' is missing")


# neurons


def test_neurons_prints_the_derivation_of_the_paper():
    assert done("neurons", "net.json") == NEURONS


def test_neurons_prints_one_layer_or_one_neuron():
    first, second, score = NEURONS.rstrip("\n").split("\n\n")
    assert done("neurons", "net.json", "--layer", "0") == f"{first}\n\n{second}\n"
    assert done("neurons", "net.json", "--layer", "1") == f"{score}\n"
    text = done("neurons", "net.json", "--layer", "0", "--neuron", "1")
    assert text == f"{second}\n"
    assert done("neurons", "net.json", "--neuron", "0") == f"{first}\n\n{score}\n"


def test_neurons_prints_so_many_rules_at_most():
    text = done("neurons", "net.json", "--layer", "1", "--top", "1")
    assert text == (
        "layer 1, neuron 0 (score): 4 rules\n"
        "  if color = red and size = small then -1\n"
        "  … and 3 more rules\n"
    )
    assert done("neurons", "net.json", "--top", "0") == NEURONS


def test_neurons_fixes_features_in_the_order_asked_for():
    text = done("neurons", "net.json", "--layer", "0", "--order", "size,color")
    assert text.startswith(
        "layer 0, neuron 0 (relu): 5 rules\n  if size = small then 0\n"
    )


def test_neurons_of_a_real_network_write_weights_on_the_open_features():
    text = done("neurons", CAR, "--layer", "0", "--neuron", "1", "--top", "1")
    head, rule, more = text.splitlines()
    assert head == "layer 0, neuron 1 (relu): 29 rules"
    assert rule.startswith("  if persons = 2 then 0.45044 + 0.597431·[buying = med] + ")
    assert more == "  … and 28 more rules"


# predict


def test_predict_adds_the_class_and_the_rule():
    assert done("predict", "rules.json", "rows.csv") == ANSWERS


def test_predict_writes_a_file():
    text = done("predict", "rules.json", "rows.csv", "-o", "answers.csv")
    assert text == "4 rows written to answers.csv\n"
    assert Path("answers.csv").read_text() == ANSWERS


def test_predict_of_a_header_alone_is_a_header():
    Path("rows.csv").write_text("size,color\n")
    text = done("predict", "rules.json", "rows.csv")
    assert text == "size,color,prediction,rule\n"


def test_predict_keeps_other_columns_as_they_are():
    Path("rows.csv").write_text('size,note,color\nbig,"a, ""b""\nc",red\n')
    text = done("predict", "rules.json", "rows.csv")
    assert text == ('size,note,color,prediction,rule\nbig,"a, ""b""\nc",red,ripe,A2\n')


@pytest.mark.parametrize(
    "content",
    [
        BASKET.replace("\n", "\r\n"),
        "\ufeff" + BASKET,
        BASKET.replace("\n2,", "\n\n2,"),
        BASKET.rstrip("\n"),
    ],
    ids=["windows", "byte order mark", "empty line", "no last newline"],
)
def test_predict_reads_csv_as_other_programs_write_it(content: str):
    Path("rows.csv").write_bytes(content.encode())
    assert done("predict", "rules.json", "rows.csv") == ANSWERS


@pytest.mark.parametrize(
    ("mode", "answer"), [("default", "unripe,default"), ("none", ",")]
)
def test_predict_unknown_values_as_asked(mode: str, answer: str):
    Path("rows.csv").write_text("color,size\nred,big\nblue,big\nred,\n")
    text = done("predict", "rules.json", "rows.csv", "--unknown", mode)
    assert text == (
        "color,size,prediction,rule\n"
        f"red,big,ripe,A2\nblue,big,{answer}\nred,,{answer}\n"
    )


def test_predict_numbers_the_rules_as_extract_prints_them(car_rules: str):
    car = datasets.load("car").train
    header, rows = ",".join(car.columns), zip(*car.columns.values(), strict=True)
    Path("cars.csv").write_text("\n".join([header, *map(",".join, rows)]))
    rules = nn2rules.load(car_rules)
    printed = {
        line.split()[0]: line.split()
        for line in rules.text("all", width=120).splitlines()
        if line.split()[:1] and line.split()[0].isdigit()
    }
    lines = done("predict", car_rules, "cars.csv").splitlines()[1:]
    answers = [line.rsplit(",", 2)[1:] for line in lines]

    assert [label for label, _ in answers] == (
        nn2rules.load(CAR).predict(car.rows).tolist()
    )
    assert len({rule for _, rule in answers}) > 10
    for row, (label, rule) in zip(car.rows, answers, strict=True):
        if rule == "default":
            assert label == rules.default
            continue
        assert printed[rule][1:3] == [label, "if"]
        conditions = rules[rule].conditions
        assert all(row[c.feature] in c.values for c in conditions)


@pytest.mark.parametrize("column", ["prediction", "rule"])
def test_predict_never_overwrites_a_column(column: str):
    Path("rows.csv").write_text(f"color,size,{column},{column}_\nred,big,mine,own\n")
    header, row = done("predict", "rules.json", "rows.csv").splitlines()
    names = [name + "__" * (name == column) for name in ("prediction", "rule")]
    assert header == f"color,size,{column},{column}_,{','.join(names)}"
    assert row == "red,big,mine,own,ripe,A2"


# check

EQUAL = """\
EQUAL: the rules predict as the network does on every input.
Method: every input. Compared: all 6 inputs of the domain.
Predictions compared: 6. Different: 0.
"""

DIFFERENT = """\
DIFFERENT: the rules do not predict as the network does.
Method: every input. Compared: all 6 inputs of the domain.
Predictions compared: 6. Different: 2.
  color = 'red', size = 'small': the network predicts 'unripe', rule A1 'ripe'
  color = 'red', size = 'medium': the network predicts 'ripe', the default 'unripe'
"""


def test_check_says_equal():
    assert done("check", "net.json", "rules.json") == EQUAL


def test_check_follows_proofs():
    done("extract", "net.json", "-o", "made.json", "--proofs", "made.proof")
    verdict, *rest = EQUAL.splitlines(keepends=True)
    proved = "Proofs verified: 1 of 1 rules; the default is proved.\n"
    text = done("check", "net.json", "made.json", "--proofs", "made.proof")
    assert text == "".join([verdict, proved, *rest])


def test_check_refuses_proofs_that_are_damaged_or_of_other_rules():
    done("extract", "net.json", "-o", "made.json", "--proofs", "made.proof")
    asked = ("check", "net.json", "made.json", "--proofs")
    data = Path("made.proof").read_bytes()
    Path("short.proof").write_bytes(data[:-40])
    message = refused(*asked, "short.proof")
    assert "short.proof: the file is damaged, or cut short, at entry 2" in message
    assert "this is no file of proofs" in refused(*asked, "net.json")
    assert "there is no such file" in refused(*asked, "none.proof")
    message = refused("check", "net.json", "rules.json", "--proofs", "made.proof")
    assert "made.proof: these are proofs of other rules" in message


@pytest.mark.parametrize("name", ["net.json", "made.json"])
def test_proofs_do_not_take_the_place_of_another_file(name: str):
    message = refused("extract", "net.json", "-o", "made.json", "--proofs", name)
    assert "the same command has another use for this file" in message


def test_check_exits_1_and_shows_where_the_two_differ():
    text = replaced('["medium"]}', '["small"]}', Path("rules.json").read_text())
    Path("rules.json").write_text(text)
    result = run("check", "net.json", "rules.json")
    assert (result.exit_code, result.stdout) == (1, DIFFERENT)
    assert result.stderr == (
        "note: the certificate does not belong to these rules: they were changed after "
        "it was made, or written by an older version; it is left out, with the facts "
        "about each rule\n"
    )


CHANGED = """\
Different on 2 of 6 inputs (33.3%) and on 1 of 3 rows (33.3%).
For example, color = red · size = small: unripe → ripe.
Proved: the rules below cover exactly the inputs that differ, and each holds on
its own.

unripe → ripe   1 input, 1 row, 1 rule    inputs   rows
 A1  color = red · size = small                1      1

ripe → unripe   1 input, 0 rows, 1 rule   inputs   rows
 B1  color = red · size = medium               1      0
"""


def test_compare_exits_0_if_both_are_equal():
    assert done("compare", "net.json", "rules.json") == (
        "Equal on all 6 inputs: proved by comparing them one by one.\n"
    )
    assert done("compare", "rules.json", "net.json", "--json").startswith(
        '{\n  "equal": true,\n  "how": "table",\n  "inputs": 0,'
    )


def test_compare_exits_1_and_shows_what_became_of_each_class():
    text = replaced('["medium"]}', '["small"]}', Path("rules.json").read_text())
    Path("new.json").write_text(
        re.sub(r'"certificate": .*}', '"certificate": {}}', text)
    )
    Path("rows.csv").write_text("color,size\nred,small\nred,big\nyellow,big\n")
    asked = ("compare", "net.json", "new.json", "--data", "rows.csv")
    result = run(*asked)
    assert (result.exit_code, result.stdout) == (1, CHANGED)
    result = run(*asked, "--json")
    assert result.exit_code == 1
    found = json.loads(result.stdout)
    assert (found["inputs"], found["rows"], found["complete"]) == (2, 1, True)
    assert found["rules"][0] == {
        "rule": "A1",
        "old": "unripe",
        "new": "ripe",
        "if": {"color": ["red"], "size": ["small"]},
        "inputs": 1,
        "rows": 1,
    }


def test_compare_exits_3_where_the_time_ends_first():
    result = run("compare", "net.json", "rules.json", "--time", "0")
    assert result.exit_code == 3
    assert result.stdout.startswith(
        "Undecided: the budget was spent before a difference"
    )


def test_compare_of_different_domains_offers_the_common_part():
    Path("new.json").write_text(replaced('"big"', '"huge"'))
    message = refused("compare", "net.json", "new.json")
    assert "only the old one has big, only the new one has huge" in message
    assert "with common=True (--common) they are compared" in message
    text = done("compare", "net.json", "new.json", "--common")
    assert text.startswith(
        "Equal on all 4 inputs: proved by comparing them one by one.\n"
    )
    assert "Their domains differ, so they are compared on what" in text


def test_compare_says_which_line_or_option_is_wrong():
    Path("rows.csv").write_text("color,size\nred,small\nred,tiny\n")
    asked = ("compare", "net.json", "rules.json")
    message = refused(*asked, "--data", "rows.csv")
    assert message.startswith("rows.csv, line 3: feature 'size' has no value 'tiny'")
    Path("rows.csv").write_text("color\nred\n")
    assert "size" in refused(*asked, "--data", "rows.csv")
    assert refused(*asked, "--classes", "a,b") == (
        "--classes is for models; a network file contains it"
    )


def test_check_of_a_support_list_says_what_it_does_not_claim():
    Path("rows.csv").write_text("color,size\nred,big\n")
    options = ("--data", "rows.csv", "--scope", "support", "-o", "made.json")
    done("extract", "net.json", *options)
    text = done("check", "net.json", "made.json")
    assert text.startswith(
        "EQUAL: the rules predict as the network does on every input that"
    )
    assert "Predictions compared: 2. Different: 0." in text
    assert "Not compared, not covered: 4." in text
    text = done("check", "net.json", "made.json", "--data", "rows.csv")
    assert "1 given row" in text


def test_check_does_not_compare_open_rows_unless_asked():
    Path("rows.csv").write_text("color,size\nyellow,small\n")
    options = ("--data", "rows.csv", "--scope", "support", "-o", "made.json")
    done("extract", "net.json", *options)
    Path("rows.csv").write_text("color,size\nred,big\nred,medium\nyellow,small\n")
    text = done("check", "net.json", "made.json", "--data", "rows.csv")
    assert text.startswith(
        "EQUAL: the rules predict as the network does on every input that"
    )
    assert "Given rows that were not compared, for the same reason: 2." in text
    options = ("--data", "rows.csv", "--default")
    result = run("check", "net.json", "made.json", *options)
    assert result.exit_code == 1
    assert result.stdout.startswith("DIFFERENT")


SMALL_RED = '[{"color": ["red"], "size": ["small"]}]'


def test_check_leaves_out_what_is_declared_impossible():
    red = json.loads(Path("rules.json").read_text())
    red["rules"] = [{"if": {"color": ["red"]}, "then": "ripe"}]
    red["certificate"] = {"impossible": json.loads(SMALL_RED), "possible": 5}
    Path("red.json").write_text(json.dumps(red))
    Path("boxes.json").write_text(SMALL_RED)
    assert run("check", "net.json", "red.json").exit_code == 1
    result = run("check", "net.json", "red.json", "--impossible", "boxes.json")
    assert result.exit_code == 0
    assert result.stdout.startswith(
        "EQUAL: the rules predict as the network does on every input but the 1 "
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[", "boxes.json: not valid JSON, or truncated"),
        ('{"color": ["red"]}', "boxes.json: expected a list, found an object"),
        ('["red"]', "boxes.json: [0]: expected an object, found a string"),
        ('[{"color": "red"}]', "boxes.json: [0].color: expected a list, found a str"),
        ('[{"color": ["blue"]}]', "impossible[0]: feature 'color' has no value 'blue'"),
        ('[{"taste": ["red"]}]', "there is no feature 'taste'; there are 'color'"),
    ],
)
def test_check_refuses_what_cannot_be_impossible(content: str, message: str):
    Path("boxes.json").write_text(content)
    options = ("--impossible", "boxes.json")
    result = run("check", "net.json", "rules.json", *options)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"error: {message}")


def test_check_admits_an_approximation():
    Path("net.json").write_text(SIGMOID_OFF)
    options = ("--engine", "paper", "--approximate", "soft-binary", "-o", "made.json")
    done("extract", "net.json", *options)
    result = run("check", "net.json", "made.json")
    assert result.exit_code == 1
    assert "Predictions compared: 6. Different: 1." in result.stdout
    assert "say themselves that they are approximate" in result.stdout


def test_check_of_a_list_cut_short_exits_1():
    done("extract", "net.json", "--max-rules", "0", "-o", "made.json")
    result = run("check", "net.json", "made.json")
    assert (result.exit_code, result.stderr) == (1, "")
    assert "Predictions compared: 6. Different: 2." in result.stdout


@pytest.mark.parametrize("form", FORMS)
def test_check_of_every_form_exits_0(form: str):
    done("extract", "net.json", "--form", form, "-o", "made.json")
    assert done("check", "net.json", "made.json") == EQUAL


def test_check_notes_that_the_rules_are_of_another_network():
    Path("net.json").write_text(replaced('"bias": [-1]', '"bias": [-1.5]'))
    result = run("check", "net.json", "rules.json")
    assert (result.exit_code, result.stdout) == (0, EQUAL)
    assert result.stderr == (
        "note: the rules were extracted from another network: it has the "
        "features and classes of the rules, but other weights; use the model that the "
        "rules were extracted from, or extract them again\n"
    )


def edited(change) -> str:
    """Return the file of rules with a change."""
    document = json.loads(Path("rules.json").read_text())
    change(document)
    return json.dumps(document)


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d["certificate"].update(impossible=json.loads(SMALL_RED)),
        lambda d: d["certificate"].update(possible=0, different=0, inputs=0),
        lambda d: d["certificate"].update(rules="0" * 64),
        lambda d: d["certificate"].pop("rules"),
        lambda d: d.pop("certificate"),
        lambda d: d["rules"][0].update(inputs=5),
    ],
)
def test_edits_of_what_a_file_claims_change_no_verdict(change):
    Path("rules.json").write_text(edited(change))
    result = run("check", "net.json", "rules.json")
    assert result.exit_code == 0
    assert result.stdout.startswith(
        "EQUAL: the rules predict as the network does on ev"
    )


def test_a_summary_says_what_was_only_probed():
    rules = nn2rules.load("rules.json")
    model = {"probed": ["scale"]}
    rules = rules.replace(certificate={**rules.certificate, "model": model})
    lines = summary_of(rules, 0.0).splitlines()
    assert lines[2] == "fidelity equal to the network on every input"
    assert lines[3].startswith("         READ BY PROBING (scale): ")


# predict: what is open


def test_a_report_refuses_a_protected_typo_before_any_work(monkeypatch):
    def no_work(*_args, **_options):
        raise AssertionError("the work was begun")

    monkeypatch.setattr(nn2rules, "extract", no_work)
    Path("rows.csv").write_text("color,size\nyellow,small\n")
    result = run("report", "net.json", "--data", "rows.csv", "--protected", "colour")
    assert result.exit_code == 2
    assert result.stderr.startswith("error: protected: 'colour' is neither a feature")


def test_predict_says_what_is_not_proved():
    Path("rows.csv").write_text("color,size\nyellow,small\n")
    options = ("--data", "rows.csv", "--scope", "support", "-o", "made.json")
    done("extract", "net.json", *options)
    Path("rows.csv").write_text("color,size\nred,big\nyellow,small\n")
    note = "note: no rule covers 1 of 2 rows; their prediction is "
    result = run("predict", "made.json", "rows.csv")
    assert result.exit_code == 0
    assert result.stdout == (
        "color,size,prediction,rule\nred,big,,\nyellow,small,unripe,A1\n"
    )
    assert result.stderr == f"{note}empty\n"
    result = run("predict", "made.json", "rows.csv", "--uncovered", "default")
    assert result.stdout.splitlines()[1:] == [
        "red,big,unripe,default (not proved)",
        "yellow,small,unripe,A1",
    ]
    assert result.stderr == f"{note}the default class, not proved\n"
    result = run("predict", "made.json", "rows.csv", "--uncovered", "error")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == (
        "error: rows.csv, line 2: no rule covers 1 of 2 rows; this is the first\n"
    )
    assert run("predict", "rules.json", "rows.csv", "--uncovered", "error").stderr == ""


@pytest.mark.parametrize("form", ["list", "set"])
def test_impossible_inputs_as_conditions_and_as_a_file(form: str):
    Path("boxes.json").write_text('[{"color": ["yellow"], "size": ["small"]}]')
    options = ("extract", "net.json", "--form", form)
    text = done(*options, "--impossible", "color = yellow and size = small")
    assert text == done(*options, "--impossible", "boxes.json")
    assert text != done(*options)
    assert "there is no feature" in run(*options, "--impossible", "hue = 1").stderr
    text = done(*options, "--impossible", "boxes.json", "-o", "made.json")
    assert "\nfidelity equal to the network on every possible input\n" in text


# demo, help, version


def test_demo_shows_rules_and_checks_them_on_every_input():
    text = without_seconds(done("demo"))
    assert "  safety    low, med, high\n" in text
    assert "NN2Rules paper extracts its rules in # s. " in text
    assert re.search(r"(?m)^ A1  .* · .* 42$", text)
    assert "\n …   112 more rules cover another " in text
    assert re.search(r"(?m)^ 1  unacc  if safety = low  .* 476$", text)
    assert "Predictions compared: 1,728. Different: 0.\n" in text
    assert text.endswith(f"\n  nn2rules extract {CAR}\n")


def test_demo_ends_by_saying_where_its_report_is():
    assert done("demo", "-o", "report.html").endswith("\n\n  report.html\n")
    assert "Which cars are acceptable?" in Path("report.html").read_text("utf-8")
    assert run("demo", "-o", "folder").stderr == (
        "error: folder: this is a folder, expected a file name\n"
    )


def test_version():
    assert done("--version") == f"nn2rules {nn2rules.__version__}\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_in_the_help_and_has_its_own(command: str):
    assert command in done("--help")
    assert f"nn2rules {command}" in done(command, "--help")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_help_has_an_example_and_flags_without_types(command: str):
    text = done(command, "--help")
    assert f" Example: nn2rules {command}" in text
    assert "--quiet" in text
    assert re.search("<(bool|int|float|path)", text) is None


@pytest.mark.parametrize("command", COMMANDS)
def test_the_method_of_the_paper_comes_last(command: str):
    panels = re.findall(r"(?m)^╭─ (.*?) ─*╮$", done(command, "--help"))
    assert panels == sorted(panels, key=["Arguments", *PANELS].index)


def words(text: str) -> str:
    """Return a text without the lines and frames that it is broken into."""
    return "".join(re.sub(r"[│╭╮╰╯─`]", "", text).split())


def help_texts(command: str) -> list[str]:
    """Return what a command and its options say of themselves, as it is written."""
    (info,) = (
        info
        for info in cli.app.registered_commands
        if info.callback.__name__.replace("_", "-") == command
    )
    signature = inspect.signature(info.callback, eval_str=True)
    options = [
        note
        for parameter in signature.parameters.values()
        for note in getattr(parameter.annotation, "__metadata__", ())
    ]
    documented = inspect.getdoc(info.callback)
    texts = [documented, info.epilog, *(option.help for option in options)]
    return [text for text in texts if text]


@pytest.mark.parametrize("command", COMMANDS)
def test_no_word_and_no_bracket_of_a_help_is_lost(
    command: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("typer.rich_utils.MAX_WIDTH", 400)
    shown = words(done(command, "--help"))
    texts = help_texts(command)
    assert len(texts) > 2
    assert [text for text in texts if words(text) not in shown] == []


def test_brackets_are_printed_as_they_are_written():
    assert "A table [[model]] for each" in done("extract-many", "--help")
    assert "[low, high]" in words_of("explain")


MODEL_OPTIONS = {"data", "values", "encoder", "classes", "threshold", "model_output"}
MODEL_OPTIONS |= {"other", "trust"}


def options_of(command: str) -> set[str]:
    (info,) = (
        info
        for info in cli.app.registered_commands
        if info.callback.__name__.replace("_", "-") == command
    )
    return set(inspect.signature(info.callback).parameters)


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_that_read_a_model_have_all_options_for_it(command: str):
    options = options_of(command)
    if command == "monitor":  # whose rows are --reference and --new
        assert options >= MODEL_OPTIONS - {"data"}
    elif "model" in options or command == "compare":
        assert options >= MODEL_OPTIONS
    else:
        assert not options & (MODEL_OPTIONS - {"data", "trust"})


@pytest.mark.parametrize(
    "command",
    [
        *("extract", "extract-many", "report", "explain", "verify", "audit"),
        *("compare", "check"),
    ],
)
def test_commands_that_work_long_have_all_limits(command: str):
    assert options_of(command) >= {"seconds", "jobs", "cluster", "quiet", "as_json"}


def test_help_says_what_a_shared_option_does_in_this_command():
    claim = "Stop after this many seconds for each claim; by default 60."
    assert claim in words_of("verify")
    page = "Stop after this many seconds for the whole page; by default 60."
    assert page in words_of("audit")


def words_of(command: str) -> str:
    return " ".join(re.sub(r"[│╭╮╰╯─]", "", done(command, "--help")).split())


def with_threshold() -> tuple[str, ...]:
    """Write a model, its rules for another threshold; return how it is read."""
    import joblib
    import pandas as pd
    from sklearn.linear_model import LogisticRegression

    rows = pd.DataFrame({"age": [20, 30, 40, 50, 60, 70]})
    model = LogisticRegression().fit(rows, [0, 1, 0, 1, 0, 1])
    joblib.dump(model, "model.joblib")
    rows.to_csv("ages.csv", index=False)
    read = ("--values", "age=20,30,40,50,60,70", "--threshold", "0.55", "--trust")
    done("extract", "model.joblib", *read, "--form", "rules", "-o", "ages.json")
    return read


def test_check_and_evaluate_read_a_model_as_extract_did():
    pytest.importorskip("pandas")
    read = with_threshold()
    args = ("model.joblib", "ages.json", "--data", "ages.csv")
    for more in (read, read[2:]):  # the values of the rules by default
        assert "EQUAL" in done("check", *args, *more)
        assert "fidelity" in done("evaluate", *args, *more)
    assert run("check", *args, "--trust").exit_code == 1


def test_neurons_of_a_model():
    pytest.importorskip("pandas")
    read = with_threshold()
    assert done("neurons", "model.joblib", *read).startswith("layer 0, neuron 0")


@pytest.mark.parametrize(
    "args",
    [
        ("verify", "net.json", "--claim", "if color = red and size = big then ripe"),
        ("compare", "net.json", "net.json"),
        ("check", "net.json", "rules.json"),
        ("report", "net.json"),
    ],
    ids=lambda args: args[0],
)
def test_jobs_and_cluster_change_nothing(args: tuple[str, ...]):
    done("extract", "net.json", "-o", "rules.json")
    alone = done(*args)
    assert done(*args, "--jobs", "1") == alone
    assert done(*args, "--jobs", "2", "--cluster", "threads") == alone
    assert "n_jobs: 0, expected 1 or more" in refused(*args, "--jobs", "0")


def test_commands_stand_in_the_order_of_use():
    text = done("--help")
    places = [text.index(f"│ {name} ") for name in ("extract", "predict", "doctor")]
    assert places == sorted(places)


def test_quiet_leaves_out_notes_but_no_error():
    Path("rules.json").write_text(support_rules_json())
    noted = run("predict", "rules.json", "rows.csv")
    assert noted.stderr.startswith("note: no rule covers ")
    quiet = run("predict", "rules.json", "rows.csv", "--quiet")
    assert (quiet.stdout, quiet.stderr) == (noted.stdout, "")
    wrong = run("predict", "nothing.json", "rows.csv", "--quiet")
    assert wrong.stderr == "error: nothing.json: there is no such file\n"


def support_rules_json() -> str:
    rules = nn2rules.files.from_json(PAPER_RULES)
    assert isinstance(rules, nn2rules.RuleList)
    return nn2rules.files.to_json(rules.replace(scope="support"))


def test_doctor_names_extras_and_what_is_missing(monkeypatch: pytest.MonkeyPatch):
    text = done("doctor")
    assert text.startswith(f"nn2rules {nn2rules.__version__}, Python ")
    assert re.search(r"(?m)^  sklearn +pandas .*scikit-learn ", text)
    monkeypatch.setattr(
        "nn2rules.cli.doctor._is_installed", lambda name: name != "onnx"
    )
    assert f"  onnx    no onnx: {install_command('onnx')}\n" in done("doctor")


def test_evaluate_prints_what_the_function_returns():
    Path("labelled.csv").write_text("color,size,label\nred,big,ripe\nred,big,unripe\n")
    command = ("evaluate", "net.json", "rules.json", "--data", "labelled.csv")
    network, rules = nn2rules.load("net.json"), nn2rules.load("rules.json")
    rows, labels = [{"color": "red", "size": "big"}] * 2, ["ripe", "unripe"]
    found = nn2rules.evaluate(network, rules, rows, labels)
    assert done(*command, "--labels", "label") == f"{found}\n"
    document = json.loads(done(*command, "--labels", "label", "--json"))
    assert document["on_covered"]["accuracy"] == 0.5
    assert json.loads(done(*command, "--json"))["on_covered"]["accuracy"] is None


def test_json_is_printed_by_extract_and_check():
    assert done("extract", "net.json", "--form", "paper", "--json") == PAPER_RULES
    report = json.loads(done("check", "net.json", "rules.json", "--json"))
    assert (report["ok"], report["checked"]) == (True, 6)


# The documentation shows what the commands print

DOCS = Path(__file__).parents[2] / "docs"
FENCE = re.compile(r"^```(python|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


PAGES = (
    "how-to/command-line.md",
    "explanation/tomatoes.md",
    "tutorial/from-a-csv-to-rules.md",
)


def as_printed(block: str) -> str:
    """Run the commands of a block; return it with what they print.

    A line ``[...]`` stands for anything. ``cat`` of a file that does not exist yet
    makes it.
    """
    code, parts = 0, [""]
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        program, *args = shlex.split(command)
        if program == "cat":
            path = Path(args[0])
            if not path.exists():
                path.write_text(shown, encoding="utf-8")
            printed = path.read_text(encoding="utf-8")
        elif program == "echo":
            printed = f"{code}\n"
        else:
            assert program == "nn2rules"
            result = run(*args)
            code, printed = result.exit_code, result.output
        pattern = re.escape(without_seconds(shown))
        pattern = pattern.replace(re.escape("[...]\n"), "(?s:.*)")
        is_same = re.fullmatch(pattern, without_seconds(printed))
        parts.append(f"$ {command}\n{shown if is_same else printed}")
    return "".join(parts)


@pytest.mark.parametrize("page", PAGES)
def test_docs_show_what_the_commands_print(page: str):
    """`make golden` writes what they print into the page instead."""
    Path("tomato.json").write_text(TOMATO)

    def run_block(match: re.Match[str]) -> str:
        language, block = match.groups()
        if language == "console":
            return f"```console\n{as_printed(block)}```"
        if ">>>" not in block:
            exec(block, {})
        return match[0]

    text = (DOCS / page).read_text(encoding="utf-8")
    assert_golden(DOCS / page, FENCE.sub(run_block, text))


def test_docs_name_every_command():
    page = (DOCS / "how-to" / "command-line.md").read_text(encoding="utf-8")
    for command in COMMANDS:
        assert f"\n$ nn2rules {command}" in page


# Files that are not what they should be


@pytest.mark.parametrize("command", ["extract", "neurons", "check"])
@pytest.mark.parametrize(
    ("name", "facts"),
    [
        ("nope.json", ["nope.json", "no such file"]),
        ("folder", ["folder", "folder, not a file"]),
        ("rows.csv", ["rows.csv is a file of data, not a model", "with --data"]),
        ("rules.json", ["rules.json", "contains rules, expected a network"]),
    ],
)
def test_network_file_of_another_kind(command: str, name: str, facts: list[str]):
    more = ("rules.json",) if command == "check" else ()
    message = refused(command, name, *more)
    assert all(fact in message for fact in facts)


@pytest.mark.parametrize(
    ("name", "facts"),
    [
        ("nope.json", ["nope.json", "no such file"]),
        ("folder", ["folder", "folder, not a file"]),
        ("rows.csv", ["rows.csv", "this is not a decision table of nn2rules"]),
        (
            "net.json",
            ["net.json", "contains a network, expected rules", "nn2rules extract"],
        ),
    ],
)
def test_rules_file_of_another_kind(name: str, facts: list[str]):
    for message in (
        refused("predict", name, "rows.csv"),
        refused("check", "net.json", name),
    ):
        assert all(fact in message for fact in facts)


WRONG_NETWORKS = {
    "empty": ("", ["the file is empty"]),
    "blank": (" \n", ["the file is empty"]),
    "text": ("hello", ["not valid JSON", "line 1, column 1"]),
    "cut short": (TOMATO[:200], ["not valid JSON, or truncated", "line 3"]),
    "two documents": (TOMATO + TOMATO, ["not valid JSON", "Extra data"]),
    "other JSON": ('{"weights": [1, 2]}', ['no "format"', "nn2rules-network/1"]),
    "a list": ("[1, 2]", ['no "format"', "nn2rules-network/1"]),
    "format is a number": ('{"format": 1}', ["format", "expected a string"]),
    "wrong version": (
        replaced("network/1", "network/2"),
        ["format", '"nn2rules-network/2"', '"nn2rules-network/1"'],
    ),
    "nested too deeply": ("[" * 100_000, ["nested too deeply"]),
    "endless number": ('{"format": ' + "9" * 5000 + "}", ["4,300 digits"]),
    "repeated key": (
        replaced('"bias": [-1]', '"bias": [-1], "bias": [2]'),
        ["'bias' occurs twice"],
    ),
    "misspelt key": (
        replaced("threshold", "treshold"),
        ["unknown key 'treshold'", "threshold"],
    ),
    "missing key": (
        replaced('"classes": ["unripe", "ripe"], ', ""),
        ["'classes' is missing"],
    ),
    "NaN weight": (
        replaced("[4, 3]", "[NaN, 3]"),
        ["layers[0].weights[0][0]", "finite"],
    ),
    "infinite weight": (
        replaced("[4, 3]", "[4, -Infinity]"),
        ["layers[0].weights[0][1]", "finite"],
    ),
    "weight too large": (
        replaced("[4, 3]", "[4, 1e999]"),
        ["layers[0].weights[0][1]", "finite"],
    ),
    "integer too large": (
        replaced("[4, 3]", f"[{2**53 + 1}, 3]"),
        ["layers[0].weights[0][0]", "64 bits"],
    ),
    "infinite bias": (
        replaced("[-5, -5]", "[-5, Infinity]"),
        ["layers[0].bias[1]", "finite"],
    ),
    "weight is a string": (
        replaced("[4, 3]", '["4", 3]'),
        ["layers[0].weights[0][0]", "expected a number, found a string"],
    ),
    "weight is true": (
        replaced("[4, 3]", "[true, 3]"),
        ["layers[0].weights[0][0]", "expected a number, found true or false"],
    ),
    "weights are an object": (
        replaced("[[1], [1]]", "{}"),
        ["layers[1].weights", "expected a list, found an object"],
    ),
    "row too short": (
        replaced("[4, 3]", "[4]"),
        ["layers[0].weights[0]", "1 number", "expected 2"],
    ),
    "row too many": (
        replaced("[4, 3]", "[4, 3], [4, 3]"),
        ["layers[0].weights", "6 rows, expected 5", "value of the features"],
    ),
    "row missing in layer 1": (
        replaced("[[1], [1]]", "[[1]]"),
        ["layers[1].weights", "expected 2", "unit of layer 0"],
    ),
    "layer without units": (
        replaced(
            '[[1], [1]], "bias": [-1]',
            '[[], []], "bias": []',
        ),
        ["layers[1].bias", "at least one unit"],
    ),
    "no features": (
        re.sub(r'"features": .*,\n', '"features": [],\n', TOMATO),
        ["features", "at least one feature"],
    ),
    "feature without values": (
        replaced('["red", "yellow"]', "[]"),
        ["features[0]", "'color' has no values"],
    ),
    "two features of one name": (
        replaced('"size"', '"color"'),
        ["features", "two features are named 'color'"],
    ),
    "one value twice": (
        replaced('"yellow"', '"red"'),
        ["features[0]", "'color' repeats the value 'red'"],
    ),
    "values that read the same": (
        replaced('"red", "yellow"', '1, "1"'),
        ["features[0]", "1 and '1'", "read the same"],
    ),
    "value is a list": (
        replaced('"yellow"', '["yellow"]'),
        ["features[0].values[1]", "expected a single value, found a list"],
    ),
    "unknown activation": (
        replaced('"relu"', '"swish"'),
        ["layers[0].activation", "'swish'", "relu, sigmoid, silu"],
    ),
    "slope of relu": (
        replaced('"relu"', '"relu", "slope": 0.1'),
        ["layers[0].slope", "leaky_relu has one"],
    ),
    "softmax in the middle": (
        replaced('"relu"', '"softmax"'),
        ["layers[0].activation", "only for the last layer"],
    ),
    "last layer is relu": (
        replaced('"sigmoid"', '"relu"'),
        ["layers[1].activation", "relu, expected sigmoid"],
    ),
    "one class": (
        replaced('["unripe", "ripe"]', '["ripe"]'),
        ["classes", "at least two classes"],
    ),
    "one class twice": (
        replaced('"unripe"', '"ripe"'),
        ["classes repeats the value 'ripe'"],
    ),
    "more classes than units": (
        replaced('"unripe", "ripe"', '"a", "b", "c"'),
        ["classes", "3 classes", "the last layer has 1 unit"],
    ),
    "threshold of several outputs": (
        replaced('"format"', '"threshold": 0.4, "format"', MULTICLASS),
        ["threshold", "one output"],
    ),
    "threshold out of range": (
        replaced("0.5", "1.5"),
        ["threshold", "1.5 is not between 0 and 1"],
    ),
}


@pytest.mark.parametrize(("text", "facts"), WRONG_NETWORKS.values(), ids=WRONG_NETWORKS)
def test_network_file_with_a_mistake_in_it(text: str, facts: list[str]):
    Path("net.json").write_text(text)
    message = refused("extract", "net.json")
    assert message.startswith("net.json: ")
    assert all(fact in message for fact in facts), message


def rules_with(**changes: object) -> str:
    return json.dumps(json.loads(PAPER_RULES) | changes)


def one_rule(**changes: object) -> list[object]:
    return [{"if": {"color": ["red"]}, "then": "ripe"} | changes]


WRONG_RULES = {
    "wrong version": (
        rules_with(format="nn2rules-rules/2"),
        ["format", '"nn2rules-rules/2"', '"nn2rules-rules/1"'],
    ),
    "unknown key": (rules_with(otherwise="unripe"), ["unknown key 'otherwise'"]),
    "unknown form": (rules_with(form="tree"), ["form", "'tree'", "list or set"]),
    "unknown scope": (
        rules_with(scope="some"),
        ["scope", "'some'", "domain or support"],
    ),
    "default is no class": (
        rules_with(default="rotten"),
        ["default", "'rotten' is not a class", "'unripe', 'ripe'"],
    ),
    "rules are an object": (
        rules_with(rules={}),
        ["rules", "expected a list, found an object"],
    ),
    "rule without if": (
        rules_with(rules=[{"then": "ripe"}]),
        ["rules[0]", "'if' is missing"],
    ),
    "rule for no class": (
        rules_with(rules=one_rule(then="rotten")),
        ["rules[0].then", "'rotten' is not a class"],
    ),
    "rule on no feature": (
        rules_with(rules=one_rule(**{"if": {"colour": ["red"]}})),
        ["rules[0].if", "no feature 'colour'"],
    ),
    "rule on no value": (
        rules_with(rules=one_rule(**{"if": {"color": ["blue"]}})),
        ["rules[0]", "'color' has no value 'blue'"],
    ),
    "rule that allows nothing": (
        rules_with(rules=one_rule(**{"if": {"color": []}})),
        ["rules[0]", "'color' allows no value"],
    ),
    "rule with one value twice": (
        rules_with(rules=one_rule(**{"if": {"color": ["red", "red"]}})),
        ["rules[0].if.color", "occurs twice"],
    ),
    "rule with a bare value": (
        rules_with(rules=one_rule(**{"if": {"color": "red"}})),
        ["rules[0].if.color", "expected a list, found a string"],
    ),
    "support is no count": (
        rules_with(rules=one_rule(support=0.5)),
        ["rules[0].support", "whole number"],
    ),
    "probability out of range": (
        rules_with(rules=one_rule(probability=[0.5, 1.5])),
        ["rules[0].probability"],
    ),
    "inputs below none": (
        rules_with(rules=one_rule(inputs=-1)),
        ["rules[0].inputs", "0 or more"],
    ),
    "accuracy out of range": (
        rules_with(rules=one_rule(accuracy=1.5)),
        ["rules[0].accuracy", "0 to 1"],
    ),
    "certificate is a list": (
        rules_with(certificate=[]),
        ["certificate", "expected an object, found a list"],
    ),
}


@pytest.mark.parametrize(("text", "facts"), WRONG_RULES.values(), ids=WRONG_RULES)
def test_rules_file_with_a_mistake_in_it(text: str, facts: list[str]):
    Path("rules.json").write_text(text)
    message = refused("predict", "rules.json", "rows.csv")
    assert message.startswith("rules.json: ")
    assert all(fact in message for fact in facts), message


def test_file_that_is_not_text():
    Path("net.json").write_bytes(b"\xff\xfe{")
    assert "net.json: this is not a text file (UTF-8)" in refused("extract", "net.json")


# Rows that are not what they should be

WRONG_ROWS = {
    "empty": (b"", ["rows.csv", "empty", "header line"]),
    "an empty line": (b"\n", ["rows.csv", "empty", "header line"]),
    "missing column": (
        b"size,id\nbig,1\n",
        ["rows.csv", "'color' is missing", "'size', 'id'"],
    ),
    "missing columns, no rows": (
        b"id\n",
        ["rows.csv", "'color', 'size' are missing", "'id'"],
    ),
    "semicolons in the header": (
        b"color;size\n",
        ["'color', 'size' are", "'color;size'"],
    ),
    "row too short": (
        b"color,size\nred,big\nred\n",
        ["rows.csv, line 3", "1 cell", "expected 2"],
    ),
    "row too long": (
        b"color,size\n\nred,big,3\n",
        ["rows.csv, line 3", "3 cells", "expected 2"],
    ),
    "repeated column": (
        b"color,size,color\nred,big,red\n",
        ["rows.csv, line 1", "'color' occurs twice"],
    ),
    "repeated column that is no feature": (
        b"id,id,size,color\n1,1,big,red\n",
        ["rows.csv, line 1", "'id' occurs twice"],
    ),
    "open quotation mark": (b'color,size\n"red,big\n', ["rows.csv", "not readable"]),
    "Latin-1": ("color,size\nréd,big\n".encode("latin-1"), ["rows.csv", "UTF-8"]),
    "UTF-16": (BASKET.encode("utf-16"), ["rows.csv", "UTF-8"]),
    "unknown value": (
        b'color,size\n"red",big\n\nred,"big"\nblue,big\n',
        ["rows.csv, line 5", "'color' has no value 'blue'", "'red', 'yellow'"],
    ),
    "unknown value after a cell of two lines": (
        b'note,color,size\n"a\nb",red,big\n"c\nd",red,huge\n',
        ["rows.csv, line 5", "'size' has no value 'huge'", "'small', 'medium', 'big'"],
    ),
    "other case": (b"color,size\nRed,big\n", ["rows.csv, line 2", "no value 'Red'"]),
    "blank before a value": (
        b"color,size\nred, big\n",
        ["rows.csv, line 2", "no value ' big'"],
    ),
    "empty cell": (b"color,size\nred,\n", ["line 2", "'size' has an empty cell"]),
}

READ_ROWS = [
    ("extract", "net.json", "--data", "rows.csv"),
    ("predict", "rules.json", "rows.csv"),
    ("check", "net.json", "rules.json", "--data", "rows.csv"),
]


@pytest.mark.parametrize("command", READ_ROWS, ids=["extract", "predict", "check"])
@pytest.mark.parametrize(("content", "facts"), WRONG_ROWS.values(), ids=WRONG_ROWS)
def test_rows_with_a_mistake(command: list[str], content: bytes, facts: list[str]):
    Path("rows.csv").write_bytes(content)
    message = refused(*command)
    assert all(fact in message for fact in facts), message


@pytest.mark.parametrize(
    ("name", "fact"), [("nope.csv", "no such file"), ("folder", "folder, not a file")]
)
def test_rows_that_are_no_file(name: str, fact: str):
    assert fact in refused("extract", "net.json", "--data", name)
    assert fact in refused("predict", "rules.json", name)


def damaged(index: int) -> bytes:
    content = bytearray(gzip.compress(BASKET.encode() * 100, mtime=0))
    content[index] ^= 0xFF
    return bytes(content)


BROKEN_GZIP = {
    "plain text": BASKET.encode(),
    "cut short": gzip.compress(BASKET.encode())[:30],
    "wrong checksum": damaged(-6),
    "wrong block": damaged(10),
}


@pytest.mark.parametrize("content", BROKEN_GZIP.values(), ids=BROKEN_GZIP)
def test_rows_packed_by_a_broken_gzip(content: bytes):
    Path("rows.csv.gz").write_bytes(content)
    message = refused("predict", "rules.json", "rows.csv.gz")
    assert message.startswith("rows.csv.gz: ")
    assert "gzip" in message


def test_packed_rows_without_the_ending_are_not_text():
    Path("rows.csv").write_bytes(gzip.compress(BASKET.encode()))
    assert "rows.csv: this is not a text" in refused(
        "predict", "rules.json", "rows.csv"
    )


# Options and networks that make no sense together

PAPER = ["--form", "paper"]

WRONG_OPTIONS = {
    "order misses a feature": ([*PAPER, "--order", "size"], ["'color' is missing"]),
    "order names no feature": (
        [*PAPER, "--order", "size,colour"],
        ["'color' is missing", "'colour' is not a feature"],
    ),
    "order names one twice": (
        [*PAPER, "--order", "size,color,size"],
        ["'size' occurs twice"],
    ),
    "order is empty": (
        [*PAPER, "--order", ""],
        ["'color' is missing", "'size' is missing"],
    ),
    "order has two lines": ([*PAPER, "--order", "size\ncolor"], ["order"]),
    "order of a list": (["--order", "size,color"], ["order", "form 'paper'"]),
    "set by the paper": (
        ["--form", "set", "--engine", "paper"],
        ["engine 'paper'", "not 'set'"],
    ),
    "no threads": (["--jobs", "0"], ["n_jobs: 0", "-1 for all cores"]),
    "labels without data": (["--labels", "id"], ["--labels", "--data"]),
    "labels are no column": (
        ["--data", "rows.csv", "--labels", "truth"],
        ["rows.csv", "no column 'truth'", "id, color, size"],
    ),
    "labels are a feature": (
        ["--data", "rows.csv", "--labels", "color"],
        ["--labels", "'color' is a feature of the model"],
    ),
    "no such class": (
        ["--form", "set", "--target", "rotten"],
        ["--target", "no class 'rotten'", "unripe, ripe"],
    ),
    "a column as target": (
        ["--data", "rows.csv", "--target", "id"],
        ["no class 'id'", "column with the true classes is given by --labels"],
    ),
    "class of a list": (
        ["--form", "list", "--target", "ripe"],
        ["a target is for sets"],
    ),
    "class of the paper's rules": ([*PAPER, "--target", "ripe"], ["not 'paper'"]),
    "fewer of the paper's rules": (
        [*PAPER, "--max-rules", "1"],
        ["max_rules", "not 'paper'"],
    ),
    "fidelity of the paper's rules": (
        [*PAPER, "--fidelity", "0.9"],
        ["fidelity", "not 'paper'"],
    ),
    "fidelity of a search": (
        ["--engine", "search", "--fidelity", "0.9"],
        ["fidelity is counted on a table"],
    ),
    "fidelity of a support": (
        ["--data", "rows.csv", "--scope", "support", "--fidelity", "0.9"],
        ["fidelity", "'domain'"],
    ),
    "support of nothing": (["--scope", "support"], ["scope", "support", "data"]),
    "unknown approximation": (
        ["--engine", "paper", "--approximate", "roughly"],
        ["approximate", "'roughly'", "soft-binary"],
    ),
    "approximation by an exact engine": (
        ["--approximate", "soft-binary"],
        ["approximate", "soft-binary", "paper"],
    ),
}


@pytest.mark.parametrize(
    ("options", "facts"), WRONG_OPTIONS.values(), ids=WRONG_OPTIONS
)
def test_options_that_make_no_sense(options: list[str], facts: list[str]):
    message = refused("extract", "net.json", *options)
    assert all(fact in message for fact in facts), message


@pytest.mark.parametrize(
    "options",
    [
        ["extract"],
        ["extract", "net.json", "rows.csv"],
        ["extract", "net.json", "--scope", "all"],
        ["extract", "net.json", "--engine", "magic"],
        ["extract", "net.json", "--form", "tree"],
        ["extract", "net.json", "--max-rules", "-1"],
        ["extract", "net.json", "--max-rules", "few"],
        ["extract", "net.json", "--fidelity", "1.1"],
        ["extract", "net.json", "--fidelity", "-0.1"],
        ["extract", "net.json", "--effort", "-1"],
        ["extract", "net.json", "--seed", "-1"],
        ["extract", "net.json", "--seed", "x"],
        ["extract", "net.json", "--time", "-1"],
        ["extract", "net.json", "--jobs", "two"],
        ["extract", "net.json", "--top", "-1"],
        ["extract", "net.json", "--top", "ten"],
        ["extract", "net.json", "--depth", "3"],
        ["predict", "rules.json"],
        ["check", "net.json"],
        ["check", "net.json", "rules.json", "--samples", "0"],
        ["predict", "rules.json", "rows.csv", "--unknown", "skip"],
        ["neurons", "net.json", "--layer", "-1"],
        ["explain", "net.json"],
    ],
    ids=" ".join,
)
def test_usage_mistakes_exit_2_and_change_nothing(options: list[str]):
    before = folder_content()
    result = run(*options)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert re.search("Traceback|Value error|Input should", result.stderr) is None
    assert folder_content() == before


@pytest.mark.parametrize(
    "options",
    [["--layer", "2"], ["--layer", "0", "--neuron", "2"], ["--neuron", "9"]],
    ids=" ".join,
)
def test_neurons_that_do_not_exist(options: list[str]):
    message = refused("neurons", "net.json", *options)
    assert message == (
        "there is no such neuron; the layers (counted from 0) have 2, 1 neurons"
    )


BY_THE_PAPER = [("extract", "net.json", "--engine", "paper"), ("neurons", "net.json")]


@pytest.mark.parametrize("command", BY_THE_PAPER, ids=["extract", "neurons"])
@pytest.mark.parametrize(
    ("text", "facts"),
    [
        (SIGMOID, ["layers[0]", "sigmoid", "only approximate", "soft-binary"]),
        (TANH, ["layers[0]", "tanh"]),
        (MULTICLASS, ["one output", "3"]),
    ],
    ids=["sigmoid", "tanh", "multiclass"],
)
def test_networks_that_the_paper_cannot_read(
    command: tuple[str, ...], text: str, facts: list[str]
):
    Path("net.json").write_text(text)
    message = refused(*command)
    assert all(fact in message for fact in facts), message


@pytest.mark.parametrize("engine", ENGINES)
def test_multiclass_networks_have_no_rules_of_the_papers_form(engine: str):
    Path("net.json").write_text(MULTICLASS)
    options = ("--form", "paper", "--engine", engine)
    assert "3" in refused("extract", "net.json", *options)


@pytest.mark.parametrize("command", BY_THE_PAPER, ids=["extract", "neurons"])
@pytest.mark.parametrize("text", [TANH, MULTICLASS], ids=["tanh", "multiclass"])
def test_approximate_does_not_help_other_networks(command: tuple[str, ...], text: str):
    Path("net.json").write_text(text)
    refused(*command, "--approximate", "soft-binary")


@pytest.mark.parametrize("command", BY_THE_PAPER, ids=["extract", "neurons"])
def test_networks_too_large_for_the_paper_exit_3(
    command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(select_weights, "LARGEST_LIST", 1_000)
    Path("net.json").write_text(large_network())
    message = refused(*command, code=3)
    assert "layer 0, neuron 0" in message
    assert "1,000 rules" in message
    assert f"{3**30:,} inputs" in message


def test_no_time_at_all_exits_3():
    message = refused("extract", "net.json", "--time", "0", code=3)
    assert "budget of 0 seconds" in message


def test_a_search_out_of_time_prints_what_it_proved():
    Path("net.json").write_text(large_network())
    result = run("extract", "net.json", "--time", "0.5", "--top", "1")
    assert result.exit_code == 3
    assert "otherwise (not proved)" in result.stdout
    early, error = result.stderr.splitlines()
    assert early.startswith("stopped early: ")
    assert error == "error: the budget of 0.5 seconds is spent"


def test_a_search_out_of_time_writes_a_partial_file():
    Path("net.json").write_text(large_network())
    before = folder_content()
    options = ("--time", "0.5", "-o", "rules.json")
    result = run("extract", "net.json", *options)
    assert result.exit_code == 3
    assert result.stdout == "written to rules.partial.json\n"
    content = folder_content()
    assert content.pop("rules.partial.json")
    assert content == before
    rules = nn2rules.load("rules.partial.json")
    assert rules.scope == "support"
    assert rules.certificate["complete"] is False
    assert "different" not in rules.certificate
    text = done("check", "net.json", "rules.partial.json", "--samples", "100")
    assert text.startswith("PROVED: the rules predict as the network does")


# Files that cannot be written


@pytest.mark.parametrize(
    "command",
    [("extract", "net.json"), ("predict", "rules.json", "rows.csv")],
    ids=["extract", "predict"],
)
@pytest.mark.parametrize(
    ("path", "fact"),
    [
        ("nowhere/made", "there is no folder"),
        ("folder", "this is a folder"),
        ("folder/", "this is a folder"),
        (".", "this is a folder"),
        ("old/x", "there is no folder"),
    ],
)
def test_output_that_cannot_be_written(command: list[str], path: str, fact: str):
    message = refused(*command, "-o", path)
    assert message.startswith(f"{path.rstrip('/')}: {fact}")


@pytest.mark.parametrize(
    ("command", "path"),
    [
        (("extract", "net.json", "--data", "rows.csv"), "net.json"),
        (("extract", "net.json", "--data", "rows.csv"), "folder/../rows.csv"),
        (("extract", "net.json", "--data", "rows.csv"), "link"),
        (("extract", "net.json", "--network", "made.json"), "made.json"),
        (("extract", "made.partial.json"), "made.json"),
        (("predict", "rules.json", "rows.csv"), "rules.json"),
        (("predict", "rules.json", "rows.csv"), "link"),
    ],
    ids=lambda part: part if isinstance(part, str) else " ".join(part),
)
def test_files_that_are_read_are_not_written(command: tuple[str, ...], path: str):
    Path("link").symlink_to("rows.csv")
    Path("made.partial.json").write_text(TOMATO)
    message = refused(*command, "-o", path)
    assert message.endswith(
        ": the same command has another use for this file; write to another"
    )
    assert refused("extract", "net.json", "--network", "net.json", "-o", "old")


def test_folders_that_cannot_be_written_to(monkeypatch: pytest.MonkeyPatch):
    access = os.access

    def locked(path: object, mode: int) -> bool:
        return Path(str(path)).name != "folder" and access(str(path), mode)

    Path("folder/old.json").write_text("what was here before")
    monkeypatch.setattr(os, "access", locked)
    message = refused("extract", "net.json", "-o", "folder/old.json")
    assert message.startswith("folder/old.json: no permission to write into the folder")


def test_rules_that_cannot_be_saved_are_printed(monkeypatch: pytest.MonkeyPatch):
    def full(*args: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    result = run("extract", "net.json", "-o", "made.json")
    assert result.exit_code == 2
    assert sentence(result.stderr).endswith("written: No space left on device")
    assert nn2rules.files.from_json(result.stdout) == nn2rules.extract(
        nn2rules.load("net.json")
    )


def test_rules_that_are_not_all_do_not_go_to_a_device():
    Path("net.json").write_text(large_network())
    result = run("extract", "net.json", "--time", "1", "-o", "/dev/null")
    assert result.exit_code == 3
    assert "otherwise" in result.stdout
    assert not Path("/dev/null.partial").exists()


@pytest.mark.parametrize("name", ["extract", "load_model"])
def test_interrupt_exits_130_and_writes_nothing(
    name: str, monkeypatch: pytest.MonkeyPatch
):
    def interrupt(*args: object, **kwargs: object) -> None:
        raise KeyboardInterrupt

    owner = nn2rules if name == "extract" else user_files
    monkeypatch.setattr(owner, name, interrupt)
    before = folder_content()
    result = run("extract", "net.json", "-o", "old")
    assert result.exit_code == 130
    assert result.stdout == ""
    assert result.stderr == "interrupted\n"
    assert folder_content() == before


# The real program

PROGRAM = (sys.executable, "-m", "nn2rules")


def program(*args: str, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*PROGRAM, *args],
        capture_output=True,
        encoding="utf-8",
        check=False,
        **options,  # type: ignore[call-overload]
    )


def test_the_command_nn2rules_is_this_program():
    (script,) = entry_points(group="console_scripts", name="nn2rules")
    assert script.value == "nn2rules.__main__:main"


def test_python_m_nn2rules_is_this_program():
    result = program("extract", "net.json")
    assert (result.returncode, result.stdout, result.stderr) == (0, RIPE, "")


def interrupted_after(seconds: float, *args: str) -> tuple[int, str]:
    """Send Ctrl-C to the program; return its exit code and what it says of it."""
    with subprocess.Popen(
        [*PROGRAM, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        time.sleep(seconds)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
        return process.returncode, said.decode()


@pytest.mark.parametrize("module", ["nn2rules.cli.app", "numpy", "rich.console"])
def test_ctrl_c_while_the_program_starts(module: str):
    """Python tells what it has imported, and by that how far the program is."""
    command = [sys.executable, "-X", "importtime", *PROGRAM[1:], "neurons", "net.json"]
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if line.endswith(f" {module}\n"):
                process.send_signal(signal.SIGINT)
                break
        said = process.stderr.read()
        assert process.wait(timeout=60) == 130
    assert said.endswith("interrupted\n")
    assert "Traceback" not in said


def test_a_program_that_is_started_to_ignore_ctrl_c_goes_on():
    """So `nohup` and shells without job control start what runs behind them."""
    code = """
import signal
from unittest import mock
signal.signal(signal.SIGINT, signal.SIG_IGN)
import nn2rules, nn2rules.__main__
extract = nn2rules.extract
def pressed(*args, **options):
    signal.raise_signal(signal.SIGINT)
    return extract(*args, **options)
nn2rules.extract = pressed
with mock.patch("sys.argv", ["nn2rules", "extract", "net.json"]):
    nn2rules.__main__.main()
"""
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=False
    )
    assert (result.returncode, result.stdout, result.stderr) == (0, RIPE, "")


def test_nothing_is_imported_before_the_program_is_ready_for_ctrl_c():
    code = "import nn2rules.__main__, sys; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert not {"numpy", "typer", "zipfile"} & set(loaded.stdout.split())


def test_ctrl_c_keeps_what_is_proved_whole_or_not_at_all():
    Path("net.json").write_text(large_network())
    random = Random(6)
    before = folder_content()
    for _ in range(3):
        end = interrupted_after(
            random.uniform(0.5, 4), "extract", "net.json", "-o", "made.json"
        )
        assert end[0] == 130
        assert end[1].endswith("interrupted\n")
        assert "Traceback" not in end[1]
        content = folder_content()
        if "made.partial.json" in content:
            assert nn2rules.load("made.partial.json").scope == "support"
            Path("made.partial.json").unlink()
            content.pop("made.partial.json")
        assert content == before


def test_an_interrupt_that_a_library_loses_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
):
    def lose(*args: object, progress: object, **options: object) -> None:
        with suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        progress("on we go", 0.5)  # type: ignore[operator]

    def turn(*args: object, **options: object) -> None:
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise SystemError("a library does not know what to do") from None

    class Dropped:
        def __del__(self) -> None:
            signal.raise_signal(signal.SIGINT)  # Python can only print what comes here

    def drop(*args: object, progress: object, **options: object) -> None:
        Dropped()
        progress("on we go", 0.5)  # type: ignore[operator]

    for way in (lose, turn, drop):
        monkeypatch.setattr(nn2rules, "extract", way)
        result = run("extract", "net.json", "-o", "old")
        assert (result.exit_code, result.stderr) == (130, "interrupted\n")
        assert Path("old").read_text() == "what was here before"
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_program_says_one_sentence_on_a_mistake():
    result = program("predict", "net.json", "rows.csv")
    assert (result.returncode, result.stdout) == (2, "")
    assert "expected rules" in sentence(result.stderr)


def test_program_stops_quietly_when_the_reader_has_seen_enough():
    Path("rows.csv").write_text("color,size\n" + "red,big\n" * 50_000)
    with subprocess.Popen(
        [*PROGRAM, "predict", "rules.json", "rows.csv"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == b"color,size,prediction,rule\n"
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=60) == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_program_says_that_its_output_cannot_be_written():
    with open("/dev/full", "w") as full:
        result = subprocess.run(
            [*PROGRAM, "extract", "net.json"],
            stdout=full,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            check=False,
        )
    assert result.returncode == 2
    assert "No space left" in sentence(result.stderr)


def test_program_prints_on_a_terminal_without_unicode():
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    result = program("extract", "net.json", env=environment)
    assert (result.returncode, result.stderr) == (0, "")
    shown = RIPE.replace("≠", "\\u2260").replace("·", "\\xb7")
    assert result.stdout == shown


def test_program_checks_rules():
    result = program("check", "net.json", "rules.json")
    assert (result.returncode, result.stdout, result.stderr) == (0, EQUAL, "")


def test_a_search_that_stops_at_so_many_rules_claims_no_rows(tmp_path):
    network = nn2rules.datasets.network_file("car")
    args = ["--engine", "search", "--max-rules", "2", "-o", str(tmp_path / "r.json")]
    result = run("extract", str(network), *args)
    assert result.exit_code == 0
    assert "inputs that no rule covers are undecided" in result.stdout
    assert len(nn2rules.load(tmp_path / "r.json")) == 2


# Ranges of numbers


@pytest.fixture
def ranged_files(tmp_path, monkeypatch):
    """Write a network with ranges of numbers, and rows for it."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(5)
    network = ranged.random_network(rng, ranged.mixed_domain())
    rows = ranged.random_rows(rng, network.domain, 80)
    nn2rules.save(network, "net.json")
    header = list(network.domain.names)
    cells = [["" if v is None else str(v) for v in row.values()] for row in rows]
    Path("rows.csv").write_text(table_text(header, cells))
    return network, rows


def test_numbers_from_the_network_to_the_answers(ranged_files):
    network, rows = ranged_files
    result = run("extract", "net.json", "--data", "rows.csv", "-o", "rules.json")
    assert result.exit_code == 0
    assert "note: the domain has ranges of numbers, so these rules" in result.stderr
    assert re.search(r"^volume   \d+\.\d% covered by a rule", result.stdout, re.M)
    assert "inputs" not in result.stdout
    done("predict", "rules.json", "rows.csv", "-o", "answers.csv")
    answers = read_table("answers.csv").column("prediction")
    assert answers == network.predict(rows).tolist()
    shown = done("check", "net.json", "rules.json", "--data", "rows.csv")
    assert shown.startswith("PROVED: the rules predict as the network does")
    text = run("extract", "net.json", "--data", "rows.csv").stdout
    assert "\nNumbers: age 17 to 90 (whole), or 999, or missing; amount" in text


def test_numbers_off_their_range_are_answered_as_asked(ranged_files):
    run("extract", "net.json", "--data", "rows.csv", "-o", "rules.json")
    Path("off.csv").write_text("age,amount,job\n30,10.5,a\n101,10.5,a\n")
    assert refused("predict", "rules.json", "off.csv") == (
        "off.csv, line 3: feature 'age' is 101, outside of 17 to 90"
    )
    for mode in ("default", "none"):
        lines = run("predict", "rules.json", "off.csv", "--unknown", mode).stdout
        answer = lines.splitlines()[2].removeprefix("101,10.5,a,")
        rules = nn2rules.load("rules.json")
        expected = f"{rules.default},default" if mode == "default" else ","
        assert answer == expected


def test_an_edited_end_of_a_range_is_found(ranged_files):
    run("extract", "net.json", "--data", "rows.csv", "-o", "rules.json")
    document = json.loads(Path("rules.json").read_text())
    for rule in document["rules"]:
        if "age" in rule["if"]:
            rule["if"]["age"] = [[17, 90]]
    Path("rules.json").write_text(json.dumps(document))
    result = run("check", "net.json", "rules.json")
    assert "the certificate does not belong to these rules" in result.stderr
    assert result.exit_code == 1
    assert result.stdout.startswith("DIFFERENT")


def test_ranges_and_what_cannot_read_them(ranged_files):
    given = ("extract", "net.json", "--data", "rows.csv")
    assert "'age' is a range of numbers" in refused(*given, "--engine", "table")
    assert "use the form 'list' or 'set'" in refused(*given, "--form", "paper")
    assert "may never be complete" in refused("extract", "net.json")
    assert "'age' is a range of numbers" in refused("neurons", "net.json")
    stopped = run("extract", "net.json", "--time", "0.3")
    assert stopped.exit_code != 0
    assert (
        "of the volume (numbers evenly spread); the rest is undecided" in stopped.stderr
    )


def test_values_on_the_command_line(tmp_path: Path):
    joblib = pytest.importorskip("joblib")
    pd = pytest.importorskip("pandas")
    from sklearn.linear_model import LogisticRegression

    from nn2rules.models import ModelInput, load_with_rows

    rows = pd.DataFrame({"age": [20, 31, 64, 999], "pay": [1.5, 2.0, 8.25, 3.0]})
    rows["kids"] = [1, 5, 2, 2]
    model = LogisticRegression().fit(rows, [0, 0, 1, 1])
    joblib.dump(model, tmp_path / "model.joblib")
    rows.to_csv(tmp_path / "rows.csv", index=False)
    given = ModelInput(
        data=tmp_path / "rows.csv",
        values=("age=range:18,100,999", "kids=1,5,2"),
        trust=True,
    )
    loaded = load_with_rows(tmp_path / "model.joblib", given)
    assert loaded.network.domain.features == (
        nn2rules.Feature.real("age", 18, 100, whole=True, special=[999]),
        nn2rules.Feature.real("pay", 1.5, 8.25),
        nn2rules.Feature("kids", (1, 5, 2)),
    )
    assert (loaded.network.predict(loaded.rows) == model.predict(rows)).all()
    whole = replace(given, values=("age=observed", "kids=range"))
    domain = load_with_rows(tmp_path / "model.joblib", whole).network.domain
    assert domain.feature("age").values == (20, 31, 64, 999)
    assert domain.feature("kids") == nn2rules.Feature.real("kids", 1, 5, whole=True)


def test_missing_special_values_and_order_on_the_command_line(tmp_path, monkeypatch):
    joblib = pytest.importorskip("joblib")
    pd = pytest.importorskip("pandas")
    from sklearn.compose import make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OrdinalEncoder

    monkeypatch.chdir(tmp_path)
    amounts = [250, 700, 4000, 9000, 12000, 18424]
    rows = pd.DataFrame({"amount": amounts, "grade": list("BACBCA")})
    columns = make_column_transformer(
        (SimpleImputer(), ["amount"]), (OrdinalEncoder(), ["grade"])
    )
    model = make_pipeline(columns, LogisticRegression()).fit(rows, [0, 0, 0, 1, 1, 1])
    joblib.dump(model, "model.joblib")
    rows.to_csv("rows.csv", index=False)
    values = ["amount=range:250,18424,missing,special:99999", "grade=ordered:C,B,A"]
    features = [
        {
            "name": "amount",
            "range": [250, 18424],
            "whole": True,
            "values": [99999, None],
        },
        {"name": "grade", "values": ["C", "B", "A"], "ordered": True},
    ]
    reading = ["--trust", "--data", "rows.csv"]
    for text in values:
        reading += ["--values", text]
    result = run("extract", "model.joblib", *reading, "-o", "rules.json")
    assert result.exit_code == 0, result.stderr
    assert json.loads(Path("rules.json").read_text())["features"] == features

    Path("models.toml").write_text(
        f'[[model]]\nname = "loan"\nmodel = "model.joblib"\ndata = "rows.csv"\n'
        f"values = {json.dumps(values)}\n"
    )
    result = run("extract-many", "models.toml", "-o", "portfolio", "--trust")
    assert result.exit_code == 0, result.output
    written = json.loads(Path("portfolio/loan.json").read_text())
    assert written["features"] == features

    reading = ["--trust", "--data", "rows.csv", "--values", "amount=range,missing"]
    result = run("extract", "model.joblib", *reading, "--json")
    assert json.loads(result.stdout)["features"][0] == {
        "name": "amount",
        "range": [250, 18424],
        "whole": True,
        "values": [None],
    }
    reading[-1] = "amount=range:250,18424,gap"
    result = run("extract", "model.joblib", *reading)
    assert result.exit_code == 2
    assert (
        "'amount': invalid specification 'range:250,18424,gap'; expected"
        in result.stderr
    )


def test_a_code_in_a_range_is_noted_once(tmp_path, monkeypatch):
    joblib = pytest.importorskip("joblib")
    pd = pytest.importorskip("pandas")
    from sklearn.linear_model import LogisticRegression

    monkeypatch.chdir(tmp_path)
    rows = pd.DataFrame({"age": [*range(18, 68), *[999] * 6]})
    model = LogisticRegression().fit(rows, rows["age"] > 40)
    joblib.dump(model, "model.joblib")
    rows.to_csv("rows.csv", index=False)
    reading = ["model.joblib", "--trust", "--data", "rows.csv"]
    result = run("extract", *reading, "-o", "rules.json")
    assert result.exit_code == 0, result.stderr
    assert result.stderr.count("note: column 'age': 999 (in 6 rows)") == 1
    assert "--values age=range:18,67,special:999" in " ".join(result.stderr.split())
    declared = ["--values", "age=range:18,67,special:999"]
    result = run("extract", *reading, *declared, "-o", "rules.json")
    assert result.exit_code == 0, result.stderr
    assert "999" not in result.stderr


TOLD = ("verify", "--claim", "never ripe")


def test_verify_exits_by_what_became_of_the_claims(tmp_path):
    network, book = str(tmp_path / "tomato.json"), tmp_path / "book.csv"
    Path(network).write_text(TOMATO)
    result = run("verify", network, "--claim", "never ripe if color = yellow")
    assert (result.exit_code, result.stdout) == (
        0,
        "proved: never ripe if color = yellow\n  holds for all 3 inputs\n",
    )
    book.write_text(
        "name,claim\nred,if color = red then ripe\nsize,independent of size\n"
    )
    result = run("verify", network, "--claims", str(book), "--show-rules")
    assert result.exit_code == 1
    assert "red. refuted: if color = red then ripe" in result.stdout
    assert "A1  color = red · size = small" in result.stdout
    assert result.stdout.endswith("2 claims: 2 refuted\n")
    result = run("verify", network, "--claim", "if color = rd then ripe")
    assert result.exit_code == 2
    assert result.stderr.split("\n")[1:3] == [
        "  if color = rd then ripe",
        "             ^",
    ]
    assert run("verify", network).exit_code == 2
    result = run("verify", network, "--claim", "never ripe", "--json")
    [entry] = json.loads(result.stdout)
    assert (result.exit_code, entry["status"], entry["count"]) == (1, "refuted", 2)
    [counted] = json.loads(run(*TOLD, network, "--count", "--json").stdout)
    assert (counted["at_least"], counted["at_most"]) == (2, 2)
    result = run("verify", network, "--claim", "never ripe", "--time", "0")
    assert result.exit_code == 3
    assert result.stdout.startswith("undecided: never ripe")


@pytest.mark.parametrize("form", ["text", "json"])
def test_ctrl_c_keeps_the_verdicts_that_are_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
):
    network, book = str(tmp_path / "tomato.json"), tmp_path / "book.csv"
    Path(network).write_text(TOMATO)
    book.write_text(
        "name,claim\nred,if color = red then ripe\nsize,independent of size\n"
        "never,never ripe\n"
    )
    real = Verifier.verdict
    printed = []

    def verdict(self: Verifier, claim: object, meter: object) -> object:
        if isinstance(claim, IndependentOf):
            printed.append(sys.stdout.buffer.getvalue())  # type: ignore[attr-defined]
            signal.raise_signal(signal.SIGINT)
            raise KeyboardInterrupt
        return real(self, claim, meter)  # type: ignore[arg-type]

    monkeypatch.setattr(Verifier, "verdict", verdict)
    options = ["--json"] if form == "json" else []
    result = run("verify", network, "--claims", str(book), *options)
    assert result.exit_code == 130
    assert result.stderr == "1 claim: 1 refuted; 2 not verified\ninterrupted\n"
    if form == "json":
        [entry] = json.loads(result.stdout)
        assert (entry["name"], entry["status"]) == ("red", "refuted")
    else:
        assert result.stdout.startswith("red. refuted: if color = red then ripe\n")
        assert printed == [result.stdout.encode()]


def test_verify_opens_no_file_that_a_book_names(tmp_path):
    network, book = str(tmp_path / "tomato.json"), tmp_path / "book.csv"
    Path(network).write_text(TOMATO)
    done("extract", network, "-o", str(tmp_path / "rules.json"))
    book.write_text('name,claim\nx,"equivalent to ""rules.json"""\n')
    given = ("verify", network, "--claims", str(book))
    assert refused(*given) == (
        f"{book}: claim 'x' names the file 'rules.json', but a claims file may open "
        f"files only with files=True (--claim-files)"
    )
    assert done(*given, "--claim-files").startswith("proved: equivalent to")
    book.write_text('name,claim\nx,"subsumes ""/etc/passwd"""\n')
    refusal = refused(*given, "--claim-files")
    assert "which is not in the folder of the claims file" in refusal
    assert "--claim-files needs --claims" in refused(*TOLD, network, "--claim-files")
    typed = f'equivalent to "{tmp_path}/rules.json"'
    assert done("verify", network, "--claim", typed).startswith("proved")


def test_audit_exits_by_what_protected_features_do(tmp_path):
    network = str(tmp_path / "net.json")
    Path(network).write_text(TOMATO, encoding="utf-8")
    rows = tmp_path / "shops.csv"
    rows.write_text("color,size,shop,y\nred,big,a,ripe\nyellow,big,b,ripe\n", "utf-8")
    given = ("audit", network, "--data", str(rows), "--labels", "y")
    result = run(*given, "--protected", "color", "--protected", "shop")
    assert result.exit_code == 1
    assert "color alone flips the prediction: for 2 of 2 rows" in result.stdout
    assert "shop is not a feature of the model" in result.stdout
    assert "labelled ripe" in result.stdout
    result = run(*given, "--protected", "color", "--impossible", "color = yellow")
    assert result.exit_code == 0
    assert "color alone never flips a prediction (proved)." in result.stdout
    assert "Impossible inputs are left out." in result.stdout
    result = run(*given, "--protected", "shop", "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["protected"][0]["status"] == "unseen"
    result = run(*given, "--protected", "weight")
    assert result.exit_code == 2
    assert "'weight' is neither a feature of the model nor a column" in result.stderr
    assert run("audit", network).exit_code == 2


def test_audit_says_that_the_time_ended_first(tmp_path):
    network = str(tmp_path / "net.json")
    Path(network).write_text(TOMATO, encoding="utf-8")
    rows = tmp_path / "rows.csv"
    rows.write_text("color,size\nyellow,big\n", "utf-8")
    result = run("audit", network, "--data", str(rows), "--time", "0")
    assert result.exit_code == 0
    result = run(
        "audit", network, "--data", str(rows), "--time", "0", "--protected", "size"
    )
    assert result.exit_code == 3
    assert "size is undecided" in result.stdout


def with_no_reader(*args: str, both: bool = False) -> tuple[int, str]:
    """Return the exit code where nobody reads the output, and what is told."""
    read, write = os.pipe()
    os.close(read)
    try:
        result = subprocess.run(
            [*PROGRAM, *args],
            stdout=write,
            stderr=write if both else subprocess.PIPE,
            text=True,
            check=False,
            timeout=120,
        )
    finally:
        os.close(write)
    return result.returncode, result.stderr or ""


@pytest.mark.parametrize("both", [False, True])
def test_a_closed_pipe_keeps_the_exit_code(tmp_path, both):
    network, path = tmp_path / "tomato.json", tmp_path / "rules.json"
    network.write_text(TOMATO)
    rules = nn2rules.extract(nn2rules.load(network))
    rules.save(path)
    edited = tmp_path / "edited.json"
    turned = rules.replace(answers=1 - rules.answers)
    turned.save(edited)
    for args, code in (
        (["check", str(network), str(path)], 0),
        (["check", str(network), str(edited)], 1),
        (["compare", str(path), str(edited)], 1),
        (["verify", str(network), "--claim", "never ripe"], 1),
        (["extract", str(tmp_path / "none.json")], 2),
    ):
        found, told = with_no_reader(*args, both=both)
        assert (args[0], found) == (args[0], code)
        assert "Traceback" not in told
        assert "BrokenPipe" not in told


@pytest.mark.parametrize(
    "args",
    [
        ["check", "a", "b", "\u202ec\u2066"],
        ["\u202ec\u2066"],
        ["check", "--\u202ec\u2066"],
        ["check", "a", "b", "--samples", "\u202ec\u2066"],
        ["extract", "\u202ec\u2066.json"],
        ["extract", "a.json", "--form", "\u202ec\u2066\x1b[2J"],
    ],
)
def test_mistakes_are_told_without_what_a_terminal_obeys(args):
    result = CliRunner().invoke(cli.app, args)
    assert result.exit_code == 2
    assert not re.search("[\u202e\u2066\x1b]", result.output)
