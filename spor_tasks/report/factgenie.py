"""Outputs and our marks as files of factgenie, a tool in which people annotate and compare texts.

The folder has the places of factgenie's own: `data/datasets.yml` and `data/inputs` (the samples),
`data/outputs` (what each run wrote) and `campaigns` (our marks, as an external campaign). See
https://github.com/ufal/factgenie/wiki/Data-Management.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain, count
from pathlib import Path
from typing import Any, NamedTuple, get_args

import yaml

from spor_tasks.core.errors import ResultError
from spor_tasks.core.files import Row, write_json, write_rows, writing
from spor_tasks.core.sample import Hidden, Orders, Sample, side_of_each, sides
from spor_tasks.report.browser import by_test
from spor_tasks.report.formats import save
from spor_tasks.report.marking import Kind, Label, Marked, marks_of
from spor_tasks.results.logged import Record, SampleFile
from spor_tasks.results.reading import TaskResult

CAMPAIGN = "spor-marks"
"""The name of the campaign with our marks."""

_SPLIT = "test"
_ANNOTATOR = "spor-tasks"
_LONGEST = 80  # characters of a name, which becomes that of a file
_NOT_SCORED = "not scored"
_KINDS: tuple[str, ...] = (*get_args(Kind), _NOT_SCORED)
_CATEGORIES = (
    ("rgb(0, 158, 115)", "The words tell this data unit."),
    ("rgb(230, 159, 0)", "Words that resemble a unit's own, or some of its words, tell it."),
    ("rgb(86, 180, 233)", "The phrase for something hidden is copied."),
    ("rgb(213, 94, 0)", "Something hidden appears."),
    ("rgb(204, 121, 167)", "Something hidden is inside another word or number."),
    ("rgb(153, 153, 153)", "This text was not scored."),
)

# The tool shows texts as HTML, and fails on half of a surrogate pair. What takes their place is one
# character too, so that all offsets stay the same.
_HARMFUL = re.compile(r"<(?=[a-z/!?])|&(?=[a-z#])|[\ud800-\udfff]", re.IGNORECASE)
_HARMLESS = {"<": "＜", "&": "＆"}


def harmless(text: str) -> str:
    """Return the text, as long as it was, without anything that HTML takes for a tag or an entity.

    Their first characters become a wide `＜` or `＆`, and half of a surrogate pair U+FFFD.
    """
    return _HARMFUL.sub(lambda found: _HARMLESS.get(found[0], "\N{REPLACEMENT CHARACTER}"), text)


class Span(NamedTuple):
    """A stretch of an output: where it starts, in code points, and its kind and meaning."""

    start: int
    end: int
    kind: str
    reason: str


def spans_of(sample: Sample, marked: Marked) -> list[Span]:
    """Return what is marked in an output: each unit's stretches whole, even where they overlap."""
    found: list[Span] = []
    open_: dict[Label, int] = {}  # the span that a label's next piece continues
    for start, end, labels in marked.marks:
        for label in labels:
            last = open_.get(label)
            if last is not None and found[last].end == start:
                found[last] = found[last]._replace(end=end)
            else:
                open_[label] = len(found)
                found.append(Span(start, end, label.kind, _reason(sample, marked, label)))
    edges = ((0, marked.scored.start), (marked.scored.end, len(marked.output)))
    found += (
        Span(start, end, _NOT_SCORED, "before or after what was scored")
        for start, end in edges
        if marked.output[start:end].strip()
    )
    return sorted(found)


def _reason(sample: Sample, marked: Marked, label: Label) -> str:
    if label.kind in {"leak", "inner leak"}:
        return f"leaks {marked.leaks[label.number]}"
    if isinstance(sample.challenge, Hidden) and label.kind == "phrase":
        what, phrase = sample.challenge.phrases[label.number]
        return f"copies {phrase} for {what}"
    return f"unit {label.number}: {' | '.join(sample.units[label.number])}"


def write(folder: Path, files: Iterable[SampleFile]) -> None:
    """Write the samples, outputs and marks of runs; of a damaged file, those before the damage.

    A sample with two input orders is two examples, since an example has one output.

    Raises:
        ConfigError: a file cannot be written.
    """
    dataset_names, setup_names = _Names(), _Names()
    datasets = {}
    with writing(folder):
        for group in by_test(files):
            run = group[0].run
            dataset = _Dataset(dataset_names.of(run.comparison, run.signature["test_sha256"]))
            runs: Counter[str] = Counter()
            for file in group:
                system = _system(file.run)
                runs[system] += 1
                setup = setup_names.of(system, str(runs[system]))
                place = f"{dataset.name}-{setup}.jsonl"
                outputs, marks = dataset.rows(file, setup)
                write_rows(folder / "data" / "outputs" / dataset.name / place, outputs)
                write_rows(folder / "campaigns" / CAMPAIGN / "files" / place, marks)
            inputs = folder / "data" / "inputs" / dataset.name / f"{_SPLIT}.jsonl"
            write_rows(inputs, dataset.examples)
            datasets[dataset.name] = {
                "class": "basic.JSONLDataset",
                "name": dataset.name,
                "description": f"Test samples of {harmless(str(run.spec.name))}.",
                "enabled": True,
                "splits": [_SPLIT],
            }
        write_json(folder / "campaigns" / CAMPAIGN / "metadata.json", _campaign())
    save(folder / "data", {"datasets.yml": yaml.safe_dump(datasets, sort_keys=False)})


