"""The sets that the settings name, and a pair to train on."""

import logging
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import NamedTuple, TypeAlias

from spor_tasks.aspects import check
from spor_tasks.aspects.arms import ARMS
from spor_tasks.aspects.request import Answer, Request, answer, corpora
from spor_tasks.core import named
from spor_tasks.core.contracts import ReadsFiles, TaskSpec
from spor_tasks.core.errors import ConfigError, SplitError
from spor_tasks.core.registry import registry
from spor_tasks.core.sample import Sample, SetFacts, Sets
from spor_tasks.corpora import own
from spor_tasks.harness import task_files
from spor_tasks.prompts.styles import PromptStyle
from training.config import DataConfig

_log = logging.getLogger(__name__)


class TrainingPair(NamedTuple):
    """The prompt, the text to write after it, and the id of the sample that both come from."""

    prompt: str
    text: str
    sample: str = ""


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
    if data.corpus in corpora() and built == (None, None, (), None, None):
        return named.load(data.aspect, data.corpus, data.protocol, data.part)
    return _built(data).pair


def corpus_sha256(data: DataConfig) -> str | None:
    """Return the digest of the user's own corpus that sets are built from, else None.

    Raises:
        SporError: as :func:`sets_of`.
    """
    if data.corpus in corpora():
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


def check_sets(pair: Sets) -> list[str]:
    """Return the requirements that the sets break, in words.

    Raises:
        SplitError: they are strict sets, which must break none.
    """
    if pair.facts.aspect not in ARMS:  # a benchmark without aspects has no requirements
        return []
    violations = [violation.words for violation in check.check(pair).violations]
    listed = "; ".join(violations)
    if violations and pair.facts.protocol == "strict":
        raise SplitError(
            f"{pair.facts.aspect} {pair.facts.corpus} breaks the requirements of strict sets: "
            f"{listed}",
            remedy="Build the sets again.",
        )
    if count := len(violations):
        _log.warning("the published sets break %d of their requirements: %s", count, listed)
    return violations


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
