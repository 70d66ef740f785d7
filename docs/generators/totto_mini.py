"""Write the embedded corpus `totto_mini`, and the texts that its tiny base reads.

    python docs/generators/totto_mini.py spor_tasks/corpora/embedded training/pretraining

Tables are made up from a seed, in ToTTo's form. The columns of a domain come in three pairs, and a
training table has one column of each pair. The two halves of the test set come in pairs of tables
of one domain, with as many highlighted cells and references: one has a header that a training table
has too; the headers of the other one are in the training set, but never together.

The base reads tables of two other seeds: of one a sentence for each cell, of the other one sentence
for all. It reads no two cells of one table that a test sample has together.
"""

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
from spor_tasks.core.sample import DataUnit, Sample, SampleMaker
from spor_tasks.corpora.tables import header_values
from spor_tasks.corpora.totto.linearize import in_variant, units_of
from spor_tasks.corpora.totto.table import Cell, CellTable, as_json
from spor_tasks.prompts.styles import prompt

NAME = "totto_mini"
PATTERN = r"</?\w+>|\w+|[^\w\s]"
"""The tokens of the base."""

TABLES = {"train": 144, "test": 60}
LESSONS = 1000
"""The number of tables of each of the two seeds that the base reads."""

VOCABULARY = 600
"""The number of tables that have all words."""

EXAMPLES = 3
"""The number of samples of a table."""

TRIES = 30
"""The number of tries to word a sentence in another way."""

# --- What tables are about ------------------------------------------------------------------------


class Column(NamedTuple):
    """A header, its values, and ways to say one; ``group`` is a header that spans its columns."""

    header: str
    group: str
    values: tuple[str, ...]
    phrases: tuple[str, ...]


class Domain(NamedTuple):
    """Tables of one kind.

    A ``list`` has a row for each of several things, and its page has another title. The title of
    the others is their subject: ``years`` have a row for each year, ``days`` begin a row with a
    header, and a ``card`` has the header before each value. ``first`` is the header of the first
    column, and ``keys`` are its values. A sentence writes the subject as in ``subject``, and as in
    ``when`` the first column's value, or the title of a list.
    """

    layout: str
    titles: tuple[str, ...]
    section: str
    note: str
    first: str
    keys: tuple[str, ...]
    pairs: tuple[tuple[Column, ...], ...]
    subject: str = "{}"
    when: str = ""


def numbers(*between: int) -> tuple[str, ...]:
    """Return the numbers of a range."""
    return tuple(map(str, range(*between)))


def names(*parts: Iterable[str]) -> tuple[str, ...]:
    """Return every name that has one of each part."""
    return tuple(map(" ".join, product(*parts)))


TOWNS = ("Cobrith", "Dornwick", "Fenlow", "Lundey", "Maskeby", "Ombley", "Quellham", "Vassen")
PEOPLE = names(
    ("Jonda", "Kesper", "Mirel", "Orsa", "Perrin", "Tavin", "Ulva", "Wenzo"),
    ("Askeby", "Brask", "Ollery", "Quill", "Sandrik", "Thornby", "Velm", "Welkin"),
)
COLOURS = ("amber", "cobalt", "ivory", "scarlet", "violet")
YEARS = numbers(1960, 1990)
VALUES = {
    "towns": TOWNS,
    "people": PEOPLE,
    "colours": COLOURS,
    "years": YEARS,
    "few": numbers(2, 10),
    "some": numbers(10, 60),
    "any": numbers(2, 60),
    "films": names(("Copper", "Paper", "Silent", "Winter"), ("Harbour", "Lantern", "Orchard")),
    "roles": ("captain", "gardener", "judge", "nurse", "painter", "thief"),
}


def pairs_of(domain: str) -> tuple[tuple[Column, ...], ...]:
    """Return the pairs of columns of a domain, from `totto_mini.tsv`."""
    _, *rows = Path(__file__).with_suffix(".tsv").read_text("utf-8").splitlines()
    columns = [
        Column(header, group, VALUES[values], tuple(phrases))
        for name, header, group, values, *phrases in (row.split("\t") for row in rows)
        if name == domain
    ]
    return tuple(zip(columns[::2], columns[1::2], strict=True))


