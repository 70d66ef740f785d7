"""Write the embedded corpus `totto_mini`, and the texts that its tiny base reads.

    python docs/generators/totto_mini.py spor_tasks/corpora/embedded training/pretraining

Tables are made up from a seed, in ToTTo's form. `totto_mini_domains.tsv` has the kinds of tables,
and `totto_mini.tsv` their columns in three pairs; a training table has one column of each pair. The
two halves of the test set come in pairs of tables of one domain, with as many highlighted cells and
references. One has a header that a training table has too; the headers of the other are all in the
training set, but never together.

The base reads tables of two other seeds: those of one with a sentence for each cell, those of the
other with one sentence for all cells. No two of these cells are together in a test sample.
"""

import csv
import gzip
import random
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain, combinations, product
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from spor_tasks.core.codec import to_row
from spor_tasks.core.files import encode_row
from spor_tasks.core.sample import Sample, SampleMaker
from spor_tasks.core.table import Cell, CellTable
from spor_tasks.corpora.tables import header_values
from spor_tasks.corpora.totto.linearize import in_variant, units_of
from spor_tasks.prompts.styles import prompt

NAME = "totto_mini"
PATTERN = r"</?\w+>|\w+|[^\w\s]"  # tokens of the base
TABLES = {"train": 144, "test": 60}
LESSONS = 1000  # tables of each seed that the base reads
VOCABULARY = 600  # tables that have all words
EXAMPLES = 3  # samples of a table
TRIES = 30  # of another wording

Place: TypeAlias = tuple[int, int]


class Column(NamedTuple):
    """A header, the header of its group, its values, and ways to say one."""

    header: str
    group: str
    values: tuple[str, ...]
    phrases: tuple[str, ...]


Columns: TypeAlias = tuple[Column, ...]


class Domain(NamedTuple):
    """Tables of one kind.

    A `list` has a row for each of several things, and its page has another title. The title of the
    others is their subject: `years` have a row for each year, `days` begin a row with a header, and
    a `card` has the header before each value. `first` is the header of the first column, and `keys`
    are its values. A sentence writes the subject as in `subject`, and as in `when` the first
    column's value, or the title of a list.
    """

    layout: str
    titles: tuple[str, ...]
    section: str
    note: str
    first: str
    keys: tuple[str, ...]
    subject: str
    when: str
    pairs: tuple[Columns, ...]


class Fact(NamedTuple):
    """A cell, and the phrases that say its value."""

    place: Place
    phrases: tuple[str, ...]


class Row(NamedTuple):
    """The cell and the value of a row's first column, and its facts."""

    place: Place | None
    key: str
    facts: Sequence[Fact]


class World(NamedTuple):
    """A table and the subject of its page."""

    domain: Domain
    title: str
    cells: tuple[tuple[Cell, ...], ...]
    rows: tuple[Row, ...]


class Plan(NamedTuple):
    """The shape of a sample: the number of facts of its first row, and whether it has two rows.

    `has_key` says whether the first column is highlighted.
    """

    facts: int
    is_pair: bool
    has_key: bool
    references: int


def names(*parts: Iterable[str]) -> tuple[str, ...]:
    """Return every name that has one of each part."""
    return tuple(map(" ".join, product(*parts)))


VALUES = {
    "towns": ("Cobrith", "Dornwick", "Fenlow", "Lundey", "Maskeby", "Ombley", "Quellham", "Vassen"),
    "people": names(
        ("Jonda", "Kesper", "Mirel", "Orsa", "Perrin", "Tavin", "Ulva", "Wenzo"),
        ("Askeby", "Brask", "Ollery", "Quill", "Sandrik", "Thornby", "Velm", "Welkin"),
    ),
    "colours": ("amber", "cobalt", "ivory", "scarlet", "violet"),
    "years": tuple(map(str, range(1960, 1990))),
    "few": tuple(map(str, range(2, 10))),
    "some": tuple(map(str, range(10, 60))),
    "any": tuple(map(str, range(2, 60))),
    "films": names(("Copper", "Paper", "Silent", "Winter"), ("Harbour", "Lantern", "Orchard")),
    "roles": ("captain", "gardener", "judge", "nurse", "painter", "thief"),
}


