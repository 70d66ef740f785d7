"""Invented runs of whole test sets, with the digests of these: such as may be published."""

import random
from functools import cache

from spor_tasks.core import named
from spor_tasks.core.digests import digest
from tests.support import report_runs
from tests.support.result_files import edited, rows_of, write_rows

DATE = 1795377862.5
"""When the runs began, on 22 November 2026."""


@cache
def whole_set(aspect, part):
    """The embedded test set, which is shipped."""
    return named.load(aspect, "mini", "strict", part).test


def write_whole(
    folder,
    name,
    *,
    aspect="productivity",
    part="n4",
    samples=None,
    outputs=None,
    scores=None,
    model="owner/model",
    arm=None,
    date=DATE,
    metadata=None,
    **settings,
):
    """Write the result and the samples of a run.

    Without ``samples`` it is of an embedded test set.
    """
    task = settings.pop("task", "_".join(filter(None, ["spor", aspect, "mini", part])))
    samples = whole_set(aspect, part) if samples is None else samples
    rng = random.Random(repr((name, model, arm)))
    logged = [
        scores(number) if scores else report_runs.values_of(aspect, part, 1.0, rng)
        for number in range(len(samples))
    ]
    written = outputs or (lambda _: ["A text."] * (2 if part == "main" else 1))
    file = write_rows(
        folder / f"results_{name}.json",
        rows_of(samples, map(written, range(len(samples))), logged),
        aspect=aspect,
        part=part,
        task=task,
        model=model,
        arm=arm,
        version=2.0,
        metadata={"test_sha256": digest(samples), **(metadata or {})},
        **settings,
    )
    with edited(file) as content:
        content["date"] = date
        content["config"]["model_dtype"] = "torch.float32"
    return file


_EDITS = {
    "another test set": lambda content, task: content["configs"][task]["metadata"].update(
        test_sha256="b" * 64
    ),
    "another version": lambda content, task: content["configs"][task]["metadata"].update(version=1),
    "a limit": lambda content, task: content["n-samples"][task].update(original=10_000),
    "other scores": lambda content, task: content["results"][task].update({"parent,none": 99.0}),
    "no date": lambda content, _: content.update(date=1e300),
    "no answers": lambda content, task: content["configs"][task]["metadata"]["spor"].update(
        failures={"error": 2}
    ),
}
HARMS = (*_EDITS, "no samples", "other samples", "half a file")


def harm(file, how):
    """Make a run one that cannot be verified, in one of the ways of ``HARMS``."""
    (samples,) = file.parent.glob(f"samples_*_{file.stem.removeprefix('results_')}.jsonl")
    match how:
        case "no samples":
            samples.unlink()
        case "other samples":
            samples.write_text(samples.read_text().replace('"references": ["', '"references": ["x'))
        case "half a file":
            file.write_text(file.read_text()[:100])
        case _:
            with edited(file) as content:
                (task,) = content["configs"]
                _EDITS[how](content, task)


def texts_in(folder):
    """Return the content of all files below a folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_text("utf-8")
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
