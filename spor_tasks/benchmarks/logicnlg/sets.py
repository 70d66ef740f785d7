"""The sets of LogicNLG and their scores, each declared once.

There is one training set, and there are several questions about the test tables. The sets of one
training set have its arm in common, so that one checkpoint answers all of them.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from spor_tasks.benchmarks import declared
from spor_tasks.core.contracts import SetName, SetSpec
from spor_tasks.core.sample import (
    Contrast,
    Deferred,
    Sample,
    Split,
    SplitPair,
    contrast_of,
)
from spor_tasks.corpora.embedded import LOGICNLG_MINI
from spor_tasks.corpora.logicnlg import reader
from spor_tasks.corpora.logicnlg.linearize import Variant, in_variant
from spor_tasks.corpora.sources import LOGICNLG
from spor_tasks.text.filters import SEPARATOR

BENCHMARK = "logicnlg"
TITLE = "LogicNLG"
MINI = "logicnlg_mini"

_TRUTH = ("truth", "truth_readable")
"""Scores of the embedded corpus alone, whose sentences can be checked."""

_PARTS: dict[str | None, tuple[str, str | None]] = {
    None: ("texts", None),
    "adversarial": ("pairs", "adversarial pairs"),
    "ppl": ("perplexity", "perplexity"),
    "c2f": ("template_first", "template first"),
    "c2f_adversarial": ("pairs", "template first, adversarial pairs"),
}
"""The kind of judging in `judging.toml` and the title of each part."""

_VARIANTS: dict[SetName, str] = {
    SetName(BENCHMARK, BENCHMARK, "strict", "adversarial"): "pairs",
    SetName(BENCHMARK, BENCHMARK, "spaced"): "texts",
    SetName(BENCHMARK, BENCHMARK, "spaced", "adversarial"): "pairs",
    SetName(BENCHMARK, BENCHMARK, "full_table"): "texts",
    SetName(BENCHMARK, BENCHMARK, "full_table", "adversarial"): "pairs",
    SetName(BENCHMARK, BENCHMARK, "challenge"): "submitted",
    SetName(BENCHMARK, BENCHMARK, "challenge", "adversarial"): "submitted_pairs",
}
"""Sets that are not published, or not scored here.

``strict`` shows both sides of a pair the same columns, ``spaced`` and ``full_table`` are other
prompts, and ``challenge`` has no references.
"""


@cache
def specs() -> tuple[SetSpec, ...]:
    """Return the shipped sets, those that the paper has first."""
    published = [
        _spec(SetName(BENCHMARK, corpus, "published", part), kind)
        for corpus in (BENCHMARK, MINI)
        for part, (kind, _) in _PARTS.items()
    ]
    return (*published, *map(_spec, _VARIANTS, _VARIANTS.values()))


def find(name: SetName) -> SetSpec:
    """Return what is said of these sets.

    Raises:
        SplitError: there are no such sets.
    """
    return declared.find(specs(), name)


def _spec(name: SetName, kind: str) -> SetSpec:
    judging = declared.judging(BENCHMARK, kind)
    protocol = None if name.protocol == "published" else name.protocol
    corpus = TITLE if name.corpus == BENCHMARK else name.corpus
    can_check = name.corpus == MINI and "bleu_3" in judging["scores"]
    truth = _TRUTH if can_check else ()
    trained = "c2f" if (name.part or "").startswith("c2f") else None
    prompts = name.protocol if name.protocol in {"spaced", "full_table"} else "published"
    return SetSpec(
        benchmark=BENCHMARK,
        name=name,
        task="_".join(filter(None, [name.corpus, name.part, protocol])),
        title=f"{corpus}, {name.protocol} sets",
        part_title=_PARTS[name.part][1],
        arms=("train",),
        shots=4,
        **judging
        | {
            "scores": (*judging["scores"], *truth),
            "reported": (*judging["reported"], *truth),
        },
        trained_on=SetName(BENCHMARK, name.corpus, prompts, trained),
        is_default=protocol is None,
        is_fixed=name.corpus == BENCHMARK,
        in_context=protocol is None,
        tags=(f"{name.corpus}_all",) if protocol is None else (),
    )


def load(name: SetName) -> SplitPair:
    """Return shipped sets, from ``LOGICNLG.data_dir()`` where they are made of files.

    Equal calls return the same object, which nobody can change.

    Raises:
        SplitError: there are no such sets.
        CorpusError: a file is missing or is not the published one.
    """
    spec = find(name)
    return _load(spec, LOGICNLG.data_dir())


@cache
def _load(spec: SetSpec, folder: Path) -> SplitPair:
    name, (arm,) = spec.name, spec.arms
    test = _test(name, folder)
    if name.protocol == "strict":
        test = tuple(map(_under_one_prompt, test))
    variant = _variant(name)
    return SplitPair(
        name.aspect,
        name.corpus,
        name.protocol,
        (Split(arm, _arm(name, variant, folder)),),
        Split("test", _varied(test, variant)),
        name.part,
    )


def _variant(name: SetName) -> Variant:
    if (name.part or "").startswith("c2f"):
        return "coarse_to_fine"
    return name.protocol if name.protocol in ("spaced", "full_table") else "published"  # type: ignore[return-value]


def _test(name: SetName, folder: Path) -> tuple[Sample, ...]:
    is_paired = (name.part or "").endswith("adversarial")
    if name.corpus == MINI:
        return tuple(LOGICNLG_MINI.part("pairs" if is_paired else "test"))
    if name.protocol == "challenge":
        if is_paired:
            return reader.adversarial(reader.read_challenge(folder), folder)
        return reader.read_challenge_inputs(folder)
    if is_paired:
        return reader.adversarial(reader.read_pairs("test", folder), folder)
    return reader.read_part("test", folder)


def _arm(name: SetName, variant: Variant, folder: Path) -> Sequence[Sample]:
    if name.corpus == MINI:
        return _varied(LOGICNLG_MINI.part("train"), variant)
    files = ("data/train_lm.json", "all_csv.zip")
    pinned = " ".join([variant, *(LOGICNLG.files()[file].blob for file in files)])
    return Deferred(
        lambda: _varied(reader.read_part("train", folder), variant),
        hashlib.sha256(pinned.encode()).hexdigest(),
    )


def _varied(samples: Iterable[Sample], variant: Variant) -> tuple[Sample, ...]:
    if variant == "published":
        return tuple(samples)
    return tuple(_in_variant(sample, variant) for sample in samples)


def _in_variant(sample: Sample, variant: Variant) -> Sample:
    varied = in_variant(sample, variant)
    contrast = sample.challenge
    if variant != "coarse_to_fine" or not isinstance(contrast, Contrast):
        return varied
    text = f"{contrast.template} {SEPARATOR} {contrast.text}"
    return replace(varied, challenge=Contrast(contrast.units, text, contrast.template))


def _under_one_prompt(sample: Sample) -> Sample:
    """Return the pair with the columns of both sides, in the table's order, before each."""
    contrast = contrast_of(sample)
    units = tuple(sorted({*sample.units, *contrast.units}, key=lambda unit: int(unit[-1])))
    return replace(sample, units=units, challenge=replace(contrast, units=units))
