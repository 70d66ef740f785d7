"""`spor data`: sets that are built and checked, and corpora that are fetched."""

import json
import os
import re
import shutil
import signal
from contextlib import redirect_stderr

import pytest

from spor_tasks import cli
from spor_tasks.aspects import check, folder
from spor_tasks.aspects.arms import ARMS
from spor_tasks.cli import progress
from spor_tasks.corpora import sources
from tests.support.processes import forked, wait_until
from tests.support.strategies import pool, sets

BUILD = "data build --corpus=mini --aspect"


def contents(path):
    return {file.name: file.read_bytes() for file in path.iterdir()}


@pytest.mark.parametrize("aspect", ARMS)
def test_built_sets_pass_the_check_and_stay(tmp_path, spor, aspect):
    path, again = tmp_path / "sets", tmp_path / "again"
    built = spor(f"{BUILD} {aspect} --out {path}")
    assert {file.stem for file in path.iterdir()} == {*ARMS[aspect], "test", "manifest"}
    samples = folder.read_sets(path).test
    assert re.search(rf"test.jsonl +{len(samples)} samples ", built)
    checked = spor(f"data check {path}")
    assert "every requirement holds" in checked
    for printed in (built, checked):
        assert printed.startswith(f"{path}: {aspect} mini strict")
    manifest = json.loads(spor(f"{BUILD} {aspect} --out {again} --json"))
    assert manifest == json.loads((again / "manifest.json").read_bytes())
    assert contents(again) == contents(path)
    replace = f"{BUILD} rule_learnability --out {path}"
    assert "or replace this one with --overwrite" in spor(replace, ends=2)
    assert contents(again) == contents(path)
    spor(f"{replace} --overwrite")
    assert {file.stem for file in path.iterdir()} == {"original", "test", "manifest"}


def build_with_a_log(log, best):
    """Build as a command does whose standard error is a file, where a line is soon written."""
    progress._LINES_SECONDS = 0.01
    with log.open("w") as file, redirect_stderr(file):
        return cli.main([*BUILD.split(), "systematicity", "--search", f"--out={best}"])


def test_an_interrupted_search_writes_the_best_sets(tmp_path, spor):
    log, best, again = (tmp_path / name for name in ("log", "best", "again"))
    log.touch()
    process = forked(build_with_a_log, log, best)
    wait_until(lambda: "best so far" in log.read_text(), process)
    os.kill(process.pid or 0, signal.SIGINT)
    process.join()
    assert process.exitcode == 130
    assert "interrupted: " in log.read_text()
    assert check.check(folder.read_sets(best)).holds
    rounds = json.loads((best / folder.MANIFEST).read_bytes())["settings"]["rounds"]
    spor(f"{BUILD} systematicity --search --rounds={rounds} --out {again}")
    assert contents(again) == contents(best)


def test_a_refused_build_leaves_nothing(tmp_path, spor):
    for wrong in ("--seconds=-3", "--seconds=soon", "--rounds=0"):
        spor(f"{BUILD} systematicity --search --out {tmp_path}/sets {wrong}", ends=2)
    printed = spor(f"{BUILD} productivity --part=n5 --out {tmp_path}/sets", ends=2)
    assert "no test sample of more than 5 units" in printed
    assert list(tmp_path.iterdir()) == []


def test_violations_are_printed_with_their_samples(tmp_path, spor):
    """Atom holds the one test sample."""
    path = tmp_path / "leaking"
    pair = sets("systematicity", pool(["ab"]), atom=pool(["c", "ab"]), combination=pool(["ab"]))
    with folder.new(path) as staging:
        folder.write_sets(staging, pair, {"settings": {"limit": 0.02}})
    (sample,) = pair.test
    good = "strict:productivity:mini:n4"
    printed = spor(f"data check {good} {path}", ends=1).splitlines()
    assert printed.count("  every requirement holds") == 1
    start = printed.index("  ≠ 1 test pairs occur in Atom")
    names = [f"      1 in {split}: {sample.id}" for split in ("atom", "test")]
    assert printed[start + 1 : start + 3] == names
    assert "error: " in spor(f"data check {good} nowhere", ends=2)
    rows = json.loads(spor(f"data check {good} {path} --json", ends=1))
    assert (rows[good]["holds"], rows[good]["threshold"]) == (True, 4)
    assert (rows[str(path)]["holds"], rows[str(path)]["pairs_in_atom"]) == (False, 1)
    assert rows[str(path)]["violations"][0] == {
        "words": "2 training samples have exactly the units of a test sample",
        "samples": {"atom": [sample.id], "combination": [sample.id]},
    }


@pytest.mark.real_data
@pytest.mark.usefixtures("data_dir")
def test_the_flaws_of_the_published_webnlg_sets_are_found(spor):
    printed = spor("data check published:systematicity:webnlg published:systematicity:e2e", ends=1)
    webnlg, e2e = printed.split("published:systematicity:e2e")
    assert re.findall(r"(≠ .*|\d+ in (?:atom|test)):?", webnlg) == [
        "≠ 88 test pairs occur in Atom",
        "182 in atom",
        "164 in test",
        "≠ 62 test samples have every pair in Atom",
        "62 in test",
        "≠ atoms occur 6580 times in Atom but 6186 times in Combination",
    ]
    assert e2e.endswith("every requirement holds\n")


@pytest.mark.real_data
def test_a_local_copy_is_fetched(data_dir, totto_dir, tmp_path, spor):
    source = tmp_path / "source"
    source.mkdir()
    for name in sources.TOTTO.files:
        shutil.copy(totto_dir / "train_sample.jsonl", source / name)
    for corpus, files, count, licence in (
        ("webnlg", data_dir, "214 {}, 1 absent", "webnlg: CC BY-NC-SA 4.0"),
        ("totto", source, "3 {}", "totto: CC BY-SA 3.0"),
    ):
        target = tmp_path / corpus
        for outcome in ("fetched", "kept"):
            printed = spor(f"data fetch --corpus {corpus} --from {files} --to {target}")
            assert f"{target}: {count.format(outcome)}" in printed
            assert licence in printed
            optional = "  absent: e2e-clean/train-fixed.no-ol.csv: read only if "
            assert (optional in printed) == (corpus == "webnlg")


@pytest.mark.parametrize(
    ("corpus", "copy", "fault"),
    [
        ("webnlg", "", "has none of the files of webnlg and e2e, such as "),
        ("totto", "", "has none of the files of totto, such as "),
        ("totto", "no.zip", "does not exist"),
    ],
)
def test_a_copy_without_the_files_is_refused(corpus, copy, fault, tmp_path, spor):
    (tmp_path / "to").mkdir()
    for name in sources.TOTTO.files:
        (tmp_path / "to" / name).touch()  # even if nothing is to be fetched
    (tmp_path / "from").mkdir()
    place = tmp_path / "from" / copy
    error = spor(f"data fetch --corpus {corpus} --from {place} --to {tmp_path}/to", ends=2)
    assert f"error: {place}: {fault}" in error


def test_a_corpus_that_no_program_can_fetch_names_its_address(tmp_path, spor):
    source, fetch = tmp_path / "source", f"data fetch --corpus yelp --to {tmp_path}/yelp"
    error = spor(fetch, ends=2)
    assert sources.COMPMCTG.url in error
    assert "--from data_compmctg.zip" in error
    for name in sources.COMPMCTG.files:
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(f"{name}\n", "utf-8")
    for options, outcome in ((f"--from {source}", "fetched"), ("", "kept")):
        assert f"12 {outcome}" in spor(f"{fetch} {options}")
