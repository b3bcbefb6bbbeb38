"""The result of a check, as numbers and as text."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from decimal import ROUND_UP, Context
from typing import Any, ClassVar, Literal

from nn2rules.checker.search import Search
from nn2rules.output import Document, Paragraph, Result
from nn2rules.space import Value

_MOST_NAMED = 10  # rules that are named in a line


@dataclass(frozen=True, slots=True)
class Counterexample:
    """An input for which network and rules differ, and what each predicts.

    `rule` is the position (from 0) of the rule that determines the prediction, None for
    the default. `name` is its name; see `RuleList.names`.
    """

    row: dict[str, Value]
    network: Value
    rules: Value
    rule: int | None
    name: str = ""

    def __str__(self) -> str:
        row = ", ".join(f"{name} = {value!r}" for name, value in self.row.items())
        who = "the default" if self.rule is None else f"rule {self.name}"
        return f"{row}: the network predicts {self.network!r}, {who} {self.rules!r}"


@dataclass(frozen=True, slots=True)
class ProofReport:
    """Which rules a file of proofs proves.

    Attributes
    ----------
    rules, proved : int
        The number of rules, and of those whose proof was followed to its end.
    missing : tuple of int
        The positions, from 0, of rules without a proof in the file.
    refused : tuple of (int or None, str)
        The positions of rules whose proof does not prove them, None for the default,
        and the reason.
    default : {"", "missing", "proved"}
        For the default; empty in the scope "support", where it claims nothing.
    names : tuple of str
        The names of the rules.
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
        text = f"Proofs verified: {self.proved:,} of {self.rules:,} rules"
        if self.default:
            text += f"; the default is {'' if self.default == 'proved' else 'not '}"
            text += "proved"
        if self.missing:
            verb = "has" if len(self.missing) == 1 else "have"
            text += f"; {len(self.missing):,} {verb} no proof in the file"
        return f"{text}."

    def lines(self) -> list[str]:
        """Return the lines of the report, with the first few refused proofs."""
        found = [str(self)]
        for rule, reason in self.refused[:5]:
            who = "the default" if rule is None else f"rule {self.names[rule]}"
            found.append(f"  the proof of {who} is not valid: {reason}")
        return found


@dataclass(frozen=True, slots=True)
class SearchReport:
    """Which rules the checker proved or refuted by its own search.

    Attributes
    ----------
    proved, refuted, undecided : tuple of (int or None)
        The positions, from 0, of the rules that were searched; None for the default.
        Rules that a file of proofs proves are not searched again.
    ties : int
        Inputs that stayed too close to a tie to tell.
    boxes : int
        The number of boxes that were examined.
    stopped : bool
        Whether Ctrl-C ended the search.
    names : tuple of str
        The names of the rules.
    """

    proved: tuple[int | None, ...]
    refuted: tuple[int | None, ...]
    undecided: tuple[int | None, ...]
    ties: int
    boxes: int
    stopped: bool
    names: tuple[str, ...]

    @classmethod
    def of(
        cls, searches: Sequence[Search], names: tuple[str, ...], *, is_stopped: bool
    ) -> "SearchReport":
        """Summarise searches; a rule is proved if all its claims are."""
        statuses_of: dict[int | None, set[str]] = {}
        for search in searches:
            statuses_of.setdefault(search.claim.rule, set()).add(search.status)

        def those(*statuses: set[str]) -> tuple[int | None, ...]:
            return tuple(rule for rule, each in statuses_of.items() if each in statuses)

        refuted = tuple(rule for rule, each in statuses_of.items() if "refuted" in each)
        return cls(
            those({"proved"}),
            refuted,
            those({"undecided"}, {"undecided", "proved"}),
            sum(search.ties for search in searches),
            sum(search.boxes for search in searches),
            is_stopped,
            names,
        )

    @property
    def is_complete(self) -> bool:
        """Whether everything that was searched is proved."""
        return not self.refuted and not self.undecided

    def lines(self) -> list[str]:
        """Return the lines of the report."""
        lines = []
        if self.proved or not self.is_complete:
            lines.append(f"Proved by search: {self._those(self.proved)}.")
        if self.refuted:
            lines.append(f"Refuted: {self._those(self.refuted, named=True)}.")
        if self.undecided:
            why = "because of Ctrl-C" if self.stopped else "because time ran out"
            text = "Undecided" if self.ties else f"Undecided, {why}"
            lines.append(f"{text}: {self._those(self.undecided, named=True)}.")
        return lines

    def _those(self, rules: tuple[int | None, ...], *, named: bool = False) -> str:
        """Return which rules, by number or by name."""
        numbers = [rule for rule in rules if rule is not None]
        of = len(self.names)
        plural = "rule" if (len(numbers) if named else of) == 1 else "rules"
        text = f"{len(numbers):,} of {of:,} {plural}"
        if named and numbers:
            shown = ", ".join(self.names[rule] for rule in numbers[:_MOST_NAMED])
            more = ", …" if len(numbers) > _MOST_NAMED else ""
            text = f"{plural} {shown}{more}"
        if None not in rules:
            return text
        return f"{text}, and the default" if numbers or not named else "the default"


