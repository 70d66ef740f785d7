"""Write the embedded corpus `mini`, and the texts that its tiny base reads.

    python docs/generators/mini.py spor_tasks/corpora/embedded training/pretraining

The corpus is a small archipelago in the shape of WebNLG 3.0, made up from a seed. The base reads
ten other archipelagos: the same things with other facts. It learns to put a single unit into words
and to repeat several units. No text that it reads has two units of a test sample of systematicity.
"""

import gzip
import random
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, combinations, product
from pathlib import Path
from typing import Any, NamedTuple

from spor_tasks.core import named
from spor_tasks.core.codec import to_row
from spor_tasks.core.files import encode_row
from spor_tasks.core.sample import Sample, SampleMaker, Triple
from spor_tasks.prompts.styles import prompt
from spor_tasks.text.normalize import display, words_of_identifier

NAME = "mini"
PATTERN = r"</?\w+>|\w+|[^\w\s]"  # tokens of the base
WORLDS = 10  # archipelagos that the base reads
SAMPLES_OF_SIZE = {2: 500, 3: 400, 4: 250, 5: 150}  # and one of each single fact
REFERENCES = 3
SHARE = 0.1  # of development samples, and of test samples


class Fact(NamedTuple):
    """A triple with `_` for spaces and the predicate in camel case."""

    subject: str
    predicate: str
    object: str


class Predicate(NamedTuple):
    """A row of `mini.tsv`: a predicate, the kind of its objects, and three ways to say it.

    Two are verb phrases that an object completes, and the last is a clause.
    """

    kind: str
    name: str
    object: str
    first: str
    second: str
    clause: str


class Kind(NamedTuple):
    """A row of `mini_kinds.tsv`: all things of a kind, and two words that refer to one again.

    The things `Birch Oakum × Slipway` are `Birch_Slipway` and `Oakum_Slipway`.
    """

    name: str
    listed: str
    again: str
    relative: str

    @property
    def things(self) -> list[str]:
        """All things."""
        return list(map("_".join, product(*map(str.split, self.listed.split(" × ")))))


def table(name: str) -> Iterator[list[str]]:
    """Yield the rows of a file beside this one."""
    _, *rows = Path(__file__).with_name(name).read_text("utf-8").splitlines()
    return (row.split("\t") for row in rows)


KINDS = {row[0]: Kind(*row) for row in table("mini_kinds.tsv")}
PREDICATES = {row[1]: Predicate(*row) for row in table("mini.tsv")}


def kind_of(fact: Fact) -> Kind:
    """Return the kind of a fact's subject."""
    return KINDS[PREDICATES[fact.predicate].kind]


def main(corpus: Path, pretraining: Path) -> None:
    """Write both files."""
    parts = list(samples(0))
    rows = [
        {"split": split, "category": sample.about("category"), **to_row(sample)}
        for split, sample in parts
    ]
    write(corpus / f"{NAME}.jsonl.gz", rows)
    texts = " ".join(
        " ".join([prompt(sample, "causal"), *sample.references]) for _, sample in parts
    )
    header = {"pattern": PATTERN, "words": sorted({*re.findall(PATTERN, texts)})}
    write(pretraining / f"{NAME}.jsonl.gz", chain([header], lessons()))


def write(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write rows as gzipped JSON Lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(b"".join(map(encode_row, rows)), 9, mtime=0))


def lessons() -> Iterator[dict[str, Any]]:
    """Yield a prompt and its text for each sample, then the sentences alone."""

    def pairs(sample: Sample) -> set[object]:
        return set(map(frozenset, combinations(sample.units, 2)))

    tested = set[object]().union(*map(pairs, named.load("systematicity", NAME).test))
    all_samples = [sample for seed in range(1, WORLDS + 1) for _, sample in samples(seed)]
    read = [sample for sample in all_samples if tested.isdisjoint(pairs(sample))]
    for sample in read:
        repeated = " ".join(f"{' '.join(map(display, unit))}." for unit in sample.units)
        for text in sample.references if len(sample.units) == 1 else [repeated]:
            yield {"prompt": prompt(sample, "causal"), "texts": [text]}
    for sample in read:
        if len(sample.units) == 1:
            yield from ({"prompt": "", "texts": [text]} for text in sample.references)


def samples(seed: int) -> Iterator[tuple[str, Sample]]:
    """Yield the samples of an archipelago, each after `train` or `test`."""
    trees = list_trees(seed)
    count = round(SHARE * len(trees))
    rng = random.Random(f"{NAME} texts {seed}")
    development, test, train = trees[:count], trees[count : 2 * count], trees[2 * count :]
    # As in a WebNLG release, whose files have samples of one size and category, but for the test.
    train, development = sorted(train, key=file_of), sorted(development, key=file_of)
    for split, part in (("train", train), ("test", development + test)):
        make = SampleMaker(NAME)
        for tree in part:
            facts = rng.sample(tree, len(tree))
            units = [Triple(s, words_of_identifier(p), o) for s, p, o in facts]
            texts = references(facts, rng)
            yield split, make(units, texts, category=file_of(tree)[1])


