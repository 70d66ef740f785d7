"""Each command against each kind of damage and endless rows: status 2, one error, no hang."""

import gzip
import json
import os
import re
import subprocess
import sys
import time
import tracemalloc
from contextlib import redirect_stdout, suppress
from pathlib import Path

import pytest

import spor_tasks
from spor_tasks.core import plain_yaml
from spor_tasks.core.errors import CorpusError
from spor_tasks.core.files import INSTALL_AGAIN, ROW_BYTES, read_packaged, read_rows
from spor_tasks.core.registry import registry
from spor_tasks.corpora import embedded
from spor_tasks.corpora.e2e import reader as e2e
from spor_tasks.corpora.own import read_corpus
from spor_tasks.corpora.sources import TOTTO
from spor_tasks.corpora.totto import reader as totto
from spor_tasks.evaluation import elsewhere
from tests.conftest import REPOSITORY
from tests.support import commands, damage
from tests.support.damage import DAMAGE, LONG_NAME, SOAK, no_file_larger_than
from tests.support.result_files import SAMPLE, write_run

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")

PACKAGE = Path(spor_tasks.__file__).parent
SCORE = "--metric parent --corpus webnlg"
EVAL = "eval --model spor-hf --tasks spor_mini"
ROW = {"data": [list(SAMPLE.units[0])], "texts": ["By the sea."], "output": "By the sea."}
READERS = (
    f"score FILE {SCORE}",
    "score rows --metric totto --corpus totto --references FILE",
    f"score rows {SCORE} --compare FILE",
    "score FILE --task spor_systematicity_mini",
    "score rows --references FILE --metric chrf",
    "score rows --corpus FILE --metric chrf",
    "show FILE 0",
    "report FILE",
    "compare FILE FILE",
    "push FILE --to me/runs --dry-run",
    "tasks make FILE --out out",
    "data build --corpus FILE --aspect systematicity --out out",
    "data check FOLDER",
    "data fetch --from FILE --to out",
    "data record adapter --pairs FILE --seed 0",
    "data record FOLDER --pairs pairs.jsonl --seed 0",
    "eval --config FILE",
    f"{EVAL} --models FILE",
    f"{EVAL} --model_args pretrained=FILE",
    "train FILE",
    "run FILE --dry-run",
    "classifier --corpus compmctg_mini --config FILE --out out",
)
"""Every command that reads a file: `FILE` is the damaged one, `FOLDER` the folder around it."""
BUILD = "data build --corpus mini --aspect systematicity --out OUT"
PAIRS = "data pairs spor_systematicity_mini --arm atom --out OUT"
PER_SAMPLE = f"score rows {SCORE} --per-sample OUT"
REPORT = "report results --out OUT"
WRITERS = (
    BUILD,
    PAIRS,
    "tasks make corpus.jsonl --out OUT",
    PER_SAMPLE,
    REPORT,
    "report results --leaderboard --out OUT",
    "baseline units-joined spor_systematicity_mini --results OUT",
)
"""Every command that writes a file, with `OUT` for a place that takes none."""
FILLING = {BUILD, PAIRS, PER_SAMPLE, REPORT}  # they write more than a full disk takes
# The error names another place than the damaged file.
NAMED = {
    ("tasks make FILE --out out", "an endless device"): "/dev/zero",
}
TRAINING = "run configs/experiments/mini.yaml --dry-run"
NO_FILE = {"tasks path", "tasks list", "tasks show", "tasks register", "demo"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, with good results, rows and a corpus; none of lm-eval's own tasks."""
    monkeypatch.chdir(tmp_path)
    commands.without_other_tasks(monkeypatch, tmp_path)
    write_run(tmp_path / "results", "1", [7.0])
    elsewhere.write(tmp_path / "pairs.jsonl", "spor_systematicity_mini", "atom", {}, overwrite=True)
    (tmp_path / "rows").write_text(json.dumps(ROW))
    (tmp_path / "corpus.jsonl").write_text(json.dumps(ROW | {"split": "train"}))
    return tmp_path


@pytest.fixture
def refused(spor):
    """Run a command that must end with one error; return what it printed."""

    def run(command):
        printed = spor(command, ends=2)
        assert "Traceback" not in printed
        error, *more = printed.partition("error: ")[2].splitlines()
        assert error
        assert len(more) <= 2, printed  # the file of several that cannot be read, and the remedy
        return printed

    return run


def files(folder):
    return {path for path in folder.rglob("*") if not path.is_dir()}


def test_every_command_is_tried():
    tried = " ".join((*READERS, *WRITERS))
    assert {name for name in commands.names() if name not in tried} == NO_FILE


@pytest.mark.parametrize("kind", [*DAMAGE, "a name that is too long"])
@pytest.mark.parametrize("command", READERS)
def test_a_bad_file_is_one_error(command, kind, folder, refused):
    file = folder / "damaged" / (LONG_NAME if kind not in DAMAGE else "manifest.json")
    file.parent.mkdir()
    if kind in DAMAGE:
        damage.replace(file, kind)
    before = files(folder)
    whole = file.parent if kind in DAMAGE else file
    printed = refused(command.replace("FILE", str(file)).replace("FOLDER", str(whole)))
    assert NAMED.get((command, kind), "damaged") in printed
    assert files(folder) == before


@pytest.mark.parametrize("command", WRITERS)
def test_a_place_that_takes_no_file_is_one_error(command, folder, refused):
    (folder / "file").touch()
    for place in ("file/out", LONG_NAME):
        assert place[:50] in refused(command.replace("OUT", place))
    if command in FILLING:
        with no_file_larger_than(300):
            printed = refused(command.replace("OUT", "out"))
        assert re.search("out.* cannot be written", printed)
        assert not (folder / "out" / "manifest.json").exists()
        assert not [*folder.rglob("*.partial")]


@pytest.mark.parametrize("kind", sorted(DAMAGE.keys() - {"nothing"}))
def test_a_report_leaves_out_a_bad_file(kind, folder, capsys):
    for file in ("samples_spor_systematicity_mini_1.jsonl", "results_bad.json"):
        damage.replace(folder / "results" / file, kind)
        status = commands.run(["report", "results"])
        printed = capsys.readouterr().out
        assert "Systematicity: mini, strict sets" in printed
    assert status == 1
    assert f"{file}: is not a readable result file" in printed


@pytest.mark.usefixtures("folder")
def test_pipes_of_the_shell_are_read_and_a_device_is_not_replaced(refused):
    spor = f"{sys.executable} -m spor_tasks.cli"
    shell = f"gzip -c rows | {spor} score - {SCORE} --compare <(cat rows)"
    done = subprocess.run(
        ["/bin/bash", "-c", shell],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "difference" in done.stdout
    assert done.stderr == ""
    os.mkfifo("device")
    printed = refused(PER_SAMPLE.replace("OUT", "device"))
    assert "cannot be written: it is not a regular file" in printed
    assert Path("device").is_fifo()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("command", ["tasks path", "tasks list", TRAINING])
def test_output_that_nothing_takes_is_one_error(command, refused):
    with Path("/dev/full").open("w") as full, redirect_stdout(full):
        assert "standard output: [Errno 28]" in refused(command)


# --- Files of the package and of corpora ----------------------------------------------------------


PACKAGED = {
    "benchmarks/compmctg/splits.json": read_packaged,
    "corpora/e2e/twins.json.gz": read_packaged,
    "corpora/embedded/mini.jsonl.gz": lambda _: embedded._parts.__wrapped__("mini"),
}
CORPORA = {
    "e2e-clean/test-fixed.csv": (
        b"mr,ref",
        lambda file: e2e.read_parts("test", folder=file.parents[1]),
    ),
    TOTTO.files[1]: (b'{"example_id": 3, "ta', lambda file: [*totto.part("dev", file.parent)]),
    "Yelp/gen.jsonl": (
        b'{"review": "A te',
        lambda file: registry().get("corpus", "yelp").read(file.parents[1]),
    ),
    "own.jsonl": (b'{"data": [["a", "b', read_corpus),
}


@pytest.mark.parametrize("name", [*PACKAGED, *CORPORA])
def test_a_file_that_is_cut_is_one_error(name, tmp_path, monkeypatch):
    file = tmp_path / name
    file.parent.mkdir(parents=True, exist_ok=True)
    monkeypatch.setattr(embedded, "FOLDER", file.parent)
    if name in PACKAGED:
        read, whole = PACKAGED[name], (PACKAGE / name).read_bytes()
        file.write_bytes(whole[: len(whole) // 2])
    else:
        content, read = CORPORA[name]
        file.write_bytes(content)
    with pytest.raises(CorpusError) as caught:
        read(file)
    assert str(caught.value.where).startswith(str(file))
    assert caught.value.remedy
    assert (caught.value.remedy == INSTALL_AGAIN) is (name in PACKAGED)
    assert len(str(caught.value).splitlines()) == 2


# --- Settings -------------------------------------------------------------------------------------


BOMB = "a0: &a0 [x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12)
)
MERGES = "a0: &a0 {x: 1, y: 2}\n" + "".join(
    f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}]}}\n" for n in range(1, 12)
)
ASPECTS = "aspects:\n" + "".join(f"  a{n}: [x, y]\n" for n in range(40))

