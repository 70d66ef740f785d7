"""YAML that people write, read with errors that name the file."""

from typing import Any

import yaml
from yaml.composer import ComposerError

from spor_tasks.core.errors import ConfigError

# The errors of PyYAML for a bad value, such as `2024-13-01`, `!!bool maybe` or a date in year 0.
_FAULTS = (
    *(yaml.YAMLError, ValueError, LookupError, AttributeError, TypeError),
    *(RecursionError, ArithmeticError),
)

_MOST_VALUES = 100_000
_LONGEST_NUMBER = 100  # in characters; one of many digits, or sixtieths, takes minutes to read
_NUMBERS = {f"tag:yaml.org,2002:{name}" for name in ("int", "float", "timestamp")}


class _Loader(yaml.SafeLoader):
    """Reads no more than stands in the file: no aliases, and no key twice."""

    values = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]
        self.values += 1
        node = None
        if isinstance(event, yaml.AliasEvent):
            fault = "it has an alias: write out the values that it stands for"
        elif self.values > _MOST_VALUES:
            fault = f"it has {self.values:,} values, more than {_MOST_VALUES:,}"
        else:
            node = super().compose_node(parent, index)
            if not (node and node.tag in _NUMBERS and len(node.value) > _LONGEST_NUMBER):
                return node
            fault = f"it has a number of more than {_LONGEST_NUMBER} characters"
        raise ComposerError(None, None, fault, event.start_mark)

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        node: yaml.MappingNode = super().compose_mapping_node(anchor)
        names: set[str] = set()
        for key in (key for key, _ in node.value if isinstance(key, yaml.ScalarNode)):
            if key.value in names:
                raise ComposerError(None, None, f"it has {key.value!r} twice", key.start_mark)
            names.add(key.value)
        return node


def parse(text: str, where: str) -> Any:
    """Return the content of a YAML text.

    Raises:
        ConfigError: it is not valid YAML, has an alias, a key twice or a number without end, or has
            too many values.
    """
    try:
        return yaml.load(text, _Loader)  # noqa: S506 - a SafeLoader
    except _FAULTS as error:
        raise ConfigError(f"is not valid YAML: {error}", where=where) from error
