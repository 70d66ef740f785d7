"""How fast LogicNLG's BLEU is, beside NLTK's, which the published code calls for each sentence."""

import json
import warnings
from pathlib import Path

import pytest
from nltk.translate.bleu_score import sentence_bleu

from spor_tasks.core.codec import from_row
from spor_tasks.core.sample import SampleMaker
from spor_tasks.corpora.logicnlg import read_outputs
from spor_tasks.metrics.sentence_bleu import LOGICNLG_BLEU
from tests.support.timing import least

pytestmark = pytest.mark.benchmark

_WEIGHTS = ((1, 0, 0), (0.5, 0.5, 0), (0.33, 0.33, 0.33))


@pytest.mark.usefixtures("logicnlg_dir")
def test_shipped_outputs(logicnlg_dir: Path) -> None:
    given = json.loads((logicnlg_dir / "outputs" / "field_infusing.json").read_bytes())
    make = SampleMaker("logicnlg")
    rows = [row for _, row in read_outputs(given, "outputs")]
    samples = [from_row(row, make, where="outputs") for row in rows]
    texts = [(row["output"],) for row in rows]

    def published() -> list[list[float]]:
        found = []
        for sample, (text,) in zip(samples, texts, strict=True):
            references = [reference.lower().split(" ") for reference in sample.references]
            words = text.lower().split()
            found.append([sentence_bleu(references, words, weights) for weights in _WEIGHTS])
        return found

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        slow = least(published, times=1)
    fast = least(lambda: LOGICNLG_BLEU.judge(samples, texts))
    print(f"{fast.pace(len(rows), 'outputs')}, {slow.processor / fast.processor:.1f} times NLTK's")
