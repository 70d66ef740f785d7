"""Which sets, which arm, which pairs: what settings name is what is trained on."""

from types import SimpleNamespace
from typing import get_args

from spor_tasks.aspects.request import Request, answer
from spor_tasks.cli import main
from spor_tasks.core import named
from spor_tasks.core.digests import digest
from spor_tasks.corpora import own
from spor_tasks.prompts.styles import PromptStyle, prompt
from tests.conftest import REPOSITORY
from tests.support.result_files import adapter_in
from training.data import find_spec, places_to_cut
from training.objectives.base import Material
from training.objectives.likelihood import Likelihood
from training.settings import dump_settings


def test_pairs_are_made_as_they_are_read(invented):
    samples = iter(next(iter(invented.arms.values())))
    next(Material(samples, SimpleNamespace(style="causal")).pairs(Likelihood.pairs))
    assert len([*samples]) == 4, "all but one"


def test_a_task_says_where_a_prompt_may_be_cut():
    pair = named.load("totto", "totto_mini", part="fulltable")
    (sample, *_) = pair.test
    for style in get_args(PromptStyle):
        assert any(
            text in prompt(sample, style) for text in places_to_cut(find_spec(**pair.facts.named))
        )


def test_an_adapter_is_trained_on_a_corpus_of_one_s_own_by_one_command(configure, tmp_path, capsys):
    """The corpus is the one that docs/own-corpus.md shows."""
    page = (REPOSITORY / "docs" / "own-corpus.md").read_text()
    lighthouses = tmp_path / "lighthouses.jsonl"
    lighthouses.write_text(page.partition("```json\n")[2].partition("```")[0])
    config = configure("selection.policy=test-best", "optimization.max_steps=1")
    file = tmp_path / "some.yaml"
    file.write_text(dump_settings(config))
    overrides = [f"data.corpus={lighthouses}", "data.aspect=systematicity", "data.arm=combination"]
    assert main(["train", str(file), *overrides]) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"{config.output}: loss 5.")
    assert out.endswith(f"\n`spor tasks make {lighthouses} --out TASKS` writes its tasks\n")
    found = adapter_in(config.output)
    assert found.arm == "combination"
    pair = answer(Request(corpus=str(lighthouses), aspect="systematicity")).pair
    assert found.sets.corpus == "lighthouses"
    assert found.sets.corpus_sha256 == own.read_corpus(lighthouses).sha256
    assert found.arm_sha256 == digest([*pair.arms.values()][1])
    assert found.sets.test_sha256 == digest(pair.test)
    assert found.selection["samples_sha256"] == digest(pair.test)
    assert "spor_systematicity_lighthouses" in (config.output / "README.md").read_text()