STATIONS = Domain(
    "list",
    names(("Northern", "Southern", "Eastern", "Western", "Inner", "Outer"), TOWNS, ("railway",)),
    "Stations",
    "The stations are in the order of the timetable.",
    "Station",
    names(TOWNS, ("Road", "Quay", "Park", "Gate")),
    pairs_of("stations"),
)
ELECTIONS = Domain(
    "list",
    names(YEARS, TOWNS, ("council election",)),
    "Candidates",
    "Only candidates with a ballot are listed.",
    "Candidate",
    PEOPLE,
    pairs_of("elections"),
    when="in the {}",
)
SEASONS = Domain(
    "years", PEOPLE, "Career statistics", "", "Year", YEARS, pairs_of("seasons"), when="in {}"
)
FILMS = SEASONS._replace(
    section="Filmography", note="Short films are not listed.", pairs=pairs_of("films")
)
FERRIES = Domain(
    "days",
    names(TOWNS, COLOURS, ("ferry",)),
    "Timetable",
    "",
    "Day",
    ("Weekdays", "Saturdays", "Sundays"),
    pairs_of("ferries"),
    subject="the {}",
    when="on {}",
)
ELEMENTS = Domain(
    "card",
    tuple(map("".join, product(("Brin", "Zyl"), ("adium", "esium", "icium", "onium")))),
    "Properties",
    "All values are those of the pure element.",
    "",
    (),
    pairs_of("elements"),
)
DOMAINS = (STATIONS, ELECTIONS, SEASONS, FILMS, FERRIES, ELEMENTS)

# --- Files ----------------------------------------------------------------------------------------


def main(corpus: Path, pretraining: Path) -> None:
    """Write both files."""
    parts = {part: list(samples(part, 0, tables)) for part, tables in TABLES.items()}
    rows = ({"split": part, **to_row(one)} for part, listed in parts.items() for one in listed)
    write(corpus / f"{NAME}.jsonl.gz", rows)
    texts = chain.from_iterable(
        [prompt(in_variant(one, "fulltable_metadata"), "causal"), *one.references]
        for one in samples("train", 1, VOCABULARY)
    )
    words = sorted({word for text in texts for word in re.findall(PATTERN, text)})
    header = {"pattern": PATTERN, "words": words}
    write(pretraining / f"{NAME}.jsonl.gz", chain([header], lessons(parts["test"])))


def write(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write rows as gzipped JSON Lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(b"".join(map(encode_row, rows)), 9, mtime=0))


def lessons(tested: Iterable[Sample]) -> Iterator[dict[str, Any]]:
    """Yield a prompt and its text for each sample without two cells of a tested one."""

    def pairs(sample: Sample) -> Iterator[tuple[str | None, frozenset[DataUnit]]]:
        for pair in combinations((*sample.units, *sample.units[:1]), 2):
            yield sample.about("title"), frozenset(pair)

    apart = {pair for sample in tested for pair in pairs(sample)}
    for sample in chain(samples("train", 1, LESSONS, each_cell=True), samples("train", 2, LESSONS)):
        if apart.isdisjoint(pairs(sample)):
            yield {"prompt": prompt(sample, "causal"), "texts": list(sample.references)}


# --- Samples --------------------------------------------------------------------------------------

Place: TypeAlias = tuple[int, int]
Columns: TypeAlias = tuple[Column, ...]


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
    """The shape of a sample: so many facts of one row, or of the first of two.

    ``has_key`` says whether the first column is highlighted, where it need not be.
    """

    facts: int
    is_pair: bool
    has_key: bool
    references: int


def samples(part: str, seed: int, tables: int, *, each_cell: bool = False) -> Iterator[Sample]:
    """Yield the samples of a part; with ``each_cell`` a text has a sentence for each cell."""
    make = SampleMaker(NAME)
    is_test = part == "test"
    trained = (
        {header_values(one) for one in samples("train", seed, TABLES["train"])}
        if is_test
        else set()
    )
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
        page = f"https://{NAME}.invalid/{part}/{seed}/{number}"
        for place, plan in enumerate(plans, start=seed * 10**6 + number * EXAMPLES + 1):
            name = f"-{place}" if is_test else str(place)
            rows = draw_rows(world, plan, rng)
            texts = references(world, rows, plan.references, rng)
            if each_cell:
                cells = [row._replace(facts=[fact]) for row in rows for fact in row.facts]
                texts = (" ".join(sentence(world, [cell], rng) for cell in cells),)
            table = CellTable(world.cells, tuple(highlighted(rows, rng)))
            sample = make(
                units_of(table),
                texts,
                name=name,
                title=title,
                section_title=domain.section,
                section_text=domain.note or None,
                source=page,
                table=as_json(table),
            )
            if is_test:
                is_known = header_values(sample) in trained
                sample = replace(sample, context={**sample.context, "overlap": is_known})
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
    others = [
        row._replace(facts=[fact])
        for row in world.rows
        for fact in row.facts
        if row.key != first.key and fact.place[1] == first.facts[0].place[1]
    ]
    return [first, *([rng.choice(others)] if plan.is_pair and others else [])]


