"""What is in a report, and what is refused."""

import base64
import hashlib
import json
import re
import subprocess
import sys

import browsing
import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from subjects import case
from typer.testing import CliRunner

import nn2rules
from nn2rules import OptionError, cli, datasets
from nn2rules.errors import MissingExtraError
from nn2rules.report.html import embedded
from nn2rules.report.what_if import packed, plain_network

TOMATO = nn2rules.load(datasets.network_file("tomato"))
BASKET = [
    {"color": "red", "size": "big"},
    {"color": "yellow", "size": "big"},
    {"color": "red", "size": "small"},
]
LABELS = ["ripe", "unripe", "ripe"]


def test_a_browser_that_is_not_there_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(browsing.shutil, "which", {}.get)
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="no chromium on this machine"):
        browsing.started(tmp_path)
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="installs it"):
        browsing.started(tmp_path)


def embedded_data(html):
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', html)
    return json.loads(found[1])


@pytest.fixture(scope="module")
def adult():
    """Return the report of Adult, made once."""
    return case("adult").report()


def test_adult_is_far_below_two_megabytes(adult):
    made = adult
    assert len(made.html.encode()) < 2_000_000
    assert embedded_data(made.html) == json.loads(json.dumps(made.data))


def test_numbers_are_those_of_the_library(adult):
    made, found = case("adult"), adult.data
    curve = made.rules.curve(made.rows, made.labels)
    for name in {"covered", "fidelity", "accuracy"} & curve.keys():
        assert found["curve"][name] == curve[name].tolist()
    for told, rule in zip(found["rules"], made.rules, strict=True):
        assert (told["name"], told["covered"]) == (rule.name, rule.covered)
        assert told["covered_agree"] == rule.covered_agree
        assert told["determined"] == rule.support
        words = [found["conditions"][place]["text"] for place in told["if"]]
        assert all(word in made.rules.rule_text(rule) for word in words)
    shown = adult.html
    agree = made.rules.certificate["labels_agree"]
    assert f"predicts the label of {agree:,})" in shown
    assert made.rules.digest in shown
    assert made.rules.certificate["network"] in shown


def test_rows_of_another_table_are_counted_anew():
    """What is known of the rows of training is not told of others."""
    network = nn2rules.load(datasets.network_file("car"))
    both = datasets.load("car")
    rules = nn2rules.extract(network, data=both.train.rows, labels=both.train.labels)
    test = both.test
    given = {"data": test.rows, "labels": test.labels}
    for model in (network, None):
        found = rules.report(model=model, **given)
        fired = rules.apply(test.rows)
        support = np.bincount(fired[fired >= 0], minlength=len(rules)).tolist()
        assert [rule["determined"] for rule in found.data["rules"]] == support
        right = (network.predict(test.rows) == np.array(test.labels)).sum()
        assert f"predicts the label of {right:,}" in found.html
        assert f"<bdi>{len(test.rows):,}</bdi>" in found.html
        assert rules.digest in found.html


def test_examples_are_rows_that_a_rule_decides(adult):
    made, found = case("adult"), adult.data["rows"]
    domain, fired = made.network.domain, made.rules.apply(made.rows)
    codes = domain.encode(made.rows)
    positions = made.rules.positions(made.labels, len(codes))
    for rule in range(0, len(made.rules), 40):
        own = codes[fired == rule]
        for place in found["covered"][rule]:
            cells, label = found["cells"][place], found["labels"][place]
            same = (own == np.array(cells)).all(axis=1)
            times = (positions[fired == rule][same] == label).sum()
            assert times == found["times"][place]
        for place in found["wrong"][rule]:
            assert found["labels"][place] != made.rules.answers[rule]


def test_no_row_is_in_the_file_if_that_is_asked_for():
    rules = nn2rules.extract(TOMATO, data=BASKET, labels=LABELS)
    found = rules.report(model=TOMATO, data=BASKET, labels=LABELS, rows=False)
    assert found.data["rows"]["cells"] == []
    assert "It contains no rows of the data" in found.html


