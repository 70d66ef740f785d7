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
from spor_tasks.core.references import with_references
from spor_tasks.report import floors
from spor_tasks.results.facts import Declared
from spor_tasks.results.runs import Asked, Run

OUT = Path(floors.__file__).with_name("floors.json")


def floors_of(spec: TaskSpec) -> tuple[str, dict[str, object]]:
    """Return the digest of a test, and its floors."""
    sets = named.benchmark(spec.benchmark).load(spec.name)
    samples = [with_references(sample) for sample in sets.test.samples]
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
    return digest(sets.test.samples), {"task": spec.task, "samples": len(samples), "floors": found}


def main() -> None:
    """Write the file, a line for each test."""
    tests = dict(
        floors_of(spec)
        for spec in named.available()
        if not spec.splitting.is_pooled and spec.asking.template != "_likelihood"
    )
    lines = (f'"{sha256}": {json.dumps(test)}' for sha256, test in tests.items())
    OUT.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


if __name__ == "__main__":
    main()
