import json
import logging
import warnings
from dataclasses import replace
from unittest.mock import patch

import peft
import pytest
import torch
from transformers import AutoTokenizer

from spor_tasks.core.digests import digest
from spor_tasks.core.errors import SporError
from spor_tasks.core.folders import read_manifest
from spor_tasks.core.weights import digest_weights
from spor_tasks.models.checkpoints import Checkpoint, find_adapter
from spor_tasks.results.facts import BaseModel, TrainedOn
from tests.support.result_files import adapter_in
from tests.support.soak import soak
from tests.training.losses import different_rows
from training import lora
from training.bases import load_base
from training.batches import load_batch, target_loss
from training.config import ModelConfig, load_config
from training.identity import settings_sha256, shared_settings, versions
from training.settings import to_dict

FAST = ("lora.target_modules=all-linear", "lora.lora_dropout=0", "optimization.learning_rate=1e-2")
WEIGHTS = "adapter_model.safetensors"


@pytest.mark.usefixtures("short_outputs")
@pytest.mark.parametrize("name", ["llama", soak("t5")])
def test_four_bits_learn_the_same_and_judging_disturbs_nothing(tune, name):
    """Where bitsandbytes evaluates, gradients may be lost in silence afterwards."""
    short = (*FAST, "data.corpus=mini", "data.limit=6", "optimization.epochs=3")
    four_bits = "model.quantization=nf4"
    judged = ("selection.policy=dev-best", "selection.samples=1", "optimization.packing=true")
    expected = tune(*short, four_bits, name=name, to="four bits").losses
    found = tune(*short, four_bits, *judged, name=name, to="judged").losses
    plain = tune(*short, name=name, to="plain").losses
    assert found == pytest.approx(expected, rel=1e-2)
    assert found == pytest.approx(plain, rel=0.02)
    assert found[0] != pytest.approx(plain[0], rel=1e-5)


ORIGINAL = ["data.aspect=order_invariance", "data.corpus=mini", "data.arm=original"]
MCTG = ["data.aspect=compmctg", "data.corpus=compmctg_mini", "data.protocol=original"]
LOGIC = ["data.aspect=logicnlg", "data.corpus=logicnlg_mini", "data.arm=train"]
CODES = [*MCTG, "data.arm=train", "method=codes", "objective=dcg"]


@pytest.mark.parametrize(
    ("settings", "name", "fault"),
    [
        (["data.arm=match"], "llama", "'match'.*\n.*Its arms are atom and combination"),
        (["data.corpus=none.jsonl"], "llama", "nor a file"),
        (["data.corpus=mini", "data.protocol=published"], "llama", "there is no split"),
        (["data.corpus=e2e", "data.seed=0"], "llama", "has no effect"),
        (["data.aspect=productivty", "data.corpus=mini"], "llama", "there is no split"),
        ([*ORIGINAL, "selection.policy=dev-best"], "llama", "none is left over .*\n.* dev-split"),
        (["selection.policy=dev-split"], "llama", "be used for systematicity.*\n.*=dev-best"),
        (["data.corpus=mini", "optimization.cut=right"], "llama", "^optimization.cut: the task"),
        (["model.path=no/such/base"], "llama", "this folder does not exist"),
        (["optimization.packing=true"], "bart", "optimization.packing cannot be used"),
        (["lora.target_modules=[c_attn]"], "llama", "lora does not fit"),
        (["lora.r=10000000000"], "llama", "lora does not fit"),
        (["optimization.max_length=3"], "llama", "none of the 10 training pairs"),
        (["lora.rank=4"], "llama", "lora.rank: there is no such argument of peft.LoraConfig"),
        (["method=full", "model.quantization=nf4"], "llama", "so few bits"),
        (["method=full", "model.dtype=bfloat16"], "llama", "trains weights of float32"),
        (["objective=reward"], "llama", "reward: "),
        (["objective=reward", "objective_settings={reward: x}"], "llama", "is not a reward"),
        (["objective=reward", "objective_settings={reward: corpus_bleu_1}"], "llama", "a reward"),
        (["objective=adversarial", "objective_settings={weight: -1}"], "llama", "weight: "),
        (["objective_settings={weight: 1}"], "llama", "weight: "),
        (["objective=adversarial"], "llama", "with a table.*\n.*logicnlg"),
        ([*LOGIC, "objective=coarse_to_fine"], "gpt2", "with its template.*\n.*c2f"),
        ([*CODES, "method=lora"], "gpt2", "method=lora cannot be used"),
        ([*CODES, "objective=likelihood"], "gpt2", "method=codes cannot be used"),
        ([*CODES, "optimization.packing=true"], "gpt2", "cannot be laid end to end"),
        ([*CODES, "objective_settings={task_vectors: 250}"], "gpt2", "a text has no room"),
        (CODES, "t5", "vectors for values are for decoders"),
    ],
)
def test_what_cannot_be_trained_is_refused_and_leaves_nothing(
    tune, tmp_path, settings, name, fault
):
    with pytest.raises(SporError, match=fault) as caught:
        tune(*settings, name=name)
    assert caught.value.remedy
    assert list(tmp_path.iterdir()) == []


