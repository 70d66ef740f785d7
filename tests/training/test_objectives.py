"""What each objective minimizes, against slow and obvious computations on tiny random models."""

from dataclasses import replace
from unittest.mock import patch

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import AutoModelForCausalLM, AutoTokenizer

from spor_tasks.core.errors import ConfigError
from spor_tasks.core.folders import read_manifest
from spor_tasks.core.sample import Column, Contrast, Sample, SetFacts, Sets
from spor_tasks.core.table import Table
from spor_tasks.corpora.logicnlg.linearize import in_variant
from spor_tasks.models.checkpoints import Checkpoint, find_adapter
from spor_tasks.models.hf import SporHF
from spor_tasks.prompts.styles import prompt
from tests.support.result_files import adapter_in
from tests.training.losses import objective_of, plain_loss, rows_of, without_dropout
from training.adapters import add_tokens
from training.bases import load_base
from training.batches import load_batch, target_losses
from training.config import ModelConfig, OptimizationConfig
from training.encoding import Row, encode
from training.objectives import reward
from training.objectives.adversarial import false_pair
from training.objectives.coarse_to_fine import CoarseToFine
from training.objectives.corruption import corrupted
from training.objectives.reward import find_reward
from training.objectives.writing import write

TABLE = Table(("who", "n"), (("Ann", "12"), ("Bo", "7"), ("Cy", "12")))
TEXTS = ("Ann has 12 .", "only Bo has 7 .", "cy beats Bo .", "most are good .")
TEMPLATES = ("[ENT] has [ENT] .", "only [ENT] has [ENT] .", "[ENT] beats [ENT] .", TEXTS[3])


def make(number):
    units = (Column("who", "0"), Column("n", "1"))
    context = {"name": "table", "title": "t", "target": TEXTS[number], "table": TABLE}
    context["template"] = TEMPLATES[number]
    return Sample(f"s{number}", "logicnlg", units, (TEXTS[number],), context)


SAMPLES = tuple(map(make, range(4)))
CONTRAST = Contrast((Column("n", "1"),), "all have 7 .")
PAIRED = (
    *(*SAMPLES[:2], replace(SAMPLES[2], challenge=CONTRAST), SAMPLES[3]),
    # One of these two has a false text that is less likely by a small margin.
    replace(SAMPLES[0], id="s4", challenge=Contrast(SAMPLES[0].units, TEXTS[1])),
    replace(SAMPLES[1], id="s5", challenge=Contrast(SAMPLES[1].units, TEXTS[0])),
)


@pytest.fixture
def model(loaded):
    return without_dropout(loaded)


# --- Adversarial regularization ------------------------------------------------------------------


@pytest.mark.parametrize(("weight", "margin"), [(0.5, 0.3), (2.0, 4.0), (3.0, 1e-3)])
def test_the_adversarial_loss_is_the_likelihood_and_a_hinge_for_each_false_text(
    model, loaded, weight, margin
):
    objective = objective_of("adversarial", loaded, PAIRED, weight=weight, margin=margin)
    assert set(objective.false_rows) == {"s0", "s1", "s2", "s4", "s5"}, "s3 names nothing"
    rows = rows_of(loaded, PAIRED)
    expected = torch.zeros(())
    for sample, row in zip(PAIRED, rows, strict=True):
        expected += plain_loss(model, row)
        if (false := false_pair(sample, "causal", 0)) is None:
            continue
        (false_row,) = encode([false], loaded.tokenizer, "causal", None).rows
        true, other = (-plain_loss(model, each) / each.targets for each in (row, false_row))
        expected += weight * row.targets * max(margin - (true - other), torch.zeros(()))
    found = objective.loss(model, load_batch(rows, loaded.pad_id, model))
    assert found.item() == pytest.approx(expected.item(), rel=1e-5)


