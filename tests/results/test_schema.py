"""What a result file must say, and that nothing of it can be missing unnoticed."""

import copy
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from spor_tasks.prompts.styles import PROMPT_STYLES
from spor_tasks.results.schema import faults, result_schema
from tests.support.result_files import UNKNOWN_ARM, result_content

SCHEMA = result_schema()
FACTS = SCHEMA["$defs"]["facts"]["properties"]
TASK = "spor_systematicity_mini"


def of_result(content: object) -> list[str]:
    return list(faults(content))


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
def test_results_are_as_the_schema_says(content: dict[str, Any]) -> None:
    assert of_result(content) == []


def test_tasks_of_others_are_left_alone() -> None:
    content = result_content()
    content["configs"]["hellaswag"] = {}
    content["results"]["hellaswag"] = {"acc,none": None}
    assert of_result(content) == []


def required(
    schema: Mapping[str, Any], content: object, place: tuple[str, ...]
) -> Iterator[tuple[str, ...]]:
    """The places of all members that must be there."""
    if "$ref" in schema:
        schema = SCHEMA["$defs"][schema["$ref"].removeprefix("#/$defs/")]
    for key in schema.get("required", ()):
        yield (*place, key)
    if isinstance(content, dict):
        for key, member in content.items():
            parts = {**schema.get("patternProperties", {}), **schema.get("properties", {})}
            for name, part in parts.items():
                if name in (key, "^spor_"):
                    yield from required(part, member, (*place, key))


PLACES = sorted(set(required(SCHEMA, result_content(), ())))


def test_much_is_required() -> None:
    assert len(PLACES) == 31
    assert ("configs", TASK, "metadata", "spor", "adapter", "adapter_sha256") in PLACES


@pytest.mark.parametrize("place", PLACES, ids=".".join)
def test_nothing_that_is_required_can_be_missing(place: tuple[str, ...]) -> None:
    content = copy.deepcopy(result_content())
    *way, last = place
    inner = content
    for key in way:
        inner = inner[key]
    del inner[last]
    assert of_result(content) == [f"{'.'.join(way) or 'it'} lacks {last!r}"]


def test_a_fault_is_told_with_its_place_and_in_few_words() -> None:
    content = result_content()
    content["n-samples"][TASK]["effective"] = -1
    content["configs"][TASK]["task"] = [1] * 10_000
    first, second = sorted(of_result(content))
    assert first.startswith(f"configs.{TASK}.task ")
    assert second.startswith(f"n-samples.{TASK}.effective ")
    assert max(map(len, (first, second))) < 200


def test_a_part_is_held_against_its_definition() -> None:
    (fault,) = faults({"original": 1}, "counts", "n-samples.task")
    assert fault == "n-samples.task lacks 'effective'"


def test_the_schema_is_one_and_knows_the_styles_of_prompts() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert FACTS["prompt_style"]["enum"] == list(PROMPT_STYLES)
