"""What a reader of a comparison must know of the two."""

from collections.abc import Sequence

from nn2rules.comparing.meeting import Meeting
from nn2rules.comparing.sides import place_of
from nn2rules.network import Network
from nn2rules.rules import RuleList
from nn2rules.values import Value, text_of

_OPEN = {
    False: "The {} rules claim nothing where none of them holds: there they answer “no "
    "rule”, which is another answer than any class.",
    True: "Inputs for which none of the {} rules holds are left out: the rules claim "
    "nothing about them.",
}


def notes_on(
    both: tuple[Network | RuleList, Network | RuleList], met: Meeting, *, decided: bool
) -> list[str]:
    """Say what a reader must know of the two."""
    notes = []
    if met.differences:
        notes.append(
            f"Compared on what both know, for their domains differ: "
            f"{'; '.join(met.differences)}."
        )
    for name, one, beside in (("old", *both), ("new", *both[::-1])):
        own = [c for c in one.classes if not _has(beside.classes, c)]
        if own:
            verb = "class" if len(own) == 1 else "classes"
            shown = ", ".join(map(text_of, own))
            notes.append(f"Only the {name} one has the {verb} {shown}.")
        if isinstance(one, RuleList) and one.scope == "support":
            notes.append(_OPEN[decided].format(name))
    return notes


def _has(labels: Sequence[Value], label: Value) -> bool:
    try:
        place_of(labels, label)
    except ValueError:
        return False
    return True
