"""Settings: read strictly from YAML and `key=value`, checked by pydantic, written as YAML.

A class of settings is a frozen pydantic dataclass with :data:`CLOSED` and strict scalars. A file
may leave out keys that have defaults and must have no unknown keys, and every value must have the
type that the class declares.
"""

import difflib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import is_dataclass
from functools import cache
from types import NoneType
from typing import Annotated, Any, TypeVar, get_args, get_type_hints

import yaml
from pydantic import BeforeValidator, ConfigDict, Field, StrictInt, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from spor_tasks.core import plain_yaml
from spor_tasks.core.errors import ConfigError

CLOSED = ConfigDict(extra="forbid")
"""pydantic's options for all settings. They take text as a path, a list as a tuple and a mapping as
a section; numbers and truth values have strict types."""

COMMAND_LINE = "command line"
"""The name of the command line in errors about an override."""

_Settings = TypeVar("_Settings")


def _not_empty(value: object) -> object:
    if value == "":
        raise PydanticCustomError("empty", "Input should not be empty")
    return value


Count = Annotated[StrictInt, Field(ge=1)]
NotEmpty = BeforeValidator(_not_empty)

# --- YAML, strictly -------------------------------------------------------------------------------
# PyYAML reads YAML 1.1, where `yes` is true, `010` is eight and `1e-3` is text. This loader reads
# the scalars of YAML 1.2's core schema, in their plain spellings.

_FLOAT = re.compile(
    r"[-+]?(?:(?:\.[0-9]+|[0-9]+\.[0-9]*)(?:[eE][-+]?[0-9]+)?|[0-9]+[eE][-+]?[0-9]+)$"
)
_JSON_TAGS = ("null", "bool", "int", "float", "str", "seq", "map")


