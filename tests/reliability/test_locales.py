"""What a locale has no characters for ends no command, and files are UTF-8 in every locale."""

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from spor_tasks.core.codec import to_row
from spor_tasks.core.files import encode_row
from spor_tasks.core.sample import Triple
from tests.conftest import REPOSITORY
from tests.support.invented_runs import town, write

Ran = tuple[Mapping[str, str], Mapping[str, bytes]]
WORDS = "Pâté ≠ 鮭 😀"
LOCALES: Mapping[str, Mapping[str, str]] = {
    "utf-8": {"PYTHONUTF8": "1"},
    "ascii": {"PYTHONUTF8": "0", "LC_ALL": "C"},
    "latin-1": {"PYTHONUTF8": "0", "LC_ALL": "C", "PYTHONIOENCODING": "latin-1"},
}
COMMANDS = {
    "data build --corpus café.jsonl --aspect rule_learnability --out söts": 0,
    "data check söts": 0,
    "report runs --out bericht": 0,
    "report runs --leaderboard --out tafel": 0,
    "show runs/results_00.json 1": 0,
    "train größe.yaml": 2,
}
# It takes the words of all commands as a shell gives them, with a semicolon after each command.
SCRIPT = """
import sys
from spor_tasks import cli
from training import __main__ as training

sys.modules["matplotlib"] = None
words = []
for word in sys.argv[1:]:
    words.append(word)
    if word == ";":
        status = (training if words[0] == "train" else cli).main(words[:-1])
        print("ended with", status, end="\\0")
        words = []
"""


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Ran]:
    """By locale: what each command printed, and the files that there were afterwards."""
    folders = {locale: tmp_path_factory.mktemp(locale) for locale in LOCALES}
    running = {locale: start(folder, LOCALES[locale]) for locale, folder in folders.items()}
    found = {}
    for locale, process in running.items():
        out, err = (text.decode(locale) for text in process.communicate(timeout=120))
        assert process.returncode == 0, err
        paths = (path for path in folders[locale].rglob("*") if path.is_file())
        files = {str(path.relative_to(folders[locale])): path.read_bytes() for path in paths}
        found[locale] = dict(zip(COMMANDS, out.split("\0"), strict=False)), files
    return found


def start(folder: Path, locale: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Run the commands in a folder with a corpus, results and settings that are not of ASCII."""
    rows = []
    for number in range(12):
        sample = town(number // 2)
        units = tuple(Triple(*unit[:2], f"{unit[-1]} {WORDS}") for unit in sample.units)
        texts = (f"{sample.references[0]} {WORDS}",)
        row = to_row(replace(sample, units=units, references=texts))
        rows.append(encode_row({"split": "train" if number % 2 else "test", **row}))
    (folder / "café.jsonl").write_bytes(b"".join(rows))
    (folder / "größe.yaml").write_text(f"# {WORDS}\n{WORDS}: 1\n", "utf-8")
    write(folder / "runs", count=6, models=(WORDS,))
    ours = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    words = " ; ".join([*COMMANDS, ""]).split()
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, *words],
        cwd=folder,
        env={**ours, "PYTHONPATH": str(REPOSITORY), **locale},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def test_what_cannot_be_shown_is_shown_as_its_code(ran: Mapping[str, Ran]) -> None:
    shown = {
        "utf-8": WORDS,
        "ascii": r"P\xe2t\xe9 \u2260 \u9bad \U0001f600",
        "latin-1": r"Pâté \u2260 \u9bad \U0001f600",
    }
    for locale, (printed, _) in ran.items():
        assert shown[locale] in printed["report runs --out bericht"]
        assert {name: int(text.split()[-1]) for name, text in printed.items()} == COMMANDS


def test_files_are_the_same_bytes_everywhere(ran: Mapping[str, Ran]) -> None:
    first, *others = (files for _, files in ran.values())
    for files in others:
        assert files.keys() == first.keys()
        assert {name for name in files if files[name] != first[name]} == set()
    assert WORDS.encode() in first["söts/test.jsonl"]
    assert "café".encode() in first["söts/manifest.json"]
