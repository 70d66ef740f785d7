"""Unpacking archives, honest and hostile."""

import os
import random
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spor_tasks.core.errors import CorpusError
from spor_tasks.corpora.sources import COMPMCTG, TOTTO

FILES = {name: random.Random(name).randbytes(3000) for name in TOTTO.files}
Write = Callable[[zipfile.ZipFile], None]


def unheard(_done: int, _total: int | None) -> None:
    """Hear nothing."""


def write(archive: zipfile.ZipFile, folder: str = "totto_data/") -> None:
    for name, content in FILES.items():
        archive.writestr(folder + name, content, zipfile.ZIP_DEFLATED)


def packed(path: Path, more: Write = lambda _: None) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        write(archive)
        more(archive)
    return path


def unpacked(source: Path, folder: Path) -> dict[str, bytes]:
    folder.mkdir(exist_ok=True)
    TOTTO.unpack(source, folder, unheard)
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_files_are_taken_with_the_licence_and_nothing_else(tmp_path: Path) -> None:
    def more(archive: zipfile.ZipFile) -> None:
        archive.writestr("totto_data/LICENSE", b"CC")
        archive.writestr("totto_data/run.sh", b"rm")
        archive.writestr("__MACOSX/totto_data/._totto_dev_data.jsonl", b"\0")

    heard: list[tuple[int, int | None]] = []
    (tmp_path / "to").mkdir()
    digests = TOTTO.unpack(
        packed(tmp_path / "a.zip", more), tmp_path / "to", lambda *told: heard.append(told)
    )
    assert {path.name for path in (tmp_path / "to").iterdir()} == {*FILES, "LICENSE"}
    assert digests.keys() == {*FILES, "LICENSE"}
    assert heard[-1] == (9002, 9002)
    assert unpacked(tmp_path / "a.zip", tmp_path / "again") == {**FILES, "LICENSE": b"CC"}


def entry(name: str, mode: int = 0o100644, content: bytes = b"x") -> Write:
    info = zipfile.ZipInfo("placeholder")
    info.filename, info.external_attr = name, mode << 16
    return lambda archive: archive.writestr(info, content)


def twice(archive: zipfile.ZipFile) -> None:
    with pytest.warns(UserWarning, match="Duplicate"):
        write(archive)


HOSTILE: dict[str, Write] = {
    "up": entry("../evil"),
    "up inside": entry("totto_data/../../evil"),
    "from the root": entry("/etc/evil"),
    "up on Windows": entry("..\\evil"),
    "a drive": entry("C:\\evil"),
    "a share": entry("\\\\host\\evil"),
    "a link": entry("totto_data/link", 0o120777, b"/etc/passwd"),
    "a pipe": entry("totto_data/pipe", 0o010644),
    "twice": twice,
    "in two folders": lambda archive: write(archive, "other/"),
    "a bomb": lambda archive: archive.writestr("bomb", bytes(10**6), zipfile.ZIP_DEFLATED),
    "another method": lambda archive: archive.writestr("slow", b"x", zipfile.ZIP_BZIP2),
}


@pytest.mark.parametrize("more", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_entry_refuses_the_whole_archive(tmp_path: Path, more: Write) -> None:
    source, folder = packed(tmp_path / "a.zip", more), tmp_path / "to"
    with pytest.raises(CorpusError) as error:
        unpacked(source, folder)
    assert str(source) in str(error.value.where)
    assert not [*folder.iterdir()]
    assert {path.name for path in tmp_path.iterdir()} == {"a.zip", "to"}


def test_an_encrypted_entry_is_refused(tmp_path: Path) -> None:
    content = bytearray(packed(tmp_path / "a.zip").read_bytes())
    at = content.index(b"PK\x01\x02")
    content[at + 8] |= 1  # the flags in the directory at the end
    (tmp_path / "a.zip").write_bytes(content)
    with pytest.raises(CorpusError):
        unpacked(tmp_path / "a.zip", tmp_path / "to")


def test_an_archive_may_be_too_large_or_lack_a_file(tmp_path: Path) -> None:
    source = packed(tmp_path / "a.zip")
    with pytest.raises(CorpusError):
        replace(TOTTO, unpacked=8999).unpack(source, tmp_path, unheard)
    with pytest.raises(CorpusError) as error:
        replace(TOTTO, files=(*TOTTO.files, "more.jsonl")).unpack(source, tmp_path, unheard)
    assert "more.jsonl" in error.value.what


def test_more_bytes_than_an_entry_declares_are_not_written(tmp_path: Path) -> None:
    content = bytearray(packed(tmp_path / "a.zip").read_bytes())
    at = content.index(b"PK\x01\x02")
    content[at + 24 : at + 28] = (100).to_bytes(4, "little")
    (tmp_path / "a.zip").write_bytes(content)
    with pytest.raises(CorpusError):
        unpacked(tmp_path / "a.zip", tmp_path / "to")
    assert (tmp_path / "to" / TOTTO.files[0]).stat().st_size <= 100


@given(st.data())
def test_damage_anywhere_is_an_error_of_ours_or_does_not_matter(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("damage")
    content = bytearray(packed(folder / "a.zip").read_bytes())
    directory = len(content) - 400  # where most damage can be done
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, 100) | st.integers(directory, len(content) - 1))
        content[at] = data.draw(st.integers(0, 255))
    if data.draw(st.booleans()):
        del content[data.draw(st.integers(0, len(content))) :]
    (folder / "a.zip").write_bytes(content)
    try:
        found = unpacked(folder / "a.zip", folder / "to")
    except CorpusError:
        return
    assert found == FILES


def test_what_is_no_archive_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(os.urandom(100))
    with pytest.raises(CorpusError) as error:
        unpacked(tmp_path / "a.zip", tmp_path / "to")
    assert error.value.where == str(tmp_path / "a.zip")


def test_files_may_be_named_with_their_folders(tmp_path: Path) -> None:
    source, target = tmp_path / "data_compmctg.zip", tmp_path / "out"
    target.mkdir()
    with zipfile.ZipFile(source, "w") as archive:
        for name in COMPMCTG.files:
            archive.writestr(f"data_compmctg/{name}", name)
        archive.writestr("data_compmctg/Other/gen.jsonl", "other")
    assert {*COMPMCTG.unpack(source, target, unheard)} == {*COMPMCTG.files}
    found = {path.relative_to(target).as_posix() for path in target.rglob("*.jsonl")}
    assert found == {*COMPMCTG.files}
    assert all((target / name).read_text("utf-8") == name for name in found)
