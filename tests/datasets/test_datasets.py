import hashlib
import json
import subprocess
import sys
from collections import Counter
from functools import cache
from itertools import pairwise, product

import numpy as np
import pandas as pd
import pytest

import nn2rules
from nn2rules import datasets
from nn2rules.datasets import DATASETS, NETWORKS, RAW, LabelledRows, surveys
from nn2rules.errors import MissingExtraError, OptionError
from nn2rules.language.text import condition_text

load = cache(datasets.load)  # the tests read and never change what they load
raw = cache(datasets.raw)

SPLITS = {
    "adult": (32_561, 16_281),
    "balance-scale": (500, 125),
    "car": (1_382, 346),
    "contraception": (1_178, 295),
    "monks-1": (345, 87),
    "monks-2": (345, 87),
    "monks-3": (345, 87),
    "nursery": (10_368, 2_592),
    "tic-tac-toe": (766, 192),
    "tomato": (6, 0),
}

SIZES = {
    "adult": (3, 8, 3, 14, 2, 3, 3, 3, 2),
    "balance-scale": (5, 5, 5, 5),
    "car": (4, 4, 4, 3, 3, 3),
    "contraception": (3, 4, 4, 3, 2, 2, 4, 4, 2),
    "monks-1": (3, 3, 2, 3, 4, 2),
    "monks-2": (3, 3, 2, 3, 4, 2),
    "monks-3": (3, 3, 2, 3, 4, 2),
    "nursery": (3, 5, 4, 4, 3, 2, 3, 3),
    "tic-tac-toe": (3,) * 9,
    "tomato": (2, 3),
}

CLASSES = {
    "adult": {"<=50K": 37_155, ">50K": 11_687},
    "balance-scale": {"left": 288, "balanced": 49, "right": 288},
    "car": {"unacc": 1_210, "acc": 518},
    "contraception": {"no method": 629, "method": 844},
    "monks-1": {"0": 216, "1": 216},
    "monks-2": {"0": 290, "1": 142},
    "monks-3": {"0": 204, "1": 228},
    "nursery": {"other": 4_650, "priority": 8_310},
    "tic-tac-toe": {"no win": 332, "x wins": 626},
    "tomato": {"unripe": 4, "ripe": 2},
}

ORIGINAL_CLASSES = CLASSES | {
    "car": {"unacc": 1_210, "acc": 384, "good": 69, "vgood": 65},
    "contraception": {"no method": 629, "long-term": 333, "short-term": 511},
    "nursery": {
        "not_recom": 4_320,
        "recommend": 2,
        "very_recom": 328,
        "priority": 4_266,
        "spec_prior": 4_044,
    },
}

# SHA-256 of the prepared rows as CSV text, the label as the index of its class. Those
# of adult, car, contraception and nursery belong to the files that the shipped
# networks saw.
FINGERPRINTS = {
    "adult": (
        "5ecdeeb036080977a5c8613b8ba4b90687324f945f4ec4cfe9b6de941ca9efe5",
        "ab105034a25aa3e54006e766611054dc03c0b7de10a9925d7f06c8d17624de24",
    ),
    "balance-scale": (
        "267484340f1b65cbc18b73a400240a36a5ad2d545fc09f2e268333c98a54f546",
        "88706dea2fbec1385ea3184e758a8a4574b702c5123777f0d23b2995f523b97a",
    ),
    "car": (
        "1b3e7751b8815111b2b414d78d78de96c9ff6b6c21ad0b25b5ebc23b0b89fabf",
        "e79ac994f6257165e39d88f2bc20054456f57a3ca14fa41e28728f2a79ec8159",
    ),
    "contraception": (
        "7c567f54f46f9800314c215bc3c4daeabc18f9352d41fc6b9b2bf7051ff08aeb",
        "28c6625f162fbe6fd0c86a30a19ddc6b9adf5803d836510a7aa260f96125a58f",
    ),
    "monks-1": (
        "e13641fa89b718bab2efa3a03d7c847bc118965c91baf4119f17cc3e6587fe21",
        "d0f745d1fe2ab00c9b191c1635e643316862a7799ff1ca2e5a11c94a89cfa51b",
    ),
    "monks-2": (
        "0c14381c1fa81eca6ccdbac45a1b67bbb6d0b86183ad7d802181fcb3a7c0a575",
        "84c1073a74a1b5fac6a59446b98ae0971b49b4274f7cc357832159401805522e",
    ),
    "monks-3": (
        "9c7a22eece468a1c7bda9f91f141fce6cb9bf00ae4de18257016bf00146ec3e1",
        "f6dbc6b47a3882b4c628b96fb5e31f256fe42172aa7fccc4ca83a0d9b378a04b",
    ),
    "nursery": (
        "2c412424173f517ba0cde01cdaac5652c4e197d5cb9c1f9468a7f2254c07f5c8",
        "a7122124ac088049dfd294bb3a87848f032b90ea92e942c32de08a097e69c0ff",
    ),
    "tic-tac-toe": (
        "1fc4df727ec4683f193e2de99bf3c92ab3c37be97893f1425514dcb01c63a6b1",
        "33a2f7e51c1bdf6f53da8961933b868131f9071b26802b9171c33442608552b9",
    ),
    "tomato": (
        "dc7725723f574c28b19132ea90668e01865b86968edd5524983a138b642c8806",
        "ab21b061ed579e838172a6d07a6d4a8a4e96ef3dc1b8e7d60b5d4a6a9f13ed8c",
    ),
}

