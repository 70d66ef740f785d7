"""The samples that outputs are for: a task's test set, those of a file, or each row's own."""

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

from spor_tasks.core.errors import ConfigError, advice
from spor_tasks.core.files import is_file, read_lines
from spor_tasks.core.registry import registry
from spor_tasks.core.sample import Sample, SampleMaker, sides
from spor_tasks.corpora.base import Corpus
from spor_tasks.corpora.slots import in_its_names
from spor_tasks.metrics.base import Metric
from spor_tasks.metrics.scores import metrics_for
from spor_tasks.text import filters as known_filters

_LEAVE = "Leave it out."

Placed: TypeAlias = tuple[str, Sample | None]
"""A sample after its place; None of an entry of a file that makes no sample, as without a unit."""


@dataclass(frozen=True)
class Subject:
    """What outputs are for, and how they are scored by default."""

    corpus: Corpus
    name: str
    """That of the task or file of the samples, in errors."""
    read: Callable[[], Iterable[Placed]] | None = None
    """Returns the samples, one for each line of a file; None if each row has its own."""
    read_covered: Callable[[], Iterable[Placed]] | None = None
    """Returns those that a task with demonstrations asks for, if it does not ask for all."""
    for_texts_alone: bool = False
    """Whether only files of texts are for them."""
    may_repeat: bool = False
    """Whether a row may repeat its sample, which must be one of these."""
    labels: Path | None = None
    """The file that the reader of labelled texts takes."""
    task: str | None = None
    outputs: int | None = None
    """How many texts a side of a sample of the task has, one for each prompt."""
    metrics: tuple[Metric, ...] = ()
    """Those of the task."""
    scores: tuple[str, ...] = ()
    """Those that the task reports, which are shown in this order; none are all."""
    filters: tuple[str, ...] = known_filters.DEFAULT

    @cached_property
    def samples(self) -> tuple[Placed, ...]:
        """The samples, in their order."""
        return tuple(self.read()) if self.read else ()

    @cached_property
    def covered(self) -> tuple[Placed, ...]:
        """The samples that a task asks for, in their order."""
        return tuple(self.read_covered()) if self.read_covered else self.samples

    @cached_property
    def _contents(self) -> frozenset[Hashable]:
        return frozenset(_content(sample) for _, sample in self.samples if sample)

    def has(self, sample: Sample) -> bool:
        """Return whether a row may have this sample."""
        return not self.may_repeat or _content(sample) in self._contents

    def doubts(self, count: int) -> Iterator[str]:
        """Yield what a reader must know of outputs for so many samples."""
        if self.task:  # covered samples may take minutes to find
            if not self.read_covered and count < (whole := len(self.samples)):
                yield f"a trial on {count:,} of the {whole:,} samples of {self.task}"
        elif not self.for_texts_alone and (
            none := sum(sample is None for _, sample in self.samples)
        ):
            whole = len(self.samples)
            yield f"{self.name}: {none:,} of {whole:,} entries are no samples: not scored"


def _content(sample: Sample) -> Hashable:
    """Return what two copies of a sample share, whatever they are numbered."""
    return sample.units, sample.references, sample.about("name")


def find(
    task: str | None,
    corpus: str | Path | None,
    references: Path | None,
    *,
    lang: str | None = None,
    include: Path | None = None,
) -> Subject:
    """Return what outputs are for.

    That is the test set of a task, which may be of a folder to ``include``, or the samples in a
    file of ``references``, which is of a registered ``corpus`` or of one's own. The corpus may be
    such a file too: outputs are for its test samples, or for all if it has none. Without a file
    each row has its own sample. ``lang`` chooses among the languages of a file's texts.

    Raises:
        ConfigError: a name is unknown, nothing is named, or two things name the samples.
        CorpusError: the data of the task is missing.
    """
    if include and task is None:
        raise ConfigError("has an effect with a task alone", where="include_path", remedy=_LEAVE)
    if task is not None:
        named = {"corpus": corpus, "references": references, "lang": lang}
        for name, given in named.items():
            if given is not None:
                raise ConfigError(f"{task} names its {name}", where=name, remedy=_LEAVE)
        return _of_task(task, include)
    if corpus is None and references is None:
        what = "nothing says what the outputs are for"
        raise ConfigError(what, remedy="Name a --task, a --corpus, or a file of --references.")
    known = registry().names("corpus")
    if corpus is not None and str(corpus) not in known and not Path(corpus).exists():
        what = f"there is no corpus or file {str(corpus)!r}"
        raise ConfigError(what, where="corpus", remedy=advice(corpus, known))
    if corpus is None and _is_of_totto(references):
        corpus = "totto"
    if corpus is None or str(corpus) not in known:
        return _of_file(Path(corpus or references or ""), references, lang)
    return _registered(registry().get("corpus", str(corpus)), references, lang)


