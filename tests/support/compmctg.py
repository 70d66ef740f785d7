"""The published test cases of CompMCTG as if they were its datasets, which are not at hand."""

import json

from spor_tasks.corpora.compmctg.reader import FOLDERS, MODES
from tests.support.rows import write_rows


def cases(data_dir, corpus):
    """Return generated texts with their combinations, as rows of a dataset."""
    path = data_dir.parent / "CompMCTG" / "test_cases" / f"cases_{FOLDERS[corpus]}.jsonl"
    rows = map(json.loads, path.read_text("utf-8").splitlines())
    return [{"review": row.pop("text"), **row} for row in rows]


def write(folder, corpus, part, rows):
    """Write rows as a file of a dataset."""
    path = folder / FOLDERS[corpus] / f"{part}.jsonl"
    path.parent.mkdir(exist_ok=True)
    return write_rows(path, *rows)


def write_datasets(folder, data_dir):
    """Write the test cases of every dataset, some of them as texts that train classifiers."""
    for corpus in FOLDERS:
        rows = cases(data_dir, corpus)
        for part, every in (("gen", rows), ("cls", rows[::7])):
            write(folder, corpus, part, every)
    return folder


def unseen_rows(space, protocol, left_out):
    """Yield splits as rows of an ``unseen.jsonl``."""
    mode = next(name for name, ours in MODES.items() if ours == protocol)
    for number, combinations in enumerate(left_out):
        rows = [space.as_row(each) for each in combinations]
        yield {"mode": mode, "idx": str(number), "unseen_combs": rows}
