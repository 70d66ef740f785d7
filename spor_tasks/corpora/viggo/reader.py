"""ViGGO's CSV: meaning representations such as `inform(name[Tetris], genres[puzzle, strategy])`.

A slot is a unit, with all its values if it has several: texts join them freely. The name of the
game is not a unit, as it is not one in E2E, and neither is the dialogue act: both are in the
sample's context. A unit's attribute has the words that a text has of the slot where its value is
only yes or no: the `linux` of `has_linux_release[no]`.
"""

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from spor_tasks.core.references import with_references
from spor_tasks.core.sample import AttributeValue, Sample, SampleMaker
from spor_tasks.corpora.slots import references_by_mr, slots_of
from spor_tasks.corpora.sources import VIGGO

NAMED_BY: dict[str, str] = {
    "has_multiplayer": "multiplayer",
    "has_linux_release": "linux",
    "has_mac_release": "mac",
    "available_on_steam": "steam",
}
"""The words by which texts name the slots whose value is yes or no."""

_FILES = {part: f"data/video_game/{part}.csv" for part in ("train", "valid", "test")}


def read_parts(
    *parts: Literal["train", "valid", "test"], folder: Path | None = None
) -> tuple[Sample, ...]:
    """Return the samples of these parts, in this order.

    ``folder`` holds the published repository's tree; by default it is ``VIGGO.data_dir()``. The
    three files may also lie in it side by side.

    Raises:
        CorpusError: a file is missing or is not the published one.
    """
    make, samples = SampleMaker("viggo"), list[Sample]()
    folder = folder or VIGGO.data_dir()
    for part in parts:
        flat = folder / f"{part}.csv"
        place = flat if flat.is_file() else None
        samples += read_csv(VIGGO.read_published(_FILES[part], folder, place), make)
    return tuple(samples)


def read_csv(content: bytes, make: SampleMaker) -> Iterator[Sample]:
    """Yield the samples of a file: each meaning representation with its references.

    Those without a unit are left out: ten ask for an attribute of the reader's choice and tell
    nothing. ``make`` gives ids to the samples of all files of a corpus.
    """
    for _, mr, references in references_by_mr(io.BytesIO(content), "viggo"):
        act, _, listed = mr.partition("(")
        slots = slots_of(listed)
        units = [
            AttributeValue(NAMED_BY.get(slot, slot.replace("_", " ")), value)
            for slot, value in slots
            if slot != "name" and value
        ]
        if units:
            name = dict(slots).get("name") or None
            yield with_references(make(units, references, name=name, act=act), where=mr)
