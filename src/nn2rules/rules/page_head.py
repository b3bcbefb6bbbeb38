"""What stands above rules: what they decide, what is proved, and what is left open."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nn2rules.language import count, label_text, limits_text, percent, quoted, share
from nn2rules.output import GAP, Items, Line, Paragraph, Part, Piece
from nn2rules.rules.certificate import certificate_of
from nn2rules.rules.facts import (
    class_counts,
    features_in_order,
    is_counted,
    is_decided,
    is_right,
    is_true_alone,
    is_whole_domain,
    n_rows,
    turned_rows,
    undecided_inputs,
    undecided_rows,
)
from nn2rules.rules.wording import coverage_of, large_text, proof_of, question_of

if TYPE_CHECKING:
    from nn2rules.rules.rule_list import RuleList

_NAMED = 6  # classes that a title names
_INFLUENCES = 12


_LABELS = (
    "“Labels agree” is about the network: where a label differs, the rule still says "
    "what the network says."
)


def head_of(rules: "RuleList", *, is_small: bool, has_labels: bool) -> tuple[Part, ...]:
    """Return what stands above rules; of few, without rows, hardly anything."""
    warnings = [Paragraph(text, "warning") for text in rules.warnings()]
    numbers = [*_impossible(rules), *_numbers(rules)]
    known = certificate_of(rules)
    if is_small or not known.is_given:
        words = proof_of(rules) if rules.form == "set" else ""
        proof = [f"{words}."] * bool(words)
        covered = [coverage_of(rules)] * (known.coverage is not None)
        short = filter(None, (*proof, *numbers, *covered))
        return (*warnings, *map(Paragraph, short))
    proved = " ".join(part for part in (_proved(rules), _open(rules)) if part)
    labels = _LABELS if has_labels and is_right(rules) else ""
    said = [
        _network(rules),
        _different_rows(rules),
        proved,
        _reading(rules),
        labels,
        *numbers,
        coverage_of(rules),
    ]
    title = Line(
        (Piece(question_of(rules, _NAMED), "title"), GAP, Piece(_size(rules), "faint"))
    )
    sentences = map(Paragraph, filter(None, said))
    return (*warnings, title, *sentences, *_influences(rules))


def _size(rules: "RuleList") -> str:
    """Say how many features, inputs and rows there are."""
    parts = [count(len(rules.domain.features), "feature")]
    n_ranges = sum(f.limits is not None for f in rules.domain.features)
    if n_ranges:
        parts.append(count(n_ranges, "range") + " of numbers")
    elif is_counted(rules):
        parts.append(f"{large_text(rules.n_possible)} possible inputs")
    rows = n_rows(rules)
    return " · ".join([*parts, *([] if rows is None else [count(rows, "row")])])


def _proved(rules: "RuleList") -> str:
    """Say what is proved of each rule, and of all together."""
    if not is_right(rules):
        return ""
    each = "Each rule is proved where it decides"
    if is_true_alone(rules):
        each = "Each rule is proved, and true on its own"
    if not len(rules):
        always = f"Proved: every possible input is {label_text(rules.default)}."
        return always if is_whole_domain(rules) else "There are no rules."
    if not is_whole_domain(rules):
        return f"{each}."
    if is_decided(rules) and is_true_alone(rules):
        return f"{each}. Together they decide every possible input."
    if is_true_alone(rules):
        rest = f"whatever fits none is {label_text(rules.default)}"
        return f"{each}; {rest}, which is proved, too."
    return "Proved: the list answers as the network does on every possible input."


def _reading(rules: "RuleList") -> str:
    """Say how a list is read."""
    if is_true_alone(rules) or not is_right(rules):
        return ""
    if any(rule.unless is not None for rule in rules):
        return (
            "The first rule that holds answers. What stands behind “unless” is needed: "
            "without it the rule is false when read alone."
        )
    return "The first rule that holds answers: read alone, a rule may be false."


def _open(rules: "RuleList") -> str:
    """Say how many rows and inputs no rule decides."""
    if rules.scope != "support" or not is_right(rules):
        return ""
    stopped = not certificate_of(rules).is_complete
    left, rows = undecided_rows(rules), n_rows(rules)
    is_all = bool(rows) and left == 0
    text = f"{_open_inputs(rules, ', no row among them,' if is_all else '')}."
    if is_all:
        text = f"all rows are decided, as rules are made for them; {text}"
    elif left and rows:
        verb = "is" if left == 1 else "are"
        text = f"{left:,} of {count(rows, 'row')} {verb} left open; {text}"
    return f"Stopped early: {text}" if stopped else text[0].upper() + text[1:]


def _open_inputs(rules: "RuleList", remark: str) -> str:
    """Say how many inputs are open: counted, bounded, or a share of the volume."""
    inputs, exact = rules.n_possible, undecided_inputs(rules)
    known = certificate_of(rules)
    least, most = known.undecided_at_least, known.undecided_at_most
    if exact == 0:
        return "no possible input is left open"
    if exact is not None:
        verb = "is" if exact == 1 else "are"
        part = f" ({share(exact, inputs)})"
        return f"{count(exact, 'possible input')}{part}{remark} {verb} left open"
    if most is not None:
        bound = f"at most {most:,} possible inputs ({share(most, inputs)})"
        if least:
            shares = f"{share(least, inputs)} to {share(most, inputs)}"
            bound = f"{least:,} to {most:,} possible inputs ({shares})"
        return f"{bound}{remark} are left open"
    if rules.domain.has_ranges:
        return (
            f"the rules decide {rules.volume} of the volume, numbers evenly spread, "
            f"and leave the rest open"
        )
    return "what no rule decides is left open"


def _network(rules: "RuleList") -> str:
    """Say how often the network gives each class, and how often labels agree."""
    counts, noun = class_counts(rules)
    whole = n_rows(rules) if noun == "rows" else rules.n_possible
    if counts is None or not whole:
        return ""
    chosen = list(range(len(counts)))
    if len(counts) == 2:
        chosen = [0 if counts[0] < counts[1] else 1]
    texts = [
        f"{label_text(rules.classes[index])} for {share(counts[index], whole)}"
        for index in chosen[:_NAMED]
    ]
    said = f"The network says {_listed(texts)} of {noun}"
    agreeing = certificate_of(rules).labels_agree
    if agreeing is not None and noun == "rows":
        said += f"; the labels agree with it on {share(agreeing, whole)}"
    return f"{said}."


def _different_rows(rules: "RuleList") -> str:
    """Say on how many rows rules that are not the network's answer differ from it."""
    different = certificate_of(rules).rows_different
    rows = n_rows(rules)
    if different is None or not rows or is_right(rules):
        return ""
    part = f"{different:,} of {count(rows, 'row')} ({share(different, rows)})"
    return f"On {part} the rules do not answer as the network does."