def test_a_corrupted_text_names_other_values_of_the_same_columns():
    assert corrupted(SAMPLES[0], 0) in {f"{who} has 7 ." for who in ("Bo", "Cy")}, (
        "12 can only become 7"
    )
    assert corrupted(SAMPLES[3], 0) is None
    found = {corrupted(SAMPLES[2], seed) for seed in range(20)}
    assert found == {f"{a} beats {b} ." for a in ("Ann", "Bo") for b in ("Ann", "Cy")}
    assert corrupted(SAMPLES[2], 3) == corrupted(SAMPLES[2], 3)
    assert corrupted(Sample("0", "e2e", (), ("Ann",)), 0) is None


@given(st.text("iıİIsſSßẞkKµμ ς", min_size=1).map(str.strip).filter(len))
def test_letters_that_fold_to_others_are_corrupted_too(name):
    context = {**SAMPLES[0].context, "table": Table(("who", "n"), ((name, "7"), ("Cy", "12")))}
    sample = replace(SAMPLES[0], context=context)
    for text in (name, name.upper(), name.lower(), name.casefold()):
        sample = replace(sample, context={**context, "target": f"{text} has 7 ."})
        assert corrupted(sample, 0) in {"Cy has 12 .", f"{text} has 12 ."}


# --- Reward --------------------------------------------------------------------------------------


def test_a_reward_weighs_samples_by_their_gain(model, loaded):
    ids = [[72, 104, 2], [99, 2], [70, 71]]
    prompts = [loaded.tokenizer(prompt(s, "causal"))["input_ids"] for s in SAMPLES[:3]]
    rows = tuple(
        Row(read + written[:-1], [-100] * (len(read) - 1) + written, sample.id)
        for read, written, sample in zip(prompts, ids, SAMPLES, strict=False)
    )

    def written(*_, sampling):
        return ["good", "bad", "good"] if sampling else ["bad", "good", "good"], rows

    settings = {"reward": "constant", "weight": 0.7, "max_tokens": 4}
    objective = objective_of("reward", loaded, SAMPLES[:3], **settings)
    objective.reward = lambda _, texts: [float(text == "good") for text in texts]
    batch = load_batch(rows_of(loaded, SAMPLES[:3]), loaded.pad_id, model)
    with patch.object(reward, "write", written):
        found = objective.loss(model, batch).item()
    gains = (1, -1, 0)
    policy = sum(gain * plain_loss(model, row) for gain, row in zip(gains, rows, strict=True))
    likelihood = target_losses(model, batch).sum()
    assert found == pytest.approx((likelihood + 0.7 * policy).item(), rel=1e-5)


def test_greedy_texts_are_the_likeliest_tokens(model, loaded):
    texts, rows = write(model, loaded, SAMPLES, 5, sampling=False)
    for sample, row, text in zip(SAMPLES, rows, texts, strict=True):
        ids = loaded.tokenizer(prompt(sample, "causal"))["input_ids"]
        likeliest = []
        while len(likeliest) < 5 and loaded.tokenizer.eos_token_id not in likeliest:
            logits = model(input_ids=torch.tensor([ids + likeliest])).logits[0, -1]
            likeliest.append(int(logits.argmax()))
        assert row.input_ids == ids + likeliest[:-1]
        assert row.labels[-len(likeliest) :] == likeliest
        assert row.sample == sample.id
        assert text in loaded.tokenizer.decode(likeliest)


def test_a_score_is_a_reward_from_0_to_1():
    assert find_reward("empty")([SAMPLES[0]] * 2, ["", "text"]) == [0.0, 1.0]


# --- Coarse to fine ------------------------------------------------------------------------------

COARSE = tuple(in_variant(sample, "coarse_to_fine") for sample in SAMPLES)