MANY = """
aspects: {topic: [sea, pier], tone: [calm, cold]}
beginnings: [The harbour, A ferry]
repeats: 2_500_000
"""
PLACES = {
    "tasks make FILE.yaml --out out": "",
    f"{EVAL} --models FILE.yaml": "- ",
    f"{EVAL} --config FILE.yaml": "",
    "train FILE.yaml": "",
    "run FILE.yaml --dry-run": "",
    "classifier --corpus compmctg_mini --config FILE.yaml --out out": "",
}


@pytest.mark.parametrize("command", PLACES)
def test_no_yaml_of_a_user_has_an_alias(command, folder, refused):
    (folder / "file.yaml").write_text(f"{PLACES[command]}{{a: &a 1, b: *a}}")
    assert "alias" in refused(command.replace("FILE", str(folder / "file")))


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (BOMB, "alias"),
        (MERGES, "alias"),
        ("base: &a {x: [1]}\naspects: *a", "alias"),
        (f"aspects: [{'x, ' * 15_000}]", "values, more than 10,000"),
        (f"aspects: 1{':59' * 300_000}", "a number of more than 100 characters"),
        (f"aspects: 1{':59' * 300}.5", "a number of more than 100 characters"),
        (f"aspects: {'9' * 400}", "a number of more than 100 characters"),
        (MANY, "asks for 20,000,000 texts, more than 200,000"),
        (f"aspects: {BOMB.splitlines()[0]}", "YAML"),
        (f"aspects: !!{'x' * 900_000} 1", "YAML"),
        ("#" * 1_000_001, "longer"),
        (ASPECTS, "1,099,511,627,776 combinations"),
        ("aspects: &a [*a]", "YAML"),
        ("aspects: {a: [x, y], 'a': [z, w]}", "has 'a' twice"),
        ("? [a]\n: 1\n? [a]\n: 1", "YAML"),
        (f"- a\n- {'9' * 5_000}", "is not valid YAML"),
        ("- " * 5_000, "is not valid YAML"),
        ("- !!bool maybe", "is not valid YAML"),
        ("- !!timestamp 2024-13-01", "is not valid YAML"),
        ("- !!python/object/apply:os.system [true]", "is not valid YAML"),
    ],
    ids=lambda text: text[:20],
)
def test_bad_yaml_is_refused(text, what, tmp_path, refused, monkeypatch):
    monkeypatch.setattr(
        plain_yaml, "_MOST_VALUES", 10_000
    )  # reading ten times as many takes seconds
    path = tmp_path / "space.yaml"
    path.write_text(text, "utf-8")
    printed = refused(f"tasks make {path} --out {tmp_path}/out")
    assert what in printed
    assert len(printed) < 3_000


