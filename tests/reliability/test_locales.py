"""What a locale has no characters for ends no command, and files are UTF-8 in every locale."""

import os
import subprocess
import sys
from dataclasses import replace

from spor_tasks.core.codec import to_row
from spor_tasks.core.files import encode_row
from spor_tasks.core.sample import Triple
from tests.conftest import REPOSITORY
from tests.support.invented_runs import town, write

WORDS = "Pâté ≠ 鮭 😀"
# The environment of each, and what it makes of the words.
LOCALES = {
    "utf-8": ({"PYTHONUTF8": "1"}, WORDS),
    "ascii": ({"PYTHONUTF8": "0", "LC_ALL": "C"}, r"P\xe2t\xe9 \u2260 \u9bad \U0001f600"),
    "latin-1": (
        {"PYTHONUTF8": "0", "LC_ALL": "C", "PYTHONIOENCODING": "latin-1"},
        r"Pâté \u2260 \u9bad \U0001f600",
    ),
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

words = []
for word in sys.argv[1:]:
    words.append(word)
    if word == ";":
        status = cli.main(words[:-1])
        print("ended with", status, end="\\0")
        words = []
"""


def start(folder, locale):
    """Run the commands in a folder with a corpus, results and settings that are not of ASCII."""
    folder.mkdir()
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


def test_commands_end_alike_and_files_are_the_same_bytes(tmp_path):
    """A character that cannot be shown is shown as its code."""
    written = []
    running = [start(tmp_path / locale, LOCALES[locale][0]) for locale in LOCALES]
    for (locale, (_, shown)), process in zip(LOCALES.items(), running, strict=True):
        out, err = (text.decode(locale) for text in process.communicate(timeout=120))
        assert process.returncode == 0, err
        printed = dict(zip(COMMANDS, out.split("\0"), strict=False))
        assert {name: int(text.split()[-1]) for name, text in printed.items()} == COMMANDS
        assert shown in printed["report runs --out bericht"]
        folder = tmp_path / locale
        paths = (path for path in folder.rglob("*") if path.is_file())
        written.append({str(path.relative_to(folder)): path.read_bytes() for path in paths})
    first, *others = written
    for files in others:
        assert files.keys() == first.keys()
        assert {name for name in files if files[name] != first[name]} == set()
    assert WORDS.encode() in first["söts/test.jsonl"]
    assert "café".encode() in first["söts/manifest.json"]
