"""The declaration of the tables that a report shows of a task's results."""

from typing import Literal

import msgspec


class Remark(msgspec.Struct, frozen=True, kw_only=True):
    """A text in a table's caption, with the captions of the task in place of names in braces."""

    text: str
    scores: tuple[str, ...] = ()
    """Patterns of scores, one of which the table must have; none is any table."""
    groups: tuple[str, ...] = ()
    """Groups of samples, one of which the table must have."""
    published: bool = False
    """Whether the table must have published rows."""
    pooled: bool = False
    """Whether the samples of several splits must be together."""


class Layout(msgspec.Struct, frozen=True, kw_only=True):
    """A table: which scores of a section are in it, in which order, and how they are headed.

    A section is the results of one aspect, corpus, protocol and way of asking. Each score of it is
    in the first table that takes it.
    """

    title: str = ""
    """What follows the title of the section."""
    lines: Literal["arm", "score"] = "arm"
    """What has a line of its own; the other one has columns."""
    parts: tuple[str, ...] = ()
    """The parts that are in it, in their order; empty is the one without a name, none are all."""
    part: str = "part"
    """The header of the parts, or in headers the part without a title."""
    by_part: Literal["together", "apart", "compared"] = "together"
    """Whether each part has its own table, or a table with all takes the scores once more."""
    order: Literal["declared", "given"] = "declared"
    """Whether scores stand as the task declares them, or as the first model has them."""
    scores: tuple[str, ...] = ()
    """The scores that it takes; none are all."""
    groups: tuple[str, ...] = ()
    """The groups of samples that it takes; none are all."""
    headers: dict[str, str] = {}
    """The headers of scores, or of scores of a part (``part.score``), in place of their labels."""
    columns: dict[str, str] = {}
    """The headers by group, in which ``{score}`` is that of the score."""
    published: bool = True
    """Whether it has published rows too."""
    remarks: tuple[Remark, ...] = ()
