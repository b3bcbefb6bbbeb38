"""Rules of an earlier extraction, kept, with new ones for rows that none covers.

The earlier rules stay proved, because network and domain are the same: this is checked
by digests. They come first and keep their order, so a row that one of them covers gets
the same rule as before. New rules are extracted from the other rows alone, as always.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import OptionError
from nn2rules.extraction.job import Job, impossible_inputs, possible_inputs
from nn2rules.extraction.options import RuleOptions
from nn2rules.extraction.other_network import other_network
from nn2rules.language import count
from nn2rules.models import GivenRows
from nn2rules.network import Network
from nn2rules.rules import NO_RULE, RuleList, certificate_of, of_some
from nn2rules.space import refuse_curves

_CHUNK = 1 << 18


def check_known(known: object, **conflicting: object) -> None:
    """Refuse what are not proved rules for rows, and options of other extractions."""
    if not isinstance(known, RuleList):
        raise OptionError(
            f"known: a {type(known).__name__}, expected the rules of an earlier "
            f"extraction"
        )
    for name, value in conflicting.items():
        if value is not None:
            raise OptionError(
                f"{name} is not for known rules, all of which are kept; leave it out"
            )
    certificate = certificate_of(known)
    if not certificate.is_exact or certificate.network is None:
        raise OptionError(
            "known: nothing is proved about these rules; give rules as an exact "
            "extraction wrote them, with their certificate"
        )
    if known.scope == "domain":
        raise OptionError(
            "known: these rules already cover every input of their domain; only rules "
            "of scope 'support' leave rows that are not covered"
        )


def options_of(known: RuleList, options: RuleOptions) -> RuleOptions:
    """Return the options by which rules are added: those of the known rules."""
    for name, value in (("form", known.form), ("scope", "support")):
        wanted = getattr(options, name)
        if wanted not in (None, value):
            raise OptionError(f"{name}: {wanted!r}, but the known rules have {value!r}")
    if options.engine == "paper":
        raise OptionError("engine: 'paper' makes no rules that can be added to others")
    target = options.target
    if target is None and known.form == "set" and len(known.classes) == 2:
        labels = {known.classes[answer] for answer in known.answers.tolist()}
        if len(labels) == 1 and known.default not in labels:  # one-sided stays so
            (target,) = labels
    return replace(options, form=known.form, scope="support", target=target)


def check_network(known: RuleList, network: Network) -> None:
    """Refuse rules of another network, whose proofs say nothing about this one."""
    refuse_curves(network.domain.features, "known")
    difference = other_network(known, network)
    if difference is not None:
        raise OptionError(
            f"known: the rules were extracted from another network, so their proofs do "
            f"not hold for this one: {difference}"
        )


def check_impossible(known: RuleList, job: Job) -> None:
    """Refuse rules that were proved for other possible inputs."""
    declared = impossible_inputs(job) if job.has_impossible else None
    if certificate_of(known).impossible != declared or job.is_impossible is not None:
        raise OptionError(
            "known: the rules were extracted with other impossible inputs; give the "
            "same, as conditions or boxes"
        )


def for_other_rows(known: RuleList, job: Job) -> Job | None:
    """Return the job of the rows that no known rule covers; None if there are none."""
    rows = job.rows
    assert rows is not None, "extract has checked that there is data"
    is_open = known.match(rows.codes_in(known.domain)) == NO_RULE
    is_open &= np.isin(rows.answers(job.network)[rows.places], job.wanted)
    if not is_open.any():
        return None
    numbers = None if rows.numbers is None else rows.numbers[is_open]
    labels = None if rows.labels is None else rows.labels[is_open]
    others = GivenRows(rows.domain, rows.codes[is_open], numbers, labels)
    return replace(job, rows=others, held_out=None)


def extended(known: RuleList, added: RuleList, job: Job) -> RuleList:
    """Return the known rules with others behind them, and a certificate of both."""
    n_known = len(known)
    rules = RuleList(
        job.network.domain,
        [*known.rules, *added.rules],
        known.default,
        known.classes,
        known.form,
        "support",
    )
    inputs = _determined_inputs(rules, job)
    facts = []
    for place, each in enumerate(rules.facts):
        if place >= n_known:
            unless = each.unless and tuple(n_known + number for number in each.unless)
            n_inputs = None if inputs is None else int(inputs[place])
            each = replace(each, unless=unless, inputs=n_inputs)  # noqa: PLW2901
        facts.append(each)
    certificate = of_some(added.certificate)
    certificate["method"] = (
        f"{count(n_known, 'rule')} kept from an earlier extraction of this network, "
        f"{count(len(added), 'rule')} added: {certificate['method']}"
    )
    certificate["earlier"] = [*_earlier(known), _entry(known)]
    return rules.replace(facts=facts, certificate=certificate)


def _earlier(known: RuleList) -> list[object]:
    entries = known.certificate.get("earlier")
    return list(entries) if isinstance(entries, list) else []


def _entry(known: RuleList) -> dict[str, object]:
    """Return what the certificate keeps of an earlier one."""
    certificate = certificate_of(known)
    entry = {
        "rules": len(known),
        "digest": known.digest,
        "engine": certificate.engine,
        "version": certificate.version,
        "rows": certificate.rows,
    }
    return {name: value for name, value in entry.items() if value is not None}


def _determined_inputs(rules: RuleList, job: Job) -> NDArray[np.int64] | None:
    """Count the inputs that each rule determines, if it is known for the first ones."""
    if rules.domain.has_ranges or any(facts.inputs is None for facts in rules.facts):
        return None
    possible = possible_inputs(job)
    counts = np.zeros(len(rules) + 1, dtype=np.int64)
    start = 0
    for codes in rules.domain.inputs(chunk=_CHUNK):
        chosen = slice(None) if possible is None else possible[start:][: len(codes)]
        start += len(codes)
        counts += np.bincount(rules.match(codes)[chosen] + 1, minlength=len(counts))
    return counts[1:]
