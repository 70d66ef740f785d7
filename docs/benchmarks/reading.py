"""Reading corpora and released sets, in seconds and memory, each beside a parser alone."""

import json
import os
import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Callable
from itertools import cycle, islice
from pathlib import Path

from docs.benchmarks.measure import apart, folder, show
from spor_tasks.benchmarks.spor import released
from spor_tasks.core import named
from spor_tasks.corpora.e2e import reader as e2e
from spor_tasks.corpora.totto import reader as totto
from spor_tasks.corpora.webnlg import reader as webnlg

TOTTO = 120_761 + 7_700 + 7_700  # examples
PART = 1 if os.environ.get("SPOR_SOAK") else 10  # all of them are 1.5 GB


def webnlg_xml(data: Path) -> None:
    """Parse each file of WebNLG's training set."""
    for path in data.glob("**/train/**/*.xml"):
        ET.parse(path)  # noqa: S314 - published files


def systematicity(_data: Path) -> None:
    """Read both arms and the test set of both corpora."""
    for corpus in released.CORPORA:
        for each in named.load("systematicity", corpus).all.values():
            len(each)


def json_alone(path: Path) -> None:
    """Parse each line."""
    with path.open("rb") as file:
        for line in file:
            json.loads(line)


def totto_in_order(path: Path) -> None:
    """Read every sample."""
    for _ in totto.read(path):
        pass


def totto_at_random(path: Path) -> None:
    """Read the index, the digest and every seventh sample."""
    samples = totto.read(path)
    assert samples.sha256
    for number in range(0, len(samples), 7):
        assert samples[number]


def compare(
    name: str, read: Callable[[Path], object], parse: Callable[[Path], object] | None, path: Path
) -> None:
    """Print what reading costs, and its seconds beside those of a parser."""
    cost = apart(read, path)
    ratio = apart(parse, path).processor / cost.processor if parse else None
    show(
        name, f"{cost.processor:.2f} s, {cost.megabytes:.0f} MB", ratio=ratio, to="the parser alone"
    )


if __name__ == "__main__":
    if data := folder("SPOR_DATA_DIR"):
        compare("WebNLG, training set", webnlg.read_train, webnlg_xml, data)
        compare("E2E, training set", e2e.read_train, None, data)
        compare("released sets of systematicity", systematicity, None, data)
    if data := folder("TOTTO_DATA_DIR"):
        lines = (data / "dev_25.jsonl").read_bytes().splitlines()
        with tempfile.TemporaryDirectory() as place:
            path = Path(place) / "totto.jsonl"
            with path.open("w") as file:
                for number, line in enumerate(islice(cycle(lines), TOTTO // PART)):
                    row = json.loads(line) | {"example_id": number - 60_000}
                    file.write(json.dumps(row) + "\n")
            name = f"ToTTo, {TOTTO // PART:,} examples"
            compare(name, totto_in_order, json_alone, path)
            compare(f"{name}, at random", totto_at_random, json_alone, path)
