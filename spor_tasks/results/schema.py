"""What a result file of our tasks must say: `schema.json`."""

import json
import reprlib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError


@cache
def result_schema() -> Mapping[str, Any]:
    """Return the schema of lm-eval's result files, as far as our tasks are concerned."""
    schema: Mapping[str, Any] = json.loads(Path(__file__).with_name("schema.json").read_bytes())
    return schema


def faults(value: object, definition: str | None = None, place: str = "") -> Iterator[str]:
    """Yield each way in which a value is not what the schema asks for, with its place.

    The value is a whole file, or the part of one that a ``definition`` of the schema is about.
    """
    for error in _validator(definition).iter_errors(value):
        where = ".".join([*([place] if place else []), *map(str, error.absolute_path)])
        yield f"{where or 'it'} {_said(error)}"


@cache
def _validator(definition: str | None) -> Draft202012Validator:
    schema = result_schema()
    if definition is None:
        return Draft202012Validator(schema)
    return Draft202012Validator({"$ref": f"#/$defs/{definition}", "$defs": schema["$defs"]})


def _said(error: ValidationError) -> str:
    """Return what is wrong in few words, whatever length the value has."""
    rule: Any = error.validator_value
    value: Any = error.instance
    if error.validator == "required":
        missing = [name for name in rule if name not in value]
        return f"lacks {', '.join(map(repr, missing))}"
    asked = f"{error.validator} {rule}"
    return f"is {reprlib.repr(value)}, but the schema asks for {asked}"
