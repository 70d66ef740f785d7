"""CompMCTG: its tasks, the splits that answers are read under, and its tables."""

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from statistics import fmean

from spor_tasks.benchmarks.compmctg import designs, sets, splits
from spor_tasks.benchmarks.compmctg.designs import SHIPPED
from spor_tasks.benchmarks.declared import DeclaredSets
from spor_tasks.core.contracts import TaskSpec
from spor_tasks.core.digests import sha256_of
from spor_tasks.core.errors import SplitError
from spor_tasks.core.sample import Sample, SetFacts, Sets
from spor_tasks.core.words import joined
from spor_tasks.corpora.compmctg import reader
from spor_tasks.corpora.compmctg.spaces import read_space


class CompMCTG(DeclaredSets):
    """The registered benchmark ``compmctg``."""

    name = sets.BENCHMARK
    reads_files = True

    @cached_property
    def specs(self) -> tuple[TaskSpec, ...]:
        """The shipped sets, of whole tasks."""
        return tuple(sets.tasks())

    def find(self, aspect: str, corpus: str, protocol: str, part: str | None = None) -> TaskSpec:
        """Return the declaration of the sets of a task, or of a split of it; no file is read.

        Raises:
            SplitError: there are no such sets.
        """
        if aspect == self.name and (spec := sets.find(corpus, protocol, part)):
            return spec
        if names := sets.split_names(corpus, protocol):
            name = joined(" ", aspect, corpus, protocol, part)
            raise SplitError(
                f"there is no split {name!r}", remedy=f"Its splits are {', '.join(names)}."
            )
        return super().find(aspect, corpus, protocol, part)

    def read(self, spec: TaskSpec) -> Sets:
        """Return sets; a single split has an arm, which is read when it is needed."""
        design = SHIPPED.get(spec.sets.corpus)
        if design is None:
            raise SplitError(
                f"{str(spec.sets)!r} is of a space of your own",
                remedy="Name its YAML file in place of the corpus.",
            )
        return designs.pair(spec.sets, design)

    def under(self, spec: TaskSpec, split: str) -> TaskSpec:
        """Return the sets of a task's split: ``3``, or ``published_3`` of an ``unseen.jsonl``.

        ``published`` are all splits of that file.

        Raises:
            SplitError: the split does not exist.
        """
        corpus, protocol = spec.sets.corpus, spec.sets.protocol
        if split in sets.FILE_SPLITS:
            return self.find(self.name, corpus, sets.OF_FILES[protocol], sets.FILE_SPLITS[split])
        return self.find(self.name, corpus, protocol, split)

    def captions(self, facts: SetFacts) -> Mapping[str, str]:
        """Return how many splits a protocol has, and what a system scores that ignores codes."""
        corpus, protocol = facts.corpus, facts.protocol
        names = sets.split_names(corpus, protocol)
        told = {"splits": str(len(names))}
        if names:
            known = splits.shipped(SHIPPED[corpus].space, protocol)
            seen, comp = map(fmean, zip(*map(splits.without_codes, known), strict=True))
            told["without_codes"] = (
                f"a system that writes like its training texts, whatever is asked, has an accuracy "
                f"of {seen:.1f} i.d., {comp:.1f} comp."
            )
        return told

    # --- Spaces of one's own ----------------------------------------------------------------------

    def own_sets(self, file: str, protocol: str | None, part: str | None) -> Sets:
        """Return the sets of a space in a YAML file, which has the texts of training beside it.

        The splits of ACD and Few-Shot are those of the ``unseen.jsonl`` beside it.

        Raises:
            ConfigError: the YAML file is malformed.
            SplitError: the protocol is unknown, or has no such split.
            CorpusError: ``unseen.jsonl`` is needed, and is missing or malformed.
        """
        design = designs.own(Path(file).resolve(), sha256_of(Path(file)))
        spec = self.find(self.name, design.space.name, protocol or "original", part)
        return designs.pair(spec.sets, design)

    def own_texts(self, file: str) -> tuple[Sample, ...]:
        """Return all labelled texts beside a YAML file, those for classifiers last.

        Raises:
            ConfigError: the YAML file is malformed.
            CorpusError: ``gen.jsonl`` is missing, or a row is malformed.
        """
        space, folder = read_space(Path(file)), Path(file).parent
        of_classifiers = folder / "cls.jsonl"
        paths = [folder / "gen.jsonl", *([of_classifiers] if of_classifiers.exists() else [])]
        return tuple(sample for path in paths for sample in reader.read(path, space))


COMPMCTG = CompMCTG()
