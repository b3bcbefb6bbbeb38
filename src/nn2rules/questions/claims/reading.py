"""Read claims from text, and files of claims."""

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from nn2rules.errors import FormatError, OptionError
from nn2rules.files import Node, load_rules, parse_json, read_table, read_text
from nn2rules.language import ConditionReader, Scanner, label_text, longest_first
from nn2rules.questions.claims.claim import (
    Claim,
    Equivalent,
    Implies,
    Subsumes,
    Unreachable,
    independent_of,
    monotonic,
    probability_between,
)
from nn2rules.space import Condition, Domain, Value, text_of

_KINDS = (
    "if, never, independent of, increasing in, decreasing in, probability of, "
    "equivalent to, subsumes"
)

_EQUIVALENT, _SUBSUMES = ("equivalent", "to"), ("subsumes",)  # these name a rules file

Found = tuple[Claim, int]

Where = tuple[Condition, ...] | None


def read_claim(text: str, domain: Domain, classes: Sequence[Value]) -> Claim:
    """Return the claim that a text makes about a model with these features and classes.

    Examples
    --------
    >>> from nn2rules import Feature
    >>> domain = Domain((Feature("size", ("small", "medium", "big"), ordered=True),))
    >>> read_claim("if size >= medium then ripe", domain, ("unripe", "ripe"))
    Implies(conditions=(Condition(feature='size', values=('medium', 'big')),),
            then='ripe')

    Raises
    ------
    ParseError
        If it cannot be read; it points at the place.
    """
    reader = _ClaimReader(text, domain, classes)
    for claim, place in reader.claims():
        if reader.scanner.is_end(place):
            return claim
        reader.scanner.fail(place, "expected the end")
    raise reader.scanner.error()


def file_in(text: str) -> tuple[str, int, int] | None:
    """Return the file that a claim names, and where in the text its name is.

    Examples
    --------
    >>> file_in('equivalent to "rules.json" if size = big')
    ('rules.json', 14, 26)
    >>> file_in("never ripe") is None
    True
    """
    scanner = Scanner(text)
    for words in (_EQUIVALENT, _SUBSUMES):
        place = scanner.word(0, *words)
        name = None if place is None else scanner.quoted(place)
        if place is not None and name is not None:
            return name[0], scanner.skip(place), name[1]
    return None


class _ClaimReader:
    """Reads one claim, in every way in which it can be read."""

    def __init__(self, text: str, domain: Domain, classes: Sequence[Value]) -> None:
        self.scanner, self.domain, self.classes = Scanner(text), domain, classes
        self._conditions = ConditionReader(self.scanner, domain)
        spelled = {label_text(label): i for i, label in enumerate(classes)}
        self._labels = longest_first(spelled)

    def claims(self) -> Iterator[Found]:
        """Yield every claim that the text can mean."""
        word, start = self.scanner.word, 0
        is_known = False
        for words, read in (
            (("if",), self._rule),
            (("never",), self._never),
            (("independent", "of"), self._independent),
            (("increasing", "in"), self._increasing),
            (("decreasing", "in"), self._decreasing),
            (("probability",), self._probability),
            (_EQUIVALENT, self._equivalent),
            (_SUBSUMES, self._subsumes),
        ):
            place = word(start, *words)
            if place is not None:
                is_known = True
                yield from read(place)
        if not is_known:
            self.scanner.fail(start, f"a claim begins with one of: {_KINDS}")

    def _rule(self, place: int) -> Iterator[Found]:
        for parsed, stop in self._conditions.conditions(place):
            then = self.scanner.word(stop, "then")
            if then is None:
                self.scanner.fail(stop, "expected 'and' or 'then'")
                continue
            conditions = self._conditions.checked(parsed)
            denied = self.scanner.word(then, "not")
            if denied is not None:
                for label, end in self._label(denied):
                    yield Unreachable(label, conditions), end
            else:
                for label, end in self._label(then):
                    yield Implies(conditions, label), end

    def _never(self, place: int) -> Iterator[Found]:
        for label, stop in self._label(place):
            for where, end in self._where(stop):
                yield Unreachable(label, where), end

    def _independent(self, place: int) -> Iterator[Found]:
        for names, stop in self._names(place):
            for where, end in self._where(stop):
                if len(set(names)) == len(names):
                    yield independent_of(names, within=where), end
                else:
                    self.scanner.fail(place, "a feature is named twice")

    def _names(self, place: int) -> Iterator[tuple[list[str], int]]:
        is_found = False
        for index, stop in self._conditions.name(place):
            is_found = True
            name = self.domain.names[index]
            end = self.scanner.skip(stop)
            if self.scanner.text.startswith(",", end):
                for names, last in self._names(end + 1):
                    yield [name, *names], last
            yield [name], stop
        if not is_found:
            self._conditions.refuse_name(place)

    def _increasing(self, place: int, *, increasing: bool = True) -> Iterator[Found]:
        is_found = False
        for index, stop in self._conditions.name(place):
            is_found = True
            name = self.domain.names[index]
            for toward, end in self._optional("toward", stop):
                for where, last in self._where(end):
                    claim = monotonic(
                        name, increasing=increasing, toward=toward, within=where
                    )
                    yield claim, last
        if not is_found:
            self._conditions.refuse_name(place)

    def _decreasing(self, place: int) -> Iterator[Found]:
        yield from self._increasing(place, increasing=False)

    def _optional(self, word: str, place: int) -> Iterator[tuple[Value, int]]:
        """Yield the class after a word, or None if there is no such word."""
        start = self.scanner.word(place, word)
        if start is None:
            yield None, place
        else:
            yield from self._label(start)

    def _probability(self, place: int) -> Iterator[Found]:
        for label, stop in self._optional("of", place):
            start = self.scanner.word(stop, "between")
            low = None if start is None else self.scanner.number(start)
            then = None if low is None else self.scanner.word(low[1], "and")
            high = None if then is None else self.scanner.number(then)
            if low is None or high is None:
                self.scanner.fail(stop, "expected: between 0.1 and 0.9")
                continue
            ends = float(low[0]), float(high[0])
            for where, end in self._where(high[1]):
                try:
                    yield probability_between(*ends, of=label, within=where), end
                except OptionError as error:
                    self.scanner.fail(stop, str(error))

    def _equivalent(self, place: int) -> Iterator[Found]:
        for path, stop in self._path(place):
            for where, end in self._where(stop):
                yield Equivalent(load_rules(path), where), end

    def _subsumes(self, place: int) -> Iterator[Found]:
        for path, stop in self._path(place):
            for where, end in self._where(stop):
                yield Subsumes(load_rules(path), where), end

    def _path(self, place: int) -> Iterator[tuple[str, int]]:
        path_and_end = self.scanner.quoted(place)
        if path_and_end is None:
            self.scanner.fail(place, 'expected a rules file, as in "rules.json"')
        else:
            yield path_and_end

    def _where(self, place: int) -> Iterator[tuple[Where, int]]:
        """Yield the conditions after "if"; None if there are none."""
        start = self.scanner.word(place, "if")
        if start is None:
            yield None, place
            return
        for parsed, stop in self._conditions.conditions(start):
            yield self._conditions.checked(parsed), stop

    def _label(self, place: int) -> Iterator[tuple[Value, int]]:
        quoted = self.scanner.quoted(place)
        is_found = False
        if quoted is not None:
            for label in self.classes:
                if text_of(label) == quoted[0]:
                    is_found = True
                    yield label, quoted[1]
        for index, stop in self.scanner.known(place, self._labels):
            is_found = True
            yield self.classes[index], stop
        if not is_found:
            word = self.scanner.shown(place)
            class_texts = ", ".join(label_text(label) for label in self.classes)
            reason = f"there is no class {word}; there are {class_texts}"
            self.scanner.fail(
                place, reason if word else f"expected one of {class_texts}"
            )


