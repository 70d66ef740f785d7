"""Write the embedded corpus `logicnlg_mini`, and the texts that its tiny base reads.

    python docs/generators/logicnlg_mini.py spor_tasks/corpora/embedded training/pretraining

Tables are made up from a seed, in pairs of one title, header, names and places. A statement that
is true of one table of a pair is false of the other. It is the true side of a sample of the one and
the false side of a sample of the other. A model that reads only texts is right half the time. Both
sides name only what is in the table, so its words do not help either.

The base reads tables of another seed: their cells again and all their statements, or a single
statement with the prompt of training.
"""

import gzip
import hashlib
import random
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import chain, cycle, groupby, islice, product, takewhile
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from spor_tasks.core.codec import to_row
from spor_tasks.core.files import encode_row
from spor_tasks.core.sample import Column, Contrast, Sample, SampleMaker
from spor_tasks.core.table import Table
from spor_tasks.corpora.embedded.statements import COLUMNS, COUNTS, FORMS, LOGICS, SLOT, words_of
from spor_tasks.corpora.logicnlg.columns import typed
from spor_tasks.corpora.logicnlg.linearize import in_variant, table_of
from spor_tasks.metrics.programs.execute import verdict
from spor_tasks.prompts.styles import prompt

NAME = "logicnlg_mini"
PATTERN = r"</?\w+>|\w+|[^\w\s]"  # tokens of the base
TABLES = {"train": 100, "test": 30, "validation": 20}
SEEDED = {"train": "train", "test": "test", "validation": "val"}  # names in seeds and samples
STATEMENTS = 5  # about a table, each of another kind of logic
LESSONS, VOCABULARY = 3000, 300  # tables that the base reads, and that have all words

SEASONS = ("spring", "summer", "autumn", "winter")
EVENTS = ("fair", "festival", "market", "contest", "show", "games")
TITLES = list(map(" ".join, product(SEASONS, EVENTS)))
HEADERS = (
    ("rower", "singer", "baker", "farmer"),
    ("village", "town", "valley"),
    ("medals", "songs", "prizes", "goats", "coins"),
)
NAMES = ("Anselm", "Brida", "Corvin", "Dagny", "Edda", "Fenno", "Gisla", "Hodge", "Isolt", "Jory")
PLACES = ("Ashby", "Birkholm", "Coldwell", "Dunmere", "Eskdale", "Fernley")
LEVELS = (range(2, 16), range(15, 30), range(2, 30))
ROWS = (3, 4)
TRIES = 25  # of one wording, before two tables are given up

# A table of seed 0 is never one of another seed or part: its digest decides whose it is.
CLASSES = 8
CLASS_OF = {"train": 0, "val": 1, "test": 2}


# --- Files ----------------------------------------------------------------------------------------


def main(corpus: Path, pretraining: Path) -> None:
    """Write both files."""
    rows = (
        {"split": part, **to_row(sample if part == "test" else replace(sample, challenge=None))}
        for part, tables in TABLES.items()
        for sample in samples(part, 0, tables)
    )
    write(corpus / f"{NAME}.jsonl.gz", rows)
    read = islice(samples("train", 1, LESSONS), VOCABULARY * STATEMENTS)
    texts = " ".join(f"{prompt(sample, 'causal')} {sample.target}" for sample in read)
    header = {"pattern": PATTERN, "words": sorted({*re.findall(PATTERN, texts)})}
    write(pretraining / f"{NAME}.jsonl.gz", chain([header], lessons()))


def write(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write rows as gzipped JSON Lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(b"".join(map(encode_row, rows)), 9, mtime=0))


def lessons() -> Iterator[dict[str, Any]]:
    """Yield two rows for each table: all its statements, and one of them."""
    tables = groupby(samples("train", 1, LESSONS), key=lambda sample: sample.about("name"))
    for number, (_, group) in enumerate(tables):
        listed = list(group)
        sample = listed[number % len(listed)]
        cells = " . ".join(map(" ".join, table_of(sample).rows))
        whole = prompt(in_variant(sample, "full_table"), "causal")
        yield {"prompt": whole, "texts": [cells, *(sample.target for sample in listed)]}
        yield {"prompt": prompt(sample, "causal"), "texts": [sample.target]}


