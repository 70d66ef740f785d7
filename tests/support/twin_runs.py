"""Invented runs on samples and their twins."""

from dataclasses import replace

from spor_tasks.benchmarks.spor.benchmark import SPOR
from spor_tasks.core.sample import AttributeValue, Orders, Sample
from spor_tasks.harness import task_files
from tests.support.result_files import rows_of, write_rows

SAMPLE = Sample(
    "0",
    "e2e",
    (AttributeValue("food", "Basque"), AttributeValue("area", "quayside")),
    ("The Gull serves Basque food at the quayside.",),
    {"name": "The Gull"},
    Orders(((0, 1), (1, 0)), ((0, 1),)),
)
TWIN = replace(
    SAMPLE,
    units=(AttributeValue("food", "Velmic"), AttributeValue("area", "quayside")),
    references=("The Elm serves Velmic food at the quayside.",),
    context={"name": "The Elm"},
)
OUTPUTS = (
    "The Gull serves Basque food at the quayside.",
    "At the quayside, The Gull serves Basque food.",
    "The Elm serves Velmic food at the quayside.",
    "The Elm serves Basque food.",
)


def spec_of(aspect, part=None):
    return SPOR.find(aspect, "e2e", "twin", part)


def write_run(folder, spec, outputs, arm, gap):
    """Write a run of twelve samples whose scores differ by the gap between samples and twins."""
    orders = SAMPLE.challenge if spec.sets.aspect == "order_invariance" else None
    asked = replace(SAMPLE, challenge=orders, twin=replace(TWIN, challenge=orders))
    values = {str(score): 50 - gap * bool(score.group) for score in spec.judging.scores}
    logged = {name: (each, 1) if "slot_" in name else each for name, each in values.items()}
    (file,) = task_files.expand([spec.task])
    samples = (replace(asked, id=str(number)) for number in range(12))
    about = {"task": spec.task, "aspect": spec.sets.aspect, "part": spec.sets.part, "arm": arm}
    rows = rows_of(samples, [outputs] * 12, [logged] * 12)
    metadata = file.metadata
    return write_rows(folder / f"results_{arm}.json", rows, metadata=metadata, **about)
