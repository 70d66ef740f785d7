"""The documents of a task, and the demonstrations before their prompts."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from itertools import chain, combinations
from typing import TypeAlias

from datasets import Dataset

from spor_tasks.core.errors import ConfigError, SplitError
from spor_tasks.core.files import FileContent
from spor_tasks.core.sample import DataUnit, InFile, Sample, Sets, sides, without_first_reference
from spor_tasks.prompts import content, kept
from spor_tasks.prompts.content import Matching, Prompted
from spor_tasks.prompts.exchanged import twins, with_twins
from spor_tasks.prompts.styles import PromptStyle, example, preamble, prompt, prompted

Doc: TypeAlias = FileContent
"""A sample in lm-eval's form, with its prompts."""

HELD_OUT = ("held_out", "held_out_twin")
"""The fields of a document with the texts that its sample, and its twin, lack."""

BEFORE_TWIN = "demonstrations_twin"
"""The field of a document with the demonstrations before its twin's prompts."""

SHOWN_PAIRS = "shown_pairs"
"""The field of a logged document with what :func:`shown_pairs` says of its sample."""

_choose = cache(kept.choose)  # the tasks of both arms have the same
_match = cache(content.matching)


def dataset(docs: Sequence[Doc]) -> Dataset:
    """Return documents as lm-eval needs them; a field that some lack is None in those.

    `Dataset.from_list` would drop a field that the first one lacks.
    """
    fields = dict.fromkeys(chain.from_iterable(docs))
    return Dataset.from_dict({field: [doc.get(field) for doc in docs] for field in fields})


@cache  # tasks share arms, and the same task is built again for every checkpoint
def from_samples(
    samples: Sequence[Sample], style: PromptStyle, instruction: str | None = None
) -> list[Doc]:
    """Return the documents of samples."""
    return [prompted(sample, style, instruction=instruction) for sample in samples]


@cache
def without_first_references(
    samples: Sequence[Sample], style: PromptStyle, instruction: str | None = None
) -> list[Doc]:
    """Return documents whose first reference is not in the sample but in ``held_out``.

    That of a twin is in ``held_out_twin``.

    Raises:
        ConfigError: no sample has two references.
    """
    docs = [
        prompted(without_first_reference(sample), style, instruction=instruction)
        | {field: side.references[0] for field, side in zip(HELD_OUT, sides(sample), strict=False)}
        for sample in samples
        if len(sample.references) > 1
    ]
    if not docs:
        raise ConfigError(
            "no sample of the test set has two references", where="held_out_reference"
        )
    return docs


def have_twins(pair: Sets) -> bool:
    """Return whether the test samples have twins; all have one, or none."""
    return len(sides(pair.test[0])) > 1


@cache
def chosen(pair: Sets, most: int) -> tuple[Prompted, ...]:
    """Return the samples that every arm covers with at most so many demonstrations, with these.

    Demonstrations before samples with twins have twins themselves.

    Raises:
        ConfigError: no demonstration is allowed.
        SplitError: no sample can be covered.
    """
    if not have_twins(pair):
        return _choose(pair, most)
    with_twins_by_id = {sample.id: sample for sample in pair.test}
    return tuple(
        replace(chosen_samples, sample=with_twins_by_id[chosen_samples.sample.id])
        for chosen_samples in _choose(with_twins(pair), most)
    )


def with_demonstrations(
    pair: Sets, arm: str, most: int, style: PromptStyle, instruction: str | None = None
) -> list[Doc]:
    """Return the documents of the covered samples, each with its demonstrations of an arm."""
    number, docs = [*pair.arms].index(arm), []
    for each in chosen(pair, most):
        chosen_samples = each.arms[number]
        doc = prompted(each.sample, style, example, instruction) | {
            "demonstrations": _listed(chosen_samples, style, instruction)
        }
        if have_twins(pair):
            doc[BEFORE_TWIN] = _listed(twins(chosen_samples), style, instruction)
        docs.append(doc)
    return docs


def first_prompt(pair: Sets, shown: str | None, most: int) -> str:
    """Return what a causal model reads of the first sample, or of the first with demonstrations."""
    if shown is None:
        return prompt(pair.test[0], "causal")
    for sample in pair.test:
        with suppress(SplitError):  # demonstrations cannot cover it
            alone = replace(pair, test=(sample,))
            (doc,) = with_demonstrations(alone, shown, most, "causal")
            before = [f"{each['prompt']}{each['target']}" for each in doc["demonstrations"]]
            return preamble(sample.corpus, "causal") + "\n\n".join([*before, doc["prompt"]])
    raise SplitError("no sample can be covered with demonstrations", where=str(pair.facts))


def matching(pair: Sets, most: int) -> dict[str, Matching]:
    """Return what the prompts of each arm show; empty for a single arm, which has no match."""
    if len(pair.arms) == 1:
        return {}
    return dict(zip(pair.arms, _match(chosen(pair, most)), strict=True))


@cache
def shown_pairs(pair: Sets, most: int | None) -> Mapping[str, Mapping[str, float]]:
    """Return the share of each test sample's pairs of units that each of two arms shows together.

    By the id of the sample. The arms are training sets, or the at most ``most`` demonstrations that
    are chosen for the sample. Empty for other sets, and without samples of several units.
    """
    if len(pair.arms) != 2 or any(isinstance(each, InFile) for each in pair.arms.values()):
        return {}
    shown = {arm: _pairs(() if most else samples) for arm, samples in pair.arms.items()}
    prompted = {each.sample.id: each for each in chosen(pair, most)} if most else {}
    shares = {}
    for sample in pair.test:
        own = _pairs([sample])
        if most and sample.id in prompted:
            shown = dict(zip(pair.arms, map(_pairs, prompted[sample.id].arms), strict=True))
        if own:
            together = {arm: len(own & of_arm) / len(own) for arm, of_arm in shown.items()}
            shares[sample.id] = together
    return shares


def _pairs(samples: Iterable[Sample]) -> set[frozenset[DataUnit]]:
    """Return the pairs of units that stand together in a sample."""
    return {frozenset(two) for sample in samples for two in combinations({*sample.units}, 2)}


def drawn_from(pair: Sets, arm: str, *, before_twin: bool) -> Sequence[Sample]:
    """Return the samples that demonstrations are drawn from.

    Sets with twins draw from the samples that have twins, or from these twins.
    """
    if not have_twins(pair):
        return pair.arms[arm]
    samples = with_twins(pair).arms[arm]
    return _twins_of(samples) if before_twin else samples


_twins_of = cache(twins)


def _listed(
    samples: Iterable[Sample], style: PromptStyle, instruction: str | None
) -> list[dict[str, str]]:
    return [
        {"id": sample.id, "prompt": example(sample, style, instruction), "target": sample.target}
        for sample in samples
    ]
