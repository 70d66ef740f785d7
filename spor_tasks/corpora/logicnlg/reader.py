"""LogicNLG (Chen et al., ACL 2020): statements about tables of Wikipedia, and adversarial pairs.

The files are those of the published repository. The tables are in its archive, or in a copy of
TabFact (Chen et al., ICLR 2020), from which they were taken.
"""

import io
import json
import os
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path, PurePosixPath
from typing import Any, Literal, NamedTuple, TypeAlias

from spor_tasks.core.errors import CorpusError, MissingError
from spor_tasks.core.references import with_references
from spor_tasks.core.sample import Column, Contrast, Sample, SampleMaker
from spor_tasks.core.table import Table, parse_table
from spor_tasks.corpora.sources import LOGICNLG

Part: TypeAlias = Literal["train", "val", "test"]

_ARCHIVE = "all_csv.zip"
_TABFACT = "TABFACT_DATA_DIR"  # a copy of TabFact, which the tables were taken from
_CHALLENGE_INPUTS = "challenge/blind_test_lm_inputs.json"

# A file of pairs, and its names of the true and the false statement; the challenge hides which.
_PAIRS = {
    "val": ("data/val_lm_pos_neg.json", "pos", "neg"),
    "test": ("data/test_lm_pos_neg.json", "pos", "neg"),
    "challenge": ("challenge/blind_test_lm_pos_neg.json", "unknown1", "unknown2"),
}


class Statement(NamedTuple):
    """A sentence about a table, with the numbers of the columns that it is linked to.

    ``template`` is the sentence with `[ENT]` in place of what is linked.
    """

    text: str
    columns: Sequence[int]
    title: str
    template: str


def table_texts(folder: Path | None = None) -> Callable[[str], str]:
    """Return the function that reads a table's text by its id, such as ``2-18424778-6.html.csv``.

    The tables are in the archive, in a folder `all_csv` beside it, or in TabFact.

    Raises:
        CorpusError: there are none; the function raises it too, if one is missing.
    """
    folder = folder or LOGICNLG.data_dir()
    if (folder / _ARCHIVE).is_file():
        names, archive = _archive(folder)
        return lambda table: archive.read(names[table]).decode()
    tabfact = os.environ.get(_TABFACT)
    copies = (folder, *([Path(tabfact)] if tabfact else []))
    for place in (copy / below for copy in copies for below in ("all_csv", "data/all_csv")):
        if place.is_dir():
            return partial(_read_loose, place)
    raise MissingError(
        f"has no tables: neither {_ARCHIVE} nor all_csv",
        where=folder,
        remedy=f"{LOGICNLG.remedy} Or set {_TABFACT} to a copy of TabFact.",
    )


def _read_loose(folder: Path, table: str) -> str:
    try:
        return (folder / table).read_text("utf-8")
    except OSError as error:
        raise CorpusError(f"cannot be read: {error}", where=folder / table) from error


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
    make, samples = SampleMaker("logicnlg"), []
    for name, table, rows in _by_table(file_of(part), folder):
        statements = [Statement(*row) for row in rows]
        texts = [statement.text for statement in statements]
        for i, statement in enumerate(statements):
            references = (texts[i], *texts[:i], *texts[i + 1 :])
            samples.append(_sample(name, table, statement, references, make))
    return tuple(samples)


def read_pairs(
    part: Literal["val", "test", "challenge"], folder: Path | None = None
) -> tuple[Sample, ...]:
    """Return the pairs of statements about one table that differ in little.

    A sample has the true statement, with the false one as its contrast. Each has linked columns of
    its own. In the challenge nobody says which one is true.

    Raises:
        CorpusError: a file is missing or is not the published one.
    """
    path, first, second = _PAIRS[part]
    make, samples = SampleMaker("logicnlg"), []
    for name, table, rows in _by_table(path, folder):
        for row in rows:
            true, false = Statement(*row[first]), Statement(*row[second])
            sample = _sample(name, table, true, (true.text,), make)
            contrast = Contrast(_units(false, table), false.text, false.template)
            samples.append(replace(sample, challenge=contrast))
    return tuple(samples)


def read_challenge_inputs() -> tuple[Sample, ...]:
    """Return the samples of the blind challenge, which have no references.

    Raises:
        CorpusError: a file is missing or is not the published one.
    """
    make = SampleMaker("logicnlg")
    return tuple(
        _sample(name, table, Statement("", columns, title, ""), (), make)
        for name, table, rows in _by_table(_CHALLENGE_INPUTS, None)
        for _, columns, title, _ in rows
    )


def _by_table(path: str, folder: Path | None) -> Iterator[tuple[str, Table, Sequence[Any]]]:
    """Yield each table of a file: its id, itself, and the rows about it."""
    content = json.loads(LOGICNLG.read_published(path, folder))
    text_of = table_texts(folder)
    return ((name, parse_table(text_of(name)), rows) for name, rows in content.items())


def _units(statement: Statement, table: Table) -> tuple[Column, ...]:
    """Return the columns that a statement is linked to."""
    return tuple(Column(table.header[i], str(i)) for i in statement.columns)


def _sample(
    name: str, table: Table, statement: Statement, references: Iterable[str], make: SampleMaker
) -> Sample:
    sample = make(
        _units(statement, table),
        references,
        name=name,
        title=statement.title,
        template=statement.template,
        target=statement.text,
        table=table,
    )
    return with_references(sample, where=name)
