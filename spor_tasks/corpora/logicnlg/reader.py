"""LogicNLG (Chen et al., ACL 2020): statements about tables of Wikipedia, and adversarial pairs.

The files are those of the published repository. The tables are in its archive, or in a copy of
TabFact (Chen et al., ICLR 2020), from which they were taken.
"""

import io
import json
import os
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path, PurePosixPath
from typing import Any, Literal, NamedTuple, TypeAlias

from spor_tasks.core.errors import CorpusError
from spor_tasks.core.files import read_text
from spor_tasks.core.sample import AttributeValue, Contrast, Json, Sample, SampleMaker
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
        remedy=f"Run `{LOGICNLG.command}`, or set {_TABFACT} to a copy of TabFact.",
    )


def _loose(folder: Path, table: str) -> str:
    try:
        return read_text(folder / _plain(table))
    except (OSError, UnicodeDecodeError) as error:
        raise CorpusError(f"cannot be read: {error}", where=folder / table) from error


def _unpacked(folder: Path, table: str) -> str:
    names, archive = _archive(folder)
    if table not in names:
        raise CorpusError(f"has no table {table!r}", where=folder / _ARCHIVE)
    return archive.read(names[table]).decode("utf-8")


@cache
def _archive(folder: Path) -> tuple[Mapping[str, str], zipfile.ZipFile]:
    archive = zipfile.ZipFile(io.BytesIO(LOGICNLG.read_published(_ARCHIVE, folder)))
    return {PurePosixPath(name).name: name for name in archive.namelist()}, archive


def _plain(table: str) -> str:
    if not table or PurePosixPath(table).name != table:
        raise CorpusError(f"{table!r} is not the id of a table")
    return table


def file_of(part: Part) -> str:
    """Return the path of the statements of a part."""
    return f"data/{part}_lm.json"


def read_part(part: Part, folder: Path | None = None) -> tuple[Sample, ...]:
    """Return the samples of a part: one for each statement, in the order of the file.

    The units are the linked columns: their names, and their numbers from 0. The references are the
    statement itself, then all others about its table, which BLEU compares with too. The context has
    ``name``, the id of the table, ``title``, ``template``, ``table``, and as ``target`` the text.

    Raises:
        CorpusError: a file is missing or is not the published one, or a column is out of range.
    """
    path = file_of(part)
    content = parse_json(LOGICNLG.read_published(path, folder), path)
    known, make = tables(folder), SampleMaker("logicnlg")
    return tuple(
        sample
        for table, rows in content.items()
        for sample in of_table(table, known.get(table), rows, make, where=f"{path}: {table}")
    )


def of_table(
    name: str,
    table: Table,
    rows: Any,  # noqa: ANN401 - JSON
    make: SampleMaker,
    *,
    where: str,
) -> Iterator[Sample]:
    """Yield the samples of a table, of rows as they are in the published files.

    Raises:
        CorpusError: a row is of another form, or a column is out of range.
    """
    statements = [_statement(row, f"{where}, {i}") for i, row in enumerate(rows)]
    texts = [statement.text for statement in statements]
    for i, statement in enumerate(statements):
        yield make(
            linked(statement, table, f"{where}, {i}"),
            (texts[i], *texts[:i], *texts[i + 1 :]),
            **_context(name, statement, table),
        )


def linked(statement: Statement, table: Table, where: str) -> tuple[AttributeValue, ...]:
    """Return the names and the numbers of the columns that a statement is linked to.

    Raises:
        CorpusError: a column is out of range, or there is none.
    """
    width = len(table.header)
    if not statement.columns or not all(0 <= column < width for column in statement.columns):
        raise CorpusError(
            f"links the columns {list(statement.columns)} of a table that has {width}", where=where
        )
    return tuple(AttributeValue(table.header[i], str(i)) for i in statement.columns)


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
        CorpusError: there are no tables, or a column is out of range.
    """
    known, make = tables(folder), SampleMaker("logicnlg")
    return tuple(_paired(pair, known.get(pair.table), make) for pair in pairs)


def _paired(pair: Pair, table: Table, make: SampleMaker) -> Sample:
    first, second = pair.statements
    own, other = (linked(each, table, pair.table) for each in pair.statements)
    sample = make(own, (first.text,), **_context(pair.table, first, table))
    return replace(sample, challenge=Contrast(other, second.text, second.template))


def read_challenge_inputs(folder: Path | None = None) -> tuple[Sample, ...]:
    """Return the samples of the blind challenge, which have no references.

    Raises:
        CorpusError: the file is missing or is not the published one, or a column is out of range.
    """
    path = _CHALLENGE_INPUTS
    content = parse_json(LOGICNLG.read_published(path, folder), path)
    known, make = tables(folder), SampleMaker("logicnlg")
    found = []
    for name, rows in content.items():
        table = known.get(name)
        for i, row in enumerate(rows):
            where = f"{path}: {name}, {i}"
            _, columns, title, _ = _statement(row, where)
            asked = Statement("", columns, title, "")
            units = linked(asked, table, where)
            found.append(make(units, (), **_context(name, asked, table)))
    return tuple(found)


def _context(name: str, statement: Statement, table: Table) -> dict[str, Json]:
    return {
        "name": name,
        "title": statement.title,
        "template": statement.template,
        "target": statement.text,
        "table": {"header": list(table.header), "rows": list(map(list, table.rows))},
    }


def _pairs(path: str, sides: tuple[str, str], folder: Path | None) -> tuple[Pair, ...]:
    content = parse_json(LOGICNLG.read_published(path, folder), path)
    first, second = sides
    return tuple(
        Pair(
            table,
            (
                _statement(row[first], f"{path}: {table}, {i}"),
                _statement(row[second], f"{path}: {table}, {i}"),
            ),
        )
        for table, rows in content.items()
        for i, row in enumerate(rows)
    )


def _statement(row: Any, where: str) -> Statement:  # noqa: ANN401 - JSON
    try:
        text, columns, title, template = row
        return Statement(str(text), tuple(map(int, columns)), str(title), str(template))
    except (TypeError, ValueError) as error:
        raise CorpusError(
            "must be a sentence, its linked columns, a title and a template", where=where
        ) from error


def parse_json(content: bytes, where: str) -> Any:  # noqa: ANN401 - JSON
    """Return what a JSON text holds.

    Raises:
        CorpusError: it is not JSON.
    """
    try:
        return json.loads(content)
    except ValueError as error:
        raise CorpusError(f"is not JSON: {error}", where=where) from error