def test_the_policy_names_just_what_is_in_the_page():
    html = nn2rules.extract(TOMATO).report(model=TOMATO).html
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)[1]
    policy = policy.replace("&#39;", "'")
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    for kind, pattern in (("script", r"<script>(.*?)</script>"), ("style", None)):
        found = re.findall(pattern or r"<style>(.*?)</style>", html, re.DOTALL)
        assert len(found) == 1
        digest = base64.b64encode(hashlib.sha256(found[0].encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert "http" not in re.sub(r"http-equiv|http://www.w3.org/2000/svg", "", html)
    assert "eval(" not in html
    assert "innerHTML" not in html


def test_nothing_ends_the_element_around_data():
    said = ["</script>", "<!--", "\u2028", "&amp;", "\ud800"]
    assert json.loads(embedded(said)) == said
    assert not set("<>&\u2028") & set(embedded(said))
    with pytest.raises(ValueError, match="JSON"):
        embedded([float("nan")])


@pytest.mark.parametrize("n_classes", [2, 3, 4, 5, 16, 17, 255])
def test_packed_classes_are_unpacked(n_classes):
    rng = np.random.default_rng(n_classes)
    classes = rng.integers(n_classes, size=101).astype(np.uint8)
    found = packed(classes, n_classes)
    data, bits = base64.b64decode(found["data"]), found["bits"]
    each, mask = 8 // bits, (1 << bits) - 1
    read = [data[i // each] >> (bits * (i % each)) & mask for i in range(len(classes))]
    assert read == classes.tolist()


def test_weights_are_exact_in_the_page():
    network = case("numeric").network
    told = json.loads(embedded(plain_network(network)))
    for layer, plain in zip(network.layers, told["layers"], strict=True):
        assert np.array_equal(np.array(plain["weights"]), layer.weights)
        assert np.array_equal(np.array(plain["bias"]), layer.bias)


def test_rules_alone_make_a_report():
    rules = nn2rules.extract(TOMATO)
    found = rules.report()
    assert "each of the 6 possible inputs" in found.html
    assert "in Python, writes the files that the commands below read" in found.html
    assert "counted with the model" in found.html
    assert found.data["what_if"]["table"] is not None
    assert repr(found).startswith("<Report: 1 rule, ")


def test_rules_that_prove_nothing_say_so():
    made = nn2rules.RuleList(TOMATO.domain, (), "unripe", TOMATO.classes)
    assert "Nothing is proved about these rules" in made.report().html
    short = nn2rules.extract(TOMATO, max_rules=0)
    html = short.report(model=TOMATO, data=BASKET, labels=LABELS).html
    assert "Nothing is proved about these rules" in html
    assert "APPROXIMATE" in html
    assert "Rows where the rules differ from the network" in html


def test_what_cannot_occur_is_named():
    impossible = [{"color": "red", "size": "big"}]
    rules = nn2rules.extract(TOMATO, impossible=impossible)
    found = rules.report(model=TOMATO).data["what_if"]
    assert found["table"] is None
    assert found["impossible"]["boxes"] == ["10001"]
    assert "color = red and size = big" in found["impossible"]["text"]
    by_function = nn2rules.extract(
        TOMATO, impossible=lambda rows: [row["size"] == "big" for row in rows]
    )
    found = by_function.report(model=TOMATO).data["what_if"]["impossible"]
    assert found == {"text": found["text"], "boxes": []}
    assert "by a function" in found["text"]


def test_a_network_that_a_page_cannot_work_out_is_left_out():
    layers = (
        nn2rules.Layer(TOMATO.layers[0].weights, TOMATO.layers[0].bias, "gelu"),
        *TOMATO.layers[1:],
    )
    network = nn2rules.Network(TOMATO.domain, layers, TOMATO.classes)
    rules = nn2rules.extract(network)
    found = rules.report(model=network).data["what_if"]
    assert found["network"] is None
    assert "gelu" in found["why"]


def people():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, 200),
            "job": rng.choice(["clerk", "cook", "judge"], 200),
        }
    )
    labels = np.where(frame["age"] + 9 * (frame["job"] == "cook") > 45, "yes", "no")
    return frame, labels


def test_a_model_of_scikit_learn_is_read_as_it_was(tmp_path):
    frame, labels = people()
    columns = make_column_transformer(
        (StandardScaler(), ["age"]), (OneHotEncoder(), ["job"])
    )
    net = MLPClassifier((3,), random_state=0, max_iter=300, learning_rate_init=0.05)
    model = make_pipeline(columns, net).fit(frame, labels)
    rules = nn2rules.extract(model, data=frame, labels=labels, scope="support")
    path = tmp_path / "report.html"
    found = rules.report(path, model=model, data=frame, labels=labels, protected="job")
    assert path.read_text("utf-8") == found.html
    assert "Protected features" in found.html
    with pytest.raises(OptionError, match="read the model once"):
        rules.report(model=model, data=frame[:50])
    network = nn2rules.read_network(model, data=frame)
    assert rules.report(model=network, data=frame[:50]).data["curve"]["whole"] == 50


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"labels": LABELS}, "labels belong to rows"),
        ({"protected": ["color"]}, "give both, model and data"),
        ({"protected": ["color"], "data": BASKET}, "give both, model and data"),
        (
            {"model": case("car").network},
            "is not the network that the rules were extracted",
        ),
        ({"path": "no/such/folder.html"}, "there is no folder"),
    ],
)
def test_bad_options_are_one_sentence(options, said):
    with pytest.raises(nn2rules.Nn2RulesError, match=said) as caught:
        nn2rules.extract(TOMATO).report(**options)
    assert "\n" not in str(caught.value)


