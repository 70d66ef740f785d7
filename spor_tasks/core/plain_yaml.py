"""YAML that people write, read with errors that name the file."""

from typing import Any

import yaml

from spor_tasks.core.errors import ConfigError

# The errors of PyYAML for a bad value, such as `2024-13-01` or `!!bool maybe`.
_FAULTS = (yaml.YAMLError, ValueError, LookupError, AttributeError, TypeError, RecursionError)

_MOST_VALUES = 100_000  # a few lines of aliases of aliases stand for more than any memory holds


def parse(text: str, where: str) -> Any:  # noqa: ANN401 - any YAML value
    """Return the content of a YAML text.

    Raises:
        ConfigError: it is not valid YAML, or has too many values with all aliases written out.
    """
    try:
        value = yaml.safe_load(text)
        values = _count(value, {})
    except _FAULTS as error:
        raise ConfigError(f"is not valid YAML: {error}", where=where) from error
    if values > _MOST_VALUES:
        raise ConfigError(
            f"has {values:,} values with its aliases written out, more than {_MOST_VALUES:,}",
            where=where,
        )
    return value


def _count(value: object, counts: dict[int, int]) -> int:
    """Return the number of values in a value; ``counts`` has those of earlier ones, by id."""
    if id(value) in counts:
        return counts[id(value)]
    match value:
        case dict():
            inner: tuple[object, ...] = (*value, *value.values())
        case list() | tuple() | set():
            inner = tuple(value)
        case _:
            inner = ()
    counts[id(value)] = 1 + sum(_count(each, counts) for each in inner)
    return counts[id(value)]
