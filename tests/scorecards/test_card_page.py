"""The page alone: a reader that has nothing but its text gets the same classes."""

import re
from fractions import Fraction

import numpy as np
import pytest

from nn2rules import Layer, Network, Scorecard, extract
from nn2rules.scorecards import Card, Scale
from ranged import mixed_domain, random_network, random_rows

MIXED = mixed_domain()
SPACES = re.compile(r"\s{2,}")


def number(text):
    return Fraction(text.replace(",", "").replace("−", "-"))


def sum_of_terms(text, parts):
    """Work out a sum such as "12 + part 1 − 0.5 × part 2" from the sums of parts."""
    total = Fraction(0)
    for sign, term in re.findall(r"(^|[+−] ?)([^+−]+)", text):
        factor = Fraction(1)
        for piece in term.strip().split(" × "):
            factor *= parts[piece] if piece in parts else number(piece)
        total += -factor if "−" in sign else factor
    return total


class Reader:
    """Reads a page of text, and nothing else."""

    def __init__(self, page):
        self.lines, self.starts, feature = {}, None, None
        header = next(n for n, line in enumerate(page) if line.startswith("    "))
        self.columns = SPACES.split(page[header].strip())
        for line in page[header + 1 :]:
            cells = SPACES.split(line.strip())
            points = cells[len(cells) - len(self.columns) :]
            words = cells[: -len(self.columns)]
            if line.startswith(("On a line", "No points")) or not line:
                break
            if words == ["start with"]:
                self.starts = [*map(number, points)]
                continue
            if not line.startswith(" "):
                feature, *words = words
            self.lines[feature, words[0]] = [*map(number, points)]
        self.rest = " ".join(" ".join(page[header:]).split())

    def columns_of(self, row):
        """Add up the points of each column."""
        sums = self.starts or [Fraction(0)] * len(self.columns)
        for feature, value in row.items():
            own = {name: p for (f, name), p in self.lines.items() if f == feature}
            if not own:
                assert re.search(rf"No points.*\b{feature}\b", self.rest)
                continue
            text = "missing" if value is None else str(value)
            if text in own:
                points = own[text]
            else:
                [(name, rates)] = [(n, p) for n, p in own.items() if ": per " in n]
                unit = number(name.split(": per ")[1])
                points = [round(rate * Fraction(value) / unit) for rate in rates]
            sums = [a + b for a, b in zip(sums, points, strict=True)]
        return dict(zip(self.columns, sums, strict=True))

    def totals(self, row):
        """Make the totals of the columns."""
        sums = self.columns_of(row)
        if "A part below 0 counts 0." in self.rest:
            sums = {name: max(total, Fraction(0)) for name, total in sums.items()}
        formulas = re.findall(
            r"Total(?: of (\w+))? = (.*?)\. (?=Total|The|Every)", self.rest
        )
        if formulas:
            return {name: sum_of_terms(text, sums) for name, text in formulas}
        return sums

    def predicted(self, row):
        """Return the class that the page states; None if it states none."""
        totals = self.totals(row)
        margin = re.search(r"ahead of all others by at least ([\d,.]+) ", self.rest)
        if margin:
            best = max(totals, key=totals.get)
            rest = max(total for name, total in totals.items() if name != best)
            return best if totals[best] - rest >= number(margin[1]) else None
        always = re.search(r"Every total means (\w+) \(proved\)", self.rest)
        if always:
            return always[1]
        [total] = totals.values()
        found = []
        pattern = r"Total of at (least|most) ([\d,.−]+): (\w+) \(proved\)"
        for side, end, label in re.findall(pattern, self.rest):
            is_met = total >= number(end) if side == "least" else total <= number(end)
            found += [label] * is_met
        assert len(found) <= 1
        return found[0] if found else None


@pytest.mark.parametrize("units", [0, 2, 3])
@pytest.mark.parametrize("classes", [("no", "yes"), ("a", "b", "c")])
@pytest.mark.parametrize("seed", [0, 1])
def test_a_reader_with_nothing_but_the_page_gets_the_classes(units, classes, seed):
    rng = np.random.default_rng(seed)
    network = random_network(rng, MIXED, units=max(units, 1), classes=classes)
    if units == 0:
        n = 1 if len(classes) == 2 else len(classes)
        weights = rng.normal(size=(8, n))
        weights[[0, 3]] /= [[20], [5000]]
        last = Layer(
            weights, rng.normal(size=n) - 1, "sigmoid" if n == 1 else "softmax"
        )
        network = Network(MIXED, (last,), classes)
    rows = random_rows(rng, MIXED, 200)
    card = extract(network, rows, form="scorecard")
    reader = Reader(card.text(width=120).split("\n"))
    codes = MIXED.inputs_of(rows)
    printed = card.table.predict_codes(*codes)
    found = [reader.predicted(row) for row in rows]
    expected = card.predict(rows).tolist()
    close = sum(label is None for label in found)
    assert close <= max(2, 0.02 * len(rows))
    for own, label, place in zip(found, expected, printed, strict=True):
        assert own in (None, label)
        assert (own is None) == (place < 0) or len(classes) > 2 or units


def test_a_page_without_anything_to_tell():
    card = Scorecard(MIXED, ("no", "yes"), [Card(3.0, [0.0] * 8)])
    text = card.replace(scale=Scale(1.0)).text()
    assert "No points for any value of: age, amount, job." in text
    assert "Every total means yes (proved)." in text
