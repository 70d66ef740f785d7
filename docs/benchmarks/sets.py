"""Building, checking and loading sets, and choosing demonstrations for whole test sets.

`SPOR_SOAK=1` also searches for larger sets of systematicity, three minutes a corpus.
"""

import os
import random
from functools import partial
from pathlib import Path

from docs.benchmarks.measure import folder, seconds, show
from spor_tasks.aspects import (
    check,
    order_invariance,
    productivity,
    rule_learnability,
    search,
    systematicity,
)
from spor_tasks.benchmarks.spor import shipped
from spor_tasks.core import named
from spor_tasks.core.registry import registry
from spor_tasks.core.sample import CorpusSamples
from spor_tasks.prompts.demonstrations import choose
from tests.oracles.productivity import published

CORPORA = {"webnlg": "scarcest", "e2e": "longest"}
SEARCHED = 180  # seconds


def build(name: str, method: str, corpus: CorpusSamples) -> None:
    """Build the strict sets of a corpus; productivity also in the published way."""
    for runs in (1, systematicity.RESTARTS):
        took = seconds(
            lambda: systematicity.build(corpus.samples, random.Random(0), restarts=runs)  # noqa: B023
        )
        show(f"systematicity {name}, {runs} runs of Algorithm 1", f"{took:.3f} s")

    def all_thresholds(choose: productivity.Choose = productivity.exchanged) -> None:
        for n in (3, 4, 5):
            productivity.build(corpus.train, corpus.test, n, choose=choose)

    fast = seconds(all_thresholds)
    slow = seconds(lambda: all_thresholds(choose=published(method)))
    to = "the published exchange"
    show(f"productivity {name}, all N", f"{fast:.3f} s", ratio=slow / fast, to=to)
    took = seconds(lambda: order_invariance.matched(corpus.train))
    show(f"order invariance {name}, Match", f"{took:.3f} s")
    if name == "webnlg":
        took = seconds(lambda: rule_learnability.hide_entities(corpus.test))
        show(f"rule learnability {name}", f"{took:.3f} s")


def use(name: str) -> None:
    """Check sets, and choose demonstrations for them."""
    for aspect in ("systematicity", "productivity"):
        pair = named.load(aspect, name)
        show(f"check of {aspect} {name}", f"{seconds(partial(check.check, pair), 3):.3f} s")
    for aspect, part in (
        ("systematicity", None),
        ("productivity", "n3"),
        ("order_invariance", "performance"),
        ("rule_learnability", None),
    ):
        pair = named.load(aspect, name, None, part)
        took = seconds(partial(choose, pair, 8))
        show(f"8 demonstrations for each of {aspect} {name}", f"{took:.2f} s")


def load(name: str, part: str | None, data: Path) -> None:
    """Make strict sets of systematicity from their shipped lists."""
    samples = registry().get("corpus", name).read(data).samples
    facts = named.find("systematicity", name, "strict", part).sets
    took = seconds(lambda: shipped.load(facts, samples), 3)
    show(f"strict systematicity {name} {part or ''}", f"{took:.2f} s")
    if os.environ.get("SPOR_SOAK") and not part:
        found = search.systematicity(samples, 0, seconds=SEARCHED)
        known = shipped.load(facts, samples)
        for title, one in found.pair.all.items():
            show(
                f"{title} of {name}, searched {SEARCHED} s",
                f"{len(one):,} samples",
                ratio=len(known.all[title]) / len(one),
                to="the shipped one",
            )


if __name__ == "__main__":
    if data := folder("SPOR_DATA_DIR"):
        for name, method in CORPORA.items():
            build(name, method, registry().get("corpus", name).read(data))
            use(name)
        for name, part in (("webnlg", None), ("e2e", None), ("e2e", "algorithm_1")):
            load(name, part, data)