def test_another_network_is_refused():
    first = TOMATO.layers[0]
    layers = (nn2rules.Layer(first.weights * 2, first.bias, first.activation),)
    other = nn2rules.Network(
        TOMATO.domain, (*layers, *TOMATO.layers[1:]), TOMATO.classes
    )
    with pytest.raises(OptionError, match="but other weights; use the model"):
        nn2rules.extract(TOMATO).report(model=other)


def test_a_missing_extra_gives_the_command():
    code = (
        "import sys; sys.modules['jinja2'] = None\n"
        "import nn2rules\n"
        "net = nn2rules.load(nn2rules.datasets.network_file('tomato'))\n"
        "try: nn2rules.extract(net).report()\n"
        "except nn2rules.MissingExtraError as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert 'pip install ".[report]"' in done.stdout
    assert issubclass(MissingExtraError, ImportError)


@pytest.fixture
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    given = datasets.load("car").train
    frame = pd.DataFrame(given.rows).assign(label=given.labels)
    frame.to_csv("cars.csv", index=False)


def command(*args):
    return CliRunner().invoke(cli.app, ["report", *map(str, args)])


@pytest.mark.usefixtures("_folder")
def test_the_command_writes_a_report_and_what_check_needs(tmp_path):
    model = datasets.network_file("car")
    done = command(
        *(model, "--data", "cars.csv", "--labels", "label", "--title", "Cars"),
        *("--protected", "safety", "-o", "out.html", "--time", "20"),
        *("--save-rules", "rules.json"),
        *("--save-network", "network.json", "--no-rows"),
    )
    assert done.exit_code == 0, done.stderr
    assert done.stdout.startswith("written to out.html: ")
    html = (tmp_path / "out.html").read_text("utf-8")
    assert "<title>Cars</title>" in html
    assert embedded_data(html)["rows"]["cells"] == []
    digest = hashlib.sha256((tmp_path / "cars.csv").read_bytes()).hexdigest()
    assert digest in html
    assert "nn2rules check network.json rules.json" in html
    network, rules = (nn2rules.load(f) for f in ("network.json", "rules.json"))
    assert rules.digest in html
    assert nn2rules.check(network, rules).ok


@pytest.mark.usefixtures("_folder")
@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--protected", "safety"], "needs --data, the rows"),
        (["--labels", "label"], "names a column of --data, which is missing"),
        (["-o", "no/report.html"], "there is no folder"),
        (["--data", "cars.csv", "-o", "cars.csv"], "another use for this file"),
        (["--save-rules", "report.html"], "another use for this file"),
    ],
)
def test_mistakes_on_the_command_line_are_one_sentence(options, said):
    done = command(datasets.network_file("car"), *options)
    assert done.exit_code == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
