"""Each command and reader against each kind of damage: status 2 and one error, never a hang."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from spor_tasks import cli
from spor_tasks.core.errors import ConfigError, CorpusError
from spor_tasks.core.files import INSTALL_AGAIN, read_packaged
from spor_tasks.core.plain_yaml import parse
from spor_tasks.core.registry import registry
from spor_tasks.corpora import embedded
from spor_tasks.corpora.e2e import reader as e2e
from spor_tasks.corpora.own import read_corpus
from spor_tasks.corpora.sources import TOTTO
from spor_tasks.corpora.totto import reader as totto
from tests.conftest import REPOSITORY
from tests.support import commands, damage
from tests.support.damage import DAMAGE, LONG_NAME, no_file_larger_than
from tests.support.result_files import SAMPLE, write_run

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")

Captured = pytest.CaptureFixture[str]
SCORE = "--metric parent --corpus webnlg"
EVAL = "eval --model spor-hf --tasks spor_mini"
ROW = {"data": [list(SAMPLE.units[0])], "texts": ["By the sea."], "output": "By the sea."}
READERS = (
    f"score FILE {SCORE}",
    "score rows --metric totto --corpus totto --references FILE",
    f"score rows {SCORE} --compare FILE",
    "show FILE 0",
    "report FILE",
    "report --diff FILE FILE",
    "push FILE --to me/runs --dry-run",
    "tasks make FILE --out out",
    "data build --corpus FILE --aspect systematicity --out out",
    "data check FOLDER",
    "data fetch --from FILE --to out",
    "eval --config FILE",
    f"{EVAL} --models FILE",
    f"{EVAL} --model_args pretrained=FILE",
    "training train FILE",
    "training run FILE --dry-run",
    "training classifier --corpus compmctg_mini --config FILE --out out",
)
"""Every command that reads a file: `FILE` is the damaged one, `FOLDER` the folder around it."""
BUILD = "data build --corpus mini --aspect systematicity --out OUT"
PER_SAMPLE = f"score rows {SCORE} --per-sample OUT"
REPORT = "report results --out OUT"
WRITERS = (
    BUILD,
    "tasks make corpus.jsonl --out OUT",
    PER_SAMPLE,
    REPORT,
    "report results --leaderboard --out OUT",
    "baseline units-joined spor_systematicity_mini --results OUT",
)
"""Every command that writes a file, with `OUT` for a place that takes none."""
# The error names another place than the damaged file.
NAMED = {
    (READERS[1], "an empty file"): "rows:1",
    ("tasks make FILE --out out", "an endless device"): "/dev/zero",
}
NO_FILE = {"tasks path", "tasks list", "tasks register", "training demo"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with good results, rows and a corpus; none of lm-eval's own tasks."""
    monkeypatch.chdir(tmp_path)
    commands.without_other_tasks(monkeypatch, tmp_path)
    write_run(tmp_path / "results", "1", [7.0])
    (tmp_path / "rows").write_text(json.dumps(ROW))
    (tmp_path / "corpus.jsonl").write_text(json.dumps(ROW | {"split": "train"}))
    return tmp_path


def refused(captured: Captured, *words: str) -> str:
    """Return the one error of a command that must end with it."""
    status = commands.run([*words])
    printed = captured.readouterr().err
    assert status == 2, printed
    assert "Traceback" not in printed
    error, *more = printed.partition("error: ")[2].splitlines()
    assert error
    assert len(more) <= 2, printed  # the file of several that cannot be read, and the remedy
    return printed


def files(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if not path.is_dir()}


def test_every_command_is_tried() -> None:
    tried = " ".join((*READERS, *WRITERS))
    assert {name for name in commands.names() if name not in tried} == NO_FILE


@pytest.mark.parametrize("kind", [*DAMAGE, "a name that is too long"])
@pytest.mark.parametrize("command", READERS)
def test_a_damaged_file_is_one_error(
    command: str, kind: str, folder: Path, capsys: Captured
) -> None:
    file = folder / "damaged" / (LONG_NAME if kind not in DAMAGE else "manifest.json")
    file.parent.mkdir()
    if kind in DAMAGE:
        damage.replace(file, kind)
    before = files(folder)
    whole = file.parent if kind in DAMAGE else file
    command_line = command.replace("FILE", str(file)).replace("FOLDER", str(whole))
    assert NAMED.get((command, kind), "damaged") in refused(capsys, *command_line.split())
    assert files(folder) == before


@pytest.mark.parametrize("command", WRITERS)
def test_a_place_that_takes_no_files_is_one_error(
    command: str, folder: Path, capsys: Captured
) -> None:
    (folder / "file").touch()
    for place in ("file/out", LONG_NAME):
        assert place[:50] in refused(capsys, *command.replace("OUT", place).split())


@pytest.mark.parametrize("command", [BUILD, PER_SAMPLE, REPORT])
def test_a_full_disk_is_one_error_and_nothing_is_left(
    command: str, folder: Path, capsys: Captured
) -> None:
    with no_file_larger_than(300):
        printed = refused(capsys, *command.replace("OUT", "out").split())
    assert "out" in printed
    assert "cannot be written" in printed
    assert not (folder / "out" / "manifest.json").exists()
    assert not [*folder.rglob("*.partial")]


