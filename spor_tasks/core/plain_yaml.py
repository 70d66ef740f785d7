"""YAML that people write, read with errors that name the file."""

from typing import Any

import yaml

from spor_tasks.core.errors import ConfigError

# The errors of PyYAML for a bad value, such as `2024-13-01` or `!!bool maybe`.
_FAULTS = (yaml.YAMLError, ValueError, LookupError, AttributeError, TypeError, RecursionError)


def parse(text: str, where: str) -> Any:  # noqa: ANN401 - any YAML value
    """Return the content of a YAML text.

    Raises:
        ConfigError: it is not valid YAML.
    """
    try:
        return yaml.safe_load(text)
    except _FAULTS as error:
        raise ConfigError(f"is not valid YAML: {error}", where=where) from error
