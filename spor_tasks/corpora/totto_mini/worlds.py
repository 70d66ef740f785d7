"""The embedded tables: made up from a seed, in ToTTo's form, with sentences about some cells.

The two halves of the test set come in pairs: tables of one domain, with as many highlighted cells
and references. One of a pair has a header that a training table has too; the headers of the other
one are all in the training set, but never together.
"""

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import product
from typing import Literal, NamedTuple, TypeAlias

from spor_tasks.core.sample import Sample, SampleMaker
from spor_tasks.corpora.tables import header_values
from spor_tasks.corpora.totto.linearize import units_of
from spor_tasks.corpora.totto.table import Cell, CellTable, as_json
from spor_tasks.corpora.totto_mini.domains import DOMAINS, Column, Domain

NAME = "totto_mini"

Part: TypeAlias = Literal["train", "test"]

TABLES: dict[Part, int] = {"train": 144, "test": 60}
"""The number of tables of each part; the two halves of the test set take turns."""

EXAMPLES = 3
"""The number of samples of a table."""

_TRIES = 30  # to word a sentence in another way

_Place: TypeAlias = tuple[int, int]
_Row: TypeAlias = tuple[Cell, ...]
_Columns: TypeAlias = tuple[Column, ...]


class _Fact(NamedTuple):
    """A cell, and how its value is said."""

    place: _Place
    said: tuple[str, ...]


class _Told(NamedTuple):
    """What can be said of a row: the cell and the value of its first column, and its facts."""

    place: _Place | None
    key: str
    facts: tuple[_Fact, ...]


@dataclass(frozen=True, slots=True)
class _World:
    """A table, and what its page is about."""

    domain: Domain
    title: str
    rows: tuple[_Row, ...]
    told: tuple[_Told, ...]


class _Plan(NamedTuple):
    """What a sample is about: so many facts of one row, or of the first of two.

    ``has_key`` says whether the first column is highlighted, where it need not be.
    """

    facts: int
    is_pair: bool
    has_key: bool
    references: int


def samples(part: Part, seed: int = 0, tables: int | None = None) -> tuple[Sample, ...]:
    """Return the samples of a part, in the order of the tables.

    They are like those of :func:`spor_tasks.corpora.totto.reader.read`. Other seeds than 0 have
    other tables of the same words and headers, as many as ``tables`` says.
    """
    return _samples(part, seed, TABLES[part] if tables is None else tables, apart=False)


def said_apart(seed: int, tables: int) -> tuple[Sample, ...]:
    """Return training samples of another seed with a sentence for each cell, one after another."""
    return _samples("train", seed, tables, apart=True)


@lru_cache(maxsize=2 * len(TABLES))
def _samples(part: Part, seed: int, tables: int, *, apart: bool) -> tuple[Sample, ...]:
    return tuple(_yield_samples(part, seed, tables, apart=apart))


