"""What was extracted, in a few lines: what stands there when rules go to a file."""

from nn2rules.language import count, label_text, share
from nn2rules.rules import RuleList, certificate_of, coverage_of


def open_rows(rules: RuleList) -> tuple[int, int]:
    """Return how many of the given rows no rule decides, and how many there are."""
    known = certificate_of(rules)
    rows, decided = known.rows or 0, known.rows_decided
    return 0 if decided is None else max(rows - decided, 0), rows


def summary(rules: RuleList, seconds: float) -> str:
    """Say what was extracted: rules, inputs, class shares, seconds."""
    known, inputs = certificate_of(rules), rules.n_possible
    counts = known.class_inputs
    shares = ""
    if counts is not None:
        shares = ": " + ", ".join(
            f"{label_text(label)} {part:,} ({share(part, inputs)})"
            for label, part in zip(rules.classes, counts, strict=True)
        )
    lines = [f"rules    {_counted(rules)}"]
    if known.fewest_rules is not None:
        fewest = count(known.fewest_rules, "rule")
        lines.append(f"         no such set has fewer than {fewest}")
    if rules.domain.has_ranges:
        lines.append(
            f"volume   {rules.volume} decided by a rule, numbers evenly spread"
        )
    else:
        lines.append(f"inputs   {inputs:,}{shares}")
    lines += _answers(rules)
    return "\n".join([*lines, f"seconds  {seconds:.2f}"])


def _counted(rules: RuleList) -> str:
    """Say how many rules there are, of each class where each has its own."""
    if not rules.is_two_sided:
        return f"{len(rules):,}, otherwise {label_text(rules.default)}"
    numbers = [int((rules.answers == i).sum()) for i in range(len(rules.classes))]
    each = ", ".join(
        f"{label_text(label)} {number:,}"
        for label, number in zip(rules.classes, numbers, strict=True)
    )
    return f"{len(rules):,}, each true on its own: {each}"


def _answers(rules: RuleList) -> list[str]:
    """Say what is guaranteed of the answers."""
    known, warned = certificate_of(rules), rules.warnings()
    said = ["equal to the network on every input"]
    if known.different or (known.is_approximate and rules.scope == "domain"):
        said = [warned.pop(0)]
        if known.rows_different is not None:
            wrong = count(known.rows_different, "given row")
            said = [f"{said[0]},", f"and on {wrong}"]
    elif rules.scope == "support":
        n_open, n_rows = open_rows(rules)
        rest = "every given row is decided"
        if n_open:
            rest = f"{n_open:,} of {n_rows:,} given rows are not decided by any rule"
        elif not n_rows:
            rest = "what none decides is not proved"
        said = [f"right wherever a rule decides; {rest}"]
        said += [*_left(rules), *filter(None, [coverage_of(rules)])]
    return [
        f"answers  {said[0]}",
        *(f"         {more}" for more in (*said[1:], *warned)),
    ]


def _left(rules: RuleList) -> list[str]:
    """Say how many inputs are left to the default, where they were counted."""
    known, total = certificate_of(rules), rules.n_possible
    least, most = known.undecided_at_least, known.undecided_at_most
    least = known.undecided if least is None else least
    most = known.undecided if most is None else most
    if least is None or most is None:
        return []
    numbers = " to ".join(dict.fromkeys(f"{end:,}" for end in (least, most)))
    shares = " to ".join(dict.fromkeys(share(end, total) for end in (least, most)))
    return [f"{numbers} inputs ({shares}) are left to the default, which is not proved"]
