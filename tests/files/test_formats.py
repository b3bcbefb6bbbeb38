import gzip
import json
import math
import os
import signal
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nn2rules import (
    CertificateWarning,
    FormatError,
    Layer,
    Network,
    RuleList,
    files,
    load,
    save,
)
from nn2rules.extraction.certifying import network_digest
from nn2rules.files import (
    from_json,
    load_network,
    load_rules,
    read_table,
    table_text,
    tables,
    to_json,
)
from strategies import (
    PIECEWISE_LINEAR,
    SMOOTH,
    networks,
    plain_domain,
    relu_networks,
    rule_lists,
)

KNOWN = (
    'expected one of "nn2rules-network/1", "nn2rules-rules/1", '
    '"nn2rules-scorecard/1", "nn2rules-summary/1"'
)
FEATURES = [
    {"name": "color", "values": ["red", "yellow"]},
    {"name": "size", "values": ["small", "medium", "big"]},
]
HIDDEN = {
    "weights": [[4, 3], [1, 2], [1, 2], [2, 3], [2, 3]],
    "bias": [-5, -5],
    "activation": "relu",
}
LAST = {"weights": [[1], [1]], "bias": [-1], "activation": "sigmoid"}
NETWORK = {
    "format": "nn2rules-network/1",
    "features": FEATURES,
    "layers": [HIDDEN, LAST],
    "classes": ["unripe", "ripe"],
    "threshold": 0.5,
}
RULE = {
    "if": {"color": ["red"], "size": ["medium", "big"]},
    "then": "ripe",
    "probability": [0.73, 0.73],
    "support": 12,
}
RULES = {
    "format": "nn2rules-rules/1",
    "form": "list",
    "scope": "domain",
    "features": FEATURES,
    "classes": ["unripe", "ripe"],
    "rules": [RULE],
    "default": "unripe",
    "certificate": {},
}
REMOVED = object()


def changed(document, *changes):
    """Return a deep copy of `document` with some places changed."""
    copy = json.loads(json.dumps(document))
    for place, value in changes:
        *path, last = place
        inner = copy
        for key in path:
            inner = inner[key]
        if value is REMOVED:
            del inner[last]
        elif isinstance(inner, list) and last == len(inner):
            inner.append(value)
        else:
            inner[last] = value
    return copy


def with_types(value):
    """Return something that tells 1, 1.0 and True apart."""
    return repr(value)


# What is written reads back


@settings(max_examples=200)
@given(networks([*PIECEWISE_LINEAR, *SMOOTH]))
def test_networks_read_back_to_the_last_bit(network):
    found = from_json(to_json(network))
    assert found == network
    assert [layer._key() for layer in found.layers] == [
        layer._key() for layer in network.layers
    ]
    assert (found.threshold, found.classes) == (network.threshold, network.classes)
    assert to_json(found) == to_json(network)


def test_the_origin_of_a_network_is_written_and_does_not_make_it_another(tmp_path):
    plain = from_json(json.dumps(NETWORK))
    read = replace(plain, origin={"framework": "torch", "compared_rows": 20})
    save(read, tmp_path / "network.json")
    found = load_network(tmp_path / "network.json")
    assert found.origin == {"framework": "torch", "compared_rows": 20}
    assert found == read == plain
    assert network_digest(read) == network_digest(plain)


@settings(max_examples=100)
@given(relu_networks(max_inputs=30, awkward=True))
def test_awkward_names_read_back(network):
    found = from_json(to_json(network))
    assert found == network
    assert with_types(found.domain) == with_types(network.domain)


@settings(max_examples=200)
@given(rule_lists())
def test_rule_lists_read_back(rules):
    found = from_json(to_json(rules))
    assert found == rules
    assert with_types(found.rules) == with_types(rules.rules)
    assert with_types(found.domain) == with_types(rules.domain)
    assert with_types((found.default, found.classes)) == with_types(
        (rules.default, rules.classes)
    )
    assert dict(found.certificate) == dict(rules.certificate)
    assert found.text() == rules.text()
    assert to_json(found) == to_json(rules)


