"""Choose rules from a pool of grown boxes, heaviest first.

The names are those of `nn2rules.extraction._kernels.packed`.
"""

import numpy as np

from nn2rules.extraction._kernels.packed import (
    box_scan,
    class_at,
    clear,
    draw,
    grow,
    pick_input,
    tail_mask,
)
from nn2rules.space._kernels.compiled import NONE, kernel
from nn2rules.space._kernels.loops import copy_to


@kernel
def shake(box, share, rng, pack):
    """Take random values out of the box, but leave one of every feature."""
    for f in range(pack.offsets.size - 1):
        left = 0
        for col in range(pack.offsets[f], pack.offsets[f + 1]):
            left += box[col]
        for col in range(pack.offsets[f], pack.offsets[f + 1]):
            if box[col] and left > 1 and draw(rng) < share:
                box[col] = False
                left -= 1


@kernel
def seed_pool(
    boxes,
    gains,
    classes,
    n,
    tries,
    live,
    open_,
    want,
    todo,
    noise,
    rng,
    pack,
    words,
    slabs,
):
    """Grow `tries` new candidates from random inputs; return the size of the pool."""
    anything = np.ones(boxes.shape[1], np.bool_)
    for _ in range(tries):
        word = pick_input(todo, rng, pack, boxes[n])
        c = class_at(word, tail_mask(boxes[n], pack, NONE, NONE), live)
        classes[n] = c
        gains[n] = grow(
            boxes[n], anything, live[c], open_, want, noise, rng, pack, words, slabs
        )
        n += 1
    return n


@kernel
def climb(
    boxes,
    gains,
    classes,
    n,
    steps,
    share,
    live,
    open_,
    want,
    noise,
    rng,
    pack,
    words,
    slabs,
):
    """Improve the candidates: shake a good one, grow it again, keep it if not worse."""
    anything = np.ones(boxes.shape[1], np.bool_)
    trial = np.empty(boxes.shape[1], np.bool_)
    for _ in range(steps):
        i = np.int64(draw(rng) * n)
        for _ in range(2):
            j = np.int64(draw(rng) * n)
            if gains[j] > gains[i]:
                i = j
        copy_to(trial, boxes[i])
        shake(trial, share, rng, pack)
        mine = live[classes[i]]
        gain = grow(trial, anything, mine, open_, want, noise, rng, pack, words, slabs)
        if gain >= gains[i]:
            copy_to(boxes[i], trial)
            gains[i] = gain


@kernel
def take_best(boxes, gains, classes, n, want, todo, open_, ordered, pack, words, rule):
    """Make `rule` the heaviest candidate; return its class.

    Removes the inputs of the rule from `want` and `todo`, and if `ordered` from
    `open_`, as they are don't-care for later rules.
    """
    best = 0
    for i in range(1, n):
        if gains[i] > gains[best]:
            best = i
    copy_to(rule, boxes[best])
    clear(rule, want, pack, words)
    clear(rule, todo.reshape((1, -1)), pack, words)
    if ordered:
        clear(rule, open_.reshape((1, -1)), pack, words)
    return classes[best]


@kernel
def weigh(boxes, gains, classes, n, live, open_, want, pack, words):
    """Compute the gains of the pool again."""
    for i in range(n):
        mine = live[classes[i]]
        gains[i] = box_scan(boxes[i], mine, open_, want, pack, words)


@kernel
def regrow(
    boxes,
    gains,
    classes,
    start,
    stop,
    live,
    open_,
    want,
    noise,
    rng,
    pack,
    words,
    slabs,
):
    """Grow some candidates of the pool again, as more inputs may be don't-care."""
    anything = np.ones(boxes.shape[1], np.bool_)
    for i in range(start, stop):
        mine = live[classes[i]]
        gains[i] = grow(
            boxes[i], anything, mine, open_, want, noise, rng, pack, words, slabs
        )


@kernel
def make_prime(
    rules,
    classes,
    start,
    stop,
    kept,
    live,
    open_,
    todo,
    ordered,
    rng,
    pack,
    words,
    slabs,
):
    """Grow the rules start..stop, in order, until no value can be added.

    Changes open_ and todo; `kept` is set for rules that still cover something.
    """
    anything = np.ones(rules.shape[1], np.bool_)
    for r in range(start, stop):
        want = todo.reshape((1, -1))
        mine = live[classes[r]]
        kept[r] = box_scan(rules[r], mine, open_, want, pack, words) > 0
        if not kept[r]:
            continue
        grow(rules[r], anything, mine, open_, want, 0.0, rng, pack, words, slabs)
        clear(rules[r], want, pack, words)
        if ordered:
            clear(rules[r], open_.reshape((1, -1)), pack, words)


@kernel
def independent(
    live, open_, left, chosen, labels, count, picks, no_want, rng, pack, words
):
    """Add inputs to a family of which no pure box contains two; draw at most `picks`.

    Each needs its own rule in any rule set, so their number, which is returned, is a
    lower bound.
    """
    box, both = np.empty(chosen.shape[1], np.bool_), np.empty(chosen.shape[1], np.bool_)
    for _ in range(picks):
        word = pick_input(left, rng, pack, box)
        if word < 0:
            break
        bits = tail_mask(box, pack, NONE, NONE)
        left[word] &= ~bits
        c = class_at(word, bits, live)
        free = True
        for i in range(count):
            if labels[i] == c:
                for col in range(box.size):
                    both[col] = box[col] or chosen[i, col]
                if box_scan(both, live[c], open_, no_want, pack, words) >= 0:
                    free = False
                    break
        if free:
            copy_to(chosen[count], box)
            labels[count] = c
            count += 1
    return count
