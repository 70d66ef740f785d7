"""The base of benchmarks: sets and tables declared as data (`sets.toml`, `tables.toml`)."""

import dataclasses
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import msgspec

from spor_tasks.core.contracts import Asking, Gap, Judging, Release, Score, Splitting, TaskSpec
from spor_tasks.core.errors import SplitError, advice
from spor_tasks.core.layouts import Layout, Remark
from spor_tasks.core.sample import SetName, Sets
from spor_tasks.corpora.sources import Archive, Repository


class DeclaredSets:
    """A benchmark whose sets are data (:class:`~spor_tasks.core.contracts.Benchmark`).

    A benchmark derives from it. ``specs`` are the shipped sets, and ``files`` the published files
    that they are made of, if any.
    """

    name: str
    title: str
    source: str
    paper: str = ""
    specs: tuple[TaskSpec, ...]
    files: Repository | Archive | None = None

    @property
    def groups(self) -> Mapping[str, str]:
        """The titles of its aspects; a benchmark without aspects is its own."""
        return {self.name: self.title}

    @property
    def introduction(self) -> str:
        """What it tests, and what to look at first; empty if `sets.toml` does not say it."""
        return _table(self.name).introduction

    @property
    def legends(self) -> Mapping[str, str]:
        """What the arms and columns of its tables are, by aspect."""
        return _table(self.name).legends

    def read(self, name: SetName) -> Sets:
        """Return shipped sets; it is called once for each while the folder of files is the same."""
        raise NotImplementedError

    def tables(self, name: SetName) -> tuple[Layout, ...]:
        """Return the tables of a task's results; none are one table with all scores."""
        for each in _tables().get(self.name, ()):
            is_of_aspect = name.aspect in (each.aspects or [name.aspect])
            if is_of_aspect and name.protocol in (each.protocols or [name.protocol]):
                return each.layouts
        return ()

    def captions(self, _name: SetName) -> Mapping[str, str]:
        """Return what remarks below tables say of these sets, by the names in braces."""
        return {}

    def sets(self) -> tuple[TaskSpec, ...]:
        """Return the shipped sets; the first of an aspect and corpus is the default."""
        return self.specs

    def find(self, name: SetName) -> TaskSpec:
        """Return the declaration of sets.

        Raises:
            SplitError: there are no such sets; the error lists all.
        """
        for each in self.specs:
            if each.name == name:
                return each
        raise SplitError(
            f"there is no split {str(name)!r}",
            remedy=advice(name, (spec.name for spec in self.specs), "`spor tasks list` shows all."),
        )

    def load(self, name: SetName) -> Sets:
        """Return shipped sets; equal calls return the same object.

        Raises:
            SplitError: there are no such sets.
            CorpusError: a file is missing, malformed or not the published one.
        """
        return _read(self, self.find(name).name, self.files and self.files.data_dir())


@cache
def _read(sets: DeclaredSets, name: SetName, _folder: Path | None) -> Sets:
    return sets.read(name)


_PARTS = {"judging": Judging, "asking": Asking, "release": Release, "splitting": Splitting}
"""The parts of a :class:`TaskSpec`, whose fields `sets.toml` has side by side."""


class _Tables(msgspec.Struct):
    """An entry of `tables.toml`; without aspects or protocols it is for all."""

    aspects: tuple[str, ...] = ()
    protocols: tuple[str, ...] = ()
    layouts: tuple[Layout, ...] = ()
    remarks: tuple[Remark, ...] = ()
    """They follow those of each table."""

    def __post_init__(self) -> None:
        """Add the remarks to each table."""
        self.layouts = tuple(
            msgspec.structs.replace(layout, remarks=(*layout.remarks, *self.remarks))
            for layout in self.layouts
        )


@cache
def _tables() -> dict[str, tuple[_Tables, ...]]:
    content = tomllib.loads(Path(__file__).with_name("tables.toml").read_text("utf-8"))
    return msgspec.convert(content, dict[str, tuple[_Tables, ...]])


class _Group(msgspec.Struct):
    """Sets that differ only in corpus, aspect and part."""

    protocol: str
    corpora: tuple[str, ...]
    parts: dict[str, tuple[str, ...]]
    fields: dict[str, Any] = {}


class _Judging(msgspec.Struct, forbid_unknown_fields=True):
    """How the outputs of some tasks are judged, as `sets.toml` describes it."""

    scores: tuple[str, ...]
    reported: tuple[str, ...]
    headline: str
    groups: tuple[str, ...] = ()
    grouped: tuple[str, ...] = ()
    breakdown: tuple[str, ...] = ()
    gap: tuple[str, str] = ("", "")
    gaps: tuple[str, ...] = ()
    outputs: int = 1
    template: str = "_base"
    version: float = 1.0

    def over_groups(self, names: Iterable[str]) -> tuple[Score, ...]:
        """Return scores, each that is grouped over its groups and not over all samples."""
        return tuple(
            Score(name, group)
            for name in names
            for group in (self.groups if name in self.grouped else [""])
        )