@settings(max_examples=50)
@given(rule_lists())
def test_files_read_back(tmp_path_factory, rules):
    path = tmp_path_factory.mktemp("files") / "rules.json"
    save(rules, path)
    assert load(path) == load_rules(str(path)) == rules


def test_the_documented_examples_are_read():
    network = from_json(json.dumps(NETWORK))
    assert isinstance(network, Network)
    rows = [
        {"color": "red", "size": "big"},
        {"color": "yellow", "size": "big"},
    ]
    assert network.predict(rows).tolist() == ["ripe", "unripe"]
    rules = from_json(json.dumps(RULES))
    assert isinstance(rules, RuleList)
    assert rules.predict(rows).tolist() == ["ripe", "unripe"]
    assert rules.rules[0].support == 12
    assert rules.rules[0].probability == (0.73, 0.73)


def test_what_may_be_left_out():
    network = from_json(json.dumps(changed(NETWORK, (("threshold",), REMOVED))))
    assert network.threshold == 0.5
    document = changed(
        RULES,
        (("certificate",), REMOVED),
        (("rules", 0, "support"), REMOVED),
        (("rules", 0, "probability"), REMOVED),
    )
    rules = from_json(json.dumps(document))
    assert rules.rules[0].support is None
    assert rules.rules[0].probability is None


def test_optional_parts_of_features_are_read():
    document = changed(
        NETWORK,
        (("features", 1, "ordered"), True),
        (("features", 1, "labels"), ["S", "M", "L"]),
    )
    size = from_json(json.dumps(document)).domain.feature("size")
    assert size.ordered is True
    assert size.labels == ("S", "M", "L")


def test_slopes_are_read():
    document = changed(
        NETWORK,
        (("layers", 0, "activation"), "leaky_relu"),
        (("layers", 0, "slope"), 0.25),
    )
    network = from_json(json.dumps(document))
    assert network.layers[0].slope == 0.25
    assert from_json(to_json(network)) == network


def test_a_byte_order_mark_is_ignored(tmp_path):
    path = tmp_path / "network.json"
    path.write_text(json.dumps(NETWORK), encoding="utf-8-sig")
    assert load(path) == from_json(json.dumps(NETWORK))


# What is malformed is refused, by one message that names the place