@dataclass(frozen=True, slots=True)
class CheckReport(Result):
    """What was compared, and the verdict.

    Attributes
    ----------
    method : {"every input", "every input but those named below", "sample"}
    scope : {"domain", "support"}
        Which inputs were compared: all, or those that a rule covers.
    checked, different : int
        Predictions compared, and those that differ. A sample may hold an input twice.
    undecided : int
        Inputs too close to a tie for the arithmetic of this module; not compared.
    impossible : int
        Inputs that the caller declared impossible; not compared.
    uncovered : int
        Inputs about which rules of scope "support" claim nothing; not compared.
    unmet : int
        Inputs that get the default of a set for the whole domain that has rules for
        every class, so that no input should be left to the default.
    rows_left : int
        Given rows that were not compared, because they are impossible or not covered.
    unreached : int
        Rules that determine the prediction of none of the inputs: untested.
    counterexamples : tuple of Counterexample
        The first few differences.
    compared, confidence : str
        Which inputs were compared, and what follows for the others.
    claims : tuple of str
        What the rules file claims about itself; not part of the verdict.
    proofs : ProofReport or None
        The result for the proofs, if a file of them was given.
    untrue : tuple of int
        The positions, from 0, of rules that are wrong on an input for which they claim
        to be true by themselves, or unless some rules above cover it.
    search : SearchReport or None
        The result of the search, where inputs could not all be compared.
    """

    _json: ClassVar[Mapping[str, Any]] = {"indent": 1, "default": str}

    method: str
    scope: Literal["domain", "support"]
    checked: int
    different: int
    undecided: int
    impossible: int
    uncovered: int
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
        """Whether the rules were shown to be right, on every input or by proofs.

        Then no prediction differs, none was undecided, and every rule states correctly
        which rules it depends on. An invalid proof does not prove a difference, but is
        not ok either; nor is a sample without a difference.
        """
        return self._has_no_fault and (self.method != "sample" or self._all_proved)

    @property
    def is_undecided(self) -> bool:
        """Whether no fault was found, but the rules were not proved either."""
        return self._has_no_fault and not self.ok

    @property
    def is_proved(self) -> bool:
        """Whether every claim of the rules is proved."""
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
            return "DIFFERENT: the rules do not predict as the network does."
        if self.untrue:
            return "NOT TRUE ALONE: a rule is wrong although it claims to hold alone."
        if self.proofs is not None and self.proofs.refused:
            return "NOT PROVED: a proof in the file is not valid."
        if not self._has_no_fault:
            return (
                "INCONCLUSIVE: no difference found, but too few inputs were compared."
            )
        every = "on every input"
        where = every if self.scope == "domain" else f"{every} that a rule covers"
        if self.is_proved and self.method == "sample":
            left = " but those declared impossible" if self.impossible else ""
            return f"PROVED: the rules predict as the network does {where}{left}."
        if self.method == "sample":
            return "NO DIFFERENCE FOUND in a sample of the inputs. This is not a proof."
        if self.impossible:
            where += f" but the {self.impossible:,} declared impossible"
        return f"EQUAL: the rules predict as the network does {where}."

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain values, with its verdict."""
        return {"verdict": self._verdict(), "ok": self.ok, **asdict(self)}

    def document(self) -> Document:
        """Return the lines of the report, the verdict first."""
        verdict = Paragraph(self._verdict(), "title" if self.ok else "warning")
        return Document(((verdict, *map(Paragraph, self._details())),))

    def _details(self) -> list[str]:
        """Return the lines of the report without the verdict."""
        remarks = {
            "Not compared, too close to a tie to tell: {:,}.": self.undecided,
            "Not compared, declared impossible: {:,}.": self.impossible,
            "Not compared, not covered: {:,}. No rule covers these, and rules of scope "
            "'support' claim nothing about them.": self.uncovered,
            "Inputs that no rule of this set covers, although it has rules for every "
            "class: {:,}.": self.unmet,
            "Given rows that were not compared, for the same reason: {:,}.": (
                self.rows_left
            ),
            "Rules that no compared input reached: {:,}.": self.unreached,
            "Rules that are wrong alone, or depend on more rules than stated: {:,}.": (
                len(self.untrue)
            ),
        }
        lines = (
            *([] if self.proofs is None else self.proofs.lines()),
            *([] if self.search is None else self.search.lines()),
            f"Method: {self.method}. Compared: {self.compared}.",
            f"Predictions compared: {self.checked:,}. Different: {self.different:,}.",
            *(text.format(number) for text, number in remarks.items() if number),
            "" if self.is_proved else self.confidence,
            *self.claims,
            *(f"  {example}" for example in self.counterexamples),
        )
        return [line for line in lines if line]


def confidence_text(drawn: int, *, of: str, differ: str, spread: str = "") -> str:
    """Return what no difference among `drawn` inputs means: 1 - 0.05 ** (1 / drawn)."""
    if not drawn:
        return ""
    percent = -100 * math.expm1(math.log(0.05) / drawn)
    shown = Context(prec=2, rounding=ROUND_UP).create_decimal_from_float(percent)
    return (
        f"With 95% confidence, fewer than {shown:f}% of {of}{spread} {differ}. "
        f"Inputs that were not drawn were not compared."
    )
