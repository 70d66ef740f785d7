"""Aspects and their values: which combinations of attributes a text may be asked to have.

The four published spaces are those of CompMCTG (Zhong et al., ACL 2024, Table 6). A value is also
the word that a model is given for it.
"""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TypeAlias

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
        for aspect, known in self.aspects.items():
            if values.get(aspect) not in known:
                raise ConfigError(
                    f"`{aspect}` must be one of {', '.join(known)}, not {values.get(aspect)!r}",
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


def read_space(path: Path) -> Space:
    """Return the space that a YAML file describes: ``aspects`` with the values of each.

    Raises:
        ConfigError: the file cannot be read, or is of another form.
    """
    try:
        content = yaml.safe_load(path.read_text("utf-8"))
        aspects = {
            str(aspect): tuple(map(str, values)) for aspect, values in content["aspects"].items()
        }
    except (OSError, UnicodeError, yaml.YAMLError) as error:
        raise ConfigError(f"cannot be read: {error}", where=path) from error
    except (AttributeError, KeyError, TypeError) as error:
        raise ConfigError(
            "does not describe aspects",
            where=path,
            remedy="Write `aspects:`, and under it each aspect with a list of its values.",
        ) from error
    return Space(path.stem, aspects)
