"""What a result file must say, and that nothing of it can be missing unnoticed."""

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from spor_tasks.prompts.styles import PROMPT_STYLES
from spor_tasks.results import schema
from tests.support.result_files import UNKNOWN_ARM, result_content

TASK = "spor_systematicity_mini"


def fault(content: Any) -> str | None:  # noqa: ANN401 - JSON
    tasks = (schema.fault_of_task(task, content) for task in content["configs"])
    return schema.fault_of_file(content) or next(filter(None, tasks), None)


@pytest.mark.parametrize(
    "content",
    [
        result_content(),
        result_content(arm=None),
        result_content(arm=UNKNOWN_ARM),
        result_content(parent=float("nan")),
        result_content(shown="atom", task=f"{TASK}_icl_atom"),
        result_content(aspect="order_invariance", part="cwio", scores={"cwio": -0.5}),
    ],
)
def test_results_are_of_the_types(content: dict[str, Any]) -> None:
    assert fault(content) is None


def test_tasks_of_other_packages_are_not_checked() -> None:
    content = result_content()
    content["configs"]["hellaswag"] = {}
    content["results"]["hellaswag"] = {"acc,none": None}
    assert schema.fault_of_file(content) is None
    assert schema.fault_of_task(TASK, content) is None


def places(content: object, place: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    if isinstance(content, dict):
        for key, member in content.items():
            yield (*place, key)
            yield from places(member, (*place, key))


def without(place: tuple[str, ...]) -> dict[str, Any]:
    content = copy.deepcopy(result_content())
    inner: Any = content
    for key in place[:-1]:
        inner = inner[key]
    del inner[place[-1]]
    return content


TASK_PARTS = ("task", "generation_kwargs", "num_fewshot", "metadata")
METADATA = ("version", "aspect", "corpus", "protocol", "test_sha256", "spor")
FACTS = ("spor_tasks", "packages", "prompt_style", "fewshot_arm", "arms", "adapter")
ADAPTER = ("arm", "arm_sha256", "seed", "adapter_sha256", "base_model")
OF_TASK = ("configs", TASK)
REQUIRED = [
    *((name,) for name in ("results", "configs", "n-samples", "config")),
    *(("config", name) for name in ("model", "model_args")),
    *(("n-samples", TASK, name) for name in ("original", "effective")),
    *((*OF_TASK, name) for name in TASK_PARTS),
    *((*OF_TASK, "metadata", name) for name in METADATA),
    *((*OF_TASK, "metadata", "spor", name) for name in (*FACTS, "demonstrations_sha256")),
    *((*OF_TASK, "metadata", "spor", "adapter", name) for name in ADAPTER),
]


@pytest.mark.parametrize("place", REQUIRED, ids=".".join)
def test_nothing_that_is_required_can_be_missing(place: tuple[str, ...]) -> None:
    assert place in set(places(result_content()))
    content = without(place)
    message = schema.fault_of_file(content) or schema.fault_of_task(TASK, content)
    assert message
    assert f"`{place[-1]}`" in message
    assert ".".join(place[:-1]) in message


def test_a_fault_has_its_place_and_few_words() -> None:
    content = result_content()
    content["n-samples"][TASK]["effective"] = -1
    assert f"n-samples.{TASK}.effective" in str(fault(content))
    content["configs"][TASK]["task"] = [1] * 10_000
    assert f"configs.{TASK}.task" in str(fault(content))
    assert len(str(fault(content))) < 200


def test_the_styles_of_prompts_are_all_styles() -> None:
    assert schema.Facts.__annotations__["prompt_style"].__args__ == PROMPT_STYLES