SOFTMAX = {
    "weights": [[1, 2], [1, 2]],
    "bias": [0, 0],
    "activation": "softmax",
}
ACTIVATIONS = (
    "elu, gelu, hard_sigmoid, hard_tanh, identity, leaky_relu, relu, sigmoid, silu, "
    "softplus, tanh and softmax"
)
FINITE = "the number is NaN, infinite or too large; it must be finite"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ([(("features",), REMOVED)], "the key 'features' is missing"),
        ([(("layers",), REMOVED)], "the key 'layers' is missing"),
        ([(("classes",), REMOVED)], "the key 'classes' is missing"),
        (
            [(("treshold",), 0.5)],
            "unknown key 'treshold'; the keys are format, features, layers, classes, "
            "threshold, model_error, origin",
        ),
        (
            [(("layers", 0, "biases"), [0])],
            "layers[0]: unknown key 'biases'; the keys are weights, bias, activation, "
            "slope",
        ),
        (
            [(("features", 1, "vals"), [0])],
            "features[1]: unknown key 'vals'; the keys are name, values, ordered, "
            "labels, edges, other, whole, groups, not_missing",
        ),
        ([(("layers", 1, "bias"), REMOVED)], "layers[1]: the key 'bias' is missing"),
        ([(("layers", 1), [1])], "layers[1]: expected an object, found a list"),
        ([(("layers",), {})], "layers: expected a list, found an object"),
        ([(("layers",), [])], "layers: a network needs at least one layer"),
        ([(("features",), [])], "features: a domain needs at least one feature"),
        ([(("features",), "x")], "features: expected a list, found a string"),
        (
            [(("features", 0, "values"), [])],
            "features[0]: feature 'color' has no values",
        ),
        (
            [(("features", 0, "values"), ["red", "red"])],
            "features[0]: feature 'color' repeats the value 'red'",
        ),
        (
            [(("features", 0, "values"), [1, "1"])],
            "features[0]: feature 'color' has the values 1 and '1', which read the "
            "same in a rule; rename one of them",
        ),
        (
            [(("features", 0, "values"), [["red"], "x"])],
            "features[0].values[0]: expected a single value, found a list",
        ),
        (
            [(("features", 0, "values"), "red")],
            "features[0].values: expected a list, found a string",
        ),
        (
            [(("features", 0, "values", 1), math.nan)],
            f"features[0].values[1]: {FINITE}",
        ),
        (
            [(("features", 0, "values", 1), "\ud800")],
            "features[0].values[1]: the string contains half a character (a lone "
            "surrogate)",
        ),
        (
            [(("features", 0, "name"), "\udfff")],
            "features[0].name: the string contains half a character (a lone surrogate)",
        ),
        (
            [(("features", 1, "name"), "color")],
            "features: two features are named 'color'",
        ),
        (
            [(("features", 1, "name"), 3)],
            "features[1].name: expected a string, found a number",
        ),
        (
            [(("features", 1, "ordered"), 1)],
            "features[1].ordered: expected true or false, found a number",
        ),
        (
            [(("features", 0, "labels"), ["x"])],
            "features[0]: feature 'color' has 1 labels, expected 2, one for each value",
        ),
        (
            [(("features", 0, "labels"), ["x", 2])],
            "features[0].labels[1]: expected a string, found a number",
        ),
        (
            [(("layers", 1, "weights"), [[1], [1], [1]])],
            "layers[1].weights: 3 rows, expected 2, one for each unit of layer 0",
        ),
        (
            [(("layers", 0, "weights"), [[1, 1]] * 6)],
            "layers[0].weights: 6 rows, expected 5, one for each value of the features",
        ),
        (
            [(("layers", 0, "weights", 3), [1, 2, 3])],
            "layers[0].weights[3]: 3 numbers, expected 2, one for each bias",
        ),
        (
            [(("layers", 0, "weights", 3), [])],
            "layers[0].weights[3]: 0 numbers, expected 2, one for each bias",
        ),
        (
            [(("layers", 0, "weights", 3), 1)],
            "layers[0].weights[3]: expected a list, found a number",
        ),
        (
            [(("layers", 0, "bias"), [])],
            "layers[0].bias: a layer needs at least one unit",
        ),
        (
            [(("layers", 0, "weights", 2, 1), "3")],
            "layers[0].weights[2][1]: expected a number, found a string",
        ),
        (
            [(("layers", 0, "weights", 2, 1), True)],
            "layers[0].weights[2][1]: expected a number, found true or false",
        ),
        (
            [(("layers", 0, "weights", 2, 1), None)],
            "layers[0].weights[2][1]: expected a number, found null",
        ),
        (
            [(("layers", 0, "weights", 2, 1), math.nan)],
            f"layers[0].weights[2][1]: {FINITE}",
        ),
        ([(("layers", 1, "bias", 0), math.inf)], f"layers[1].bias[0]: {FINITE}"),
        ([(("layers", 1, "bias", 0), -math.inf)], f"layers[1].bias[0]: {FINITE}"),
        ([(("layers", 1, "bias", 0), 10**400)], f"layers[1].bias[0]: {FINITE}"),
        (
            [(("layers", 1, "bias", 0), 2**53 + 1)],
            "layers[1].bias[0]: 9007199254740993 cannot be represented exactly in "
            "64 bits",
        ),
        (
            [(("layers", 0, "activation"), "Relu")],
            f"layers[0].activation: unknown activation 'Relu'; the activations are "
            f"{ACTIVATIONS}",
        ),
        (
            [(("layers", 0, "slope"), 0.1)],
            "layers[0].slope: relu has no slope; leaky_relu has one",
        ),
        (
            [
                (("layers", 0, "activation"), "leaky_relu"),
                (("layers", 0, "slope"), "x"),
            ],
            "layers[0].slope: expected a number, found a string",
        ),
        (
            [(("layers", 0, "activation"), "softmax")],
            "layers[0].activation: softmax is only for the last layer",
        ),
        (
            [(("layers", 1, "activation"), "relu")],
            "layers[1].activation: relu, expected sigmoid for a last layer of 1 unit",
        ),
        ([(("threshold",), 0)], "threshold: 0 is not between 0 and 1 (exclusive)"),
        ([(("threshold",), 1)], "threshold: 1 is not between 0 and 1 (exclusive)"),
        ([(("threshold",), math.nan)], f"threshold: {FINITE}"),
        ([(("threshold",), "x")], "threshold: expected a number, found a string"),
        (
            [(("layers", 1), SOFTMAX)],
            "threshold: only a network with one output has a threshold",
        ),
        (
            [
                (("layers", 1), SOFTMAX | {"activation": "sigmoid"}),
                (("threshold",), REMOVED),
            ],
            "layers[1].activation: sigmoid, expected softmax for a last layer of 2 "
            "units",
        ),
        ([(("classes",), ["a", "a"])], "classes repeats the value 'a'"),
        ([(("classes",), ["a", None])], "classes: a class label cannot be missing"),
        ([(("classes",), ["a"])], "classes: a classifier has at least two classes"),
        ([(("classes",), [])], "classes has no values"),
        (
            [(("classes",), ["a", "b", "c"])],
            "classes: 3 classes, but the last layer has 1 unit; it needs one for each "
            "class, or a single one for two classes",
        ),
        (
            [(("classes", 1), {})],
            "classes[1]: expected a single value, found an object",
        ),
        (
            [(("format",), "nn2rules-network/2")],
            f'format: "nn2rules-network/2", {KNOWN}',
        ),
        ([(("format",), 1)], "format: expected a string, found a number"),
        (
            [(("format",), REMOVED)],
            f'there is no "format"; {KNOWN}',
        ),
    ],
)
def test_malformed_networks(tmp_path, changes, message):
    text = json.dumps(changed(NETWORK, *changes))
    with pytest.raises(FormatError) as error:
        from_json(text)
    assert str(error.value) == message
    path = tmp_path / "network.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FormatError) as error:
        load(path)
    assert str(error.value) == f"{path}: {message}"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ([(("default",), REMOVED)], "the key 'default' is missing"),
        ([(("form",), REMOVED)], "the key 'form' is missing"),
        ([(("form",), "tree")], "form: 'tree', expected list or set"),
        ([(("scope",), "all")], "scope: 'all', expected domain or support"),
        ([(("rules",), {})], "rules: expected a list, found an object"),
        ([(("rules", 0, "then"), REMOVED)], "rules[0]: the key 'then' is missing"),
        ([(("rules", 0, "if"), REMOVED)], "rules[0]: the key 'if' is missing"),
        (
            [(("rules", 0, "if"), [])],
            "rules[0].if: expected an object, found a list",
        ),
        (
            [(("rules", 0, "if", "shape"), ["round"])],
            "rules[0].if: there is no feature 'shape'",
        ),
        (
            [(("rules", 0, "if", "color"), ["blue"])],
            "rules[0]: feature 'color' has no value 'blue'",
        ),
        (
            [(("rules", 0, "if", "color"), ["red", "red"])],
            "rules[0].if.color: a value occurs twice",
        ),
        (
            [(("rules", 0, "if", "color"), "red")],
            "rules[0].if.color: expected a list, found a string",
        ),
        (
            [(("rules", 0, "if", "color"), [["red"]])],
            "rules[0].if.color[0]: expected a single value, found a list",
        ),
        (
            [(("rules", 0, "if", "color"), [])],
            "rules[0]: feature 'color' allows no value",
        ),
        (
            [(("rules", 0, "then"), "green")],
            "rules[0].then: 'green' is not a class; there are 'unripe', 'ripe'",
        ),
        (
            [(("rules", 0, "then"), None)],
            "rules[0].then: a class label cannot be missing",
        ),
        (
            [(("default",), "green")],
            "default: 'green' is not a class; there are 'unripe', 'ripe'",
        ),
        ([(("default",), None)], "default: a class label cannot be missing"),
        (
            [(("rules", 0, "probability"), [0.8, 0.7])],
            "rules[0].probability: expected two numbers 0 ≤ low ≤ high ≤ 1",
        ),
        (
            [(("rules", 0, "probability"), [0.8, 1.1])],
            "rules[0].probability: expected two numbers 0 ≤ low ≤ high ≤ 1",
        ),
        (
            [(("rules", 0, "probability"), [0.8])],
            "rules[0].probability: expected two numbers 0 ≤ low ≤ high ≤ 1",
        ),
        (
            [(("rules", 0, "support"), 1.5)],
            "rules[0].support: expected a whole number",
        ),
        (
            [(("rules", 0, "support"), True)],
            "rules[0].support: expected a whole number",
        ),
        (
            [(("certificate",), [])],
            "certificate: expected an object, found a list",
        ),
        (
            [(("sort",), 1)],
            "unknown key 'sort'; the keys are format, form, scope, features, classes, "
            "rules, default, certificate",
        ),
    ],
)
def test_malformed_rules(changes, message):
    with pytest.raises(FormatError) as error:
        from_json(json.dumps(changed(RULES, *changes)))
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ([(("rules", 0, "support"), -1)], "rules[0].support: "),
        (
            [(("rules", 0, "than"), "ripe")],
            "rules[0]: unknown key 'than'; the keys are if, then, ",
        ),
        ([(("classes",), ["unripe", "ripe", "ripe"])], "classes"),
        ([(("classes",), ["unripe", "ripe", None])], "classes: "),
        ([(("certificate",), {"different": "many"})], "certificate"),
        ([(("certificate",), {"margin": math.nan})], "certificate"),
        ([(("certificate",), {"engine": "\ud800"})], "certificate"),
        ([(("certificate",), {"rules": 3})], "certificate.rules: expected a string"),
        ([(("certificate",), {"possible": "6"})], "certificate.possible: expected a"),
        ([(("certificate",), {"uncovered": -1})], "certificate.uncovered: expected 0"),
        ([(("certificate",), {"complete": "no"})], "certificate.complete: expected tr"),
        ([(("certificate",), {"model": []})], "certificate.model: expected an object"),
        (
            [(("certificate",), {"class_inputs": [1, "2"]})],
            "certificate.class_inputs[1]: expected a whole number",
        ),
        (
            [(("certificate",), {"class_inputs": 3})],
            "certificate.class_inputs: expected a list, found a number",
        ),
        (
            [(("certificate",), {"class_rows": 3})],
            "certificate.class_rows: expected a list, found a number",
        ),
        (
            [(("certificate",), {"influence": 3})],
            "certificate.influence: expected an object, found a number",
        ),
        (
            [(("certificate",), {"influence": {"rows": 3, "of": {"size": 4}}})],
            "certificate.influence.of.size: expected a number of rows, at most all",
        ),
        (
            [(("certificate",), {"impossible": 3})],
            "certificate.impossible: expected a list, found a number",
        ),
        (
            [(("certificate",), {"impossible": ["red"]})],
            "certificate.impossible[0]: expected an object, found a string",
        ),
        (
            [(("certificate",), {"impossible": [{"color": "red"}]})],
            "certificate.impossible[0].color: expected a list, found a string",
        ),
    ],
)
def test_rules_that_make_no_sense_are_refused_at_their_place(changes, place):
    with pytest.raises(FormatError) as error:
        from_json(json.dumps(changed(RULES, *changes)))
    assert str(error.value).startswith(place)


