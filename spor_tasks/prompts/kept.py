"""Chosen demonstrations, kept in the user's cache folder, since choosing takes up to minutes."""

import json
import logging
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from spor_tasks.core import folders
from spor_tasks.core.digests import sha256_of_text, split_digest
from spor_tasks.core.errors import SporError
from spor_tasks.core.files import atomic_write, read_json
from spor_tasks.core.sample import Sample, SplitPair
from spor_tasks.core.visible import visible
from spor_tasks.corpora.own import corpus_of
from spor_tasks.prompts import demonstrations
from spor_tasks.prompts.content import Prompted, digest

_PACKAGE = Path(__file__).parents[1]
_log = logging.getLogger(__name__)


def choose(pair: SplitPair, most: int) -> tuple[Prompted, ...]:
    """Return what :func:`spor_tasks.prompts.demonstrations.choose` chooses, from a file if it can.

    The digest of the sets and ``most`` are the file's name. A file of other code, or a damaged one,
    is replaced. Nothing is kept if the folder cannot be written, or if the corpus is of another
    package, whose code is not known.

    Raises:
        SporError: as when they are chosen.
    """
    splits = [pair.test, *pair.arms]
    module = getattr(corpus_of(pair.name.corpus).linearize, "__module__", "")
    if not module.startswith(f"{_PACKAGE.name}."):
        return demonstrations.choose(pair, most)
    facts = [*pair.name, most, *([split.name, split_digest(split)] for split in splits)]
    file = folders.user_cache() / "demonstrations" / f"{sha256_of_text(json.dumps(facts))}.json"
    if kept := _read(file, [split.samples for split in splits]):
        _log.info("demonstrations as kept in %s", visible(file))
        return kept
    _log.info("choosing demonstrations for %d samples; they are kept", len(pair.test.samples))
    chosen = demonstrations.choose(pair, most)
    places = [{each.id: i for i, each in enumerate(split.samples)} for split in splits]
    numbers = [
        [
            [of_split[sample.id] for sample in row]
            for of_split, row in zip(places, rows, strict=True)
        ]
        for rows in ([(each.sample,), *each.arms] for each in chosen)
    ]
    content = {"code": _code(), "sha256": digest(chosen), "numbers": numbers}
    with suppress(OSError), atomic_write(file) as out:
        out.write(json.dumps(content).encode())
    return chosen


def _read(file: Path, splits: Sequence[Sequence[Sample]]) -> tuple[Prompted, ...] | None:
    """Return what is kept, or None if it is not of this code or not whole."""
    with suppress(SporError, AttributeError, IndexError, KeyError, TypeError, ValueError):
        content = read_json(file)
        found = [
            [tuple(samples[i] for i in row) for samples, row in zip(splits, rows, strict=True)]
            for rows in content["numbers"]
        ]
        chosen = tuple(Prompted(sample, tuple(arms)) for (sample,), *arms in found)
        if (content["code"], content["sha256"]) == (_code(), digest(chosen)):
            return chosen
    return None


@cache
def _code() -> str:
    """Return a digest of this package's code."""
    files = sorted(_PACKAGE.rglob("*.py"))
    return sha256_of_text("".join(file.read_text("utf-8") for file in files))
