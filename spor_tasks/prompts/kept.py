"""Chosen demonstrations, kept in the user's cache folder, since choosing takes up to minutes."""

import ast
import json
import logging
from contextlib import suppress
from functools import cache
from pathlib import Path

from spor_tasks.core import folders
from spor_tasks.core.digests import set_digest, sha256_of_text
from spor_tasks.core.errors import SporError
from spor_tasks.core.files import atomic_write, read_json
from spor_tasks.core.sample import Sets
from spor_tasks.core.visible import visible
from spor_tasks.corpora.own import corpus_of
from spor_tasks.prompts import demonstrations
from spor_tasks.prompts.content import Prompted, digest

_PACKAGE = Path(__file__).parents[1]
_OURS = f"{_PACKAGE.name}."
_log = logging.getLogger(__name__)


def choose(pair: Sets, most: int) -> tuple[Prompted, ...]:
    """Return what :func:`spor_tasks.prompts.demonstrations.choose` chooses, from a file if it can.

    The digest of the sets and ``most`` are the file's name. A file of other code, or a damaged one,
    is replaced. Nothing is kept if the folder cannot be written, or if the corpus is of another
    package, whose code is not known.

    Raises:
        SporError: as when they are chosen.
    """
    named = {"test": pair.test, **pair.arms}
    splits = [*named.values()]
    module = getattr(corpus_of(pair.facts.corpus).linearize, "__module__", "")
    if not module.startswith(_OURS):
        return demonstrations.choose(pair, most)
    code = _code(demonstrations.__name__, module)
    digests = [[name, set_digest(samples)] for name, samples in named.items()]
    facts = [str(pair.facts), most, *digests]
    file = folders.user_cache() / "demonstrations" / f"{sha256_of_text(json.dumps(facts))}.json"
    with suppress(SporError, AttributeError, IndexError, KeyError, TypeError, ValueError):
        content = read_json(file)
        found = [
            [tuple(split[i] for i in row) for split, row in zip(splits, rows, strict=True)]
            for rows in content["numbers"]
        ]
        chosen = tuple(Prompted(sample, tuple(arms)) for (sample,), *arms in found)
        if (content["code"], content["sha256"]) == (code, digest(chosen)):
            _log.info("demonstrations as kept in %s", visible(file))
            return chosen
    _log.info("choosing demonstrations for %d samples; they are kept", len(pair.test))
    chosen = demonstrations.choose(pair, most)
    places = [{each.id: i for i, each in enumerate(split)} for split in splits]
    numbers = [
        [
            [of_split[sample.id] for sample in row]
            for of_split, row in zip(places, [(each.sample,), *each.arms], strict=True)
        ]
        for each in chosen
    ]
    content = {"code": code, "sha256": digest(chosen), "numbers": numbers}
    with suppress(OSError), atomic_write(file) as out:
        out.write(json.dumps(content).encode())
    return chosen


@cache
def _code(*modules: str) -> str:
    """Return a digest of the code of modules, and of all in this package that they import."""
    sources: dict[Path, str] = {}
    waiting = [*modules]
    while waiting:
        path = _PACKAGE.parent.joinpath(*waiting.pop().split("."))
        files = (path.with_suffix(".py"), path / "__init__.py")
        file = next((each for each in files if each.is_file()), None)
        if file is None or file in sources:  # a name that a module has, and no module
            continue
        sources[file] = file.read_text("utf-8")
        for node in ast.walk(ast.parse(sources[file])):
            if isinstance(node, ast.ImportFrom) and f"{node.module}.".startswith(_OURS):
                waiting += [
                    str(node.module),
                    *(f"{node.module}.{each.name}" for each in node.names),
                ]
    return sha256_of_text("".join(sources[file] for file in sorted(sources)))