def test_broken_or_empty_sets_are_refused(tune, invented, tmp_path):
    strict = replace(invented, facts=replace(invented.facts, protocol="strict"))
    textless = tuple(
        replace(sample, references=()) for sample in next(iter(invented.arms.values()))
    )
    no_samples, no_texts = (
        replace(invented, arms={**invented.arms, "atom": samples}) for samples in ((), textless)
    )
    for pair, fault in (
        (strict, "2 atoms do not occur in Atom; "),
        (no_samples, "has no arm 'atom' with texts"),
        (no_texts, "has no arm 'atom' with texts"),
    ):
        with pytest.raises(SporError, match=fault):
            tune(pair=pair)
    assert list(tmp_path.iterdir()) == []


def test_a_finished_run_says_all_that_is_needed_to_trust_and_repeat_it(
    configure, tune, base, invented
):
    settings = ("optimization.epochs=3", "optimization.seed=7", "data.limit=8")
    settings = (*settings, "optimization.threads=2")
    random_state, threads = torch.get_rng_state(), torch.get_num_threads()
    config, result = configure(*settings), tune(*settings)
    assert (torch.get_rng_state().equal(random_state), torch.get_num_threads()) == (True, threads)
    found = adapter_in(result.folder)
    log = found.log
    assert (result.folder, result.pairs, result.pairs_seen) == (config.output, 8, 24)
    assert len(result.losses) == 6
    means = [sum(result.losses[epoch : epoch + 2]) / 2 for epoch in (0, 2, 4)]
    assert log.losses == pytest.approx(means)
    assert "2 atoms do not occur in Atom" in found.violations
    weights = digest_weights(base("llama"))
    tested = digest(invented.test)
    assert found.sets == TrainedOn(**invented.facts.named, test_sha256=tested)
    assert (found.arm, found.arm_sha256) == ("atom", digest(next(iter(invented.arms.values()))))
    assert (found.prompt_style, found.seed, found.pairs) == ("causal", 7, 8)
    assert found.base_model == BaseModel(path=str(base("llama")), sha256=weights)
    assert found.adapter_sha256 == digest_weights(result.folder)
    assert found.settings == json.loads(json.dumps(shared_settings(config)))
    assert (log.steps, log.resumed_from) == (6, 0)
    assert (log.device.name, log.device.processes) == ("cpu", 1)
    assert log.config == json.loads(json.dumps(to_dict(config)))
    assert log.versions == versions()
    assert log.settings_sha256 == settings_sha256(found.settings)
    assert load_config(result.folder / "training.yaml") == config


@pytest.mark.parametrize("name", ["llama", "gpt2", "t5", "bart"])
def test_a_saved_adapter_gives_what_was_trained_and_its_base_and_tokenizer_fit(
    tune, base, invented, trained, name
):
    folder = tune(*FAST, name=name).folder
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "`is_gradient_checkpointing`", FutureWarning)
        loaded = load_base(ModelConfig(str(base(name))))
        model = peft.PeftModel.from_pretrained(loaded.model, folder).eval()
    rows = different_rows(loaded, invented)
    with torch.no_grad():
        losses = [
            target_loss(one, load_batch(rows, loaded.pad_id, one))
            for one in (model, trained[0].eval())
        ]
    assert torch.equal(*losses)
    saved = AutoTokenizer.from_pretrained(folder)
    assert saved("Ann sang.")["input_ids"] == loaded.tokenizer("Ann sang.")["input_ids"]
    found = find_adapter(Checkpoint(pretrained=str(base(name)), peft=str(folder)))
    assert found == adapter_in(folder)
    settings = json.loads((folder / "adapter_config.json").read_bytes())
    assert settings["target_modules"] == sorted(settings["target_modules"])
    assert (settings["r"], settings["lora_alpha"], settings["lora_dropout"]) == (8, 32.0, 0)


@pytest.mark.parametrize(("limit", "length"), [("null", 256), ("1000", 256), ("150", 100)])
def test_pairs_longer_than_the_limit_or_the_model_are_left_out_with_a_warning(
    tune, invented, caplog, limit, length
):
    """The base has 256 positions."""
    long = replace(next(iter(invented.arms.values()))[0], references=("A short one.", "o" * length))
    pair = replace(invented, arms={**invented.arms, "atom": (long,)})
    with caplog.at_level(logging.INFO):
        result = tune(f"optimization.max_length={limit}", pair=pair)
    assert result.pairs == 1
    assert adapter_in(result.folder).log.pairs_too_long == 1
    assert "1 more pairs are too long and are left out" in caplog.text


def test_a_loss_that_is_no_number_ends_the_run_unsaved(tune, tmp_path):
    message = r"the loss became (nan|inf) at step \d+ of 10, on the samples a\d, a"
    with pytest.raises(SporError, match=message):
        tune("optimization.learning_rate=1e30", "optimization.epochs=5")
    assert not (tmp_path / "adapter").exists()


def test_a_run_that_breaks_off_loses_nothing(tune, tmp_path):
    output = tune().folder
    before = {path: path.read_bytes() for path in output.iterdir()}
    with pytest.raises(SporError, match="already exists"):
        tune("optimization.seed=1")
    for place in ("fit", "save_weights", "write_manifest"):
        broken = patch.object(lora, place, side_effect=KeyboardInterrupt)
        with broken, pytest.raises(KeyboardInterrupt):
            tune("overwrite=true")
        assert {path: path.read_bytes() for path in output.iterdir()} == before
        kept = ["adapter.unfinished"] if place != "fit" else []
        assert sorted(path.name for path in tmp_path.iterdir()) == ["adapter", *kept]
    tune("optimization.seed=1", "overwrite=true")
    assert read_manifest(output)["seed"] == 1
    assert (output / WEIGHTS).read_bytes() != before[output / WEIGHTS]