# --- Statements -----------------------------------------------------------------------------------


class Wording:
    """A wording with its programs by operator, or by an empty one.

    `slots` are those of its words, without those for the names of columns.
    """

    def __init__(self, wording: str) -> None:
        forms = [form for form in FORMS if form.wording == wording]
        self.tokens = tuple(wording.split())
        self.logic = forms[0].logic
        self.programs = {form.operator: form.program for form in forms}
        self.columns = [i for i, column in enumerate(COLUMNS) if f"<{column}>" in forms[0].program]
        slots = [slot[1] for token in self.tokens if (slot := SLOT.fullmatch(token))]
        self.slots = [slot for slot in slots if slot not in (*COLUMNS, "persons")]


WORDINGS = {form.wording: Wording(form.wording) for form in FORMS}
LIKE = {"name": ("name", "place"), "place": ("place", "name")}
ENTITIES = ("name", "other", "place", "rival", "number", "sum", "count")


class Statement(NamedTuple):
    """A wording and the word in each slot."""

    wording: Wording
    filling: Mapping[str, str]

    def text(self, *, template: bool = False) -> str:
        """Return the text, or the text with `[ENT]` for each name, place, number and count."""
        filling = {**self.filling, **(dict.fromkeys(ENTITIES, "[ENT]") if template else {})}
        return " ".join(filling.get(token[1:-1], token) for token in self.wording.tokens)

    @property
    def program(self) -> str:
        """The program."""
        filling = {**self.filling, "count": str(COUNTS.get(self.filling.get("count", ""), ""))}
        program = self.wording.programs[self.filling.get("op", "")]
        return SLOT.sub(lambda slot: filling[slot[1]], program)


Words = Mapping[str, list[str]]
"""The words that each slot takes."""


def words_for(slot: str, wording: Wording, words: Words, filling: Mapping[str, str]) -> list[str]:
    """Return the words that a slot may take, without those that another slot has."""
    listed = list(wording.programs) if slot == "op" else words[slot]
    return [word for word in listed if word not in filling.values()]


def variations(statement: Statement, words: Words) -> Iterator[tuple[str, Statement]]:
    """Yield the statements that differ in one name, place, number or operator, and its slot."""
    wording, filling = statement
    for changed in wording.slots:
        unchanged = {slot: word for slot, word in filling.items() if slot != changed}
        for slot in LIKE.get(changed, (changed,)):
            text = " ".join(wording.tokens).replace(f"<{changed}>", f"<{slot}>")
            if varied := WORDINGS.get(text):
                for word in words_for(slot, varied, words, filling):
                    yield slot, Statement(varied, {**unchanged, slot: word})


@lru_cache(maxsize=100_000)
def holds(program: str, table: Table) -> bool:
    """Return whether a program is true of a table."""
    return verdict(program, typed(table)) is True


def differs(statement: Statement, table: Table, twin: Table) -> bool:
    """Return whether a statement is true of one table and false of the other."""
    program = statement.program
    return holds(program, table) and not holds(program, twin)


# --- Tables ---------------------------------------------------------------------------------------


Sides: TypeAlias = tuple[Statement, Statement]
"""A true statement about a table and its false counterpart."""


def samples(part: str, seed: int, tables: int) -> Iterator[Sample]:
    """Yield the true statements of a part with their false counterparts."""
    make = SampleMaker(NAME)
    seeded = SEEDED[part]
    for number, (title, table, sides) in enumerate(islice(worlds(seeded, seed), tables)):
        texts = [true.text() for true, _ in sides]
        for i, (true, false) in enumerate(sides):
            sample = make(
                units(true, table),
                (texts[i], *texts[:i], *texts[i + 1 :]),
                name=f"{seeded}-{seed}-{number}",
                title=title,
                template=true.text(template=True),
                target=texts[i],
                table=table,
                program=true.program,
                logic=true.wording.logic,
                other_program=false.program if part == "test" else None,
            )
            contrast = Contrast(units(false, table), false.text(), false.text(template=True))
            yield replace(sample, challenge=contrast)


def units(statement: Statement, table: Table) -> tuple[Column, ...]:
    """Return the columns that a statement is about."""
    return tuple(Column(table.header[i], str(i)) for i in statement.wording.columns)


