"""Make spor_tasks/report/floors.json: what needs no model, scored on all shipped tests.

python docs/generators/floors.py      # with the corpora, as docs/data.md says
"""

import dataclasses
import json
from collections import defaultdict
from heapq import nsmallest
from operator import attrgetter
from pathlib import Path

from msgspec import to_builtins

from spor_tasks.core import named
from spor_tasks.core.contracts import TaskSpec
from spor_tasks.core.digests import digest
from spor_tasks.core.errors import MissingError
from spor_tasks.core.references import with_references
from spor_tasks.harness import task_files
from spor_tasks.report import floors
from spor_tasks.results.facts import Declared
from spor_tasks.results.runs import Asked, Run

OUT = Path(floors.__file__).with_name("floors.json")


def floors_of(spec: TaskSpec) -> dict[str, object]:
    """Return the digest of a test, and its floors."""
    test = named.benchmark(spec.benchmark).load(spec).test
    samples = [with_references(sample) for sample in test]
    run = Run(
        file=Path(spec.task),
        key=spec.task,
        asked=Asked(spec.task, spec.task, "", None),
        spec=Declared.of(spec),
        model="",
        adapter=None,
        scores={},
        n=len(samples),
        signature=defaultdict(lambda: "None"),
    )
    found: dict[str, dict[str, object]] = {}
    for row in floors.scored(run, nsmallest(floors.MOST, samples, key=attrgetter("id"))):
        size = {"n": row.size.n, "clusters": row.size.clusters, "cells": {}}
        cell = {
            field.name: getattr(row.as_is, field.name)
            for field in dataclasses.fields(row.as_is)
            if field.name != "runs" and getattr(row.as_is, field.name) != field.default
        }
        if "values" not in cell:
            raise ValueError(f"{spec.task} has no {row.metric} of {row.model}: {cell}")
        found.setdefault(row.model, size)["cells"][row.metric] = to_builtins(cell)
    return {"test_sha256": digest(test), "samples": len(samples), "floors": found}


def main() -> None:
    """Write the file, a line for each test; the floors of a corpus that is not here stay."""
    tests = json.loads(OUT.read_text("utf-8")) if OUT.exists() else {}
    tasks = {file.name: file for file in task_files.files()}
    for spec in named.available():
        if not spec.sets.is_pooled and not tasks[spec.task].asks_likelihoods:
            try:
                tests[spec.task] = floors_of(spec)
            except MissingError as error:
                print(f"{spec.task} stays as it is: {error}")
    lines = (f'"{task}": {json.dumps(test)}' for task, test in tests.items())
    OUT.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


if __name__ == "__main__":
    main()
