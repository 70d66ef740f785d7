"""Meta-MCTG: which combinations it makes up, its steps against the published ones, and its runs."""

import copy
import gzip
import itertools
import json
import random
from collections import Counter
from dataclasses import replace

import pytest
import torch

from spor_tasks.core.errors import ConfigError
from spor_tasks.core.sample import Triple
from spor_tasks.corpora.compmctg.reader import combination_in
from spor_tasks.corpora.embedded import COMPMCTG_MINI
from spor_tasks.corpora.embedded.attributes import SPACE as MINI_SPACE
from tests.support import golden, tiny_gpt2
from tests.support.soak import soak
from tests.training.losses import assert_equal_gradients, gradients, objective_of, plain_loss
from training.batches import load_batch, load_batches
from training.config import OptimizationConfig
from training.encoding import IGNORED, Row, Step, count_targets
from training.objectives.likelihood import Likelihood
from training.objectives.meta import Meta, MetaSettings, draw_rows, support
from training.state import Training

END = 50256
CASES = ("yelp_original", "yelp_parity_sample")

SPACE = tuple(itertools.product("ab", "cd", "ef"))


# --- Combinations --------------------------------------------------------------------------------


def test_recombinations_are_the_published_ones(published_dir):
    for row in golden.read(published_dir / "compmctg", "support_combs", rows=60):
        current, seen = ([tuple(each.split()) for each in row[key]] for key in ("current", "seen"))
        assert [" ".join(each) for each in support(current, seen)] == row["support"]
        free = support(current, seen, constrained=False)
        assert [" ".join(each) for each in free] == row["support_unconstrained"]


def pools(sizes):
    numbers = itertools.count()
    return {
        name: [next(numbers) for _ in range(size)] for name, size in zip(SPACE, sizes, strict=False)
    }


@pytest.mark.parametrize(
    ("sizes", "allowed", "shares"),
    [
        ([9] * 8, 8, {1}),
        ([9] * 8, 4, {2}),
        ([9] * 8, 2, {4}),
        ([9] * 8, 1, {8}),
        ([9] * 8, 3, {2, 3, 4}),  # the rest is of any of them
        ([2, 9], 2, {2, 6}),  # no text twice
        ([2, 9], 1, {2}),
        ([9], 0, set()),
    ],
)
def test_each_combination_gets_its_share(sizes, allowed, shares):
    of = pools(sizes)
    for seed in range(9):
        chosen = draw_rows(SPACE[:allowed], of, 8, random.Random(seed))
        counts = Counter(name for name, rows in of.items() for row in rows if row in chosen)
        assert counts.total() == len(chosen) == len({*chosen})
        assert counts.keys() == {*SPACE[:allowed]}
        assert {*counts.values()} <= shares
        assert chosen == draw_rows(SPACE[:allowed], of, 8, random.Random(seed))


# --- The published steps -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("case", "variant"),
    [
        ("yelp_original", "theta1"),
        ("yelp_parity_sample", "joint"),
        soak("yelp_original", "joint"),
        *(soak(case, "theta") for case in CASES),
        soak("yelp_parity_sample", "theta1"),
    ],
)
def test_steps_are_those_of_the_published_code(golden_dir, case, variant):
    """Their losses, gradients and weights, of `ctrl_meta.py` with a tiny GPT-2."""
    name = f"meta_{case}_{variant}.json.gz"
    record = json.loads(gzip.decompress((golden_dir / "compmctg" / name).read_bytes()))
    published = record["config"]
    model = tiny_gpt2.make(published["seed_model"], END + 1).train()
    settings = OptimizationConfig(
        learning_rate=published["lr"],
        batch_size=published["batch_size"],
        gradient_accumulation=published["accum"],
        optimizer="transformers",
        weight_decay=0.01,
        decay_norms=True,
        schedule="linear",
        warmup=published["warmup"],
        clip_norm=1.0,
    )
    run = Training(model, settings)
    how = MetaSettings(weight=record["lambda_s"], meta_at=record["reading"], variant="published")
    objective = without_texts(how)
    steps = published["n"] // 8
    if case == "yelp_parity_sample":
        steps //= 2
    for number, step in enumerate(record["steps"], start=1):
        run.set_rate(number, steps)
        assert run.rate == pytest.approx(step["lr"], rel=1e-9)
        own, others = ([batch_of(run, rows) for rows in step[key]] for key in ("micro", "pseudo"))
        losses = [float(micro["loss"]) for micro in step["micro"]]
        assert objective.step(run, own, 0).item() == pytest.approx(sum(losses), rel=1e-4)
        assert run.counts == {"ordinary_steps": number}, "no texts to draw from"
        assert norm(run) == pytest.approx(step["grad_norm_after_clip"], rel=1e-4)
        assert probe(run, record, gradient=True) == close(step["grad_after_clip"])
        if others:
            total = objective.add_gradient(run, others, 0, among=[("any",)]).item()
            expected = sum(float(micro["loss"]) for micro in step["pseudo"])
            assert total == pytest.approx(how.weight * expected, rel=1e-4)
        assert norm(run) == pytest.approx(step["grad_norm_final"], rel=1e-4)
        assert probe(run, record, gradient=True) == close(step["grad_final"])
        run.optimizer.step()
        run.optimizer.zero_grad()
        run.losses.append(0.0)
        assert probe(run, record, gradient=False) == close(step["params_after"])
        total = sum(weight.detach().double().abs().sum().item() for weight in run.weights.values())
        assert total == pytest.approx(step["param_abs_sum_after"], rel=1e-6)


