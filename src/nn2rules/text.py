"""The words of rules: conditions, class labels, numbers."""

import json
import re
from collections.abc import Collection, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction

from nn2rules.domain import Feature, Value, text_of

_PLAIN = re.compile(r"(?!=)[\w.+%/()<>=\-]+( [\w.+%/()<>\-]+)*")
_RESERVED = frozenset(
    ("and", "anything", "between", "if", "in", "missing", "not", "otherwise", "then")
)


def quoted(text: str) -> str:
    """Return `text`, in quotation marks where it could be misread in a rule.

    Examples
    --------
    >>> quoted("car (new)"), quoted("red, then"), quoted("")
    ('car (new)', '"red, then"', '""')
    """
    if _PLAIN.fullmatch(text) and not _RESERVED & set(text.split(" ")):
        return text
    return json.dumps(text, ensure_ascii=not text.isprintable())


def value_text(feature: Feature, value: Value) -> str:
    """Return `value` as rules print it: by its label, if it has one."""
    if feature.labels is not None:
        return quoted(feature.labels[feature.values.index(value)])
    return label_text(value)


def label_text(label: Value) -> str:
    """Return a class label, or a value, as rules print it."""
    return "missing" if label is None else quoted(text_of(label))


def allowed_text(feature: Feature, values: Sequence[Value]) -> str:
    """Return which values are allowed, in the fewest words.

    Examples
    --------
    >>> size = Feature("size", ("small", "medium", "big", "huge"), ordered=True)
    >>> allowed_text(size, ("medium",)), allowed_text(size, ("small", "medium"))
    ('= medium', '≤ medium')
    >>> allowed_text(size, ("medium", "big")), allowed_text(size, ("small", "big"))
    ('between medium and big', 'in {small, big}')
    >>> color = Feature("color", ("red", "yellow", "green"))
    >>> allowed_text(color, ("red", "green"))
    '≠ yellow'
    """
    texts = [value_text(feature, value) for value in values]
    if len(texts) == 1:
        return f"= {texts[0]}"
    span = _span(feature, values) if feature.ordered else None
    if span is not None:
        first, last = span
        if first == 0:
            return f"≤ {texts[-1]}"
        if last == len(feature) - 1:
            return f"≥ {texts[0]}"
        return f"between {texts[0]} and {texts[-1]}"
    others = [value_text(feature, v) for v in feature.values if v not in values]
    if len(others) == 1:
        return f"≠ {others[0]}"
    if others and len(others) < len(texts):
        return f"not in {{{', '.join(others)}}}"
    return f"in {{{', '.join(texts)}}}"


def _span(feature: Feature, values: Sequence[Value]) -> tuple[int, int] | None:
    """Return the positions of the first and last value if none between is left out."""
    positions = [feature.values.index(value) for value in values]
    first, last = positions[0], positions[-1]
    return (first, last) if positions == list(range(first, last + 1)) else None


def condition_text(feature: Feature, values: Sequence[Value]) -> str:
    """Return a condition as rules print it.

    Examples
    --------
    >>> size = Feature("size", ("small", "medium", "big", "huge"), ordered=True)
    >>> condition_text(size, ("small", "big"))
    'size in {small, big}'
    >>> condition_text(size, ("medium", "big"))
    'medium ≤ size ≤ big'
    """
    name, allowed = quoted(feature.name), allowed_text(feature, values)
    if allowed.startswith("between "):
        first, last = (value_text(feature, value) for value in (values[0], values[-1]))
        return f"{first} ≤ {name} ≤ {last}"
    return f"{name} {allowed}"


def unused(name: str, taken: Collection[str]) -> str:
    """Return `name`, with underscores behind it until it is not among `taken`."""
    while name in taken:
        name += "_"
    return name


def count(number: int, noun: str) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> count(1, "rule"), count(16072, "rule")
    ('1 rule', '16,072 rules')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def number_text(number: Fraction) -> str:
    """Return a number with six digits, however large or small.

    Examples
    --------
    >>> number_text(Fraction(2, 3)), number_text(Fraction(10) ** 400)
    ('0.666667', '1e+400')
    """
    if number == 0 or Fraction(1, 10**300) < abs(number) < 10**300:
        return f"{float(number):.6g}"
    with localcontext(prec=6, Emin=-999_999, Emax=999_999):
        quotient = Decimal(number.numerator) / Decimal(number.denominator)
        return f"{quotient.normalize():g}"


def share(part: int, whole: int) -> str:
    """Return `part` of `whole` in percent, never rounded to 0 or 100 when it is not.

    Examples
    --------
    >>> share(1, 3), share(0, 7), share(1, 10**9), share(10**9 - 1, 10**9)
    ('33.3 %', '0 %', '< 0.1 %', '> 99.9 %')
    """
    if whole == 0 or part == 0:
        return "0 %"
    if part == whole:
        return "100 %"
    percent = Fraction(100 * part, whole)
    if percent < Fraction(1, 10):
        return "< 0.1 %"
    if percent > Fraction(999, 10):
        return "> 99.9 %"
    return f"{float(percent):.1f} %"
