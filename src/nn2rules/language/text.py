"""The text of rules: conditions, class labels, numbers."""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise
from typing import Any

from nn2rules.space import (
    Cut,
    Domain,
    Feature,
    Grouped,
    Intervals,
    Range,
    Span,
    Value,
    cut_above,
    cut_below,
    edge_text,
    has_bins,
    has_odd_bins,
    is_number,
    number_of,
    text_of,
)

_PLAIN = re.compile(r"(?!=)[\w.+%/()<>=\-–]+( [\w.+%/()<>\-–]+)*")
_RESERVED = frozenset(
    (
        *("and", "anything", "between", "but", "if", "in", "missing", "not", "or"),
        *("otherwise", "then", "unless"),
    )
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
    """Return `value` as rules print it: by its label, if it has one.

    A group of words is printed as these.

    Examples
    --------
    >>> job = Feature.grouped("job", [["clerk", "cook"], ["judge"]], other=1)
    >>> value_text(job, "clerk, cook"), value_text(job, "judge, other")
    ('{clerk, cook}', '{judge, other}')
    """
    if isinstance(feature, Grouped):
        texts = _group_texts(feature, feature.values.index(value))
        return texts[0] if len(texts) == 1 else f"{{{', '.join(texts)}}}"
    if feature.labels is not None:
        return quoted(feature.labels[feature.values.index(value)])
    return label_text(value)


def label_text(label: Value) -> str:
    """Return a class label, or a value, as rules print it."""
    return "missing" if label is None else quoted(text_of(label))


def allowed_text(feature: Feature, values: Sequence[Value | Span]) -> str:
    """Return which values are allowed, as briefly as possible.

    Examples
    --------
    >>> size = Feature("size", ("small", "medium", "big", "huge"), ordered=True)
    >>> allowed_text(size, ("medium",)), allowed_text(size, ("small", "medium"))
    ('= medium', '≤ medium')
    >>> allowed_text(size, ("medium", "big")), allowed_text(size, ("small", "big"))
    ('between medium and big', 'in {small, big}')
    >>> color = Feature("color", ("red", "yellow", "green", "blue", "white"))
    >>> allowed_text(color, ("red", "green", "blue", "white"))
    '≠ yellow'
    >>> allowed_text(color, ("red", "green", "blue"))
    'all but {yellow, white}'
    >>> job = Feature.grouped("job", [["clerk", "cook"], ["judge"], []], other=2)
    >>> allowed_text(job, ("clerk, cook",)), allowed_text(job, ("judge", "other"))
    ('in {clerk, cook}', 'all but {clerk, cook}')
    """
    return _allowed(feature, values)[0]


def condition_text(feature: Feature, values: Sequence[Value | Span]) -> str:
    """Return a condition as rules print it.

    Examples
    --------
    >>> size = Feature("size", ("small", "medium", "big", "huge"), ordered=True)
    >>> condition_text(size, ("small", "big"))
    'size in {small, big}'
    >>> condition_text(size, ("medium", "big"))
    'medium ≤ size ≤ big'
    >>> age = Feature.bins("age", [25, 40, 65], missing=True)
    >>> condition_text(age, age.values[1:3]), condition_text(age, age.values[2:])
    ('25 ≤ age < 65', '(age ≥ 40 or age is missing)')
    >>> age = Feature("age", ("low", "mid", "high"), True, ("17–41", "42–65", "66–90"))
    >>> condition_text(age, ("mid",)), condition_text(age, ("low", "mid"))
    ('42 ≤ age ≤ 65', 'age ≤ 65')
    >>> amount = Feature.real("amount", 0, 20000, missing=True)
    >>> condition_text(amount, ((0, 99.5), (3500, 20000))), amount.limits
    ('(amount ≤ 99.5 or amount ≥ 3500)', (0, 20000))
    """
    name = quoted(feature.name)
    allowed, parts = _allowed(feature, values)
    texts = [part.replace("\0", name) for part in parts]
    if len(texts) > 1:
        return f"({' or '.join(texts)})"
    return texts[0] if texts else f"{name} {allowed}"


def _allowed(feature: Feature, values: Sequence[Value | Span]) -> tuple[str, list[str]]:
    """Return the text behind a name, and the parts of one with the name (as NUL) in it.

    There are parts only for ordered values that form a range, or several of numbers.
    """
    if isinstance(feature, Range):
        return _allowed_spans(feature, values)
    if isinstance(feature, Grouped):
        return _allowed_words(feature, values), []
    chosen = set(values)
    codes = [code for code, value in enumerate(feature.values) if value in chosen]
    plain = [
        code for code, value in enumerate(feature.values) if _is_plain(feature, value)
    ]
    places = {code: place for place, code in enumerate(plain)}
    rest = [value_text(feature, feature.values[c]) for c in codes if c not in places]
    runs = _runs([places[code] for code in codes if code in places])
    if not _has_ranges(feature, plain):
        runs = []
    if len(codes) == 1 and (rest or not has_bins(feature)):
        return f"= {value_text(feature, feature.values[codes[0]])}", []
    others = [v for v in feature.values if v not in chosen]
    is_range = _is_range(feature, plain, runs, rest)
    is_gap = not has_bins(feature) and len(runs) > 1
    if len(others) == 1 and (others[0] is None or is_gap or not is_range):
        return f"≠ {value_text(feature, others[0])}", []
    if is_range:
        ranges = [_range(feature, plain, first, last) for first, last in runs]
        texts = [behind for behind, _ in ranges] + [f"is {text}" for text in rest]
        parts = [whole for _, whole in ranges] + [f"\0 is {text}" for text in rest]
        return " or ".join(texts), parts
    texts = [value_text(feature, feature.values[code]) for code in codes]
    if others and len(others) < len(texts):
        return _several("all but", [value_text(feature, v) for v in others]), []
    return _several("in", texts), []


def _allowed_words(feature: Feature, values: Sequence[Value | Span]) -> str:
    """Return which categories are allowed, as briefly as is true of all rows.

    Words that nobody listed belong to the group for others: where it is allowed, *all
    but* includes them, as does its name if it has no words of its own. Where it is not,
    *all but* would be wrong.
    """
    inside: list[str] = []
    outside: list[str] = []
    for code, value in enumerate(feature.values):
        texts = inside if value in values else outside
        texts += _group_texts(feature, code)
    is_shorter = len(outside) < len(inside)
    if feature.other is not None:
        has_name = not _words(feature, feature.other_code)
        is_shorter = len(outside) <= len(inside) or not has_name
        is_shorter = is_shorter and feature.other in values
    if outside and is_shorter:
        return f"≠ {outside[0]}" if len(outside) == 1 else _several("all but", outside)
    return f"= {inside[0]}" if len(inside) == 1 else _several("in", inside)


def _several(kind: str, texts: Sequence[str]) -> str:
    return f"{kind} {{{', '.join(texts)}}}"


def _group_texts(feature: Feature, code: int) -> list[str]:
    """Return the categories of a group as rules print them; *other* for all others."""
    texts = [label_text(word) for word in _words(feature, code)]
    if code == feature.other_code:
        texts.append("other" if texts else quoted(str(feature.other)))
    return texts


def _words(feature: Feature, code: int) -> tuple[Value, ...]:
    return feature.categories_at(code)


def _allowed_spans(
    feature: Range, values: Sequence[Value | Span]
) -> tuple[str, list[str]]:
    """Return what `_allowed` does, for a range of numbers."""
    spans = sorted(value for value in values if isinstance(value, tuple))
    beside = feature.beside
    rest = [label_text(value) for value in beside if value in values]
    if not spans:
        is_one = len(rest) == 1
        return f"= {rest[0]}" if is_one else _several("in", rest), []
    others = [value for value in beside if value not in values]
    if spans == [feature.limits] and len(others) == 1 and rest:
        return f"≠ {label_text(others[0])}", []
    ranges = [_span(feature, *span, others) for span in spans]
    texts = [behind for behind, _ in ranges] + [f"is {text}" for text in rest]
    parts = [whole for _, whole in ranges] + [f"\0 is {text}" for text in rest]
    return " or ".join(texts), parts


def _span(
    feature: Range, low: float, high: float, others: Sequence[Value]
) -> tuple[str, str]:
    """Return the numbers from `low` to `high`: behind a name, and with it in it.

    Where one of the `others`, which are not meant, lies beyond an end, that is said.
    """
    first, last = feature.limits
    if low == high and first < last:
        return f"= {low}", f"\0 = {low}"
    start, stop = (str(low), False), (str(high), True)
    if not feature.whole:
        start, stop = edge_text(low), edge_text(feature.after(high))
    numbers: Any = [value for value in others if is_number(value)]
    is_first = low == first and not any(number < first for number in numbers)
    is_last = high == last and not any(number > last for number in numbers)
    return _between(None if is_first else start, None if is_last else stop)


def limits_text(feature: Range) -> str:
    """Return which numbers a range has, and what else is a value of its feature.

    Examples
    --------
    >>> limits_text(Feature.real("age", 17, 90, whole=True, special=[999]))
    'age 17 to 90 (whole), or 999'
    >>> limits_text(Feature.real("amount", 0, 2.5, missing=True))
    'amount 0 to 2.5, or missing'
    """
    low, high = feature.limits
    whole = " (whole)" if feature.whole else ""
    rest = "".join(f", or {label_text(value)}" for value in feature.beside)
    return f"{quoted(feature.name)} {low} to {high}{whole}{rest}"


def _is_plain(feature: Feature, value: Value) -> bool:
    """Tell whether a value has a place in the order: missing and others have none."""
    return feature.is_ordinary(value)


def _has_ranges(feature: Feature, plain: Sequence[int]) -> bool:
    """Tell whether values may be printed as ranges, which people read upwards.

    What reads as a number must not go down on the way, regardless of its type.
    """
    if not feature.ordered or any(isinstance(v, bool) for v in feature.values):
        return False
    if has_bins(feature):
        return True
    if has_odd_bins(feature):
        return False
    texts = [str(shown) for shown in feature.labels or feature.values]
    numbers = [number_of(texts[code]) for code in plain]
    found = [number for number in numbers if number is not None]
    return all(low < high for low, high in pairwise(found))


def _is_range(
    feature: Feature,
    plain: Sequence[int],
    runs: Sequence[tuple[int, int]],
    rest: Sequence[str],
) -> bool:
    """Tell whether values are printed as ranges: one if categories, several if not."""
    is_numeric = all(is_number(feature.values[code]) for code in plain)
    if isinstance(feature, Intervals) or has_bins(feature) or is_numeric:
        is_long = any(first < last for first, last in runs)
        return bool(runs) and (is_long or has_bins(feature))
    return len(runs) == 1 and not rest


def _runs(codes: Sequence[int]) -> list[tuple[int, int]]:
    """Return the first and the last of each run of neighbours."""
    runs: list[tuple[int, int]] = []
    for code in codes:
        if runs and runs[-1][1] == code - 1:
            runs[-1] = (runs[-1][0], code)
        else:
            runs.append((code, code))
    return runs


def _range(
    feature: Feature, plain: Sequence[int], first: int, last: int
) -> tuple[str, str]:
    """Return a range of ordered values: behind a name, and with the name in it."""
    is_first, is_last = first == 0, last == len(plain) - 1
    if has_bins(feature):
        return _between(
            None if is_first else cut_below(feature, first),
            None if is_last else cut_above(feature, last),
        )
    low, high = (
        value_text(feature, feature.values[plain[place]]) for place in (first, last)
    )
    if first == last:
        return f"= {low}", f"\0 = {low}"
    if is_first:
        return f"≤ {high}", f"\0 ≤ {high}"
    if is_last:
        return f"≥ {low}", f"\0 ≥ {low}"
    return f"between {low} and {high}", f"{low} ≤ \0 ≤ {high}"


def _between(low: Cut | None, high: Cut | None) -> tuple[str, str]:
    """Return the numbers between two cuts: behind a name, and with the name in it."""
    above = below = None
    if low is not None:
        above = (">", "<", low[0]) if low[1] else ("≥", "≤", low[0])
    if high is not None:
        below = ("≤" if high[1] else "<", high[0])
    if above is not None and below is not None:
        behind = f"{above[0]} {above[2]} and {below[0]} {below[1]}"
        return behind, f"{above[2]} {above[1]} \0 {below[0]} {below[1]}"
    if above is not None:
        return f"{above[0]} {above[2]}", f"\0 {above[0]} {above[2]}"
    if below is not None:
        return f"{below[0]} {below[1]}", f"\0 {below[0]} {below[1]}"
    return "is a number", "\0 is a number"


def value_condition(feature: Feature, values: Sequence[Any]) -> str:
    """Return which values a feature has as a condition, which can be read again.

    Of a range of numbers, values may be numbers and pairs (low, high).

    Examples
    --------
    >>> income = Feature.bins("income", [2800, 5000])
    >>> [value_condition(income, [value]) for value in income.values]
    ['income < 2800', '2800 ≤ income < 5000', 'income ≥ 5000']
    >>> value_condition(Feature.real("age", 17, 90, whole=True), [31])
    'age = 31'
    >>> job = Feature.grouped("job", [["clerk", "cook"], ["judge", "nurse"]])
    >>> value_condition(job, ["clerk, cook"])
    'job in {clerk, cook}'
    """
    if isinstance(feature, Range):
        beside = feature.values[feature.n_plain :]
        values = [v if isinstance(v, tuple) or v in beside else (v, v) for v in values]
    return condition_text(feature, values)


def input_conditions(domain: Domain, row: Mapping[str, Value]) -> list[str]:
    """Return an input, or some of its features, as conditions.

    Examples
    --------
    >>> domain = Domain((Feature("job", ("clerk", "cook")), Feature.bins("age", [25])))
    >>> input_conditions(domain, {"job": "cook", "age": "(-inf, 25)"})
    ['job = cook', 'age < 25']
    """
    return [value_condition(domain.feature(name), [v]) for name, v in row.items()]


def value_words(feature: Feature, value: Value) -> str:
    """Return a value as a short text: bins as conditions, unless they have labels.

    Examples
    --------
    >>> value_words(Feature.bins("age", [25]), "[25, inf)")
    'age ≥ 25'
    >>> value_words(Feature("sex", ("f", "m"), labels=("Female", "Male")), "f")
    'Female'
    """
    if isinstance(feature, Range):
        return label_text(value)
    is_bin = has_bins(feature) and feature.labels is None and value is not None
    return value_condition(feature, [value]) if is_bin else value_text(feature, value)


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


def percent(part: int, whole: int) -> str:
    """Return `part` of `whole` in whole percent, never rounded to 0 or 100.

    Examples
    --------
    >>> percent(1, 3), percent(999, 1000), percent(1, 1000), percent(7, 7)
    ('33%', '> 99%', '< 1%', '100%')
    """
    if part in (0, whole) or not whole:
        return "100%" if part and part == whole else "0%"
    found = Fraction(100 * part, whole)
    if found < 1:
        return "< 1%"
    return "> 99%" if found > 99 else f"{round(found)}%"


def share(part: int, whole: int) -> str:
    """Return `part` of `whole` in percent, never rounded to 0 or 100 when it is not.

    Examples
    --------
    >>> share(1, 3), share(0, 7), share(1, 10**9), share(10**9 - 1, 10**9)
    ('33.3%', '0%', '< 0.1%', '> 99.9%')
    """
    if whole == 0 or part == 0:
        return "0%"
    if part == whole:
        return "100%"
    percent = Fraction(100 * part, whole)
    if percent < Fraction(1, 10):
        return "< 0.1%"
    if percent > Fraction(999, 10):
        return "> 99.9%"
    return f"{float(percent):.1f}%"
