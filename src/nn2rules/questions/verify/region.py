"""Where a claim is said to hold: whether any input is left that counts."""

import numpy as np

from nn2rules.errors import OptionError
from nn2rules.language import Region
from nn2rules.rules import covered

_DRAWN = 4096


def check_region(region: Region) -> None:
    """Refuse a region without an input, where that can be told."""
    if region.holds(*region.drawn(_DRAWN)).any():
        return
    if region.listed is not None and region.is_impossible is None:
        outside = [region.impossible.allowed]
        whole = np.ones(int(region.domain.offsets[-1]), dtype=np.bool_)
        for index in range(len(region.domain.sizes)):
            start, stop = region.domain.offsets[index : index + 2]
            box = whole.copy()
            box[start:stop] = ~region.within.allowed[0][start:stop]
            if box[start:stop].any():
                outside.append(box[np.newaxis])
        found = covered(region.domain, np.vstack(outside))
        if found.lower == found.total:
            raise empty_region()


def empty_region() -> OptionError:
    """Return the error of constraints that leave nothing."""
    return OptionError(
        "impossible: no input is left that can occur where the claim is made"
    )
