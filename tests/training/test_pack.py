"""What travels to a machine without a network arrives whole, and runs there."""

import io
import json
import os
import signal
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import pytest

from spor_tasks.errors import ConfigError
from tests.conftest import REPOSITORY
from training import pack, unpack
from training.pack import Target

UNPACK = REPOSITORY / "training" / "unpack.py"

# Stands for `python -m training run` of the real checkout.
FAKE_TRAINING = """
import os, pathlib, sys, time
assert sys.argv[1] == "run", sys.argv
out = pathlib.Path("runs/done")
out.mkdir(parents=True, exist_ok=True)
(out / "results.json").write_text(" ".join(sys.argv[2:]) + os.environ["SPOR_COMMIT"])
(out / "adapter.safetensors").write_bytes(b"weights")
try:
    time.sleep(0 if "quick" in sys.argv else 30)
except KeyboardInterrupt:
    (out / "interrupted").touch()
    sys.exit(130)
"""


@pytest.fixture
def packed(tmp_path: Path) -> Path:
    """A small pack in five pieces, without wheels."""
    source = tmp_path / "source"
    (source / "training").mkdir(parents=True)
    (source / "training" / "__init__.py").touch()
    (source / "training" / "__main__.py").write_text(FAKE_TRAINING)
    (source / "model").write_bytes(os.urandom(4_500))
    out = tmp_path / "pack"
    out.mkdir()
    files = [
        *(
            (f"{unpack.PROJECT}/training/{name}", source / "training" / name)
            for name in ("__init__.py", "__main__.py")
        ),
        (f"{unpack.PROJECT}/runs/base/model", source / "model"),
        (f"{unpack.DATA}/corpus.xml", source / "model"),
    ]
    pieces = unpack.write_archive(out, "pack", 2_000, files)
    listing = {
        "experiment": "configs/experiments/x.yaml",
        "commit": "abc",
        "pieces": [piece._asdict() for piece in pieces],
    }
    (out / unpack.LISTING).write_text(json.dumps(listing))
    (out / "unpack.py").write_bytes(UNPACK.read_bytes())
    return out


def call(folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, folder / "unpack.py", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )


def pieces(folder: Path) -> list[Path]:
    return sorted(folder.glob("pack-*"))


def test_pieces_in_several_loads_and_any_order_come_out_as_they_went_in(
    packed: Path, tmp_path: Path
) -> None:
    first, *others = pieces(packed)
    work = tmp_path / "work"
    done = call(packed, "add", *reversed(others), "--to", work)
    assert (done.returncode, done.stdout) == (0, f"missing: {first.name}\n")
    assert call(packed, "add", first, "--to", work).stdout == f"{work}: ready\n"
    content = work / "content"
    model = (tmp_path / "source" / "model").read_bytes()
    assert (content / "project" / "runs" / "base" / "model").read_bytes() == model
    assert (content / "data" / "corpus.xml").read_bytes() == model


def test_each_piece_keeps_to_its_size_and_the_same_files_make_the_same_pieces(
    packed: Path, tmp_path: Path
) -> None:
    sizes = [path.stat().st_size for path in pieces(packed)]
    assert len(sizes) > 2
    assert set(sizes[:-1]) == {2_000}
    assert 0 < sizes[-1] <= 2_000
    again = tmp_path / "again"
    again.mkdir()
    source = tmp_path / "source" / "model"
    written = [
        unpack.write_archive(again, stem, 2_000, [("name", source)]) for stem in ("one", "two")
    ]
    assert [[piece.sha256 for piece in found] for found in written[:1]] == [
        [piece.sha256 for piece in found] for found in written[1:]
    ]


def test_a_damaged_piece_and_a_strange_file_are_refused(packed: Path, tmp_path: Path) -> None:
    piece = pieces(packed)[1]
    piece.write_bytes(piece.read_bytes()[:-1] + b"?")
    done = call(packed, "add", piece, "--to", tmp_path / "work")
    assert (done.returncode, done.stderr) == (
        2,
        f"error: {piece}: is damaged: it is not the piece that was packed\n",
    )
    done = call(packed, "add", UNPACK, "--to", tmp_path / "work")
    assert done.returncode == 2
    assert "is no piece of this pack" in done.stderr