def values(listed: str) -> tuple[str, ...]:
    """Return the values of a cell such as `towns × Road, Quay`."""
    return names(*(VALUES.get(part) or part.split(", ") for part in listed.split(" × ")))


def domains() -> Iterator[Domain]:
    """Yield the domains of the two files."""
    path = Path(__file__)
    with (
        path.with_suffix(".tsv").open(encoding="utf-8") as columns_file,
        path.with_name("totto_mini_domains.tsv").open(encoding="utf-8") as file,
    ):
        all_columns = list(csv.reader(columns_file, delimiter="\t"))
        for row in csv.DictReader(file, delimiter="\t"):
            name = row.pop("name")
            columns = [
                Column(header, group, values(listed), tuple(phrases))
                for domain, header, group, listed, *phrases in all_columns
                if domain == name
            ]
            pairs = tuple(zip(columns[::2], columns[1::2], strict=True))
            titles, keys = values(row.pop("titles")), values(row.pop("keys"))
            yield Domain(titles=titles, keys=keys, pairs=pairs, **row)


DOMAINS = tuple(domains())

# --- Files ----------------------------------------------------------------------------------------


def main(corpus: Path, pretraining: Path) -> None:
    """Write both files."""
    parts = {part: list(samples(part, 0, tables)) for part, tables in TABLES.items()}
    rows = (
        {"split": part, **to_row(sample)} for part, listed in parts.items() for sample in listed
    )
    write(corpus / f"{NAME}.jsonl.gz", rows)
    texts = (
        " ".join([prompt(in_variant(sample, "fulltable_metadata"), "causal"), *sample.references])
        for sample in samples("train", 1, VOCABULARY)
    )
    header = {"pattern": PATTERN, "words": sorted({*re.findall(PATTERN, " ".join(texts))})}
    write(pretraining / f"{NAME}.jsonl.gz", chain([header], lessons(parts["test"])))


def write(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write rows as gzipped JSON Lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(b"".join(map(encode_row, rows)), 9, mtime=0))


def lessons(tested: Iterable[Sample]) -> Iterator[dict[str, Any]]:
    """Yield a prompt and its text for each sample without two cells of a tested one."""

    def pairs(sample: Sample) -> set[object]:
        units = (*sample.units, *sample.units[:1])
        return {(sample.about("title"), frozenset(pair)) for pair in combinations(units, 2)}

    tested_pairs = set[object]().union(*map(pairs, tested))
    for sample in chain(samples("train", 1, LESSONS, each_cell=True), samples("train", 2, LESSONS)):
        if tested_pairs.isdisjoint(pairs(sample)):
            yield {"prompt": prompt(sample, "causal"), "texts": list(sample.references)}


# --- Samples --------------------------------------------------------------------------------------


