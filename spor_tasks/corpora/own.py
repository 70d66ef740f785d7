"""A corpus of your own, in a file of any form (:mod:`.formats`), or in a folder of them.

Every row of JSON needs ``data`` and ``texts``. It may have ``name``, ``category`` and ``id``, and
either all rows or none have ``split`` (``train`` or ``test``). Without ``split``, as in the other
forms, all samples are training samples, which is enough for systematicity. The path of a file in a
folder says whether its samples are for training or test.

Rows of one input are one sample. A file that repeats the input before each of its texts would
otherwise compare an output with one of them only.
"""

import os
import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from spor_tasks.core.errors import CorpusError
from spor_tasks.core.files import is_file, is_folder
from spor_tasks.core.registry import registry
from spor_tasks.core.sample import CorpusSamples, Sample, SampleMaker, Triple
from spor_tasks.corpora.base import Corpus, Style
from spor_tasks.corpora.compmctg.linearize import linearize as linearize_attributes
from spor_tasks.corpora.e2e.linearize import linearize as linearize_pairs
from spor_tasks.corpora.formats import read_samples
from spor_tasks.corpora.webnlg.linearize import linearize as linearize_triples

_ENDINGS = (".gz", ".jsonl", ".json", ".xml", ".csv", ".tsv")
_PARTS = ("train", "test")
_WORDS = {  # in the path of a file; the other parts are test samples, as of the published corpora
    "train": r"train(?:ing|set)?",
    "test": r"test(?:set)?|dev(?:el|set)?|val(?:id|idation)?",
}
_NAMES = "Name the files train.csv and test.csv, or put them into folders train and test."
_SEVERAL_TASKS = re.compile(r"[,*?\[\]]")


def read_corpus(path: Path, lang: str | None = None) -> CorpusSamples:
    """Return the corpus in a file of any form (:mod:`.formats`) or a folder, under its name.

    Signs of the name that lm-eval reads as several tasks, or as a pattern of them, become `_`.
    Samples are in the order of their first rows, and references in the order of the rows.
    ``lang`` chooses among the languages of its texts.

    Raises:
        ConfigError: ``lang`` is given, and the texts do not name their languages.
        CorpusError: a file cannot be read, has no sample, or is of no part; or a row is malformed,
            has no texts, has the ``id`` of another row, has a ``split`` while others have none, or
            has pairs while others have triples. The error names file, line and field.
    """
    make = SampleMaker(name := name_of(path))
    inputs: dict[str, dict[Hashable, list[Sample]]] = {part: {} for part in _PARTS}
    marked, acts = set[bool](), set[bool]()
    ids: dict[tuple[Path, str], str] = {}
    kinds: dict[bool, str] = {}
    empty = 0
    parts = [(file, of_file) for of_file, files in files_of(path).items() for file in files]
    read = ((each, *entry) for each in parts for entry in read_samples(each[0], make, lang, acts))
    for (file, of_file), place, row, sample in read:
        if sample is None:
            empty += 1
            continue
        marked.add("split" in row)
        if len(marked) > 1:
            raise CorpusError(
                "some rows have a `split` and others do not",
                where=place,
                remedy="Give every row a `split`, or none.",
            )
        if (part := row.get("split", of_file)) not in _PARTS:
            raise CorpusError(f'`split` must be "train" or "test", not {part!r}', where=place)
        if not sample.references:
            raise CorpusError(
                "has no `texts`", where=place, remedy="Add at least one reference text."
            )
        if "id" in row and (first := ids.setdefault((file, str(row["id"])), place)) != place:
            raise CorpusError(f"has the same `id` {row['id']!r} as {first}", where=place)
        kinds.setdefault(isinstance(sample.units[0], Triple), place)
        if len(kinds) > 1:
            what = f"its units are triples here and pairs there: {kinds[True]}, {kinds[False]}"
            raise CorpusError(what, where=path, remedy="Make two corpora of them.")
        inputs[part].setdefault(sample.input, []).append(sample)
    if not marked:
        left = f": {empty:,} entries have no unit, or no text to read" if empty else ""
        raise CorpusError(f"has no samples{left}", where=path)

    train, test = (tuple(_pooled(rows, make) for rows in inputs[part].values()) for part in _PARTS)
    counts = {part: sum(map(len, inputs[part].values())) for part in _PARTS}
    return CorpusSamples(name, train, test, counts, empty)


def _pooled(rows: Sequence[Sample], make: SampleMaker) -> Sample:
    if len(rows) == 1:
        return rows[0]
    texts = [text for row in rows for text in row.references]
    sample = make(rows[0].units, texts, **rows[0].context)
    return replace(sample, left_out=sum(row.left_out for row in rows))


def files_of(path: Path) -> Mapping[str, Sequence[Path]]:
    """Return the files of each part: one file, or those of a folder whose paths have its words.

    Raises:
        CorpusError: a file of data in the folder is of both parts or of none, or there is no file.
    """
    if not is_folder(path):
        return {"train": [path]}
    found: dict[str, list[Path]] = {part: [] for part in _PARTS}
    for file in sorted(path.rglob("[!.]*")):
        if file.suffix not in _ENDINGS or not is_file(file):
            continue
        words = re.findall("[a-z]+", str(file.relative_to(path)).lower())
        parts = [part for part in _PARTS if any(re.fullmatch(_WORDS[part], w) for w in words)]
        if len(parts) != 1:
            raise CorpusError(
                "does not say whether it is of the training or the test part",
                where=file,
                remedy=_NAMES,
            )
        found[parts[0]].append(file)
    if not any(found.values()):
        what = f"has no file that ends with {', '.join(_ENDINGS)}"
        raise CorpusError(what, where=path, remedy=_NAMES)
    return found


def state_of(path: Path) -> Hashable:
    """Return what is another if a file of a corpus changes."""
    return tuple(
        (file, file.stat().st_mtime_ns) for files in files_of(path).values() for file in files
    )


def name_of(path: Path) -> str:
    """Return the name of the corpus in a file or folder."""
    name = (path.resolve() if is_folder(path) else path).name
    # UTF-8, whatever encoding the locale gives to file names
    name = os.fsencode(name).decode("utf-8", "surrogateescape")
    for ending in _ENDINGS:
        name = name.removesuffix(ending)
    return _SEVERAL_TASKS.sub("_", name)


@cache  # each prompt needs the corpus of its sample
def corpus_of(name: str) -> Corpus:
    """Return the registered corpus of this name, or else one of your own."""
    if name in registry().names("corpus"):
        corpus: Corpus = registry().get("corpus", name)
        return corpus
    return Corpus(name=name, parts=lambda _: {}, linearize=linearize)


def linearize(sample: Sample, style: Style, instruction: str | None = None) -> str:
    """Return the prompt of a sample, as WebNLG's or E2E's with the same kind of units.

    That of a sample that says how its text begins is as CompMCTG's. ``instruction`` is what a
    prompt in plain words asks for in place of an English text.

    Raises:
        ConfigError: the style is unknown.
    """
    if sample.has_attributes:
        return linearize_attributes(sample, style)
    if isinstance(sample.units[0], Triple):
        return linearize_triples(sample, style, instruction)
    return linearize_pairs(sample, style, instruction)
