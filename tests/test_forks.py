"""What a fork finds: workflows with pinned actions, and hooks of the tested versions."""

import re

import pytest
import yaml

from tests.conftest import REPOSITORY

WORKFLOWS = sorted((REPOSITORY / ".github" / "workflows").glob("*.yml"))
PINNED = re.compile(r"[\w-]+/[\w-]+@[0-9a-f]{40}")


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_runs_scripts_that_are_there_with_pinned_actions_and_few_rights(path):
    text = path.read_text("utf-8")
    workflow = yaml.safe_load(text)
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    assert all(PINNED.fullmatch(step["uses"]) for step in steps if "uses" in step)
    named = re.findall(r"(?m)^ +- run: .*?(\.ci/\w+)", text)
    assert named
    assert all((REPOSITORY / name).is_file() for name in named)
    assert workflow["permissions"] == {"contents": "read"}


def test_workflows_try_each_python_that_the_package_names():
    (matrix,) = (
        job["strategy"]["matrix"]["python"]
        for path in WORKFLOWS
        for job in yaml.safe_load(path.read_text("utf-8"))["jobs"].values()
        if "strategy" in job
    )
    project = (REPOSITORY / "pyproject.toml").read_text("utf-8")
    assert matrix == re.findall(r"Python :: (3\.\d+)", project)


def test_hooks_have_the_versions_that_are_tested():
    hooks = (REPOSITORY / ".pre-commit-config.yaml").read_text("utf-8")
    constraints = (REPOSITORY / "constraints.txt").read_text("utf-8")
    (ruff,) = re.findall(r"(?m)^ruff==(.*)$", constraints)
    assert f"rev: v{ruff}\n" in hooks
