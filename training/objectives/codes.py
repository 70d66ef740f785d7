"""DCG and contrastive prefixes: vectors for values, trained on a frozen base.

The trained weights make vectors of the values of a text's aspects
(:mod:`spor_tasks.models.coded`). The text should be likely with the vectors of its own
combination, and less likely with those of another:

    L + w · log(e^−L + Σ e^−L_i),

where L is the mean loss of a batch by target token, and L_i that of the same texts if they are all
read with the vectors of combination i. That is (1 − w) L + w L_dis, with L_dis = L + log(…). Seven
such combinations are drawn for each batch, or fewer where training has fewer; a text's own may be
one of them. The published code of CompMCTG does the same (Zhong et al., ACL 2024), with w = 0.1 for
DCG and 0.2 for contrastive prefixes. For the second batch of Meta-MCTG they are drawn from the
combinations that it may have.

The loss depends on the texts that share a batch. Several processes each take their share of a batch
for a whole one.
"""

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Annotated, ClassVar, Self

import torch
from pydantic import Field
from pydantic.dataclasses import dataclass as settings_dataclass

from spor_tasks.core.errors import ConfigError
from spor_tasks.corpora.compmctg.linearize import codes
from spor_tasks.models.coded import CodedModel, Dcg, Prefixes, Vectors
from training.batches import Batch, Model, target_losses
from training.encoding import IGNORED, causal_row
from training.objectives.base import Combination, Material, combination_of
from training.objectives.likelihood import Likelihood
from training.settings import CLOSED, Count, to_dict

_Share = Annotated[float, Field(ge=0, le=1)]
_Number = Annotated[int, Field(ge=0)]


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


class Coded(Likelihood):
    """Vectors for values. Contrasts are drawn from the combinations ``pool``."""

    by_batch = True
    vectors: ClassVar[type[Vectors]]
    how: DcgSettings | PrefixSettings

    def __init__(self, settings: DcgSettings | PrefixSettings, material: Material) -> None:
        """Encode the pairs, and draw fresh weights that make vectors of values.

        Raises:
            ConfigError: the objective cannot be used with these samples, settings or base, or the
                longest text has no room behind the vectors.
        """
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
        super().__init__(settings, material)
        combinations = {sample.id: combination_of(sample) for sample in material.samples}
        units = dict.fromkeys(unit for sample in material.samples for unit in sample.units)
        aspects: dict[str, tuple[str, ...]] = {}
        for unit in units:
            aspects[unit[0]] = (*aspects.get(unit[0], ()), unit[-1])
        self.pool = tuple(dict.fromkeys(combinations[row.sample] for row in self.rows.rows))
        base, sizes = material.base, to_dict(settings, {"weight", "contrasts"})
        vectors = partial(self.vectors, **sizes)
        self.model = model = CodedModel(base.model, base.tokenizer, aspects, vectors)
        rows = []
        for row in self.rows.rows:  # places for vectors take those of the codes' tokens
            targets = [label for label in row.labels if label != IGNORED]
            places = model.encode(codes(combinations[row.sample]))
            rows.append(causal_row(places, targets)._replace(sample=row.sample))
        longest = max(len(row.input_ids) for row in rows)
        if base.positions and longest > base.positions:
            raise ConfigError(
                f"a text has no room: it takes {longest} positions with the vectors, and the model "
                f"has {base.positions}",
                where="optimization.max_length",
                remedy=f"Set optimization.max_length={base.positions - model.width}.",
            )
        self.rows = replace(self.rows, rows=tuple(rows))

    def among(self, combinations: Sequence[Combination]) -> Self:
        """Return the objective with contrasts that are drawn from these combinations."""
        objective = copy(self)
        objective.pool = tuple(combinations)
        return objective

    def loss(self, model: Model, batch: Batch) -> torch.Tensor:
        """Return the loss of a batch, times the number of its target tokens."""
        places = torch.randperm(len(self.pool))[: self.how.contrasts].tolist()
        numbers = [model.numbers[self.pool[place]] for place in places]
        # The batch as it is, and once more for each combination, all read with that one.
        times, ids = 1 + len(numbers), batch.inputs["input_ids"]
        inputs = {name: tensor.repeat(times, 1) for name, tensor in batch.inputs.items()}
        inputs["input_ids"] = torch.cat([ids, *(model.read_as(ids, number) for number in numbers)])
        starts = torch.arange(times, device=ids.device) * ids.numel()
        contrasted = Batch(
            inputs,
            batch.labels.repeat(times),
            (starts[:, None] + batch.positions).flatten(),
            batch.samples * times,
            batch.sizes * times,
        )
        losses = target_losses(model, contrasted)
        means = losses.unflatten(0, (times, -1)).mean(1)
        return (means[0] + self.how.weight * (-means).logsumexp(0)) * len(batch.labels)


class DcgObjective(Coded):
    """Vectors in the place of tokens."""

    settings: ClassVar[type] = DcgSettings
    vectors = Dcg


class PrefixObjective(Coded):
    """Keys and values of attention."""

    settings: ClassVar[type] = PrefixSettings
    vectors = Prefixes
