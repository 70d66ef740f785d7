"""Fictional twins: samples with their entities exchanged for invented ones of the same kind.

Each corpus ships a file of patches, which `docs/generators/twins.py` made. A patch
``[start, end, new]`` replaces a range of characters, and a SHA-256 says of which entity or text. So
the files have invented words alone, and nothing of the corpora: docs/decisions/twins.md.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from spor_tasks.core.errors import ConfigError
from spor_tasks.core.files import read_packaged
from spor_tasks.core.sample import DataUnit, Hidden, Orders, Sample, Triple

CORPORA = ("webnlg", "e2e", "viggo")
"""The corpora that have twins."""

FOLDER = Path(__file__).parent / "corpora"
FILE = "twins.json.gz"
"""The name of the file of patches in the folder of a corpus, which is in :data:`FOLDER`."""

NOTHING: Final = "nothing of it is exchanged"
UNKNOWN: Final = "it is not among the published samples of the corpus"
OTHER_ORDER: Final = "its texts would mention the units in another order"
OTHER_CHALLENGE: Final = "it has a false text"

_DIGITS = 10  # hexadecimal, of a SHA-256

Patches: TypeAlias = Sequence[tuple[int, int, str]]


class Untwinned(NamedTuple):
    """Why a sample has no twin, in plain words."""

    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class Twins:
    """The patches of a corpus by the :func:`key` of what they change."""

    entities: Mapping[str, Patches]
    """Those of each value of a unit."""
    texts: Mapping[str, Patches | str]
    """Those of each reference, or the reason for which it cannot be patched.

    Samples without references have the empty text.
    """
    reordered: frozenset[str]
    """The references in whose twins the units are located in another order."""

    def twin(self, sample: Sample) -> Sample | Untwinned:
        """Return the sample with invented entities, or why it has no twin.

        Units, references, name and challenge are exchanged alike; the id stays.
        """
        challenge = sample.challenge
        if not isinstance(challenge, Orders | Hidden | None):
            return Untwinned(OTHER_CHALLENGE)
        name = sample.about("name")
        keys = [key(text, sample.units, name) for text in sample.references or ("",)]
        patches: list[Patches] = []
        for patch in (self.texts.get(each, UNKNOWN) for each in keys):
            if isinstance(patch, str):
                return Untwinned(patch)
            patches.append(patch)
        units: list[DataUnit] = []
        for unit in sample.units:
            if isinstance(unit, Triple):
                ends = self._entity(unit.subject), self._entity(unit.object)
                units.append(Triple(ends[0], unit.predicate, ends[1]))
            else:
                units.append(unit._replace(value=self._entity(unit.value)))
        context = {**sample.context, **({"name": self._entity(name)} if name else {})}
        if (tuple(units), context) == (sample.units, sample.context):
            return Untwinned(NOTHING)
        if isinstance(challenge, Orders) and not self.reordered.isdisjoint(keys):
            return Untwinned(OTHER_ORDER)
        if isinstance(challenge, Hidden):
            challenge = Hidden(
                tuple((self._entity(entity), phrase) for entity, phrase in challenge.phrases),
                tuple(
                    (self._entity(attribute), tuple(map(self._entity, values)))
                    for attribute, values in challenge.values
                ),
            )
        references = tuple(map(_patched, sample.references, patches))
        return replace(
            sample,
            units=tuple(units),
            references=references,
            context=context,
            challenge=challenge,
        )

    def _entity(self, raw: str) -> str:
        return _patched(raw, self.entities.get(key(raw), ()))  # phrases for hidden ones have none


def key(text: str, units: Iterable[DataUnit] = (), name: str | None = None) -> str:
    """Return the digits that stand for an entity, or for a text about units in any order."""
    content = json.dumps([name, sorted(units), text]).encode()
    return hashlib.sha256(content).hexdigest()[:_DIGITS]


def _patched(text: str, patches: Patches) -> str:
    parts, end = [], 0
    for start, stop, new in patches:
        parts += [text[end:start], new]
        end = stop
    return "".join([*parts, text[end:]])


@cache
def twins_of(corpus: str) -> Twins:
    """Return the twins of a corpus.

    Raises:
        ConfigError: the corpus has no twins.
        CorpusError: the file of patches is missing or damaged.
    """
    if corpus not in CORPORA:
        raise ConfigError(
            f"{corpus!r} has no twins",
            remedy=f"The corpora that have them are {', '.join(CORPORA)}.",
        )
    content = read_packaged(FOLDER / corpus / FILE)
    return Twins(content["entities"], content["texts"], frozenset(content["reordered"]))
