"""Aspects and their values: which combinations of attributes a text may be asked to have.

The four published spaces are those of CompMCTG (Zhong et al., ACL 2024, Table 6), in `spaces.toml`.
A value is also the word that a model is given for it.
"""

import itertools
import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, NamedTuple, TypeAlias

import msgspec
from msgspec import Meta

from spor_tasks.core.errors import ConfigError, CorpusError
from spor_tasks.core.files import read_text
from spor_tasks.core.plain_yaml import parse

Combination: TypeAlias = tuple[str, ...]
"""One value of each aspect, in the order of the space."""

MOST_COMBINATIONS = 10_000
"""The most combinations of a space, all of which are held in memory; the largest has 120."""


@dataclass(frozen=True, eq=False)
class Space:
    """Aspects and their values.

    Raises:
        ValueError: there are no aspects, one has fewer than two different values, or there are more
            than :data:`MOST_COMBINATIONS`.
    """

    name: str
    aspects: Mapping[str, tuple[str, ...]]

    def __post_init__(self) -> None:
        if not self.aspects:
            raise ValueError(f"{self.name} has no aspects")
        for aspect, values in self.aspects.items():
            if len({*values}) < max(2, len(values)):
                listed = ", ".join(values) or "none"
                raise ValueError(f"{aspect} needs two or more different values, and has {listed}")
        if (number := math.prod(map(len, self.aspects.values()))) > MOST_COMBINATIONS:
            raise ValueError(f"{number:,} combinations are more than {MOST_COMBINATIONS:,}")

    @cached_property
    def combinations(self) -> tuple[Combination, ...]:
        """All combinations, in order."""
        return tuple(itertools.product(*self.aspects.values()))

    def combination(self, values: Mapping[str, object], where: str) -> Combination:
        """Return the combination of a row's fields.

        Raises:
            CorpusError: an aspect is missing, or its value is not in the space.
        """
        for aspect, possible in self.aspects.items():
            if values.get(aspect) not in possible:
                raise CorpusError(
                    f"`{aspect}` must be one of {', '.join(possible)}, not {values.get(aspect)!r}",
                    where=where,
                )
        return tuple(str(values[aspect]) for aspect in self.aspects)

    def as_row(self, combination: Combination) -> dict[str, str]:
        """Return a combination as the published files have it: values by aspect."""
        return dict(zip(self.aspects, combination, strict=True))


_SPACES = tomllib.loads(Path(__file__).with_name("spaces.toml").read_text("utf-8"))
PUBLISHED = tuple(
    Space(name, aspects)
    for name, aspects in msgspec.convert(_SPACES, dict[str, dict[str, tuple[str, ...]]]).items()
)
FYELP, AMAZON, YELP, MIXTURE = PUBLISHED


class SpaceRequest(NamedTuple):
    """A space and the texts to ask for, as a YAML file of one's own describes them.

    Texts begin with one of ``beginnings``, and each is requested ``repeats`` times; None is as
    published.
    """

    space: Space
    beginnings: tuple[str, ...] | None
    repeats: int | None


class _SpaceFile(msgspec.Struct, forbid_unknown_fields=True):
    aspects: dict[str, tuple[str, ...]]
    beginnings: Annotated[tuple[str, ...], Meta(min_length=1)] | None = None
    repeats: Annotated[int, Meta(ge=1)] | None = None


def read_space(path: Path) -> Space:
    """Return the space of :func:`read_request`."""
    return read_request(path).space


def read_request(path: Path) -> SpaceRequest:
    """Return the space and the texts that a YAML file describes, under the name of the file.

    ``aspects`` has a list of values for each aspect; ``beginnings``, a list of texts, and
    ``repeats``, a number, may be left out.

    Raises:
        ConfigError: the file cannot be read, or is of another form.
    """
    try:
        content = msgspec.convert(parse(read_text(path), str(path)), _SpaceFile)
        _check_texts(path.stem, content)
        space = Space(path.stem, content.aspects)
    except ValueError as error:
        raise ConfigError(f"is not a space: {error}", where=path, remedy=_REMEDY) from error
    return SpaceRequest(space, content.beginnings, content.repeats)


def _check_texts(name: str, content: _SpaceFile) -> None:
    beginnings = content.beginnings or ()
    texts = [*beginnings, *(value for values in content.aspects.values() for value in values)]
    if unfit := [each for each in (name, *content.aspects) if not _NAME.fullmatch(each)]:
        raise ValueError(f"{unfit[0]!r} cannot be the name of a task or folder")
    if len({*beginnings}) < len(beginnings):
        raise ValueError("`beginnings` must differ")
    if unfit := [text for text in texts if not text or text.strip() != text]:
        raise ValueError(f"texts must have no blanks at their ends: {unfit[0]!r}")


_NAME = re.compile(r"[\w-]+", re.ASCII)
_REMEDY = (
    "Write `aspects:` and under it each aspect, with a list of two or more different values. The "
    "other keys are `beginnings`, a list, and `repeats`, a number. Names have letters, digits, - "
    "and _ only. Write numbers, yes, no, true and false in quotes."
)
