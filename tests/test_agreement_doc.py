"""The table of docs/metrics.md on human judgements is what docs/agreement.py computes."""

import re
import runpy
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import REPOSITORY

PAGE = (REPOSITORY / "docs" / "metrics.md").read_text("utf-8")
SECTION = PAGE.partition("## What agrees with people\n")[2].partition("\n## ")[0]

Study = Mapping[str, Any]


@pytest.fixture(scope="module")
def study() -> Study:
    return runpy.run_path(str(REPOSITORY / "docs" / "agreement.py"))


def cells(first: str) -> list[str]:
    """The other cells of the row that begins with this one."""
    (row,) = re.findall(rf"^\| {re.escape(first)} \|(.*)\|$", SECTION, re.MULTILINE)
    return [cell.strip() for cell in row.split("|")]


@pytest.mark.soak
def test_the_table_is_computed(study: Study, human_dir: Path) -> None:
    pairs = study["JUDGEMENTS"][:3]
    tables = [study["read"](human_dir / f"{name}.jsonl") for name, _ in pairs]
    studies = [
        study["study"](table, judgement)
        for table, (_, judgement) in zip(tables, pairs, strict=True)
    ]
    counts = [
        (f"{len(table):,} for {table['input'].nunique():,} inputs", str(table["system"].nunique()))
        for table in tables
    ]
    assert cells("n") == [cell for each in counts for cell in each]
    for metric in study["METRICS"]:
        places = product(studies, ("texts", "systems"))
        for cell, (rows, level) in zip(cells(f"`{metric}`"), places, strict=True):
            if cell == "–":
                assert (level, metric) not in rows.index
                continue
            value, low, high = map(float, re.findall(r"-?\d\.\d{3}", cell))
            row = rows.loc[(level, metric)]
            assert f"{row['r']:.3f}" == f"{value:.3f}"
            # Another numpy may draw other resamples.
            assert (row["low"], row["high"]) == pytest.approx((low, high), abs=0.02)
    for rows in studies[:2]:
        compared = ["parent", "parent_full_table", "bleu", "coverage"]
        assert (rows.loc["texts"].loc[compared, "p"] < 0.001).all()
        assert (
            rows.loc["systems"].loc[["parent", "parent_full_table", "coverage"], "p"] > 0.18
        ).all()
