"""Aspects and their values: which combinations of attributes a text may be asked to have.

The four published spaces are those of CompMCTG (Zhong et al., ACL 2024, Table 6). A value is also
the word that a model is given for it.
"""

import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

import yaml

from spor_tasks.core.errors import ConfigError

Combination: TypeAlias = tuple[str, ...]
"""One value of each aspect, in the order of the space."""


@dataclass(frozen=True, eq=False)
class Space:
    """Aspects and their values.

    Raises:
        ConfigError: there is no aspect, one has fewer than two values, or a value is there twice.
    """

    name: str
    aspects: Mapping[str, tuple[str, ...]]

    def __post_init__(self) -> None:
        if not self.aspects:
            raise ConfigError("has no aspect", where=self.name)
        for aspect, values in self.aspects.items():
            if len({*values}) < max(2, len(values)):
                raise ConfigError(
                    f"the aspect {aspect} needs two or more different values, and has "
                    f"{', '.join(values) or 'none'}",
                    where=self.name,
                )

    @cached_property
    def combinations(self) -> tuple[Combination, ...]:
        """All combinations, in order."""
        return tuple(itertools.product(*self.aspects.values()))

    def combination(self, values: Mapping[str, object], where: str) -> Combination:
        """Return the combination of a row's fields.

        Raises:
            ConfigError: an aspect is missing, or its value is not in the space.
        """
        for aspect, possible in self.aspects.items():
            if values.get(aspect) not in possible:
                raise ConfigError(
                    f"`{aspect}` must be one of {', '.join(possible)}, not {values.get(aspect)!r}",
                    where=where,
                )
        return tuple(str(values[aspect]) for aspect in self.aspects)

    def as_row(self, combination: Combination) -> dict[str, str]:
        """Return a combination as the published files have it: values by aspect."""
        return dict(zip(self.aspects, combination, strict=True))


_SENTIMENT = ("Negative", "Positive")
_TENSE = ("Present", "Past")

FYELP = Space(
    "fyelp",
    MappingProxyType(
        {
            "sentiment": _SENTIMENT,
            "gender": ("Female", "Male"),
            "cuisine": ("Asian", "American", "Mexican", "Bar", "dessert"),
            "tense": _TENSE,
        }
    ),
)
AMAZON = Space(
    "amazon",
    MappingProxyType(
        {
            "sentiment": _SENTIMENT,
            "topic": ("Books", "Clothing", "Music", "Electronics", "Movies", "Sports"),
        }
    ),
)
YELP = Space(
    "yelp",
    MappingProxyType({"sentiment": _SENTIMENT, "pronoun": ("plural", "singular"), "tense": _TENSE}),
)
MIXTURE = Space(
    "mixture",
    MappingProxyType(
        {"sentiment": _SENTIMENT, "topic_cged": ("movies", "opener", "tablets", "auto")}
    ),
)
PUBLISHED = (FYELP, AMAZON, YELP, MIXTURE)


class Request(NamedTuple):
    """What a YAML file of one's own describes: a space, and what is asked of it.

    Texts begin with one of ``beginnings``, and each is asked for ``repeats`` times; None is as
    published.
    """

    space: Space
    beginnings: tuple[str, ...] | None
    repeats: int | None


def read_space(path: Path) -> Space:
    """Return the space of :func:`read_request`."""
    return read_request(path).space


def read_request(path: Path) -> Request:
    """Return what a YAML file describes, under the name of the file.

    ``aspects`` has a list of values for each aspect; ``beginnings``, a list of texts, and
    ``repeats``, a number, may be left out.

    Raises:
        ConfigError: the file cannot be read, or is of another form.
    """
    content = _content(path)
    beginnings, repeats = content.get("beginnings"), content.get("repeats")
    if beginnings is not None:
        beginnings = _texts(beginnings, "beginnings", path)
        if not beginnings or len({*beginnings}) < len(beginnings):
            raise ConfigError("`beginnings` must be one or more different texts", where=path)
    if repeats is not None and (type(repeats) is not int or repeats < 1):
        raise ConfigError("`repeats` must be a whole number from 1 on", where=path)
    return Request(_space(content["aspects"], path), beginnings, repeats)


def _content(path: Path) -> dict[str, Any]:
    try:
        content = yaml.safe_load(path.read_text("utf-8"))
    except (OSError, UnicodeError, yaml.YAMLError) as error:
        raise ConfigError(f"cannot be read: {error}", where=path) from error
    if not isinstance(content, dict) or not isinstance(content.get("aspects"), dict):
        raise ConfigError(
            "does not describe aspects",
            where=path,
            remedy="Write `aspects:`, and under it each aspect with a list of its values.",
        )
    if unknown := [str(key) for key in content if key not in {"aspects", "beginnings", "repeats"}]:
        raise ConfigError(
            f"has the unknown key {', '.join(unknown)}",
            where=path,
            remedy="The keys are aspects, beginnings and repeats.",
        )
    return content


def _space(aspects: Mapping[object, object], path: Path) -> Space:
    for what, name in (("file", path.stem), *(("aspect", str(aspect)) for aspect in aspects)):
        if not _NAME.fullmatch(name):
            raise ConfigError(
                f"the {what} {name!r} has a name that no task or folder can have",
                where=path,
                remedy="Use letters, digits, - and _ only.",
            )
    values = {str(key): _texts(listed, f"aspects.{key}", path) for key, listed in aspects.items()}
    try:
        return Space(path.stem, values)
    except ConfigError as error:
        raise ConfigError(error.what, where=path, remedy=error.remedy) from error


_NAME = re.compile(r"[\w-]+", re.ASCII)


def _texts(values: object, key: str, path: Path) -> tuple[str, ...]:
    """Return a list of texts without blanks at their ends."""
    if not isinstance(values, list):
        raise ConfigError(f"`{key}` must be a list", where=path)
    for value in values:
        if not isinstance(value, str) or not value or value.strip() != value:
            raise ConfigError(
                f"`{key}` must hold texts without blanks at their ends, not {value!r}",
                where=path,
                remedy="Write numbers, yes, no, true and false in quotes.",
            )
    return tuple(values)