def worlds(part: str, seed: int) -> Iterator[tuple[str, Table, list[Sides]]]:
    """Yield titles, tables and statements without end, the tables of a pair one after the other."""
    rng = random.Random(f"{NAME} {part} {seed}")
    kinds = cycle(LOGICS)
    while True:
        title = rng.choice(TITLES)
        header = tuple(map(rng.choice, HEADERS))
        # The last kinds fit fewest tables, so they are tried first.
        logics = sorted(islice(kinds, STATEMENTS), key=LOGICS.index, reverse=True)
        table, twin, sides = next(
            (table, twin, sides)
            for table, twin in scenes(part, seed, header, rng)
            if (sides := draw_statements(table, twin, logics, rng))
        )
        sides = rng.sample(sides, len(sides))
        yield title, table, sides
        yield title, twin, [(false, true) for true, false in sides]


def scenes(
    part: str, seed: int, header: tuple[str, ...], rng: random.Random
) -> Iterator[tuple[Table, Table]]:
    """Yield pairs of tables with the same names and places, without end."""

    def scene() -> Table:
        while True:
            homes = [*places, *rng.choices(places, k=len(names) - len(places))]
            numbers = map(str, rng.sample(rng.choice(LEVELS), len(names)))
            order = rng.sample(names, len(names))
            rows = zip(order, rng.sample(homes, len(homes)), numbers, strict=True)
            table = Table(header, tuple(rows))
            if is_of(table, part, seed):
                return table

    while True:
        names = rng.sample(NAMES, rng.randint(*ROWS))
        places = rng.sample(PLACES, rng.randint(2, (len(names) + 1) // 2))
        yield scene(), scene()


def is_of(table: Table, part: str, seed: int) -> bool:
    """Return whether a table, in whatever order of its rows, may be one of a part of a seed."""
    content = repr((table.header, sorted(table.rows))).encode()
    digest = hashlib.blake2b(content, digest_size=4).digest()[0] % CLASSES
    return digest not in CLASS_OF.values() if seed else digest == CLASS_OF[part]


def draw_statements(
    table: Table, twin: Table, logics: list[str], rng: random.Random
) -> list[Sides] | None:
    """Return a statement of each kind of logic, true of one table and false of the other.

    The false counterpart of each is true of the other table. None if there are not all of them.
    """
    numbers = {row[2] for each in (table, twin) for row in each.rows}
    words = {slot: list(cells.values()) for slot, cells in words_of(table).items()}
    for slot in ("number", "sum"):  # the words of the table must not separate true from false
        words[slot] = [number for number in words[slot] if number not in numbers]
    if not words["number"]:
        return None
    words["count"] = list(COUNTS)[: len(table.rows)]
    drawn = (draw_sides(table, twin, logic, words, rng) for logic in logics)
    sides = [pair for pair in takewhile(bool, drawn) if pair]
    return sides if len(sides) == len(logics) else None


def draw_sides(
    table: Table, twin: Table, logic: str, words: Words, rng: random.Random
) -> Sides | None:
    """Return a statement of a kind of logic and its counterpart, or None after some tries."""
    wordings = [wording for wording in WORDINGS.values() if wording.logic == logic]
    for wording in rng.sample(wordings, len(wordings)):
        for _ in range(TRIES):
            true = draw_statement(wording, words, rng)
            if not differs(true, table, twin):
                continue
            groups = defaultdict[str, list[Statement]](list)
            for slot, false in variations(true, words):
                if differs(false, twin, table):
                    same = false.wording.columns == wording.columns
                    groups[slot if same else "column"].append(false)
            if groups:
                # Rare changes are preferred, or there would be hardly any.
                slot = "column" if "column" in groups else rng.choice(list(groups))
                return true, rng.choice(groups[slot])
    return None


def draw_statement(wording: Wording, words: Words, rng: random.Random) -> Statement:
    """Return a statement with words at random, none of them twice."""
    filling = {slot: words[slot][0] for slot in (*COLUMNS, "persons")}
    for slot in wording.slots:
        filling[slot] = rng.choice(words_for(slot, wording, words, filling))
    return Statement(wording, filling)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
