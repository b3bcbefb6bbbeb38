"""Go through every input on a device, and leave to the processor what is special.

The features are cut in two. What the first ones and the last ones add to the first
layer, and which rules they allow, is worked out for each part alone. The sums of an
input are then one addition (`tensors` goes on from there), and its rules, which are
bits of words, one bitwise and: a rule holds where both parts allow it.

What is counted here is plain. A chunk of inputs in which an answer differs, or cannot
be told, is handed back whole, to be compared as it is without a device.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nn2rules.checker.evaluate import UNDECIDED
from nn2rules.checker.read import Box, Read
from nn2rules.checker.tensors import Combinations, FullPrecision, TensorNetwork
from nn2rules.device import torch_device
from nn2rules.domain import Domain
from nn2rules.errors import OptionError
from nn2rules.network import Network

LARGEST = 1 << 36
"""So many inputs are compared one by one on a device, by default."""

_BITS = 62  # of a word, so that it never is below 0
_NUMBERS = {"cuda": 1 << 24, "cpu": 1 << 20}  # held at once
_COLUMNS = {"cuda": 1 << 14, "cpu": 1 << 12}  # combinations of the last features


def refuse_device(domain: Domain, device: str) -> None:
    """Refuse a device that is not there, and a domain whose inputs have no list."""
    torch_device(device)
    for feature in domain.features:
        if feature.limits is not None:
            raise OptionError(
                f"device: {device!r} goes through inputs one by one, and feature "
                f"{feature.name!r} is a range of numbers; leave device out"
            )


@dataclass(frozen=True, slots=True)
class Question:
    """What is compared.

    Attributes
    ----------
    any_order : bool
        Whether every rule that holds must be right, and not only the first.
    is_whole : bool
        Whether the default must be right, too.
    unless : mapping from rules to rules
        Rules that must be right wherever they hold and none of these does.
    is_counted : bool
        Whether differences are only counted; otherwise they are special.
    """

    any_order: bool
    is_whole: bool
    unless: dict[int, list[int]]
    is_counted: bool


@dataclass(frozen=True, slots=True)
class Seen:
    """What was found on consecutive inputs, in the chunks that are not special.

    Attributes
    ----------
    special : list of int
        The numbers of the inputs at which the chunks begin that are special.
    possible, impossible : int
        Inputs that can occur, and others.
    different, by_default : int
        Of the possible ones, those answered differently, and those without a rule.
    reached : list of int
        Rules that answered one, if they were not in an earlier list.
    """

    special: list[int]
    possible: int
    impossible: int
    different: int
    by_default: int
    reached: list[int]


class DeviceSweep:
    """Compares rules with a network on a device.

    Parameters
    ----------
    network : Network
    read : Read
        The rules.
    left_out : sequence of Box
        What cannot occur.
    device : str
    chunk : int
        How many inputs are handed back together.

    Attributes
    ----------
    size : int
        How many inputs to look at together; a multiple of `chunk`.
    """

    def __init__(
        self,
        network: Network,
        read: Read,
        left_out: Sequence[Box],
        device: str,
        chunk: int,
    ) -> None:
        self.net, self.chunk = TensorNetwork(network, device), chunk
        self.torch, kind = self.net.torch, self.net.device.type
        n_classes, sizes = len(network.classes), network.domain.sizes
        self.n_words = max(1, -(-len(read.boxes) // _BITS))
        widths = [len(layer.bias) for layer in network.layers]
        most = _NUMBERS[kind] // max(8, 4 * self.n_words, *widths)
        self.size = max(1, most // chunk) * chunk
        cut = len(sizes)
        while cut and math.prod(sizes[cut - 1 :]) <= _COLUMNS[kind]:
            cut -= 1
        self._firsts, self._n_columns = range(cut), math.prod(sizes[cut:])
        self._rules = self._allowed(sizes, read.boxes)
        self._left_out = self._allowed(sizes, left_out)
        answers = read.answers[:-1].tolist()
        others = [
            [rule for rule, answer in enumerate(answers) if answer != index]
            for index in range(n_classes)
        ]
        self._wrong = self.torch.stack([self._bits(rules) for rules in others])
        self._default, self._waiting = int(read.answers[-1]), set(range(len(answers)))
        self._leaning: tuple[int, Any, dict[int, Any]] = (-1, None, {})
        with FullPrecision(self.torch, self.net.device):
            numbers = self.torch.arange(self._n_columns, device=self.net.device)
            self._lasts = self._parts(range(cut, len(sizes)), numbers)

    def _bits(self, rules: Iterable[int]) -> Any:
        """Return words with the bits of some rules."""
        words = [0] * self.n_words
        for rule in rules:
            words[rule // _BITS] |= 1 << rule % _BITS
        return self.net.tensor(words, self.torch.int64)

    def _allowed(self, sizes: Sequence[int], boxes: Sequence[Box]) -> list[Any]:
        """Return words for each value of each feature: which boxes allow it."""
        n_words, found = max(1, -(-len(boxes) // _BITS)), []
        for feature, size in enumerate(sizes):
            words = np.zeros((size, n_words), dtype=np.int64)
            for number, box in enumerate(boxes):
                allowed = box.get(feature, np.ones(size, dtype=np.bool_))
                words[:, number // _BITS] |= allowed.astype(np.int64) << number % _BITS
            found.append(self.net.tensor(words, self.torch.int64))
        return found

    def _parts(self, features: range, numbers: Any) -> tuple[Any, Any, Any]:
        """Return sums, rules and what cannot occur, of combinations by number."""
        codes = self.net.combinations(features, numbers)
        sums = self.net.sums(self.net.kind, codes)
        return sums, _met(self._rules, codes), _met(self._left_out, codes)

    def look(self, start: int, stop: int, question: Question) -> Seen:
        """Compare inputs from one number to another; the first begins a chunk."""
        with FullPrecision(self.torch, self.net.device):
            row, to = start // self._n_columns, -(-stop // self._n_columns)
            numbers = self.torch.arange(row, to, device=self.net.device)
            cut = slice(start - row * self._n_columns, stop - row * self._n_columns)
            both = zip(self._parts(self._firsts, numbers), self._lasts, strict=True)
            (one, other), rules, left_out = both
            classes = self.net.classes(_flat(one[:, None] + other[None], cut), start)
            held = _flat(rules[0][:, None] & rules[1][None], cut)
            outside = _flat(left_out[0][:, None] & left_out[1][None], cut)
            possible = (outside == 0).all(dim=1)
            return self._compared(classes, held, possible, start, question)

    def _compared(
        self, classes: Any, held: Any, possible: Any, start: int, question: Question
    ) -> Seen:
        wrongly = held & self._wrong[classes]
        fired = _lowest(self.torch, held)
        if question.any_order:  # one that is wrong counts before all others
            is_right = (wrongly == 0).all(dim=1, keepdim=True)
            first_wrong = _lowest(self.torch, wrongly)
            fired = self.torch.where(is_right, _highest(self.torch, held), first_wrong)
        by_default = possible & (held == 0).all(dim=1)
        wrong = possible & ((fired & wrongly) != 0).any(dim=1)
        if question.is_whole:
            wrong |= by_default & (classes != self._default)
        special = (classes == UNDECIDED) | self._untrue(held, wrongly, question.unless)
        if not question.is_counted:
            special |= wrong
        chunks, plain = self._chunks(special & possible)
        kinds = (possible, ~possible, wrong, by_default)
        counts = self.torch.stack([(kind & plain).sum() for kind in kinds])
        n_possible, n_impossible, n_wrong, n_default = counts.tolist()
        return Seen(
            [start + self.chunk * number for number in chunks],
            n_possible,
            n_impossible,
            n_wrong,
            n_default,
            self._reached(fired, possible & plain),
        )

    def _untrue(self, held: Any, wrongly: Any, unless: dict[int, list[int]]) -> Any:
        """Tell where a rule is wrong and none holds of those that it leans on."""
        if self._leaning[0] != len(unless):  # rules are only ever taken out
            others = {rule: self._bits(unless[rule]) for rule in unless}
            self._leaning = len(unless), self._bits(unless), others
        _, all_bits, others = self._leaning
        found = self.torch.zeros_like(held[:, 0], dtype=self.torch.bool)
        places = ((wrongly & all_bits) != 0).any(dim=1).nonzero()[:, 0]
        if len(places):
            held, wrongly = held[places], wrongly[places]
            for rule, words in others.items():
                is_wrong = (wrongly[:, rule // _BITS] >> rule % _BITS & 1) != 0
                found[places] |= is_wrong & ((held & words) == 0).all(dim=1)
        return found

    def _chunks(self, special: Any) -> tuple[list[int], Any]:
        """Return the chunks that are special, and which inputs are in none of them."""
        n_inputs, torch = len(special), self.torch
        padded = torch.nn.functional.pad(special, (0, -n_inputs % self.chunk))
        is_special = padded.reshape(-1, self.chunk).any(dim=1)
        plain = ~is_special.repeat_interleave(self.chunk)[:n_inputs]
        return is_special.nonzero()[:, 0].tolist(), plain

    def _reached(self, fired: Any, counted: Any) -> list[int]:
        """Return which rules answered, of those that did not in an earlier list."""
        new = (fired & self._bits(self._waiting))[counted]
        found = []
        for word in range(self.n_words if bool((new != 0).any()) else 0):
            bits = new[:, word].unique().tolist()
            found += [word * _BITS + bit.bit_length() - 1 for bit in bits if bit]
        self._waiting -= set(found)
        return found


def _met(words: list[Any], codes: Combinations) -> Any:
    """Return which boxes allow all of some features' codes."""
    held = (words[0][:1] & 0) | ((1 << _BITS) - 1)
    for feature, code in codes.items():
        held = held & words[feature][code]
    return held


def _flat(pairs: Any, cut: slice) -> Any:
    """Return what rows and columns have together as one list, and a part of it."""
    return pairs.reshape(-1, pairs.shape[2])[cut]


def _lowest(torch: Any, words: Any) -> Any:
    """Keep the lowest bit of each list of words."""
    bits, found = words & -words, (words[:, :1] != 0) & False
    columns = []
    for word in range(words.shape[1]):
        own = bits[:, word : word + 1]
        columns.append(torch.where(found, 0, own))
        found = found | (own != 0)
    return torch.cat(columns, dim=1)


def _highest(torch: Any, words: Any) -> Any:
    """Keep the highest bit of each list of words."""
    filled = words
    for shift in (1, 2, 4, 8, 16, 32):
        filled = filled | filled >> shift
    bits, found = filled ^ filled >> 1, (words[:, :1] != 0) & False
    columns = []
    for word in reversed(range(words.shape[1])):
        own = bits[:, word : word + 1]
        columns.append(torch.where(found, 0, own))
        found = found | (own != 0)
    return torch.cat(columns[::-1], dim=1)
