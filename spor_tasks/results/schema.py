"""JSON Schema, as much of it as `schema.json` uses: what a result file of our tasks must say."""

import json
import re
import reprlib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

Schema = Mapping[str, Any]

_TYPES: Mapping[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "null": type(None),
}


@cache
def result_schema() -> Schema:
    """Return the schema of lm-eval's result files, as far as our tasks are concerned."""
    schema: Schema = json.loads(Path(__file__).with_name("schema.json").read_bytes())
    return schema


def faults(value: object, schema: Schema, root: Schema, place: str = "") -> Iterator[str]:
    """Yield each way in which the value is not what the schema asks for, with its place.

    ``root`` is what the schema's references point into.
    """
    if "$ref" in schema:
        name = schema["$ref"].removeprefix("#/$defs/")
        yield from faults(value, root["$defs"][name], root, place)
    types = schema.get("type", [])
    if types and not any(
        _is(value, name) for name in ([types] if isinstance(types, str) else types)
    ):
        yield f"{place or 'it'} is {reprlib.repr(value)}, not {types}"
    elif "enum" in schema and value not in schema["enum"]:
        yield f"{place} is {reprlib.repr(value)}, not one of {schema['enum']}"
    elif isinstance(value, str) and not re.search(schema.get("pattern", ""), value):
        yield f"{place} is {reprlib.repr(value)}, which {schema['pattern']} does not match"
    elif beyond := _beyond(value, schema):
        yield f"{place} is {reprlib.repr(value)}, {beyond}"
    elif isinstance(value, dict):
        yield from _faults_of_object(value, schema, root, place)


def _faults_of_object(
    value: Mapping[str, object], schema: Schema, root: Schema, place: str
) -> Iterator[str]:
    for key in schema.get("required", ()):
        if key not in value:
            yield f"{place or 'it'} lacks {key!r}"
    for key, member in value.items():
        for part in _schemas_of(key, schema):
            yield from faults(member, part, root, f"{place}.{key}" if place else key)


def _beyond(value: object, schema: Schema) -> str | None:
    """Say which limit of the schema's a number is beyond."""
    if not isinstance(value, int | float):
        return None
    least, most = schema.get("minimum", value), schema.get("maximum", value)
    if value < least:
        return f"less than {least}"
    return f"more than {most}" if value > most else None


def _schemas_of(key: str, schema: Schema) -> list[Schema]:
    """Return what an object's schema says of the member of this name."""
    named = [schema["properties"][key]] if key in schema.get("properties", {}) else []
    matching = [
        part
        for pattern, part in schema.get("patternProperties", {}).items()
        if re.search(pattern, key)
    ]
    others = [schema["additionalProperties"]] if "additionalProperties" in schema else []
    return named + matching or others


def _is(value: object, name: str) -> bool:
    if isinstance(value, bool) and name != "boolean":  # which Python takes for a number
        return False
    return isinstance(value, _TYPES[name])
