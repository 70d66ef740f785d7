"""Settings with types, read from YAML without guessing: dataclasses say what there is.

A file may leave out every key that has a default, may hold no other key, and every value must have
the type written in the class: nothing is taken for something else.
"""

import difflib
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import MISSING, asdict, fields, is_dataclass
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import yaml

from spor_tasks.core import plain_yaml
from spor_tasks.core.errors import ConfigError

# --- YAML, strictly -------------------------------------------------------------------------------
# PyYAML reads YAML 1.1, where `yes` is true, `010` is eight and `1e-3` is text. The loader below
# knows the scalars of YAML 1.2's core schema, in their plain spellings.

_FLOAT = re.compile(
    r"[-+]?(?:(?:\.[0-9]+|[0-9]+\.[0-9]*)(?:[eE][-+]?[0-9]+)?|[0-9]+[eE][-+]?[0-9]+)$"
)


class _Loader(plain_yaml.PlainLoader):
    yaml_implicit_resolvers: dict[str | None, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 - PyYAML's way

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:  # noqa: FBT001, FBT002 - PyYAML's signature
        mapping = super().construct_mapping(node, deep=deep)
        if len(mapping) < len(node.value):
            raise yaml.constructor.ConstructorError(
                None, None, "a key stands twice in one section", node.start_mark
            )
        return mapping


class _Dumper(yaml.SafeDumper):
    """Quotes what any YAML version would take for something else than text."""


for _tag, _pattern, _first in (
    ("null", re.compile(r"(?:~|null|)$"), ["~", "n", ""]),
    ("bool", re.compile(r"(?:true|false)$"), list("tf")),
    ("int", re.compile(r"[-+]?(?:0|[1-9][0-9]*)$"), list("-+0123456789")),
    ("float", _FLOAT, list("-+.0123456789")),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", _pattern, _first)
_Dumper.add_implicit_resolver("tag:yaml.org,2002:float", _FLOAT, list("-+.0123456789"))


@cache  # the cells of an experiment share most of their settings
def read_yaml(text: str, where: str) -> Any:  # noqa: ANN401 - any YAML value
    """Return what the text holds, by the plain spellings of YAML 1.2's core schema.

    Equal texts give the same object, which nobody may change.

    Raises:
        ConfigError: it is not valid YAML, has a key twice, or holds what
            :class:`~spor_tasks.core.plain_yaml.PlainLoader` does not take.
    """
    return plain_yaml.parse(text, where, _Loader)


def dump(config: object) -> str:
    """Return the settings as YAML that is read back equal."""
    return yaml.dump(to_dict(config), Dumper=_Dumper, sort_keys=False)


def to_dict(config: Any) -> dict[str, Any]:  # noqa: ANN401 - any dataclass
    """Return the settings as JSON and YAML can hold them, in the shape of a file."""
    plain: dict[str, Any] = _plain(asdict(config))
    return plain


COMMAND_LINE = "command line"
"""What errors call the place of an override."""

# --- Typed settings -------------------------------------------------------------------------------

_Config = TypeVar("_Config")


@cache  # every key of every cell of an experiment asks
def _hints(section: Any) -> dict[str, Any]:  # noqa: ANN401 - a dataclass
    return get_type_hints(section)


def leaves(section: type, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each dotted key of a section with its annotation."""
    for name, hint in _hints(section).items():
        if is_dataclass(hint):
            yield from leaves(hint, f"{prefix}{name}.")  # type: ignore[arg-type]
        else:
            yield prefix + name, hint


def flatten(
    section: type, mapping: Mapping[Any, Any], where: str, prefix: str = ""
) -> Iterator[tuple[str, Any]]:
    """Yield each setting of a file under its dotted key.

    Raises:
        ConfigError: a value stands where keys and values belong.
    """
    hints = _hints(section)
    for name, value in mapping.items():
        key = f"{prefix}{name}"
        hint = hints.get(name)
        if not is_dataclass(hint):
            yield key, value
        elif isinstance(value, dict):
            yield from flatten(hint, value, where, f"{key}.")  # type: ignore[arg-type]
        else:
            raise ConfigError(f"{key} must hold keys and values, not {show(value)}", where=where)


def checked(section: type, key: str, value: object, where: str, prefix: str = "") -> Any:  # noqa: ANN401 - the key's type
    """Return the value of a dotted key as the type that the section has for it.

    Raises:
        ConfigError: there is no such key, or the value has another type.
    """
    hints = dict(leaves(section, prefix))
    if key not in hints:
        raise ConfigError(f"unknown key {key!r}", where=where, remedy=_suggest(key, list(hints)))
    try:
        return _fit(value, hints[key], where, key)
    except TypeError:
        raise ConfigError(
            f"{key} must be {_describe(hints[key])}, not {show(value)}", where=where
        ) from None


def _suggest(key: str, known: list[str]) -> str:
    """Name the key that was probably meant, which may only lack its section, or those there are."""
    by_name = {name.rpartition(".")[2]: name for name in known}
    names = difflib.get_close_matches(key.rpartition(".")[2], by_name, n=1)
    keys = difflib.get_close_matches(key, known, n=1) or [by_name[name] for name in names]
    of_section = [name for name in known if name.startswith(f"{key}.")]
    if keys and not of_section:
        return f"Did you mean {keys[0]}?"
    return f"The keys are {', '.join(of_section or known)}."


def _fit(value: object, hint: Any, where: str, key: str) -> Any:  # noqa: ANN401 - an annotation, and what it stands for
    """Return the value as the annotated type.

    Raises:
        TypeError: it is of another type; only an integer may stand for a float, text for a path.
        ConfigError: something in a section of a list is wrong.
    """
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        for option in get_args(hint):
            with suppress(TypeError):
                return _fit(value, option, where, key)
    if origin is Literal and value in get_args(hint):
        return value
    if origin is tuple and isinstance(value, list):
        item_hint = get_args(hint)[0]
        return tuple(
            _fit(item, item_hint, where, f"{key}[{number}]") for number, item in enumerate(value)
        )
    if origin is Mapping and isinstance(value, dict):
        names, values = get_args(hint)
        return {
            _fit(name, names, where, key): _fit(item, values, where, f"{key}.{name}")
            for name, item in value.items()
        }
    if is_dataclass(hint) and isinstance(value, dict):
        return read(hint, value, where, f"{key}.")  # type: ignore[arg-type]
    return _fit_scalar(value, hint)


def _fit_scalar(value: object, hint: Any) -> Any:  # noqa: ANN401 - as above
    # bool is an int to isinstance, but not to type
    if type(value) is hint:
        return value
    if hint is float and type(value) is int and abs(value) <= sys.float_info.max:
        return float(value)
    if hint is Path and isinstance(value, str) and value:
        return Path(value)
    raise TypeError


_WORDS = {
    bool: "true or false",
    int: "an integer",
    float: "a number",
    str: "text",
    Path: "a path",
    NoneType: "null",
}


def _describe(hint: Any) -> str:  # noqa: ANN401 - an annotation
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        return " or ".join(_describe(option) for option in get_args(hint))
    if origin is Literal:
        return " or ".join(get_args(hint))
    if origin is tuple:
        return "a list of texts" if get_args(hint)[0] is str else "a list"
    return _WORDS.get(hint, "keys and values")


def show(value: object) -> str:
    """Return the value as a config file would spell it."""
    return json.dumps(value) if value is None or isinstance(value, bool) else repr(value)


def assemble(section: type[_Config], settings: Mapping[str, Any], prefix: str = "") -> _Config:
    """Build a section out of checked settings.

    Raises:
        ConfigError: a key without a default is missing, or a value is out of range.
    """
    hints = _hints(section)  # type: ignore[arg-type]
    values = {}
    for entry in fields(section):  # type: ignore[arg-type]
        key = prefix + entry.name
        if is_dataclass(hints[entry.name]):
            values[entry.name] = assemble(hints[entry.name], settings, f"{key}.")
        elif key in settings:
            values[entry.name] = settings[key]
        elif entry.default is entry.default_factory is MISSING:
            raise ConfigError(f"lacks the key {key}")
    return section(**values)


def read(
    section: type[_Config],
    document: object,
    where: str,
    prefix: str = "",
    overrides: Iterable[str] = (),
) -> _Config:
    """Build a section, with those in it and in its lists, out of what a file holds.

    ``overrides`` are ``key=value`` settings with dotted keys that go before the file's.

    Raises:
        ConfigError: a key is unknown or missing, or a value has the wrong type or is out of range;
            the error names the key and where it stands.
    """
    if not isinstance(document, dict):
        raise ConfigError(f"must hold keys and values, not {show(document)}", where=where)
    settings = {
        key: checked(section, key, value, where, prefix)
        for key, value in flatten(section, document, where, prefix)
    }
    for override in overrides:
        key, equals, value = override.partition("=")
        if not equals:
            raise ConfigError(
                f"{override!r} is no setting", where=COMMAND_LINE, remedy="Write key=value."
            )
        given = read_yaml(value, f"{COMMAND_LINE}: {key}")
        settings[key] = checked(section, key, given, COMMAND_LINE)
    try:
        return assemble(section, settings, prefix)
    except ConfigError as error:
        raise ConfigError(error.what, where=where, remedy=error.remedy) from error


def _plain(value: Any) -> Any:  # noqa: ANN401 - any setting
    match value:
        case dict():
            return {key: _plain(item) for key, item in value.items()}
        case tuple():
            return [_plain(item) for item in value]
        case Path():
            return str(value)
        case _:
            return value