class _Loader(yaml.SafeLoader):
    yaml_implicit_resolvers: dict[str | None, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 - PyYAML's way
    yaml_constructors = {  # noqa: RUF012 - as above
        tag: construct
        for tag, construct in yaml.SafeLoader.yaml_constructors.items()
        if tag is None or tag.rpartition(":")[2] in _JSON_TAGS
    }

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:  # noqa: FBT001, FBT002 - PyYAML's signature
        mapping = super().construct_mapping(node, deep=deep)
        if len(mapping) < len(node.value):
            raise yaml.constructor.ConstructorError(
                None, None, "a section has the same key twice", node.start_mark
            )
        return mapping


class _Dumper(yaml.SafeDumper):
    """Quotes text that some YAML version would read as another type."""


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
    """Return the value of a YAML text, by the plain spellings of YAML 1.2's core schema.

    Equal texts give the same object, which must not be changed.

    Raises:
        ConfigError: it is not valid YAML, or has a key twice.
    """
    return plain_yaml.parse(text, where, _Loader)


def dump_settings(settings: object) -> str:
    """Return the settings as YAML that is read back equal."""
    return yaml.dump(to_dict(settings), Dumper=_Dumper, sort_keys=False)


# --- Checking -------------------------------------------------------------------------------------


def to_dict(settings: Any) -> dict[str, Any]:  # noqa: ANN401 - of any class
    """Return the settings as values of JSON and YAML, with the keys of a file."""
    plain: dict[str, Any] = TypeAdapter(type(settings)).dump_python(settings, mode="json")
    return plain


def keys(kind: type) -> tuple[str, ...]:
    """Return every dotted key, in the order of the classes."""
    return tuple(key for key in _hints(kind) if "[]" not in key)


def read_settings(
    kind: type[_Settings], document: object, where: str, overrides: Iterable[str] = ()
) -> _Settings:
    """Return the content of a document as settings of this kind.

    ``overrides`` are ``key=value`` settings with dotted keys and values in YAML; they override the
    document's.

    Raises:
        ConfigError: a key is unknown or missing, or a value has the wrong type or is out of range;
            the error names the key, the value, and the file or the command line.
    """
    given = set()
    for override in overrides:
        key, equals, value = override.partition("=")
        if not equals:
            raise ConfigError(
                f"{override!r} is not a setting", where=COMMAND_LINE, remedy="Write key=value."
            )
        if key not in keys(kind):
            raise _unknown(key, kind, COMMAND_LINE)
        given.add(key)
        document = _with(document, key.split("."), read_yaml(value, f"{COMMAND_LINE}: {key}"))
    try:
        settings = TypeAdapter(kind).validate_python(document)
    except ValidationError as error:
        raise _refusal(error.errors(include_url=False), document, kind, where, given) from error
    except ConfigError as error:  # from a rule about several keys
        raise ConfigError(error.what, where=where, remedy=error.remedy) from error
    return settings


def _with(document: object, path: Sequence[str], value: object) -> object:
    """Return the document with another value under a path of keys."""
    if not path:
        return value
    if not isinstance(document, dict):
        return document  # not a mapping, which pydantic will report
    return {**document, path[0]: _with(document.get(path[0], {}), path[1:], value)}


# --- Saying what is wrong -------------------------------------------------------------------------

# Plain words in place of pydantic's own.
_WORDS: Mapping[str, str] = {
    "bool_type": "must be true or false",
    "int_type": "must be an integer",
    "float_type": "must be a number",
    "string_type": "must be text",
    "string_unicode": "must be text in Unicode",
    "path_type": "must be a path",
    "tuple_type": "must be a list",
    "dict_type": "must be a mapping",
    "dataclass_type": "must be a mapping",
}
_UNKNOWN = ("unexpected_keyword_argument", "invalid_key")


def _refusal(
    faults: Sequence[ErrorDetails], document: object, kind: type, where: str, given: Iterable[str]
) -> ConfigError:
    """Return an error about the most deeply nested fault, which says most."""
    by_key: dict[str, list[ErrorDetails]] = {}
    for fault in faults:
        by_key.setdefault(_key(fault, document), []).append(fault)
    # Of two faults at one depth, a wrong value goes before a missing one.
    depth = {key: len(re.findall(r"[.\[]", key)) for key in by_key}
    key = max(by_key, key=lambda key: (depth[key], by_key[key][0]["type"] != "missing"))
    fault = by_key[key][0]
    if any(re.match(rf"{re.escape(name)}\b", key) for name in given):
        where = COMMAND_LINE
    if fault["type"] in _UNKNOWN:
        return _unknown(key, kind, where)
    if fault["type"] == "missing":
        first_of_section = (name for name in keys(kind) if name.startswith(f"{key}."))
        lacking = next(first_of_section, key)
        return ConfigError(f"lacks the key {lacking}", where=where, remedy=f"Add {lacking}.")
    words = [_WORDS.get(f["type"]) or re.sub(r"^\w+ should", "must", f["msg"]) for f in by_key[key]]
    if NoneType in get_args(_hints(kind).get(_of_any_item(key))):
        words.append("null")
    first, *others = dict.fromkeys(words)
    options = " or ".join([first, *(word.removeprefix("must be ") for word in others)])
    value = fault["input"]
    shown = json.dumps(value) if value is None or isinstance(value, bool) else repr(value)
    return ConfigError(f"{key} {options}, not {shown}".lstrip(), where=where)


def _key(fault: ErrorDetails, document: Any) -> str:  # noqa: ANN401 - any YAML value
    """Return the dotted key of a fault, without the options that pydantic adds to it."""
    key = ""
    for part in fault["loc"]:
        if isinstance(part, int) and isinstance(document, list):
            key, document = f"{key}[{part}]", document[part]
        elif isinstance(document, dict) and part in document:
            key, document = f"{key}.{part}", document[part]
    if fault["type"] == "missing":
        key = f"{key}.{fault['loc'][-1]}"
    return key.removeprefix(".")


def _unknown(key: str, kind: type, where: str) -> ConfigError:
    return ConfigError(f"unknown key {key!r}", where=where, remedy=_suggestion(key, kind))


def _suggestion(key: str, kind: type) -> str:
    """Return a remedy that names the key that was probably meant, or all keys."""
    item = "".join(key.rpartition("].")[:2])  # of a list, `sets[0].`
    rest, pattern = key.removeprefix(item), _of_any_item(item)
    of_item = (name.removeprefix(pattern) for name in _hints(kind) if name.startswith(pattern))
    known = [name for name in of_item if "[]" not in name]
    by_name = {name.rpartition(".")[2]: name for name in known}
    names = difflib.get_close_matches(rest.rpartition(".")[2], by_name, n=1)
    meant = difflib.get_close_matches(rest, known, n=1) or [by_name[name] for name in names]
    of_section = [name for name in known if name.startswith(f"{rest}.")]
    if meant and not of_section:
        return f"Did you mean {item}{meant[0]}?"
    return f"The keys are {', '.join(item + name for name in of_section or known)}."


def _of_any_item(key: str) -> str:
    """Return the key as in :func:`_hints`, which has `[]` for any item of a list."""
    return re.sub(r"\[\d+\]", "[]", key)


@cache
def _hints(kind: type) -> Mapping[str, Any]:
    """Return each dotted key of a class of settings with its annotation."""
    return dict(_leaves(kind, ""))


def _leaves(kind: Any, prefix: str) -> Iterator[tuple[str, Any]]:  # noqa: ANN401 - a class
    for name, hint in get_type_hints(kind).items():
        if is_dataclass(hint):
            yield from _leaves(hint, f"{prefix}{name}.")
            continue
        yield prefix + name, hint
        for item in _classes(hint):
            yield from _leaves(item, f"{prefix}{name}[].")


def _classes(hint: Any) -> Iterator[Any]:  # noqa: ANN401 - an annotation
    for part in get_args(hint):
        yield from [part] if is_dataclass(part) else _classes(part)
