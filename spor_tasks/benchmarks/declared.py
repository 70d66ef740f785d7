"""The base of benchmarks: sets and tables declared as data (`sets.toml`, `tables.toml`)."""

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, cached_property
from itertools import product
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec

from spor_tasks.aspects.arms import ARMS
from spor_tasks.core.contracts import Gap, Score, TaskSpec
from spor_tasks.core.layouts import Layout, Remark
from spor_tasks.core.named import no_sets
from spor_tasks.core.sample import SetFacts, Sets
from spor_tasks.core.words import joined
from spor_tasks.corpora.sources import data_dirs


class DeclaredSets:
    """A benchmark whose sets are data (:class:`~spor_tasks.core.contracts.Benchmark`).

    A benchmark derives from it. ``specs`` are the shipped sets.
    """

    name: str
    title: str
    source: str
    paper: str = ""
    introduction: str = ""
    groups: Mapping[str, str]
    legends: Mapping[str, str] = MappingProxyType({})
    reads_files: bool = False

    @cached_property
    def specs(self) -> tuple[TaskSpec, ...]:
        """The shipped sets: those of `sets.toml`, if no other ones are given."""
        return tuple(specs(self.name))

    def __init__(self) -> None:
        """Take what `sets.toml` says, if it has the benchmark; without aspects it is its own."""
        table = _benchmarks().get(self.name, _Benchmark())
        vars(self).update(table.about)
        self.groups = table.aspects or getattr(self, "groups", {self.name: self.title})
        self.legends, self._tables = table.legends or self.legends, table.tables

    def read(self, spec: TaskSpec) -> Sets:
        """Return shipped sets; it is called once for each while the folder of files is the same."""
        raise NotImplementedError

    def tables(self, sets: SetFacts) -> tuple[Layout, ...]:
        """Return the tables of a task's results; none are one table with all scores."""
        for each in self._tables:
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
        raise no_sets(name, self.specs)

    def under(self, spec: TaskSpec, split: str) -> TaskSpec:
        """Return the declaration of the sets of a task's split, which is its part.

        Raises:
            SplitError: there is no such split.
        """
        return self.find(spec.sets.aspect, spec.sets.corpus, spec.sets.protocol, split)

    def load(self, spec: TaskSpec) -> Sets:
        """Return shipped sets; equal calls return the same object.

        Raises:
            SplitError: there are no such sets.
            CorpusError: a file is missing, malformed or not the published one.
        """
        return _read(self, spec, data_dirs())


@cache
def _read(sets: DeclaredSets, spec: TaskSpec, _folders: tuple[Path, ...]) -> Sets:
    return sets.read(spec)


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

    @property
    def fields(self) -> dict[str, Any]:
        """The fields of a declaration that say how outputs are judged."""
        grouped = [name for name in self.scores if name in self.grouped]
        return msgspec.structs.asdict(self) | {
            "scores": (*map(Score, self.scores), *self._over_groups(grouped)),
            "reported": tuple(map(Score, self.reported)),
            "breakdown": self._over_groups(self.breakdown),
            "gaps": [Gap(*(Score(name, group) for group in self.gap)) for name in self.gaps],
        }

    def _over_groups(self, names: Iterable[str]) -> tuple[Score, ...]:
        """Return scores, each that is grouped over its groups and not over all samples."""
        return tuple(
            Score(name, group)
            for name in names
            for group in (self.groups if name in self.grouped else [""])
        )


class _Benchmark(msgspec.Struct):
    """A table of `sets.toml`, which describes the keys; ``aspects`` and ``corpora`` are titles."""

    about: dict[str, str] = {}
    legends: dict[str, str] = {}
    aspects: dict[str, str] = {}
    corpora: dict[str, str] = {}
    judging: dict[str, _Judging] = {}
    asks: dict[str, str] = {}
    fields: dict[str, Any] = {}
    kinds: dict[str, dict[str, dict[str, Any]]] = {}
    sets: tuple[_Group, ...] = ()
    tables: tuple[_Tables, ...] = ()
    """Those of `tables.toml`."""


@cache
def _benchmarks() -> dict[str, _Benchmark]:
    files = (Path(__file__).with_name(f"{name}.toml") for name in ("sets", "tables"))
    sets, tables = (tomllib.loads(file.read_text("utf-8")) for file in files)
    content = {name: table | {"tables": tables[name]} for name, table in sets.items()}
    return msgspec.convert(content, dict[str, _Benchmark])


def specs(benchmark: str) -> Iterator[TaskSpec]:
    """Yield the sets of `sets.toml`."""
    defaults: dict[tuple[str, str], str] = {}
    for group in _benchmarks()[benchmark].sets:
        for corpus, (aspect, parts) in product(group.corpora, group.parts.items()):
            is_default = group.protocol == defaults.setdefault((aspect, corpus), group.protocol)
            for part in parts:
                name = (aspect, corpus, group.protocol, part or None)
                yield spec(benchmark, *name, is_default=is_default, **group.fields)


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
    named = fields.pop("judging")
    judging = table.judging.get(f"{named}_{corpus}", table.judging[named])
    of = [benchmark, aspect] if aspect != benchmark else []
    titles = [table.aspects[aspect]] if of else []
    titles.append(table.corpora.get(corpus, corpus))
    shown = None if is_default else protocol
    question = table.asks.get(f"{aspect}_{part}") or table.asks.get(aspect)
    name = {"aspect": aspect, "corpus": corpus, "protocol": protocol, "part": part}
    computed = {
        "benchmark": benchmark,
        "task": joined("_", *of, corpus, part, shown),
        "family": joined("_", *of, "{corpus}", None if of else part, shown),
        "title": f"{': '.join(titles)}, {protocol} sets",
        "part_title": part,
        "question": joined(" ", question, table.asks.get(protocol)),
        "is_default": is_default,
        "in_context": is_default,
        "arms": ARMS.get(aspect, ("train",)),
    }
    fields = name | computed | judging.fields | fields
    arms_of = {key: value or None for key, value in fields.get("trained_on", {}).items()}
    fields["trained_on"] = name | arms_of
    fields["facets"] = kind.get("facets", {}) | fields.get("facets", {})
    tags = [tag.format(**name) for tag in fields.get("tags", ())]
    fields["tags"] = [tag for tag in tags if tag != fields["task"]]
    # The fields of the parts of a declaration stand side by side, and each takes its own.
    parts = dict.fromkeys(("sets", "judging", "asking", "release"), fields)
    return msgspec.convert(fields | parts, TaskSpec)
