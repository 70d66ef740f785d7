"""Metrics beside their slow and obvious versions, and outputs that repeat themselves."""

import json
import tempfile
import tracemalloc
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import sacrebleu
import torch
from nltk.translate.bleu_score import sentence_bleu
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

from docs.benchmarks.measure import folder, seconds, show, show_pace
from spor_tasks.benchmarks.spor import released
from spor_tasks.core import named
from spor_tasks.core.codec import from_row, to_row
from spor_tasks.core.files import write_rows
from spor_tasks.core.sample import Sample, SampleMaker
from spor_tasks.corpora.logicnlg import read_outputs
from spor_tasks.corpora.totto import reader as totto_reader
from spor_tasks.corpora.totto.linearize import published
from spor_tasks.corpora.totto.table import table_of
from spor_tasks.evaluation.score import score
from spor_tasks.metrics.base import Metric, Texts
from spor_tasks.metrics.chrf import CHRF
from spor_tasks.metrics.copy_rule import COPY_RULE
from spor_tasks.metrics.judges import judges
from spor_tasks.metrics.order import CWIO, ORDER_INVARIANCE
from spor_tasks.metrics.parent import PARENT, Parent
from spor_tasks.metrics.sacre import TER
from spor_tasks.metrics.sentence_bleu import LOGICNLG_BLEU
from spor_tasks.metrics.totto import TOTTO, TOTTO_REAL
from spor_tasks.text.tokenize import tokens
from tests.oracles import copy_rule, order, parent, totto
from tests.support.classifiers import save_classifier

Write = Callable[[Sample], Texts]
FEW = 50  # samples for the slow versions
SLOW = "the slow version"


def first(sample: Sample) -> str:
    """Write the first reference."""
    return sample.references[0]


def one(sample: Sample) -> Texts:
    """Write the first reference alone."""
    return (first(sample),)


def copied(sample: Sample) -> str:
    """Write the units."""
    return " . ".join(" ".join(unit) for unit in sample.units)


def judged(metric: Metric, samples: Sequence[Sample], write: Write) -> Callable[[], object]:
    """Return the work of judging all outputs together."""
    outputs = [write(sample) for sample in samples]
    return lambda: metric.judge(samples, outputs)


def slow_parent(sample: Sample) -> object:
    """Judge the last reference as `tests/oracles/parent.py` does."""
    references = [tokens(text) for text in sample.references]
    values = [tokens(unit[-1].replace("_", " ")) for unit in sample.units]
    return parent.parent(references[-1], references, values, weight=0.5, max_order=4)


def last(sample: Sample) -> Texts:
    """Write the last reference."""
    return (sample.references[-1],)


def both(sample: Sample) -> Texts:
    """Write the first and the last reference."""
    return first(sample), sample.references[-1]


def slow_order(few: list[Sample]) -> None:
    """Judge both outputs as `tests/oracles/order.py` does."""
    for sample in few:
        for text in both(sample):
            order.judge(sample, text)


def slow_rule(few: list[Sample]) -> None:
    """Judge copies as `tests/oracles/copy_rule.py` does, by both rules."""
    for sample in few:
        for whole in (False, True):
            copy_rule.judge(sample, copied(sample), whole=whole)


