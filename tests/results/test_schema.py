"""What a result file must say, and that nothing of it can be missing unnoticed."""

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from spor_tasks.core.sample import ARMS
from spor_tasks.prompts.styles import PROMPT_STYLES
from spor_tasks.results.schema import Schema, faults, result_schema
from tests.support.result_files import UNKNOWN_ARM, result_content

SCHEMA = result_schema()
FACTS = SCHEMA["$defs"]["facts"]["properties"]
TASK = "spor_systematicity_mini"


def of_result(content: object) -> list[str]:
    return list(faults(content, SCHEMA, SCHEMA))


def schemas(schema: Schema) -> Iterator[Schema]:
    """The schema and all within it."""
    yield schema
    for key in ("properties", "patternProperties", "$defs"):
        for member in schema.get(key, {}).values():
            yield from schemas(member)
    if "additionalProperties" in schema:
        yield from schemas(schema["additionalProperties"])


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


def required(schema: Schema, content: Any, place: tuple[str, ...]) -> Iterator[tuple[str, ...]]:  # noqa: ANN401
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


@pytest.mark.parametrize(
    ("value", "schema", "complaint"),
    [
        (1, {"type": "string"}, "x is 1, not string"),
        (True, {"type": "integer"}, "x is True, not integer"),
        (1.0, {"type": "integer"}, "x is 1.0, not integer"),
        (None, {"type": ["string", "integer"]}, "x is None, not ['string', 'integer']"),
        ("c", {"enum": ["a", "b"]}, "x is 'c', not one of ['a', 'b']"),
        ("a1", {"pattern": "^[a-z]$"}, "x is 'a1', which ^[a-z]$ does not match"),
        ({"a": 1}, {"additionalProperties": {"type": "null"}}, "x.a is 1, not null"),
        (-5, {"type": "integer", "minimum": 0}, "x is -5, less than 0"),
        (8, {"maximum": 7}, "x is 8, more than 7"),
    ],
)
def test_a_fault_is_told_with_its_place(value: object, schema: Schema, complaint: str) -> None:
    assert list(faults(value, schema, schema, "x")) == [complaint]


@pytest.mark.parametrize(
    ("value", "schema"),
    [
        (1, {"type": "number"}),
        (float("nan"), {"type": "number"}),
        (False, {"type": "boolean"}),
        (0, {"minimum": 0, "maximum": 0}),
        (float("nan"), {"type": "number", "minimum": 0}),
        ([1], {"type": "array"}),
        (None, {"type": ["string", "null"], "pattern": "^a"}),
        ({"a": 1, "b": None}, {"properties": {"a": {"type": "integer"}}}),
        ({"a": 1}, {"properties": {"a": {}}, "additionalProperties": {"type": "null"}}),
    ],
)
def test_what_is_as_the_schema_says_has_no_fault(value: object, schema: Schema) -> None:
    assert list(faults(value, schema, schema)) == []


def test_only_keywords_that_are_understood_are_used() -> None:
    understood = {"type", "enum", "pattern", "required", "properties", "patternProperties"}
    understood |= {"additionalProperties", "$ref", "$defs", "minimum", "maximum"}
    said = {"$schema", "$comment", "title", "description"}
    used = {key for schema in schemas(SCHEMA) for key in schema}
    assert used <= understood | said


def test_the_schema_knows_the_aspects_and_the_styles_of_prompts() -> None:
    metadata = SCHEMA["$defs"]["task"]["properties"]["metadata"]["properties"]
    assert metadata["aspect"]["enum"] == list(ARMS)
    assert FACTS["prompt_style"]["enum"] == list(PROMPT_STYLES)
