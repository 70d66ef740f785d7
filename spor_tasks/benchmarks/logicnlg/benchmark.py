"""LogicNLG: one training set, several questions about the test tables, and its table.

The sets of one training set have its arm in common, so that one checkpoint answers all of them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import cast

from spor_tasks.benchmarks.declared import DeclaredSets
from spor_tasks.core.contracts import TaskSpec
from spor_tasks.core.digests import sha256_of_text
from spor_tasks.core.sample import Contrast, Deferred, Sample, Sets, challenge_of
from spor_tasks.corpora import sources
from spor_tasks.corpora.embedded import LOGICNLG_MINI
from spor_tasks.corpora.logicnlg import reader
from spor_tasks.corpora.logicnlg.linearize import Variant, in_variant
from spor_tasks.text.filters import SEPARATOR


class LogicNLG(DeclaredSets):
    """The registered benchmark ``logicnlg``."""

    name = "logicnlg"

    def read(self, spec: TaskSpec) -> Sets:
        """Return training set and test set, both with the prompts of the sets."""
        sets, is_paired = spec.sets, "test" in spec.sets.facets
        variant = cast("Variant", sets.facets.get("input", "published"))
        if sets.corpus != self.name:
            train: Sequence[Sample] = _varied(LOGICNLG_MINI.part("train"), variant)
            test = LOGICNLG_MINI.part("pairs" if is_paired else "test")
        else:
            files = sources.LOGICNLG.files()
            blobs = (files[file].blob for file in ("data/train_lm.json", "all_csv.zip"))
            sha256 = sha256_of_text(" ".join([variant, *blobs]))
            train = Deferred(lambda: _varied(reader.read_part("train"), variant), sha256)
            is_challenge = sets.protocol == "challenge"
            if is_paired:
                test = reader.read_pairs("challenge" if is_challenge else "test")
            else:
                test = reader.read_challenge_inputs() if is_challenge else reader.read_part("test")
        if sets.protocol == "strict":
            test = tuple(map(_under_one_prompt, test))
        return Sets(sets, {"train": train}, _varied(test, variant))


LOGICNLG = LogicNLG()


def _varied(samples: Iterable[Sample], variant: Variant) -> tuple[Sample, ...]:
    if variant == "published":
        return tuple(samples)
    varied = []
    for sample in samples:
        changed, contrast = in_variant(sample, variant), sample.challenge
        if variant == "coarse_to_fine" and isinstance(contrast, Contrast):
            text = f"{contrast.template} {SEPARATOR} {contrast.text}"
            challenge = Contrast(contrast.units, text, contrast.template)
            changed = replace(changed, challenge=challenge)
        varied.append(changed)
    return tuple(varied)


def _under_one_prompt(sample: Sample) -> Sample:
    """Return the pair with the columns of both sides, in the table's order, before each."""
    contrast = challenge_of(sample, Contrast)
    units = tuple(sorted({*sample.units, *contrast.units}, key=lambda unit: int(unit[-1])))
    return replace(sample, units=units, challenge=replace(contrast, units=units))
