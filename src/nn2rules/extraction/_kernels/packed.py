"""Boxes of bit-packed truth tables: scan them, and grow them.

A set of inputs is an array of 64-bit words: the *head* features choose the word, the
*tail* features the bit. A box is then a list of words and one mask, and a question
about it is a few word operations per 64 inputs.

Names used throughout
---------------------
pack : Packing       offsets, n_head, strides, masks; see ``packing``
live : (c, w) words  the inputs of each class
open_ : (w,) words   the inputs that still matter; the others are don't-care
want : (p, w) words  bit planes of the weights: plane p counts 2**p
todo : (w,) words    the inputs that are not covered yet
rng : (1,) uint64    the state of the generator, changed in place
"""

import numpy as np

from nn2rules.space._kernels.compiled import NONE, NOUGHT, inlined, kernel

ZERO = np.uint64(0)
ONE = np.uint64(1)
FULL = np.uint64(0xFFFFFFFFFFFFFFFF)
WIDE = 64  # a feature with more values grows by several at a time
_M1, _M2 = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
_M4, _M8 = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x7F)
_S1, _S2, _S4 = np.uint64(1), np.uint64(2), np.uint64(4)
_S8, _S16, _S32 = np.uint64(8), np.uint64(16), np.uint64(32)
_S11, _S12 = np.uint64(11), np.uint64(12)
_S25, _S27 = np.uint64(25), np.uint64(27)


@inlined
def popcount(x):
    """Count the ones of a word (LLVM turns this idiom into one instruction)."""
    x = x - ((x >> _S1) & _M1)
    x = (x & _M2) + ((x >> _S2) & _M2)
    x = (x + (x >> _S4)) & _M4
    x = x + (x >> _S8)
    x = x + (x >> _S16)
    x = x + (x >> _S32)
    return np.int64(x & _M8)


@kernel
def draw(rng):
    """Return the next number of [0, 1) (xorshift64)."""
    x = rng[0]
    x ^= x >> _S12
    x ^= x << _S25
    x ^= x >> _S27
    rng[0] = x
    return np.float64(x >> _S11) / 9007199254740992.0


@kernel
def tail_mask(box, pack, skip, skip2):
    """Return the bits that the tail features allow, except for two features."""
    mask = FULL
    for f in range(pack.n_head, pack.offsets.size - 1):
        if f != skip and f != skip2:
            some = ZERO
            for col in range(pack.offsets[f], pack.offsets[f + 1]):
                if box[col]:
                    some |= pack.masks[col]
            mask &= some
    return mask


@kernel
def list_words(box, pack, f1, c1, f2, c2, out):
    """List the words of the box, feature f1 held at column c1 and f2 at column c2."""
    n = 1
    out[0] = 0
    for f in range(pack.n_head):
        low = pack.offsets[f]
        if f == f1 or f == f2:
            shift = ((c1 if f == f1 else c2) - low) * pack.strides[f]
            for i in range(n):
                out[i] += shift
            continue
        total = 0
        first = 0
        for col in range(low, pack.offsets[f + 1]):
            if box[col]:
                shift = (col - low) * pack.strides[f]
                if total == 0:
                    first = shift  # added last: the copies start from the old words
                else:
                    for i in range(n):
                        out[total * n + i] = out[i] + shift
                total += 1
        for i in range(n):
            out[i] += first
        n *= total
    return n


@kernel
def scan(words, n, mask, mine, open_, want):
    """Return the weight of the inputs of `mine`, or -1 if another class is open."""
    total = 0
    for i in range(n):
        w = words[i]
        if open_[w] & ~mine[w] & mask:
            return -1
        own = mine[w] & mask
        if own:
            for p in range(want.shape[0]):
                total += popcount(want[p, w] & own) << p
    return total


@inlined
def box_scan(box, mine, open_, want, pack, words):
    """Scan a whole box."""
    n = list_words(box, pack, NONE, NOUGHT, NONE, NOUGHT, words)
    return scan(words, n, tail_mask(box, pack, NONE, NONE), mine, open_, want)


@kernel
def clear(box, sets, pack, words):
    """Take the inputs of the box out of each of the sets (rows)."""
    n = list_words(box, pack, NONE, NOUGHT, NONE, NOUGHT, words)
    keep = ~tail_mask(box, pack, NONE, NONE)
    for i in range(n):
        for s in range(sets.shape[0]):
            sets[s, words[i]] &= keep


@inlined
def first_gains(box, allowed, mine, open_, want, pack, words, gains):
    """Fill in the gain of the slab of every column outside the box (-1: blocked)."""
    mask = tail_mask(box, pack, NONE, NONE)
    for f in range(pack.offsets.size - 1):
        free = mask
        if f >= pack.n_head:
            free = tail_mask(box, pack, f, NONE)
            n = list_words(box, pack, NONE, NOUGHT, NONE, NOUGHT, words)
        for col in range(pack.offsets[f], pack.offsets[f + 1]):
            if box[col]:
                continue
            if not allowed[col]:
                gains[col] = -1
                continue
            slab = free
            if f < pack.n_head:
                n = list_words(box, pack, f, col, NONE, NOUGHT, words)
            else:
                slab = free & pack.masks[col]
            gains[col] = scan(words, n, slab, mine, open_, want)