def samples(part: str, seed: int, tables: int, *, each_cell: bool = False) -> Iterator[Sample]:
    """Yield the samples of a part; with `each_cell` a text has a sentence for each cell."""
    make = SampleMaker(NAME)
    is_test = part == "test"
    train = samples("train", seed, TABLES["train"]) if is_test else ()
    trained = set(map(header_values, train))
    for number in range(tables):
        # The two tables of a pair follow the same plans.
        group, is_new = divmod(number, 2) if is_test else (number, 0)
        domain = DOMAINS[group % len(DOMAINS)]
        drawn = random.Random(f"{NAME} {part} {seed} plan {group}")
        plans = [draw_plan(domain, drawn, is_test=is_test) for _ in range(EXAMPLES)]
        rng = random.Random(f"{NAME} {part} {seed} {number}")
        headers = new_columns(domain) if is_new else tuple(product(*domain.pairs))
        columns, title = rng.choice(headers), rng.choice(domain.titles)
        if not is_test:  # each header in turn, and each thing of a card: none is rare in training
            whole, turn = divmod(group // len(DOMAINS), len(headers))
            columns = headers[turn]
            if domain.layout == "card":
                title = domain.titles[(turn + whole) % len(domain.titles)]
        world = draw_world(domain, title, in_order(columns, rng), rng)
        context = {
            "title": title,
            "section_title": domain.section,
            "section_text": domain.note or None,
            "source": f"https://{NAME}.invalid/{part}/{seed}/{number}",
        }
        for place, plan in enumerate(plans, start=seed * 10**6 + number * EXAMPLES + 1):
            rows = draw_rows(world, plan, rng)
            texts = references(world, rows, plan.references, rng)
            if each_cell:
                cells = [row._replace(facts=[fact]) for row in rows for fact in row.facts]
                texts = [" ".join(sentence(world, [cell], rng) for cell in cells)]
            table = CellTable(world.cells, tuple(highlighted(rows, rng)))
            name = f"-{place}" if is_test else str(place)
            sample = make(units_of(table), texts, name=name, **context, table=table)
            if is_test:
                overlap = header_values(sample) in trained
                sample = replace(sample, context={**sample.context, "overlap": overlap})
            yield sample


def draw_plan(domain: Domain, rng: random.Random, *, is_test: bool) -> Plan:
    """Return the shape of a sample."""
    is_pair = domain.layout == "list" and happens(rng, 0.25)
    has_key = domain.layout in ("list", "days") or happens(rng, 0.85)
    facts = rng.choice((1, 2) if is_pair else (1, 2, 2, 3, 3))
    return Plan(facts, is_pair, has_key, rng.choice((2, 3)) if is_test else 1)


def draw_rows(world: World, plan: Plan, rng: random.Random) -> list[Row]:
    """Return the rows of a sample, with the facts in the order of its first reference."""
    first = rng.choice([row for row in world.rows if len(row.facts) >= plan.facts])
    first = first._replace(facts=rng.sample(first.facts, plan.facts))
    if not plan.has_key:
        first = first._replace(place=None, key="")
    second = [
        row._replace(facts=[fact])
        for row in world.rows
        for fact in row.facts
        if row.key != first.key and fact.place[1] == first.facts[0].place[1]
    ]
    return [first, *([rng.choice(second)] if plan.is_pair and second else [])]


def highlighted(rows: Iterable[Row], rng: random.Random) -> Iterator[Place]:
    """Yield the cells as they are annotated: the first column mostly comes first."""
    for row in rows:
        places = [fact.place for fact in row.facts]
        if row.place:
            places.insert(0 if happens(rng, 0.8) else rng.randrange(len(places) + 1), row.place)
        yield from places


def happens(rng: random.Random, share: float) -> bool:
    """Return True in that share of all draws, from 0 to 1."""
    return rng.random() < share


# --- Tables ---------------------------------------------------------------------------------------


@cache
def new_columns(domain: Domain) -> tuple[Columns, ...]:
    """Return the columns of tables whose set of headers no training table has."""
    trained = set(map(header, product(*domain.pairs)))
    mixed = (
        (*pair, column)
        for pair in domain.pairs
        for rest in domain.pairs
        for column in rest
        if rest != pair
    )
    return tuple(columns for columns in mixed if header(columns) not in trained)


def header(columns: Iterable[Column]) -> frozenset[str]:
    """Return the headers of columns, those of groups among them."""
    return frozenset(name for column in columns for name in (column.header, column.group))


def in_order(columns: Columns, rng: random.Random) -> Columns:
    """Return the columns in a random order, but those of a group beside each other."""
    shuffled = rng.sample(columns, len(columns))
    groups = [column.group or column.header for column in shuffled]
    return tuple(sorted(shuffled, key=lambda each: groups.index(each.group or each.header)))


def draw_world(domain: Domain, title: str, columns: Columns, rng: random.Random) -> World:
    """Return a table of a domain."""
    if domain.layout == "card":
        return draw_card(domain, title, columns, rng)
    cells, rows = list(head(domain, columns)), list[Row]()
    keys = domain.keys
    if domain.layout != "days":
        keys = tuple(rng.sample(keys, rng.randint(3, 5)))
    for number, key in enumerate(sorted(keys) if domain.layout == "years" else keys):
        drawn = draw_values(columns, rng)
        is_first = number == 0  # and whole, so that there always is something to say
        if domain.layout != "days" and not is_first and happens(rng, 0.1):
            cells.append((Cell(key), Cell("unknown", column_span=len(columns))))
            continue
        if not is_first and happens(rng, 0.2):
            drawn[rng.randrange(len(drawn))] = ""
        is_double = domain.layout == "years" and happens(rng, 0.2)
        first = Cell(key, is_header=domain.layout == "days", row_span=2 if is_double else 1)
        places = [(len(cells), index) for index in range(len(columns) + 1)]
        rows.append(Row(places[0], key, facts_of(places[1:], columns, drawn)))
        cells.append((first, *map(Cell, drawn)))
        if is_double:  # the other row of that year is never highlighted
            cells.append(tuple(map(Cell, draw_values(columns, rng))))
    return World(domain, title, tuple(cells), tuple(rows))


def draw_card(domain: Domain, title: str, columns: Columns, rng: random.Random) -> World:
    """Return a card, which has a row for each column."""
    drawn = draw_values(columns, rng)
    headers = [Cell(column.header, is_header=True) for column in columns]
    places = [(row, 1) for row in range(len(columns))]
    row = Row(None, "", facts_of(places, columns, drawn))
    return World(domain, title, tuple(zip(headers, map(Cell, drawn), strict=True)), (row,))


def draw_values(columns: Columns, rng: random.Random) -> list[str]:
    """Return a value for each column."""
    return [rng.choice(column.values) for column in columns]


def facts_of(places: Sequence[Place], columns: Columns, drawn: Sequence[str]) -> list[Fact]:
    """Return the facts of the cells at some places."""
    return [
        Fact(place, tuple(phrase.format(value) for phrase in column.phrases))
        for place, column, value in zip(places, columns, drawn, strict=True)
        if value
    ]


def head(domain: Domain, columns: Columns) -> Iterator[tuple[Cell, ...]]:
    """Yield the header: if some columns have a group, first a row of groups."""
    groups = [column.group for column in columns]
    if any(groups):
        spans = {group: groups.count(group) if group else 1 for group in groups}
        headers = [group for i, group in enumerate(groups) if not group or group not in groups[:i]]
        yield tuple(
            Cell(group, is_header=True, column_span=spans.get(group, 1)) for group in ("", *headers)
        )
    yield tuple(Cell(name, is_header=True) for name in (domain.first, *(c.header for c in columns)))


# --- Sentences ------------------------------------------------------------------------------------


def references(world: World, rows: Sequence[Row], count: int, rng: random.Random) -> list[str]:
    """Return so many sentences, or as many as there are, that say the same in other words."""
    wordings = {sentence(world, rows, rng): None}
    for _ in range(TRIES):
        if len(wordings) == count:
            break
        shuffled = [row._replace(facts=rng.sample(row.facts, len(row.facts))) for row in rows]
        wordings[sentence(world, shuffled, rng)] = None
    return list(wordings)


def sentence(world: World, rows: Sequence[Row], rng: random.Random) -> str:
    """Return a sentence with all facts of the rows."""
    domain, is_list = world.domain, world.domain.layout == "list"
    clauses = []
    for row in rows:
        *firsts, last = [rng.choice(fact.phrases) for fact in row.facts]
        subject = row.key if is_list else domain.subject.format(world.title)
        clauses.append(f"{subject} {' and '.join(filter(None, [', '.join(firsts), last]))}")
    text = ", while ".join(clauses)
    key = world.title if is_list else rows[0].key
    if domain.when and key:
        when = domain.when.format(key)
        is_before = len(rows) > 1 or happens(rng, 0.5)
        text = f"{when}, {text}" if is_before else f"{text} {when}"
    return f"{text[0].upper()}{text[1:]}."


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
