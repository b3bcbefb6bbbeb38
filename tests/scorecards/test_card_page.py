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


def is_true(condition, sums):
    """Tell whether a condition such as "part 1 − 0.5 × part 2 ≥ −7" is true."""
    form, sign, end = re.match("(.*) ([≥≤]) (.*)", condition).groups()
    total = sum_of_terms(form, sums)
    return total >= number(end) if sign == "≥" else total <= number(end)


def outcome(lines, sums):
    """Return what the last lines of a region state."""
    if len(lines) == 1:
        return lines[0].removeprefix("predict ").removesuffix(" (proved)")
    *formulas, last = lines
    totals = dict(re.match("total ?(.*?) ?= (.*)", line).groups() for line in formulas)
    totals = {name: sum_of_terms(text, sums) for name, text in totals.items()}
    if len(totals) > 1:
        best = max(totals, key=totals.get)
        margin = number(re.search(r"at least ([\d,.]+) ", last)[1])
        rest = max(total for name, total in totals.items() if name != best)
        return best if totals[best] - rest >= margin else None
    pattern = (
        r"at least ([\d,.−]+): predict (\w+), at most ([\d,.−]+): predict (\w+) "
        r"\(proved\)"
    )
    high, above, low, below = re.search(pattern, last).groups()
    [total] = totals.values()
    if total >= number(high):
        return above
    return below if total <= number(low) else None


def is_in(name, value):
    """Tell whether a number is in a bin such as "20 to below 40"."""
    found = re.match(r"(\S+) to (below )?(\S+)$", name)
    if not found:
        return number(name) == value if re.match(r"[-\d.]+$", name) else False
    low, below, high = number(found[1]), found[2], number(found[3])
    return low <= value < high if below else low <= value <= high


class Reader:
    """Reads a page of text, and nothing else."""

    def __init__(self, page):
        self.lines, self.starts, feature = {}, None, None
        header = next(n for n, line in enumerate(page) if line.startswith("    "))
        self.columns = SPACES.split(page[header].strip())
        for line in page[header + 1 :]:
            words, points = self.cells(line, len(self.columns))
            if line.startswith(("For each", "Begin", "No points")) or not line:
                break
            if words == ["start with"]:
                self.starts = points
                continue
            if not line.startswith(" "):
                feature, *words = words
            self.lines[feature, words[0]] = points
        self.rest = " ".join(" ".join(page[header:]).split())
        self.weights = self.table_of_totals(page[header + 1 :])
        self.blocks = self.blocks_of(page)

    @staticmethod
    def cells(line, n_numbers):
        """Return the words of a line, and the numbers at its end."""
        cells = SPACES.split(line.strip())
        words = cells[: len(cells) - n_numbers]
        return words, [*map(number, cells[len(words) :])] if words else []

    def table_of_totals(self, page):
        """Return for each line of the table below the parts the numbers of classes."""
        found = {}
        for n, line in enumerate(page):
            if line.startswith("    ") and "total " in line:
                names = [
                    name.removeprefix("total ") for name in SPACES.split(line.strip())
                ]
                for later in page[n + 1 :]:
                    if not re.match(r"start with|part \d+ ×", later):
                        break
                    words, numbers = self.cells(later, len(names))
                    found[words[0].removesuffix(" ×")] = dict(
                        zip(names, numbers, strict=True)
                    )
        return found

    @staticmethod
    def blocks_of(page):
        """Return the blocks of regions: what is true of parts, then line by line."""
        blocks = []
        for line in page:
            if line.startswith(("If part", "Always:")):
                title = line.removeprefix("If ").removesuffix(":")
                blocks.append((title.split(", ") if "part" in title else [], []))
            elif blocks and re.match(r" *\d+\.  ", line):
                blocks[-1][1].append([line.split(".  ", 1)[1]])
            elif blocks and line.startswith("    "):
                blocks[-1][1][-1].append(line.strip())
        return blocks

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
            elif not any(": per " in name for name in own):
                [points] = [p for name, p in own.items() if is_in(name, value)]
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
        formula = re.search(r"Total = (.*?)\. (?=Total|Every)", self.rest)
        if formula:
            return {"": sum_of_terms(formula[1], sums)}
        if self.weights:
            sums["start with"] = Fraction(1)
            names = next(iter(self.weights.values()))
            return {
                name: sum(sums[part] * of[name] for part, of in self.weights.items())
                for name in names
            }
        return sums

    def predicted_by_regions(self, row):
        """Return the class that a region states; None if none does."""
        sums, found = self.columns_of(row), []
        for title, regions in self.blocks:
            if not all(is_true(condition, sums) for condition in title):
                continue
            for lines in regions:
                conditions = [line for line in lines if line.startswith("if ")]
                if all(is_true(line.removeprefix("if "), sums) for line in conditions):
                    found.append(outcome(lines[len(conditions) :], sums))
        assert len(set(found)) <= 1
        return found[0] if found else None

    def predicted(self, row):
        """Return the class that the page states; None if it states none."""
        totals = self.totals(row)
        margin = re.search(r"At least ([\d,.]+): predict the class", self.rest)
        if margin:
            best = max(totals, key=totals.get)
            rest = max(total for name, total in totals.items() if name != best)
            return best if totals[best] - rest >= number(margin[1]) else None
        always = re.search(r"Every total: predict (\w+) \(proved\)", self.rest)
        if always:
            return always[1]
        [total] = totals.values()
        found = []
        pattern = r"Total of at (least|most) ([\d,.−]+): predict (\w+) \(proved\)"
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


