"""An embedded corpus: a small archipelago, made up from a seed, in the shape of WebNLG 3.0.

It lets the whole chain run without a download. Names, facts and wordings are all invented here.
"""

import io
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, product
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree as ET

from spor_tasks.core.files import atomic_write
from spor_tasks.core.sample import CorpusSamples, Sample, SampleMaker
from spor_tasks.corpora.webnlg import reader as webnlg
from spor_tasks.text.normalize import display


class Fact(NamedTuple):
    """A triple as the XML writes it: ``_`` for spaces, the predicate in camel case."""

    subject: str
    predicate: str
    object: str


@dataclass(frozen=True, slots=True)
class Predicate:
    """What may be said of a thing: two verb phrases that the object completes, and a clause."""

    name: str
    object: str
    verb_phrases: tuple[str, str]
    clause: str


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of things: all there are, how a text takes one up again, what is said of them."""

    name: str
    names: tuple[str, ...]
    again: str
    relative: str
    predicates: tuple[Predicate, ...]


def _names(first: str, second: str, glue: str = "_") -> tuple[str, ...]:
    """Return every name of one first and one second part."""
    return tuple(map(glue.join, product(first.split(), second.split())))


KINDS = (
    Kind(
        "Ship",
        _names("Amber Copper Hollow Lucky Quiet Silver", "Comet Gull Heron Otter Thistle"),
        "the ship",
        "which",
        (
            Predicate("builder", "Yard", ("was built by", "was launched by"), "{o} built {s}"),
            Predicate("homePort", "Town", ("is based in", "berths in"), "{o} is home to {s}"),
            Predicate("captain", "Sailor", ("is led by", "sails under"), "{o} commands {s}"),
            Predicate("cargo", "Goods", ("carries", "is full of"), "{o} fills the hold of {s}"),
            Predicate("length", "Length", ("measures", "extends over"), "{o} is how long {s} is"),
        ),
    ),
    Kind(
        "Sailor",
        _names("Anselm Brida Corvin Dagny Edda Fenno", "Askew Brackwater Drift Farrow Quill"),
        "the sailor",
        "who",
        (
            Predicate("birthPlace", "Town", ("was born in", "hails from"), "{o} saw {s} grow up"),
            Predicate("mentor", "Sailor", ("learned from", "was trained by"), "{o} taught {s}"),
            Predicate("instrument", "Instrument", ("plays", "practises"), "{o} is played by {s}"),
            Predicate("pastime", "Pastime", ("enjoys", "is fond of"), "{o} delights {s}"),
        ),
    ),
    Kind(
        "Town",
        _names("Brenn Dorr Kell Morv Tams", "ick mouth stead", glue=""),
        "the town",
        "which",
        (
            Predicate("isPartOf", "Island", ("lies on", "is part of"), "{o} includes {s}"),
            Predicate("leader", "Sailor", ("is governed by", "has elected"), "{o} governs {s}"),
            Predicate("knownFor", "Dish", ("is known for", "serves"), "{o} comes from {s}"),
        ),
    ),
    Kind(
        "Yard",
        _names("Birch Gannet Ketterly Oakum", "Shipwrights Slipway"),
        "the yard",
        "which",
        (
            Predicate("location", "Town", ("is located in", "works in"), "{o} is the seat of {s}"),
            Predicate("founder", "Sailor", ("was founded by", "goes back to"), "{o} founded {s}"),
        ),
    ),
)

VALUES: Mapping[str, tuple[str, ...]] = {
    "Dish": ("crab_soup", "honey_bread", "pickled_herring", "plum_pudding", "seaweed_salad"),
    "Goods": ("barley", "candle_wax", "dried_fish", "roof_slate", "salt", "sheep_wool"),
    "Instrument": ("the_accordion", "the_bagpipe", "the_drum", "the_fiddle", "the_tin_whistle"),
    "Island": ("Eider_Rock", "Low_Holm", "Seal_Island", "Saint_Orla"),
    "Length": tuple(f"{metres}_metres" for metres in (18, 24, 31, 37, 46, 52)),
    "Pastime": ("chess", "fishing", "gardening", "star_gazing", "wood_carving"),
}

_KIND_OF = {predicate.name: kind for kind in KINDS for predicate in kind.predicates}
_PREDICATES = {predicate.name: predicate for kind in KINDS for predicate in kind.predicates}

# Beside one sample for every single fact.
_SAMPLES_OF_SIZE = {2: 500, 3: 400, 4: 250, 5: 150}
_REFERENCES = 3
_DEV, _TEST = 0.1, 0.1


def samples(seed: int = 0) -> tuple[Sample, ...]:
    """Return the whole corpus as the WebNLG reader finds it in its XML: train, dev, test."""
    return _read("train", "dev", "test", seed=seed)


def corpus(seed: int = 0) -> CorpusSamples:
    """Return the corpus in its parts; dev and test are for testing."""
    return CorpusSamples("mini", _read("train", seed=seed), _read("dev", "test", seed=seed))


def _read(*parts: str, seed: int) -> tuple[Sample, ...]:
    make = SampleMaker("mini")
    return tuple(
        sample
        for path, document in _documents(seed)
        if path.startswith(parts)
        for sample in webnlg.read_xml(io.BytesIO(document), make, where=f"mini/{path}")
    )


def write(folder: Path, seed: int = 0) -> None:
    """Write the corpus into ``folder`` as the XML files of a WebNLG release."""
    for path, document in _documents(seed):
        with atomic_write(folder / path) as file:
            file.write(document)


def world(seed: int = 0) -> tuple[Fact, ...]:
    """Return every fact of the archipelago: each thing has one object for each predicate."""
    rng = random.Random(f"mini world {seed}")
    things = {kind.name: kind.names for kind in KINDS}
    objects: Mapping[str, Sequence[str]] = {**things, **VALUES}
    return tuple(
        Fact(
            subject,
            predicate.name,
            rng.choice([thing for thing in objects[predicate.object] if thing != subject]),
        )
        for kind in KINDS
        for subject in things[kind.name]
        for predicate in kind.predicates
    )


def verbalize(facts: Sequence[Fact], rng: random.Random) -> str:
    """Return one of the wordings of the facts, each told once.

    Facts of one subject share sentences, and what there is to say of the thing that a sentence
    ends with may follow in a relative clause.
    """
    untold: dict[str, list[Fact]] = defaultdict(list)
    for fact in rng.sample(facts, len(facts)):
        untold[fact.subject].append(fact)
    sentences: list[str] = []
    while untold:
        sentences.extend(_paragraph(next(iter(untold)), untold, rng))
    return " ".join(f"{sentence[0].upper()}{sentence[1:]}." for sentence in sentences)


def _paragraph(subject: str, untold: dict[str, list[Fact]], rng: random.Random) -> Iterator[str]:
    facts = untold.pop(subject)
    name = display(subject)
    while facts:
        count = rng.randint(1, 3)
        yield _sentence(name, facts[:count], untold, rng)
        name = _KIND_OF[facts[0].predicate].again
        facts = facts[count:]


def _sentence(
    name: str, facts: Sequence[Fact], untold: dict[str, list[Fact]], rng: random.Random
) -> str:
    last = facts[-1]
    if len(facts) == 1 and rng.random() < 1 / 3:
        return _PREDICATES[last.predicate].clause.format(s=name, o=display(last.object))
    phrases = _verb_phrases(facts, rng)
    if len(facts) > 1 and rng.random() < 1 / 3:
        name = f"{name}, {_KIND_OF[last.predicate].relative} {phrases.pop(0)},"
    sentence = f"{name} {_enumerate(phrases)}"
    if last.object in untold and rng.random() < 1 / 2:
        more = untold.pop(last.object)
        relative = _KIND_OF[more[0].predicate].relative
        sentence += f", {relative} {_enumerate(_verb_phrases(more, rng))}"
    return sentence


def _verb_phrases(facts: Iterable[Fact], rng: random.Random) -> list[str]:
    return [
        f"{rng.choice(_PREDICATES[fact.predicate].verb_phrases)} {display(fact.object)}"
        for fact in facts
    ]


def _enumerate(phrases: Sequence[str]) -> str:
    *others, last = phrases
    return f"{', '.join(others)} and {last}" if others else last


def _trees(seed: int) -> list[tuple[Fact, ...]]:
    """Return what each sample tells, in random order; no two tell the same."""
    rng = random.Random(f"mini trees {seed}")
    facts = world(seed)
    about: dict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        about[fact.subject].append(fact)
    trees: dict[frozenset[Fact], tuple[Fact, ...]] = {frozenset([fact]): (fact,) for fact in facts}
    for size, count in _SAMPLES_OF_SIZE.items():
        goal = len(trees) + count
        while len(trees) < goal:
            tree = _tree(rng.choice(list(about)), size, about, rng)
            trees.setdefault(frozenset(tree), tree)
    return rng.sample(list(trees.values()), len(trees))


def _tree(
    root: str, size: int, about: Mapping[str, Sequence[Fact]], rng: random.Random
) -> tuple[Fact, ...]:
    """Return facts that hang together, the first about ``root``, and reach no thing twice."""
    reached = {root: None}
    tree: list[Fact] = []
    while len(tree) < size:
        further = [
            fact for thing in reached for fact in about.get(thing, ()) if fact.object not in reached
        ]
        tree.append(rng.choice(further))
        reached[tree[-1].object] = None
    return tuple(tree)


def _documents(seed: int) -> Iterator[tuple[str, bytes]]:
    """Yield the files of the release, as paths and contents: train, dev, test."""
    trees = _trees(seed)
    dev, test = round(_DEV * len(trees)), round(_TEST * len(trees))
    rng = random.Random(f"mini texts {seed}")

    def by_file(tree: tuple[Fact, ...]) -> tuple[int, str]:
        return len(tree), _KIND_OF[tree[0].predicate].name

    for part, content in (("train", trees[dev + test :]), ("dev", trees[:dev])):
        for (size, kind), group in groupby(sorted(content, key=by_file), by_file):
            yield f"{part}/{size}triples/{kind}.xml", _document(group, rng)
    yield (
        "test/rdf-to-text-generation-test-data-with-refs-en.xml",
        _document(trees[dev : dev + test], rng),
    )


def _document(trees: Iterable[tuple[Fact, ...]], rng: random.Random) -> bytes:
    benchmark = ET.Element("benchmark")
    entries = ET.SubElement(benchmark, "entries")
    for number, tree in enumerate(trees, start=1):
        entries.append(_entry(f"Id{number}", tree, rng))
    ET.indent(benchmark)
    content: bytes = ET.tostring(benchmark, encoding="utf-8", xml_declaration=True)
    return content + b"\n"


def _entry(eid: str, tree: tuple[Fact, ...], rng: random.Random) -> ET.Element:
    """Return the entry of one sample; its triples stand in random order, as the corpus has them."""
    entry = ET.Element(
        "entry",
        category=_KIND_OF[tree[0].predicate].name,
        eid=eid,
        shape=_shape(tree[0].subject, tree),
        shape_type=_shape_type(tree),
        size=str(len(tree)),
    )
    facts = rng.sample(tree, len(tree))
    for tripleset, triple in (("originaltripleset", "otriple"), ("modifiedtripleset", "mtriple")):
        parent = ET.SubElement(entry, tripleset)
        for fact in facts:
            ET.SubElement(parent, triple).text = " | ".join(fact)
    for number, text in enumerate(_references(facts, rng), start=1):
        ET.SubElement(entry, "lex", comment="good", lid=f"Id{number}").text = text
    return entry


def _references(facts: Sequence[Fact], rng: random.Random) -> tuple[str, ...]:
    """Return different wordings; two verb phrases and a clause make three even of a single fact."""
    wordings: dict[str, None] = {}
    while len(wordings) < _REFERENCES:
        wordings[verbalize(facts, rng)] = None
    return tuple(wordings)


def _shape(thing: str, tree: Sequence[Fact]) -> str:
    """Return the tree below the thing as WebNLG draws it: ``(X (X) (X (X)))``."""
    below = [_shape(fact.object, tree) for fact in tree if fact.subject == thing]
    return f"({' '.join(['X', *below])})"


def _shape_type(tree: Sequence[Fact]) -> str:
    if len(tree) == 1:
        return "NA"
    subjects = len({fact.subject for fact in tree})
    return {1: "sibling", len(tree): "chain"}.get(subjects, "mixed")