def _system(run: TaskResult) -> str:
    seed = None if run.seed is None else f"seed {run.seed}"
    return " ".join(filter(None, [run.model, run.arm or "as is", seed]))


class _Names:
    """Gives names that a file may have and that the tool does not change: each to one thing."""

    def __init__(self) -> None:
        self._given: dict[tuple[str, ...], str] = {}

    def of(self, text: str, *apart: str) -> str:
        """Return the name for a text; what is ``apart`` gets another one."""
        name = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[-_LONGEST:].strip("-") or "model"
        taken = {given for key, given in self._given.items() if key != (text, *apart)}
        numbered = (f"{name}-{number}" for number in count(2))
        free = next(each for each in chain([name], numbered) if each not in taken)
        return self._given.setdefault((text, *apart), free)


@dataclass(slots=True)
class _Dataset:
    """The examples of a test set, gathered from its runs, and the number of each sample's first."""

    name: str
    examples: list[Row] = field(default_factory=list)
    firsts: dict[str, int] = field(default_factory=dict)

    def rows(self, file: SampleFile, setup: str) -> tuple[list[Row], list[Row]]:
        """Return a run's outputs and what is marked in them, as rows of files."""
        outputs: list[Row] = []
        marks: list[Row] = []
        with suppress(ResultError):  # the report names the damage
            for record in file.records():
                asked = side_of_each(record.sample, len(record.outputs))
                found = zip(asked, _marked(record), strict=True)
                for number, (side, marked) in enumerate(found, self._first(record.sample)):
                    where = {
                        "dataset": self.name,
                        "split": _SPLIT,
                        "setup_id": setup,
                        "example_idx": number,
                        "output": marked.output,
                    }
                    outputs.append({**where, "metadata": _about(record)})
                    marks.append({**where, **_marks(side, marked)})
        return outputs, marks

    def _first(self, sample: Sample) -> int:
        first = self.firsts.setdefault(sample.id, len(self.examples))
        if first == len(self.examples):
            for side in sides(sample):
                self.examples.extend(_examples(side))
        return first


def _marked(record: Record) -> Iterator[Marked]:
    """Yield the marked outputs, as they are written: no output has markup."""
    for marked in marks_of(record):
        yield replace(marked, output=harmless(marked.output))


def _examples(sample: Sample) -> Iterator[Row]:
    """Yield a sample for each of its inputs, as tables of texts."""
    orders = sample.challenge.inputs if isinstance(sample.challenge, Orders) else (None,)
    hidden = sample.challenge.phrases if isinstance(sample.challenge, Hidden) else ()
    for order in orders:
        units = [sample.units[number] for number in order] if order else sample.units
        yield {
            "id": harmless(sample.id),
            "category": harmless(sample.about("category") or ""),
            "units": [
                {name: harmless(part) for name, part in unit._asdict().items()} for unit in units
            ],
            **({"input order": " ".join(map(str, order))} if order else {}),
            **(
                {"hidden": [{"hides": harmless(w), "phrase": harmless(p)} for w, p in hidden]}
                if hidden
                else {}
            ),
            "references": list(map(harmless, sample.references)),
        }


def _about(record: Record) -> dict[str, Any]:
    run = record.run
    return {
        "sample": record.sample.id,
        "model": run.model,
        "arm": run.arm,
        "seed": run.seed,
        "results": str(run.file),
        "scores": record.scores,
    }


def _marks(sample: Sample, marked: Marked) -> dict[str, Any]:
    """Return the annotations of an output: spans of each kind, and the faults as flags."""
    return {
        "annotations": [
            {
                "start": span.start,
                "text": marked.output[span.start : span.end],
                "type": _KINDS.index(span.kind),
                "reason": harmless(span.reason),
            }
            for span in spans_of(sample, marked)
        ],
        "flags": [{"label": fault.meaning, "value": True} for fault in marked.faults],
        "options": [],
        "sliders": [],
        "text_fields": [],
        "metadata": {
            "annotator_id": _ANNOTATOR,
            "annotator_group": 0,
            "campaign_id": CAMPAIGN,
            "annotation_overlap_allowed": True,
        },
    }


def _campaign() -> dict[str, Any]:
    return {
        "id": CAMPAIGN,
        "mode": "external",
        "created": "",  # equal results are equal files
        "config": {
            "annotation_granularity": "chars",
            "annotation_overlap_allowed": True,
            "annotation_span_categories": [
                {"name": kind, "color": color, "description": meaning}
                for kind, (color, meaning) in zip(_KINDS, _CATEGORIES, strict=True)
            ],
        },
    }
