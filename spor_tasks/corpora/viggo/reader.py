"""ViGGO's CSV: meaning representations such as `inform(name[Tetris], genres[puzzle, strategy])`.

A slot is a unit, with all its values if it has several: texts join them freely. The name of the
game is not a unit, as it is not one in E2E, and neither is the dialogue act: both are in the
sample's context. A unit's attribute has the words that a text has of the slot where its value is
only yes or no: the `linux` of `has_linux_release[no]`.
"""

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Literal, NamedTuple

from spor_tasks.core.errors import CorpusError
from spor_tasks.core.sample import AttributeValue, Sample, SampleMaker
from spor_tasks.corpora.sources import VIGGO

NAMED_BY: dict[str, str] = {
    "has_multiplayer": "multiplayer",
    "has_linux_release": "linux",
    "has_mac_release": "mac",
    "available_on_steam": "steam",
}
"""The words by which texts name the slots whose value is yes or no."""

ACTS = (
    *("confirm", "give_opinion", "inform", "recommend", "request", "request_attribute"),
    *("request_explanation", "suggest", "verify_attribute"),
)
"""The dialogue acts (Table 1 of the paper)."""

_FILES = {part: f"data/video_game/{part}.csv" for part in ("train", "valid", "test")}
_HEADER = ["mr", "ref"]
_MR = re.compile(r"(\w+)\((.*)\)")
_SLOT = re.compile(r"(\w+)\[([^\[\]]*)\](?:, (?=\w)|$)")


class Meaning(NamedTuple):
    """A meaning representation; ``units`` lack the name, and slots that have no value."""

    act: str
    name: str | None
    units: tuple[AttributeValue, ...]


def read_test(folder: Path | None = None) -> tuple[Sample, ...]:
    """Return the samples of validation, then those of test.

    Raises:
        CorpusError: as :func:`read_parts`.
    """
    return read_parts("valid", "test", folder=folder)


def read_parts(
    *parts: Literal["train", "valid", "test"], folder: Path | None = None
) -> tuple[Sample, ...]:
    """Return the samples of these parts, in this order.

    ``folder`` holds the published repository's tree; by default it is ``VIGGO.data_dir()``. The
    three files may also lie in it side by side.

    Raises:
        CorpusError: a file is missing or is not the published one.
    """
    make = SampleMaker("viggo")
    folder = folder or VIGGO.data_dir()
    return tuple(
        sample
        for part in parts
        for sample in read_csv(io.BytesIO(_content(part, folder)), make, where=_FILES[part])
    )


def _content(part: str, folder: Path) -> bytes:
    flat = folder / f"{part}.csv"
    if not flat.is_file():
        return VIGGO.read_published(_FILES[part], folder)
    content = flat.read_bytes()
    VIGGO.check(_FILES[part], content, where=flat)
    return content


def read_csv(stream: IO[bytes], make: SampleMaker, *, where: str) -> Iterator[Sample]:
    """Yield the samples of a file: each meaning representation with its references.

    Rows with equal meaning representations belong together, adjacent or not. Those without a unit
    are left out: ten ask for an attribute of the reader's choice and tell nothing. ``where`` names
    the stream in errors; ``make`` gives ids to the samples of all files of a corpus.

    Raises:
        CorpusError: the header is wrong, a row does not have two columns, or a meaning
            representation is malformed; the error names file and line.
    """
    references: dict[str, list[str]] = {}
    meanings: dict[str, Meaning] = {}
    for place, mr, reference in _rows(stream, where):
        if mr not in meanings:
            meanings[mr] = parse_mr(mr, where=place)
        references.setdefault(mr, []).append(reference)
    for mr, meaning in meanings.items():
        if meaning.units:
            yield make(meaning.units, references[mr], name=meaning.name, act=meaning.act)


def parse_mr(mr: str, *, where: str) -> Meaning:
    """Return the parts of a meaning representation.

    Raises:
        CorpusError: it is not `act(slot[value], slot[value])` and so on, or there is no such act.
    """
    whole = _MR.fullmatch(mr)
    act, listed = whole.groups() if whole else ("", "")
    slots, end = list[tuple[str, str]](), 0
    while end < len(listed) and (match := _SLOT.match(listed, end)):
        slots.append((match[1], match[2]))
        end = match.end()
    if not slots or end < len(listed):
        raise CorpusError(
            f"{mr!r} is not a meaning representation `act(slot[value], …)`", where=where
        )
    if act not in ACTS:
        raise CorpusError(
            f"there is no dialogue act {act!r}",
            where=where,
            remedy=f"Use one of {', '.join(ACTS)}.",
        )
    units = (
        AttributeValue(NAMED_BY.get(slot, slot.replace("_", " ")), value)
        for slot, value in slots
        if slot != "name" and value
    )
    return Meaning(act, dict(slots).get("name") or None, tuple(units))


def _rows(stream: IO[bytes], where: str) -> Iterator[tuple[str, str, str]]:
    """Yield ``(where:line, mr, ref)`` for every row."""
    rows = csv.reader((line.decode() for line in stream), strict=True)
    remedy = "The file may be truncated. Run `spor data fetch --corpus viggo` to fetch it again."
    try:
        if next(rows, None) != _HEADER:
            raise CorpusError(f"the header must be {','.join(_HEADER)}", where=where)
        for row in rows:
            place = f"{where}:{rows.line_num}"
            if len(row) != len(_HEADER) or not all(row):
                raise CorpusError("must have 2 columns, none empty", where=place, remedy=remedy)
            yield place, row[0], row[1]
    except (csv.Error, UnicodeDecodeError) as error:
        place = f"{where}:{rows.line_num}"
        raise CorpusError(f"is not CSV: {error}", where=place, remedy=remedy) from error
