"""The shipped tiny bases, what they have read, and the script that trained them."""

import runpy
from itertools import combinations

import pytest
from transformers import AutoModelForCausalLM, AutoTokenizer

from spor_tasks.core import named
from spor_tasks.core.files import read_rows
from spor_tasks.core.folders import read_manifest
from spor_tasks.core.weights import digest_weights
from spor_tasks.text.normalize import display
from tests.conftest import REPOSITORY
from training.demo import BASES


@pytest.fixture(scope="module")
def script():
    return runpy.run_path(str(REPOSITORY / "docs" / "generators" / "tiny_bases.py"))


@pytest.mark.parametrize("corpus", ["mini", "totto_mini", "logicnlg_mini", "compmctg_mini"])
def test_a_shipped_base_has_the_settings_of_the_script(corpus, script):
    manifest = read_manifest(BASES / corpus)
    facts = script["facts"](corpus, script["SETTINGS"][corpus])
    for name in ("kind", "corpus", "settings", "pretraining_sha256"):
        assert manifest[name] == facts[name]
    assert manifest["sha256"] == digest_weights(BASES / corpus)
    assert sum(file.stat().st_size for file in (BASES / corpus).iterdir()) < 1_000_000
    model = AutoModelForCausalLM.from_pretrained(BASES / corpus)
    assert str(model.dtype) == "torch.float32"
    assert model.config.vocab_size == len(AutoTokenizer.from_pretrained(BASES / corpus))


def test_no_two_units_of_a_test_sample_are_together_in_what_the_base_reads():
    tested = named.load("systematicity", "mini").test
    apart = {
        frozenset(" ".join(map(display, unit)) for unit in two)
        for sample in tested
        for two in combinations(sample.units, 2)
    }
    _, *rows = (row for _, row in read_rows(BASES.parent / "pretraining" / "mini.jsonl.gz"))
    facts = [text.removesuffix(".").split(". ") for row in rows for text in row["texts"]]
    together = {frozenset(two) for read in facts for two in combinations(read, 2)}
    assert len(together) > 1000
    assert together.isdisjoint(apart)
