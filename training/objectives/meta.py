"""An objective, and the same where one step of it leads: Meta-MCTG (Zhong et al., ACL 2024).

Of the combinations of attributes that training shows, a step sees a few. Others can be made of the
same attributes. A step should make these more likely too:

    L(θ; B) + λ L(θ − α ∇L(θ; B); B'),

where B is the step's batch, and B' as many other samples, of combinations that training shows, that
B does not, and whose every attribute B has. α is the rate of the step. As in the paper, the second
gradient is taken at θ1 = θ − α ∇L(θ; B), and the dependence of θ1 on θ is left out of it (first
order). A step for which there is no such combination is an ordinary one; the manifest counts them.

The paper's code does some of this otherwise, and ``variant`` ``published`` does as it does: L is
the sum of the mean losses of the batches of a step, not the mean over the step's tokens; end tokens
are not learned; and ``optimization.clip_norm`` shortens ∇L(θ; B), before α and λ come in, and not
the sum. Its CTRL and contrastive prefixes take the second gradient at θ, which ``meta_at``
``theta`` does.

With ``sample_combinations`` every step's batch is of so many combinations, as in the paper where
training shows few. Each set of so many combinations is taken once before one is taken again, and a
step takes samples that the epoch has not had yet. The published loop changes the list that it goes
through, and ends early; this one ends when the next set lacks samples.
"""

import itertools
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar, Literal, Self, TypeAlias

import torch
from pydantic import Field
from pydantic.dataclasses import dataclass as settings_dataclass

from spor_tasks.core.errors import ConfigError
from training.bases import Base
from training.batches import Batch, Model, load_batches
from training.config import OptimizationConfig
from training.encoding import Row, Step, chunks, count_targets, plan_stages
from training.objectives.base import (
    Combination,
    Material,
    Objective,
    backpropagate,
    combination_of,
    find_objective,
)
from training.objectives.likelihood import LIKELIHOOD, Likelihood
from training.settings import CLOSED, Count, NotNegative, read_settings, to_dict
from training.state import Run

Pools: TypeAlias = Mapping[Combination, Sequence[int]]
"""The numbers of the rows of each combination."""

_MOST_SETS = 100_000
ORDINARY = "ordinary_steps"
"""What counts, in the manifest, the steps for which there was no other combination."""


@settings_dataclass(frozen=True, slots=True, config=CLOSED)
class MetaSettings:
    """What is wrapped, and how.

    ``of`` is an objective that learns the pairs of ``likelihood``, with ``of_settings``; ``weight``
    is λ, and ``meta_at`` where its gradient is taken. Without ``support_constraint`` B' is of any
    combinations that B lacks. ``sample_combinations`` None is plain shuffling.
    """

    of: str = "likelihood"
    of_settings: Mapping[str, Any] = field(default_factory=dict)
    weight: NotNegative = 0.01
    meta_at: Literal["theta1", "theta"] = "theta1"
    support_constraint: bool = True
    sample_combinations: Annotated[Count, Field(ge=2)] | None = None
    variant: Literal["paper", "published"] = "paper"


