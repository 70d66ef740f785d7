"""BLEU is NLTK's, sentence by sentence and over all, and gives LogicNLG's published numbers."""

import gzip
import json
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.translate.bleu_score import corpus_bleu, sentence_bleu

from spor_tasks.core.sample import AttributeValue, Sample
from spor_tasks.metrics.sentence_bleu import LOGICNLG_BLEU
from tests.support.scores import scores_of
from tests.support.scoring import score
from tests.support.soak import soak

WEIGHTS = {1: (1, 0, 0), 2: (0.5, 0.5, 0), 3: (0.33, 0.33, 0.33), 4: (0.25, 0.25, 0.25, 0.25)}
texts = st.lists(st.sampled_from(["A", "a", "b", "won", "3", "games"]), max_size=7).map(" ".join)


def sample(*references):
    return Sample("0", "logicnlg", (AttributeValue("a", "0"),), references)


@given(st.lists(st.tuples(texts, st.lists(texts.filter(bool), min_size=1, max_size=4)), min_size=1))
def test_it_is_nltks(rows):
    judgements = [LOGICNLG_BLEU.judge_one(sample(*of), output) for output, of in rows]
    ours = {score.name: score.value for score in scores_of(LOGICNLG_BLEU, judgements)}
    outputs = [output.lower().split() for output, _ in rows]
    references = [[text.lower().split(" ") for text in of] for _, of in rows]
    with warnings.catch_warnings(action="ignore"):
        for n in (1, 2, 3):
            each = [
                sentence_bleu(of, output, WEIGHTS[n])
                for output, of in zip(outputs, references, strict=True)
            ]
            assert ours[f"bleu_{n}"] == pytest.approx(100 * sum(each) / len(each))
        for n, weights in WEIGHTS.items():
            found = 100 * corpus_bleu(references, outputs, weights)
            assert ours[f"corpus_bleu_{n}"] == pytest.approx(found)


@pytest.mark.parametrize("system", ["field_infusing", soak("GPT_gpt2_12.65")])
def test_published_bleu(logicnlg_dir, golden_dir, system, tmp_path):
    outputs = logicnlg_dir / f"outputs/{system}.json"
    rows = tmp_path / "rows.jsonl"
    found = score(outputs, "logicnlg_bleu", "logicnlg", per_sample=rows)
    ours = {one.name: one.value / 100 for one in found.scores}
    golden = json.loads((golden_dir / "logicnlg/bleu_aggregates.json").read_text())[system]
    assert found.samples == golden["n"]
    for n in (1, 2, 3):
        assert ours[f"bleu_{n}"] == pytest.approx(golden["sentence_mean_evaluate_py"][n - 1])
    for n in (1, 2, 3, 4):
        assert ours[f"corpus_bleu_{n}"] == pytest.approx(golden["corpus_evaluate_py"][n - 1])
    each = [json.loads(line) for line in rows.read_text().splitlines()]
    of_table = {}
    for row in each:
        of_table.setdefault(row["name"], []).append(row)
    with gzip.open(golden_dir / f"logicnlg/bleu_{system}.jsonl.gz", "rt") as file:
        for expected in map(json.loads, file):
            row = of_table[expected["table_id"]][expected["i"]]
            assert [row[f"bleu_{n}"] / 100 for n in (1, 2, 3)] == pytest.approx(
                expected["bleu1_4_evaluate_py"][:3], abs=1e-12
            )