EDITS = {
    "older version": (("certificate", "rules"), REMOVED),
    "digest": (("certificate", "rules"), "0" * 64),
    "condition": (("rules", 0, "if", "size"), ["big"]),
    "class": (("rules", 0, "then"), "unripe"),
    "default": (("default",), "ripe"),
    "scope": (("scope",), "support"),
    "form": (("form",), "set"),
    "rule": (("rules",), []),
    "value": (("features", 0, "values"), ["red", "green"]),
    "label": (("features", 1, "labels"), ["big", "medium", "small"]),
    "order": (("features", 1, "ordered"), True),
    "support": (("rules", 0, "support"), 13),
    "probability": (("rules", 0, "probability"), [0.73, 1.0]),
    "inputs": (("rules", 0, "inputs"), 7),
}


@pytest.mark.parametrize("edit", EDITS)
def test_a_certificate_does_not_outlive_an_edit(edit):
    proved = from_json(json.dumps(RULES)).replace(certificate={"different": 0})
    text = to_json(proved)
    assert from_json(text) == proved
    changes = [EDITS[edit]]
    with pytest.warns(CertificateWarning, match="does not belong to these rules"):
        found = from_json(json.dumps(changed(json.loads(text), *changes)))
    assert found.certificate == {}
    assert {facts.support for facts in found.facts} <= {None}
    assert {facts.probability for facts in found.facts} <= {None}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        (
            "color,size\nred,big\n",
            "not valid JSON, or truncated: Expecting value at line 1",
        ),
        (json.dumps(NETWORK)[:-20], "not valid JSON, or truncated: "),
        (
            json.dumps(NETWORK) + "}",
            "not valid JSON, or truncated: Extra data at line 1",
        ),
        ("[]", f'there is no "format"; {KNOWN}'),
        ("3", f'there is no "format"; {KNOWN}'),
        ("null", f'there is no "format"; {KNOWN}'),
        ('"nn2rules-network/1"', f'there is no "format"; {KNOWN}'),
        ("{}", f'there is no "format"; {KNOWN}'),
        ('{"a": 1, "a": 2}', "the key 'a' occurs twice in one object"),
        ("[" * 200_000, "the JSON is nested too deeply"),
        ('{"format": ' + "[" * 200_000, "the JSON is nested too deeply"),
        ('{"format": ' + "1" * 5_000 + "}", "a number has more than 4,300 digits"),
    ],
    ids=range(13),
)
def test_text_that_is_no_document(text, message):
    with pytest.raises(FormatError) as error:
        from_json(text)
    assert str(error.value).startswith(message)


