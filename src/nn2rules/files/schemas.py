"""JSON Schemas of the formats, for those who read or write files elsewhere."""

import json
from importlib.resources import files
from typing import Any, Literal


def schema(name: Literal["rules", "network", "scorecard"]) -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a format.

    It says which keys there are and what they hold. What only arithmetic can tell, such
    as whether the shape of weights fits, `nn2rules.load` checks.

    Examples
    --------
    >>> schema("rules")["title"]
    'nn2rules-rules/1'
    """
    text = files("nn2rules.files").joinpath(f"{name}.schema.json").read_text("utf-8")
    found: dict[str, Any] = json.loads(text)
    return found
