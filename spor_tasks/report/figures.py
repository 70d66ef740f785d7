"""Colours, helpers for axes, and pictures of figures: the parts that all plots share.

Each hue (Okabe and Ito's) goes with a marker of its own. Equal figures are equal bytes.
"""

import io
from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from spor_tasks.core.contracts import SetSpec
from spor_tasks.core.visible import visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, SOFT, PAPER = "#111111", "#666666", "#ffffff"
"""The neutral colours, as in `figures.mplstyle`; a page may put its own in their place."""

BLUE, VERMILION = "#0072b2", "#d55e00"
_GRAY = "#999999"

_NAME = 30  # characters of a model's name


@dataclass(frozen=True, slots=True)
class Plot:
    """One picture: a file name without its ending, what it shows, and the picture twice."""

    name: str
    title: str
    caption: str
    svg: str
    png: bytes

    @property
    def files(self) -> dict[str, str | bytes]:
        """The picture as files, by name."""
        return {f"{self.name}.svg": self.svg, f"{self.name}.png": self.png}


class Look(NamedTuple):
    """How an arm looks in every plot, and how far its points are shifted from their row.

    Points are filled with their colour or another one.
    """

    color: str
    marker: str
    shift: float = 0.0
    fill: str = ""


LOOKS = (Look(BLUE, "o", -0.1), Look(VERMILION, "s", 0.1))
"""Of the arms, in order."""

AS_IS = Look(_GRAY, "D")


def drawing() -> AbstractContextManager[None]:
    """Return the context in which figures are drawn, whatever a user's matplotlibrc says."""
    import matplotlib as mpl  # noqa: PLC0415 - optional, and half a second

    return mpl.rc_context(fname=Path(__file__).with_name("figures.mplstyle"))


def look_of(spec: SetSpec, arm: str | None) -> Look:
    """Return the look of an arm, or of a model as it is."""
    return LOOKS[spec.arms.index(arm)] if arm in spec.arms else AS_IS


def figure_of(width: float, height: float) -> "Figure":
    """Return an empty figure; sizes are in inches."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - optional

    return Figure(figsize=(width, height), layout="constrained")


def without_frame(axes: "Axes") -> None:
    """Leave names alone at the left of the axes."""
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)


def explain(figure: "Figure", looks: Iterable[tuple[Look, str]]) -> None:
    """Explain the looks above the axes."""
    from matplotlib.lines import Line2D  # noqa: PLC0415 - optional

    handles = [
        Line2D([], [], color=look.color, marker=look.marker, linestyle="none", label=label)
        for look, label in looks
    ]
    figure.legend(
        handles=handles,
        loc="outside upper left",
        ncols=len(handles),
        handletextpad=0.3,
        columnspacing=1.2,
    )


def plot_of(figure: "Figure", name: str, title: str, caption: str) -> Plot:
    """Return the figure as pictures, without time and versions in them."""
    svg, png = io.StringIO(), io.BytesIO()
    figure.savefig(svg, format="svg", metadata={"Date": None, "Creator": None})
    figure.savefig(png, format="png", dpi=200, metadata={"Software": None})
    return Plot(name, title, caption, svg.getvalue(), png.getvalue())


def short(name: str) -> str:
    """Return a model's name, made harmless and short; of a path, the end."""
    text = visible(name)
    return text if len(text) <= _NAME else f"…{text[-_NAME:]}"


def words(*parts: str | None) -> str:
    """Return what there is of some words, made harmless."""
    return " · ".join(visible(word) for word in parts if word)