def test_keys_that_occur_twice_deep_inside():
    text = json.dumps(NETWORK).replace('"bias": [-1]', '"bias": [-1], "bias": [1]')
    with pytest.raises(FormatError, match="the key 'bias' occurs twice in one object"):
        from_json(text)


@pytest.mark.parametrize("number", ["1e999", "-1e999", "NaN", "Infinity", "-Infinity"])
def test_numbers_that_are_not_finite(number):
    text = json.dumps(NETWORK).replace("[-5, -5]", f"[-5, {number}]")
    with pytest.raises(FormatError) as error:
        from_json(text)
    assert str(error.value) == f"layers[0].bias[1]: {FINITE}"


def test_files_that_cannot_be_read(tmp_path):
    missing = tmp_path / "missing.json"
    with pytest.raises(FormatError) as error:
        load(missing)
    assert str(error.value) == f"{missing}: there is no such file"
    with pytest.raises(FormatError) as error:
        load(tmp_path)
    assert str(error.value) == f"{tmp_path}: this is a folder, not a file"
    binary = tmp_path / "binary.json"
    binary.write_bytes(b"\xff\xfe\x00\x80")
    with pytest.raises(FormatError) as error:
        load(binary)
    assert str(error.value) == f"{binary}: this is not a text file (UTF-8)"
    with pytest.raises(FormatError):
        load("a\x00b")