def _yield_samples(part: Part, seed: int, tables: int, *, apart: bool) -> Iterator[Sample]:
    make = SampleMaker(NAME)
    is_test = part == "test"
    trained = {header_values(sample) for sample in samples("train", seed)} if is_test else None
    for number in range(tables):
        # The two tables of a pair follow the same plans.
        group, is_new = divmod(number, 2) if is_test else (number, 0)
        domain = DOMAINS[group % len(DOMAINS)]
        drawn = random.Random(f"{NAME} {part} {seed} plan {group}")
        plans = [_plan(domain, drawn, is_test=is_test) for _ in range(EXAMPLES)]
        rng = random.Random(f"{NAME} {part} {seed} {number}")
        headers = _new_columns(domain) if is_new else tuple(product(*domain.pairs))
        columns, title = rng.choice(headers), rng.choice(domain.titles)
        if not is_test:  # each header in turn, and each thing of a card: none is rare in training
            whole, turn = divmod(group // len(DOMAINS), len(headers))
            columns = headers[turn]
            if domain.layout == "card":
                title = domain.titles[(turn + whole) % len(domain.titles)]
        world = _world(domain, title, _in_order(columns, rng), rng)
        page = f"https://{NAME}.invalid/{part}/{seed}/{number}"
        for place, plan in enumerate(plans, start=seed * 10**6 + number * EXAMPLES + 1):
            name = f"-{place}" if is_test else str(place)
            parts = _drawn(world, plan, rng)
            texts = _references(world, parts, plan.references, rng)
            if apart:
                each = [[(told, [fact])] for told, facts in parts for fact in facts]
                texts = (" ".join(_sentence(world, part, rng) for part in each),)
            sample = _sample(make, world, parts, texts, rng, name=name, source=page)
            if trained is not None:
                is_known = header_values(sample) in trained
                sample = replace(sample, context={**sample.context, "overlap": is_known})
            yield sample


def _plan(domain: Domain, rng: random.Random, *, is_test: bool) -> _Plan:
    is_pair = domain.layout == "list" and _happens(rng, 0.25)
    has_key = domain.layout in ("list", "days") or _happens(rng, 0.85)
    facts = rng.choice((1, 2) if is_pair else (1, 2, 2, 3, 3))
    return _Plan(facts, is_pair, has_key, rng.choice((2, 3)) if is_test else 1)


# --- Tables ---------------------------------------------------------------------------------------


@cache
def _new_columns(domain: Domain) -> tuple[_Columns, ...]:
    """Return the columns of tables whose set of headers no training table has."""
    trained = set(map(_header, product(*domain.pairs)))
    others = (
        (*pair, column)
        for pair in domain.pairs
        for rest in domain.pairs
        for column in rest
        if rest != pair
    )
    return tuple(columns for columns in others if _header(columns) not in trained)


def _header(columns: Iterable[Column]) -> frozenset[str]:
    return frozenset(name for column in columns for name in (column.header, column.group))


def _in_order(columns: _Columns, rng: random.Random) -> _Columns:
    """Return the columns in a random order, but those of a group beside each other."""
    shuffled = rng.sample(columns, len(columns))
    groups = [column.group or column.header for column in shuffled]
    return tuple(sorted(shuffled, key=lambda each: groups.index(each.group or each.header)))


def _world(domain: Domain, title: str, columns: _Columns, rng: random.Random) -> _World:
    if domain.layout == "card":
        return _card(domain, title, columns, rng)
    rows, told = list(_head(domain, columns)), list[_Told]()
    keys = domain.keys
    if domain.layout != "days":
        keys = tuple(rng.sample(keys, rng.randint(3, 5)))
    for number, key in enumerate(sorted(keys) if domain.layout == "years" else keys):
        values = _values(columns, rng)
        is_first = number == 0  # and whole, so that there always is something to tell
        if domain.layout != "days" and not is_first and _happens(rng, 0.1):
            rows.append((Cell(key), Cell("unknown", column_span=len(columns))))
            continue
        if not is_first and _happens(rng, 0.2):
            values[rng.randrange(len(values))] = ""
        is_double = domain.layout == "years" and _happens(rng, 0.2)
        first = Cell(key, is_header=domain.layout == "days", row_span=2 if is_double else 1)
        told.append(_Told((len(rows), 0), key, _facts(len(rows), columns, values)))
        rows.append((first, *map(Cell, values)))
        if is_double:  # of the other row of that year nothing is told
            rows.append(tuple(map(Cell, _values(columns, rng))))
    return _World(domain, title, tuple(rows), tuple(told))


def _values(columns: _Columns, rng: random.Random) -> list[str]:
    return [rng.choice(column.values) for column in columns]


def _facts(row: int, columns: _Columns, values: Sequence[str]) -> tuple[_Fact, ...]:
    return tuple(
        _Fact((row, index), tuple(say.format(value) for say in column.said))
        for index, (column, value) in enumerate(zip(columns, values, strict=True), start=1)
        if value
    )


def _head(domain: Domain, columns: _Columns) -> Iterator[_Row]:
    """Yield the header: if some columns have a group, first a row of groups."""
    groups = [column.group for column in columns]
    if any(groups):
        spans = {group: groups.count(group) if group else 1 for group in groups}
        shown = [group for i, group in enumerate(groups) if not group or group not in groups[:i]]
        yield tuple(
            Cell(group, is_header=True, column_span=spans.get(group, 1)) for group in ("", *shown)
        )
    names = (domain.first, *(column.header for column in columns))
    yield tuple(Cell(name, is_header=True) for name in names)


def _card(domain: Domain, title: str, columns: _Columns, rng: random.Random) -> _World:
    values = _values(columns, rng)
    rows = tuple(
        (Cell(column.header, is_header=True), Cell(value))
        for column, value in zip(columns, values, strict=True)
    )
    facts = [
        fact._replace(place=(number, 1)) for number, fact in enumerate(_facts(0, columns, values))
    ]
    return _World(domain, title, rows, (_Told(None, "", tuple(facts)),))


# --- Sentences ------------------------------------------------------------------------------------

_Parts: TypeAlias = Sequence[tuple[_Told, Sequence[_Fact]]]
"""Rows that a sample is about, and the facts of each in the order of its first reference."""


def _sample(
    make: SampleMaker,
    world: _World,
    parts: _Parts,
    texts: Iterable[str],
    rng: random.Random,
    *,
    name: str,
    source: str,
) -> Sample:
    table = CellTable(world.rows, tuple(_highlighted(parts, rng)))
    return make(
        units_of(table),
        texts,
        name=name,
        title=world.title,
        section_title=world.domain.section,
        section_text=world.domain.about or None,
        source=source,
        table=as_json(table),
    )


def _drawn(world: _World, plan: _Plan, rng: random.Random) -> _Parts:
    first = rng.choice([told for told in world.told if len(told.facts) >= plan.facts])
    facts = rng.sample(first.facts, plan.facts)
    if not plan.has_key:
        first = first._replace(place=None, key="")
    others = [
        (other, [fact])
        for other in world.told
        for fact in other.facts
        if other.key != first.key and fact.place[1] == facts[0].place[1]
    ]
    return [(first, facts), *([rng.choice(others)] if plan.is_pair and others else [])]


def _highlighted(parts: _Parts, rng: random.Random) -> Iterator[_Place]:
    """Yield the cells as they are annotated: the first column mostly comes first."""
    for told, facts in parts:
        places = [fact.place for fact in facts]
        if told.place:
            at = 0 if _happens(rng, 0.8) else rng.randrange(len(places) + 1)
            places.insert(at, told.place)
        yield from places


def _references(world: _World, parts: _Parts, count: int, rng: random.Random) -> tuple[str, ...]:
    """Return so many sentences, or as many as there are, that say the same in other words."""
    found = {_sentence(world, parts, rng): None}
    for _ in range(_TRIES):
        if len(found) == count:
            break
        found[
            _sentence(world, [(told, rng.sample(facts, len(facts))) for told, facts in parts], rng)
        ] = None
    return tuple(found)


def _sentence(world: _World, parts: _Parts, rng: random.Random) -> str:
    domain, is_list = world.domain, world.domain.layout == "list"
    clauses = []
    for told, facts in parts:
        *firsts, last = [rng.choice(fact.said) for fact in facts]
        subject = told.key if is_list else domain.called.format(world.title)
        clauses.append(f"{subject} {' and '.join(filter(None, [', '.join(firsts), last]))}")
    text = ", while ".join(clauses)
    key = world.title if is_list else parts[0][0].key
    if not (domain.when and key):
        return f"{text[0].upper()}{text[1:]}."
    when = domain.when.format(key)
    if len(parts) > 1 or _happens(rng, 0.5):
        return f"{when[0].upper()}{when[1:]}, {text}."
    return f"{text[0].upper()}{text[1:]} {when}."


def _happens(rng: random.Random, share: float) -> bool:
    """Return True in that share of all draws, from 0 to 1."""
    return rng.random() < share
