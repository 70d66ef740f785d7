"""The examples of docs/metrics.md are what `spor score` writes; agreement is computed."""

import json
import re
import runpy
from dataclasses import dataclass
from typing import Any

import pytest

from spor_tasks.core.files import read_rows
from spor_tasks.core.registry import registry
from spor_tasks.metrics.learned import Attributes, Bleurt, ExpressedFacts, NliAcc, TextPerplexity
from spor_tasks.metrics.scores import metric, score_infos
from tests.conftest import REPOSITORY
from tests.support.scoring import score

DOC = (REPOSITORY / "docs" / "metrics.md").read_text("utf-8")
EXAMPLES = re.findall(
    r"\$ spor score rows.jsonl --metric (\S+) --corpus (\w+) .*\n((?:[{→].*\n)+)", DOC
)


@dataclass
class Says:
    """The model of an example, which answers what the document says."""

    answers: list[Any]
    signature: str = "model:example"

    def __call__(self, _):
        return self.answers


JUDGES = {
    "facts": ExpressedFacts(Says([0.0214, 0.9871, 0.06])),
    "nli_acc": NliAcc(Says([0.8127])),
    "bleurt": Bleurt(Says([0.5, 0.3])),
    "compmctg": Attributes(Says(["Positive", "plural", "Past"])),
    "mctg_ppl": TextPerplexity(Says([31.5])),
}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example[0])
def test_an_example_adds_what_the_document_shows(tmp_path, example):
    name, corpus, lines = example
    rows, shown = (
        "".join(re.findall(rf"^{mark}(.*\n)", lines, re.MULTILINE)) for mark in ("(?={)", "→ ")
    )
    file, evidence = tmp_path / "rows.jsonl", tmp_path / "evidence.jsonl"
    file.write_text(rows, "utf-8")
    score(file, name, corpus, per_sample=evidence, judge=JUDGES.get(name))
    found = [row for _, row in read_rows(evidence)]
    for row, line in zip(found, shown.splitlines(), strict=True):
        expected = json.loads(line)
        assert expected.keys() <= row.keys()
        for field, value in expected.items():
            assert row[field] == (
                pytest.approx(value, abs=5e-5) if isinstance(value, float) else value
            )


def test_every_metric_has_an_example():
    names = {name for name in registry().names("metric") if metric(name).answers == "texts"}
    shown = {name for name, *_ in EXAMPLES}
    # Beside parent and totto, and in results.
    assert shown == names - {"parent_full_table", "totto_real", "empty"}


def test_every_score_is_explained():
    names = {name for name, info in score_infos().items() if not info.of_some}
    explained = " ".join(DOC.split())
    stems = {re.sub(r"_(pbh|poh|precision|recall|00|01|11)$", "", name) for name in names}
    assert {stem for stem in stems if stem not in explained} == set()


@pytest.mark.soak
def test_the_table_of_human_judgements_is_computed(human_dir):
    page = (REPOSITORY / "docs" / "validity.md").read_text("utf-8")
    section = page.partition("## Agreement\n")[2].partition("\n## ")[0]
    rows_of = re.findall(r"^\| `(\w+)` \|(.*)\|$", section, re.MULTILINE)
    table = {metric: [*map(str.strip, cells.split("|"))] for metric, cells in rows_of}
    script = runpy.run_path(str(REPOSITORY / "docs" / "agreement.py"))
    assert table.keys() == {*script["METRICS"]}
    for place, (people, judgement) in enumerate(script["JUDGEMENTS"][:3]):
        rows = script["study"](script["read"](human_dir / f"{people}.jsonl"), judgement)
        assert len(rows) == sum(cells[2 * place] != "–" for cells in table.values()) * 2
        for (level, name), row in rows.iterrows():
            cell = table[name][2 * place + (level == "systems")]
            value, low, high = map(float, re.findall(r"-?\d\.\d{3}", cell))
            assert f"{row['r']:.3f}" == f"{value:.3f}"
            # Another numpy may draw other resamples.
            assert (row["low"], row["high"]) == pytest.approx((low, high), abs=0.02)
        if "parent" in rows.loc["texts"].index:
            compared = ["parent", "parent_full_table", "bleu", "coverage"]
            assert (rows.loc["texts"].loc[compared, "p"] < 0.001).all()
            compared.remove("bleu")
            assert (rows.loc["systems"].loc[compared, "p"] > 0.18).all()
