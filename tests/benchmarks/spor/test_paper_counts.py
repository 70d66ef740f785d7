"""The corpora and released sets have the numbers that the paper prints (sections 2.1 and 3)."""

from pathlib import Path

import pytest

from spor_tasks.aspects import named
from spor_tasks.core.registry import registry
from spor_tasks.core.sample import CorpusSamples
from tests.oracles import webnlg

# training samples, test samples, distinct units
CORPORA = {"webnlg": (13_211, 2_179, 3_873), "e2e": (6_735, 1_635, 45)}
# samples and units of Atom, of Combination, and test samples
SYSTEMATICITY = {
    "webnlg": ((4_717, 9_636), (3_256, 8_267), 2_360),
    "e2e": ((3_351, 13_311), (1_390, 7_043), 156),
}
TESTS = {
    "webnlg": {
        ("productivity", "n3"): 219,
        ("productivity", "n4"): 153,
        ("productivity", "n5"): 99,
        ("order_invariance", "main"): 1_559,
        ("rule_learnability", None): 1_614,
    },
    "e2e": {
        ("productivity", "n3"): 1_314,
        ("productivity", "n4"): 1_002,
        ("productivity", "n5"): 477,
        ("order_invariance", "main"): 1_623,
        ("rule_learnability", None): 1_440,
    },
}


@pytest.mark.real_data
@pytest.mark.parametrize("corpus", CORPORA)
def test_the_corpora_are_as_large_as_the_paper_says(corpus: str, data_dir: Path) -> None:
    read: CorpusSamples = registry().get("corpus", corpus).read(data_dir)
    test = tuple(read.test)
    if corpus == "webnlg":  # the paper counts test samples whose triples are partly unknown
        test = webnlg.read_test(data_dir)
    units = {unit for sample in (*read.train, *test) for unit in sample.units}
    assert (len(read.train), len(test), len(units)) == CORPORA[corpus]


@pytest.mark.real_data
@pytest.mark.parametrize("corpus", CORPORA)
def test_the_released_sets_are_as_large_as_the_paper_says(
    corpus: str, data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPOR_DATA_DIR", str(data_dir))
    pair = named.load("systematicity", corpus)
    atom, combination = (
        (len(arm.samples), sum(len(sample.units) for sample in arm.samples)) for arm in pair.arms
    )
    assert (atom, combination, len(pair.test.samples)) == SYSTEMATICITY[corpus]
    found = {
        (aspect, part): len(named.load(aspect, corpus, part=part).test.samples)
        for aspect, part in TESTS[corpus]
    }
    assert found == TESTS[corpus]
