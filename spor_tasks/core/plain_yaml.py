"""YAML configs: whatever makes a short text stand for a huge one is refused."""

from typing import Any, NoReturn

import yaml

from spor_tasks.core.errors import ConfigError

_DEEPEST = 50
_MOST_DIGITS = 1_000

# What PyYAML raises for a bad value, such as `2024-13-01` or `!!bool maybe`.
_FAULTS = (yaml.YAMLError, ValueError, LookupError, ArithmeticError, AttributeError, TypeError)


class PlainLoader(yaml.SafeLoader):
    """Refuses aliases (`*name`), more than 50 levels of nesting and more than 1,000 digits."""

    _depth = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:  # noqa: ANN401 - PyYAML's
        """Return the next node of the document.

        Raises:
            ConfigError: the node is an alias, or is nested too deeply.
        """
        event = self.peek_event()  # type: ignore[no-untyped-call]
        if isinstance(event, yaml.AliasEvent):
            _refuse("an alias is not allowed", event, "Write out what it stands for.")
        if self._depth == _DEEPEST:
            _refuse(f"more than {_DEEPEST} levels of nesting are not allowed", event)
        self._depth += 1
        node: yaml.Node | None = super().compose_node(parent, index)
        self._depth -= 1
        return node


def _integer(loader: PlainLoader, node: yaml.ScalarNode) -> int:
    if len(node.value) > _MOST_DIGITS:
        _refuse(f"a number of {len(node.value):,} digits is not allowed", node)
    return loader.construct_yaml_int(node)


PlainLoader.add_constructor("tag:yaml.org,2002:int", _integer)


def _refuse(what: str, place: Any, remedy: str | None = None) -> NoReturn:  # noqa: ANN401 - has a mark
    raise ConfigError(f"line {place.start_mark.line + 1}: {what}", remedy=remedy)


def parse(text: str, where: str, loader: type[PlainLoader] = PlainLoader) -> Any:  # noqa: ANN401 - any YAML value
    """Return the content of a YAML text.

    Raises:
        ConfigError: it is not valid YAML, or has something that :class:`PlainLoader` refuses.
    """
    try:
        return yaml.load(text, Loader=loader)  # noqa: S506 - a SafeLoader
    except ConfigError as error:
        raise ConfigError(error.what, where=where, remedy=error.remedy) from error
    except _FAULTS as error:
        raise ConfigError(f"is not valid YAML: {error}", where=where) from error