@dataclass(frozen=True)
class Meta(Likelihood):
    """The loss of another objective, and that of other combinations one step ahead."""

    settings: ClassVar[type] = MetaSettings
    inner: Objective = LIKELIHOOD
    how: MetaSettings = field(default_factory=MetaSettings)
    pools: Pools = field(default_factory=dict)
    combinations: Mapping[str, Combination] = field(default_factory=dict)
    rows_of_run: Sequence[Row] = ()
    pad_id: int = 0
    end_id: int = -1
    seed: int = 0

    @property
    def clips(self) -> bool:
        """Whether a step shortens its gradient itself."""
        return self.how.variant == "published"

    def methods(self, settings: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the methods of the objective that is wrapped."""
        how = MetaSettings(**settings)
        return _inner(how).methods(how.of_settings)

    def by_batch(self, settings: Mapping[str, Any]) -> bool:
        """Return whether it matters for the loss which pairs share a batch."""
        how = MetaSettings(**settings)
        return how.variant == "published" or _inner(how).by_batch(how.of_settings)

    def fitted(self, base: Base) -> Model | None:
        """Return what the objective that is wrapped fits."""
        return self.inner.fitted(base)

    def bound(self, material: Material) -> Self:
        """Return the objective with the rows of each combination.

        Raises:
            ConfigError: it cannot be used with these samples or settings.
        """
        how = MetaSettings(**material.settings)
        combinations = {name: combination_of(sample) for name, sample in material.samples.items()}
        pools: dict[Combination, list[int]] = {}
        for number, row in enumerate(material.rows):
            pools.setdefault(combinations[row.sample], []).append(number)
        _check(how, material, pools)
        inner = _inner(how)
        settings = to_dict(read_settings(inner.settings, dict(how.of_settings), "of_settings"))
        return replace(
            self,
            inner=inner.bound(material._replace(settings=settings)),
            how=how,
            pools=pools,
            combinations=combinations,
            rows_of_run=material.rows,
            pad_id=material.base.pad_id,
            end_id=material.base.tokenizer.eos_token_id,
            seed=material.seed,
        )

    def plan(self, rows: Sequence[Row], settings: OptimizationConfig) -> list[Step]:
        """Return the steps of a run, each of a few combinations if the settings ask for that."""
        if self.how.sample_combinations is None:
            return plan_stages(rows, settings)
        size = settings.batch_size if self.how.variant == "paper" else self.how.sample_combinations
        steps: list[Step] = []
        epoch = 0
        while epoch != settings.epochs and len(steps) != settings.max_steps:
            groups = sampled_steps(
                self.pools,
                self.how.sample_combinations,
                settings.batch_size * settings.gradient_accumulation,
                random.Random(f"meta plan {settings.seed} {epoch}"),
            )
            for group in groups:
                if self.how.variant == "paper":
                    group.sort(key=lambda number: rows[number].tokens)
                steps.append(Step(epoch, tuple(map(tuple, chunks(group, size)))))
            steps = steps[: settings.max_steps]
            epoch += 1
        return steps

    def loss(self, model: Model, batch: Batch) -> torch.Tensor:
        """Return the loss of the objective that is wrapped."""
        return self.inner.loss(model, batch)

    def step(self, run: Run, batches: Sequence[Batch], targets: int) -> torch.Tensor:
        """Add the gradient of these batches, and of others one step ahead; return these' loss."""
        loss = self._backpropagate(run, self.inner, batches, targets)
        if self.clips:
            run.clip()
        names = dict.fromkeys(itertools.chain.from_iterable(batch.samples for batch in batches))
        seen = [self.combinations[name] for name in names if name in self.combinations]
        rng = random.Random(f"meta {self.seed} {len(run.losses)}")
        size = run.settings.batch_size * run.settings.gradient_accumulation
        allowed = support(seen, [*self.pools], constrained=self.how.support_constraint)
        chosen = drawn(allowed, self.pools, size, rng)
        if not chosen:
            run.counts[ORDINARY] = run.counts.get(ORDINARY, 0) + 1
            return loss
        step = Step(0, tuple(map(tuple, chunks(chosen, run.settings.batch_size))))
        others = load_batches(
            step, self.rows_of_run, self.pad_id, run.model, packing=run.settings.packing
        )
        of = self.inner.among(allowed)
        self.meta_step(run, others, count_targets(step, self.rows_of_run), of)
        return loss

    def meta_step(
        self, run: Run, batches: Sequence[Batch], targets: int, of: Objective | None = None
    ) -> torch.Tensor:
        """Add λ times the gradient of these batches where the gradient at hand leads.

        ``of`` is the objective, by default the one that is wrapped.
        """
        with one_step_ahead(run) if self.how.meta_at == "theta1" else nullcontext():
            return self._backpropagate(run, of or self.inner, batches, targets, self.how.weight)

    def _backpropagate(
        self,
        run: Run,
        of: Objective,
        batches: Sequence[Batch],
        targets: int,
        weight: float = 1.0,
    ) -> torch.Tensor:
        if self.how.variant == "paper":
            return backpropagate(run, of.loss, batches, [targets] * len(batches), weight)
        learned = [without(batch, self.end_id) for batch in batches]
        sizes = [len(batch.labels) for batch in learned]
        return backpropagate(run, of.loss, learned, sizes, weight)


def support(
    current: Sequence[Combination], seen: Sequence[Combination], *, constrained: bool = True
) -> list[Combination]:
    """Return the seen combinations that are not current, but whose every attribute is.

    They are in the order of the product of the current values, each aspect's as they first occur.
    Not ``constrained``, any that is not current, in the order of ``seen``.
    """
    if not constrained:
        return [each for each in seen if each not in current]
    if not current:
        return []
    values = [dict.fromkeys(of_aspect) for of_aspect in zip(*current, strict=True)]
    return [each for each in itertools.product(*values) if each in seen and each not in current]


def drawn(allowed: Sequence[Combination], pools: Pools, size: int, rng: random.Random) -> list[int]:
    """Return the rows of the second batch, in random order; none where nothing is allowed.

    With as many combinations as rows or more, each row is of another one. With fewer, all
    have the same number of rows, without repetition, and the rest is drawn from all that is left.
    Where there are fewer rows than ``size`` in all, these are all of them.
    """
    if not allowed:
        return []
    if size <= len(allowed):
        chosen = [rng.choice(pools[each]) for each in rng.sample(allowed, size)]
    else:
        share = size // len(allowed)
        chosen = [
            number
            for each in allowed
            for number in rng.sample(pools[each], min(share, len(pools[each])))
        ]
        taken = {*chosen}
        left = [number for each in allowed for number in pools[each] if number not in taken]
        chosen += rng.sample(left, min(size - len(chosen), len(left)))
    rng.shuffle(chosen)
    return chosen


def sampled_steps(
    pools: Pools, combinations: int, size: int, rng: random.Random
) -> Iterator[list[int]]:
    """Yield the rows of each step of an epoch: so many combinations in turns, ``size`` in all.

    Every set of combinations is there once before any is there again; no row is there twice.
    """
    each = size // combinations
    left = {name: rng.sample(rows, len(rows)) for name, rows in pools.items()}
    sets = list(itertools.combinations(pools, combinations))
    while sets:
        rng.shuffle(sets)
        for names in sets:
            if any(len(left[name]) < each for name in names):
                return
            taken = [[left[name].pop() for _ in range(each)] for name in names]
            yield list(itertools.chain.from_iterable(zip(*taken, strict=True)))


@contextmanager
def one_step_ahead(run: Run) -> Iterator[None]:
    """Set the weights to where their gradient leads at the run's rate; restore them exactly."""
    weights = run.weights.values()
    kept = [weight.detach().clone() for weight in weights]
    with torch.no_grad():
        for weight in weights:
            if weight.grad is not None:
                weight.sub_(run.rate * weight.grad)
    try:
        yield
    finally:
        with torch.no_grad():
            for weight, before in zip(weights, kept, strict=True):
                weight.copy_(before)


def without(batch: Batch, token: int) -> Batch:
    """Return the batch with all of its targets but those that are this token."""
    kept = batch.labels != token
    return replace(
        batch,
        labels=batch.labels[kept],
        positions=batch.positions[kept],
        sizes=tuple(int(part.sum()) for part in kept.split(batch.sizes)),
    )


def _inner(how: MetaSettings) -> Objective:
    found = find_objective(how.of)
    kind = type(found)
    if isinstance(found, Meta) or kind.rows is not Likelihood.rows or found.tokens:
        raise ConfigError(
            f"objective meta cannot wrap {how.of}, which learns other pairs than likelihood",
            where="objective_settings.of",
            remedy="Set objective_settings.of=likelihood.",
        )
    return found


def _check(how: MetaSettings, material: Material, pools: Pools) -> None:
    """Raise a ConfigError where the settings and the samples do not allow what is asked."""
    settings, number, seen = material.optimization, how.sample_combinations, [*pools]
    what = remedy = None
    size = settings.batch_size * settings.gradient_accumulation
    if material.processes > 1:
        what = "needs the whole step's gradient before its second one, and so a single process"
        remedy = "Start it without `accelerate launch`."
    elif how.variant == "published" and settings.packing:
        what = "takes means of batches in its published variant, and packing may divide them"
        remedy = "Set optimization.packing=false."
    elif how.support_constraint and not any(
        support([other for other in seen if other != each], [each]) for each in seen
    ):
        what = "finds no combination whose attributes others have: there is nothing to recombine"
        remedy = "Set objective=likelihood, or objective_settings.support_constraint=false."
    elif number and (number > len(seen) or size % number):
        what = f"cannot take {number} of {len(seen)} combinations for each step of {size} pairs"
        remedy = "Set objective_settings.sample_combinations to a divisor of the pairs of a step."
    elif number and math.comb(len(seen), number) > _MOST_SETS:
        what = f"has too many sets of {number} of {len(seen)} combinations"
        remedy = "Set objective_settings.sample_combinations=2, or null."
    elif number and min(map(len, pools.values())) * number < size:
        what = f"has a combination with fewer than the {size // number} texts that a step takes"
        remedy = "Set objective_settings.sample_combinations=null."
    if what:
        raise ConfigError(f"objective meta {what}", where="objective", remedy=remedy)


META = Meta()
