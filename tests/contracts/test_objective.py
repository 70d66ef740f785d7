"""Requirements on every registered objective."""

import pytest
import torch

from spor_tasks.core import named
from spor_tasks.core.errors import ConfigError
from spor_tasks.core.registry import Entry, Registry
from spor_tasks.corpora.embedded import COMPMCTG_MINI
from spor_tasks.prompts.styles import prompt
from tests.support.tiny_bases import save_base
from tests.training.losses import without_dropout
from training.bases import load_base
from training.batches import load_batch
from training.config import ModelConfig, OptimizationConfig
from training.objectives.adversarial import false_pair
from training.objectives.base import Material
from training.objectives.likelihood import find_objective
from training.registry import OBJECTIVES
from training.state import Training

torch.set_num_threads(1)  # for models this small, threads cost more than they bring

OF_ASPECTS = {"dcg", "contrastive_prefix", "meta"}
OF_TABLES = {"coarse_to_fine": "c2f", "adversarial": None}
SETTINGS = {"reward": {"reward": "constant", "max_tokens": 2}}
ADDITIVE = ["likelihood", "coarse_to_fine", "adversarial", "reward"]
"""Objectives whose loss is a sum over pairs, and whose step is plain back-propagation."""


def samples_of(name):
    if name in OF_ASPECTS:
        return COMPMCTG_MINI.part("train")[:12]
    if name in OF_TABLES:
        pair = named.load("logicnlg", "logicnlg_mini", "published", OF_TABLES[name])
        samples = [one for one in next(iter(pair.arms.values())) if false_pair(one, "causal", 0)]
        return sorted(samples, key=lambda one: len(prompt(one, "causal")))[:4]
    atom = named.load("systematicity", "mini").arms["atom"]
    return tuple(sample for sample in atom if len(sample.units) == 1)[:4]


@pytest.fixture(scope="module", params=["llama", "t5"])
def base(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    save_base(request.param, folder)
    return load_base(ModelConfig(str(folder)))


@pytest.fixture(scope="module", params=ADDITIVE)
def objective(request, base):
    kind = find_objective(request.param)
    material = Material(samples_of(request.param), base)
    return kind(kind.settings(**SETTINGS.get(request.param, {})), material)


@pytest.fixture(scope="module")
def run(base):
    return Training(without_dropout(base), OptimizationConfig())


@pytest.fixture(scope="module")
def batch_of(base, run):
    return lambda rows: load_batch(rows, base.pad_id, run.model)


def gradient(model):
    """Return the whole gradient, and take it from the model."""
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    found = torch.cat([weight.grad.flatten() for weight in weights if weight.grad is not None])
    model.zero_grad()
    return found


@pytest.mark.parametrize("style", ["causal", "seq2seq"])
@pytest.mark.parametrize("name", OBJECTIVES.names("objective"))
def test_the_pairs_of_a_sample_begin_with_its_prompt(name, style):
    kind = find_objective(name)
    for sample in samples_of(name):
        pairs = list(kind.pairs(sample, style))
        assert pairs
        assert list(kind.pairs(sample, style)) == pairs
        for pair in pairs:
            assert pair.prompt.startswith(prompt(sample, style))
            assert pair.text
            assert pair.sample == sample.id


def test_a_batch_has_the_loss_of_its_rows(objective, run, batch_of):
    rows = objective.rows.rows[:4]
    together = objective.loss(run.model, batch_of(rows))
    apart = sum(objective.loss(run.model, batch_of([row])).item() for row in rows)
    assert together.shape == ()
    assert together.item() == pytest.approx(apart, rel=1e-4)


def test_a_step_is_the_same_in_more_batches(objective, run, batch_of):
    rows = objective.rows.rows[:4]
    losses, gradients = [], []
    for parts in ([rows], [rows[:1], rows[1:]]):
        losses.append(objective.step(run, [batch_of(part) for part in parts], 100).item())
        gradients.append(gradient(run.model))
    assert losses[0] == pytest.approx(losses[1], rel=1e-4)
    assert gradients[0].norm() > 0
    assert (gradients[0] - gradients[1]).norm() < 1e-4 * gradients[0].norm()


def test_a_step_without_batches_changes_nothing(objective, run):
    """A process may have no share of a step."""
    assert objective.step(run, [], 100).item() == 0
    assert all(weight.grad is None for weight in run.model.parameters())


def test_names_and_entries_that_are_wrong_are_refused():
    with pytest.raises(ConfigError, match="'likelyhood'") as caught:
        find_objective("likelyhood")
    assert all(name in str(caught.value.remedy) for name in OBJECTIVES.names("objective"))
    for target, fault in ((f"{__name__}:NOTHING", "NOTHING"), ("no.module:OBJECTIVE", "no")):
        with pytest.raises(ConfigError, match=fault) as caught:
            Registry([Entry("objective", "mine", target)]).get("objective", "mine")
        assert caught.value.where


UNUSABLE = {
    ("objective", "no.module:OBJECTIVE"): "No module named",
    ("objective", "training.objectives.base:Material"): "no attribute 'loss'",
    ("metric", "spor_tasks.metrics.base:Metric"): "every other entry an object",
}


def test_entries_of_other_packages_that_cannot_be_used_are_left_out_with_one_warning(caplog):
    own = Entry("objective", "own", "training.objectives.likelihood:Likelihood")
    others = [Entry(kind, target, target, "harbours") for kind, target in UNUSABLE]
    found = Registry([own, *others, Entry("objective", "own", "harbours:OWN", "harbours")])
    for _ in range(2):
        assert found.names("objective") == ("own",)
        assert found.names("metric") == ()
    faults = ["Likelihood has its name", *UNUSABLE.values()]
    for fault, text in zip(faults, caplog.messages, strict=True):
        assert fault in text
        assert "of the package harbours is left out" in text
