"""The embedded tables: made up from a seed, in pairs, with statements that are true or false.

Names, facts and wordings are invented. Two tables of a pair have the same title, header, names and
places, and what is true of one is false of the other: where a sentence is the true side of an
adversarial pair, it is the false side of the other table's. So whoever looks only at texts is right
as often as wrong. Both sides name only what is in the table, so its words do not help either.
"""

import hashlib
import random
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import cycle, islice
from typing import Literal, NamedTuple, TypeAlias

from spor_tasks.core.sample import (
    AttributeValue,
    Contrast,
    DataUnit,
    Json,
    Sample,
    SampleMaker,
)
from spor_tasks.core.table import Table
from spor_tasks.corpora.logicnlg_mini.grammar import (
    COUNTS,
    FORMS,
    LOGICS,
    Form,
    Lexicon,
    Row,
    Scene,
    Sentence,
    headers,
    lexicon,
    variations,
    words_for,
)

NAME = "logicnlg_mini"

Part: TypeAlias = Literal["train", "val", "test"]

TABLES: dict[Part, int] = {"train": 100, "val": 20, "test": 30}
"""The number of tables of each part."""

STATEMENTS = 5
"""The number of statements about a table, each of another kind of logic."""

_TITLES = [
    f"{season} {event}"
    for season in ("spring", "summer", "autumn", "winter")
    for event in ("fair", "festival", "market", "contest", "show", "games")
]
_PEOPLE = ("rower", "singer", "baker", "farmer")
_HOMES = ("village", "town", "valley")
_THINGS = ("medals", "songs", "prizes", "goats", "coins")
_NAMES = ("Anselm", "Brida", "Corvin", "Dagny", "Edda", "Fenno", "Gisla", "Hodge", "Isolt", "Jory")
_PLACES = ("Ashby", "Birkholm", "Coldwell", "Dunmere", "Eskdale", "Fernley")
_ROWS = (3, 4)
_LEVELS = (range(2, 16), range(15, 30), range(2, 30))
_COLUMN = "column"  # what a word is changed to that is in another column
_OPERATOR = re.compile(r"(\w+)\{")  # in a program
_TRIES = 25  # of one form, before two tables are given up

# A table of seed 0 is never one of another seed or part: its digest decides whose it is.
_CLASSES = 8
_CLASS_OF: dict[Part, int] = {"train": 0, "val": 1, "test": 2}


class _Told(NamedTuple):
    """A true statement about a table and its false counterpart."""

    true: Sentence
    false: Sentence


@dataclass(frozen=True, slots=True)
class _World:
    """A table, its title, and what is told of it."""

    title: str
    table: Table
    told: tuple[_Told, ...]


def samples(part: Part, seed: int = 0, tables: int | None = None) -> tuple[Sample, ...]:
    """Return the true statements of a part, in the order of the tables.

    They are like those of :func:`spor_tasks.corpora.logicnlg.reader.read_part`; the context also
    has ``program`` and ``logic``. Other seeds than 0 have other tables of the same words, as many
    as ``tables`` says; an odd number leaves the last one without the other of its pair.
    """
    return tuple(replace(sample, challenge=None) for sample, _ in _told(part, seed, tables))


def pairs(part: Part, seed: int = 0, tables: int | None = None) -> tuple[Sample, ...]:
    """Return the same samples with their false counterparts as challenges.

    The context also has ``other_program``, that of the false text.
    """
    return tuple(
        replace(sample, context={**sample.context, "other_program": program})
        for sample, program in _told(part, seed, tables)
    )


@lru_cache(maxsize=len(TABLES))
def _told(part: Part, seed: int, tables: int | None) -> tuple[tuple[Sample, str], ...]:
    """Return each statement with its false counterpart, and the program of this."""
    return tuple(_yield_told(part, seed, tables))


def _yield_told(part: Part, seed: int, tables: int | None) -> Iterator[tuple[Sample, str]]:
    make = SampleMaker(NAME)
    wanted = TABLES[part] if tables is None else tables
    for number, world in enumerate(islice(_worlds(part, seed), wanted)):
        table, texts = world.table, [told.true.text for told in world.told]
        shown: dict[str, Json] = {"header": list(table.header), "rows": list(map(list, table.rows))}
        for i, (true, false) in enumerate(world.told):
            sample = make(
                _units(true, table),
                (texts[i], *texts[:i], *texts[i + 1 :]),
                name=f"{part}-{seed}-{number}",
                title=world.title,
                template=true.template,
                target=texts[i],
                table=shown,
                program=true.program,
                logic=true.form.logic,
            )
            contrast = Contrast(_units(false, table), false.text, false.template)
            yield replace(sample, challenge=contrast), false.program


def _units(sentence: Sentence, table: Table) -> tuple[AttributeValue, ...]:
    return tuple(AttributeValue(table.header[i], str(i)) for i in sentence.form.columns)


