"""What is certified, how it was proved, and how anyone can verify it."""

import platform
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version

from nn2rules.extraction import network_digest
from nn2rules.language import condition_text, count, label_text, quoted
from nn2rules.report.subject import Subject
from nn2rules.rules import certificate_of, is_exact, is_whole_domain
from nn2rules.space import Range
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
    certificate = certificate_of(subject.description)
    if not certificate.is_given:
        return [("Certificate", "none: nothing is proved")]
    facts = [("Engine", certificate.engine or "not recorded")]
    if certificate.method:
        facts.append(("Method", certificate.method))
    for key, title in (
        ("inputs", "Inputs of the domain"),
        ("possible", "Inputs that can occur"),
        ("different", "Inputs where the prediction differs"),
        ("uncovered", "Inputs not covered"),
        ("uncovered_at_least", "Inputs not covered, at least"),
        ("uncovered_at_most", "Inputs not covered, at most"),
        ("questions", "Boxes to be decided"),
        ("boxes", "Boxes examined"),
        ("settled_exactly", "Scores settled in exact arithmetic"),
    ):
        if (number := getattr(certificate, key)) is not None:
            facts.append((title, f"{number:,}"))
    if certificate.smallest_margin is not None:
        facts.append(("Smallest margin", f"{certificate.smallest_margin:.6g}"))
    if not certificate.is_complete:
        facts.append(("Complete", "no: extraction stopped early"))
    return facts


def _digests(subject: Subject) -> list[tuple[str, str]]:
    what = "Rules" if subject.card is None else "Scorecard"
    rules, digests = subject.description, [(what, subject.description.digest)]
    digest = certificate_of(rules).network
    if digest is None and subject.network is not None:
        digest = network_digest(subject.network)
    if digest is not None:
        digests.append(("Network", digest))
    for what, (name, file_digest) in subject.files.items():
        digests.append((f"{what}: {quoted(name)}", file_digest))
    return digests


def _fragile(subject: Subject) -> list[str]:
    """Say for how many inputs rounding may flip the prediction, and name some."""
    certificate = certificate_of(subject.description)
    if certificate.fragile is None:
        return [
            "Fragile inputs were not counted, because not every input was examined. "
            "nn2rules explain reports for an input whether it is fragile."
        ]
    kinds = {
        "model": "the model that the network was read from",
        "float32": "a framework that computes in float32",
        "float64": "a framework that computes in float64",
    }
    sentences = [
        f"{count(number, 'input')} so close to a tie that {kinds[kind]} may predict "
        f"another class, because it rounds."
        for kind, number in certificate.fragile.items()
        if kind in kinds and type(number) is int
    ]
    rows = (_row(subject, row) for row in certificate.fragile_inputs)
    return [*sentences, *(f"For example: {row}." for row in rows)]


def _row(subject: Subject, row: Mapping[str, object]) -> str:
    domain, texts = subject.description.domain, []
    for name, value in row.items():
        feature = domain.feature(name) if name in domain.names else None
        is_listed = feature is not None and value in feature.values
        if feature is not None and is_listed and not isinstance(feature, Range):
            texts.append(condition_text(feature, (value,)))  # type: ignore[arg-type]
        else:
            texts.append(f"{quoted(name)} = {label_text(value)}")  # type: ignore[arg-type]
    return ", ".join(texts)


def _commands(subject: Subject) -> list[tuple[str, str]]:
    """Return commands, and what each does."""
    names = {what: name for what, (name, _) in subject.files.items()}
    value, noun = ("rules", "rules") if subject.card is None else ("card", "scorecard")
    rules = names.get("rules", f"{value}.json")
    network = names.get("network", "network.json")
    commands = []
    if "rules" not in names and "model" in names:
        commands.append(
            (
                f"nn2rules report {_shell(names['model'])} … --save-rules {rules} "
                f"--save-network {network}",
                f"with the same options as for this report, also writes the {noun} and "
                f"the network, which the commands below read",
            )
        )
    elif "rules" not in names:
        commands.append(
            (
                f'{value}.save("{rules}"); nn2rules.save(network, "{network}")',
                "in Python, writes the files that the commands below read",
            )
        )
    if is_exact(subject.description):
        claim = "for every input that a rule covers"
        if is_whole_domain(subject.description):
            claim = "for every input"
        commands.append(
            (
                f"nn2rules check {_shell(network)} {_shell(rules)}",
                f"compares the {noun} with the network {claim}, using the independent "
                f"checker",
            )
        )
    commands.append(
        (
            f"nn2rules explain {_shell(network)} rows.csv",
            "explains each row: why it has its class, and its counterfactuals, proved",
        )
    )
    return commands


def _shell(name: str) -> str:
    """Return a file name as a shell takes it."""
    return shlex.quote(name)


def _versions(subject: Subject) -> list[tuple[str, str]]:
    rules_version = certificate_of(subject.description).version
    what = "rules" if subject.card is None else "scorecard"
    versions = [("nn2rules, this report", __version__)]
    if rules_version is not None:
        versions.append((f"nn2rules, the {what}", rules_version))
    versions.append(("Python", platform.python_version()))
    return [*versions, *((name, version(name)) for name in _LIBRARIES)]
