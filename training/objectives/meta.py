"""An objective, and the same where one step of it leads: Meta-MCTG (Zhong et al., ACL 2024).

A step has a few of the combinations of attributes in the training set. Some of the remaining ones
have only attributes of the step. The step should make these more likely too:

    L(θ; B) + λ L(θ − α ∇L(θ; B); B'),

where B is the step's batch. B' has as many other samples, of combinations that the training set has
and B lacks, but whose every attribute is in B. α is the rate of the step. As in the paper, the
second gradient is taken at θ1 = θ − α ∇L(θ; B), and the dependence of θ1 on θ is ignored (first
order). A step without such a combination is an ordinary one; the manifest counts them.

The paper's code differs from the paper, and ``variant`` ``published`` follows the code. There L is
the sum of the mean losses of the batches of a step, not the mean over the step's tokens. End tokens
are not learned. ``optimization.clip_norm`` shortens ∇L(θ; B), before α and λ come in, and not the
sum. Its CTRL and contrastive prefixes take the second gradient at θ, as ``meta_at`` ``theta`` does.

With ``sample_combinations`` every step's batch has that many combinations, as in the paper where
training has few. Each set of combinations is used once before one is used again, and a step takes
samples that the epoch has not had yet. The published loop changes the list that it iterates over,
and ends early; this one ends when the next set lacks samples.
"""

import itertools
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import field, replace
from typing import Annotated, ClassVar, Literal, TypeAlias

import torch
from pydantic import Field
from pydantic.dataclasses import dataclass as settings_dataclass

from spor_tasks.core.errors import ConfigError
from training.batches import Batch, load_batches
from training.encoding import Step, chunks, count_targets, steps_of
from training.objectives.base import Combination, Material, backpropagate, combination_of
from training.objectives.codes import Coded
from training.objectives.likelihood import Likelihood, find_objective
from training.settings import CLOSED, Count, NotNegative, read_settings
from training.state import Training

Combinations: TypeAlias = Sequence[Combination]
Pools: TypeAlias = Mapping[Combination, Sequence[int]]
"""The numbers of the rows of each combination."""

_MOST_SETS = 100_000
ORDINARY = "ordinary_steps"
"""The manifest's key for the number of steps without a recombination."""


@settings_dataclass(frozen=True, slots=True, config=CLOSED)
class MetaSettings:
    """The wrapped objective, and how a step uses it.

    ``of`` is the wrapped objective, with ``of_settings``. ``weight`` is λ, and ``meta_at`` the
    place of its gradient. Without ``support_constraint`` B' may have any combinations that B lacks.
    ``sample_combinations`` None is plain shuffling.
    """

    of: Literal["likelihood", "dcg", "contrastive_prefix"] = "likelihood"
    of_settings: Mapping[str, object] = field(default_factory=dict)
    weight: NotNegative = 0.01
    meta_at: Literal["theta1", "theta"] = "theta1"
    support_constraint: bool = True
    sample_combinations: Annotated[Count, Field(ge=2)] | None = None
    variant: Literal["paper", "published"] = "paper"


class Meta(Likelihood):
    """The loss of another objective, and that of recombined attributes one step ahead."""

    settings: ClassVar[type] = MetaSettings
    by_batch = True
    how: MetaSettings

    def __init__(self, settings: MetaSettings, material: Material) -> None:
        """Make the wrapped objective, and group its rows by combination.

        Raises:
            ConfigError: it cannot be used with these samples or settings.
        """
        wrapped = find_objective(settings.of)
        own: object = read_settings(wrapped.settings, dict(settings.of_settings), "of_settings")
        self.how, self.material = settings, material
        self.inner = wrapped(own, material)
        self.rows, self.model = self.inner.rows, self.inner.model
        self.combinations = {sample.id: combination_of(sample) for sample in material.samples}
        self.end_id = material.base.tokenizer.eos_token_id
        self.pools: dict[Combination, list[int]] = {}
        for number, row in enumerate(self.rows.rows):
            self.pools.setdefault(self.combinations[row.sample], []).append(number)
        _check(settings, material, self.pools)

    def steps(self) -> list[Step]:
        """Return the steps of a run, each of a few combinations if the settings say so."""
        number, rows = self.how.sample_combinations, self.rows.rows
        settings, is_paper = self.material.optimization, self.how.variant == "paper"
        if number is None:
            return super().steps()
        in_all = settings.batch_size * settings.gradient_accumulation

        def groups(epoch: int) -> Iterator[list[int]]:
            rng = random.Random(f"meta plan {settings.seed} {epoch}")
            for group in sampled_steps(self.pools, number, in_all, rng):
                yield sorted(group, key=lambda place: rows[place].tokens) if is_paper else group

        return steps_of(groups, settings, settings.batch_size if is_paper else number)

    def step(self, run: Training, batches: Sequence[Batch], targets: int) -> torch.Tensor:
        """Add the gradient of these batches, and of B' one step ahead; return these' loss."""
        loss = self.add_gradient(run, batches, targets)
        if self.how.variant == "published":
            run.clip()
        names = dict.fromkeys(itertools.chain.from_iterable(batch.samples for batch in batches))
        current = [self.combinations[name] for name in names]
        allowed = support(current, [*self.pools], constrained=self.how.support_constraint)
        settings = run.settings
        size = settings.batch_size * settings.gradient_accumulation
        rng = random.Random(f"meta {settings.seed} {len(run.losses)}")
        if numbers := draw_rows(allowed, self.pools, size, rng):
            step = Step(0, tuple(map(tuple, chunks(numbers, settings.batch_size))))
            rows, pad_id = self.rows.rows, self.material.base.pad_id
            second = load_batches(step, rows, pad_id, run.model, packing=settings.packing)
            self.add_gradient(run, second, count_targets(step, rows), allowed)
        else:
            run.counts[ORDINARY] = run.counts.get(ORDINARY, 0) + 1
        if self.how.variant == "paper":
            run.clip()
        return loss

    def add_gradient(
        self, run: Training, batches: Sequence[Batch], targets: int, among: Combinations = ()
    ) -> torch.Tensor:
        """Add the gradient of B, or λ times that of B' where B's leads.

        B' is ``among`` these combinations, of which contrasts are drawn too.
        """
        inner = self.inner
        if among and isinstance(inner, Coded):
            inner = inner.among(among)
        weight, divisors = self.how.weight if among else 1.0, [targets] * len(batches)
        if self.how.variant == "published":
            batches = [without(batch, self.end_id) for batch in batches]
            divisors = [len(batch.labels) for batch in batches]
        is_ahead = among and self.how.meta_at == "theta1"
        with one_step_ahead(run) if is_ahead else nullcontext():
            return backpropagate(run, inner.loss, batches, divisors, weight)


