"""LogicNLG (Chen et al., ACL 2020): statements about tables of Wikipedia, and adversarial pairs.

The files are those of the published repository. The tables are in its archive, or in a copy of
TabFact (Chen et al., ICLR 2020), from which they were taken.
"""

import io
import json
import os
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path, PurePosixPath
from typing import Any, Literal, NamedTuple, TypeAlias

from spor_tasks.core.errors import CorpusError
from spor_tasks.core.sample import Column, Contrast, Fact, Sample, SampleMaker
from spor_tasks.core.table import Table, parse_table
from spor_tasks.corpora.sources import LOGICNLG

Part: TypeAlias = Literal["train", "val", "test"]

_ARCHIVE = "all_csv.zip"
_TABFACT = "TABFACT_DATA_DIR"  # a copy of TabFact, which the tables were taken from
_PAIRS = "data/{part}_lm_pos_neg.json"
_CHALLENGE = "challenge/blind_test_lm_pos_neg.json"
_CHALLENGE_INPUTS = "challenge/blind_test_lm_inputs.json"


class Statement(NamedTuple):
    """A sentence about a table, with the numbers of the columns that it is linked to.

    ``template`` is the sentence with `[ENT]` in place of what is linked.
    """

    text: str
    columns: tuple[int, ...]
    title: str
    template: str


class Pair(NamedTuple):
    """Two statements about one table that differ in little.

    The first is true and the second false, but in the challenge, where nobody says which is.
    """

    table: str
    statements: tuple[Statement, Statement]


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables by their ids, such as ``2-18424778-6.html.csv``; ``read`` returns one's text."""

    read: Callable[[str], str]

    def get(self, table: str) -> Table:
        """Return a table.

        Raises:
            CorpusError: it is missing or cannot be read.
        """
        return parse_table(self.read(table))


def tables(folder: Path | None = None) -> Tables:
    """Return the tables: of the archive, of a folder `all_csv` beside it, or of TabFact.

    Raises:
        CorpusError: there are none.
    """
    folder = folder or LOGICNLG.data_dir()
    if (folder / _ARCHIVE).is_file():
        return Tables(partial(_unpacked, folder))
    tabfact = os.environ.get(_TABFACT)
    copies = (folder, *([Path(tabfact)] if tabfact else []))
    for place in (copy / below for copy in copies for below in ("all_csv", "data/all_csv")):
        if place.is_dir():
            return Tables(partial(_loose, place))
    raise CorpusError(
        f"has no tables: neither {_ARCHIVE} nor all_csv",
        where=folder,
        remedy=f"{LOGICNLG.remedy} Or set {_TABFACT} to a copy of TabFact.",
    )


def _loose(folder: Path, table: str) -> str:
    try:
        return (folder / table).read_text("utf-8")
    except OSError as error:
        raise CorpusError(f"cannot be read: {error}", where=folder / table) from error


def _unpacked(folder: Path, table: str) -> str:
    names, archive = _archive(folder)
    return archive.read(names[table]).decode()


@cache
def _archive(folder: Path) -> tuple[Mapping[str, str], zipfile.ZipFile]:
    archive = zipfile.ZipFile(io.BytesIO(LOGICNLG.read_published(_ARCHIVE, folder)))
    return {PurePosixPath(name).name: name for name in archive.namelist()}, archive


def file_of(part: Part) -> str:
    """Return the path of the statements of a part."""
    return f"data/{part}_lm.json"


def read_part(part: Part, folder: Path | None = None) -> tuple[Sample, ...]:
    """Return the samples of a part: one for each statement, in the order of the file.

    The units are the linked columns: their names, and their numbers from 0. The references are the
    statement itself, then all others about its table, which BLEU compares with too. The context has
    ``name``, the id of the table, ``title``, ``template``, ``table``, and as ``target`` the text.

    Raises:
        CorpusError: a file is missing or is not the published one.
    """
    content = json.loads(LOGICNLG.read_published(file_of(part), folder))
    table_files, make = tables(folder), SampleMaker("logicnlg")
    return tuple(
        sample
        for name, rows in content.items()
        for sample in _of_table(name, table_files.get(name), list(map(_statement, rows)), make)
    )


def _of_table(
    name: str, table: Table, statements: Sequence[Statement], make: SampleMaker
) -> Iterator[Sample]:
    texts = [statement.text for statement in statements]
    for i, statement in enumerate(statements):
        references = (texts[i], *texts[:i], *texts[i + 1 :])
        yield make(_units(statement, table), references, **_context(name, statement, table))


def _units(statement: Statement, table: Table) -> tuple[Column, ...]:
    """Return the columns that a statement is linked to."""
    return tuple(Column(table.header[i], str(i)) for i in statement.columns)


def read_pairs(part: Literal["val", "test"], folder: Path | None = None) -> tuple[Pair, ...]:
    """Return the adversarial pairs of a part; each side has linked columns of its own.

    Raises:
        CorpusError: the file is missing or is not the published one.
    """
    return _pairs(_PAIRS.format(part=part), ("pos", "neg"), folder)


def read_challenge(folder: Path | None = None) -> tuple[Pair, ...]:
    """Return the pairs of the blind challenge.

    Raises:
        CorpusError: the file is missing or is not the published one.
    """
    return _pairs(_CHALLENGE, ("unknown1", "unknown2"), folder)


def adversarial(pairs: Iterable[Pair], folder: Path | None = None) -> tuple[Sample, ...]:
    """Return pairs as samples: of the first statement, with the second one as its contrast.

    Raises:
        CorpusError: there are no tables.
    """
    table_files, make = tables(folder), SampleMaker("logicnlg")
    return tuple(_paired(pair, table_files.get(pair.table), make) for pair in pairs)


def _paired(pair: Pair, table: Table, make: SampleMaker) -> Sample:
    first, second = pair.statements
    own, second_units = (_units(each, table) for each in pair.statements)
    sample = make(own, (first.text,), **_context(pair.table, first, table))
    return replace(sample, challenge=Contrast(second_units, second.text, second.template))


def read_challenge_inputs(folder: Path | None = None) -> tuple[Sample, ...]:
    """Return the samples of the blind challenge, which have no references.

    Raises:
        CorpusError: the file is missing or is not the published one.
    """
    content = json.loads(LOGICNLG.read_published(_CHALLENGE_INPUTS, folder))
    table_files, make = tables(folder), SampleMaker("logicnlg")
    samples = []
    for name, rows in content.items():
        table = table_files.get(name)
        for row in rows:
            _, columns, title, _ = row
            statement = Statement("", tuple(columns), title, "")
            context = _context(name, statement, table)
            samples.append(make(_units(statement, table), (), **context))
    return tuple(samples)


def _context(name: str, statement: Statement, table: Table) -> dict[str, Fact]:
    return {
        "name": name,
        "title": statement.title,
        "template": statement.template,
        "target": statement.text,
        "table": table,
    }


def _pairs(path: str, sides: tuple[str, str], folder: Path | None) -> tuple[Pair, ...]:
    content = json.loads(LOGICNLG.read_published(path, folder))
    first, second = sides
    return tuple(
        Pair(table, (_statement(row[first]), _statement(row[second])))
        for table, rows in content.items()
        for row in rows
    )


def _statement(row: Sequence[Any]) -> Statement:
    text, columns, title, template = row
    return Statement(text, tuple(columns), title, template)
