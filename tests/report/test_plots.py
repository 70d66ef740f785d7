"""The plots: what each shows, and that names are only names."""

import re
from pathlib import Path

import pytest

from spor_tasks import report
from spor_tasks.report.browser import browse
from spor_tasks.report.plots import Plot, draw
from tests.support.invented_runs import EVIL_MODEL
from tests.support.result_files import write_result

PNG = b"\x89PNG\r\n\x1a\n"


def plots_of(folder: Path) -> dict[str, Plot]:
    found = report.collect([folder])
    return {plot.name: plot for plot in draw(found.measured, browse(found.samples).outcomes)}


@pytest.fixture(scope="module")
def plots(invented: Path) -> dict[str, Plot]:
    return plots_of(invented)


def words(plot: Plot) -> list[str]:
    """The texts of a plot; characters that XML must escape stay escaped."""
    return re.findall(r"<text[^>]*>([^<]*)</text>", plot.svg)


def test_there_is_a_plot_of_each_question(plots: dict[str, Plot], tmp_path: Path) -> None:
    assert list(plots) == ["gaps", "units", "categories"]
    for plot in plots.values():
        assert plot.png.startswith(PNG)
        assert plot.svg.startswith("<?xml")
        assert "<image" not in plot.svg
    write_result(tmp_path / "results_atom.json", arm="atom", parent=40.0)
    assert plots_of(tmp_path) == {}  # a single arm
    write_result(tmp_path / "results_combination.json", arm="combination", parent=40.0)
    assert list(plots_of(tmp_path)) == ["gaps"]  # without samples


def test_plots_have_a_row_for_each_model_and_task(plots: dict[str, Plot]) -> None:
    text = words(plots["gaps"])
    assert {"Systematicity", "Order invariance", "as is"} <= set(text)
    assert sum("Faithful ordering PBH" in word for word in text) == 2
    assert sum(re.fullmatch(r"[+−]\d+\.\d\d[†‡]?", word) is not None for word in text) == 4
    text = words(plots["units"])
    assert sum(word.endswith("PARENT") for word in text) == 2  # of two models
    assert {"2", "3", "4"} <= set(text)


def test_each_hue_has_a_marker_of_its_own(plots: dict[str, Plot]) -> None:
    blue, vermilion = (
        set(re.findall(rf'<use xlink:href="#(\w+)"[^>]*fill: {hue}', plots["units"].svg))
        for hue in ("#0072b2", "#d55e00")
    )
    assert min(len(blue), len(vermilion)) > 0
    assert blue.isdisjoint(vermilion)


def test_a_model_s_name_is_a_name(plots: dict[str, Plot]) -> None:
    shown = "".join(words(plots["gaps"]))
    assert "$\\frac" in shown
    assert EVIL_MODEL not in "".join(plot.svg for plot in plots.values())
    assert "\u202e" not in shown
