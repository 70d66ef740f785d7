"""The tiny bases: what they read, that they come out the same, and the shipped one."""

import json
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest
from transformers import AutoModelForCausalLM, AutoTokenizer

from spor_tasks.aspects import named
from spor_tasks.core.errors import CorpusError
from spor_tasks.core.files import read_rows
from spor_tasks.core.folders import read_manifest
from spor_tasks.core.weights import digest_weights
from spor_tasks.text.normalize import display
from training import tiny_base
from training.__main__ import main
from training.encoding import collate
from training.tiny_base import BaseSettings

TINY = BaseSettings(width=16, layers=1, heads=2, steps=3)
QUICK = "compmctg_mini"  # which has the smallest file


@pytest.fixture(scope="module")
def test_no_two_units_of_a_test_sample_meet_in_what_the_base_reads() -> None:
    tested = named.load("systematicity", "mini").test.samples
    apart = {
        frozenset(" ".join(map(display, unit)) for unit in two)
        for sample in tested
        for two in combinations(sample.units, 2)
    }
    _, *rows = (row for _, row in read_rows(tiny_base.PRETRAINING / "mini.jsonl.gz"))
    facts = [text.removesuffix(".").split(". ") for row in rows for text in row["texts"]]
    together = {frozenset(two) for read in facts for two in combinations(read, 2)}
    assert len(together) > 1000
    assert together.isdisjoint(apart)


def test_the_shipped_base_is_of_its_settings_and_small() -> None:
    manifest = read_manifest(tiny_base.SHIPPED)
    facts = tiny_base.facts("mini", tiny_base.SETTINGS["mini"])
    for name in ("kind", "corpus", "settings", "pretraining_sha256"):
        assert manifest[name] == facts[name]
    assert manifest["sha256"] == digest_weights(tiny_base.SHIPPED)
    assert sum(file.stat().st_size for file in tiny_base.SHIPPED.iterdir()) < 1_000_000
    assert str(AutoModelForCausalLM.from_pretrained(tiny_base.SHIPPED).dtype) == "torch.float32"


@pytest.mark.parametrize("half", [False, True])
def test_a_base_is_an_ordinary_checkpoint(tmp_path: Path, *, half: bool) -> None:
    settings = replace(TINY, half=half)
    tiny_base.build(tmp_path, QUICK, settings, progress=False)
    model = AutoModelForCausalLM.from_pretrained(tmp_path)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path)
    assert json.loads((tmp_path / "config.json").read_text())["dtype"] == "float32"
    assert model.config.vocab_size == len(tokenizer)
    assert model.config.eos_token_id == tokenizer.eos_token_id
    assert tokenizer.decode(tokenizer("In short, the soup is dull.")["input_ids"]) == (
        "In short, the soup is dull."
    )
    manifest = read_manifest(tmp_path)
    assert manifest.items() >= tiny_base.facts(QUICK, settings).items()
    assert manifest["sha256"] == digest_weights(tmp_path)


def test_steps_make_a_base_better_at_what_it_has_not_read() -> None:
    tokenizer, rows = tiny_base.read(QUICK)
    unread = collate(rows[-50:], tokenizer.pad_token_id)
    losses = []
    for steps in (1, 60):
        settings = replace(TINY, steps=steps)
        model = tiny_base.pretrain(rows[:-50], tokenizer, settings, progress=False)
        losses.append(tiny_base._loss(model, unread).item())
    assert losses[1] < losses[0] - 1 / 2


def test_equal_settings_make_equal_weights(tmp_path: Path) -> None:
    digests = set()
    for name, seed in (("one", 0), ("same", 0), ("other", 1)):
        tiny_base.build(tmp_path / name, QUICK, replace(TINY, seed=seed), progress=False)
        digests.add(digest_weights(tmp_path / name))
    assert len(digests) == 2


def test_the_command_trains_a_base(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(tiny_base.SETTINGS, QUICK, TINY)
    assert main(["base", QUICK, str(tmp_path / "base")]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'base'}\n"
    assert read_manifest(tmp_path / "base").items() >= tiny_base.facts(QUICK, TINY).items()


def test_a_damaged_pretraining_file_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = (tiny_base.PRETRAINING / f"{QUICK}.jsonl.gz").read_bytes()
    monkeypatch.setattr(tiny_base, "PRETRAINING", tmp_path)
    (tmp_path / f"{QUICK}.jsonl.gz").write_bytes(content[: len(content) // 2])
    with pytest.raises(CorpusError) as error:
        tiny_base.build(tmp_path / "base", QUICK, TINY, progress=False)
    assert f"{QUICK}.jsonl.gz" in str(error.value.where)
    assert not (tmp_path / "base").exists()