def file_of(tree: Sequence[Fact]) -> tuple[int, str]:
    """Return the size and the category of a sample."""
    return len(tree), PREDICATES[tree[0].predicate].kind


def world(seed: int) -> list[Fact]:
    """Return every fact of an archipelago: each thing has one object for each predicate."""
    rng = random.Random(f"{NAME} world {seed}")
    return [
        Fact(
            subject,
            predicate.name,
            rng.choice([thing for thing in KINDS[predicate.object].things if thing != subject]),
        )
        for kind in KINDS.values()
        for subject in kind.things
        for predicate in PREDICATES.values()
        if predicate.kind == kind.name
    ]


def list_trees(seed: int) -> list[tuple[Fact, ...]]:
    """Return the facts of each sample, in random order; no two samples have the same facts."""
    rng = random.Random(f"{NAME} trees {seed}")
    about: dict[str, list[Fact]] = defaultdict(list)
    trees: dict[frozenset[Fact], tuple[Fact, ...]] = {}
    for fact in world(seed):
        about[fact.subject].append(fact)
        trees[frozenset([fact])] = (fact,)
    for size, count in SAMPLES_OF_SIZE.items():
        goal = len(trees) + count
        while len(trees) < goal:
            tree = draw_tree(rng.choice(list(about)), size, about, rng)
            trees.setdefault(frozenset(tree), tree)
    return rng.sample(list(trees.values()), len(trees))


def draw_tree(
    root: str, size: int, about: Mapping[str, Sequence[Fact]], rng: random.Random
) -> tuple[Fact, ...]:
    """Return connected facts, the first about the root, that reach no thing twice."""
    reached = [root]
    tree: list[Fact] = []
    while len(tree) < size:
        further = [
            fact for thing in reached for fact in about.get(thing, ()) if fact.object not in reached
        ]
        tree.append(rng.choice(further))
        reached.append(tree[-1].object)
    return tuple(tree)


def references(facts: Sequence[Fact], rng: random.Random) -> tuple[str, ...]:
    """Return different wordings; two verb phrases and a clause make three even of one fact."""
    wordings: dict[str, None] = {}
    while len(wordings) < REFERENCES:
        wordings[verbalize(facts, rng)] = None
    return tuple(wordings)


def verbalize(facts: Sequence[Fact], rng: random.Random) -> str:
    """Return a text with each fact once.

    Facts of one subject share sentences. Those of the thing that a sentence ends with may follow in
    a relative clause.
    """
    remaining: dict[str, list[Fact]] = defaultdict(list)
    for fact in rng.sample(facts, len(facts)):
        remaining[fact.subject].append(fact)
    sentences: list[str] = []
    while remaining:
        sentences.extend(paragraph(next(iter(remaining)), remaining, rng))
    return " ".join(f"{sentence[0].upper()}{sentence[1:]}." for sentence in sentences)


def paragraph(subject: str, remaining: dict[str, list[Fact]], rng: random.Random) -> Iterator[str]:
    """Yield sentences with all facts about a thing."""
    facts = remaining.pop(subject)
    name = display(subject)
    while facts:
        count = rng.randint(1, 3)
        yield sentence(name, facts[:count], remaining, rng)
        name = kind_of(facts[0]).again
        facts = facts[count:]


def sentence(
    name: str, facts: Sequence[Fact], remaining: dict[str, list[Fact]], rng: random.Random
) -> str:
    """Return one sentence, without its capital letter and full stop."""
    last = facts[-1]
    if len(facts) == 1 and rng.random() < 1 / 3:
        return PREDICATES[last.predicate].clause.format(s=name, o=display(last.object))
    phrases = verb_phrases(facts, rng)
    if len(facts) > 1 and rng.random() < 1 / 3:
        name = f"{name}, {kind_of(last).relative} {phrases.pop(0)},"
    text = f"{name} {enumeration(phrases)}"
    if last.object in remaining and rng.random() < 1 / 2:
        more = remaining.pop(last.object)
        relative = kind_of(more[0]).relative
        text += f", {relative} {enumeration(verb_phrases(more, rng))}"
    return text


def verb_phrases(facts: Iterable[Fact], rng: random.Random) -> list[str]:
    """Return a verb phrase with its object for each fact."""
    return [
        f"{rng.choice(PREDICATES[fact.predicate][3:5])} {display(fact.object)}" for fact in facts
    ]


def enumeration(phrases: Sequence[str]) -> str:
    """Return the phrases with commas and `and`."""
    *first, last = phrases
    return f"{', '.join(first)} and {last}" if first else last


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