def test_networks_and_rules_are_told_apart(tmp_path):
    network, rules = tmp_path / "network.json", tmp_path / "rules.json"
    network.write_text(json.dumps(NETWORK), encoding="utf-8")
    rules.write_text(json.dumps(RULES), encoding="utf-8")
    assert load_network(network) == load(network)
    assert load_rules(rules) == load(rules)
    with pytest.raises(FormatError) as error:
        load_network(rules)
    assert str(error.value) == f"{rules}: this file contains rules, expected a network"
    with pytest.raises(
        FormatError, match="this file contains a network, expected rules"
    ):
        load_rules(network)


# Files are written whole or not at all


def network():
    return from_json(json.dumps(NETWORK))


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "network.json"
    path.write_text("old", encoding="utf-8")

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(FormatError) as error:
        save(network(), path)
    assert str(error.value) == f"{path}: cannot be written: No space left on device"
    assert path.read_text(encoding="utf-8") == "old"
    assert os.listdir(tmp_path) == ["network.json"]


def test_an_interrupted_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "network.json"
    path.write_text("old", encoding="utf-8")

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        save(network(), path)
    assert path.read_text(encoding="utf-8") == "old"
    assert os.listdir(tmp_path) == ["network.json"]


def test_ctrl_c_waits_until_a_file_is_whole(tmp_path, monkeypatch):
    path = tmp_path / "network.json"
    replace = os.replace

    def interrupted(*places):
        signal.raise_signal(signal.SIGINT)
        replace(*places)

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        save(network(), path)
    assert load(path) == network()
    assert os.listdir(tmp_path) == ["network.json"]


