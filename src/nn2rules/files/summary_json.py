"""Summaries as text: the format ``nn2rules-summary/1``.

::

    {"format": "nn2rules-summary/1", "model": "MLPClassifier", "rows": 800,
     "agreement": {"rows": 200, "agree": 195}, "is_test": false,
     "classes": [{"label": "yes", "rows": 60, "agree": 57}, …],
     "bands": [{"points": "below 20", "rows": 40, "agree": 40}, …],
     "different": [3, 17], "example": null, "notes": [], "cut_offs": [],
     "card": {"format": "nn2rules-scorecard/1", …}}

The agreement of the whole is also in the certificate of the card, which says that the
card is a summary wherever it is printed.
"""

import json
from typing import Any

from nn2rules.errors import FormatError
from nn2rules.files.json_node import Node
from nn2rules.files.scorecard_json import scorecard_from_node, scorecard_to_object
from nn2rules.scorecards import Scorecard
from nn2rules.summaries import Agreement, Example, ProvedCutOff, Summary

FORMAT = "nn2rules-summary/1"

_KEYS = (
    *("format", "model", "rows", "agreement", "is_test", "classes", "bands"),
    *("different", "example", "notes", "cut_offs", "card"),
)


def summary_from_node(document: Node) -> Summary:
    """Read a summary; whatever is wrong gets one error that names its place."""
    document.only(_KEYS)
    card = scorecard_from_node(document["card"])
    example = document["example"]
    return Summary(
        card,
        document["model"].string(),
        document["rows"].integer(),
        _agreement(document["agreement"]),
        document["is_test"].boolean(),
        {
            item["label"].scalar(): _agreement(item)
            for item in document["classes"].items()
        },
        {
            item["points"].string(): _agreement(item)
            for item in document["bands"].items()
        },
        tuple(item.integer() for item in document["different"].items()),
        None if example.value is None else _example(example),
        tuple(item.string() for item in document["notes"].items()),
        tuple(_cut_off(item, card) for item in document["cut_offs"].items()),
    )


def _agreement(node: Node) -> Agreement:
    try:
        return Agreement(node["rows"].integer(), node["agree"].integer())
    except FormatError as error:
        if str(error).startswith("an agreement"):
            raise node.error(str(error)) from None
        raise


def _example(node: Node) -> Example:
    node.only(("row", "model", "summary"))
    row = {name: cell.scalar() for name, cell in node["row"].entries()}
    return Example(row, node["model"].scalar(), node["summary"].scalar())


def _cut_off(node: Node, card: Scorecard) -> ProvedCutOff:
    node.only(("label", "total", "is_least", "inputs", "of_inputs"))
    label = node["label"].scalar()
    if label not in card.classes:
        raise node["label"].error("this is not a class of the card")
    return ProvedCutOff(
        label,
        node["total"].number(),
        node["is_least"].boolean(),
        node["inputs"].integer(),
        node["of_inputs"].integer(),
    )


def summary_object(summary: Summary) -> dict[str, Any]:
    """Return a summary as a JSON object; reading it gives an equal one."""
    example = summary.example
    return {
        "format": FORMAT,
        "model": summary.model,
        "rows": summary.rows,
        "agreement": _counts(summary.agreement),
        "is_test": summary.is_test,
        "classes": [
            {"label": label, **_counts(agreement)}
            for label, agreement in summary.classes_agreement.items()
        ],
        "bands": [
            {"points": band, **_counts(agreement)}
            for band, agreement in summary.bands.items()
        ],
        "different": [*summary.different],
        "example": None
        if example is None
        else {
            "row": dict(example.row),
            "model": example.model,
            "summary": example.summary,
        },
        "notes": [*summary.notes],
        "cut_offs": [
            {
                "label": cut.label,
                "total": cut.total,
                "is_least": cut.is_least,
                "inputs": cut.inputs,
                "of_inputs": cut.of_inputs,
            }
            for cut in summary.cut_offs
        ],
        "card": scorecard_to_object(summary.card),
    }


def _counts(agreement: Agreement) -> dict[str, int]:
    return {"rows": agreement.rows, "agree": agreement.agree}


def summary_to_json(summary: Summary) -> str:
    """Write a summary, a key to a line; reading it gives an equal one."""
    entries = [
        f"{_dumps(key)}: {_dumps(value)}"
        for key, value in summary_object(summary).items()
    ]
    return "{" + ",\n ".join(entries) + "}\n"


def _dumps(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