@pytest.mark.parametrize("units", [1, 3])
def test_a_reader_of_bins_multiplies_nothing(units):
    rng = np.random.default_rng(units)
    network = random_network(rng, MIXED, units=units)
    rows = random_rows(rng, MIXED, 200)
    card = extract(network, rows, form="scorecard").scaled(bins=200, rows=rows)
    reader = Reader(card.text(width=120).split("\n"))
    assert "multiply" not in reader.rest
    printed = card.table.predict_codes(*MIXED.inputs_of(rows)).tolist()
    found = [reader.predicted(row) for row in rows]
    expected = card.predict(rows).tolist()
    assert all(own in (None, label) for own, label in zip(found, expected, strict=True))
    assert sum(own is None for own in found) == printed.count(-1) < 20
    totals = card.points(rows).totals[:, 0].tolist()
    assert totals == [next(iter(reader.totals(row).values())) for row in rows]
    assert f"{printed.count(-1)} lie" in reader.rest or printed.count(-1) <= 1


@pytest.mark.parametrize("classes", [("no", "yes"), ("a", "b", "c")])
@pytest.mark.parametrize("shape", [(3, 2), (9,)])
def test_a_reader_finds_the_region_of_a_row(shape, classes):
    rng = np.random.default_rng(len(shape))
    network = random_network(rng, MIXED, units=shape[0], classes=classes)
    first, last = network.layers
    if len(shape) > 1:
        middle = Layer(rng.normal(size=shape), rng.normal(size=shape[1]), "relu")
        weights = rng.normal(size=(shape[1], len(last.bias)))
        last = Layer(weights, rng.normal(size=len(last.bias)), last.activation)
        network = Network(MIXED, (first, middle, last), classes)
    rows = random_rows(rng, MIXED, 120)
    card = extract(network, rows, form="scorecard", max_regions=10_000)
    reader = Reader(card.text(width=1000).split("\n"))
    printed = card.table.predict_codes(*MIXED.inputs_of(rows)).tolist()
    found = [reader.predicted_by_regions(row) for row in rows]
    assert found == [None if place < 0 else classes[place] for place in printed]
    expected = card.predict(rows).tolist()
    assert all(own in (None, label) for own, label in zip(found, expected, strict=True))
    assert sum(own is None for own in found) <= 3


def test_a_page_without_anything_to_tell():
    card = Scorecard(MIXED, ("no", "yes"), [Card(3.0, [0.0] * 8)])
    text = card.replace(scale=Scale(1.0)).text()
    assert "No points for any value of: age, amount, job." in text
    assert "Every total: predict yes (proved)." in text


def test_parts_that_all_count_against_a_class_are_added():
    rng = np.random.default_rng(0)
    network = random_network(rng, MIXED, units=2)
    first, last = network.layers
    last = Layer(-np.abs(last.weights), [0.1], "sigmoid")
    card = extract(Network(MIXED, (first, last), ("no", "yes")), form="scorecard")
    assert "Total = part 1 + part 2." in card.text()
    assert card.table.cut_offs[0].below == 1