@inlined
def more_gains(box, pf, pick, mine, open_, want, pack, words, gains):
    """Add to `gains` what the slab of column `pick` (feature pf) adds to each slab.

    The box does not have `pick` yet. Slabs of the feature pf itself do not change.
    """
    for f in range(pack.offsets.size - 1):
        if f == pf:
            continue
        if pf < pack.n_head:
            slab = tail_mask(box, pack, f, NONE)
        else:
            slab = tail_mask(box, pack, f, pf) & pack.masks[pick]
        n = NONE
        for col in range(pack.offsets[f], pack.offsets[f + 1]):
            if box[col] or gains[col] < 0:
                continue
            part = slab
            if f >= pack.n_head:
                part = slab & pack.masks[col]
                if n < 0:
                    n = list_words(box, pack, pf, pick, NONE, NOUGHT, words)
            else:
                n = list_words(box, pack, pf, pick, f, col, words)
            extra = scan(words, n, part, mine, open_, want)
            if extra < 0:
                gains[col] = -1
            else:
                gains[col] += extra


@inlined
def pick_more(box, f, pick, least, gains, pack, part):
    """Make `part` the box at `pick` and nearby values with a gain of `least` each.

    These are a quarter of the remaining values of feature f, so that a feature with a
    thousand values grows in thirty steps instead of a thousand. Returns their weight.
    """
    low, high = pack.offsets[f], pack.offsets[f + 1]
    left = 0
    for col in range(low, high):
        left += not box[col] and gains[col] >= 0
    for col in range(box.size):
        part[col] = box[col] and not low <= col < high
    total, count = 0, 1 + left // 4
    for far in range(high - low):
        for side in range(2 if far > 0 else 1):
            col = pick + far if side == 0 else pick - far
            if low <= col < high and not box[col] and gains[col] >= least:
                if count == 0:
                    return total
                part[col] = True
                total += gains[col]
                count -= 1
    return total


@inlined
def more_gains_of(box, part, pf, mine, open_, want, pack, words, gains):
    """Add to `gains` what a part of several values of feature pf adds to each slab.

    As `more_gains`, for a feature too wide for the tail.
    """
    for f in range(pack.offsets.size - 1):
        if f == pf:
            continue
        slab = tail_mask(part, pack, f, NONE)
        if f >= pack.n_head:
            n = list_words(part, pack, NONE, NOUGHT, NONE, NOUGHT, words)
        for col in range(pack.offsets[f], pack.offsets[f + 1]):
            if box[col] or gains[col] < 0:
                continue
            inside = slab
            if f >= pack.n_head:
                inside = slab & pack.masks[col]
            else:
                n = list_words(part, pack, f, col, NONE, NOUGHT, words)
            extra = scan(words, n, inside, mine, open_, want)
            if extra < 0:
                gains[col] = -1
            else:
                gains[col] += extra


@kernel
def grow(box, allowed, mine, open_, want, noise, rng, pack, words, gains):
    """Grow a pure box within the allowed columns, in place; return its weight.

    Each step adds the value with the largest gain, up to a little noise; for a wide
    feature, several values with similar gains. Each slab is scanned only once: when the
    box grows, only the new part of each slab is scanned.
    """
    total = box_scan(box, mine, open_, want, pack, words)
    first_gains(box, allowed, mine, open_, want, pack, words, gains)
    while True:
        best = -1.0
        pick = NONE
        pf = NONE
        for f in range(pack.offsets.size - 1):
            for col in range(pack.offsets[f], pack.offsets[f + 1]):
                if not box[col] and gains[col] >= 0:
                    score = (gains[col] + 0.01) * (1.0 + noise * draw(rng))
                    if score > best:
                        best = score
                        pick = col
                        pf = f
        if pick < 0:
            return total
        if pack.offsets[pf + 1] - pack.offsets[pf] <= WIDE:
            total += gains[pick]
            more_gains(box, pf, pick, mine, open_, want, pack, words, gains)
            box[pick] = True
        else:
            part = np.empty_like(box)
            least = gains[pick] / (1.0 + noise)
            total += pick_more(box, pf, pick, least, gains, pack, part)
            more_gains_of(box, part, pf, mine, open_, want, pack, words, gains)
            for col in range(pack.offsets[pf], pack.offsets[pf + 1]):
                box[col] |= part[col]


@kernel
def pick_input(todo, rng, pack, box):
    """Make the box a random input of `todo`; return its word, -1 if there is none."""
    w = np.int64(draw(rng) * todo.size)
    left = todo.size
    while todo[w] == ZERO:
        w = (w + 1) % todo.size
        left -= 1
        if left == 0:
            return np.int64(-1)
    x = todo[w]
    for _ in range(np.int64(draw(rng) * popcount(x))):
        x &= x - ONE
    bit = x & (~x + ONE)
    for f in range(pack.offsets.size - 1):
        size = pack.offsets[f + 1] - pack.offsets[f]
        for col in range(pack.offsets[f], pack.offsets[f + 1]):
            if f < pack.n_head:
                box[col] = (w // pack.strides[f]) % size == col - pack.offsets[f]
            else:
                box[col] = (bit & pack.masks[col]) != ZERO
    return w


@kernel
def class_at(word, bits, live):
    """Return the class of the one input at `word`, `bits`."""
    for c in range(live.shape[0]):
        if live[c, word] & bits:
            return c
    return -1
