"""Improve a list of rules: reduce, move, expand or drop each (espresso, for lists).

The names are those of `nn2rules.cover._kernels.packed`.
"""

import numpy as np
from numba import njit

from nn2rules.cover._kernels.packed import (
    FULL,
    ZERO,
    draw,
    grow,
    list_words,
    popcount,
    tail_mask,
)


@njit(cache=True, nogil=True)
def rule_words(box, pack, buffer, words, row, counts, masks):
    """Store the words and the mask of a rule in row `row`."""
    counts[row] = list_words(box, pack, -1, 0, -1, 0, buffer)
    masks[row] = tail_mask(box, pack, -1, -1)
    for i in range(counts[row]):
        words[row, i] = buffer[i]


@njit(cache=True, nogil=True)
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
    none[:] = todo
    for r in range(n):
        mask = masks[r]
        for i in range(counts[r]):
            w = words[r, i]
            load[r] += popcount(none[w] & mask & need[w])
            none[w] &= ~mask
    return load


@njit(cache=True, nogil=True)
def planes_of(load, jitter, rng):
    """Weigh rules by their load: the lighter ones (easier to drop) weigh more."""
    n = load.size - 1
    plane = np.zeros(n + 1, np.int64)
    unit = np.sort(load[:n])[n // 10] + 1.0
    for r in range(n):
        x = load[r] * np.exp(jitter * (2.0 * draw(rng) - 1.0)) / unit
        if x <= 1.0:
            plane[r] = 3
        elif x <= 2.0:
            plane[r] = 2
        elif x <= 4.0:
            plane[r] = 1
    return plane


@njit(cache=True, nogil=True)
def match(row, words, counts, masks, plane, none, once, want):
    """Pass one rule: move the inputs it decides from `none` to `once` and `want`."""
    mask = masks[row]
    for i in range(counts[row]):
        w = words[row, i]
        new = none[w] & mask
        if new:
            want[plane[row], w] |= new
        once[w] = (once[w] & ~mask) | new
        none[w] &= ~mask


@njit(cache=True, nogil=True)
def match_after(
    row, words, counts, masks, plane, wrong_of, none, once, want, todo, need, alone
):
    """Pass one rule behind the gap: also note what it would get wrong."""
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


@njit(cache=True, nogil=True)
def is_wrong(row, words, counts, masks, mine, none, todo):
    """Say whether the rule gets an input wrong that no rule before it decides."""
    mask = masks[row]
    for i in range(counts[row]):
        w = words[row, i]
        if none[w] & todo[w] & mask & ~mine[w]:
            return True
    return False


@njit(cache=True, nogil=True)
def hull(inputs, pack, box):
    """Make the box the smallest one around the inputs; False if there are none."""
    tail = ZERO
    box[:] = False
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


@njit(cache=True, nogil=True)
def sweep(
    rules, classes, default, live, open0, todo, ordered, late, noise, jitter, rng, pack
):
    """Reduce, move back, expand or drop each rule once; return the new list.

    For the rule at hand: find the inputs that only it gets right; shrink it to their
    hull; put it as late as they allow (with chance `late`, and `ordered` only), where
    more is don't-care; grow it over inputs that one other rule alone gets right, those
    of lightly loaded rules first. A rule left with nothing of its own is dropped. The
    number of rules never grows.
    """
    n, n_cols = rules.shape
    n_words = open0.size
    buffer = np.empty(n_words, np.int64)
    slabs = np.empty(n_cols, np.int64)
    words = np.empty((n + 1, n_words), np.int32)
    counts = np.empty(n + 1, np.int64)
    masks = np.empty(n + 1, np.uint64)
    for r in range(n):
        rule_words(rules[r], pack, buffer, words, r, counts, masks)
    counts[n] = n_words
    masks[n] = FULL
    words[n] = np.arange(n_words)
    cls = np.empty(n + 1, np.int64)
    cls[:n] = classes
    cls[n] = default
    plane = planes_of(loads(words, counts, masks, cls, live, todo), jitter, rng)
    order = np.arange(n + 1)
    done = np.zeros(n + 1, np.bool_)
    none0, once0 = open0.copy(), np.zeros_like(open0)
    want0 = np.zeros((4, n_words), np.uint64)
    box = np.empty(n_cols, np.bool_)
    anything = np.ones(n_cols, np.bool_)
    pos = 0
    while pos < n:
        me = order[pos]
        if done[me]:
            match(me, words, counts, masks, plane, none0, once0, want0)
            pos += 1
            continue
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
            order[pos:n] = order[pos + 1 : n + 1].copy()
            n -= 1
            continue
        for p in range(4):
            want[p] &= need
        grow(box, anything, live[cls[me]], state, want, noise, rng, pack, buffer, slabs)
        rules[me] = box
        rule_words(box, pack, buffer, words, me, counts, masks)
        order[pos:place] = order[pos + 1 : place + 1].copy()
        order[place] = me
    return rules[order[:n]].copy(), cls[order[:n]].copy()
