"""Splits by header: the rule, what it must come to, and what is written."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spor_tasks import cli
from spor_tasks.aspects import overlap
from spor_tasks.aspects.folder import MANIFEST
from spor_tasks.core.errors import CorpusError, SplitError
from spor_tasks.core.files import read_rows
from spor_tasks.core.folders import read_manifest
from spor_tasks.core.sample import AttributeValue, Json, Sample, SampleMaker
from spor_tasks.corpora.embedded import LOGICNLG_MINI
from spor_tasks.corpora.tables import header_values
from spor_tasks.corpora.totto import reader

names = st.lists(st.sampled_from("abcdef"), max_size=40)
alphas = st.integers(0, 4)


@given(names, names, names, alphas)
def test_the_split_follows_the_published_rule(
    train: list[str], dev: list[str], test: list[str], alpha: int
) -> None:
    found = overlap.split(train, {"dev": dev, "test": test}, alpha)
    held_out = {*dev, *test}
    for header, kept in zip(train, found.kept, strict=True):
        assert kept == (header not in held_out or train.count(header) > alpha)
    shown = {header for header, kept in zip(train, found.kept, strict=True) if kept}
    for part, headers in (("dev", dev), ("test", test)):
        assert found.flags[part] == tuple(header in shown for header in headers)


@given(names, names, alphas)
def test_splitting_what_was_kept_keeps_all_and_gives_the_same_flags(
    train: list[str], dev: list[str], alpha: int
) -> None:
    """So the published training set, which was filtered, comes out whole, with equal flags."""
    found = overlap.split(train, {"dev": dev}, alpha)
    kept = [header for header, is_kept in zip(train, found.kept, strict=True) if is_kept]
    again = overlap.split(kept, {"dev": dev}, alpha)
    assert all(again.kept)
    assert again.flags == found.flags


def table(header: str, *, overlap: bool | None = None, number: int = 0) -> Sample:
    make = SampleMaker("boats")
    return make(
        [AttributeValue(header[0], "x")],
        [f"Text {number}."],
        overlap=overlap,
        table={"header": list(header), "rows": [["x"] * len(header)]},
    )


def test_equal_headers_have_equal_keys_in_any_order_and_in_any_kind_of_table() -> None:
    cells: Json = {
        "cells": [[["b", True, 1, 1], ["a", True, 1, 1]], ["x", "y"]],
        "highlighted": [[1, 0]],
    }
    other = replace(table("ab"), context={"table": cells})
    assert len({overlap.header_key(sample) for sample in (table("ab"), table("ba"), other)}) == 1
    assert overlap.header_key(table("ab")) != overlap.header_key(table("aB"))


def test_parts_are_written_with_flags_and_facts(tmp_path: Path) -> None:
    train = [*(table("ab", number=n) for n in range(3)), table("cd"), table("ef")]
    dev = [table("ba", overlap=True), table("dc", overlap=True), table("gh", overlap=False)]
    heard: list[tuple[int, int]] = []
    manifest = overlap.write(
        tmp_path,
        "boats",
        {"train": train, "dev": dev},
        2,
        lambda done, total: heard.append((done, total)),
    )
    kept = [row["context"]["table"]["header"] for _, row in read_rows(tmp_path / "train.jsonl")]
    assert kept == [["a", "b"]] * 3 + [["e", "f"]]
    flags = [row["context"]["overlap"] for _, row in read_rows(tmp_path / "dev.jsonl")]
    assert flags == [True, False, False]
    files = manifest["files"]
    assert {**files["train.jsonl"], "sha256": ""} == {"sha256": "", "samples": 4, "of": 5}
    assert {**files["dev.jsonl"], "sha256": ""} == {
        "sha256": "",
        "samples": 3,
        "overlap": 1,
        "published_flags": 3,
        "reproduced_flags": 2,
    }
    assert read_manifest(tmp_path, MANIFEST) == manifest
    assert heard[-1] == (16, 16)


def test_it_needs_both_parts_and_tables(tmp_path: Path) -> None:
    for parts in ({"train": [table("ab")]}, {"train": (), "dev": [table("ab")]}):
        with pytest.raises(SplitError) as error:
            overlap.write(tmp_path, "boats", parts)
        assert error.value.where == "boats"
    plain = replace(table("ab"), context={})
    with pytest.raises(CorpusError) as no_table:
        overlap.write(tmp_path, "boats", {"train": [plain], "dev": [plain]})
    assert no_table.value.remedy
    assert not [*tmp_path.iterdir()]


def test_the_real_examples_keep_their_flags_if_training_shows_their_headers(
    totto_dir: Path, tmp_path: Path
) -> None:
    """Training has six tables with each header that overlaps, as the published set must have."""
    dev = list(reader.read(totto_dir / "dev_25.jsonl"))
    shown = [sample for sample in dev if sample.context["overlap"]]
    unseen = {header_values(sample) for sample in dev} - {*map(header_values, shown)}
    rare = [sample for sample in dev if header_values(sample) in unseen]
    parts = {"train": [*shown * 6, *rare * 5], "dev": dev}
    files = overlap.write(tmp_path, "totto", parts)["files"]
    assert files["train.jsonl"]["samples"] == 6 * len(shown)
    assert files["dev.jsonl"]["reproduced_flags"] == files["dev.jsonl"]["published_flags"] == 25


def test_the_command_splits_any_corpus_of_tables(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["data", "build", "--protocol", "overlap", "--corpus"]
    assert cli.main([*asked, "logicnlg_mini", "--out", str(tmp_path / "a")]) == 0
    assert "500 kept of 500" in capsys.readouterr().out
    read = LOGICNLG_MINI.read()
    header = Counter(map(header_values, read.train))
    own = tmp_path / "own.jsonl"
    with own.open("w") as file:
        for part, samples in (("train", read.train), ("test", read.test)):
            for sample in samples:
                row = {"data": sample.units, "texts": sample.references, "split": part}
                file.write(json.dumps({**row, "context": dict(sample.context)}) + "\n")
    assert cli.main([*asked, str(own), "--out", str(tmp_path / "b"), "--json"]) == 0
    files = json.loads(capsys.readouterr().out)["files"]
    assert files["train.jsonl"]["samples"] == 500
    assert files["test.jsonl"]["overlap"] == sum(
        header[header_values(sample)] > 5 for sample in read.test
    )
    few = [*asked, str(own), "--out", str(tmp_path / "c"), "--alpha", str(max(header.values()))]
    assert cli.main(few) == 0
    assert "0 of 150 overlap" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [
        ["--corpus", "mini", "--protocol", "overlap"],
        ["--corpus", "logicnlg_mini", "--protocol", "overlap", "--seed", "0"],
        ["--corpus", "logicnlg_mini", "--protocol", "overlap", "--aspect", "productivity"],
        ["--corpus", "mini", "--aspect", "productivity", "--alpha", "3"],
        ["--corpus", "mini"],
    ],
    ids=["no tables", "a seed", "an aspect", "a setting of another protocol", "no aspect"],
)
def test_the_command_refuses_what_does_not_fit(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["data", "build", *arguments, "--out", str(tmp_path / "a")]) == 2
    assert "error: " in capsys.readouterr().err
    assert not [*tmp_path.iterdir()]