def support(
    current: Combinations, trained: Combinations, *, constrained: bool = True
) -> list[Combination]:
    """Return the trained combinations that are not current, but whose every attribute is.

    They are in the order of the product of the current values, each aspect's as they first occur.
    Not ``constrained``, any that is not current, in the order of ``trained``.
    """
    if not constrained:
        return [each for each in trained if each not in current]
    values = [dict.fromkeys(of_aspect) for of_aspect in zip(*current, strict=True)]
    return [each for each in itertools.product(*values) if each in trained and each not in current]


def draw_rows(allowed: Combinations, pools: Pools, size: int, rng: random.Random) -> list[int]:
    """Return the rows of the second batch, in random order; none where nothing is allowed.

    With as many combinations as rows or more, each row is of another one. With fewer, all
    have the same number of rows, without repetition, and the rest is drawn from the remaining rows.
    Where there are fewer rows than ``size`` in all, every row is taken.
    """
    if not allowed:
        return []
    if size <= len(allowed):
        chosen = [rng.choice(pools[each]) for each in rng.sample(allowed, size)]
    else:
        pooled, share = [pools[each] for each in allowed], size // len(allowed)
        drawn = [rng.sample(pool, min(share, len(pool))) for pool in pooled]
        chosen = [*itertools.chain.from_iterable(drawn)]
        used = {*chosen}
        remaining = [n for n in itertools.chain.from_iterable(pooled) if n not in used]
        chosen += rng.sample(remaining, min(size - len(chosen), len(remaining)))
    rng.shuffle(chosen)
    return chosen


def sampled_steps(
    pools: Pools, combinations: int, size: int, rng: random.Random
) -> Iterator[list[int]]:
    """Yield the rows of each step of an epoch: so many combinations in turns, ``size`` in all.

    Every set of combinations is there once before any is there again; no row is there twice.
    """
    share = size // combinations
    unused = {name: rng.sample(rows, len(rows)) for name, rows in pools.items()}
    sets = list(itertools.combinations(pools, combinations))
    while sets:
        rng.shuffle(sets)
        for names in sets:
            if any(len(unused[name]) < share for name in names):
                return
            rows = [[unused[name].pop() for _ in range(share)] for name in names]
            yield list(itertools.chain.from_iterable(zip(*rows, strict=True)))


@contextmanager
def one_step_ahead(run: Training) -> Iterator[None]:
    """Set the weights to where their gradient leads at the run's rate; restore them exactly."""
    weights = run.weights.values()
    copies = [weight.detach().clone() for weight in weights]
    with torch.no_grad():
        for weight in weights:
            if weight.grad is not None:
                weight.sub_(run.rate * weight.grad)
    try:
        yield
    finally:
        with torch.no_grad():
            for weight, before in zip(weights, copies, strict=True):
                weight.copy_(before)


def without(batch: Batch, token: int) -> Batch:
    """Return the batch without the targets that are this token."""
    is_target = batch.labels != token
    return replace(
        batch,
        labels=batch.labels[is_target],
        positions=batch.positions[is_target],
        sizes=tuple(int(part.sum()) for part in is_target.split(batch.sizes)),
    )


def _check(how: MetaSettings, material: Material, pools: Pools) -> None:
    """Raise a ConfigError where the settings and the samples do not allow such steps."""
    settings, number, trained = material.optimization, how.sample_combinations or 2, [*pools]
    size = settings.batch_size * settings.gradient_accumulation
    recombinable = any(
        support([rest for rest in trained if rest != each], [each]) for each in trained
    )
    too_few = min(map(len, pools.values())) * number < size
    too_many_sets = math.comb(len(trained), number) > _MOST_SETS
    if material.processes > 1:
        what = "needs the whole step's gradient before its second one, and so a single process"
        remedy = "Start it without `accelerate launch`."
    elif how.variant == "published" and settings.packing:
        what = "takes means of batches in its published variant, and packing may divide them"
        remedy = "Set optimization.packing=false."
    elif how.support_constraint and not recombinable:
        what = "finds no combination that consists of attributes of others: it cannot recombine any"
        remedy = "Set objective=likelihood, or objective_settings.support_constraint=false."
    elif how.sample_combinations is not None and (
        number > len(trained) or size % number or too_few or too_many_sets
    ):
        what = f"cannot take {number} of {len(trained)} combinations for each step of {size} texts"
        remedy = (
            "Set objective_settings.sample_combinations to 2, another divisor of these, or null."
        )
    else:
        return
    raise ConfigError(f"objective meta {what}", where="objective", remedy=remedy)
