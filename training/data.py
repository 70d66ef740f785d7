"""The sets that the settings name, and a pair to train on."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import TypeAlias

from spor_tasks.aspects.arms import ARMS
from spor_tasks.aspects.request import Answer, Request, answer, corpora, has_sets
from spor_tasks.core import named
from spor_tasks.core.contracts import ReadsFiles, TaskSpec
from spor_tasks.core.errors import ConfigError, SplitError
from spor_tasks.core.registry import registry
from spor_tasks.core.sample import Sample, SetFacts, Sets
from spor_tasks.corpora import own
from spor_tasks.harness import task_files
from spor_tasks.prompts.pairs import TrainingPair
from spor_tasks.prompts.styles import PromptStyle
from training.config import DataConfig

PairsOf: TypeAlias = Callable[[Sample, PromptStyle], Iterable[TrainingPair]]
"""The pairs that an objective makes of a sample."""


def sets_of(data: DataConfig) -> Sets:
    """Return the sets that the settings name: shipped ones, or sets built from a corpus.

    Equal settings give the same object.

    Raises:
        ConfigError: the corpus does not exist, or a setting has no effect on it.
        CorpusError: a file is missing, damaged, or not what it claims to be.
        SplitError: there are no such sets, or the corpus is too small for them.
    """
    built = (data.seed, data.restarts, data.hide, data.sets, data.lang)
    if not is_own(data) and built == (None, None, (), None, None):
        return named.load(data.aspect, data.corpus, data.protocol, data.part)
    return _built(data).pair


def is_own(data: DataConfig) -> bool:
    """Return whether the sets are of a corpus of one's own, or of another package."""
    return data.corpus not in corpora() or (data.aspect in ARMS and not has_sets(data.corpus))


def corpus_sha256(data: DataConfig) -> str | None:
    """Return the digest of a corpus that sets are built from; None if its sets are shipped.

    Raises:
        SporError: as :func:`sets_of`.
    """
    if not is_own(data):
        return None
    return str(_built(data).origin["corpus_version"]).removeprefix("sha256:")


def everything(data: DataConfig) -> tuple[Sample, ...]:
    """Return every sample of the corpus that the settings name, in order.

    Raises:
        CorpusError: a file is missing, damaged, or not what it claims to be.
    """
    if data.corpus in corpora():
        samples: tuple[Sample, ...] = registry().get("corpus", data.corpus).everything()
        return samples
    if Path(data.corpus).suffix in {".yaml", ".yml"}:
        benchmark: ReadsFiles = registry().get("benchmark", data.aspect)
        return benchmark.own_texts(data.corpus)
    return own.read_corpus(Path(data.corpus), data.lang).samples


def find_spec(aspect: str, corpus: str, protocol: str, part: str | None = None) -> TaskSpec:
    """Return the declaration of sets, shipped or built from the user's own corpus.

    Raises:
        SplitError: no benchmark has such an aspect or part.
    """
    for benchmark in named.benchmarks():
        with suppress(SplitError):
            return benchmark.find(aspect, corpus, protocol, part)
    sets = SetFacts(aspect=aspect, corpus=corpus, protocol=protocol, part=part)
    raise SplitError(f"no benchmark has sets {str(sets)!r}")


def _built(data: DataConfig) -> Answer:
    settings = asdict(data)
    del settings["arm"], settings["limit"]
    return _answer(Request(**settings))


_answer = cache(answer)


def find_arm(pair: Sets, name: str) -> Sequence[Sample]:
    """Return the samples of the training arm of that name.

    Raises:
        ConfigError: the split has no such arm, and the error lists those it has; or it is empty.
    """
    sets = f"{pair.facts.aspect} {pair.facts.corpus}"
    if not pair.arms:
        raise ConfigError(
            f"{sets} {pair.facts.protocol} has other combinations in each split",
            where="data.part",
            remedy='Name a split, such as data.part="0".',
        )
    if name not in pair.arms or not any(sample.references for sample in pair.arms[name]):
        raise ConfigError(
            f"{sets} has no arm {name!r} with texts to train on",
            where="data.arm",
            remedy=f"Its arms are {' and '.join(pair.arms)}.",
        )
    return pair.arms[name]


def places_to_cut(spec: TaskSpec) -> tuple[str, ...]:
    """Return the texts before which a long prompt of these sets is cut, the first one it has.

    Raises:
        ConfigError: the task of the sets does not say.
    """
    settings, _ = task_files.decoding(spec)
    if "cut_before" not in settings:
        raise ConfigError(
            f"the task {spec.task} does not say where a prompt may be cut",
            where="optimization.cut",
            remedy="Set optimization.cut=none.",
        )
    return tuple(settings["cut_before"])
