"""Runs about CompMCTG's embedded corpus: results of each split, and what classifiers say."""

from spor_tasks.benchmarks.compmctg.benchmark import COMPMCTG
from spor_tasks.corpora.compmctg.reader import combination_in
from spor_tasks.corpora.embedded import COMPMCTG_MINI
from spor_tasks.metrics.mini_attributes import MINI_ATTRIBUTES
from tests.support import table_runs
from tests.support.invented_runs import HOSTILE
from tests.support.result_files import rows_of
from tests.support.scores import values_of

TASK = "compmctg_mini_acd"
SAMPLES = 24
_KNOWN = {
    combination_in(sample): f" {sample.target}" for sample in COMPMCTG_MINI.part("train")[:12]
}
_SAID = (
    {"sentiment": "Negative", "tense": "Past", "topic": "Food"},
    {},
    {"sentiment": HOSTILE[0], "tense": "Present", "topic": HOSTILE[4]},
)
"""By classifiers, of the first outputs."""


def write(folder):
    """Write results of a system that is right on the first split, and silent on the others.

    Each split has a folder.
    """
    whole = COMPMCTG.find("compmctg", COMPMCTG_MINI.name, "acd")
    for split in whole.splits:
        spec = COMPMCTG.under(whole, split)
        (folder / split).mkdir(parents=True)
        _write(folder / split, spec, knows=split == "0")
    return folder


def _write(folder, spec, *, knows):
    asked = COMPMCTG.load(spec).test[:SAMPLES]
    outputs = [_KNOWN[combination_in(sample)] if knows else "" for sample in asked]
    values = [
        {**values_of(MINI_ATTRIBUTES, each[0], MINI_ATTRIBUTES.judge_one(*each)), "empty": 0.0}
        for each in zip(asked, outputs, strict=True)
    ]
    rows = rows_of(asked, ([output] for output in outputs), values)
    for row, said in zip(rows, _SAID, strict=False):
        row["doc"]["said"] = said
    metadata = {"benchmark": "compmctg", "corpus": COMPMCTG_MINI.name, "protocol": "acd"}
    about = {"aspect": spec.sets.aspect, "metadata": metadata}
    table_runs.write_rows(folder, spec.task, spec.sets.part, rows, **about)
