"""Pages: templates filled in, with styles and scripts inside, closed to all else.

A page may run only the script, and use only the styles, whose digests its policy names;
it may ask nothing of any network. Text from data is escaped wherever it stands.
"""

import base64
import hashlib
import json
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from nn2rules.errors import MissingExtraError

_POLICY = (
    "default-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
)

_LONG = 600  # characters; elements.js says the same


_PACKAGE = "nn2rules.report"


def page(
    template: str,
    *,
    styles: Sequence[str],
    scripts: Sequence[str] = (),
    package: str = _PACKAGE,
    **given: Any,
) -> str:
    """Return a page of ours: a template, its styles and scripts, and what is given.

    Another `package` may have templates and assets of its own beside those of reports.
    """
    style = "\n".join(_asset(package, name) for name in styles)
    script = "\n".join(_asset(package, name) for name in scripts)
    if script:  # one scope of its own
        script = f"(function () {{\n'use strict';\n{script}\n}}());\n"
    policy = "; ".join(
        (*_POLICY, f"style-src {_digest(style)}")
        + ((f"script-src {_digest(script)}",) if script else ())
    )
    made = _environment(package).get_template(template)
    text: str = made.render(policy=policy, style=style, script=script, **given)
    return text


def embedded(data: Any) -> str:
    r"""Return data as JSON that can stand inside a script element, whatever it holds.

    Examples
    --------
    >>> print(embedded(["</script><!--", "\u2028"]))
    ["\u003c/script\u003e\u003c!--","\u2028"]
    """
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def shortened(text: str) -> str:
    """Return a text of data, of a very long one its beginning, which is said.

    Examples
    --------
    >>> shortened("short"), shortened("x" * 10_000)[-26:]
    ('short', 'x… (9,400 more characters)')
    """
    left = len(text) - _LONG
    return f"{text[:_LONG]}… ({left:,} more characters)" if left > 0 else text


def _digest(text: str) -> str:
    """Return the source of a policy that allows this text and no other."""
    found = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(found).decode()}'"


@cache
def _asset(package: str, name: str) -> str:
    """Return a file of styles or of scripts: of the package, or of reports."""
    places = (files(each).joinpath("assets", name) for each in (package, _PACKAGE))
    text = next(place for place in places if place.is_file()).read_text("utf-8")
    assert "</" not in text, "nothing may end the element around it"
    return text


@cache
def _environment(package: str) -> Any:
    """Return the templates, which escape all that is put into them."""
    try:
        import jinja2
    except ImportError:
        raise MissingExtraError("jinja2", "report", "a report") from None
    made = jinja2.Environment(
        loader=jinja2.ChoiceLoader(
            [jinja2.PackageLoader(each) for each in dict.fromkeys((package, _PACKAGE))]
        ),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters["shortened"] = shortened
    made.filters["zip"] = lambda one, other: list(zip(one, other, strict=True))
    return made
