"""Recorded losses, and a run that was cut off goes on to the bytes of an uninterrupted one."""

import json
from unittest.mock import DEFAULT, Mock, patch

import pytest
import torch

from spor_tasks.core.errors import ConfigError
from tests.conftest import REPOSITORY
from tests.golden.record import TRAININGS
from tests.support.damage import DAMAGE, no_file_larger_than, replace
from tests.support.processes import forked, wait_until
from tests.support.result_files import adapter_in
from tests.support.soak import soak
from training import adapters, lora
from training.batches import load_batches
from training.config import parse_config
from training.encoding import encode
from training.identity import learned_settings
from training.lora import train
from training.objectives import base as objective

NAMES = [
    *("lora/llama", "lora/bart", "lora/packing", "full", "adversarial", "reward", "coarse_to_fine"),
    *("dcg", "meta/published", "meta/contrastive_prefix"),
]
OTHERS = TRAININGS.keys() - NAMES
LOSSES = json.loads((REPOSITORY / "tests" / "golden" / "losses.json").read_text("utf-8"))
WEIGHTS = "adapter_model.safetensors"
LONG = ("optimization.epochs=4", "optimization.batch_size=3", "lora.target_modules=all-linear")
OF_MINI = ("data.corpus=mini", "data.limit=30", "optimization.epochs=12")


def broken_at(step, error=KeyboardInterrupt):
    """Raise the error in place of the batches of this step, counted from 1."""
    broken = Mock(wraps=load_batches, side_effect=[DEFAULT] * (step - 1) + [error])
    return patch.object(lora, "load_batches", broken)


