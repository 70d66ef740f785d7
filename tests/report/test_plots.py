"""The plots: what each shows, and that names are only names."""

import re
from pathlib import Path

from spor_tasks import report
from spor_tasks.report.browser import browse
from spor_tasks.report.plots import Plot, draw
from tests.support.invented_runs import EVIL_MODEL
from tests.support.result_files import write_result


def plots_of(folder: Path) -> dict[str, Plot]:
    found = report.collect([folder])
    return {plot.name: plot for plot in draw(found.measured, browse(found.samples).outcomes)}


def words(plot: Plot) -> list[str]:
    """The texts of a plot; characters that XML must escape stay escaped."""
    return re.findall(r"<text[^>]*>([^<]*)</text>", plot.svg)


def test_plots_have_a_row_for_each_model_and_task(invented: Path) -> None:
    plots = plots_of(invented)
    assert list(plots) == ["gaps", "units", "categories"]
    for plot in plots.values():
        assert plot.png.startswith(b"\x89PNG\r\n\x1a\n")
        assert plot.svg.startswith("<?xml")
        assert "<image" not in plot.svg
        assert EVIL_MODEL not in plot.svg
    gaps, units = words(plots["gaps"]), words(plots["units"])
    assert {"Systematicity", "Order invariance", "as is"} <= set(gaps)
    assert sum("Faithful ordering PBH" in word for word in gaps) == 2
    assert sum(re.fullmatch(r"[+−]\d+\.\d\d[†‡]?", word) is not None for word in gaps) == 4
    assert "$\\frac" in "".join(gaps)
    assert "\u202e" not in "".join(gaps)
    assert sum(word.endswith("PARENT") for word in units) == 2  # of two models
    assert {"2", "3", "4"} <= set(units)
    blue, vermilion = (
        set(re.findall(rf'<use xlink:href="#(\w+)"[^>]*fill: {hue}', plots["units"].svg))
        for hue in ("#0072b2", "#d55e00")
    )
    assert min(len(blue), len(vermilion)) > 0
    assert blue.isdisjoint(vermilion)  # a hue has markers of its own


def test_one_arm_has_no_plot_and_arms_without_samples_have_that_of_gaps(tmp_path: Path) -> None:
    write_result(tmp_path / "results_atom.json", arm="atom", parent=40.0)
    assert plots_of(tmp_path) == {}
    write_result(tmp_path / "results_combination.json", arm="combination", parent=40.0)
    assert list(plots_of(tmp_path)) == ["gaps"]