ORDERED = {
    "adult": {"age", "capital-gain", "capital-loss", "hours-per-week"},
    "contraception": {
        *("age", "num-children", "standard-of-living"),
        *("wife-education", "husband-education"),
    },
    "nursery": {"children"},
    "tomato": {"size"},
    "tic-tac-toe": set(),
}

# Of all inputs, those that the network gives its second class; of the test rows,
# those that it labels rightly.
NETWORK_ANSWERS = {
    "adult": (61_544, 13_866),
    "car": (532, 339),
    "contraception": (6_487, 182),
    "nursery": (8_310, 2_592),
    "tomato": (2, 0),
}


def fingerprint(part: LabelledRows, classes: tuple[str, ...]) -> str:
    lines = [",".join([*part.columns, "label"])]
    for row, label in zip(part.rows, part.labels, strict=True):
        lines.append(",".join([*map(str, row.values()), str(classes.index(label))]))
    return hashlib.sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest()


def labelled_rows(name: str) -> dict[tuple[object, ...], str]:
    """Return input → label, for a set in which every input occurs once."""
    dataset = load(name)
    rows = [tuple(row.values()) for row in dataset.train.rows + dataset.test.rows]
    labels = dataset.train.labels + dataset.test.labels
    return dict(zip(rows, labels, strict=True))


def positive(network: dict[str, object], rows: list[dict[str, object]]) -> list[bool]:
    """Tell for each row whether the network's score is positive."""
    columns = [(f["name"], v) for f in network["features"] for v in f["values"]]
    units = np.array([[row[name] == value for name, value in columns] for row in rows])
    for layer in network["layers"]:
        units = units @ np.array(layer["weights"]) + np.array(layer["bias"])
        if layer["activation"] == "relu":
            units = np.maximum(units, 0)
    return (units[:, 0] > 0).tolist()


def test_the_tables_here_are_complete():
    for table in (SPLITS, SIZES, CLASSES, ORIGINAL_CLASSES, FINGERPRINTS):
        assert table.keys() == DATASETS.keys()
    assert NETWORK_ANSWERS.keys() == set(NETWORKS)


@pytest.mark.parametrize("name", DATASETS)
def test_sizes(name):
    dataset = load(name)
    assert dataset.name == name
    assert (len(dataset.train), len(dataset.test)) == SPLITS[name]
    assert dataset.domain.sizes == SIZES[name]


@pytest.mark.parametrize("name", DATASETS)
def test_classes(name):
    for labels, classes in (("paper", CLASSES), ("original", ORIGINAL_CLASSES)):
        dataset = load(name, labels=labels)
        assert dataset.classes == tuple(classes[name])
        assert Counter(dataset.train.labels + dataset.test.labels) == classes[name]


@pytest.mark.parametrize("name", DATASETS)
def test_rows_are_the_checked_ones(name):
    dataset = load(name)
    parts = (dataset.train, dataset.test)
    found = tuple(fingerprint(part, dataset.classes) for part in parts)
    assert found == FINGERPRINTS[name]


@pytest.mark.parametrize("name", DATASETS)
def test_the_domain_holds_the_values_that_occur_and_no_others(name):
    dataset = load(name)
    assert tuple(dataset.train.columns) == dataset.domain.names
    assert tuple(dataset.test.columns) == dataset.domain.names
    for feature in dataset.domain.features:
        train, test = (
            part.columns[feature.name] for part in (dataset.train, dataset.test)
        )
        values = set(zip(map(type, train + test), train + test, strict=True))
        assert values == {(type(value), value) for value in feature.values}


@pytest.mark.parametrize("name", DATASETS)
def test_ordered_features(name):
    domain = load(name).domain
    ordered = {feature.name for feature in domain.features if feature.ordered}
    if name.startswith("monks"):
        assert ordered == set()
    else:
        assert ordered == ORDERED.get(name, set(domain.names))


