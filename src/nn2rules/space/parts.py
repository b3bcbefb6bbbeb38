"""Parts of what a value stands for, which cannot be told apart from the rest."""

from collections.abc import Sequence

from nn2rules.errors import OptionError
from nn2rules.space.feature import Feature, Lookup


def refuse_parts(feature: Feature, values: Sequence[object], option: str) -> None:
    """Refuse some of what a value stands for: one number of a bin, one word of several.

    Whatever is said of such a part would be said of the rest, too. A group of words is
    named whole by its value, or by all of its words.

    Examples
    --------
    >>> job = Feature.grouped("job", [["clerk", "cook"], ["judge"]])
    >>> refuse_parts(job, ["clerk", "cook"], "impossible")
    """
    if feature.limits is not None:
        return
    lookup, groups = Lookup(feature), feature.groups
    words = Lookup(Feature(feature.name, feature.words or ("",)))
    named = {words[value] for value in values}
    for value in values:
        code = lookup[value]
        name = feature.values[code]
        is_other = feature.other is not None and name == feature.other
        is_bin = feature.edges is not None and code < feature.n_plain
        rest = () if groups is None else groups[code]
        is_part = is_other or is_bin or not {words[word] for word in rest} <= named
        if is_part and value != name:
            raise OptionError(
                f"{option}: {value!r} is only a part of what the value {name!r} of "
                f"feature {feature.name!r} stands for, which the model does not tell "
                f"apart; name all of it, or the value"
            )
