"""A small run, looked at from all sides: files, numbers, bytes."""

import csv
import html
import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

import nn2rules
from research.baselines import SimpleTrepan
from research.experiments import run
from research.experiments.cases import paper_case
from research.experiments.methods import readable
from research.experiments.printed import NAMES
from research.experiments.study import FIGURES, MARK, OURS, TABLES
from research.experiments.train import trained

SEEDS = 2


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Return the results of the same run, made twice."""
    base = tmp_path_factory.mktemp("experiments")
    for name in ("one", "two"):
        page = run(base / name, datasets=["car"], seeds=SEEDS, seed=3)
        assert page == base / name / "index.html"
    return base / "one", base / "two"


@pytest.fixture(scope="module")
def trials():
    case = paper_case("car")
    return [trained(case, seed) for seed in (3, 4)]


def files(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def table(folder, name):
    """Return the rows of a table, by the text of their first column."""
    document = json.loads((folder / "tables" / f"{name}.json").read_text())
    first = document["columns"][0]
    return {row[first]: row for row in document["rows"]}


def test_every_file_is_there(folders):
    found = files(folders[0])
    assert set(found) == OURS
    assert all(found.values())
    for name in FIGURES:
        assert found[f"figures/{name}.png"].startswith(b"\x89PNG")
        assert b"<svg" in found[f"figures/{name}.svg"]


def test_same_seed_same_bytes(folders):
    one, two = map(files, folders)
    different = {name for name in one if one[name] != two[name]}
    assert different <= {"timings.md", "timings.csv", "timings.json"}


def test_nothing_but_the_folders_is_left(folders):
    assert {path.name for path in folders[0].parent.iterdir()} == {"one", "two"}


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("full", {"form": "paper"}),
        ("support", {"form": "paper", "scope": "support"}),
        ("list", {}),
        ("support-list", {"form": "list", "scope": "support"}),
    ],
)
def test_numbers_are_those_of_evaluate(folders, trials, method, options):
    found = []
    for trial in trials:
        if options.get("form") != "paper":
            options = {**options, "seed": trial.seed}
        rules = nn2rules.extract(trial.network, data=trial.train_rows, **options)
        labels = [trial.network.classes[place] for place in trial.test_truth]
        found.append(nn2rules.evaluate(trial.network, rules, trial.test_rows, labels))
    for name, attribute in (
        ("fidelity", "fidelity"),
        ("accuracy", "accuracy"),
        ("fidelity-on-errors", "fidelity_where_wrong"),
        ("number-of-rules", "n_rules"),
    ):
        cell = table(folders[0], name)[NAMES[method]]["Car, this run"]
        values = [number_of(one, attribute) for one in found]
        assert cell["values"] == values
        assert cell["mean"] == pytest.approx(np.mean(values))
        assert (cell["min"], cell["max"]) == (min(values), max(values))


def number_of(found, attribute):
    """Return a number of an evaluation; beside trees, the default counts, too."""
    figures = found.with_unproved_default or found.on_covered
    return getattr(figures if hasattr(figures, attribute) else found, attribute)


def test_lists_for_the_domain_are_exact(folders):
    rows = table(folders[0], "fidelity-on-the-domain")
    for method in ("full", "list"):
        assert rows[NAMES[method]]["Car"]["values"] == [1.0] * SEEDS
        fidelity = table(folders[0], "fidelity")[NAMES[method]]["Car, this run"]
        assert fidelity["values"] == [1.0] * SEEDS


def test_trees_are_measured_like_everything(folders, trials):
    values = []
    for trial in trials:
        tree = SimpleTrepan(trial.network, random_state=trial.seed).fit(
            trial.train_rows
        )
        values.append(tree.score(trial.test_rows))
    cell = table(folders[0], "fidelity")["Simple TREPAN, depth 6"]["Car, this run"]
    assert cell["values"] == values


def test_the_paper_stands_beside(folders):
    rows = table(folders[0], "number-of-rules")
    assert rows["NN2Rules(Support)"]["Car, paper"] == 163
    assert rows["Memorization"]["Car, this run"] == 415
    assert rows["Max: all inputs"]["Car, this run"] == 1728
    assert table(folders[0], "accuracy")["Neural network"]["Car, paper"] == 0.962


def test_our_support_list_is_shorter_and_as_faithful(folders):
    for name, sign in (("number-of-rules", 1), ("fidelity", -1)):
        rows = table(folders[0], name)
        theirs = rows["NN2Rules(Support)"]["Car, this run"]["mean"]
        ours = rows["nn2rules support list"]["Car, this run"]["mean"]
        assert sign * ours <= sign * theirs


def test_networks_made_to_be_read_stand_beside(folders):
    found = [readable(paper_case("car"), seed) for seed in (3, 4)]
    row = table(folders[0], "with-and-without")["Car"]
    usual, made = "network of the paper's shape", "network made to be read"
    for words, attribute in (
        ("accuracy", "accuracy"),
        ("rules", "n_rules"),
        ("columns", "n_columns"),
    ):
        cell = row[f"{made}, {words}"]
        assert cell["values"] == [getattr(one, attribute) for one in found]
    for name, words in (("accuracy", "accuracy"), ("number-of-rules", "rules")):
        rows = table(folders[0], name)
        cell = rows["Network made to be read"]["Car, this run"]
        assert cell == row[f"{made}, {words}"]
        assert rows["nn2rules list"]["Car, this run"] == row[f"{usual}, {words}"]
    means = [row[f"{name}, accuracy"]["mean"] for name in (usual, made)]
    assert row["difference in accuracy"] == means[1] - means[0]


def test_the_page_says_where_reading_costs_accuracy(folders):
    text = html.unescape((folders[0] / "index.html").read_text())
    row = table(folders[0], "with-and-without")["Car"]
    lost = -row["difference in accuracy"]
    assert lost > 0  # these networks are tiny
    assert f": fewer rules, but less accurate by {lost:.4f}." in text


def test_rules_that_differ_from_their_network_stop_the_run(tmp_path, monkeypatch):
    def wrong(self, codes):
        return 1 - predict_codes(self, codes)

    predict_codes = nn2rules.RuleList.predict_codes
    monkeypatch.setattr(nn2rules.RuleList, "predict_codes", wrong)
    with pytest.raises(nn2rules.Nn2RulesError, match="made to be read do not answer"):
        readable(paper_case("car"), 3)


def test_the_forms_of_a_table_agree(folders):
    for name in TABLES:
        path = folders[0] / "tables" / name
        document = json.loads(path.with_suffix(".json").read_text())
        with path.with_suffix(".csv").open(newline="") as stream:
            lines = list(csv.DictReader(stream))
        text = path.with_suffix(".md").read_text().splitlines()
        assert len(lines) == len(document["rows"]) > 0
        assert sum(line.startswith("|") for line in text) == len(lines) + 2
        for line, row in zip(lines, document["rows"], strict=True):
            for heading, cell in row.items():
                number = cell["mean"] if isinstance(cell, dict) else cell
                assert line[heading] == ("" if number is None else str(number))


class Page(HTMLParser):
    """Collect what a page is made of, and check that its elements are closed."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.ids, self.attributes = [], [], [], []

    def handle_starttag(self, tag, attributes):  # noqa: D102
        self.tags.append(tag)
        self.attributes += attributes
        self.ids += [value for name, value in attributes if name == "id"]
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):  # noqa: D102
        self.handle_starttag(tag, attributes)
        self.open.pop()

    def handle_endtag(self, tag):  # noqa: D102
        assert self.open.pop() == tag