def test_the_template_comes_first_and_then_the_template_and_the_sentence(loaded):
    settings = OptimizationConfig(batch_size=2, epochs=None, max_steps=5)
    objective = objective_of("coarse_to_fine", loaded, COARSE, settings, template_epochs=3)
    rows, steps = objective.rows.rows, objective.steps()
    learned = [[label for label in row.labels if label >= 0] for row in (rows[0], rows[4])]
    assert list(map(loaded.tokenizer.decode, learned)) == [
        "[ENT] has [ENT] .</s>",
        "[ENT] has [ENT] . [SEP] Ann has 12 .</s>",
    ]
    assert objective.judged_from == 3
    read = [[number for batch in step.batches for number in batch] for step in steps]
    for first, second in (read[0:2], read[2:4], read[4:6]):
        assert sorted(first + second) == [0, 1, 2, 3]
    for first, second in (read[6:8], read[8:10]):
        assert sorted(first + second) == [4, 5, 6, 7]
    assert set(read[10]) < {4, 5, 6, 7}
    assert [step.epoch for step in steps] == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5]


@pytest.mark.parametrize("name", ["gpt2", "llama", "t5"])
def test_new_tokens_have_embeddings_and_swallow_published_blanks(base, name):
    loaded = load_base(ModelConfig(str(base(name))))
    before = len(loaded.tokenizer)
    entity, separator = add_tokens(loaded, CoarseToFine.tokens)
    assert loaded.model.get_input_embeddings().num_embeddings >= len(loaded.tokenizer) == before + 2
    ids = loaded.tokenizer("a [ENT] b [SEP] c", add_special_tokens=False)["input_ids"]
    plain = loaded.tokenizer(["a", " b", "c"], add_special_tokens=False)["input_ids"]
    assert ids == [*plain[0], entity, *plain[1], separator, *plain[2]]
    assert "[SEP]" in loaded.tokenizer.decode(ids, skip_special_tokens=True)
    assert add_tokens(loaded, CoarseToFine.tokens) == ()


# --- Whole runs ----------------------------------------------------------------------------------

TEMPLATED = Sets(
    SetFacts(aspect="logicnlg", corpus="logicnlg", protocol="published", part="c2f"),
    {"train": COARSE},
    COARSE,
)
COARSE_TO_FINE = (
    *("data.aspect=logicnlg", "data.corpus=logicnlg", "data.arm=train"),
    *("optimization.batch_size=2", "optimization.learning_rate=1e-2"),
    *("objective=coarse_to_fine", "objective_settings={template_epochs: 1}"),
)


def test_a_whole_model_is_a_checkpoint_that_says_what_it_learned(tune, base):
    settings = (*COARSE_TO_FINE, "method=full", "optimization.epochs=3")
    result = tune(*settings, pair=TEMPLATED, name="gpt2")
    assert len(result.losses) == 2 + 6
    manifest = read_manifest(result.folder)
    assert (manifest["kind"], len(adapter_in(result.folder).log.losses)) == ("checkpoint", 4)
    model, info = AutoModelForCausalLM.from_pretrained(result.folder, output_loading_info=True)
    assert not info["missing_keys"]
    tokenizer = AutoTokenizer.from_pretrained(result.folder)
    assert {"[ENT]", "[SEP]"} <= tokenizer.get_vocab().keys()
    assert model.config.vocab_size == len(tokenizer)
    arguments = {"pretrained": str(result.folder)}
    assert find_adapter(Checkpoint.read(arguments)) == adapter_in(result.folder)
    assert find_adapter(Checkpoint(pretrained=str(base("gpt2")))) is None
    card = (result.folder / "README.md").read_text()
    assert "peft" not in card.lower()
    (result.folder / "model.safetensors").write_bytes(b"other")
    with pytest.raises(ConfigError, match="weights"):
        find_adapter(Checkpoint.read(arguments))


@pytest.mark.parametrize("name", ["gpt2", "llama"])
def test_an_adapter_brings_the_embeddings_of_new_tokens(tune, configure, trained, name):
    tune(*COARSE_TO_FINE, pair=TEMPLATED, name=name)
    config = configure(*COARSE_TO_FINE, name=name)
    found = SporHF(**config.arguments, dtype="float32", device="cpu")
    ids = torch.tensor([found.tok_encode("a [ENT] b [SEP] c")])
    with torch.no_grad():
        expected = trained[0].eval()(input_ids=ids).logits
        assert torch.allclose(found.model(input_ids=ids).logits, expected, atol=1e-5)
