import math

from hypothesis import assume, given, settings
from hypothesis import strategies as st

import naive
from nn2rules.extraction.paper.neuron_rule import conjunction


@st.composite
def rules(draw, sizes):
    """Draw prefixes of which none begins another, in any order."""
    found = []

    def grow(prefix):
        longer = len(prefix) < len(sizes) and draw(st.booleans())
        if longer:
            for code in range(sizes[len(prefix)]):
                grow((*prefix, code))
        elif draw(st.sampled_from([True, True, False])):
            found.append(prefix)

    grow(())
    return draw(st.permutations(found))


@st.composite
def lists_of_rules(draw):
    sizes = draw(st.lists(st.integers(1, 3), min_size=1, max_size=4))
    count = draw(st.integers(1, 5))
    lists = []
    for number in range(count):
        prefixes = draw(rules(sizes))
        lists.append([(p, (number, index)) for index, p in enumerate(prefixes)])
    return lists


@settings(max_examples=500)
@given(lists_of_rules())
def test_equals_trying_every_combination(lists):
    assume(math.prod(map(len, lists)) <= 20_000)
    assert conjunction(lists) == naive.conjunction(lists)


def test_one_list_is_sorted():
    lists = [[((1,), "b"), ((0,), "a")]]
    assert conjunction(lists) == [((0,), ("a",)), ((1,), ("b",))]


def test_rules_that_share_no_input_give_nothing():
    assert conjunction([[((0, 1), "a")], [((0, 0), "b"), ((1,), "c")]]) == []
    assert conjunction([[((0,), "a")], []]) == []


def test_the_papers_examples():
    red, red_small, yellow = ((0,), "r"), ((0, 0), "rs"), ((1,), "y")
    assert conjunction([[red_small], [red]]) == [((0, 0), ("rs", "r"))]
    assert conjunction([[red_small], [yellow]]) == []