class _Benchmark(msgspec.Struct):
    """A table of `sets.toml`, which describes the keys; ``aspects`` and ``corpora`` are titles."""

    judging: dict[str, _Judging] = {}
    asks: dict[str, str] = {}
    introduction: str = ""
    legends: dict[str, str] = {}
    aspects: dict[str, str] = {}
    corpora: dict[str, str] = {}
    fields: dict[str, Any] = {}
    kinds: dict[str, dict[str, dict[str, Any]]] = {}
    sets: tuple[_Group, ...] = ()


@cache
def _benchmarks() -> dict[str, _Benchmark]:
    content = tomllib.loads(Path(__file__).with_name("sets.toml").read_text("utf-8"))
    return msgspec.convert(content, dict[str, _Benchmark])


def _table(benchmark: str) -> _Benchmark:
    return _benchmarks().get(benchmark) or _Benchmark()


def aspects(benchmark: str) -> dict[str, str]:
    """Return the titles of a benchmark's aspects, in the paper's order."""
    return _benchmarks()[benchmark].aspects


def specs(benchmark: str, make: Callable[..., TaskSpec] | None = None) -> Iterator[TaskSpec]:
    """Yield the sets of `sets.toml`, each made by :func:`spec` or a function with its arguments."""
    defaults: dict[tuple[str, str], str] = {}
    for group in _benchmarks()[benchmark].sets:
        for corpus, (aspect, parts) in product(group.corpora, group.parts.items()):
            is_default = group.protocol == defaults.setdefault((aspect, corpus), group.protocol)
            for part in parts:
                name = SetName(aspect, corpus, group.protocol, part or None)
                yield (make or spec)(benchmark, name, is_default=is_default, **group.fields)


def _judging(table: _Benchmark, name: str, corpus: str) -> dict[str, Any]:
    """Return the fields of a declaration that say how outputs are judged."""
    found = table.judging.get(f"{name}_{corpus}", table.judging[name])
    grouped = [name for name in found.scores if name in found.grouped]
    return {
        "scores": (*map(Score, found.scores), *found.over_groups(grouped)),
        "reported": tuple(map(Score, found.reported)),
        "headline": found.headline,
        "breakdown": found.over_groups(found.breakdown),
        "gaps": [Gap(*(Score(name, group) for group in found.gap)) for name in found.gaps],
        "outputs": found.outputs,
        "template": found.template,
        "version": found.version,
    }


def spec(benchmark: str, name: SetName, *, is_default: bool, **fields: Any) -> TaskSpec:
    """Return the declaration of sets; ``fields`` go before those of `sets.toml`."""
    table = _benchmarks()[benchmark]
    kind = table.kinds.get(name.aspect, {}).get(name.part or "", {})
    fields = table.fields | kind | fields
    judging = fields.pop("judging")
    aspect = [benchmark, name.aspect] if name.aspect != benchmark else []
    corpus = table.corpora.get(name.corpus, name.corpus)
    titles = [table.aspects[name.aspect], corpus] if aspect else [corpus]
    protocol = None if is_default else name.protocol
    own_part = None if aspect else name.part
    question = table.asks.get(f"{name.aspect}_{name.part}") or table.asks.get(name.aspect)
    computed = {
        "benchmark": benchmark,
        "name": name,
        "task": "_".join(filter(None, [*aspect, name.corpus, name.part, protocol])),
        "family": "_".join(filter(None, [*aspect, "{corpus}", own_part, protocol])),
        "title": f"{': '.join(titles)}, {name.protocol} sets",
        "part_title": name.part,
        "question": " ".join(filter(None, [question, table.asks.get(name.protocol)])),
        "is_default": is_default,
        "in_context": is_default,
    }
    fields = computed | _judging(table, judging, name.corpus) | fields
    arms_of = {key: value or None for key, value in fields.get("trained_on", {}).items()}
    fields["facets"] = kind.get("facets", {}) | fields.get("facets", {})
    tags = [tag.format(**name._asdict()) for tag in fields.get("tags", ())]
    fields["trained_on"] = SetName(**(name._asdict() | arms_of))
    fields["tags"] = [tag for tag in tags if tag != fields["task"]]
    for name_of_part, part in _PARTS.items():
        own = [field.name for field in dataclasses.fields(part) if field.name in fields]
        fields[name_of_part] = {each: fields.pop(each) for each in own}
    return msgspec.convert(fields, TaskSpec)
