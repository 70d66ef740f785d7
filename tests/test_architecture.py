"""The house's rule: imports point up the list, and what is slow or heavy stays where it belongs."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from spor_tasks.aspects.arms import ARMS
from tests.conftest import REPOSITORY

# From the top of the house to its foot: each part may import those before it, and itself.
FLOORS = (
    "core",
    "text",
    "corpora",
    "aspects",
    "twins",
    "metrics",
    "prompts",
    "results",
    "benchmarks",
    "harness",
    "evaluation",
    "tasks",
    "report",
    "cli",
)
HEAVY = {"torch", "transformers", "peft"}
PACKAGES = ("spor_tasks", "training")


def modules(package: str) -> dict[str, Path]:
    """Return every module of a package by its dotted name."""
    found = {}
    for path in sorted((REPOSITORY / package).rglob("*.py")):
        parts = path.relative_to(REPOSITORY).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(path: Path) -> Iterator[str]:
    """Yield the dotted name of everything a file imports, wherever in it the import stands."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.module, f"{path}: imports are absolute"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def floor(name: str) -> str | None:
    """Return the part of `spor_tasks` that a dotted name belongs to; None is the package itself."""
    parts = name.split(".")
    return parts[1] if len(parts) > 1 and parts[1] in FLOORS else None


ALL = [(name, path) for package in PACKAGES for name, path in modules(package).items()]
OURS = [(name, path) for name, path in ALL if name.startswith("spor_tasks.")]


def test_every_module_has_its_floor() -> None:
    assert len(OURS) > 20
    assert {name: floor(name) for name, _ in OURS if floor(name) is None} == {}


@pytest.mark.parametrize(("name", "path"), OURS, ids=[name for name, _ in OURS])
def test_imports_point_up_the_list(name: str, path: Path) -> None:
    own = floor(name)
    assert own
    for imported in imports(path):
        assert not imported.startswith("training")
        if imported.startswith("spor_tasks.") and (other := floor(imported)):
            assert FLOORS.index(other) <= FLOORS.index(own), f"{name} imports {imported}"


@pytest.mark.parametrize(("name", "path"), ALL, ids=[name for name, _ in ALL])
def test_only_a_benchmark_imports_its_own_modules(name: str, path: Path) -> None:
    for imported in imports(path):
        if imported.startswith("spor_tasks.benchmarks."):
            own = ".".join(imported.split(".")[:3])
            if own.endswith((".published", ".declared")):  # all benchmarks share them
                own = "spor_tasks.benchmarks"
            assert f"{name}.".startswith(f"{own}."), f"{name} imports {imported}"


def test_aspects_are_named_where_their_sets_and_demonstrations_are_made() -> None:
    literals = {f'"{aspect}"' for aspect in ARMS}
    homes = tuple(f"spor_tasks.{room}." for room in ("aspects", "benchmarks", "corpora", "prompts"))
    named = {
        name
        for name, path in ALL
        if not name.startswith(homes)
        if any(literal in path.read_text("utf-8") for literal in literals)
    }
    assert named == set()


def test_no_two_modules_import_each_other() -> None:
    known = {name for name, _ in ALL}
    graph = {
        name: {
            module
            for imported in imports(path)
            for module in (imported, imported.rpartition(".")[0])
            if module in known and module != name
        }
        for name, path in ALL
    }

    def visit(name: str, way: tuple[str, ...]) -> None:
        assert name not in way, " imports ".join((*way[way.index(name) :], name))
        for other in graph[name] - done:
            visit(other, (*way, name))
        done.add(name)

    done: set[str] = set()
    for name in graph:
        visit(name, ())
    assert done == known


def test_only_models_import_torch() -> None:
    users = {
        name for name, path in OURS for used in imports(path) if used.partition(".")[0] in HEAVY
    }
    assert users == {
        "spor_tasks.metrics.readers",
        "spor_tasks.metrics.mctg_readers",
        "spor_tasks.evaluation.coded",
        "spor_tasks.evaluation.hf",
        "spor_tasks.evaluation.quantization",
        "spor_tasks.evaluation.generation",
        "spor_tasks.harness.tokens",
    }


@pytest.mark.parametrize(
    ("script", "absent"),
    [
        ("import spor_tasks.harness.task, spor_tasks.evaluation.run", HEAVY),
        (
            "import spor_tasks.cli, spor_tasks.harness.task_files as files; files.files()",
            {"lm_eval", "datasets", "numpy"},
        ),
        (
            "from spor_tasks.metrics.base import score_info; score_info('parent')",
            {*HEAVY, "lm_eval", "datasets", "scipy"},
        ),
        ("from spor_tasks import report", {*HEAVY, "lm_eval", "datasets"}),
    ],
)
def test_what_is_heavy_is_loaded_where_it_is_used(script: str, absent: set[str]) -> None:
    command = [sys.executable, "-c", f"{script}; import sys; print({absent!r} & set(sys.modules))"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=REPOSITORY)
    assert done.stdout == "set()\n"


def names_no_encoding(call: ast.Call) -> bool:
    """Say whether a call reads or writes text in the encoding of whatever locale there is."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    given = {keyword.arg for keyword in call.keywords}
    modes = [arg.value for arg in call.args if isinstance(arg, ast.Constant)]
    in_text = not call.args or any(isinstance(mode, str) and "b" not in mode for mode in modes)
    takes_text = (
        (name == "read_text" and not call.args)
        or (name == "write_text" and len(call.args) == 1)
        or (name in {"open", "fdopen"} and in_text)
        or (isinstance(call.func, ast.Name) and call.func.id == "open" and (in_text or not modes))
        or bool({"text", "universal_newlines"} & given)
    )
    return takes_text and "encoding" not in given


def test_no_file_is_read_or_written_in_the_encoding_of_a_locale() -> None:
    found = [
        f"{path.name}:{node.lineno}"
        for _, path in ALL
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.Call) and names_no_encoding(node)
    ]
    assert found == []


@pytest.mark.parametrize(
    ("call", "faulty"),
    [
        ("path.read_text()", True),
        ("path.read_text('utf-8')", False),
        ("path.write_text(text)", True),
        ("path.write_text(text, encoding='utf-8')", False),
        ("path.open()", True),
        ("path.open('rb')", False),
        ("open(path, 'w')", True),
        ("open(path)", True),
        ("opener.open(request)", False),
        ("os.open(path, flags)", False),
        ("subprocess.run(command, text=True)", True),
        ("subprocess.run(command, encoding='utf-8')", False),
    ],
)
def test_a_call_without_an_encoding_is_found(call: str, *, faulty: bool) -> None:
    (node,) = ast.parse(call).body
    assert isinstance(node, ast.Expr)
    assert isinstance(node.value, ast.Call)
    assert names_no_encoding(node.value) is faulty


def test_the_list_has_no_part_twice_and_none_that_is_gone() -> None:
    parts = {path.stem for path in (REPOSITORY / "spor_tasks").iterdir()}
    assert [part for part in FLOORS if part not in parts] == []
    assert len(set(FLOORS)) == len(FLOORS)