def read_claims(path: str | os.PathLike[str], *, files: bool = False) -> dict[str, str]:
    """Return the claims of a file, as text, by their names.

    A CSV, Excel or Parquet file has a column ``claim`` and optionally a column
    ``name``. A JSON file has a list of texts, or of objects with ``claim`` and
    ``name``. Claims without a name are numbered.

    Parameters
    ----------
    path : str or path
    files : bool
        Whether claims may name rules files, as in ``equivalent to "rules.json"``. The
        file must be in the folder of the claims file or below; its name is relative to
        that folder, and becomes a full path in the returned claim.

    Raises
    ------
    FormatError
        If the file cannot be read, or a claim names a file that it may not name.
    """
    if Path(path).suffix == ".json":
        try:
            pairs = [_entry(node) for node in parse_json(read_text(path)).items()]
        except FormatError as error:
            raise FormatError(f"{path}: {error}") from None
    else:
        table = read_table(path)
        claims = table.texts("claim")
        names = table.texts("name") if "name" in table.header else [""] * len(claims)
        pairs = list(zip(names, claims, strict=True))
    if not pairs:
        raise FormatError(f"{path}: there are no claims in it")
    found: dict[str, str] = {}
    for number, (name, claim) in enumerate(pairs, 1):
        claim_name = name or str(number)
        if claim_name in found:
            raise FormatError(f"{path}: two claims are named {claim_name!r}")
        try:
            found[claim_name] = _with_its_file(
                claim, Path(path).parent, is_allowed=files
            )
        except FormatError as error:
            raise FormatError(f"{path}: claim {claim_name!r} {error}") from None
    return found


def _with_its_file(claim: str, folder: Path, *, is_allowed: bool) -> str:
    """Return a claim with the full path of the file it names, if that is allowed.

    A claims file may come from someone who must not choose which files are opened.
    """
    named_file = file_in(claim)
    if named_file is None:
        return claim
    name, start, stop = named_file
    if not is_allowed:
        raise FormatError(
            f"names the file {name!r}, but a claims file may open files only with "
            f"files=True (--claim-files)"
        )
    home = os.path.realpath(folder)
    target = os.path.realpath(os.path.join(home, name)) if "\0" not in name else ""
    if not Path(target).is_relative_to(home):
        raise FormatError(
            f"names the file {name!r}, which is not in the folder of the claims file"
        )
    return f"{claim[:start]}{json.dumps(target)}{claim[stop:]}"


def _entry(node: Node) -> tuple[str, str]:
    if isinstance(node.value, str):
        return "", node.string()
    node.only(("name", "claim"))
    return node["name"].string() if "name" in node else "", node["claim"].string()
