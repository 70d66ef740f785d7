"""The command `spor`: its exit status, how it fails, shows progress, and lists its tasks."""

import io
import re
import sys
import time
from functools import partial
from importlib.machinery import PathFinder
from pathlib import Path
from unittest.mock import patch

import pytest

from spor_tasks import __version__, cli
from spor_tasks.cli import progress
from spor_tasks.core.errors import ConfigError
from spor_tasks.harness import stubs, task_files


def test_the_parser_ends_with_its_status(spor):
    assert spor("--version") == f"spor {__version__}\n"
    for words, printed in (
        ("", "usage: spor"),
        ("tasks", "usage: spor tasks"),
        ("data fetch --corpus none", "usage: spor data fetch"),
        ("report --leaderboard --diff runs runs", "not allowed with"),
    ):
        assert printed in spor(words, ends=2)


@pytest.mark.parametrize(
    ("words", "nearest"),
    [
        ("scroe", "score"),
        ("score x --corpus mini --metric prent", "parent"),
        ("score x --corpus web-NLG --metric chrf", "webnlg"),
        ("score x --corpus mini --metric chrf --filter frist_line", "first_line"),
        ("baseline copyinput spor_mini", "copy-input"),
        ("baseline copy-input spor_mni", "spor_mini"),
        ("eval --model dummy --tasks spor_mni", "spor_mini"),
        ("data build --aspect order --corpus mini --out x", "order_invariance"),
        ("data build --aspect productivity --corpus logicnl --out x", "logicnlg"),
        ("data check published:productivty:e2e", "productivity e2e published n3"),
        ("eval --model dummy --tasks spor_mini --limitt 3", "--limit"),
        ("eval --model dummy --tasks spor_mini --gen_kwargs max_gen_tok=3", "max_gen_toks"),
        ("eval --model dummy --tasks spor_mini --metadata limit_evnly=true", "limit_evenly"),
        ("baseline copy-input spor_mini --limitt 3", "--limit"),
        ("data fetch --crpus mini", "--corpus"),
        ("report runs --leaderbord", "--leaderboard"),
    ],
)
def test_an_unknown_name_gets_the_nearest(words, nearest, spor):
    assert f"The nearest names are {nearest}, " in spor(words, ends=2)


@pytest.mark.parametrize(
    ("error", "status", "printed"),
    [
        (ConfigError("wrong", where="file", remedy="Mend."), 2, "error: file: wrong\n  Mend."),
        (PermissionError(13, "denied", "file"), 2, "error: [Errno 13] denied: 'file'"),
        (KeyboardInterrupt(), 130, "interrupted"),
    ],
)
def test_errors_have_no_traceback(error, status, printed, capsys):
    with patch.object(stubs, "folder", side_effect=error):
        assert cli.main(["tasks", "register"]) == status
    assert capsys.readouterr() == ("", f"{printed}\n")


MINI = "spor_systematicity_mini"


class Terminal(io.StringIO):
    def isatty(self):
        return True


def shown(monkeypatch, stream, pause):
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(progress, "_SECONDS", 0.05)
    monkeypatch.setattr(progress, "_LINES_SECONDS", 0.05)
    with progress.working("counting\x1b[2J") as report:
        for steps in (3, 6):
            time.sleep(pause)
            report(steps, 12, f"best {steps} \x1b[2J")
    return stream.getvalue()


def test_long_work_is_a_bar_on_a_terminal_and_lines_elsewhere(monkeypatch):
    bar = shown(monkeypatch, Terminal(), 0.2)
    for part in (r"counting\u001b[2J:  50%|", r", best 6 \u001b[2J]", " 6/12 ["):
        assert part in bar
    assert shown(monkeypatch, io.StringIO(), 0.1).splitlines() == [
        rf"counting\u001b[2J: {share}, best {steps} \u001b[2J"
        for share, steps in (("25%", 3), ("50%", 6))
    ]
    for stream in (Terminal(), io.StringIO()):  # short work is not shown
        assert "counting" not in shown(monkeypatch, stream, 0)


def test_the_tasks_are_listed_by_corpus_and_one_by_one(spor):
    assert any(Path(spor("tasks path")[:-1]).rglob("spor_systematicity_mini.yaml"))
    lines = spor("tasks list").splitlines()
    assert len(lines) <= 3 * 24
    cells = {line.split("  ")[0]: re.split(r"\s\s+", line)[1:] for line in lines}
    assert cells["spor"] == ["webnlg", "e2e", "mini", "viggo"]
    assert cells["spor_productivity_…"] == ["n3 n4 n5", "n3 n4 n5", "n3 n4", "n3 n4 n5"]
    assert cells["…_beam4"] == ["yes"]
    lines = spor("tasks list --all").splitlines()
    assert [line.split()[0] for line in lines] == [file.name for file in task_files.files()]
    assert (
        dict(line.split(maxsplit=1) for line in lines).items()
        >= {
            "spor_productivity_e2e_n4_beam5": "productivity, e2e, n4, published, 5 beams",
            "spor_systematicity_e2e_icl_atom": "systematicity, e2e, published, shown atom",
            "logicnlg_ppl": "logicnlg, ppl, published",
        }.items()
    )


def test_tasks_are_registered_and_removed(tmp_path, monkeypatch, spor):
    package = tmp_path / "lm_eval"
    package.mkdir()
    (package / "__init__.py").touch()
    monkeypatch.setattr(stubs, "find_spec", partial(PathFinder.find_spec, path=[str(tmp_path)]))
    folder = package / "tasks" / "spor_tasks_stubs"
    number = len(task_files.files())
    assert spor("tasks register").startswith(f"{folder}: {number:,} files, one for each task, in ")
    assert len(list(folder.iterdir())) == number
    assert spor("tasks register --remove") == f"{folder}: removed\n"
    assert not folder.exists()
