"""The recipe and a plain loop: both loops learn the same, and the table says what was measured."""

from collections.abc import Callable
from pathlib import Path

import pytest
from transformers import AutoConfig, AutoTokenizer

from spor_tasks.aspects import named
from spor_tasks.core.sample import Split
from spor_tasks.corpora import sources
from tests.speed import training_loops
from tests.speed.training_loops import LOOPS, PLAIN, compare, small_models


@pytest.fixture
def short() -> Split:
    """Samples that fit into the positions of the tiny bases."""
    arm = named.load("systematicity", "mini").arms[0]
    return Split("atom", tuple(s for s in arm.samples if len(s.units) == 1)[:30])


@pytest.mark.parametrize("name", ["llama", "t5"])
def test_without_dropout_and_in_one_type_both_loops_learn_the_same(
    base: Callable[..., Path], short: Split, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(training_loops, "_HELD_OUT", 10)
    monkeypatch.setattr(training_loops, "LORA", {**training_loops.LORA, "lora_dropout": 0.0})
    monkeypatch.setattr(
        training_loops, "LOOPS", {PLAIN: LOOPS[PLAIN], "recipe": LOOPS["recipe, float32"]}
    )
    measured = compare(str(base(name)), short, pairs=20, seeds=2, threads=1)
    for one, other in zip(*measured.values(), strict=True):
        assert other.loss == pytest.approx(one.loss, rel=1e-5)
        assert (other.pairs, other.tokens) == (one.pairs, one.tokens)
    first, second = measured["recipe"]
    assert first.loss != second.loss


def test_the_table_has_a_row_for_every_loop(
    base: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(training_loops, "_HELD_OUT", 10)
    monkeypatch.setenv(sources.SPOR.variable, "nowhere")
    monkeypatch.setattr(training_loops, "small_models", lambda *_: [str(base("t5"))])
    training_loops.run([], pairs=12, seeds=2)
    out = capsys.readouterr().out
    assert "on 12 pairs of mini atom" in out
    rows = [line.split(" | ") for line in out.splitlines() if line.startswith("| ")][1:]
    assert [row[0] for row in rows] == [f"| {name}" for name in LOOPS]
    assert rows[0][3] == "1.00"
    assert all(" ± " in row[-1] for row in rows)


def test_the_small_models_have_large_vocabularies(short: Split, tmp_path: Path) -> None:
    folders = small_models(tmp_path, short)
    configs = [AutoConfig.from_pretrained(folder) for folder in folders]
    assert [config.is_encoder_decoder for config in configs] == [False, True]
    assert min(config.vocab_size for config in configs) > 32_000
    text = short.samples[0].references[0]
    ids = AutoTokenizer.from_pretrained(folders[0])(text)["input_ids"]
    assert len(text.split()) < len(ids) < len(text)
