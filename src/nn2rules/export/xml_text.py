"""XML as text: elements on lines, and the characters that XML allows."""

import json
import re
from xml.etree import ElementTree

from nn2rules.errors import UnsupportedModelError

_BEYOND = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def document(root: ElementTree.Element) -> str:
    """Return an XML file, laid out in lines."""
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def add(
    parent: ElementTree.Element, tag: str, text: str | None = None, **attributes: str
) -> ElementTree.Element:
    """Append an element, and return it."""
    made = ElementTree.SubElement(parent, tag, attributes)
    made.text = text
    return made


def shown(text: str) -> str:
    r"""Return a text for people with characters that XML allows; others by number.

    Examples
    --------
    >>> print(shown("a\x00b"))
    a\u0000b
    """
    return _BEYOND.sub(lambda found: json.dumps(found[0])[1:-1], text)


def refuse_beyond(text: str, what: str) -> None:
    """Refuse a text with characters that XML does not allow."""
    if _BEYOND.search(text):
        raise UnsupportedModelError(
            f"{what} {text!r} contains a character that XML does not allow; rename it"
        )
