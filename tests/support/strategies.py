"""Hypothesis strategies that several test files draw from."""

import copy

from hypothesis import strategies as st

from spor_tasks.core.sample import SampleMaker, SetFacts, Sets, Triple


def nested(depth):
    """Lists in lists; what calls itself cannot go through many."""
    value = 0
    for _ in range(depth):
        value = [value]
    return value


NUMBERS = st.integers() | st.floats() | st.sampled_from([0, -1, 10**400, 1e308, float("inf")])
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2)
    ),
    max_leaves=4,
) | st.sampled_from([60, 300]).map(nested)
"""What may stand in a file that somebody damaged, or made on purpose."""


def places(value, path=()):
    """Yield the way to every member of a JSON object."""
    if isinstance(value, dict):
        for key, member in value.items():
            yield (*path, key)
            yield from places(member, (*path, key))


def changed(content, path, value):
    """Return a copy that has another value at the place; ``...`` is none at all."""
    content = copy.deepcopy(content)
    inner = content
    for key in path[:-1]:
        inner = inner[key]
    if value is ...:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    return content


def unit(letter):
    return Triple(letter, "is", letter.upper())


def pool(words, corpus="letters"):
    """One sample per word, one data unit per letter."""
    make = SampleMaker(corpus)
    return tuple(make(map(unit, word), [f"The word {word}."]) for word in words)


def sets(aspect, test, **arms):
    """Sets of letters, whose arms have these names."""
    facts = SetFacts(aspect=aspect, corpus="letters", protocol="strict")
    return Sets(facts, {name: tuple(samples) for name, samples in arms.items()}, tuple(test))


def words_of(pair):
    """The words of each arm, and of the test set."""
    return tuple(
        ["".join(unit[0] for unit in sample.units) for sample in samples]
        for samples in pair.all.values()
    )


def pools(always=()):
    """Small corpora in which units meet often and samples repeat; ``always`` are words of each."""
    words = st.sets(st.sampled_from("abcdefgh"), min_size=1, max_size=4).map(
        lambda letters: "".join(sorted(letters))
    )
    return st.lists(words, max_size=40).map(lambda drawn: pool([*drawn, *always]))