def test_nothing_runs_before_all_pieces_are_there(packed: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    call(packed, "add", pieces(packed)[0], "--to", work)
    done = call(packed, "run", "--to", work, "--out", tmp_path / "out")
    assert done.returncode == 2
    assert "not all pieces are here" in done.stderr


def results(out: Path) -> list[str]:
    joined = b"".join(path.read_bytes() for path in sorted(out.glob("results.tar.gz-*")))
    with tarfile.open(fileobj=io.BytesIO(joined)) as archive:
        return archive.getnames()


def test_a_slice_brings_back_what_it_made_and_not_what_was_brought(
    packed: Path, tmp_path: Path
) -> None:
    work, out = tmp_path / "work", tmp_path / "out"
    call(packed, "add", *pieces(packed), "--to", work)
    done = call(packed, "run", "--to", work, "--out", out, "--", "--only", "quick")
    assert done.returncode == 0, done.stderr
    assert results(out) == ["runs/done/results.json"]
    made = work / "content" / "project" / "runs" / "done"
    assert (made / "results.json").read_text() == "configs/experiments/x.yaml --only quickabc"
    call(packed, "run", "--to", work, "--out", out, "--weights", "--", "quick")
    assert results(out) == ["runs/done/adapter.safetensors", "runs/done/results.json"]


def test_another_machine_goes_on_from_what_one_left(packed: Path, tmp_path: Path) -> None:
    one, other, out = tmp_path / "one", tmp_path / "other", tmp_path / "out"
    for work in (one, other):
        call(packed, "add", *pieces(packed), "--to", work)
    call(packed, "run", "--to", one, "--out", out, "--weights", "--piece-mb", 1e-4, "--", "quick")
    archive = sorted(out.glob("results.tar.gz-*"))
    assert len(archive) > 1
    assert call(packed, "restore", *reversed(archive), "--to", other).returncode == 0
    made = Path("content") / "project" / "runs" / "done"
    for name in ("results.json", "adapter.safetensors"):
        assert (other / made / name).read_bytes() == (one / made / name).read_bytes()
    cut = call(packed, "restore", archive[0], "--to", other)
    assert (cut.returncode, cut.stderr.startswith("error: these are not all pieces")) == (2, True)


def test_when_its_time_is_over_a_slice_is_interrupted_and_brings_back_what_there_is(
    packed: Path, tmp_path: Path
) -> None:
    work, out = tmp_path / "work", tmp_path / "out"
    call(packed, "add", *pieces(packed), "--to", work)
    started = time.monotonic()
    done = call(packed, "run", "--to", work, "--out", out, "--seconds", "1")
    assert time.monotonic() - started < 20
    assert done.returncode == 130
    assert results(out) == ["runs/done/interrupted", "runs/done/results.json"]


def test_what_an_interrupt_does_not_end_is_killed(
    packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    main = tmp_path / "work" / "content" / "project" / "training" / "__main__.py"
    main.parent.mkdir(parents=True)
    main.with_name("__init__.py").touch()
    main.write_text("import signal, time\nsignal.signal(2, signal.SIG_IGN)\ntime.sleep(30)")
    monkeypatch.setattr(unpack, "_GRACE", 0.5)
    listing = unpack.read_listing(packed / unpack.LISTING)
    assert unpack.run(listing, tmp_path / "work", 1, []) == -signal.SIGKILL


def test_a_slice_in_the_background_is_interrupted_too(packed: Path, tmp_path: Path) -> None:
    work, out = tmp_path / "work", tmp_path / "out"
    call(packed, "add", *pieces(packed), "--to", work)
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        done = call(packed, "run", "--to", work, "--out", out, "--seconds", "1")
    finally:
        signal.signal(signal.SIGINT, before)
    assert done.returncode == 130


def test_what_a_package_needs_there_is_found_from_what_is_installed_here() -> None:
    target = Target(python="3.12")
    found = pack.needed("peft", target)
    assert {"peft", "torch", "transformers", "safetensors"} <= set(found)
    assert pack.needed("lm-eval[hf]", target).keys() > pack.needed("lm-eval", target).keys()
    with pytest.raises(ConfigError, match="no-such-package is not installed"):
        pack.needed("no-such-package", target)


def test_only_new_folders_and_files_of_the_checkout_are_packed(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    new = tmp_path / "new"

    def try_to(out: Path, *include: Path) -> None:
        experiment = REPOSITORY / "configs" / "models" / "mini.yaml"
        pack.pack(experiment, out, include, target=Target(), wheels=tmp_path / "wheels", piece_mb=1)

    with pytest.raises(ConfigError, match="is not empty"):
        try_to(tmp_path)
    with pytest.raises(ConfigError, match="is not there"):
        try_to(new, tmp_path / "missing")
    with pytest.raises(ConfigError, match="lies outside the checkout"):
        try_to(new, tmp_path / "file")
    assert not new.exists()