def without_texts(how):
    """Return the objective for rows that are given, with none to draw from."""
    objective = object.__new__(Meta)
    objective.how, objective.end_id = how, END
    objective.inner = object.__new__(Likelihood)
    objective.combinations, objective.pools = {"": ("any",)}, {}
    return objective


def close(expected):
    return pytest.approx(expected, rel=1e-4, abs=1e-5)


def batch_of(run, micro):
    """Return the rows of a record as a batch, with the end token that our rows have."""
    rows = [Row(ids, [IGNORED] * 3 + [*ids[4:], END]) for ids in micro["input_ids"]]
    return load_batch(rows, END, run.model)


def norm(run):
    grads = [weight.grad.double().flatten() for weight in run.weights.values()]
    return float(torch.cat(grads).norm())


def probe(run, record, *, gradient):
    weights = run.weights
    return [
        float((weights[name].grad if gradient else weights[name].detach())[tuple(place)])
        for name, place in record["probe"]
    ]


# --- Our own steps -------------------------------------------------------------------------------

CORPUS = COMPMCTG_MINI.part("train")[:48]
FEW_SHOT = {("Negative", "Present", "Food"), ("Positive", "Past", "Music")}
FEW_SHOT |= {("Negative", "Past", "Travel")}
"""Combinations of which none has the attributes of others."""


@pytest.mark.parametrize(("at", "packing"), [("theta1", False), ("theta", True)])
def test_a_step_adds_a_gradient_where_its_own_leads(loaded, at, *, packing):
    """Against the gradients of the two mean losses by token, the second at a moved copy."""
    settings = OptimizationConfig(batch_size=2, gradient_accumulation=2, packing=packing)
    settings = replace(settings, learning_rate=0.3)
    objective = objective_of("meta", loaded, CORPUS, settings, weight=0.5, meta_at=at)
    rows = objective.rows.rows
    run = Training(loaded.model.requires_grad_().eval(), settings)
    before = {name: weight.detach().clone() for name, weight in run.weights.items()}
    own = [0, 4, 8, 9]
    others = draw_rows(
        support(
            [objective.combinations[rows[number].sample] for number in own], [*objective.pools]
        ),
        *(objective.pools, 4, random.Random("meta 0 0")),
    )
    assert others

    def gradient_of(model, numbers):
        losses = [plain_loss(model, rows[number]) for number in numbers]
        (sum(losses) / sum(rows[number].targets for number in numbers)).backward()
        return gradients(model)

    moved = copy.deepcopy(run.model)
    plain = gradient_of(run.model, own)
    expected = dict(plain)
    if at == "theta1":
        with torch.no_grad():
            for name, weight in moved.named_parameters():
                weight.sub_(0.3 * plain[name])
    for name, gradient in gradient_of(moved, others).items():
        expected[name] = expected[name] + 0.5 * gradient
    step = Step(0, ((0, 4), (8, 9)))
    batches = load_batches(step, rows, loaded.pad_id, run.model, packing=packing)
    loss = objective.step(run, batches, count_targets(step, rows))
    assert_equal_gradients(gradients(run.model), expected)
    assert run.counts == {}
    with torch.no_grad():
        mean = sum(plain_loss(run.model, rows[number]) for number in own)
    assert loss.item() == pytest.approx(float(mean) / count_targets(step, rows), rel=1e-4)
    assert all(weight.equal(before[name]) for name, weight in run.weights.items())
    objective.pools = {}  # nothing to recombine
    objective.step(run, batches, count_targets(step, rows))
    assert_equal_gradients(gradients(run.model), plain)
    assert run.counts == {"ordinary_steps": 1}


def test_sampled_steps_have_so_many_combinations(loaded):
    settings = OptimizationConfig(batch_size=2, gradient_accumulation=2, epochs=None, max_steps=90)
    objective = objective_of("meta", loaded, CORPUS, settings, sample_combinations=2)
    rows = objective.rows.rows
    steps = objective.steps()
    assert len(steps) == 90
    assert steps[-1].epoch > 0
    assert steps == objective.steps()
    other = replace(settings, seed=1)
    assert steps != objective_of("meta", loaded, CORPUS, other, sample_combinations=2).steps()
    for step in steps:
        numbers = list(itertools.chain.from_iterable(step.batches))
        assert len({objective.combinations[rows[number].sample] for number in numbers}) == 2
        assert [*map(len, step.batches)] == [2, 2]
    larger = replace(settings, batch_size=4, gradient_accumulation=1)
    taken = [sorted(itertools.chain.from_iterable(step.batches)) for step in steps]
    whole = objective_of("meta", loaded, CORPUS, larger, sample_combinations=2).steps()
    assert taken == [sorted(step.batches[0]) for step in whole]


@pytest.mark.parametrize(
    "settings",
    [
        {"processes": 2},
        {"optimization": OptimizationConfig(packing=True), "variant": "published"},
        {"samples": [s for s in CORPUS if combination_in(s) in MINI_SPACE.combinations[:1]]},
        {"samples": [s for s in CORPUS if combination_in(s) in FEW_SHOT]},
        {"sample_combinations": 3},
        {"sample_combinations": 16, "optimization": OptimizationConfig(batch_size=16)},
        {"sample_combinations": 2, "optimization": OptimizationConfig(batch_size=16)},
        {"samples": [replace(CORPUS[0], units=(Triple("a", "b", "c"),))]},
    ],
    ids=str,
)
def test_what_cannot_be_done_is_refused(loaded, settings):
    with pytest.raises(ConfigError) as caught:
        objective_of("meta", loaded, **{"samples": CORPUS} | settings)
    assert caught.value.remedy
