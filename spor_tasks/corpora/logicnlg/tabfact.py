"""Statements of TabFact that can stand in for LogicNLG's training statements.

LogicNLG was made from the true statements of TabFact (Chen et al., ICLR 2020) about its complex
tables. Those of TabFact's training part are read here: all that were collected, or those of the
pairs of a true statement and a false one, which are fewer. Their texts are not normalized as
LogicNLG's are, and their columns and templates are those of our linker.
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from spor_tasks.core.columns import typed
from spor_tasks.core.errors import CorpusError
from spor_tasks.core.sample import Sample, SampleMaker
from spor_tasks.corpora.logicnlg import reader
from spor_tasks.corpora.logicnlg.linking import SIGNATURE, Linker
from spor_tasks.corpora.sources import LOGICNLG, TABFACT, blob_id

VERSION = f"tabfact:1,{SIGNATURE}"
"""Whatever can change the samples, but for the files."""

_COLLECTED = "collected_data/r2_training_all.json"
_PAIRS = "pairwise_data/complex_train_pairs.json"
_PARTS = ("data/complex_ids.json", "data/train_id.json")
_TITLES = "data/table_to_page.json"


def samples(folder: Path | None = None, logicnlg: Path | None = None) -> tuple[Sample, ...]:
    """Return the samples, shaped as those of :func:`reader.read_part`, in the order of the tables.

    ``folder`` is that of TabFact, and ``logicnlg`` that of LogicNLG; either may have the titles of
    the tables. No table is one of LogicNLG's validation or test set.

    Raises:
        CorpusError: a file is missing or is of another form.
    """
    folder = folder or TABFACT.data_dir()
    known, make = reader.tables(logicnlg), SampleMaker("logicnlg")
    path = _first(folder / _TITLES, (logicnlg or LOGICNLG.data_dir()) / _TITLES)
    titles = _titles(_read(path), path)
    found = list[Sample]()
    for name, texts in _statements(folder, logicnlg).items():
        if name not in titles:
            raise CorpusError(f"has no title of {name}", where=path)
        table = known.get(name)
        linker = Linker(table, typed(table), titles[name])
        links = [linker.link(text) for text in texts]
        rows = [
            [text, link.columns, titles[name], link.template]
            for text, link in zip(texts, links, strict=True)
        ]
        found += reader.of_table(name, table, rows, make, where=f"{folder}: {name}")
    return tuple(found)


def version(folder: Path | None = None) -> str:
    """Return a SHA-256 that stands for the samples, faster than they are read.

    Raises:
        CorpusError: the file of the statements is missing.
    """
    path = _statements_file(folder or TABFACT.data_dir())
    return hashlib.sha256(f"{VERSION} {blob_id(_bytes(path))}".encode()).hexdigest()


def _statements_file(folder: Path) -> Path:
    return _first(folder / _COLLECTED, folder / _PAIRS)


def _statements(folder: Path, logicnlg: Path | None) -> dict[str, list[str]]:
    """Return the true statements by table; each stands once."""
    complex_ones, train = (set(_read(folder / name)) for name in _PARTS)
    wanted = (complex_ones & train) - _evaluated(logicnlg)
    path = _statements_file(folder)
    rows = _collected(path) if path.name in _COLLECTED else _paired(path)
    found = dict[str, dict[str, None]]()
    for table, true in rows:
        if table in wanted:
            found.setdefault(table, {})[true] = None
    return {table: list(found[table]) for table in sorted(found)}


def _evaluated(logicnlg: Path | None) -> set[str]:
    files = (reader.file_of("val"), reader.file_of("test"))
    contents = (reader.parse_json(LOGICNLG.read_published(f, logicnlg), f) for f in files)
    return {name for content in contents for name in content}


def _collected(path: Path) -> Iterator[tuple[str, str]]:
    """Yield tables and statements that are labelled as true."""
    for name, row in _read(path).items():
        match row:
            case [list(texts), list(labels), *_] if len(texts) == len(labels):
                yield from ((name, str(t)) for t, label in zip(texts, labels, strict=True) if label)
            case _:
                raise CorpusError(
                    "must be statements and a label for each", where=f"{path}: {name}"
                )


def _paired(path: Path) -> Iterator[tuple[str, str]]:
    """Yield tables and statements: of two in a row, the first is the true one."""
    for i, row in enumerate(_read(path)):
        match row:
            case [str(table), str(true), str()]:
                yield table, true
            case _:
                raise CorpusError(
                    "must be a table, a true statement and a false one", where=f"{path}, {i}"
                )


def _first(*paths: Path) -> Path:
    return next((path for path in paths if path.is_file()), paths[0])


def _titles(content: object, path: Path) -> dict[str, str]:
    match content:
        case dict() if all(isinstance(row, list) and row for row in content.values()):
            return {str(name): str(row[0]) for name, row in content.items()}
        case _:
            raise CorpusError("must be an object with a title for each table", where=path)


def _read(path: Path) -> Any:  # noqa: ANN401 - JSON
    return reader.parse_json(_bytes(path), str(path))


def _bytes(path: Path) -> bytes:
    if not path.is_file():
        raise CorpusError(
            "is missing",
            where=path,
            remedy=f"Set {TABFACT.variable} to a copy of TabFact, and run `{LOGICNLG.command}`.",
        )
    return path.read_bytes()