@pytest.mark.parametrize("kind", sorted(DAMAGE.keys() - {"nothing"}))
@pytest.mark.parametrize("file", ["results_bad.json", "samples_spor_systematicity_mini_1.jsonl"])
def test_a_damaged_file_among_others_is_left_out_of_a_report(
    file: str, kind: str, folder: Path, capsys: Captured
) -> None:
    damage.replace(folder / "results" / file, kind)
    status = cli.main(["report", "results"])
    out = capsys.readouterr().out
    assert "Systematicity: mini, strict sets" in out
    if file.startswith("results"):
        assert status == 1
        assert f"{file}: is not a readable result file" in out


def test_a_pipe_of_the_shell_is_read_and_a_device_is_not_replaced(
    folder: Path, capsys: Captured
) -> None:
    spor = f"{sys.executable} -m spor_tasks.cli score"
    done = subprocess.run(
        ["/bin/bash", "-c", f"{spor} <(cat {folder}/rows) {SCORE}"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "parent" in done.stdout
    os.mkfifo("device")
    printed = refused(capsys, *PER_SAMPLE.replace("OUT", "device").split())
    assert "cannot be written: it is not a regular file" in printed
    assert Path("device").is_fifo()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("command", ["path", "list"])
def test_output_that_nothing_takes_is_one_error(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    with Path("/dev/full").open("w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        assert "standard output: [Errno 28]" in refused(capsys, "tasks", command)


# --- Files of the package and of corpora ----------------------------------------------------------


@pytest.mark.parametrize("file", ["benchmarks/compmctg/splits.json", "corpora/e2e/twins.json.gz"])
def test_a_packaged_file_that_is_cut_is_one_error(file: str, tmp_path: Path) -> None:
    content = (Path(cli.__file__).parents[1] / file).read_bytes()
    cut = tmp_path / file.rpartition("/")[2]
    cut.write_bytes(content[: len(content) // 2])
    assert_one_error(lambda: read_packaged(cut), cut, remedy=INSTALL_AGAIN)


def test_an_embedded_corpus_that_is_cut_is_one_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = (embedded.FOLDER / "mini.jsonl.gz").read_bytes()
    monkeypatch.setattr(embedded, "FOLDER", tmp_path)
    (tmp_path / "mini.jsonl.gz").write_bytes(content[: len(content) // 2])
    read = embedded._parts.__wrapped__
    assert_one_error(lambda: read("mini"), tmp_path / "mini.jsonl.gz", remedy=INSTALL_AGAIN)


CORPORA: Mapping[str, tuple[bytes, Callable[[Path], object]]] = {
    "e2e-clean/test-fixed.csv": (b"mr,ref", lambda place: e2e.read_parts("test", folder=place)),
    TOTTO.files[1]: (b'{"example_id": 3, "ta', lambda place: [*totto.part("dev", place)]),
    "Yelp/gen.jsonl": (
        b'{"review": "A te',
        lambda place: registry().get("corpus", "yelp").read(place),
    ),
    "own.jsonl": (b'{"data": [["a", "b', lambda place: read_corpus(place / "own.jsonl")),
}


@pytest.mark.parametrize("file", CORPORA)
def test_a_corpus_file_that_is_cut_is_one_error(file: str, tmp_path: Path) -> None:
    content, read = CORPORA[file]
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / file).write_bytes(content)
    assert_one_error(lambda: read(tmp_path), tmp_path / file)


def assert_one_error(read: Callable[[], object], file: Path, remedy: str | None = None) -> None:
    with pytest.raises(CorpusError) as caught:
        read()
    assert str(caught.value.where).startswith(str(file))
    assert caught.value.remedy if remedy is None else caught.value.remedy == remedy
    assert len(str(caught.value).splitlines()) == 2


# --- Settings -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        f"- a\n- {'9' * 5_000}",
        "- " * 5_000,
        "- !!bool maybe",
        "- !!timestamp 2024-13-01",
        "- !!python/object/apply:os.system [true]",
    ],
    ids=["digits", "dashes", "no truth", "no day", "an object"],
)
def test_what_is_not_plain_yaml_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="is not valid YAML") as caught:
        parse(text, "here")
    assert caught.value.where == "here"


BOMB = "a0: &a0 [x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12)
)
ASPECTS = "aspects:\n" + "".join(f"  a{n}: [x, y]\n" for n in range(40))


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (BOMB, "values"),
        (f"aspects: {BOMB.splitlines()[0]}", "YAML"),
        (f"aspects: !!{'x' * 900_000} 1", "YAML"),
        ("#" * 1_000_001, "longer"),
        (ASPECTS, "1,099,511,627,776 combinations"),
        ("aspects: &a [*a]", "YAML"),
    ],
    ids=["aliases", "syntax", "tag", "comments", "combinations", "itself"],
)
def test_a_space_that_would_fill_the_memory_is_refused_in_a_line(
    text: str, what: str, tmp_path: Path, capsys: Captured
) -> None:
    path = tmp_path / "space.yaml"
    path.write_text(text, "utf-8")
    printed = refused(capsys, "tasks", "make", str(path), "--out", str(tmp_path / "out"))
    assert what in printed
    assert len(printed) < 3_000


@pytest.mark.parametrize("option", ["--metadata", "--model_args", "--gen_kwargs"])
def test_json_without_end_is_refused(option: str, capsys: Captured) -> None:
    words = ("eval", "--tasks", "spor_mini", option, '{"a": ' + "[" * 20_000)
    assert "nested" in refused(capsys, *words)
