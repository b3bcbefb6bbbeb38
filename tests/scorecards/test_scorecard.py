"""The value: what it predicts, what it adds up, and how it is stored."""

import json

import jsonschema
import numpy as np
import pytest
from hypothesis import given, settings

from nn2rules import (
    CertificateWarning,
    Domain,
    Feature,
    FormatError,
    OptionError,
    Scorecard,
    UnknownValueError,
    UnsupportedModelError,
    load,
    load_rules,
)
from nn2rules.files import from_json, schema, to_json
from nn2rules.rules import certificate_of
from nn2rules.scorecards import Card, Profile, Scale
from nn2rules.space import Curve, Shape
from ranged import mixed_domain, random_rows
from strategies import PIECEWISE_LINEAR, SMOOTH, networks

MIXED = mixed_domain()
ROWS = random_rows(np.random.default_rng(0), MIXED, 60)


def mixed_card(**fields):
    points = [0.02, 1.5, -0.5, 0.0001, 0.25, 0.5, -1.0, 0.125]
    return Scorecard(MIXED, ("no", "yes"), [Card(-1.5, points)], **fields)


@settings(deadline=None, max_examples=60)
@given(networks(PIECEWISE_LINEAR))
def test_a_scorecard_is_its_network(network):
    card = Scorecard.from_network(network)
    codes = network.domain.codes_of(np.arange(network.domain.n_inputs))
    assert (card.predict_codes(codes) == network.predict_codes(codes)).all()


@settings(deadline=None, max_examples=60)
@given(networks([*PIECEWISE_LINEAR, *SMOOTH]))
def test_a_scorecard_reads_back_to_the_last_bit(network):
    card = Scorecard.from_network(network)
    assert card.network == network
    assert from_json(to_json(card)) == card
    assert from_json(to_json(card)).digest == card.digest
    jsonschema.validate(card.to_dict(), schema("scorecard"))


def test_contributions_add_up_to_the_scores():
    card = mixed_card()
    found = card.contributions(ROWS)
    assert found.values.shape == (len(ROWS), 1, 3)
    assert np.allclose(found.totals[:, 0], card.network.scores(ROWS), rtol=1e-12)
    frame = found.to_frame()
    assert list(frame.columns) == ["base", "age", "amount", "job", "total"]
    assert np.allclose(frame.drop(columns="total").sum(axis=1), frame["total"])


def test_probabilities():
    card = mixed_card()
    shares = card.predict_proba(ROWS)
    assert np.allclose(shares[:, 1], 1 / (1 + np.exp(-card.network.scores(ROWS))))
    assert np.allclose(shares.sum(axis=1), 1)
    assert (card.predict(ROWS) == np.where(shares[:, 1] > 0.5, "yes", "no")).all()
    three = Scorecard(
        MIXED, ("a", "b", "c"), [*card.cards, Card(800, [0] * 8), *card.cards]
    )
    assert np.allclose(three.predict_proba(ROWS), [0, 1, 0])
    with pytest.raises(OptionError, match="do not stand for probabilities"):
        card.replace(has_probabilities=False).predict_proba(ROWS)


def test_rows_outside_the_domain():
    card = mixed_card()
    rows = [
        {"age": 999, "amount": None, "job": "a"},
        {"age": 7, "amount": 1, "job": "a"},
    ]
    assert card.predict(rows, unknown="none").tolist() == ["yes", None]
    with pytest.raises(UnknownValueError, match="row 1"):
        card.predict(rows)
    with pytest.raises(UnknownValueError):
        card.covers(rows)
    assert card.covers(rows[:1]).tolist() == [True]
    with pytest.raises(OptionError, match="no default class"):
        card.predict(rows, unknown="default")


def test_a_certificate_belongs_to_one_card():
    card = mixed_card(certificate={"engine": "scorecard", "different": 0})
    assert card.certificate["rules"] == card.digest
    assert certificate_of(card).engine == "scorecard"
    scaled = card.replace(scale=Scale(20.0))
    assert scaled.certificate == card.certificate
    assert card.replace(threshold=0.4).certificate == {}
    with pytest.warns(CertificateWarning):
        other = mixed_card(threshold=0.4, certificate=card.certificate)
    assert other.certificate == {}


def test_rows_between_cut_offs_belong_to_a_scale():
    profile = Profile(60, (33, None, "b"), (0.5, 0.25, 0.0), (1, 60))
    card = mixed_card(profile=profile)
    assert "Of 60 rows, 1 lies between them" in card.text()
    assert card.replace(scale=Scale(1.0)).profile.between is None
    assert "Of 60 rows" not in card.replace(scale=Scale(1.0)).text()


def test_files_read_back(tmp_path):
    profile = Profile(60, (33, None, "b"), (0.5, 0.25, 0.0))
    card = mixed_card(
        scale=Scale(12.5, 600.0, 1),
        profile=profile,
        certificate={"engine": "scorecard"},
    )
    card.save(tmp_path / "card.json")
    assert load(tmp_path / "card.json") == card
    assert json.loads(card.to_json()) == card.to_dict()
    jsonschema.validate(card.to_dict(), schema("scorecard"))
    with pytest.raises(FormatError, match="contains a scorecard"):
        load_rules(tmp_path / "card.json")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.pop("cards"), "the key 'cards' is missing"),
        (lambda d: d.update(extra=1), "unknown key 'extra'"),
        (lambda d: d.update(cards=[]), "at least one card"),
        (lambda d: d["cards"][0]["points"].pop("age"), "the key 'age' is missing"),
        (lambda d: d["cards"][0]["points"].update(x=[1]), "no feature 'x'"),
        (lambda d: d["cards"][0]["points"].update(job=[1]), "1 numbers, expected 3"),
        (lambda d: d["cards"][0]["points"]["age"].pop("values"), "'values' is missing"),
        (lambda d: d["cards"][0].update(base="x"), "expected a number"),
        (lambda d: d.update(threshold=1), "threshold"),
        (lambda d: d.update(upper=[]), "activation"),
        (lambda d: d.update(classes=["a", "b", "c"]), "3 classes"),
        (
            lambda d: d.update(scale={"factor": 0, "offset": None, "digits": 0}),
            "factor",
        ),
    ],
)
def test_malformed_files(change, message):
    document = mixed_card().to_dict()
    change(document)
    with pytest.raises(FormatError, match=message):
        from_json(json.dumps(document))


def test_what_cannot_be_a_scorecard():
    with pytest.raises(FormatError, match="expected a Card with 8 numbers"):
        Scorecard(MIXED, ("no", "yes"), [Card(0, [1.0])])
    with pytest.raises(FormatError, match="finite"):
        Card(0, [float("nan")])
    with pytest.raises(FormatError, match="only part cards"):
        mixed_card(activation="relu")
    curve = Curve(Shape("log"), (1.0, 9.0))
    domain = Domain((Feature.real("x", 1.0, 9.0).along(curve),))
    with pytest.raises(UnsupportedModelError, match="along a curve"):
        Scorecard(domain, ("no", "yes"), [Card(0, [1.0])])
    with pytest.raises(OptionError, match="no field 'x'"):
        mixed_card().replace(x=1)
