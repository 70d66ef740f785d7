"""ViGGO's CSV on rows of our own, and the real corpus counted."""

import csv
import io
import shutil
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spor_tasks.core.errors import CorpusError
from spor_tasks.core.sample import AttributeValue, Sample, SampleMaker
from spor_tasks.corpora.viggo import VIGGO, reader

TEXT = "Have you played Gull?"


def table(*mrs: str, header: str = "mr,ref") -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text).writerows([header.split(","), *([mr, TEXT] for mr in mrs)])
    return text.getvalue().encode()


def read(content: bytes) -> list[Sample]:
    return list(reader.read_csv(content, SampleMaker("viggo")))


def test_a_slot_is_a_unit_with_all_its_values_and_the_name_and_the_act_are_none() -> None:
    mr = "recommend(name[Gull], genres[sport, puzzle], exp_release_date[May 2, 2018])"
    (sample,) = read(table(mr, mr))
    assert sample.units == (
        AttributeValue("genres", "sport, puzzle"),
        AttributeValue("exp release date", "May 2, 2018"),
    )
    assert sample.context == {"name": "Gull", "act": "recommend"}
    assert sample.references == (TEXT, TEXT)


def test_yes_and_no_are_of_what_texts_name() -> None:
    (sample,) = read(table("inform(has_linux_release[no], available_on_steam[yes])"))
    assert sample.units == (AttributeValue("linux", "no"), AttributeValue("steam", "yes"))
    prompt = VIGGO.linearize(sample, "seq2seq")
    assert prompt.endswith(": inform has linux release[no] available on steam[yes]")


def test_what_tells_nothing_is_left_out() -> None:
    assert read(table("request_attribute(esrb[])", "confirm(name[Gull])")) == []


WORDS = st.text("abc,() :", min_size=1).map(str.strip).filter(bool)


@given(st.lists(st.tuples(st.sampled_from(["esrb", "developer"]), WORDS), min_size=1))
def test_what_is_written_is_read(slots: list[tuple[str, str]]) -> None:
    mr = f"inform({', '.join(f'{slot}[{value}]' for slot, value in slots)})"
    (sample,) = read(table(mr))
    assert sample.units == tuple(AttributeValue(*slot) for slot in slots)


def test_the_published_corpus(viggo_dir: Path) -> None:
    parts = {part: reader.read_parts(part, folder=viggo_dir) for part in ("train", "valid", "test")}
    references = {part: sum(len(s.references) for s in of) for part, of in parts.items()}
    told = {"train": 5_103 - 93, "valid": 714 - 21, "test": 1_083 - 36}  # less those without values
    assert references == told
    assert {part: len(of) for part, of in parts.items()} == {
        "train": 1_665,
        "valid": 231,
        "test": 349,
    }
    acts = Counter(sample.about("act") for of in parts.values() for sample in of)
    assert len(acts) == 8  # the ninth, `request_attribute`, is never about a value


def test_the_tree_of_the_repository_is_read_too(viggo_dir: Path, tmp_path: Path) -> None:
    folder = tmp_path / "data" / "video_game"
    folder.mkdir(parents=True)
    for file in viggo_dir.glob("*.csv"):
        shutil.copy(file, folder)
    assert VIGGO.read(tmp_path) == VIGGO.read(viggo_dir)
    (folder / "valid.csv").chmod(0o644)
    (folder / "valid.csv").write_bytes(table("inform(name[a])"))
    with pytest.raises(CorpusError):
        VIGGO.read(tmp_path)
