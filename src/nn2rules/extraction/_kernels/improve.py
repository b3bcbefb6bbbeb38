"""Improve a list of rules: reduce, move, expand or drop each (espresso, for lists).

The names are those of `nn2rules.extraction._kernels.packed`.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nn2rules.extraction._kernels.packed import (
    FULL,
    ZERO,
    draw,
    grow,
    list_words,
    popcount,
    tail_mask,
)
from nn2rules.space._kernels.compiled import NONE, NOUGHT, inlined, kernel
from nn2rules.space._kernels.loops import copy_to


@kernel
def rule_words(box, pack, buffer, words, row, counts, masks):
    """Store the words and the mask of a rule in row `row`."""
    counts[row] = list_words(box, pack, NONE, NOUGHT, NONE, NOUGHT, buffer)
    masks[row] = tail_mask(box, pack, NONE, NONE)
    for i in range(counts[row]):
        words[row, i] = buffer[i]


@inlined
def loads(words, counts, masks, classes, live, todo):
    """Count, for every rule, the inputs that the list without it would get wrong.

    Row n of the tables is the default: every word, every bit.
    """
    n = counts.size - 1
    none = todo.copy()  # matched by no rule so far
    once = np.zeros_like(todo)  # by one
    need = np.zeros_like(todo)  # by one only, or wrongly by the second
    for r in range(n + 1):
        mask = masks[r]
        for i in range(counts[r]):
            w = words[r, i]
            new = none[w] & mask
            need[w] |= once[w] & mask & ~live[classes[r], w]
            once[w] = (once[w] & ~mask) | new
            none[w] &= ~mask
    load = np.zeros(n + 1, np.int64)
    copy_to(none, todo)
    for r in range(n):
        mask = masks[r]
        for i in range(counts[r]):
            w = words[r, i]
            load[r] += popcount(none[w] & mask & need[w])
            none[w] &= ~mask
    return load


@inlined
def nth_smallest(numbers, n, rank):
    """Return the number of rank `rank` among the first `n`."""
    low, high = numbers[0], numbers[0]
    for i in range(1, n):
        low, high = min(low, numbers[i]), max(high, numbers[i])
    while low < high:
        middle = low + (high - low) // 2
        count = 0
        for i in range(n):
            count += numbers[i] <= middle
        if count > rank:
            high = middle
        else:
            low = middle + 1
    return low


@inlined
def planes_of(load, jitter, rng, plane):
    """Weigh rules by their load: the lighter ones (easier to drop) weigh more."""
    n = load.size - 1
    unit = nth_smallest(load, n, n // 10) + 1.0
    plane[n] = 0
    for r in range(n):
        plane[r] = 0
        x = load[r] * np.exp(jitter * (2.0 * draw(rng) - 1.0)) / unit
        if x <= 1.0:
            plane[r] = 3
        elif x <= 2.0:
            plane[r] = 2
        elif x <= 4.0:
            plane[r] = 1


@kernel
def match(row, words, counts, masks, plane, none, once, want):
    """Pass one rule: move the inputs it determines from `none` to `once` and `want`."""
    mask = masks[row]
    for i in range(counts[row]):
        w = words[row, i]
        new = none[w] & mask
        if new:
            want[plane[row], w] |= new
        once[w] = (once[w] & ~mask) | new
        none[w] &= ~mask


@inlined
def match_after(
    row, words, counts, masks, plane, wrong_of, none, once, want, todo, need, alone
):
    """Pass one rule after the gap: also record what it would get wrong."""
    mask = masks[row]
    for i in range(counts[row]):
        w = words[row, i]
        new = none[w] & mask
        old = once[w] & mask
        if new | old:
            alone[w] |= new & ~wrong_of[w] & todo[w]
            need[w] |= old & ~wrong_of[w] & todo[w]
            want[plane[row], w] |= new
            once[w] = (once[w] & ~mask) | new
            none[w] &= ~mask


@inlined
def is_wrong(row, words, counts, masks, mine, none, todo):
    """Return whether the rule is wrong on an input that no earlier rule covers."""
    mask = masks[row]
    for i in range(counts[row]):
        w = words[row, i]
        if none[w] & todo[w] & mask & ~mine[w]:
            return True
    return False


@inlined
def hull(inputs, pack, box):
    """Make the box the smallest one around the inputs; False if there are none."""
    tail = ZERO
    for col in range(box.size):
        box[col] = False
    for w in range(inputs.size):
        if inputs[w]:
            tail |= inputs[w]
            for f in range(pack.n_head):
                size = pack.offsets[f + 1] - pack.offsets[f]
                box[pack.offsets[f] + (w // pack.strides[f]) % size] = True
    for f in range(pack.n_head, pack.offsets.size - 1):
        for col in range(pack.offsets[f], pack.offsets[f + 1]):
            box[col] = (tail & pack.masks[col]) != ZERO
    return tail != ZERO


class Sweep(NamedTuple):
    """A sweep under way: the list, row n for its default, and what is above `pos`."""

    rules: NDArray[np.bool_]
    classes: NDArray[np.int64]
    words: NDArray[np.int32]
    counts: NDArray[np.int64]
    masks: NDArray[np.uint64]
    plane: NDArray[np.int64]
    order: NDArray[np.int64]  # the list is rules[order[:n]]
    done: NDArray[np.bool_]
    at: NDArray[np.int64]  # pos and n
    none: NDArray[np.uint64]
    once: NDArray[np.uint64]
    want: NDArray[np.uint64]


@kernel
def begin(sweep, default, live, open0, todo, jitter, rng, pack, buffer):
    """Initialise a sweep for its rules and classes."""
    n = sweep.at[1]
    for r in range(n):
        rule_words(
            sweep.rules[r], pack, buffer, sweep.words, r, sweep.counts, sweep.masks
        )
    sweep.counts[n] = open0.size
    sweep.masks[n] = FULL
    for w in range(open0.size):
        sweep.words[n, w] = w
    sweep.classes[n] = default
    load = loads(sweep.words, sweep.counts, sweep.masks, sweep.classes, live, todo)
    planes_of(load, jitter, rng, sweep.plane)
    for r in range(n + 1):
        sweep.order[r] = r
        sweep.done[r] = False
    sweep.at[0] = 0
    copy_to(sweep.none, open0)
    for w in range(open0.size):
        sweep.once[w] = ZERO
        for p in range(sweep.want.shape[0]):
            sweep.want[p, w] = ZERO


@kernel
def sweep_some(
    sweep, count, live, open0, todo, ordered, late, noise, rng, pack, buffer, slabs
):
    """Reduce, move back, expand or drop the next `count` rules, each once.

    For the rule at hand: find the inputs that only it gets right; shrink it to their
    hull; put it as late as they allow (with chance `late`, and `ordered` only), where
    more is don't-care; grow it over inputs that one other rule alone gets right, those
    of lightly loaded rules first. A rule left with nothing of its own is dropped. The
    number of rules never grows, and the list is right after each. Returns whether any
    rule is left to do.
    """
    rules, cls, words, counts, masks, plane, order, done, at, none0, once0, want0 = (
        sweep
    )
    pos, n = at[0], at[1]
    n_cols = rules.shape[1]
    box = np.empty(n_cols, np.bool_)
    anything = np.ones(n_cols, np.bool_)
    while pos < n and count > 0:
        me = order[pos]
        if done[me]:
            match(me, words, counts, masks, plane, none0, once0, want0)
            pos += 1
            continue
        count -= 1
        done[me] = True
        none, once, want = none0.copy(), once0.copy(), want0.copy()
        need, alone = np.zeros_like(open0), np.zeros_like(open0)
        state = open0
        place = -1
        if not ordered:
            place = pos
        elif draw(rng) >= late:
            place = pos
            state = none0
        for q in range(pos + 1, n + 1):
            r = order[q]
            right = live[cls[r]]
            if place < 0 and is_wrong(r, words, counts, masks, right, none, todo):
                place = q - 1
                state = none.copy()
            if place < 0:
                match(r, words, counts, masks, plane, none, once, want)
            else:
                match_after(
                    r,
                    words,
                    counts,
                    masks,
                    plane,
                    right,
                    none,
                    once,
                    want,
                    todo,
                    need,
                    alone,
                )
        if not hull(alone, pack, box):
            for q in range(pos, n):
                order[q] = order[q + 1]
            n -= 1
            continue
        for p in range(4):
            for w in range(need.size):
                want[p, w] &= need[w]
        grow(box, anything, live[cls[me]], state, want, noise, rng, pack, buffer, slabs)
        copy_to(rules[me], box)
        rule_words(box, pack, buffer, words, me, counts, masks)
        for q in range(pos, place):
            order[q] = order[q + 1]
        order[place] = me
    at[0], at[1] = pos, n
    return pos < n