def _worlds(part: Part, seed: int) -> Iterator[_World]:
    """Yield tables without end, those of a pair one after the other."""
    rng = random.Random(f"{NAME} {part} {seed}")
    kinds = cycle(LOGICS)
    while True:
        title = rng.choice(_TITLES)
        header = (rng.choice(_PEOPLE), rng.choice(_HOMES), rng.choice(_THINGS))
        # The last kinds fit fewest tables, so they are tried first.
        logics = sorted(islice(kinds, STATEMENTS), key=LOGICS.index, reverse=True)
        one, other, told = next(
            (one, other, told)
            for one, other in _scenes(part, seed, header, rng)
            if (told := _statements(one, other, _table(header, one), logics, rng))
        )
        told = tuple(rng.sample(told, len(told)))
        yield _World(title, _table(header, one), told)
        turned = tuple(_Told(false, true) for true, false in told)
        yield _World(title, _table(header, other), turned)


def _scenes(
    part: Part, seed: int, header: tuple[str, ...], rng: random.Random
) -> Iterator[tuple[Scene, Scene]]:
    """Yield pairs of tables with the same names and places, without end."""

    def scene() -> Scene:
        while True:
            homes = [*places, *rng.choices(places, k=len(names) - len(places))]
            numbers = rng.sample(rng.choice(_LEVELS), len(names))
            order = rng.sample(names, len(names))
            found = Scene(tuple(map(Row, order, rng.sample(homes, len(homes)), numbers)))
            if is_of(_table(header, found), part, seed):
                return found

    while True:
        names = rng.sample(_NAMES, rng.randint(*_ROWS))
        places = rng.sample(_PLACES, rng.randint(2, (len(names) + 1) // 2))
        yield scene(), scene()


def _table(header: tuple[str, ...], scene: Scene) -> Table:
    return Table(header, tuple((row.name, row.place, str(row.number)) for row in scene.rows))


def is_of(table: Table, part: Part, seed: int) -> bool:
    """Return whether a table, in whatever order of its rows, may be one of a part of a seed."""
    content = repr((table.header, sorted(table.rows))).encode()
    found = hashlib.blake2b(content, digest_size=4).digest()[0] % _CLASSES
    return found not in _CLASS_OF.values() if seed else found == _CLASS_OF[part]


def _statements(
    one: Scene, other: Scene, table: Table, logics: list[str], rng: random.Random
) -> tuple[_Told, ...] | None:
    """Return a statement of each kind of logic, true of one table and false of the other.

    The false counterpart of each is true of the other table. None if there are not all of them.
    """
    numbers = {str(row.number) for scene in (one, other) for row in scene.rows}
    known = dict(lexicon(table))
    for slot in ("number", "sum"):  # the words of the table must not tell which is true
        known[slot] = {number: number for number in known[slot] if number not in numbers}
    if not known["number"]:
        return None
    known["count"] = {count: count for count in list(COUNTS)[: len(one.rows)]}
    told = list[_Told]()
    for logic in logics:
        found = _statement(one, other, logic, known, rng)
        if found is None:
            return None
        told.append(found)
    return tuple(told)


def _statement(
    one: Scene, other: Scene, logic: str, known: Lexicon, rng: random.Random
) -> _Told | None:
    forms = [form for form in FORMS if form.logic == logic]
    for form in rng.sample(forms, len(forms)):
        for _ in range(_TRIES):
            true = _drawn(form, known, rng)
            if not _differs(true, one, other):
                continue
            groups = defaultdict[str, list[Sentence]](list)
            for slot, found in variations(true, known):
                if _differs(found, other, one):
                    groups[slot if found.form.columns == form.columns else _COLUMN].append(found)
            if groups:
                # Rare changes are preferred, or there would be hardly any.
                slot = _COLUMN if _COLUMN in groups else rng.choice(list(groups))
                return _Told(true, rng.choice(groups[slot]))
    return None


def _drawn(form: Form, known: Lexicon, rng: random.Random) -> Sentence:
    """Return a sentence of a form, with words at random, none of them twice."""
    filling = headers(known)
    for slot in form.slots:
        filling[slot] = rng.choice(words_for(slot, form, known, filling))
    return Sentence(form, filling)


def _differs(sentence: Sentence, one: Scene, other: Scene) -> bool:
    """Return whether a sentence is true of one table and false of the other."""
    holds = sentence.form.holds
    return holds(one, sentence.filling) and not holds(other, sentence.filling)


def operators(sample: Sample) -> tuple[DataUnit, ...]:
    """Return the operators of the program of a sample, each as often as it is applied."""
    return tuple(
        AttributeValue(name, "") for name in _OPERATOR.findall(sample.about("program") or "")
    )
