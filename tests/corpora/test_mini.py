from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from spor_tasks.core import digests
from spor_tasks.core.sample import Sample, SampleMaker
from spor_tasks.corpora.mini import worlds as mini
from spor_tasks.corpora.webnlg import reader as webnlg


@pytest.fixture(scope="module")
def corpus() -> tuple[Sample, ...]:
    return mini.samples()


def tree(folder: Path) -> dict[str, bytes]:
    return {
        file.relative_to(folder).as_posix(): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file()
    }


def entries(folder: Path) -> Iterator[ET.Element]:
    for file in sorted(folder.rglob("*.xml")):
        yield from ET.parse(file).iter("entry")  # noqa: S314 - written by this test


def test_the_corpus_is_the_same_on_every_machine(corpus: tuple[Sample, ...]) -> None:
    assert (
        digests.digest(corpus) == "894e2e9a7050ee1fd78c0a2aba81d5563257c171e669aa573abb475db7ea2257"
    )


def test_one_seed_writes_the_same_bytes_and_another_one_others(tmp_path: Path) -> None:
    for name, seed in (("one", 1), ("again", 1), ("other", 2)):
        mini.write(tmp_path / name, seed)
    assert tree(tmp_path / "one") == tree(tmp_path / "again")
    assert tree(tmp_path / "one") != tree(tmp_path / "other")
    assert {sample.units for sample in mini.samples(1)} != {s.units for s in mini.samples(2)}


def test_what_is_written_reads_back_as_the_corpus(
    tmp_path: Path, corpus: tuple[Sample, ...]
) -> None:
    mini.write(tmp_path)
    make = SampleMaker("mini")
    read: list[Sample] = []
    for part in ("train", "dev", "test"):
        for path in sorted((tmp_path / part).rglob("*.xml")):
            with path.open("rb") as file:
                read.extend(webnlg.read_xml(file, make, where=str(path)))
    assert tuple(read) == corpus


def test_training_and_test_samples_are_those_of_the_corpus(corpus: tuple[Sample, ...]) -> None:
    assert mini.corpus().samples == corpus


def test_the_files_lie_as_in_a_webnlg_release(tmp_path: Path) -> None:
    mini.write(tmp_path)
    names = tree(tmp_path).keys()
    assert "test/rdf-to-text-generation-test-data-with-refs-en.xml" in names
    for part in ("train", "dev"):
        assert {f"{part}/{size}triples/Ship.xml" for size in range(1, 6)} <= names


def test_entries_are_described_as_in_a_webnlg_release(tmp_path: Path) -> None:
    mini.write(tmp_path)
    kinds = {kind.name for kind in mini.KINDS}
    shapes = Counter[tuple[str | None, str | None]]()
    for entry in entries(tmp_path):
        size = len(entry.findall("modifiedtripleset/mtriple"))
        assert entry.get("size") == str(size)
        assert entry.get("category") in kinds
        assert entry.get("shape", "").count("X") == size + 1
        assert len(entry.findall("originaltripleset/otriple")) == size
        assert [lex.get("lid") for lex in entry.iter("lex")] == ["Id1", "Id2", "Id3"]
        shapes[entry.get("shape"), entry.get("shape_type")] += 1
    assert shapes["(X (X))", "NA"] == len(mini.world())
    assert shapes["(X (X) (X))", "sibling"] > 50
    assert shapes["(X (X (X)))", "chain"] > 50
    assert shapes["(X (X) (X (X)))", "mixed"] > 20