@pytest.fixture(scope="module")
def _encoded_once():
    """Tokenize equal pairs once, which takes most of the time of these trainings."""
    known = {}

    def encode_once(pairs, tokenizer, *how):
        key = (tuple(pairs), tokenizer.name_or_path, *how)
        if key not in known:
            known[key] = encode(key[0], tokenizer, *how)
        return known[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(objective, "encode", encode_once)
        yield


@pytest.mark.usefixtures("_encoded_once")
@pytest.mark.parametrize("name", [*NAMES, *map(soak, sorted(OTHERS))])
def test_a_run_goes_on_to_the_same_losses_and_bytes(name, base, tmp_path):
    base_name, *settings = TRAININGS[name]

    def tuned(to):
        own = (f"model.path={base(base_name)}", f"output={tmp_path / to}")
        config = parse_config("{}", (*settings, "optimization.save_steps=1", *own))
        return train(config, progress=False)

    whole = tuned("whole")
    assert whole.losses == pytest.approx(LOSSES[name], rel=1e-4)
    with broken_at(3), pytest.raises(KeyboardInterrupt):
        tuned("cut")
    assert not (tmp_path / "cut").exists()
    torch.manual_seed(99)  # as in another process
    cut = tuned("cut")
    assert cut.losses == whole.losses
    found, expected = (adapter_in(result.folder).log for result in (cut, whole))
    assert (found.resumed_from, expected.resumed_from) == (2, 0)
    assert found.counts == expected.counts
    (weights,) = whole.folder.glob("*.safetensors")
    assert (cut.folder / weights.name).read_bytes() == weights.read_bytes()
    assert {path.name for path in tmp_path.iterdir()} == {"cut", "whole"}


@pytest.mark.parametrize(("name", "may_change"), [("compmctg", True), ("dcg", False)])
def test_a_batch_may_be_divided_unless_a_loss_depends_on_it(name, *, may_change):
    _, *settings = TRAININGS[name]
    divided = ("optimization.batch_size=4", "optimization.gradient_accumulation=2")
    whole, parts = (
        learned_settings(parse_config("{}", ("model.path=base", *settings, *more)))
        for more in ((), divided)
    )
    assert (whole == parts) == may_change


@pytest.fixture
def place(tmp_path):
    """Return the file that a run goes on from."""
    return tmp_path / "adapter.unfinished"


def test_a_killed_process_can_be_gone_on_with(configure, tune, place):
    settings = (*OF_MINI, "optimization.save_steps=2")
    killed = configure(*settings)
    process = forked(train, killed, progress=False)
    wait_until(place.exists, process)
    process.kill()
    process.join()
    assert not killed.output.exists()
    result = tune(*settings)
    assert 2 <= adapter_in(killed.output).log.resumed_from < len(result.losses) == 36
    whole = tune(*OF_MINI, to="whole")
    assert result.losses == whole.losses
    assert (killed.output / WEIGHTS).read_bytes() == (whole.folder / WEIGHTS).read_bytes()


def test_a_run_is_not_gone_on_with_under_other_settings(tune, place):
    with broken_at(9), pytest.raises(KeyboardInterrupt):
        tune(*LONG)
    other = (*LONG, "lora.r=4", "optimization.learning_rate=1e-3")
    with pytest.raises(ConfigError) as caught:
        tune(*other)
    assert "settings.lora.r, settings.optimization.learning_rate" in caught.value.what
    assert caught.value.where == str(place)
    assert adapter_in(tune(*other, "overwrite=true").folder).log.resumed_from == 0


SHAPES = [5, [1], {}, {"facts": 5}, {"facts": {}, "state": {}}]


@pytest.mark.parametrize("content", [*sorted(DAMAGE.keys() - {"nothing"}), *SHAPES], ids=str)
def test_a_file_of_something_else_is_named(tune, place, content):
    if isinstance(content, str):
        replace(place, content)
    else:
        torch.save(content, place)
    with pytest.raises(ConfigError, match=r"cannot be|is of a run") as caught:
        tune()
    assert caught.value.where == str(place)
    assert caught.value.remedy


@pytest.mark.parametrize(
    "error",
    [
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB."),
        RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: 9 bytes"),
        MemoryError(),
    ],
    ids=["gpu", "cpu", "python"],
)
def test_a_lack_of_memory_is_an_error_with_a_remedy(tune, error):
    with broken_at(2, error), pytest.raises(ConfigError, match="at step 2 of 2") as caught:
        tune()
    assert "Halve optimization.batch_size" in str(caught.value.remedy)
    said = "LlamaForCausalLM raised RuntimeError: shapes differ"
    with broken_at(1, RuntimeError("shapes differ")), pytest.raises(ConfigError, match=said):
        tune()


def test_settings_that_need_less_memory_go_on_from_what_is_done(tune):
    settings = ("optimization.epochs=3", "optimization.batch_size=4", "lora.lora_dropout=0")
    less = ("optimization.batch_size=2", "optimization.gradient_accumulation=2")
    less = (*less, "optimization.packing=true")
    expected = tune(*settings, name="t5", to="whole")
    with broken_at(8), pytest.raises(KeyboardInterrupt):
        tune(*settings, name="t5")
    result = tune(*settings, *less, name="t5")
    assert result.losses[:6] == expected.losses[:6]
    assert result.losses == pytest.approx(expected.losses, rel=1e-5)
    assert adapter_in(result.folder).log.resumed_from == 6


def test_on_a_full_disk_the_state_is_kept(tune, configure, tmp_path, place):
    configure()  # makes the base, which is larger
    with no_file_larger_than(2000), pytest.raises(ConfigError, match=r"unfinished: cannot be writ"):
        tune()
    assert list(tmp_path.iterdir()) == []

    def write_little(*args):
        with no_file_larger_than(2000):
            adapters.save_weights(*args)

    little = patch.object(lora, "save_weights", write_little)
    with little, pytest.raises(ConfigError, match="adapter: cannot be written"):
        tune()
    assert list(tmp_path.iterdir()) == [place]
    assert adapter_in(tune().folder).log.resumed_from == 2


def test_an_output_may_have_the_longest_name(tune, tmp_path):
    tune("optimization.save_steps=1", to="t" * 255)
    assert [path.name for path in tmp_path.iterdir()] == ["t" * 255]
