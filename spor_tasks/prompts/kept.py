"""Chosen demonstrations, kept in the user's cache folder, since choosing takes up to minutes."""

import ast
import json
import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from spor_tasks.core import folders
from spor_tasks.core.digests import set_digest, sha256_of_text
from spor_tasks.core.errors import SporError
from spor_tasks.core.files import FileContent, atomic_write, read_json, read_packaged
from spor_tasks.core.sample import Sample, Sets
from spor_tasks.core.visible import visible
from spor_tasks.corpora.own import corpus_of
from spor_tasks.prompts import demonstrations
from spor_tasks.prompts.content import Prompted, digest

SHIPPED = Path(__file__).with_name("chosen")
"""Choices for shipped sets and the numbers of their tasks: docs/generators/demonstrations.py."""

_PACKAGE = Path(__file__).parents[1]
_OURS = f"{_PACKAGE.name}."
_log = logging.getLogger(__name__)


def choose(pair: Sets, most: int) -> tuple[Prompted, ...]:
    """Return what :func:`spor_tasks.prompts.demonstrations.choose` chooses, from a file if it can.

    The digest of the sets and ``most`` are the file's name. A file of :data:`SHIPPED` comes first.
    In the user's cache, a file of other code, or a damaged one, is replaced. Nothing is kept if the
    folder cannot be written, or if the corpus is of another package, whose code is not known.

    Raises:
        SporError: as when they are chosen.
    """
    module = getattr(corpus_of(pair.facts.corpus).linearize, "__module__", "")
    if not module.startswith(_OURS):
        return demonstrations.choose(pair, most)
    name = name_of(pair, most)
    with suppress(SporError):  # there is none, or it is damaged
        if chosen := _read(read_packaged(SHIPPED / f"{name}.gz"), pair):
            return chosen
    code = _code(demonstrations.__name__, module)
    file = folders.user_cache() / "demonstrations" / name
    with suppress(SporError):
        content = read_json(file)
        if content.get("code") == code and (chosen := _read(content, pair)):
            _log.info("demonstrations as kept in %s", visible(file))
            return chosen
    _log.info("choosing demonstrations for %d samples; they are kept", len(pair.test))
    chosen = demonstrations.choose(pair, most)
    content = {"code": code, **content_of(chosen, pair)}
    with suppress(OSError), atomic_write(file) as out:
        out.write(json.dumps(content).encode())
    return chosen


def name_of(pair: Sets, most: int) -> str:
    """Return the name of a file of choices, which is another one for any other sets."""
    digests = [[name, set_digest(samples)] for name, samples in _splits(pair).items()]
    return f"{sha256_of_text(json.dumps([str(pair.facts), most, *digests]))}.json"


def content_of(chosen: Sequence[Prompted], pair: Sets) -> FileContent:
    """Return choices as a file has them: the places of samples in their sets, and a digest."""
    places = [{each.id: i for i, each in enumerate(split)} for split in _splits(pair).values()]
    numbers = [
        [
            [of_split[sample.id] for sample in row]
            for of_split, row in zip(places, [(each.sample,), *each.arms], strict=True)
        ]
        for each in chosen
    ]
    return {"sha256": digest(chosen), "numbers": numbers}


def _read(content: FileContent, pair: Sets) -> tuple[Prompted, ...] | None:
    """Return the choices of a file; None if they are not what its digest says."""
    splits = [*_splits(pair).values()]
    try:
        found = [
            [tuple(split[i] for i in row) for split, row in zip(splits, rows, strict=True)]
            for rows in content["numbers"]
        ]
        chosen = tuple(Prompted(sample, tuple(arms)) for (sample,), *arms in found)
        return chosen if content["sha256"] == digest(chosen) else None
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        return None


def _splits(pair: Sets) -> Mapping[str, Sequence[Sample]]:
    return {"test": pair.test, **pair.arms}


@cache
def _code(*modules: str) -> str:
    """Return a digest of the code of modules, and of all in this package that they import."""
    sources: dict[Path, str] = {}
    waiting = [*modules]
    while waiting:
        path = _PACKAGE.parent.joinpath(*waiting.pop().split("."))
        files = (path.with_suffix(".py"), path / "__init__.py")
        file = next((each for each in files if each.is_file()), None)
        # a name that a module has, and no module; or the interface, which imports all
        if file is None or file in sources or file == _PACKAGE / "__init__.py":
            continue
        sources[file] = file.read_text("utf-8")
        for node in ast.walk(ast.parse(sources[file])):
            if isinstance(node, ast.ImportFrom) and f"{node.module}.".startswith(_OURS):
                waiting += [
                    str(node.module),
                    *(f"{node.module}.{each.name}" for each in node.names),
                ]
    return sha256_of_text("".join(sources[file] for file in sorted(sources)))
