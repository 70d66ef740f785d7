"""Show what `slot_errors.toml` misses, from which its patterns were written by hand.

`python docs/generators/slot_errors.py e2e train` prints the share of references without an error,
the share of values found to be absent if another value of their attribute takes their place, and
texts with the commonest errors. Ways of expression come from training texts only.
"""

import random
import sys
from collections import defaultdict
from dataclasses import replace

from spor_tasks.core.registry import registry
from spor_tasks.core.sample import AttributeValue, Sample
from spor_tasks.corpora.slots import values_by_attribute
from spor_tasks.metrics.slot_errors import SLOT_ERRORS

SHOWN, EXAMPLES = 40, 3
LISTS = ("slots_missing", "slots_wrong", "slots_added")


def errors(sample: Sample, text: str) -> list[tuple[str, ...]]:
    """Return the errors of a text: the name of the list, the attribute and the values."""
    _, details = SLOT_ERRORS.judge_one(sample, text)
    return [(name, *each) for name in LISTS for each in details[name]]


def exchanged(sample: Sample, values: dict[str, list[str]], rng: random.Random) -> Sample:
    """Return the sample with another value of one of its attributes, if there is any."""
    number = rng.randrange(len(sample.units))
    attribute, value = sample.units[number][0], sample.units[number][-1]
    parts = {*value.split(", ")}
    others = [each for each in values[attribute] if not {*each.split(", ")} <= parts]
    units = list(sample.units)
    units[number] = AttributeValue(attribute, rng.choice(others or [value]))
    return replace(sample, units=tuple(units))


if __name__ == "__main__":
    corpus, part = sys.argv[1:3]
    samples, rng = registry().get("corpus", corpus).part(part), random.Random(0)
    values = values_by_attribute(samples)
    texts = [(sample, text) for sample in samples for text in sample.references]
    found = defaultdict(list)
    right = noticed = changed = 0
    for sample, text in texts:
        own = errors(sample, text)
        right += not own
        for error in own:
            found[error].append(text)
        other = exchanged(sample, values, rng)
        if other.units != sample.units:
            changed += 1
            kinds = {name for name, *_ in set(errors(other, text)).difference(own)}
            noticed += bool(kinds & {*LISTS[:2]})
    print(f"{len(texts):,} texts, {right / len(texts):.2%} without an error")
    print(f"{changed:,} values exchanged, {noticed / changed:.1%} of them noticed")
    for error, examples in sorted(found.items(), key=lambda each: -len(each[1]))[:SHOWN]:
        print(len(examples), *error)
        print(*rng.sample(examples, min(EXAMPLES, len(examples))), sep="\n", end="\n\n")
