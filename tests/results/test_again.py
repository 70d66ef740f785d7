"""The commands that fill a gap ask for it as the results that are there were asked for."""

import shlex
import shutil
from itertools import pairwise
from pathlib import Path

import pytest
from msgspec.structs import replace

from spor_tasks import cli
from spor_tasks.cli.evaluate import _parse
from spor_tasks.results import runs
from spor_tasks.results.again import Options, training
from spor_tasks.results.facts import ELSEWHERE, TrainedOn
from tests.conftest import REPOSITORY
from tests.support.invented_runs import EVIL_MODEL
from tests.support.result_files import edited, write_result
from training.config import load_config

TASK = "spor_systematicity_mini"


def read(folder, *, top=(), own=(), metadata=(), **settings):
    """Return a run whose file says more."""
    file = write_result(folder / "results_1.json", **settings)
    with edited(file) as content:
        content |= dict(top)
        content["config"] |= dict(own)
        content["configs"][TASK]["metadata"] |= dict(metadata)
    (run,) = runs.read(file)
    return run


def test_lm_eval_reads_the_options_of_the_run_from_the_command(tmp_path):
    run = read(
        tmp_path,
        top={
            "chat_template": "{{ messages }}",
            "system_instruction": "Be 'brief'; $(touch x).\nPlease, a=b.",
            "fewshot_as_multiturn": True,
        },
        own={
            "limit": 40.0,
            "batch_size": "auto:4",
            "device": "cpu",
            "gen_kwargs": {"temperature": 0.5, "until": ["\n", ","]},
            "model_args": {"pretrained": EVIL_MODEL, "dtype": "float32", "peft": "a, b"},
        },
        metadata={"limit_evenly": True, "prompt_style": "instruction"},
        shown="atom",
    )
    words = shlex.split(run.log.options.command(TASK))
    assert words[:2] == ["spor", "eval"]
    _, options = _parse(words[2:])
    assert options.model == "hf"
    assert options.model_args == {"pretrained": EVIL_MODEL, "dtype": "float32", "peft": "a, b"}
    assert options.tasks == [TASK]
    assert (options.limit, options.num_fewshot, options.batch_size) == (40, 8, "auto:4")
    assert options.device == "cpu"
    assert options.gen_kwargs == {"temperature": 0.5, "until": ["\n", ","]}
    assert options.system_instruction == "Be 'brief'; $(touch x).\nPlease, a=b."
    assert options.apply_chat_template
    assert options.fewshot_as_multiturn
    assert options.metadata == {"limit_evenly": True, "prompt_style": "instruction"}
    assert options.log_samples


def test_the_model_as_it_is_has_no_adapter_and_no_device_that_nobody_asked_for(tmp_path):
    run = read(
        tmp_path, own={"device": "cuda:0"}, metadata={"own_corpus": {}, "config_source": "a/b.yaml"}
    )
    words = shlex.split(run.log.options.as_is(run.adapter).command(TASK))
    assert {("--model_args", "pretrained=base"), ("--include_path", "a")} <= {*pairwise(words)}
    assert "--device" not in words
    assert "somewhere" in run.log.options.command(TASK)  # the adapter


def test_a_training_repeats_the_base_the_sets_and_the_seed(tmp_path):
    run = read(tmp_path, seed=3, model="a base")
    asked = run.log.options
    plain = "spor train CONFIG data.arm=combination"
    assert training(run.adapter, "combination", TASK, asked) == plain
    sets = TrainedOn(aspect="systematicity", corpus="mini", protocol="strict")
    known = replace(run.adapter, sets=sets)
    assert shlex.split(training(known, "combination", TASK, asked)) == [
        *("spor", "train", "CONFIG", "data.arm=combination", "model.path=a base"),
        *("data.aspect=systematicity", "data.corpus=mini", "data.protocol=strict"),
        "optimization.seed=3",
    ]


@pytest.mark.parametrize("key", ["peft", "pretrained"])
def test_a_training_repeats_the_settings_in_the_folder_of_what_it_trained(tmp_path, key):
    folder = tmp_path / "an adapter"
    run = read(tmp_path, own={"model_args": {"pretrained": "base", key: str(folder)}})
    asked = run.log.options
    assert "CONFIG" in training(run.adapter, "combination", TASK, asked)
    (config, *_) = sorted((REPOSITORY / "configs" / "models").glob("*.yaml"))
    folder.mkdir()
    shutil.copy(config, folder / "training.yaml")
    assert "CONFIG" in training(None, "combination", TASK, asked)
    words = shlex.split(training(run.adapter, "combination", TASK, asked))
    assert words[:3] == ["spor", "train", str(folder / "training.yaml")]
    found = load_config(Path(words[2]), words[3:])
    assert (found.data.arm, str(found.output)) == ("combination", f"{folder}-combination")


def test_the_settings_of_a_training_find_a_corpus_of_one_s_own(tmp_path):
    built = {"seed": 7, "hide": ["it's", "price range"], "version": "sha256:0"}
    own = {"file": "/some where/ships.csv", **built}
    run = read(tmp_path, seed=3, metadata={"own_corpus": own, "config_source": "a b/c.yaml"})
    sets = TrainedOn(aspect="rule_learnability", corpus="ships", protocol="strict")
    known = replace(run.adapter, sets=sets)
    words = shlex.split(training(known, "original", TASK, run.log.options))
    assert words[:3] == ["spor", "train", "CONFIG"]
    (config, *_) = sorted((REPOSITORY / "configs" / "models").glob("*.yaml"))
    data = load_config(config, words[3:]).data
    assert (data.corpus, data.seed, data.hide) == (own["file"], 7, tuple(built["hide"]))
    assert (data.aspect, data.arm, data.restarts) == (sets.aspect, "original", None)
    elsewhere = replace(known, settings={**ELSEWHERE, "recipe": "mine"})
    words = shlex.split(training(elsewhere, "original", TASK, run.log.options))
    assert cli.parser().parse_args(words[1:]).include_path == Path("a b")


def test_pairs_are_what_another_trainer_needs(tmp_path):
    known = replace(read(tmp_path).adapter, settings={**ELSEWHERE, "recipe": "mine"})
    words = shlex.split(training(known, "combination", TASK, Options()))
    assert words[:3] == ["spor", "data", "pairs"]
    options = cli.parser().parse_args(words[1:])
    assert (options.task, options.arm) == (TASK, "combination")
