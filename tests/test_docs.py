"""What the documentation shows is what happens."""

import re
import runpy
import shlex
from importlib import import_module
from pathlib import Path

import pytest

from spor_tasks import cli
from spor_tasks.cli import evaluate
from spor_tasks.harness import task_files
from tests.conftest import REPOSITORY

OWN_CORPUS = REPOSITORY / "docs" / "own-corpus.md"


def blocks(path, language):
    """Yield the fenced blocks of one language."""
    yield from re.findall(
        rf"^```{language}\n(.*?)^```$", path.read_text("utf-8"), re.MULTILINE | re.DOTALL
    )


def session(path):
    """Return the commands of all console blocks with what is printed after each."""
    text = "".join(blocks(path, "console"))
    commands = re.findall(r"^\$ spor (.*)\n((?:(?!\$ ).*\n)*)", text, re.MULTILINE)
    assert len(commands) == text.count("$ ")
    return commands


def test_the_example_of_a_corpus_of_ones_own_goes_as_printed(tmp_path, monkeypatch, capsys):
    (rows,) = blocks(OWN_CORPUS, "json")
    monkeypatch.chdir(tmp_path)
    Path("lighthouses.jsonl").write_text(rows, "utf-8")
    shown = dict(session(OWN_CORPUS))
    typed = re.findall(r"^(?:\$ )?spor (.*)", page := OWN_CORPUS.read_text("utf-8"), re.MULTILINE)
    typed = typed[: next(n for n, words in enumerate(typed) if words.startswith("train "))]
    assert (len(shown), len(typed)) == (4, 8)
    for command in typed:
        status = cli.main(command.split())
        printed = capsys.readouterr()
        assert shown.get(command) in {None, printed.out + printed.err}
        assert status == 0, printed
    outs = re.findall(r"^(?:\$ )?spor .*--out (\S+)", page, re.MULTILINE)
    assert len(outs) == len({*outs}) > 4


def commands(path):
    """Yield the commands of ours in the shell blocks of a page, in words."""
    for block in blocks(path, "sh"):
        for line in block.replace("\\\n", " ").splitlines():
            line = re.sub(r"\$\w+", "any=thing", line.replace("…", ""))  # noqa: PLW2901
            words = shlex.split(line, comments=True)
            if words[:1] == ["spor"]:
                yield words[1:]


PAGES = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_of_the_pages_are_commands(page):
    known = {name.split()[-1] for name in task_files.manager().all_tasks}
    for words in commands(page):
        if words[0] == "eval":
            evaluate._parse(words[1:])
            for name in words[words.index("--tasks") + 1].split(",") if "--tasks" in words else ():
                assert name in known or not name.startswith("spor"), name
        else:
            cli.parser().parse_args(words)
        assert all(Path(word).is_file() for word in words if word.startswith("configs/"))


def test_the_python_of_the_data_page_prints_its_comments(capsys):
    (code,) = blocks(REPOSITORY / "docs" / "data.md", "python")
    exec(code, {})  # noqa: S102
    assert capsys.readouterr().out.splitlines() == re.findall(r"\)  # (.*)", code)


ABOUT_CODE = [
    REPOSITORY / "docs" / "architecture.md",
    *(REPOSITORY / "docs/decisions").glob("*.md"),
]


@pytest.mark.parametrize("page", ABOUT_CODE, ids=lambda page: page.name)
def test_files_that_pages_about_the_code_name_are_there(page):
    named = re.findall(
        r"`([\w./-]+(?:\.(?:py|toml|csv|json|js|j2|md|yaml)|/))`", page.read_text("utf-8")
    )
    homes = (REPOSITORY, REPOSITORY / "spor_tasks", page.parent)
    assert [name for name in named if not any((home / name).exists() for home in homes)] == []
    assert named or page != ABOUT_CODE[0]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_paths_of_the_repository_that_pages_name_are_there(page):
    homes = "spor_tasks|training|configs|tests|docs"
    named = re.findall(rf"`((?:{homes})/[\w./-]+)`", page.read_text("utf-8"))
    assert [name for name in named if not (REPOSITORY / name).exists()] == []


def test_every_decision_is_listed_and_addresses_in_the_code_are_right():
    decisions = {page.name for page in (REPOSITORY / "docs" / "decisions").glob("*.md")}
    index = (REPOSITORY / "docs" / "decisions" / "README.md").read_text("utf-8")
    assert {*re.findall(r"\((\S+\.md)\)", index), "README.md"} == decisions
    code = [*REPOSITORY.glob("spor_tasks/**/*.py"), *REPOSITORY.glob("training/**/*.py")]
    texts = "".join(path.read_text("utf-8") for path in code)
    assert {*re.findall(r"docs/decisions/([\w-]+\.md)", texts)} <= decisions


def test_faults_of_a_page_are_found(tmp_path):
    hard = ["What a page is.", "Given to a reader.", "It is told.", " ".join(["word"] * 26) + "."]
    good = (
        "# Top\n\n[A `told` link](#top) is fine: " + " ".join(["word"] * 25) + ". What is this?\n"
    )
    page = tmp_path / "page.md"
    page.write_text(good + "\n".join(hard) + "\n[gone](gone.md), [low](#low)\n", "utf-8")
    script = runpy.run_path(str(REPOSITORY / "docs" / "pages.py"))
    kinds = [fault.split(": ")[1] for fault in script["faults"](page)]
    assert kinds == ["link", "link", "opener", "opener", "word", "long"]


@pytest.mark.soak
@pytest.mark.parametrize("path", sorted((REPOSITORY / "docs" / "benchmarks").glob("[a-z]*.py")))
def test_benchmarks_can_be_imported(path):
    import_module(f"docs.benchmarks.{path.stem}")


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_the_tables_of_the_first_experiment_are_those_of_the_demo(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["demo"]) == 0
    (report,) = tmp_path.rglob("report.md")
    lines = report.read_text("utf-8").splitlines()
    page = (REPOSITORY / "docs" / "first-experiment.md").read_text("utf-8").splitlines()
    rows = [line for line in page if line.startswith("| training/pretrained/mini")]
    assert len(rows) == 5
    # A report names the base by its path from the current folder.
    printed = {line.replace("../", "").partition("training/")[2] for line in lines}
    assert {row.partition("training/")[2] for row in rows} <= printed