def _is_of_totto(file: Path | None) -> bool:
    """Return whether a file has rows as ToTTo publishes them, which name their corpus."""
    if file is None or not is_file(file):
        return False
    return b'"highlighted_cells"' in next(read_lines(file), b"")


def _registered(found: Corpus, references: Path | None, lang: str | None) -> Subject:
    """Return the samples of a file that is of a registered corpus, or each row's own."""
    if lang and (found.read_references or found.read_labelled or references is None):
        what = "has an effect on references in XML alone"
        raise ConfigError(what, where="lang", remedy=_LEAVE)
    if found.read_labelled:
        return Subject(found, found.name, labels=references, filters=())
    if read := found.read_references:
        name, is_default = str(references or found.name), references is None
        return Subject(found, name, lambda: read(references), for_texts_alone=is_default)
    if references is None:
        return Subject(found, found.name)
    return _of_entries(references, found, lang)


def _of_entries(file: Path, corpus: Corpus, lang: str | None) -> Subject:
    """Return the entries of a file of any form, one for each line of outputs."""
    from spor_tasks.corpora.formats import read_samples

    def entries() -> Iterator[Placed]:
        for place, _, sample in read_samples(file, SampleMaker(corpus.name), lang):
            yield place, sample and in_its_names(sample, corpus.attributes, where=place)

    return Subject(corpus, str(file), entries)


def _of_file(file: Path, references: Path | None, lang: str | None) -> Subject:
    """Return the samples of a corpus of one's own, or of a file of references beside it."""
    from spor_tasks.corpora import own

    corpus = Corpus(name=own.name_of(file), parts=lambda _: {}, linearize=own.linearize)
    if references is not None:
        return _of_entries(references, corpus, lang)

    def samples() -> Iterator[Placed]:
        read = own.read_corpus(file, lang)
        return ((f"{file}, sample {n}", each) for n, each in enumerate(read.test or read.train, 1))

    return Subject(corpus, str(file), samples, may_repeat=True)


def _of_task(name: str, include: Path | None) -> Subject:
    """Return the test set of a task, and how the task scores."""
    from spor_tasks.corpora import own
    from spor_tasks.harness import plan, task_files

    file, *more = task_files.find([name], include)
    if more:
        what = f"stands for {len(more) + 1} tasks"
        raise ConfigError(what, where=name, remedy=f"Name one of them, such as {file.name}.")
    if file.asks_likelihoods:
        what = "asks how likely given texts are, and no output of it can be scored"
        raise ConfigError(what, where=file.name, remedy="Evaluate it with lm-eval.")
    spec, pair = file.sets.spec, plan.load(file.sets)
    judging, shown = spec.judging, file.sets.icl_arm
    of_untuned = known_filters.UNTUNED if shown else known_filters.DEFAULT
    cut = [
        each
        for name in task_files.decoding(spec)[1]
        for each in (of_untuned if (name,) == known_filters.DEFAULT else [name])
    ]

    def placed() -> Iterator[tuple[str, Sample]]:
        return ((f"{file.name}, sample {n}", each) for n, each in enumerate(pair.test, start=1))

    def covered() -> Iterator[Placed]:
        from spor_tasks.harness import documents

        ids = {each.sample.id for each in documents.chosen(pair, file.shots)}
        return ((place, sample) for place, sample in placed() if sample.id in ids)

    return Subject(
        own.corpus_of(spec.sets.corpus),
        file.name,
        placed,
        covered if shown else None,
        may_repeat=True,
        task=file.name,
        outputs=judging.outputs // len(sides(pair.test[0])),
        metrics=tuple(each for each in metrics_for(judging.scores) if each.answers == "texts"),
        scores=tuple(dict.fromkeys(map(str, (*judging.reported, *judging.scores)))),
        filters=tuple(cut),
    )
