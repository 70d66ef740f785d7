"""What a locale has no characters for ends no command, and files are UTF-8 in every locale."""

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest

from spor_tasks.core.codec import to_row
from spor_tasks.core.files import encode_row
from spor_tasks.core.sample import Triple
from tests.conftest import REPOSITORY
from tests.support.invented_runs import town, write

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


class Ran(NamedTuple):
    """What each command printed in a locale, and the files that there were afterwards."""

    printed: Mapping[str, str]
    files: Mapping[str, bytes]


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Ran]:
    folders = {locale: tmp_path_factory.mktemp(locale) for locale in LOCALES}
    running = {locale: start(folder, LOCALES[locale]) for locale, folder in folders.items()}
    found = {}
    for locale, process in running.items():
        out, err = (text.decode(locale) for text in process.communicate(timeout=120))
        assert process.returncode == 0, err
        paths = (path for path in folders[locale].rglob("*") if path.is_file())
        files = {str(path.relative_to(folders[locale])): path.read_bytes() for path in paths}
        found[locale] = Ran(dict(zip(COMMANDS, out.split("\0"), strict=False)), files)
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


@pytest.mark.parametrize("locale", LOCALES)
def test_every_command_ends_as_it_should(locale: str, ran: Mapping[str, Ran]) -> None:
    ends = {name: int(printed.split()[-1]) for name, printed in ran[locale].printed.items()}
    assert ends == COMMANDS


def test_what_cannot_be_shown_is_shown_as_its_code(ran: Mapping[str, Ran]) -> None:
    printed = {locale: each.printed["report runs --out bericht"] for locale, each in ran.items()}
    assert WORDS in printed["utf-8"]
    assert r"P\xe2t\xe9 \u2260 \u9bad \U0001f600" in printed["ascii"]
    assert r"Pâté \u2260 \u9bad \U0001f600" in printed["latin-1"]


@pytest.mark.parametrize("locale", ["ascii", "latin-1"])
def test_files_are_the_same_bytes_everywhere(locale: str, ran: Mapping[str, Ran]) -> None:
    files, expected = ran[locale].files, ran["utf-8"].files
    assert files.keys() == expected.keys()
    assert {name for name in files if files[name] != expected[name]} == set()
    assert WORDS.encode() in files["söts/test.jsonl"]
    assert "café".encode() in files["söts/manifest.json"]
