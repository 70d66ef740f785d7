"""DCG and contrastive prefixes: vectors for values, which are to be told apart.

Nothing of the base is fitted, but what makes vectors of the values of a text's aspects
(:mod:`spor_tasks.evaluation.coded`). The text should be likely with the vectors of its own
combination, and less so with those of others:

    L + w · log(e^−L + Σ e^−L_i),

where L is the mean loss of a batch by target token, and L_i that of the same texts if they are all
read with the vectors of combination i. That is (1 − w) L + w L_dis, with L_dis = L + log(…). There
are seven such combinations, or as many as training shows if these are fewer, drawn from these for
each batch; a text's own may be among them. This is what the published code of CompMCTG does (Zhong
et al., ACL 2024), with w = 0.1 for DCG and, as the code has it, 0.2 for contrastive prefixes. For
the second batch of Meta-MCTG they are drawn from the combinations that it may have.

So the loss depends on which texts share a batch. With several processes each takes its own share
of a batch for one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any, ClassVar, Self

import torch
from pydantic import Field
from pydantic.dataclasses import dataclass as settings_dataclass

from spor_tasks.core.errors import ConfigError
from spor_tasks.evaluation.coded import Aspects, CodedModel, Dcg, TrainedPrefixes, Vectors
from training.bases import Base
from training.batches import Batch, Model, target_losses
from training.objectives.base import Combination, Material, combination_of
from training.objectives.likelihood import Likelihood
from training.settings import CLOSED, Count

_Share = Annotated[float, Field(ge=0, le=1)]
_Number = Annotated[int, Field(ge=0)]

_OWN = -1  # in place of the number of a combination


@settings_dataclass(frozen=True, slots=True, config=CLOSED)
class DcgSettings:
    """``weight`` w, the number of ``contrasts``, and those of both kinds of vectors."""

    weight: _Share = 0.1
    contrasts: _Number = 7
    code_vectors: Count = 6
    task_vectors: Count = 44


@settings_dataclass(frozen=True, slots=True, config=CLOSED)
class PrefixSettings:
    """``weight`` w, the number of ``contrasts``, a prefix's ``length``, and its inner ``width``."""

    weight: _Share = 0.2
    contrasts: _Number = 7
    length: Count = 10
    width: Count = 512


@dataclass(frozen=True)
class Coded(Likelihood):
    """Vectors for values. ``seen`` are the combinations that contrasts are drawn from."""

    vectors: ClassVar[type[Vectors]]
    how: DcgSettings | PrefixSettings
    aspects: Aspects
    seen: tuple[Combination, ...] = ()
    longest: int = 0

    def methods(self, _: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the only method: it fits weights of its own."""
        return ("codes",)

    def by_batch(self, _: Mapping[str, Any]) -> bool:
        """Return True."""
        return True

    def bound(self, material: Material) -> Self:
        """Return the objective with the values and combinations of a run.

        Raises:
            ConfigError: it cannot be used with these samples, settings or base.
        """
        _check(material)
        values: dict[str, dict[str, None]] = {}
        for sample in material.samples.values():
            combination_of(sample)
            for unit in sample.units:
                values.setdefault(unit[0], {})[unit[-1]] = None
        names = dict.fromkeys(row.sample for row in material.rows)
        return replace(
            self,
            how=self.settings(**material.settings),
            aspects={aspect: tuple(of) for aspect, of in values.items()},
            seen=tuple(dict.fromkeys(combination_of(material.samples[name]) for name in names)),
            longest=max(len(row.input_ids) for row in material.rows),
        )

    def fitted(self, base: Base) -> Model:
        """Return the base, frozen, with fresh weights that make vectors of values.

        Raises:
            ConfigError: the base's tokenizer does not tell the combinations apart, or the longest
                text has no room behind the vectors.
        """
        sizes = {
            name: getattr(self.how, name)
            for name in self.how.__dataclass_fields__
            if name not in {"weight", "contrasts"}
        }
        vectors = partial(self.vectors, **sizes)
        model = CodedModel(base.model, base.tokenizer, self.aspects, vectors)
        if base.positions and self.longest + model.longer > base.positions:
            raise ConfigError(
                f"a text has no room: {self.longest} tokens and {model.longer} more, and the model "
                f"has {base.positions} positions",
                where="optimization.max_length",
                remedy=f"Set optimization.max_length={base.positions - model.longer}.",
            )
        return model

    def among(self, combinations: Sequence[Combination]) -> Self:
        """Return the objective whose contrasts are drawn from these combinations."""
        return replace(self, seen=tuple(combinations))

    def loss(self, model: Model, batch: Batch) -> torch.Tensor:
        """Return the loss of a batch, times the number of its target tokens."""
        drawn = torch.randperm(len(self.seen))[: self.how.contrasts].tolist()
        read = [_OWN, *(model.number(self.seen[place]) for place in drawn)]
        losses = target_losses(model, read_as(batch, read)).unflatten(0, (len(read), -1)).mean(1)
        return (losses[0] + self.how.weight * (-losses).logsumexp(0)) * len(batch.labels)


class DcgObjective(Coded):
    """Vectors in the place of tokens."""

    settings: ClassVar[type] = DcgSettings
    vectors = Dcg


class PrefixObjective(Coded):
    """Keys and values of attention."""

    settings: ClassVar[type] = PrefixSettings
    vectors = TrainedPrefixes


def read_as(batch: Batch, combinations: Sequence[int]) -> Batch:
    """Return the batch as often as there are combinations, each time all read with one of them."""
    times = len(combinations)
    inputs = {name: tensor.repeat(times, 1) for name, tensor in batch.inputs.items()}
    rows, columns = batch.inputs["input_ids"].shape
    numbers = torch.tensor(combinations, device=batch.labels.device)
    starts = torch.arange(times, device=batch.labels.device) * rows * columns
    return Batch(
        {**inputs, "combinations": numbers.repeat_interleave(rows)},
        batch.labels.repeat(times),
        (starts[:, None] + batch.positions).flatten(),
        batch.samples * times,
        batch.sizes * times,
    )


def _check(material: Material) -> None:
    if material.optimization.packing:
        raise ConfigError(
            "vectors for values cannot be laid end to end",
            where="optimization.packing",
            remedy="Set optimization.packing=false.",
        )
    if material.base.style != "causal":
        raise ConfigError(
            "vectors for values are for decoders, and this is an encoder-decoder",
            where="model.path",
            remedy="Set model.path to a causal language model, such as GPT-2.",
        )


DCG = DcgObjective(DcgSettings(), {})
CONTRASTIVE_PREFIX = PrefixObjective(PrefixSettings(), {})
