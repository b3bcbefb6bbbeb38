"""The result of checking a scorecard, as values and as text."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal

from nn2rules.output import Document, Paragraph, Result
from nn2rules.space import Value

Status = Literal["proved", "refuted", "undecided"]


@dataclass(frozen=True, slots=True)
class CardClaim:
    """Something that a scorecard claims, and what came of it.

    Attributes
    ----------
    name : str
    status : {"proved", "refuted", "undecided"}
    detail : str
        How it was proved, or what is missing.
    """

    name: str
    status: Status
    detail: str

    def __str__(self) -> str:
        return f"{self.name}: {self.status}. {self.detail}"


@dataclass(frozen=True, slots=True)
class CardDifference:
    """An input that refutes a claim.

    `stated` is what the scorecard predicts, or what its page proves if `where` names
    the place on it.
    """

    row: dict[str, Value]
    network: Value
    stated: Value
    where: str = ""

    def __str__(self) -> str:
        row = ", ".join(f"{name} = {value!r}" for name, value in self.row.items())
        text = f"{row}: the network predicts {self.network!r}, "
        if not self.where:
            return f"{text}the scorecard {self.stated!r}"
        if self.stated is None:
            return f"{text}and the input is in {self.where}"
        return f"{text}the printed points prove {self.stated!r} ({self.where})"


@dataclass(frozen=True, slots=True)
class ScorecardReport(Result):
    """What was proved of a scorecard, and the verdict.

    Attributes
    ----------
    claims : tuple of CardClaim
        "Predictions" equal the network's; "Regions", where there are some, are right
        and hold every input; "Printed points" prove what the page says they do.
    compared : int
        Inputs that were tried, too.
    differences : tuple of str
        The first few numbers that are not those of the network.
    counterexamples : tuple of CardDifference
        The first few inputs that refute a claim.
    rows : int
        The rows that were given, and compared.
    rows_different : int
        Those of them that the scorecard predicts differently.
    stopped : str
        Why something may be undecided: "time", "Ctrl-C", or nothing.
    """

    _json: ClassVar[Mapping[str, Any]] = {"indent": 1, "default": str}

    claims: tuple[CardClaim, ...]
    compared: int
    differences: tuple[str, ...]
    counterexamples: tuple[CardDifference, ...]
    rows: int = 0
    rows_different: int = 0
    stopped: str = ""

    @property
    def ok(self) -> bool:
        """Whether everything that the scorecard claims is proved."""
        return all(claim.status == "proved" for claim in self.claims)

    @property
    def is_proved(self) -> bool:
        """The same as `ok`: of a scorecard nothing is left to a sample."""
        return self.ok

    @property
    def is_undecided(self) -> bool:
        """Whether nothing was refuted, but not everything was proved either."""
        return not self.ok and not any(
            claim.status == "refuted" for claim in self.claims
        )

    def _verdict(self) -> str:
        statuses = {claim.name: claim.status for claim in self.claims}
        if self.ok:
            return "PROVED: the scorecard predicts as the network does on every input."
        if statuses["Predictions"] == "refuted":
            return "DIFFERENT: the scorecard does not predict as the network does."
        for name, status in statuses.items():
            if status == "refuted":
                return f"WRONG: the {name.lower()} of the scorecard are not right."
        return "NO DIFFERENCE FOUND, but not everything is proved."

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain values, with its verdict."""
        return {"verdict": self._verdict(), "ok": self.ok, **asdict(self)}

    def document(self) -> Document:
        """Return the lines of the report, the verdict first."""
        verdict = Paragraph(self._verdict(), "title" if self.ok else "warning")
        return Document(((verdict, *map(Paragraph, self._details())),))

    def _details(self) -> list[str]:
        lines = [*map(str, self.claims)]
        if self.stopped:
            why = "Ctrl-C" if self.stopped == "Ctrl-C" else "the time limit"
            lines.append(f"Stopped by {why}.")
        lines.append(f"Tried as well: {self.compared:,} inputs, some near a cut-off.")
        if self.rows:
            lines.append(
                f"Given rows compared: {self.rows:,}. Different: "
                f"{self.rows_different:,}."
            )
        lines += [f"  {text}" for text in self.differences]
        lines += [f"  {example}" for example in self.counterexamples]
        return lines