def spor(corpus: str) -> None:
    """PARENT, order, CWIO and the copy rule on the released test sets."""
    ordered = named.load("order_invariance", corpus, part="main").test
    hidden = named.load("rule_learnability", corpus).test

    cases: tuple[tuple[str, Metric, Sequence[Sample], Write, Callable[[Any], object]], ...] = (
        ("PARENT", Parent(), ordered, last, lambda few: [*map(slow_parent, few)]),
        ("order", ORDER_INVARIANCE, ordered, both, slow_order),
        ("CWIO", CWIO, ordered, one, lambda few: order.cwio(few, [*map(first, few)])),
        ("copy rule", COPY_RULE, hidden, lambda s: (copied(s),), slow_rule),
    )
    for name, metric, samples, write, slow in cases:
        few = [*samples[:: len(samples) // FEW][:FEW]]
        each = seconds(partial(slow, few)) / len(few)
        work = judged(metric, samples, write)
        show_pace(f"{corpus} {name}", len(samples), "samples", work, slow=(SLOW, each))


def moved(sample: Sample) -> str:
    """Write the two halves of the first reference in the other order."""
    words = first(sample).split()
    return " ".join([*words[len(words) // 2 :], *words[: len(words) // 2]])


def sacre() -> None:
    """TER and chrF of two systems, beside sacrebleu's of each output alone."""
    samples = named.load("order_invariance", "webnlg", part="main").test[:400]
    both = [(sample, text) for sample in samples for text in (last(sample)[0], moved(sample))]
    repeated_samples, outputs = [sample for sample, _ in both], [(text,) for _, text in both]

    def alone(scorer: Any) -> None:
        for sample, text in both[:FEW]:
            scorer.sentence_score(text, list(sample.references))

    scorers = (("chrF", CHRF, sacrebleu.CHRF()), ("TER", TER, sacrebleu.TER()))
    for name, metric, theirs in scorers:
        each = seconds(partial(alone, theirs)) / FEW
        work = partial(metric.judge, repeated_samples, outputs)
        show_pace(f"{name} of two systems", len(both), "outputs", work, slow=("sacrebleu", each))


def repeated() -> None:
    """Outputs that repeat themselves to 128 words; then memory, by the number of rows."""
    samples = named.load("order_invariance", "webnlg", part="main").test
    for name, metric in (("PARENT", PARENT), ("CWIO", CWIO)):
        once = seconds(judged(metric, samples, one), 3)
        work = judged(metric, samples, lambda s: (" ".join((first(s).split() * 128)[:128]),))
        loop = seconds(work, 3)
        show(
            f"{name}, outputs repeated to 128 words", f"{loop:.2f} s", ratio=once / loop, to="once"
        )
    rows = [{**to_row(sample), "output": first(sample)} for sample in samples[:500]]
    with tempfile.TemporaryDirectory() as place:
        for times in (1, 1, 4, 16):  # the first fills the caches
            file = Path(place) / "outputs.jsonl"
            write_rows(file, rows * times)
            tracemalloc.start()
            score([file], metrics=["parent"], corpus="webnlg")
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            show(f"spor score of {len(rows) * times:,} rows", f"{peak / 1e6:.1f} MB")


def totto_metrics(data: Path) -> None:
    """ToTTo's inputs on real examples, and its metrics beside the published algorithms."""
    path = data / "dev_25.jsonl"
    samples = [*totto_reader.read(path)]
    n = len(samples)

    def words(text: str) -> list[str]:
        return str(Tokenizer13a()(text.strip().lower())).split()

    def slow(sample: Sample) -> None:
        references = [words(text) for text in sample.references]
        table = table_of(sample)
        cells = (
            [words(cell.value) for cell in of] for of in (table.cells, table.highlighted_cells)
        )
        totto.parent(references[-1], references, *cells)

    for variant in ("subtable_metadata", "fulltable_metadata"):
        write = partial(published, variant=variant)
        show_pace(f"ToTTo {variant}", n, "samples", lambda: [*map(write, samples)])  # noqa: B023
    each = seconds(lambda: [*map(slow, samples)]) / n
    for name, metric in (("totto", TOTTO), ("totto_real", TOTTO_REAL)):
        work = judged(metric, samples, lambda s: (s.references[-1],))
        to = "PARENT alone, the slow version"
        show_pace(f"the whole metric {name}", n, "samples", work, slow=(to, each))


def bleu(data: Path) -> None:
    """LogicNLG's BLEU of shipped outputs, beside NLTK's, which the published code calls."""
    given = json.loads((data / "outputs" / "field_infusing.json").read_bytes())
    make, rows = SampleMaker("logicnlg"), [row for _, row in read_outputs(given, "outputs")]
    samples = [from_row(row, make, where="outputs") for row in rows]
    texts = [(row["output"],) for row in rows]
    weights = ((1, 0, 0), (0.5, 0.5, 0), (0.33, 0.33, 0.33))

    def nltk() -> None:
        for sample, (text,) in zip(samples, texts, strict=True):
            references = [reference.lower().split(" ") for reference in sample.references]
            for each in weights:
                sentence_bleu(references, text.lower().split(), each)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        each = seconds(nltk) / len(rows)
    work = partial(LOGICNLG_BLEU.judge, samples, texts)
    show_pace("LogicNLG's BLEU", len(rows), "outputs", work, slow=("NLTK's", each))


def facts() -> None:
    """Pairs of unit and output that a tiny classifier judges, in batches and one by one."""
    samples = named.load("order_invariance", "mini", part="performance").test
    pairs = sum(len(sample.units) for sample in samples)
    with tempfile.TemporaryDirectory() as place:
        path = str(save_classifier(Path(place)))
        each = 0.0
        for size in (1, 8, 32, 128):
            metric = judges.facts(path, device="cpu", batch_size=size)
            work = judged(metric, samples, one)
            took = show_pace(
                f"facts in batches of {size}", pairs, "pairs", work, slow=("one by one", each)
            )
            each = each or took


if __name__ == "__main__":
    torch.set_num_threads(1)  # for a model this small, threads cost more than they bring
    facts()
    if folder("SPOR_DATA_DIR"):
        for corpus in released.CORPORA:
            spor(corpus)
        sacre()
        repeated()
    if data := folder("TOTTO_DATA_DIR"):
        totto_metrics(data)
    if data := folder("LOGICNLG_DATA_DIR"):
        bleu(data)