@pytest.mark.parametrize("option", ["--metadata", "--model_args", "--gen_kwargs"])
def test_json_without_end_is_refused(option, refused):
    assert "nested" in refused(f'eval --tasks spor_mini {option} {{"a":{"[" * 20_000}')


# --- Rows without end are refused in bounded time and memory --------------------------------------


MEGABYTE = 1_000_000
BEFORE, AFTER = json.dumps(ROW | {"output": "*"}).encode().split(b"*")


def test_an_output_without_end_in_a_small_file_is_refused(tmp_path):
    """In bounded memory and time."""
    path = tmp_path / "rows.jsonl.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(BEFORE)
        for _ in range(50 * SOAK):
            file.write(b"The harbour of Greyport. " * 40_000)
        file.write(AFTER + b"\n")
    started = time.perf_counter()
    tracemalloc.start()
    try:
        with pytest.raises(CorpusError, match="longer than 16,000,000 bytes") as caught:
            list(read_rows(path))
        assert tracemalloc.get_traced_memory()[1] < 3 * ROW_BYTES
    finally:
        tracemalloc.stop()
    assert caught.value.where == f"{path}:1"
    assert time.perf_counter() - started < 5


def test_an_output_may_have_a_million_characters(tmp_path, spor):
    path = tmp_path / "rows.jsonl"
    words = b"Greyport has the Old Basin. " * MEGABYTE
    command = f"score {path} --metric coverage --corpus webnlg"
    path.write_bytes(BEFORE + words[:MEGABYTE] + AFTER)
    spor(command)
    path.write_bytes(BEFORE + words[: MEGABYTE + 1] + AFTER)
    error = spor(command, ends=2)
    assert f"{path}:1: `output` has 1,000,001 characters, more than 1,000,000" in error


@pytest.mark.parametrize("content", [b"\0", b" "])
def test_a_pipe_without_end_or_line_is_left(content):
    command = f"{sys.executable} -m spor_tasks.cli score - --metric coverage --corpus webnlg"
    pipes = {"stdin": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command.split(), cwd=REPOSITORY, bufsize=0, **pipes) as reader:
        with suppress(BrokenPipeError):
            for _ in range(1000):
                reader.stdin.write(content * MEGABYTE)
        error = reader.stderr.read().decode()
    assert reader.returncode == 2
    assert "standard input:1: is longer than 16,000,000 bytes" in error
