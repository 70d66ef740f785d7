"""The house's rule: imports point up the list, and what is slow or heavy stays where it belongs."""

import ast
import subprocess
import sys
from graphlib import TopologicalSorter

import pytest

from spor_tasks.aspects.arms import ARMS
from tests.conftest import REPOSITORY

# From the top of the house to its foot: each part may import those before it, and itself.
FLOORS = (
    *("core", "text", "corpora", "aspects", "twins", "metrics", "benchmarks", "prompts", "results"),
    *("models", "harness", "evaluation", "tasks", "report", "api", "cli"),
)
HEAVY = {"torch", "transformers", "peft"}
PACKAGES = ("spor_tasks", "training")


def modules(package):
    """Return every module of a package by its dotted name."""
    found = {}
    for path in sorted((REPOSITORY / package).rglob("*.py")):
        parts = path.relative_to(REPOSITORY).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(nodes):
    """Yield the dotted name of everything a file imports, wherever in it the import stands."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.module, "imports are absolute"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def floor(name):
    """Return the part of `spor_tasks` that a dotted name belongs to; None is the package itself."""
    package, _, rest = name.partition(".")
    part = rest.partition(".")[0]
    return part if package == "spor_tasks" and part in FLOORS else None


ALL = {name: path for package in PACKAGES for name, path in modules(package).items()}
NODES = {name: [*ast.walk(ast.parse(path.read_bytes()))] for name, path in ALL.items()}
IMPORTS = {name: {*imports(nodes)} for name, nodes in NODES.items()}


def test_every_module_has_its_floor_and_every_floor_modules():
    assert {floor(name) for name in ALL if name.startswith("spor_tasks.")} | {"tasks"} == {*FLOORS}


def test_imports_point_up_the_list():
    found = [
        f"{name} imports {imported}"
        for name, all_of in IMPORTS.items()
        if (own := floor(name))
        for imported in all_of
        if (imported.startswith("training") and own != "cli")
        or FLOORS.index(floor(imported) or "core") > FLOORS.index(own)
    ]
    assert found == []


def test_a_report_is_of_files_and_imports_no_evaluation():
    found = [
        f"{name} imports {imported}"
        for name, all_of in IMPORTS.items()
        if floor(name) == "report"
        for imported in all_of
        if floor(imported) == "evaluation"
    ]
    assert found == []


def test_only_a_benchmark_imports_its_own_modules():
    def home(imported):
        own = ".".join(imported.split(".")[:3])
        shared = own.endswith(".declared")  # by all benchmarks
        return "spor_tasks.benchmarks." if shared else f"{own}."

    found = [
        f"{name} imports {imported}"
        for name, all_of in IMPORTS.items()
        for imported in all_of
        if imported.startswith("spor_tasks.benchmarks.")
        and not f"{name}.".startswith(home(imported))
    ]
    assert found == []


def test_aspects_are_named_where_their_sets_and_demonstrations_are_made():
    literals = {f'"{aspect}"' for aspect in ARMS}
    homes = tuple(f"spor_tasks.{room}." for room in ("aspects", "benchmarks", "corpora", "prompts"))
    named = {
        name
        for name, path in ALL.items()
        if not name.startswith(homes)
        if any(literal in path.read_text("utf-8") for literal in literals)
    }
    assert named == set()


def test_programs_are_closed_and_sp_acc_is_their_door():
    programs = "spor_tasks.metrics.programs"
    users = {
        name
        for name, all_of in IMPORTS.items()
        if any(imported.startswith(programs) for imported in all_of)
    }
    assert {name for name in users if not name.startswith(programs)} == {
        "spor_tasks.metrics.sp_acc"
    }


def test_no_two_modules_import_each_other():
    graph = {
        name: {
            module
            for imported in all_of
            for module in (imported, imported.rpartition(".")[0])
            if module in ALL and module != name
        }
        for name, all_of in IMPORTS.items()
        if name != "spor_tasks"  # which names the interface, and imports it when it is asked for
    }

    TopologicalSorter(graph).prepare()  # which names a circle


def test_only_models_import_torch():
    users = {
        name
        for name, all_of in IMPORTS.items()
        if name.startswith("spor_tasks.") and {used.partition(".")[0] for used in all_of} & HEAVY
    }
    files = ("checkpoints", "encoders", "judges")
    metrics = {f"spor_tasks.metrics.judges.{name}" for name in files}
    of_torch = (
        *("coded", "continued", "generation", "hf", "leaving", "merging", "quantization", "whole"),
    )
    models = {f"spor_tasks.models.{name}" for name in of_torch}
    harness = {"spor_tasks.harness.tokens", "spor_tasks.harness.host"}  # the latter describes it
    assert users == metrics | models | harness


NO_CORPUS = ["train", "configs/models/mini.yaml", "data.corpus=none.jsonl"]


@pytest.mark.parametrize(
    ("script", "absent"),
    [
        ("import spor_tasks.harness.task, spor_tasks.evaluation.run", HEAVY),
        (
            "import spor_tasks.cli, spor_tasks.harness.task_files as files; files.files()",
            {"lm_eval", "datasets", "numpy"},
        ),
        (
            "from spor_tasks.metrics.scores import score_info; score_info('parent')",
            {*HEAVY, "lm_eval", "datasets", "scipy"},
        ),
        ("import spor_tasks", {*HEAVY, "lm_eval", "datasets", "numpy", "pandas", "yaml"}),
        ("from spor_tasks import report", {*HEAVY, "lm_eval", "datasets"}),
        (f"from spor_tasks.cli import main; main({NO_CORPUS})", HEAVY),
        ("import training.demo", {*HEAVY, "lm_eval", "datasets"}),
    ],
)
def test_what_is_heavy_is_loaded_where_it_is_used(script, absent):
    command = [sys.executable, "-c", f"{script}; import sys; print({absent!r} & set(sys.modules))"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=REPOSITORY)
    assert done.stdout == "set()\n"


def test_no_process_is_read_in_the_encoding_of_a_locale():
    """Of files, ruff finds those that are."""
    found = [
        f"{name}:{node.value.lineno}"
        for name, nodes in NODES.items()
        for node in nodes
        if isinstance(node, ast.keyword) and node.arg in {"text", "universal_newlines"}
        if isinstance(node.value, ast.Constant) and node.value.value is True
    ]
    assert found == []
