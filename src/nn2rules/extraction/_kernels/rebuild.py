"""Take a few rules out of a list and cover their inputs again.

The names are those of `nn2rules.extraction._kernels.packed`.
"""

import numpy as np

from nn2rules.extraction._kernels.packed import (
    ZERO,
    class_at,
    clear,
    draw,
    grow,
    list_words,
    pick_input,
    popcount,
    tail_mask,
)
from nn2rules.space._kernels.compiled import NONE, NOUGHT, inlined, kernel
from nn2rules.space._kernels.loops import copy_to


@inlined
def nearest(rules, n, center, k, rng, pack):
    """Mark k rules around `center`: fewest features apart, then luck."""
    far = np.empty(n, np.float64)
    for r in range(n):
        far[r] = 0.5 * draw(rng)
        for f in range(pack.offsets.size - 1):
            apart = True
            for col in range(pack.offsets[f], pack.offsets[f + 1]):
                if rules[r, col] and rules[center, col]:
                    apart = False
                    break
            far[r] += apart
    far[center] = -1.0
    taken = np.zeros(n, np.bool_)
    for _ in range(k):
        near = -1
        for r in range(n):
            if not taken[r] and (near < 0 or far[r] < far[near]):
                near = r
        taken[near] = True
    return taken


@inlined
def cut(box, other, pack, out):
    """Make `out` the common part of two boxes; return False if it is empty."""
    for f in range(pack.offsets.size - 1):
        some = False
        for col in range(pack.offsets[f], pack.offsets[f + 1]):
            out[col] = box[col] and other[col]
            some = some or out[col]
        if not some:
            return False
    return True


@kernel
def wrong_inputs(rules, cls, start, n, left, live, todo, pack, words, wrong, tally):
    """Collect what the rules start..n get wrong of the inputs `left`, used up here.

    tally[r] counts the wrong inputs of rule r; the sum is returned.
    """
    for w in range(wrong.size):
        wrong[w] = ZERO
    total = 0
    for r in range(start, n):
        tally[r] = 0
        right = live[cls[r]]
        count = list_words(rules[r], pack, NONE, NOUGHT, NONE, NOUGHT, words)
        mask = tail_mask(rules[r], pack, NONE, NONE)
        for i in range(count):
            w = words[i]
            bad = left[w] & todo[w] & mask & ~right[w]
            wrong[w] |= bad
            left[w] &= ~mask
            tally[r] += popcount(bad)
        total += tally[r]
    return total


@inlined
def best_of(tries, allowed, live, open_, wrong, noise, rng, pack, words, slabs, best):
    """Grow boxes from wrong inputs; make `best` the heaviest, return its class."""
    trial = np.empty(best.size, np.bool_)
    want = wrong.reshape((1, -1))
    top = -1
    cls = 0
    for _ in range(tries):
        word = pick_input(wrong, rng, pack, trial)
        c = class_at(word, tail_mask(trial, pack, NONE, NONE), live)
        gain = grow(
            trial, allowed, live[c], open_, want, noise, rng, pack, words, slabs
        )
        if gain > top:
            top = gain
            cls = c
            copy_to(best, trial)
    return cls


@inlined
def cut_out(rules, classes, n, default, taken, pack, part, cls, origin):
    """Cut the rules that stay to the hull of those taken; return their number, hull.

    The default is the last part, the whole hull.
    """
    region = np.zeros(rules.shape[1], np.bool_)
    for r in range(n):
        if taken[r]:
            for col in range(region.size):
                region[col] |= rules[r, col]
    m = 0
    for r in range(n):
        if not taken[r] and cut(rules[r], region, pack, part[m]):
            cls[m] = classes[r]
            origin[m] = r
            m += 1
    copy_to(part[m], region)
    cls[m] = default
    origin[m] = n
    return m + 1, region


@inlined
def put_back(rules, classes, n, taken, part, cls, origin, m):
    """Write the list again: the rules that stay, with new ones (origin -1) between."""
    old, old_cls = rules[:n].copy(), classes[:n].copy()
    count = 0
    done = 0
    for i in range(m):
        if origin[i] < 0:
            copy_to(rules[count], part[i])
            classes[count] = cls[i]
            count += 1
            continue
        for r in range(done, min(n, origin[i] + 1)):
            if not taken[r]:
                copy_to(rules[count], old[r])
                classes[count] = old_cls[r]
                count += 1
        done = origin[i] + 1
    return count


@kernel
def rebuild(
    rules,
    classes,
    default,
    live,
    open0,
    todo,
    ordered,
    rounds,
    size,
    tries,
    noise,
    rng,
    pack,
):
    """Take out a few neighbouring rules and cover their inputs again.

    A new rule goes right before a rule that gets some of these inputs wrong, and grows
    inside the hull of the rules taken out, so nothing outside it need be looked at (the
    next sweep makes it prime). Kept if it makes no more rules than before.
    """
    n, n_cols = rules.shape
    words, slabs = np.empty(open0.size, np.int64), np.empty(n_cols, np.int64)
    tally = np.zeros(2 * n + 2, np.int64)
    cls, origin = np.zeros_like(tally), np.zeros_like(tally)
    wrong = np.empty_like(open0)
    part = np.empty((2 * n + 2, n_cols), np.bool_)
    best = np.empty(n_cols, np.bool_)
    for _ in range(rounds):
        if n < 2:
            break
        k = min(n, 2 + np.int64(draw(rng) * size))
        taken = nearest(rules, n, np.int64(draw(rng) * n), k, rng, pack)
        m, region = cut_out(rules, classes, n, default, taken, pack, part, cls, origin)
        first = draw(rng) < 0.5
        added = 0
        while True:
            total = wrong_inputs(
                part,
                cls,
                NOUGHT,
                m,
                open0.copy(),
                live,
                todo,
                pack,
                words,
                wrong,
                tally,
            )
            if total == 0 or added == k:
                break
            place = NOUGHT
            luck = 0 if first else np.int64(draw(rng) * total)
            while luck >= tally[place]:
                luck -= tally[place]
                place += 1
            open_ = open0.copy()
            if ordered:
                for r in range(place):
                    clear(part[r], open_.reshape((1, -1)), pack, words)
                wrong_inputs(
                    part,
                    cls,
                    place,
                    m,
                    open_.copy(),
                    live,
                    todo,
                    pack,
                    words,
                    wrong,
                    tally,
                )
            c = best_of(
                tries, region, live, open_, wrong, noise, rng, pack, words, slabs, best
            )
            for r in range(m, place, -1):
                copy_to(part[r], part[r - 1])
                cls[r] = cls[r - 1]
                origin[r] = origin[r - 1]
            copy_to(part[place], best)
            cls[place] = c
            origin[place] = -1
            m += 1
            added += 1
        if total == 0:
            n = put_back(rules, classes, n, taken, part, cls, origin, m)
    return rules[:n].copy(), classes[:n].copy()
