"""Pages: templates with their styles and scripts inside, and nothing from outside.

A page may run only the script and use only the styles whose digests its content
security policy lists, and makes no network requests. Text from data is escaped
everywhere.
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


def filled_page(
    template: str,
    *,
    styles: Sequence[str],
    scripts: Sequence[str] = (),
    package: str = _PACKAGE,
    **values: Any,
) -> str:
    """Return a page: a template with its styles and scripts, filled with values.

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
    page = _environment(package).get_template(template)
    text: str = page.render(policy=policy, style=style, script=script, **values)
    return text


def embedded(data: Any) -> str:
    r"""Return data as JSON that is safe inside a script element.

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
    """Return a text from data; a very long one is cut, with a remark.

    Examples
    --------
    >>> shortened("short"), shortened("x" * 10_000)[-26:]
    ('short', 'x… (9,400 more characters)')
    """
    left = len(text) - _LONG
    return f"{text[:_LONG]}… ({left:,} more characters)" if left > 0 else text


def _digest(text: str) -> str:
    """Return the source of a policy that allows this text and no other."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


@cache
def _asset(package: str, name: str) -> str:
    """Return a file of styles or scripts, from the package or from reports."""
    places = (files(each).joinpath("assets", name) for each in (package, _PACKAGE))
    text = next(place for place in places if place.is_file()).read_text("utf-8")
    assert "</" not in text, "nothing may end the element around it"
    return text


@cache
def _environment(package: str) -> Any:
    """Return the templates, which escape everything that fills them."""
    try:
        import jinja2
    except ImportError:
        raise MissingExtraError("jinja2", "report", "a report") from None
    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader(
            [jinja2.PackageLoader(each) for each in dict.fromkeys((package, _PACKAGE))]
        ),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["shortened"] = shortened
    environment.filters["zip"] = lambda one, other: list(zip(one, other, strict=True))
    return environment
