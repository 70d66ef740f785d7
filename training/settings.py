"""Settings: read from YAML and `key=value`, checked by pydantic, written as YAML."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Annotated, Any, TypeVar, get_args

import yaml
from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from spor_tasks.core import plain_yaml
from spor_tasks.core.errors import ConfigError, advice
from spor_tasks.core.files import FileContent
from spor_tasks.core.manual import page

CLOSED = ConfigDict(extra="forbid", coerce_numbers_to_str=True)
"""pydantic's options for all settings: no unknown keys. Text may stand for a number, as PyYAML
reads ``1e-4`` as text, and a number for text, as in ``part: 3``."""

Count = Annotated[int, Field(ge=1)]
Threads = Annotated[int, Field(ge=1, le=1024)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
NotNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
NotEmpty = Annotated[str, Field(min_length=1)]

LISTS = f"{page('train')} names the lists of keys."
"""What to read where a setting is wrong."""

_Settings = TypeVar("_Settings")


@cache  # the cells of an experiment share most of their settings
def read_yaml(text: str, where: str) -> Any:
    """Return the value of a YAML text; equal texts give the same object, not to be changed.

    Raises:
        ConfigError: it is not valid YAML.
    """
    return plain_yaml.parse(text, where)


def to_dict(settings: object, exclude: Any = None) -> FileContent:
    """Return the settings as a file has them, without the keys that pydantic should exclude."""
    plain: FileContent = TypeAdapter(type(settings)).dump_python(
        settings, mode="json", exclude=exclude
    )
    return plain


def dump_settings(settings: object) -> str:
    """Return the settings as YAML that is read back equal."""
    return yaml.safe_dump(to_dict(settings), sort_keys=False)


def read_settings(
    kind: type[_Settings], document: object, where: str, overrides: Iterable[str] = ()
) -> _Settings:
    """Return the content of a document as settings of this kind.

    ``overrides`` are ``key=value`` settings with dotted keys and values in YAML; they override the
    document's.

    Raises:
        ConfigError: a key is unknown or missing, or a value has the wrong type or is out of range.
    """
    for override in overrides:
        key, equals, value = override.partition("=")
        if not equals:
            raise ConfigError(
                f"{override!r} is not a setting", where="command line", remedy="Write key=value."
            )
        document = _with(document, key.split("."), read_yaml(value, f"command line: {key}"))
    try:
        return TypeAdapter(kind).validate_python(document)
    except ValidationError as error:
        faults, unknown = [], list[str]()
        for fault in error.errors(include_url=False, include_context=False):
            key, what = ".".join(map(str, fault["loc"])), fault["msg"]
            if fault["type"] == "unexpected_keyword_argument":
                unknown.append(key)
                what = "there is no such setting"
            faults.append(f"{key}: {what}")
        remedy = advice(unknown[0], names_of(kind), LISTS) if unknown else LISTS
        raise ConfigError("; ".join(faults), where=where, remedy=remedy) from error
    except ConfigError as error:  # from a rule about several keys
        what = f"{error.where}: {error.what}" if error.where else error.what
        raise ConfigError(what, where=where, remedy=error.remedy) from error


def names_of(kind: Any, prefix: str = "") -> Iterator[str]:
    """Yield the dotted names of all settings of a kind; items of a list have no number."""
    if is_dataclass(kind):
        for each in fields(kind):
            yield f"{prefix}{each.name}"
            yield from names_of(each.type, f"{prefix}{each.name}.")
    for part in get_args(kind):
        yield from names_of(part, prefix)


def _with(document: object, path: Sequence[str], value: object) -> object:
    """Return the document with another value under a path of keys."""
    if not path:
        return value
    if not isinstance(document, dict):
        return document  # not a mapping, which pydantic will report
    return {**document, path[0]: _with(document.get(path[0], {}), path[1:], value)}
