"""Whatever an entry point of another package does, a command ends as without it, or says why."""

import gc
import os
import subprocess
import sys
from dataclasses import replace

import pytest

from spor_tasks import cli
from spor_tasks.core import registry as registries
from spor_tasks.core.foreign import Foreign, ForeignError, guarded, import_first
from spor_tasks.core.registry import Entry, Registry, registry
from spor_tasks.metrics.chrf import CHRF
from spor_tasks.results import facts
from tests.conftest import REPOSITORY
from tests.support.result_files import write_run

FORGED = "0\x1b[2J\n\u202eerror: forged"
MODULE = f"""
import sys
from dataclasses import replace
from types import SimpleNamespace
from spor_tasks.core.registry import registry

class Ends(BaseException):
    def __str__(self):
        raise SystemExit(0)

class Metric:
    signature = "x"
    challenge = needs_texts = outputs = answers = None
    def __init__(self, how):
        self.how = how
    @property
    def scores(self):
        if self.how == "names":
            return [SimpleNamespace(name=[], of_some=False)]
        return () if self.how == "judge" else sys.exit({FORGED!r})
    def judge(self, samples, outputs):
        sys.exit(0)

attribute, judge, names = map(Metric, ("attribute", "judge", "names"))

class Benchmark:
    title = source = paper = introduction = "x"
    legends = {{}}
    groups = {{"systematicity": "x"}}
    find = load = None
    def tables(self, name):
        return ()
    def __init__(self, ends):
        self.ends = ends
    def sets(self):
        if self.ends:
            raise Ends
        (spec, *_) = registry().get("benchmark", "spor").sets()
        return (replace(spec, benchmark="harm-published", task="harm"),)
    def captions(self, name):
        sys.exit(0)

sets, published = Benchmark(True), Benchmark(False)

class Corpus:
    parts = ()
    def linearize(self):
        raise Ends
    def __getattr__(self, name):
        sys.exit(0)

corpus = Corpus()
"""
ENTRIES = {
    "metric": [
        "leaves:exits",
        "harm:attribute",
        "harm:judge",
        "harm:names",
        "no.such:thing",
        "harm:none",
    ],
    "benchmark": ["harm:sets", "harm:published"],
    "corpus": ["harm:corpus", "leaves:x"],
    "objective": ["leaves:x", "harm:attribute"],
}
USED = {"harm:judge", "harm:published", "harm:corpus"}  # they harm where they are used only


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a package whose entry points do harm, as pip would leave it."""
    folder = tmp_path_factory.mktemp("harm")
    (folder / "harm.py").write_text(MODULE)
    (folder / "leaves.py").write_text(f"import sys\nsys.exit({FORGED!r})")
    info = folder / "harm-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: harm\nVersion: 1.0\n")
    points = ""
    for kind, targets in ENTRIES.items():
        points += f"[spor_tasks.{kind}]\n"
        points += "".join(f"{target.replace(':', '-')} = {target}\n" for target in targets)
    (info / "entry_points.txt").write_text(points)
    write_run(folder / "results", "1", [7.0])
    return folder


@pytest.mark.parametrize(
    ("command", "printed"),
    [
        ("spor_tasks.cli report results", "7.00"),
        ("spor_tasks.cli tasks list", "spor_mini"),
        ("spor_tasks.cli data check strict:systematicity:mini", "every requirement holds"),
        ("training train none.yaml", "none.yaml"),
    ],
)
def test_entries_that_end_the_program_are_left_out_in_a_line_each(command, printed, place):
    done = subprocess.run(
        [sys.executable, "-m", *command.split()],
        cwd=place,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(place), str(REPOSITORY)])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == (2 if "none" in command else 0)
    assert printed in done.stdout + done.stderr
    told = [line for line in done.stderr.splitlines() if "of the package harm" in line]
    assert len(set(told)) == len(told)
    assert all(line.startswith("the ") or "is left out" not in line for line in told)
    assert "\x1b" not in done.stderr
    assert not [line for line in done.stderr.splitlines() if line.startswith("error: forged")]
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("kind", ENTRIES)
def test_one_that_cannot_be_used_is_no_name(kind, place, monkeypatch, caplog):
    monkeypatch.syspath_prepend(str(place))
    entries = [Entry(kind, target, target, "harm") for target in ENTRIES[kind]]
    assert {*Registry(entries).names(kind)} == {*ENTRIES[kind]} & USED
    lines = [text for text in caplog.messages if "is left out" in text]
    assert len(lines) == len({*ENTRIES[kind]} - USED)
    assert not [text for text in lines if "\n" in text or "\x1b" in text]


def test_a_call_that_ends_the_program_is_one_error(place, monkeypatch):
    monkeypatch.syspath_prepend(str(place))
    monkeypatch.setattr(
        registries, "installed", lambda *_: [Entry("metric", "m", "harm:judge", "harm")]
    )
    found = registries.registry.__wrapped__().get("metric", "m")
    with pytest.raises(ForeignError, match="SystemExit: 0") as caught:
        found.judge([], [])
    assert "of the package harm" in str(caught.value)


class Silent(Exception):  # noqa: N818 - of another package
    """An error whose text ends the program."""

    def __str__(self):
        raise SystemExit


class Harmful:
    """It harms in each way that code can be reached."""

    def __init__(self, error):
        self.error = error

    def __getattr__(self, name):
        raise self.error

    def call(self):
        raise self.error

    def each(self):
        yield 1
        raise self.error


@pytest.mark.parametrize("error", [GeneratorExit(), Silent(), SystemExit(), BaseException("x")])
def test_nothing_but_an_interrupt_passes(error):
    found = Foreign(Harmful(error), "W")
    for use in (lambda: found.none, found.call, lambda: list(found.each())):
        with pytest.raises(ForeignError, match=f"W: {type(error).__name__}"):
            use()
    with pytest.raises(ForeignError, match=type(error).__name__), guarded("W"):
        raise error
    items = found.each()
    assert next(items) == 1
    items.close()


def test_captions_that_end_the_program_are_one_error(place, monkeypatch):
    monkeypatch.syspath_prepend(str(place))
    entry = Entry("benchmark", "b", "harm:published", "harm")
    monkeypatch.setattr(facts, "registry", lambda: Registry([entry]))
    spec = registry().get("benchmark", "spor").sets()[0]
    with pytest.raises(ForeignError, match="SystemExit: 0"):
        facts.Declared.of(replace(spec, benchmark="b"))


def test_what_is_guarded_is_what_it_stands_for():
    found = Foreign(CHRF, "the metric 'chrf'")
    assert isinstance(found, type(CHRF))
    assert found.scores == CHRF.scores
    assert list(found.judge([], [])) == []
    assert not hasattr(found, "own_sets")
    with pytest.raises(KeyboardInterrupt), guarded("x"):
        raise KeyboardInterrupt


def test_a_command_that_a_package_ends_fails(monkeypatch, capsys):
    monkeypatch.setattr("spor_tasks.cli.show.run", lambda _: sys.exit(0))
    assert cli.main(["show", "x", "0"]) == 2
    assert "another package ends the program: SystemExit: 0" in capsys.readouterr().err


@pytest.mark.parametrize("looks", [True, False])
def test_importing_leaves_the_search_for_garbage_as_it_was(looks, tmp_path, monkeypatch):
    (tmp_path / f"imported_{looks}.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(gc, "freeze", None)
    try:
        (gc.enable if looks else gc.disable)()
        import_first(f"imported_{looks}", "no_such_module")
        assert f"imported_{looks}" in sys.modules
        assert gc.isenabled() == looks
    finally:
        gc.enable()
