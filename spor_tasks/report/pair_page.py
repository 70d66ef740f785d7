"""The page of systems beside each other, on any task: the documents that they differ on first."""

import json
from collections.abc import Iterator
from functools import partial
from typing import Any

from msgspec import to_builtins
from msgspec.structs import replace

from spor_tasks.report.answers import of_pairs
from spor_tasks.report.browser import Facets, RunSource, Shown, TestSource, Traits, pack, shown
from spor_tasks.report.document import Document
from spor_tasks.report.marking import Extent, Marked
from spor_tasks.report.page import count, render
from spor_tasks.report.views import OutputView, RecordView, SampleView
from spor_tasks.results.pairs import Change, Pairing, TaskPairs
from spor_tasks.results.samples import SampleFile
from spor_tasks.results.tasks import LoggedDocument, TaskSamples

_LONGEST = 20_000  # characters of a field, prompt or output that the page has
_TESTED = "Each output is beside that of the first system; those that differ most come first."
_FINE = {
    "name": "no difference",
    "meaning": "The first score and the output are those of the other system, without a fault.",
}


def pair_page(pairing: Pairing, document: Document) -> str:
    """Return the page of a comparison, whose tables are those of ``document``."""
    tests = [_test(task, pairing.systems) for task in pairing.tasks]
    browsed = pack(tests, tested=_TESTED, fine=_FINE, isPair=True)
    number = sum(len(task.ids) for task in pairing.tasks)
    counts = ((pairing.systems, "system"), (pairing.tasks, "task"), (range(number), "document"))
    return render(
        document,
        name="Comparison",
        facts=[count(each, name) for each, name in counts],
        tables=[("tables", "", document.grids[:1])],
        browser=browsed,
        answers=of_pairs(pairing),
        legend=lambda _: document.short_legend,
    )


def _test(task: TaskPairs, systems: tuple[str, ...]) -> TestSource:
    """Return a task with its systems; the first score is what documents are ordered by."""
    facts = task.samples[0].scores
    return TestSource(
        title=task.task,
        metric=next(iter(task.scores), ""),
        labels={name: each.label for name, each in facts.items()},
        arms=(),
        runs=[
            RunSource(
                name=samples.result.model,
                facets=Facets(task.task, system, "", "", None),
                where=samples.result.path,
                rows=_rows(task, number),
            )
            for number, (system, samples) in enumerate(zip(systems, task.samples, strict=True))
        ],
    )


def _rows(task: TaskPairs, number: int) -> Iterator[Shown]:
    """Yield the documents of a system that all systems have, with what differs from the first."""
    samples, changes = task.samples[number], {each.id: each for each in task.changes(number)}
    shared = set(task.ids)
    of_score = {name: task.logged[number].columns[name].each.tolist() for name in task.scores}
    scores = {
        id_: {name: round(each[at], 4) for name, each in of_score.items() if each[at] == each[at]}
        for at, id_ in enumerate(task.ids)
    }
    for row in _shown(samples):
        if row.id in shared:
            view = row.view if samples.result.run else replace(row.view, scores=scores[row.id])
            yield row._replace(view=view, changes=_differences(changes.get(row.id)))


def _differences(change: Change | None) -> tuple[str, ...]:
    """Return what differs from the first system, of :data:`~spor_tasks.report.browser.CHANGES`."""
    if change is None:
        return ()
    gain = next((sides.change for sides in change.scores.values()), 0.0)
    is_other = change.before != change.after
    found = {"higher": gain > 0, "lower": gain < 0, "other output": is_other}
    return tuple(name for name, is_so in found.items() if is_so)


def _shown(samples: TaskSamples) -> Iterator[Shown]:
    """Yield the samples of a task, those of ours with units and marks."""
    result = samples.result
    if result.run:
        yield from map(shown, SampleFile(result.path, result.run).records())
        return
    for document in result.documents():
        outputs = tuple(
            OutputView(Marked(text, Extent(0, len(text)))) for text in map(_text, document.outputs)
        )
        prompts = tuple(map(_text, document.prompts))
        yield Shown(
            document.id, prompts, RecordView(outputs, {}), partial(_sample, document), document.id
        )


def _sample(document: LoggedDocument) -> tuple[Traits, dict[str, Any]]:
    doc = document.doc if isinstance(document.doc, dict) else {"document": document.doc}
    own = SampleView(
        id=f"doc_id {document.doc_id}",
        about=(),
        units=(),
        references=(_text(document.target),) if document.target else (),
        fields=tuple((str(name), _text(value)) for name, value in doc.items()),
    )
    return Traits(None, 0, ()), {**to_builtins(own), "twins": []}


def _text(value: object) -> str:
    """Return a value as text, cut where it is longer than anybody reads."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
