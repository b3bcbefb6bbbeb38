"""Choose rules from a pool of grown boxes, heaviest first.

The names are those of `nn2rules.cover._kernels.packed`.
"""

import numpy as np
from numba import njit

from nn2rules.cover._kernels.packed import (
    box_scan,
    class_at,
    clear,
    draw,
    grow,
    pick_input,
    tail_mask,
)


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
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
        c = class_at(word, tail_mask(boxes[n], pack, -1, -1), live)
        classes[n] = c
        gains[n] = grow(
            boxes[n], anything, live[c], open_, want, noise, rng, pack, words, slabs
        )
        n += 1
    return n


@njit(cache=True, nogil=True)
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
    """Improve the candidates: shake a good one, grow it anew, keep it if not worse."""
    anything = np.ones(boxes.shape[1], np.bool_)
    trial = np.empty(boxes.shape[1], np.bool_)
    for _ in range(steps):
        i = np.int64(draw(rng) * n)
        for _ in range(2):
            j = np.int64(draw(rng) * n)
            if gains[j] > gains[i]:
                i = j
        trial[:] = boxes[i]
        shake(trial, share, rng, pack)
        mine = live[classes[i]]
        gain = grow(trial, anything, mine, open_, want, noise, rng, pack, words, slabs)
        if gain >= gains[i]:
            boxes[i] = trial
            gains[i] = gain


@njit(cache=True, nogil=True)
def keep_best(
    boxes, gains, classes, n, size, live, open_, want, noise, rng, pack, words, slabs
):
    """Weigh the pool anew, keep the `size` best, let them grow; return the number."""
    anything = np.ones(boxes.shape[1], np.bool_)
    for i in range(n):
        mine = live[classes[i]]
        gains[i] = box_scan(boxes[i], mine, open_, want, pack, words)
    order = np.argsort(-gains[:n], kind="mergesort")[:size]
    kept = boxes[order].copy()
    kept_gains = gains[order].copy()
    kept_classes = classes[order].copy()
    n = 0
    for i in range(kept_gains.size):
        if kept_gains[i] > 0:
            boxes[n] = kept[i]
            c = kept_classes[i]
            classes[n] = c
            gains[n] = grow(
                boxes[n], anything, live[c], open_, want, noise, rng, pack, words, slabs
            )
            n += 1
    return n


@njit(cache=True, nogil=True)
def cover_some(
    pool,
    live,
    open_,
    want,
    todo,
    ordered,
    tries,
    steps,
    share,
    noise,
    rng,
    pack,
    rules,
    labels,
):
    """Choose rules, heaviest first, until they decide all of `todo` or fill `rules`.

    With `ordered`, what a rule decides is don't-care for the rules after it. Changes
    open_, want, todo and the pool of candidates. Returns the number of rules chosen and
    the size of the pool.
    """
    boxes, gains, classes, n = pool
    words = np.empty(open_.size, np.int64)
    slabs = np.empty(boxes.shape[1], np.int64)
    count = 0
    while count < labels.size and np.any(todo):
        n = seed_pool(
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
        )
        climb(
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
        )
        best = np.argmax(gains[:n])
        rules[count] = boxes[best]
        labels[count] = classes[best]
        clear(rules[count], want, pack, words)
        clear(rules[count], todo.reshape((1, -1)), pack, words)
        if ordered:
            clear(rules[count], open_.reshape((1, -1)), pack, words)
        count += 1
        n = keep_best(
            boxes,
            gains,
            classes,
            n,
            tries,
            live,
            open_,
            want,
            noise,
            rng,
            pack,
            words,
            slabs,
        )
    return count, n


@njit(cache=True, nogil=True)
def make_prime(rules, classes, live, open_, todo, ordered, rng, pack):
    """Grow each rule, in order, until no value can be added; drop what is left idle.

    Changes open_ and todo; returns the rules that still decide something.
    """
    words = np.empty(open_.size, np.int64)
    slabs = np.empty(rules.shape[1], np.int64)
    anything = np.ones(rules.shape[1], np.bool_)
    kept = np.zeros(classes.size, np.bool_)
    for r in range(classes.size):
        want = todo.reshape((1, -1))
        mine = live[classes[r]]
        if box_scan(rules[r], mine, open_, want, pack, words) <= 0:
            continue
        kept[r] = True
        grow(rules[r], anything, mine, open_, want, 0.0, rng, pack, words, slabs)
        clear(rules[r], want, pack, words)
        if ordered:
            clear(rules[r], open_.reshape((1, -1)), pack, words)
    return rules[kept].copy(), classes[kept].copy()


@njit(cache=True, nogil=True)
def independent(live, open_, todo, rng, pack):
    """Pick inputs of which no pure box holds two, at random until none is left.

    Each needs a rule of its own in any rule set, so their number is a lower bound.
    """
    n_cols = pack.offsets[-1]
    words = np.empty(open_.size, np.int64)
    no_want = np.zeros((1, open_.size), np.uint64)
    left = todo.copy()
    chosen = np.zeros((64, n_cols), np.bool_)
    labels = np.zeros(64, np.int64)
    count = 0
    box = np.empty(n_cols, np.bool_)
    while True:
        word = pick_input(left, rng, pack, box)
        if word < 0:
            return count
        bits = tail_mask(box, pack, -1, -1)
        left[word] &= ~bits
        c = class_at(word, bits, live)
        free = True
        for i in range(count):
            if labels[i] == c:
                both = box | chosen[i]
                if box_scan(both, live[c], open_, no_want, pack, words) >= 0:
                    free = False
                    break
        if free:
            if count == labels.size:
                chosen = np.concatenate((chosen, np.zeros_like(chosen)))
                labels = np.concatenate((labels, np.zeros_like(labels)))
            chosen[count] = box
            labels[count] = c
            count += 1