@pytest.mark.parametrize("name", sorted(DATASETS.keys() - {"tomato"}))
def test_sources_name_the_licence(name):
    assert "CC BY 4.0" in load(name).source


@pytest.mark.parametrize("name", ["car", "nursery", "contraception"])
def test_labels_change_and_rows_stay(name):
    paper, original = load(name), load(name, labels="original")
    assert paper.train.columns == original.train.columns
    assert paper.test.columns == original.test.columns
    pairs = set(zip(original.train.labels, paper.train.labels, strict=True))
    assert len(pairs) == len(original.classes)


def test_tic_tac_toe_boards_come_from_playing_every_game():
    lines = ("012", "345", "678", "036", "147", "258", "048", "246")
    finals = {}

    @cache
    def play(board: str, player: str, other: str) -> None:
        for square in range(9):
            if board[square] != "b":
                continue
            after = board[:square] + player + board[square + 1 :]
            if any({after[int(s)] for s in line} == {player} for line in lines):
                finals[tuple(after)] = "x wins" if player == "x" else "no win"
            elif "b" not in after:
                finals[tuple(after)] = "no win"
            else:
                play(after, other, player)

    play("b" * 9, "x", "o")
    assert labelled_rows("tic-tac-toe") == finals


def test_monks_by_hand():
    one, two, three = (labelled_rows(f"monks-{number}") for number in (1, 2, 3))
    assert one[2, 2, 1, 1, 4, 1] == "1"  # a1 = a2
    assert one[1, 2, 1, 1, 1, 1] == "1"  # a5 = 1
    assert one[1, 2, 1, 1, 2, 1] == "0"
    assert two[1, 2, 2, 2, 4, 1] == "1"
    assert two[1, 2, 1, 2, 4, 1] == "0"  # three features are 1
    assert two[2, 2, 2, 2, 4, 1] == "0"
    assert three[1, 3, 1, 1, 3, 1] == "1"  # a5 = 3 and a4 = 1
    assert three[1, 3, 1, 2, 3, 1] == "0"
    assert three[1, 1, 1, 2, 3, 1] == "1"  # a5 ≠ 4 and a2 ≠ 3
    assert three[1, 1, 1, 2, 4, 1] == "0"


def test_balance_scale_is_symmetric():
    labels = labelled_rows("balance-scale")
    mirrored = {"left": "right", "balanced": "balanced", "right": "left"}
    for (a, b, c, d), label in labels.items():
        assert labels[c, d, a, b] == mirrored[label]
    assert labels[5, 1, 2, 2] == "left"
    assert labels[4, 1, 2, 2] == "balanced"


@pytest.mark.parametrize("name", NETWORKS)
def test_networks_belong_to_their_data_sets(name):
    network = json.loads(datasets.network_file(name).read_text(encoding="utf-8"))
    dataset = load(name)
    values = {f["name"]: set(f["values"]) for f in network["features"]}
    inputs = [
        dict(zip(values, row, strict=True))
        for row in product(*(f["values"] for f in network["features"]))
    ]
    answers = positive(network, dataset.test.rows) if len(dataset.test) else []
    right = sum(
        dataset.classes[answer] == label
        for answer, label in zip(answers, dataset.test.labels, strict=True)
    )
    assert tuple(network["classes"]) == dataset.classes
    assert tuple(values) == dataset.domain.names
    for feature in dataset.domain.features:
        assert values[feature.name] == set(feature.values)
    if name in RAW:
        assert nn2rules.load(datasets.network_file(name)).domain == dataset.domain
    assert (sum(positive(network, inputs)), right) == NETWORK_ANSWERS[name]


def test_the_tomato_network_labels_the_tomatoes():
    network = json.loads(datasets.network_file("tomato").read_text(encoding="utf-8"))
    tomato = load("tomato")
    answers = positive(network, tomato.train.rows)
    assert [tomato.classes[answer] for answer in answers] == tomato.train.labels


@pytest.mark.parametrize("name", RAW)
def test_raw_rows_are_the_prepared_rows(name):
    dataset = load(name)
    for before, after in zip(raw(name), (dataset.train, dataset.test), strict=True):
        assert before.labels == after.labels
        numbers, bins = before.columns["age"], after.columns["age"]
        low, mid, high = (
            {n for n, b in zip(numbers, bins, strict=True) if b == value}
            for value in ("low", "mid", "high")
        )
        assert max(low) < min(mid) <= max(mid) < min(high)
        kept = {"adult": "sex", "contraception": "husband-occupation"}[name]
        assert before.columns[kept] == after.columns[kept]


