"""How fast ToTTo's input and its PARENT are beside the published algorithms, written down again."""

import json
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

from spor_tasks.core.sample import Sample
from spor_tasks.corpora.totto import reader
from spor_tasks.corpora.totto.linearize import Variant, published
from spor_tasks.metrics import parent_totto
from spor_tasks.metrics.parent_totto import parent, prepared
from spor_tasks.metrics.totto import TOTTO, TOTTO_REAL
from spor_tasks.text.mteval import words
from tests.oracles import totto as slow
from tests.support.timing import least, seconds

pytestmark = pytest.mark.benchmark


def tokens(text: str) -> list[str]:
    tokenizer = Tokenizer13a()  # type: ignore[no-untyped-call]  # a new one each time, as published
    return str(tokenizer(text.strip().lower())).split()


def slow_parent(sample: Sample, output: str) -> tuple[float, float, float]:
    whole, highlighted = (
        [[tokens(part) for part in entry.split("|||")][1] for entry in line.split("\t")]
        for line in parent_totto._lines(sample)
    )
    references = [tokens(prepared(reference)) for reference in sample.references]
    return slow.parent(tokens(prepared(output)), references, whole, highlighted)


def test_parent_and_the_input_of_real_examples(totto_dir: Path) -> None:
    path = totto_dir / "dev_25.jsonl"
    samples = list(reader.read(path))
    examples = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    outputs = [sample.references[-1].replace(" the ", " its ") for sample in samples]
    rows = [*zip(samples, outputs, strict=True)]

    def fast_parent(sample: Sample, output: str) -> tuple[float, float, float]:
        parent_totto._prepare.cache_clear()
        references = [words(prepared(reference)) for reference in sample.references]
        found = parent(sample, words(prepared(output)), references)
        return found.precision, found.recall, found.f

    for row in rows:
        assert fast_parent(*row) == pytest.approx(slow_parent(*row), abs=1e-9)
    inputs: tuple[tuple[Variant, Callable[[Mapping[str, Any]], str]], ...] = (
        ("subtable_metadata", slow.subtable),
        ("fulltable_metadata", slow.full_table),
    )
    n = len(rows)
    lines = []
    for variant, theirs in inputs:
        write = partial(published, variant=variant)
        assert [*map(write, samples)] == [*map(theirs, examples)]
        old = least(partial(list, map(theirs, examples)), times=1)
        new = least(lambda: [*map(write, samples)])  # noqa: B023 - called at once
        ratio = old.processor / new.processor
        lines.append(f"{variant}: {new.pace(n, 'samples')}, {ratio:.1f} times the published way")
    old = seconds(lambda: [slow_parent(*row) for row in rows])
    new = least(lambda: [fast_parent(*row) for row in rows], times=10)
    lines.append(
        f"PARENT, tables included: {new.pace(n, 'samples')}, "
        f"{old.processor / new.processor:.1f} times the published way"
    )
    for name, metric in (("totto", TOTTO), ("totto_real", TOTTO_REAL)):
        whole = least(lambda: [metric.judge_one(*row) for row in rows])  # noqa: B023 - called at once
        lines.append(f"the whole metric {name}: {whole.pace(n, 'samples')}")
    print("", *lines, sep="\n")
