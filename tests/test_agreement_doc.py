"""The table of docs/metrics.md on human judgements is what docs/agreement.py computes."""

import re
import runpy
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY

PAGE = (REPOSITORY / "docs" / "metrics.md").read_text("utf-8")
SECTION = PAGE.partition("## What agrees with people\n")[2].partition("\n## ")[0]
CELLS = {
    metric: [*map(str.strip, cells.split("|"))]
    for metric, cells in re.findall(r"^\| `(\w+)` \|(.*)\|$", SECTION, re.MULTILINE)
}


@pytest.mark.soak
def test_the_table_is_computed(human_dir: Path) -> None:
    script = runpy.run_path(str(REPOSITORY / "docs" / "agreement.py"))
    assert CELLS.keys() == {*script["METRICS"]}
    for place, (name, judgement) in enumerate(script["JUDGEMENTS"][:3]):
        rows = script["study"](script["read"](human_dir / f"{name}.jsonl"), judgement)
        assert len(rows) == sum(cells[2 * place] != "–" for cells in CELLS.values()) * 2
        for (level, metric), row in rows.iterrows():
            cell = CELLS[metric][2 * place + (level == "systems")]
            value, low, high = map(float, re.findall(r"-?\d\.\d{3}", cell))
            assert f"{row['r']:.3f}" == f"{value:.3f}"
            # Another numpy may draw other resamples.
            assert (row["low"], row["high"]) == pytest.approx((low, high), abs=0.02)
        if "parent" in rows.loc["texts"].index:
            compared = ["parent", "parent_full_table", "bleu", "coverage"]
            assert (rows.loc["texts"].loc[compared, "p"] < 0.001).all()
            compared.remove("bleu")
            assert (rows.loc["systems"].loc[compared, "p"] > 0.18).all()