@pytest.mark.parametrize("name", RAW)
def test_bins_say_which_numbers_they_hold(name):
    dataset = load(name)
    for before, after in zip(raw(name), (dataset.train, dataset.test), strict=True):
        for feature in dataset.domain.features:
            if feature.values != surveys.BINS:
                continue
            ends = [tuple(map(int, label.split("–"))) for label in feature.labels]
            found = zip(
                before.columns[feature.name], after.columns[feature.name], strict=True
            )
            for number, value in set(found):
                low, high = ends[feature.values.index(value)]
                assert low <= number <= high
            assert all(a[1] + 1 == b[0] for a, b in pairwise(ends))
            middle = condition_text(feature, ("mid",))
            assert middle == f"{ends[1][0]} ≤ {feature.name} ≤ {ends[1][1]}"


def test_labels_of_merged_values_say_what_they_stand_for():
    domain = load("adult").domain
    texts = [
        condition_text(domain.feature(name), (value,))
        for name, value in (
            ("education", "School"),
            ("education", "Voc"),
            ("education", "Masters"),
            ("marital-status", "not married"),
            ("native-country", "Other"),
        )
    ]
    assert texts == [
        "education = Preschool–12th",
        "education = Assoc-acdm/voc",
        "education = Masters",
        "marital-status = never-married/separated/widowed",
        "native-country = elsewhere",
    ]


def test_raw_adult_is_as_published():
    train, test = raw("adult")
    assert (Counter(train.labels)[">50K"], Counter(test.labels)[">50K"]) == (7841, 3846)
    for part, expected in ((train, (1836, 1843, 583)), (test, (963, 966, 274))):
        missing = {name: part.columns[name].count(None) for name in part.columns}
        incomplete = ("workclass", "occupation", "native-country")
        assert tuple(missing.pop(name) for name in incomplete) == expected
        assert set(missing.values()) == {0}
    assert train.rows[0] == {
        "age": 39,
        "workclass": "State-gov",
        "education": "Bachelors",
        "education-num": 13,
        "marital-status": "Never-married",
        "occupation": "Adm-clerical",
        "relationship": "Not-in-family",
        "race": "White",
        "sex": "Male",
        "capital-gain": 2174,
        "capital-loss": 0,
        "hours-per-week": 40,
        "native-country": "United-States",
    }


def test_raw_contraception_is_as_published():
    train, test = raw("contraception", labels="original")
    ages = train.columns["age"] + test.columns["age"]
    assert (min(ages), max(ages), sum(ages)) == (16, 49, 47_929)
    assert Counter(train.labels + test.labels) == ORIGINAL_CLASSES["contraception"]


def test_cut_points():
    assert surveys.cut_points([0, 1, 2]) == (0.66, 1.34)  # a third is not more than it
    assert surveys.cut_points([0, 0, 100, 200]) == (133.0, 167.0)
    assert surveys.cut_points([0, 100, 200, 200]) == (33.0, 67.0)
    assert surveys.cut_points([0, 0, 1, 1]) == (1.0, 1.0)  # the smallest comes first


def test_loading_again_gives_fresh_rows():
    first, second = datasets.load("tomato"), datasets.load("tomato")
    first.train.rows.clear()
    first.train.labels.clear()
    assert len(second.train) == len(second.train.rows) == 6


def test_to_frame():
    contraception = load("contraception")
    frame = contraception.test.to_frame()
    assert list(frame.columns) == [*contraception.domain.names, "label"]
    assert frame["label"].tolist() == contraception.test.labels
    assert frame.drop(columns="label").to_dict("records") == contraception.test.rows


def test_an_empty_part_keeps_its_columns():
    frame = load("tomato").test.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == ["color", "size", "label"]
    assert len(frame) == 0


def test_to_frame_without_pandas(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match=r'pip install ".\[pandas\]"'):
        load("tomato").train.to_frame()


def test_importing_loads_no_pandas():
    code = "import sys, nn2rules.datasets as d; d.load('car'); print(*sys.modules)"
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    modules = run.stdout.split()
    assert "nn2rules.datasets" in modules
    assert "pandas" not in modules


def test_unknown_names_list_the_known_ones():
    with pytest.raises(OptionError) as error:
        datasets.load("cars")
    assert str(error.value) == (
        "there is no data set 'cars'; there are adult, balance-scale, car, "
        "contraception, monks-1, monks-2, monks-3, nursery, tic-tac-toe, tomato"
    )
    with pytest.raises(OptionError, match="'car'; there are adult, contraception"):
        datasets.raw("car")
    with pytest.raises(OptionError, match="no network 'monks-1'; there are adult, car"):
        datasets.network_file("monks-1")
    for function in (datasets.load, datasets.raw):
        with pytest.raises(OptionError, match="'binary'; there are paper, original"):
            function("adult", labels="binary")