def test_the_page_is_whole_and_self_contained(folders):
    text = (folders[0] / "index.html").read_text()
    page = Page()
    page.feed(text)
    assert page.open == []
    assert MARK in text
    assert "script" not in page.tags
    assert "link" not in page.tags
    assert page.tags.count("svg") == len(FIGURES)
    assert page.tags.count("table") == len(TABLES)
    assert page.tags.count("figcaption") == len(FIGURES) + len(TABLES)
    assert len(set(page.ids)) == len(page.ids)
    links = [v for n, v in page.attributes if n in ("href", "src", "xlink:href")]
    assert all(link.startswith("#") for link in links)
    assert {link[1:] for link in links} <= set(page.ids)
    assert set(re.findall(r"url\(#([^)]*)\)", text)) <= set(page.ids)
    assert "@import" not in text


def test_seconds_stand_alone(folders):
    seconds = json.loads((folders[0] / "timings.json").read_text())["rows"]
    works = {"nn2rules list", "TREPAN", "training the network made to be read"}
    assert {row["work"] for row in seconds} >= works
    by_paper = "NN2Rules(Full), by the paper's algorithm"
    timed = {row["work"]: row["Car"]["values"] for row in seconds}
    assert timed[by_paper][0] > 0
    assert timed[by_paper][1:] == [None] * (SEEDS - 1)


def test_an_earlier_result_is_replaced(folders, tmp_path):
    folder = tmp_path / "results"
    shares = []
    for seed in (3, 4):
        steps = []
        run(
            folder,
            datasets=["car"],
            seeds=1,
            seed=seed,
            progress=lambda what, share, steps=steps: steps.append((what, share)),
        )
        shares = [share for _, share in steps]
        assert len(steps) == 4 + len(NAMES)
    assert shares == sorted(shares)
    assert 0 <= shares[0] < shares[-1] <= 1
    assert set(files(folder)) == OURS
    cell = table(folder, "fidelity")["NN2Rules(Support)"]["Car, this run"]
    both = table(folders[0], "fidelity")["NN2Rules(Support)"]["Car, this run"]
    assert cell["values"] == both["values"][1:]
