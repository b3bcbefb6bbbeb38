"""What came of a check, as numbers and in plain English."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from decimal import ROUND_UP, Context
from typing import Any, ClassVar, Literal

from nn2rules.checker.search import Search
from nn2rules.output import Document, Paragraph, Result
from nn2rules.space import Value

_NAMED = 10  # rules that are named in a line


@dataclass(frozen=True, slots=True)
class Counterexample:
    """An input on which the two differ, and what each says.

    `rule` is the position, from 0, of the rule that answers; None for the default.
    `name` is what it is called; see `RuleList.names`.
    """

    row: dict[str, Value]
    network: Value
    rules: Value
    rule: int | None
    name: str = ""

    def __str__(self) -> str:
        row = ", ".join(f"{name} = {value!r}" for name, value in self.row.items())
        who = "the default" if self.rule is None else f"rule {self.name}"
        return f"{row}: the network says {self.network!r}, {who} says {self.rules!r}"


@dataclass(frozen=True, slots=True)
class ProofReport:
    """Which rules a file of proofs proves.

    Attributes
    ----------
    rules, proved : int
        How many rules there are, and of how many a proof was followed to its end.
    missing : tuple of int
        The positions, from 0, of rules without a proof in the file.
    refused : tuple of (int or None, str)
        The positions of rules whose proof does not prove them, None for the default,
        and why not.
    default : {"", "missing", "proved"}
        Of the default; nothing in the scope "support", where it claims nothing.
    names : tuple of str
        What the rules are called.
    """

    rules: int
    proved: int
    missing: tuple[int, ...]
    refused: tuple[tuple[int | None, str], ...]
    default: str
    names: tuple[str, ...]

    @property
    def proved_rules(self) -> frozenset[int]:
        """The positions of the rules that are proved."""
        others = {*self.missing, *(rule for rule, _ in self.refused)}
        return frozenset(range(self.rules)) - others

    @property
    def is_complete(self) -> bool:
        """Whether everything that the rules claim is proved."""
        return self.proved == self.rules and self.default in ("", "proved")

    def __str__(self) -> str:
        text = f"Proved anew: {self.proved:,} of {self.rules:,} rules"
        if self.default:
            text += f"; the default is {'' if self.default == 'proved' else 'not '}"
            text += "proved"
        if self.missing:
            verb = "has" if len(self.missing) == 1 else "have"
            text += f"; {len(self.missing):,} {verb} no proof in the file"
        return f"{text}."

    def lines(self) -> list[str]:
        """Return the report in lines; of proofs that are refused, the first few."""
        found = [str(self)]
        for rule, reason in self.refused[:5]:
            who = "the default" if rule is None else f"rule {self.names[rule]}"
            found.append(f"  the proof of {who} does not hold: {reason}")
        return found


@dataclass(frozen=True, slots=True)
class SearchReport:
    """Which rules the checker proved or refuted by its own search.

    Attributes
    ----------
    proved, refuted, open : tuple of (int or None)
        The positions, from 0, of the rules that were searched; None for the default.
        What a file of proofs proves is not searched again.
    ties : int
        Inputs that stayed too close to a tie to tell.
    boxes : int
        How many boxes were looked at.
    stopped : bool
        Whether Ctrl-C ended the search.
    names : tuple of str
        What the rules are called.
    """

    proved: tuple[int | None, ...]
    refuted: tuple[int | None, ...]
    open: tuple[int | None, ...]
    ties: int
    boxes: int
    stopped: bool
    names: tuple[str, ...]

    @classmethod
    def of(
        cls, searches: Sequence[Search], names: tuple[str, ...], *, is_stopped: bool
    ) -> "SearchReport":
        """Sum up searches; a rule is proved if all that it claims is."""
        found: dict[int | None, set[str]] = {}
        for search in searches:
            found.setdefault(search.claim.rule, set()).add(search.status)

        def those(*statuses: set[str]) -> tuple[int | None, ...]:
            return tuple(rule for rule, has in found.items() if has in statuses)

        refuted = tuple(rule for rule, has in found.items() if "refuted" in has)
        return cls(
            those({"proved"}),
            refuted,
            those({"open"}, {"open", "proved"}),
            sum(search.ties for search in searches),
            sum(search.boxes for search in searches),
            is_stopped,
            names,
        )

    @property
    def is_complete(self) -> bool:
        """Whether everything that was searched is proved."""
        return not self.refuted and not self.open

    def lines(self) -> list[str]:
        """Return the report in lines."""
        found = []
        if self.proved or not self.is_complete:
            found.append(f"Proved by search: {self._those(self.proved)}.")
        if self.refuted:
            found.append(f"Refuted: {self._those(self.refuted, named=True)}.")
        if self.open:
            why = "Ctrl-C came" if self.stopped else "the time ended"
            text = f"Open, as {why} first" if not self.ties else "Open"
            found.append(f"{text}: {self._those(self.open, named=True)}.")
        return found

    def _those(self, rules: tuple[int | None, ...], *, named: bool = False) -> str:
        """Say which rules, by number or by name."""
        numbers = [rule for rule in rules if rule is not None]
        of = len(self.names)
        plural = "rule" if (len(numbers) if named else of) == 1 else "rules"
        text = f"{len(numbers):,} of {of:,} {plural}"
        if named and numbers:
            shown = ", ".join(self.names[rule] for rule in numbers[:_NAMED])
            more = ", …" if len(numbers) > _NAMED else ""
            text = f"{plural} {shown}{more}"
        if None not in rules:
            return text
        return f"{text}, and the default" if numbers or not named else "the default"


@dataclass(frozen=True, slots=True)
class CheckReport(Result):
    """What was compared, and what came of it; as text, a report in plain English.

    Attributes
    ----------
    method : {"every input", "every input but those named below", "sample"}
    scope : {"domain", "support"}
        What the rules were held to: every answer, or those of a rule.
    checked, different : int
        Answers compared, and those that differ. A sample may hold an input twice.
    undecided : int
        Inputs too near to a tie for the arithmetic of this module; not compared.
    impossible : int
        Inputs that the caller declared impossible; not compared.
    open_inputs : int
        Inputs of which rules of scope "support" claim nothing; not compared.
    unmet : int
        Inputs that get the default of a set for the whole domain that has rules for
        every class, and so should leave nothing to it.
    rows_left : int
        Given rows that were not compared, because they are one or the other.
    unreached : int
        Rules that answered none of the inputs: of these nothing was compared.
    counterexamples : tuple of Counterexample
        The first few differences.
    compared, confidence : str
        Which inputs were compared, and what follows for the others.
    claims : tuple of str
        What the rules say of themselves; no part of the verdict.
    proofs : ProofReport or None
        What came of the proofs, if a file of them was given.
    untrue : tuple of int
        The positions, from 0, of rules that are wrong where they say that they are
        true: on their own, or unless some rules above hold.
    search : SearchReport or None
        What came of the search, where inputs could not all be compared.
    """

    _json: ClassVar[Mapping[str, Any]] = {"indent": 1, "default": str}

    method: str
    scope: Literal["domain", "support"]
    checked: int
    different: int
    undecided: int
    impossible: int
    open_inputs: int
    unmet: int
    rows_left: int
    unreached: int
    counterexamples: tuple[Counterexample, ...]
    compared: str
    confidence: str
    claims: tuple[str, ...]
    proofs: ProofReport | None = None
    untrue: tuple[int, ...] = ()
    search: SearchReport | None = None

    @property
    def ok(self) -> bool:
        """Whether the rules were shown to be right: on every input, or by proofs.

        Then none differs, none was undecided, and no rule says wrongly what it leans
        on. A proof that does not hold is no proof of a difference, but not ok either;
        nor is a sample without a difference.
        """
        return self._has_no_fault and (self.method != "sample" or self._all_proved)

    @property
    def is_open(self) -> bool:
        """Whether nothing speaks against the rules, but they were not proved either."""
        return self._has_no_fault and not self.ok

    @property
    def is_proved(self) -> bool:
        """Whether proofs show all that the rules were held to."""
        return self._has_no_fault and self._all_proved

    @property
    def _has_no_fault(self) -> bool:
        is_refused = self.proofs is not None and len(self.proofs.refused) > 0
        is_equal = self.different == 0 and self.undecided == 0 and not self.untrue
        return self.checked > 0 and is_equal and not is_refused

    @property
    def _all_proved(self) -> bool:
        if self.search is not None:
            return self.search.is_complete
        if self.proofs is None or not self.proofs.is_complete:
            return False
        return self.scope == "support" or self.proofs.default == "proved"

    def _verdict(self) -> str:
        if self.different:
            return "DIFFERENT: the rules do not answer as the network does."
        if self.untrue:
            return "NOT TRUE ALONE: a rule is wrong where it says that it is true."
        if self.proofs is not None and self.proofs.refused:
            return "NOT PROVED: a proof in the file does not hold."
        if not self._has_no_fault:
            return "NOT SHOWN: no difference was found, but too little was compared."
        where = "on every input" if self.scope == "domain" else "where a rule decides"
        if self.is_proved and self.method == "sample":
            left = " but those declared impossible" if self.impossible else ""
            return f"PROVED: the rules answer as the network does {where}{left}."
        if self.method == "sample":
            return "NO DIFFERENCE FOUND, in a sample of the inputs. This is no proof."
        if self.impossible:
            where += f" but the {self.impossible:,} declared impossible"
        return f"EQUAL: the rules answer as the network does {where}."

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain values, with its verdict."""
        return {"verdict": self._verdict(), "ok": self.ok, **asdict(self)}

    def document(self) -> Document:
        """Return the report in lines, the verdict first."""
        verdict = Paragraph(self._verdict(), "title" if self.ok else "warning")
        return Document(((verdict, *map(Paragraph, self._details())),))

    def _details(self) -> list[str]:
        """Return the report in lines, without the verdict."""
        remarks = {
            "Not compared, too close to a tie to tell: {:,}.": self.undecided,
            "Not compared, declared impossible: {:,}.": self.impossible,
            "Not compared, open: {:,}. No rule decides these, and rules of scope "
            "'support' claim nothing about them.": self.open_inputs,
            "Inputs that no rule of this set decides, though it has rules for every "
            "class: {:,}.": self.unmet,
            "Given rows that were not compared, for the same reason: {:,}.": (
                self.rows_left
            ),
            "Rules that no compared input reached: {:,}.": self.unreached,
            "Rules that are wrong alone, or lean on more than they say: {:,}.": (
                len(self.untrue)
            ),
        }
        lines = (
            *([] if self.proofs is None else self.proofs.lines()),
            *([] if self.search is None else self.search.lines()),
            f"Method: {self.method}. Compared: {self.compared}.",
            f"Answers compared: {self.checked:,}. Different: {self.different:,}.",
            *(text.format(number) for text, number in remarks.items() if number),
            "" if self.is_proved else self.confidence,
            *self.claims,
            *(f"  {example}" for example in self.counterexamples),
        )
        return [line for line in lines if line]


def confidence_text(drawn: int, *, of: str, differ: str, spread: str = "") -> str:
    """Say what no difference among `drawn` inputs means: 1 - 0.05 ** (1 / drawn)."""
    if not drawn:
        return ""
    percent = -100 * math.expm1(math.log(0.05) / drawn)
    shown = Context(prec=2, rounding=ROUND_UP).create_decimal_from_float(percent)
    return (
        f"With 95% confidence, fewer than {shown:f}% of {of}{spread} {differ}. "
        f"Inputs that were not drawn were not compared."
    )
