"""What was extracted, in a few lines: what stands there when rules go to a file."""

from nn2rules.language import count, label_text, share
from nn2rules.rules import RuleList, coverage_of


def open_rows(rules: RuleList) -> tuple[int, int]:
    """Return how many of the given rows no rule decides, and how many there are."""
    n_rows = rules.certificate.get("rows", 0)
    return n_rows - rules.certificate.get("rows_decided", n_rows), n_rows


def summary(rules: RuleList, seconds: float) -> str:
    """Say what was extracted: rules, inputs, class shares, seconds."""
    certificate, inputs = rules.certificate, rules.n_possible
    counts = certificate.get("class_inputs")
    shares = ""
    if counts is not None:
        shares = ": " + ", ".join(
            f"{label_text(label)} {part:,} ({share(part, inputs)})"
            for label, part in zip(rules.classes, counts, strict=True)
        )
    lines = [f"rules    {_counted(rules)}"]
    if "fewest_rules" in certificate:
        fewest = count(certificate["fewest_rules"], "rule")
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
    certificate, warned = rules.certificate, rules.warnings()
    said = ["equal to the network on every input"]
    if certificate.get("different"):
        said = [warned.pop(0)]
        if "rows_different" in certificate:
            wrong = count(certificate["rows_different"], "given row")
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
    known, total = rules.certificate, rules.n_possible
    exact = known.get("undecided")
    ends = [
        known.get("undecided_at_least", exact),
        known.get("undecided_at_most", exact),
    ]
    if None in ends:
        return []
    numbers = " to ".join(dict.fromkeys(f"{end:,}" for end in ends))
    shares = " to ".join(dict.fromkeys(share(end, total) for end in ends))
    return [f"{numbers} inputs ({shares}) are left to the default, which is not proved"]