def _listed(texts: Sequence[str]) -> str:
    return " and ".join([", ".join(texts[:-1])] * (len(texts) > 1) + [texts[-1]])


def _influences(rules: "RuleList") -> tuple[Part, ...]:
    """Say for each feature on which share of rows it alone can turn the answer."""
    whole, counts = turned_rows(rules)
    if not whole or not counts:
        return ()
    ranked = [name for name in features_in_order(rules) if name in counts]
    shown = [f"{quoted(name)} {percent(counts[name], whole)}" for name in ranked]
    more = ["…"] if len(shown) > _INFLUENCES else []
    some = f"of {whole:,} rows drawn, those" if whole != n_rows(rules) else "rows"
    title = f"What can turn an answer ({some} where this feature alone would):"
    items = (*shown[:_INFLUENCES], *more)
    return Paragraph(""), Paragraph(title), Items(items, GAP, 2)


def _impossible(rules: "RuleList") -> list[str]:
    """Say that nothing is claimed of inputs that cannot occur."""
    if not certificate_of(rules).impossible:
        return []
    which = "inputs"
    if is_counted(rules):
        n_impossible = rules.domain.n_inputs - rules.n_possible
        which = f"the {count(n_impossible, 'input')}"
    different, rest = certificate_of(rules).rows_different, ""
    if different and is_right(rules):
        rows = count(different, "row")
        rest = f": on {rows} there the rules do not answer as the network does"
    elif different is None and n_rows(rules) is not None:
        rest = ", nor of rows there"
    return [f"Nothing is claimed of {which} declared impossible{rest}."]


def _numbers(rules: "RuleList") -> list[str]:
    """Say which numbers there are: ranges, or only those that occur."""
    bent = certificate_of(rules).model.get("not_along_a_line")
    texts = []
    for feature in rules.domain.features:
        if feature.limits is not None:
            texts.append(limits_text(feature))
        elif isinstance(bent, list) and feature.name in bent:
            texts.append(f"{quoted(feature.name)} the {feature.n_plain:,} that occur")
    return [f"Numbers: {'; '.join(texts)}."] if texts else []
