"""Compare rules with a network, independently of the extraction.

Read this module if you must rely on the rules. It takes the stored numbers of the
network and the stored conditions of the rules, and computes both predictions again with
code of its own. Nothing that determines a prediction is shared with the extraction, so
a mistake made there cannot go unnoticed here; import-linter enforces this. Networks,
rules, domains and rows are shared as values, with their digests, and so is the code
that sends work to other processes. In the order of reading:

1. `check` compares the two on every input, or on a sample (`draw`), and reports;
2. `Pair` applies the rules, which `read_rules` wrote in the network's codes, to some
   inputs, and `_Comparison` counts;
3. `classify` predicts as the network does: in float64 if no tie is near, otherwise in
   fractions (both in `run_network`);
4. `check_proofs` follows proofs, if a file of them is given;
5. `search_all` proves or refutes each rule if there are too many inputs to try
   (`search`).

The certificate of the rules has no part in the verdict. `scorecards` checks scorecards.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from numbers import Real
from time import monotonic
from typing import Any

import numpy as np

from nn2rules.checker.bounds import Leads
from nn2rules.checker.claims import claims_of, read_unless
from nn2rules.checker.curves import along_curves, to_numbers
from nn2rules.checker.draw import at_ends, from_box, from_domain, joined
from nn2rules.checker.pair import SHOWN, Pair, Seen, given_seen, tile_seen
from nn2rules.checker.proofs import Each, check_proofs
from nn2rules.checker.read import Codes, Floats, read_impossible, read_rules
from nn2rules.checker.report import (
    CheckReport,
    Counterexample,
    ProofReport,
    SearchReport,
    confidence_text,
)
from nn2rules.checker.scorecards import ScorecardReport, check_scorecard
from nn2rules.checker.search import Claim, Point, Search, search_all
from nn2rules.engine import Meter, Progress
from nn2rules.engine.parallel import is_remote, shared_workers, spread
from nn2rules.errors import InternalError, OptionError
from nn2rules.network import Network
from nn2rules.rules import RuleList, certificate_of
from nn2rules.scorecards import Scorecard
from nn2rules.space import Domain, Rows, refuse_curves, whole_number

_LARGEST = 1 << 24  # inputs that are all compared
_CHUNK = 1 << 13  # inputs compared at a time
_CHUNKS = 2  # that are a task
_SECONDS = 60.0  # of a search, by default
_EACH = 32  # inputs drawn from the box of a rule, at least


def check(
    network: Network,
    rules: RuleList | Scorecard,
    *,
    rows: Rows = None,
    impossible: Any = (),
    default: bool = False,
    samples: int = 100_000,
    seed: int = 0,
    largest: int = _LARGEST,
    proofs: str | os.PathLike[str] | None = None,
    time: float | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> CheckReport | ScorecardReport:
    """Compare the predictions of rules or a scorecard with those of a network.

    Parameters
    ----------
    network : Network
    rules : RuleList or Scorecard
        With the same features, values and classes, in any order.
    rows : frame or list of dicts, optional
        Rows to compare, too.
    impossible : list of dicts
        Inputs that cannot occur and are left out. Each dict is a box, from features to
        values. What the certificate of the rules says about this is ignored.
    default : bool
        Whether to compare the default of rules of scope "support", too.
    samples : int
        How many inputs to draw if there are too many to compare them all, or if a
        feature is a range of numbers.
    seed : int
        The same seed draws the same inputs.
    largest : int, optional
        A domain of at most this many inputs is compared on every one of them.
    proofs : str or path, optional
        A file of proofs, as `extract` writes it; they are followed on all inputs.
    time : float, optional
        Seconds to prove or refute the rules by search if there are too many inputs
        to compare; by default a minute. With 0 there is only the sample.
    n_jobs : int, optional
        How many workers to use if joblib has some; by default all of them. Without
        workers, one thread does the work.
    progress : callable, optional
        Called now and then with what is being done, and the share that is done. If
        Ctrl-C stops the search, the report has what was established until then.

    Returns
    -------
    CheckReport, or ScorecardReport for a scorecard
        Its `ok` is the verdict: whether the rules were shown to be right. It is false
        if no difference was found, but only a sample was compared (`is_undecided`).

    Raises
    ------
    DomainError
        If features, values or classes differ.
    FormatError
        If the file of proofs is damaged, or belongs to other rules or another network.

    Notes
    -----
    Of a scorecard three things are proved, on every input: that it predicts as the
    network does, that its regions are right and hold every input, and that its printed
    points prove what the page says. `impossible`, `default` and `proofs` are for rules.

    Rules of scope "support" claim to be right on the inputs that they cover; other
    inputs are counted, not compared. In a rule *set* every rule that covers an input
    must be right, not only the first.

    Examples
    --------
    >>> import nn2rules
    >>> network = nn2rules.load(nn2rules.datasets.network_file("tomato"))
    >>> print(check(network, nn2rules.extract(network)))
    EQUAL: the rules predict as the network does on every input.
    Method: every input. Compared: all 6 inputs of the domain.
    Predictions compared: 6. Different: 0.
    """
    _check_types(network, rules)
    seconds = _seconds(time)
    samples, seed = whole_number("samples", samples, 1), whole_number("seed", seed)
    largest = whole_number("largest", largest)
    if isinstance(rules, Scorecard):
        _refuse_for_scorecards(impossible, proofs, default=default)
        return check_scorecard(
            network,
            rules,
            None if rows is None else _inputs_of(network.domain, rows),
            samples=samples,
            seed=seed,
            largest=largest,
            seconds=seconds,
            progress=progress,
        )
    if proofs is not None:
        refuse_curves(network.domain.features, "a file of proofs")
    is_small = network.domain.n_inputs <= largest
    is_every = is_small and not network.domain.has_ranges
    given = None if rows is None else _inputs_of(network.domain, rows)
    with shared_workers(_workers(n_jobs)):
        comparison = _Comparison(network, rules, impossible, in_order, default=default)
        followed = None
        if proofs is not None:
            both = comparison.read, comparison.left_out
            followed = check_proofs(network, rules, *both, proofs, in_order)
        if is_every:
            comparison.add_every()
        else:
            comparison.add_samples(samples, np.random.default_rng(seed))
        if given is not None and not (is_every and comparison.is_whole):
            comparison.add_rows(*given)
        searched = None
        if not is_every and seconds > 0:
            end = monotonic() + seconds
            searched = comparison.search(
                rules, followed, lambda: monotonic() > end, progress
            )
    claims = _claims(rules, is_told=len(impossible) > 0)
    return replace(comparison.report(claims), proofs=followed, search=searched)


def _refuse_for_scorecards(impossible: Any, proofs: Any, *, default: bool) -> None:
    """Refuse options that say something about rules."""
    named = {
        "impossible": len(impossible) > 0,
        "proofs": proofs is not None,
        "default": default,
    }
    for name, is_given in named.items():
        if is_given:
            raise OptionError(
                f"{name} is for rules: a scorecard is checked on every input, without "
                f"proofs in a file"
            )


def _inputs_of(domain: Domain, rows: Rows) -> tuple[Codes, Floats | None]:
    """Return rows as codes and numbers; of curves, the values computed here."""
    codes, numbers = domain.uncurved.inputs_of(rows)
    if numbers is not None and domain.has_curves:
        numbers = np.where(codes == 0, along_curves(domain, numbers), numbers)
    return codes, numbers


def _workers(n_jobs: object) -> int | None:
    is_whole = isinstance(n_jobs, int) and not isinstance(n_jobs, bool)
    if n_jobs is not None and (not is_whole or n_jobs == 0):
        raise OptionError(
            f"n_jobs: {n_jobs!r}, expected 1 or more workers, or -1 for all of them"
        )
    return n_jobs if isinstance(n_jobs, int) else None


def _seconds(time: object) -> float:
    if time is None:
        return _SECONDS
    if not isinstance(time, Real) or isinstance(time, bool) or not float(time) >= 0:
        raise OptionError(f"time: {time!r}, expected seconds, 0 or more")
    return float(time)


def _check_types(network: object, rules: object) -> None:
    if not isinstance(network, Network) or not isinstance(rules, RuleList | Scorecard):
        raise OptionError(
            f"check takes a Network and a RuleList or Scorecard, in this order, not a "
            f"{type(network).__name__} and a {type(rules).__name__}; a model becomes a "
            f"Network by nn2rules.read_network(model, data=X)"
        )


def _claims(rules: RuleList, *, is_told: bool) -> tuple[str, ...]:
    """Quote what the rules state about themselves if it may explain a difference."""
    claims, known = [], certificate_of(rules)
    if known.different:
        claims.append(
            f"The rules say themselves that they are approximate, and differ from the "
            f"network on {known.different:,} inputs."
        )
    if known.impossible and not is_told:
        claims.append(
            "The rules say that some inputs are impossible. These were compared all "
            "the same; declare them (impossible=, --impossible) to leave them out."
        )
    return tuple(claims)


def in_order(
    work: Callable[[Any, Any, Any], Any], shared: Any, tasks: Sequence[Any]
) -> Iterator[Any]:
    """Do one task after the other, or send them to the workers that joblib has.

    Threads would gain nothing, because they would wait for each other.
    """
    if is_remote():
        yield from spread(work, shared, tasks, meter=Meter())
        return
    for task in tasks:
        yield work(shared, task, None)


class _Comparison:
    """Compares the predictions of rules and network, and counts."""

    def __init__(
        self,
        network: Network,
        rules: RuleList,
        impossible: Any,
        each: Each,
        *,
        default: bool,
    ) -> None:
        self.network, self.read, self.each = network, read_rules(network, rules), each
        answers, starts = self.read.answers.tolist(), self.read.starts
        self.left_out = read_impossible(network.domain, impossible, starts)
        self.is_whole = default or rules.scope == "domain"  # or where a rule decides
        self.any_order = rules.form == "set" and len(set(answers[:-1])) > 1
        self.is_two_sided = rules.form == "set" and answers[-1] in answers[:-1]
        self.reached = np.zeros(len(self.read.boxes), dtype=np.bool_)
        self.inputs = self.checked = self.different = self.undecided = 0
        self.uncovered = self.impossible = self.rows_left = self.unmet = 0
        self.examples: list[Counterexample] = []
        self.unless = read_unless(rules)
        self.pair = Pair(
            network,
            self.read,
            rules.names,
            self.left_out,
            dict(self.unless),
            self.is_whole,
            self.any_order,
            self.is_two_sided,
            _CHUNK,
        )
        self.untrue: list[int] = []
        self.method, self.compared, self.confidence = "every input", "", ""

    def add_every(self) -> None:
        """Compare all inputs of the domain."""
        domain = self.network.domain
        self._add_tiles()
        if self.inputs != domain.n_inputs:
            raise InternalError(
                f"{self.inputs:,} of {domain.n_inputs:,} inputs were compared"
            )
        number, left = f"{domain.n_inputs:,}", self.impossible + self.uncovered
        if left:
            self.method = "every input but those named below"
            number = f"{domain.n_inputs - left:,} of the {number}"
        self.compared = f"{number if left else f'all {number}'} inputs of the domain"

    def _add_tiles(self) -> None:
        total = self.network.domain.n_inputs
        size = _CHUNKS * _CHUNK
        tiles = [(at, min(at + size, total)) for at in range(0, total, size)]
        for several in self.each(tile_seen, self.pair, tiles):
            self._count(several)

    def add_samples(self, samples: int, random: np.random.Generator) -> None:
        """Compare inputs from the whole domain and from every box."""
        domain = self.network.domain
        sizes = domain.sizes
        drawn = from_domain(domain, samples, random)
        each = max(_EACH, samples // max(1, len(self.read.boxes)))
        inside = random.integers(0, sizes, (len(self.read.boxes), each, len(sizes)))
        self._add(*drawn)
        n_possible = samples - self.impossible
        self._add(
            *joined(
                [
                    from_box(domain, self.read, rule, codes, random)
                    for rule, codes in enumerate(inside)
                ]
            )
        )
        self.method = "sample"
        boxes = f"and {each:,} from the box of each of {len(self.read.boxes):,} rules"
        if domain.has_ranges:
            n_ends = max(_EACH, samples // 4)
            self._add(*at_ends(domain, self.read, n_ends, random))
            self.compared = (
                f"{samples:,} inputs drawn from the domain, numbers evenly spread; "
                f"{n_ends:,} with numbers where ranges and conditions end, and next to "
                f"there; {boxes}"
            )
        else:
            self.compared = (
                f"{samples:,} inputs drawn from the {domain.n_inputs:,} of the domain, "
                f"{boxes}"
            )
        self.confidence = confidence_text(
            n_possible,
            of="the inputs not declared impossible" if self.left_out else "all inputs",
            differ="differ" if self.is_whole else "are covered by a rule and differ",
            spread=", numbers evenly spread," if domain.has_ranges else "",
        )

    def search(
        self,
        rules: RuleList,
        followed: ProofReport | None,
        is_late: Callable[[], bool],
        progress: Progress | None,
    ) -> SearchReport:
        """Prove or refute by search what the file of proofs does not prove."""
        known = () if followed is None else followed.proved_rules
        is_known = followed is not None and followed.default == "proved"
        claims = claims_of(self.network, self.read, self.left_out, self.unless, rules)
        leads = [Leads(self.network, k) for k in range(len(self.network.classes))]

        def is_asked(claim: Claim) -> bool:
            if claim.rule is None:
                return self.is_whole and not is_known
            return claim.is_alone or claim.rule not in known

        searches = [
            Search(self.network, claim, leads[claim.index], self._is_different)
            for claim in claims
            if is_asked(claim)
        ]
        is_stopped = False

        def tell(share: float) -> None:
            if progress is not None:
                progress("proving rule by rule", share)

        try:
            search_all(searches, is_late, tell)
        except KeyboardInterrupt:
            is_stopped = True
        return SearchReport.of(searches, rules.names, is_stopped=is_stopped)

    def _is_different(self, point: Point) -> bool:
        """Confirm by the rules themselves that one predicts an input differently."""
        before = self.different, len(self.untrue)
        numbers = point.numbers if self.network.domain.has_ranges else None
        if numbers is not None:
            numbers = to_numbers(self.network.domain, point.codes, numbers)
        self._add(point.codes, numbers)
        return (self.different, len(self.untrue)) != before

    def add_rows(self, codes: Codes, numbers: Floats | None) -> None:
        """Compare given rows."""
        before = self.uncovered, self.impossible, self.checked + self.undecided
        self._add(codes, numbers)
        self.rows_left = len(codes) - (self.checked + self.undecided - before[2])
        self.uncovered, self.impossible = before[:2]
        self.compared += f"; and {len(codes):,} given rows"

    def _add(self, codes: Codes, numbers: Floats | None = None) -> None:
        size = _CHUNKS * _CHUNK
        parts = [slice(at, at + size) for at in range(0, len(codes), size)]
        tasks = [
            (codes[part], None if numbers is None else numbers[part]) for part in parts
        ]
        before = self.inputs
        for several in self.each(given_seen, self.pair, tasks):
            self._count(several)
        if self.inputs - before != len(codes):
            raise InternalError("not every input was compared")

    def _count(self, several: Sequence[Seen]) -> None:
        """Count the results of chunks, in the order of their inputs."""
        for seen in several:
            self.inputs += seen.inputs
            self.checked += seen.checked
            self.different += seen.different
            self.undecided += seen.undecided
            self.impossible += seen.impossible
            self.uncovered += seen.uncovered
            self.unmet += seen.unmet
            self.reached[seen.reached] = True
            found = list(seen.wrong)
            for rule, example in seen.untrue:
                if self.unless.pop(rule, None) is not None:
                    self.untrue.append(rule)
                    found.append(example)
            for example in found[: SHOWN - len(self.examples)]:
                if example not in self.examples:
                    self.examples.append(example)

    def report(self, claims: tuple[str, ...]) -> CheckReport:
        """Return what was compared, and the result."""
        return CheckReport(
            method=self.method,
            scope="domain" if self.is_whole else "support",
            checked=self.checked,
            different=self.different,
            undecided=self.undecided,
            impossible=self.impossible,
            uncovered=self.uncovered,
            unmet=self.unmet,
            rows_left=self.rows_left,
            unreached=int((~self.reached).sum()),
            counterexamples=tuple(self.examples),
            compared=self.compared,
            confidence="" if self.different else self.confidence,
            claims=claims,
            untrue=tuple(sorted(self.untrue)),
        )
