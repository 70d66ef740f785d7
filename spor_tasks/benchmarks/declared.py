"""The base of benchmarks: sets and tables declared as data (`sets.toml`, `tables.toml`)."""

import dataclasses
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import msgspec

from spor_tasks.core.contracts import Asking, Gap, Judging, Release, Score, TaskSpec
from spor_tasks.core.errors import ConfigError, SplitError, advice
from spor_tasks.core.layouts import Layout, Remark
from spor_tasks.core.sample import Sample, SetFacts, Sets
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
    reads_files: bool = False

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

    def read(self, spec: TaskSpec) -> Sets:
        """Return shipped sets; it is called once for each while the folder of files is the same."""
        raise NotImplementedError

    def tables(self, sets: SetFacts) -> tuple[Layout, ...]:
        """Return the tables of a task's results; none are one table with all scores."""
        for each in _tables().get(self.name, ()):
            is_of_aspect = sets.aspect in (each.aspects or [sets.aspect])
            if is_of_aspect and sets.protocol in (each.protocols or [sets.protocol]):
                return each.layouts
        return ()

    def captions(self, _sets: SetFacts) -> Mapping[str, str]:
        """Return what remarks below tables say of these sets, by the names in braces."""
        return {}

    def sets(self) -> tuple[TaskSpec, ...]:
        """Return the shipped sets; the first of an aspect and corpus is the default."""
        return self.specs

    def find(self, aspect: str, corpus: str, protocol: str, part: str | None = None) -> TaskSpec:
        """Return the declaration of sets.

        Raises:
            SplitError: there are no such sets; the error lists all.
        """
        name = SetFacts(aspect=aspect, corpus=corpus, protocol=protocol, part=part)
        for each in self.specs:
            if each.sets.named == name.named:
                return each
        raise SplitError(
            f"there is no split {str(name)!r}",
            remedy=advice(name, (spec.sets for spec in self.specs), "`spor tasks list` shows all."),
        )

    def under(self, spec: TaskSpec, split: str) -> TaskSpec:
        """Refuse a split.

        Raises:
            SplitError: always, if the benchmark has none.
        """
        raise SplitError(f"there is no split {split!r}", where=spec.task)

    def load(self, spec: TaskSpec) -> Sets:
        """Return shipped sets; equal calls return the same object.

        Raises:
            SplitError: there are no such sets.
            CorpusError: a file is missing, malformed or not the published one.
        """
        return _read(self, spec, self.files and self.files.data_dir())

    def own_sets(self, file: str, _protocol: str | None, _part: str | None) -> Sets:
        """Refuse a file of the user's.

        Raises:
            ConfigError: always, if the benchmark reads none.
        """
        raise ConfigError(f"{self.title} reads no such files", where=file)

    def own_texts(self, file: str) -> tuple[Sample, ...]:
        """Refuse a file of the user's.

        Raises:
            ConfigError: always, if the benchmark reads none.
        """
        raise ConfigError(f"{self.title} reads no such files", where=file)


@cache
def _read(sets: DeclaredSets, spec: TaskSpec, _folder: Path | None) -> Sets:
    return sets.read(spec)


_PARTS = {"sets": SetFacts, "judging": Judging, "asking": Asking, "release": Release}
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
                name = (aspect, corpus, group.protocol, part or None)
                yield (make or spec)(benchmark, *name, is_default=is_default, **group.fields)


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


def spec(
    benchmark: str,
    aspect: str,
    corpus: str,
    protocol: str,
    part: str | None,
    *,
    is_default: bool,
    **fields: Any,
) -> TaskSpec:
    """Return the declaration of sets; ``fields`` go before those of `sets.toml`."""
    table = _benchmarks()[benchmark]
    kind = table.kinds.get(aspect, {}).get(part or "", {})
    fields = table.fields | kind | fields
    of = [benchmark, aspect] if aspect != benchmark else []
    corpus_title = table.corpora.get(corpus, corpus)
    titles = [table.aspects[aspect], corpus_title] if of else [corpus_title]
    shown = None if is_default else protocol
    question = table.asks.get(f"{aspect}_{part}") or table.asks.get(aspect)
    name = {"aspect": aspect, "corpus": corpus, "protocol": protocol, "part": part}
    computed = {
        "benchmark": benchmark,
        "task": "_".join(filter(None, [*of, corpus, part, shown])),
        "family": "_".join(filter(None, [*of, "{corpus}", None if of else part, shown])),
        "title": f"{': '.join(titles)}, {protocol} sets",
        "part_title": part,
        "question": " ".join(filter(None, [question, table.asks.get(protocol)])),
        "is_default": is_default,
        "in_context": is_default,
    }
    fields = name | computed | _judging(table, fields.pop("judging"), corpus) | fields
    arms_of = {key: value or None for key, value in fields.get("trained_on", {}).items()}
    fields["trained_on"] = name | arms_of
    fields["facets"] = kind.get("facets", {}) | fields.get("facets", {})
    tags = [tag.format(**name) for tag in fields.get("tags", ())]
    fields["tags"] = [tag for tag in tags if tag != fields["task"]]
    for name_of_part, of_part in _PARTS.items():
        own = [field.name for field in dataclasses.fields(of_part) if field.name in fields]
        fields[name_of_part] = {each: fields.pop(each) for each in own}
    return msgspec.convert(fields, TaskSpec)
