"""What is certified, by what, and how anybody can check it again."""

import platform
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version

from nn2rules.extraction import network_digest
from nn2rules.language import condition_text, count, label_text, quoted
from nn2rules.report.subject import Subject
from nn2rules.rules import certificate_of, is_right, is_whole_domain
from nn2rules.version import __version__

_LIBRARIES = ("numpy", "numba", "jinja2")


@dataclass(frozen=True)
class Evidence:
    """The last section: what was proved and how, digests, commands, versions."""

    proof: tuple[tuple[str, str], ...]
    digests: tuple[tuple[str, str], ...]
    fragile: tuple[str, ...]
    commands: tuple[tuple[str, str], ...]
    versions: tuple[tuple[str, str], ...]


def evidence_of(subject: Subject) -> Evidence:
    """Return the certificate in words, and how to check it."""
    return Evidence(
        tuple(_proof(subject)),
        tuple(_digests(subject)),
        tuple(_fragile(subject)),
        tuple(_commands(subject)),
        tuple(_versions(subject)),
    )


def _proof(subject: Subject) -> list[tuple[str, str]]:
    known = certificate_of(subject.rules)
    if not known.is_given:
        return [("Certificate", "none: nothing is proved of these rules")]
    found = [("Engine", known.engine or "not said")]
    if known.method:
        found.append(("Method", known.method))
    for key, title in (
        ("inputs", "Inputs of the domain"),
        ("possible", "Inputs that can occur"),
        ("different", "Inputs answered otherwise"),
        ("uncovered", "Open inputs"),
        ("uncovered_at_least", "Open inputs, at least"),
        ("uncovered_at_most", "Open inputs, at most"),
        ("questions", "Boxes asked about"),
        ("boxes", "Boxes looked at"),
        ("settled_exactly", "Scores settled in exact arithmetic"),
    ):
        if (number := getattr(known, key)) is not None:
            found.append((title, f"{number:,}"))
    if known.smallest_margin is not None:
        found.append(("Smallest margin", f"{known.smallest_margin:.6g}"))
    if not known.is_complete:
        found.append(("Complete", "no: the work was stopped early"))
    return found


def _digests(subject: Subject) -> list[tuple[str, str]]:
    rules, found = subject.rules, [("Rules", subject.rules.digest)]
    digest = certificate_of(rules).network
    if digest is None and subject.network is not None:
        digest = network_digest(subject.network)
    if digest is not None:
        found.append(("Network", digest))
    for what, (name, file_digest) in subject.files.items():
        found.append((f"{what}: {quoted(name)}", file_digest))
    return found


def _fragile(subject: Subject) -> list[str]:
    """Say how many inputs rounding may turn in a framework, and name some."""
    known = certificate_of(subject.rules)
    if known.fragile is None:
        return [
            "Fragile inputs were not counted, as not every input was looked at. "
            "nn2rules explain says of an input whether it is fragile."
        ]
    kinds = {
        "model": "the model that the network was read from",
        "float32": "a framework that computes in float32",
        "float64": "a framework that computes in float64",
    }
    found = [
        f"{count(number, 'input')} so near to a tie that {kinds[kind]} may answer "
        f"otherwise, because it rounds."
        for kind, number in known.fragile.items()
        if kind in kinds and type(number) is int
    ]
    rows = (_row(subject, row) for row in known.fragile_inputs)
    return [*found, *(f"For example: {row}." for row in rows)]


def _row(subject: Subject, row: Mapping[str, object]) -> str:
    domain, texts = subject.rules.domain, []
    for name, value in row.items():
        feature = domain.feature(name) if name in domain.names else None
        is_listed = feature is not None and value in feature.values
        if feature is not None and is_listed and feature.limits is None:
            texts.append(condition_text(feature, (value,)))  # type: ignore[arg-type]
        else:
            texts.append(f"{quoted(name)} = {label_text(value)}")  # type: ignore[arg-type]
    return ", ".join(texts)


def _commands(subject: Subject) -> list[tuple[str, str]]:
    """Return what to type, and what it tells."""
    names = {what: name for what, (name, _) in subject.files.items()}
    rules, network = names.get("rules", "rules.json"), names.get("network")
    network = network or "network.json"
    found = []
    if "rules" not in names and "model" in names:
        found.append(
            (
                f"nn2rules report {_shell(names['model'])} … --rules {rules} "
                f"--network {network}",
                "with the same options as for this report, also writes the rules and "
                "the network, which the commands below read",
            )
        )
    elif "rules" not in names:
        found.append(
            (
                f'rules.save("{rules}"); nn2rules.save(network, "{network}")',
                "in Python, writes what the commands below read",
            )
        )
    if is_right(subject.rules):
        claim = "wherever a rule decides"
        if is_whole_domain(subject.rules):
            claim = "on every input"
        found.append(
            (
                f"nn2rules check {_shell(network)} {_shell(rules)}",
                f"compares the rules with the network {claim}, by code that has no "
                f"part in finding them",
            )
        )
    found.append(
        (
            f"nn2rules explain {_shell(network)} rows.csv",
            "says of each row why it gets its class, and what would turn that, proved",
        )
    )
    return found


def _shell(name: str) -> str:
    """Return a file name as a shell takes it."""
    return shlex.quote(name)


def _versions(subject: Subject) -> list[tuple[str, str]]:
    made = certificate_of(subject.rules).version
    found = [("nn2rules, this report", __version__)]
    if made is not None:
        found.append(("nn2rules, the rules", made))
    found.append(("Python", platform.python_version()))
    return [*found, *((name, version(name)) for name in _LIBRARIES)]
