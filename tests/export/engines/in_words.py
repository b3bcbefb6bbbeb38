"""Tables for readers, made rules again: the words of conditions are read."""

from nn2rules import Rule, RuleList
from nn2rules.export.program import Program
from nn2rules.language import read_conditions
from nn2rules.language.text import label_text


def rules_of_rows(rows: list[list[str]], program: Program) -> RuleList:
    """Return the rules of a table: name, conditions, class, and numbers.

    The domain is that of the program; all else is what the table says.
    """
    rules = program.rules
    labels = {label_text(label): label for label in rules.classes}
    header, *body, last = rows
    assert header[:3] == ["rule", "if", "then"]
    assert last[0] == "default"
    is_open = last[1] == "otherwise (not proved)"
    assert is_open or last[1] == "otherwise"
    found = [
        Rule(read_conditions(row[1], rules.domain.uncut), labels[row[2]])
        for row in body
    ]
    read = RuleList(
        rules.domain.uncut,
        found,
        labels[last[2]],
        rules.classes,
        form=rules.form,
        scope="support" if is_open else "domain",
    )
    assert list(read.names) == [row[0] for row in body]
    return read