def highlighted(rows: Iterable[Row], rng: random.Random) -> Iterator[Place]:
    """Yield the cells as they are annotated: the first column mostly comes first."""
    for row in rows:
        places = [fact.place for fact in row.facts]
        if row.place:
            at = 0 if happens(rng, 0.8) else rng.randrange(len(places) + 1)
            places.insert(at, row.place)
        yield from places


def happens(rng: random.Random, share: float) -> bool:
    """Return True in that share of all draws, from 0 to 1."""
    return rng.random() < share


# --- Tables ---------------------------------------------------------------------------------------


@cache
def new_columns(domain: Domain) -> tuple[Columns, ...]:
    """Return the columns of tables whose set of headers no training table has."""
    trained = set(map(header, product(*domain.pairs)))
    others = (
        (*pair, column)
        for pair in domain.pairs
        for rest in domain.pairs
        for column in rest
        if rest != pair
    )
    return tuple(columns for columns in others if header(columns) not in trained)


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
        values = draw_values(columns, rng)
        is_first = number == 0  # and whole, so that there always is something to say
        if domain.layout != "days" and not is_first and happens(rng, 0.1):
            cells.append((Cell(key), Cell("unknown", column_span=len(columns))))
            continue
        if not is_first and happens(rng, 0.2):
            values[rng.randrange(len(values))] = ""
        is_double = domain.layout == "years" and happens(rng, 0.2)
        first = Cell(key, is_header=domain.layout == "days", row_span=2 if is_double else 1)
        rows.append(Row((len(cells), 0), key, facts_of(len(cells), columns, values)))
        cells.append((first, *map(Cell, values)))
        if is_double:  # the other row of that year is never highlighted
            cells.append(tuple(map(Cell, draw_values(columns, rng))))
    return World(domain, title, tuple(cells), tuple(rows))


def draw_values(columns: Columns, rng: random.Random) -> list[str]:
    """Return a value for each column."""
    return [rng.choice(column.values) for column in columns]


def facts_of(row: int, columns: Columns, values: Sequence[str]) -> list[Fact]:
    """Return the facts of a row."""
    return [
        Fact((row, index), tuple(phrase.format(value) for phrase in column.phrases))
        for index, (column, value) in enumerate(zip(columns, values, strict=True), start=1)
        if value
    ]


def head(domain: Domain, columns: Columns) -> Iterator[tuple[Cell, ...]]:
    """Yield the header: if some columns have a group, first a row of groups."""
    groups = [column.group for column in columns]
    if any(groups):
        spans = {group: groups.count(group) if group else 1 for group in groups}
        shown = [group for i, group in enumerate(groups) if not group or group not in groups[:i]]
        yield tuple(
            Cell(group, is_header=True, column_span=spans.get(group, 1)) for group in ("", *shown)
        )
    yield tuple(Cell(name, is_header=True) for name in (domain.first, *(c.header for c in columns)))


def draw_card(domain: Domain, title: str, columns: Columns, rng: random.Random) -> World:
    """Return a card, which has a row for each column."""
    values = draw_values(columns, rng)
    cells = tuple(
        (Cell(column.header, is_header=True), Cell(value))
        for column, value in zip(columns, values, strict=True)
    )
    facts = [
        fact._replace(place=(number, 1)) for number, fact in enumerate(facts_of(0, columns, values))
    ]
    return World(domain, title, cells, (Row(None, "", facts),))


# --- Sentences ------------------------------------------------------------------------------------


def references(
    world: World, rows: Sequence[Row], count: int, rng: random.Random
) -> tuple[str, ...]:
    """Return so many sentences, or as many as there are, that say the same in other words."""
    found = {sentence(world, rows, rng): None}
    for _ in range(TRIES):
        if len(found) == count:
            break
        shuffled = [row._replace(facts=rng.sample(row.facts, len(row.facts))) for row in rows]
        found[sentence(world, shuffled, rng)] = None
    return tuple(found)


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
    if not (domain.when and key):
        return f"{text[0].upper()}{text[1:]}."
    when = domain.when.format(key)
    if len(rows) > 1 or happens(rng, 0.5):
        return f"{when[0].upper()}{when[1:]}, {text}."
    return f"{text[0].upper()}{text[1:]} {when}."


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