def test_what_cannot_be_written_as_text_leaves_the_old_file(tmp_path):
    path = tmp_path / "network.json"
    path.write_text("old", encoding="utf-8")
    layer = Layer([[1.0]], [0.0], "sigmoid")
    broken = Network(plain_domain([1]), (layer,), ("a", "\ud800"))
    with pytest.raises(FormatError):
        save(broken, path)
    assert path.read_text(encoding="utf-8") == "old"
    assert os.listdir(tmp_path) == ["network.json"]


def test_writing_to_a_folder_that_does_not_exist(tmp_path):
    path = tmp_path / "nowhere" / "network.json"
    with pytest.raises(FormatError) as error:
        save(network(), path)
    assert str(error.value).startswith(f"{path}: ")
    assert str(path.parent) in str(error.value).removeprefix(str(path))


def test_writing_to_a_folder(tmp_path):
    path = tmp_path / "folder"
    path.mkdir()
    with pytest.raises(FormatError, match="this is a folder, expected a file name"):
        save(network(), path)
    assert os.listdir(tmp_path) == ["folder"]


def test_permissions(tmp_path):
    path = tmp_path / "network.json"
    mask = os.umask(0o027)
    try:
        save(network(), path)
    finally:
        os.umask(mask)
    assert path.stat().st_mode & 0o777 == 0o640
    path.chmod(0o600)
    save(network(), path)
    assert path.stat().st_mode & 0o777 == 0o600


def test_every_format_has_its_reader():
    known = {NETWORK["format"], RULES["format"]}
    known |= {"nn2rules-scorecard/1", "nn2rules-summary/1"}
    assert set(files.loading._READERS) == known


@pytest.mark.parametrize("text", ["a;b\n1;2\n", "a;b\n1,5;2,5\n", "a\tb\n1\t2\n"])
def test_tables_that_are_split_at_other_signs(text, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(text)
    name = "tabs" if "\t" in text else "semicolons"
    with pytest.raises(FormatError) as caught:
        read_table(path)
    assert str(caught.value) == (
        f"{path}: its columns seem to be separated by {name}, expected commas"
    )


def test_a_column_may_have_a_semicolon_in_its_name(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a;b\n1\n")
    assert read_table(path).header == ["a;b"]


CELLS = st.text(st.sampled_from('ab,"\r\n \u2028\x0b'), max_size=5)


@given(
    st.lists(CELLS, min_size=2, max_size=3, unique=True),
    st.lists(st.lists(CELLS, min_size=3, max_size=3), max_size=3),
)
def test_tables_with_every_sign_are_read_as_they_were_written(header, rows):
    rows = [cells[: len(header)] for cells in rows]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        path.write_bytes(table_text(header, rows).encode())
        found = read_table(path)
    assert found.header == header
    assert [[row[name] for name in header] for row in found.rows] == rows


@pytest.mark.parametrize(("most", "value"), [("MOST_ROWS", 3), ("MOST_CSV_CELLS", 7)])
def test_tables_of_very_many_rows_end_in_a_sentence(most, value, tmp_path, monkeypatch):
    monkeypatch.setattr(tables, most, value)
    path = tmp_path / "rows.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 3))
    assert len(read_table(path).rows) == 3
    path.write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 4))
    with pytest.raises(
        FormatError, match=r"line 5: more than 3 rows of 2 cells, which"
    ):
        read_table(path)
