"""CompMCTG's tables: all splits of a protocol together, the paper's averages and its slips."""

from dataclasses import replace
from pathlib import Path
from statistics import fmean

import numpy as np
from msgspec.structs import replace as changed

from spor_tasks import report
from spor_tasks.benchmarks.compmctg.benchmark import COMPMCTG
from spor_tasks.metrics.tally import Column
from spor_tasks.metrics.totals import COUNTED_MEAN, GAP_OF_SAME, RELATIVE_GAP
from spor_tasks.report import averages, tables
from spor_tasks.report.document import Document, plain_text
from spor_tasks.report.layout import fill
from spor_tasks.report.plots import draw
from spor_tasks.report.published import published_rows
from spor_tasks.results.compare import comparisons
from spor_tasks.results.facts import Adapter, Declared
from spor_tasks.results.logged import Logged
from spor_tasks.results.pooling import pooled
from spor_tasks.results.runs import Asked, Run
from tests.support import attribute_runs, golden

GAP = "mctg_acc_comp - mctg_acc_id"


LOGGED = {}
"""The samples of each run, by its key."""


def specs(corpus, protocol):
    return [
        COMPMCTG.find("compmctg", corpus, protocol, part)
        for spec in COMPMCTG.sets()
        if (spec.sets.corpus, spec.sets.protocol) == (corpus, protocol)
        for part in spec.splits or (None,)
    ]


YELP = specs("yelp", "acd")


def halves(seen, comp, gap=0):
    """Return the scores of a split, with the gap that its own texts have."""
    return {
        "mctg_acc": (seen + comp) / 2,
        "mctg_acc_id": seen,
        "mctg_acc_comp": comp,
        "mctg_gap": gap or 100 * (seen - comp) / seen,
        GAP: comp - seen,
    }


def run(spec, scores, *, model="base", seed=0, n=10):
    """Return a run, untuned without a seed; its samples have its score or that of their half."""
    result = Run(
        file=Path(f"{model} {spec.task} {spec.sets.part} {seed}"),
        key=str(len(LOGGED)),
        asked=Asked(spec.task, spec.task, "", None, spec.sets.part_title),
        spec=Declared.of(spec),
        model=model,
        adapter=None if seed is None else changed(Adapter.of("train", sha256="a" * 64), seed=seed),
        scores=scores,
        n=n,
        signature={"quantization": "None"},
    )
    ids = tuple(f"{number:03}" for number in range(n))
    columns = {name: Column.of([value] * n) for name, value in scores.items()}
    if GAP in scores:
        seen, comp = ([scores[f"mctg_acc_{half}"]] * (n // 2) for half in ("id", "comp"))
        columns = {
            "mctg_acc": Column.of([*seen, *comp]),
            "mctg_acc_id": Column.of([*seen, *[None] * len(comp)], COUNTED_MEAN),
            "mctg_acc_comp": Column.of([*[None] * len(seen), *comp], COUNTED_MEAN),
            "mctg_gap": Column.of(
                [*((value, 1, 0, 0) for value in seen), *((0, 0, value, 1) for value in comp)],
                RELATIVE_GAP,
            ),
        }
        columns[GAP] = columns["mctg_acc_comp"].less(columns["mctg_acc_id"])
    LOGGED[result.key] = Logged(ids, np.arange(n), columns, ids)
    return result


def acc(split, value, **settings):
    return run(YELP[split], {"mctg_acc": float(value)}, **settings)


def logged_of(runs):
    return {run.id: LOGGED[run.key] for run in runs if run.key}


def put_together(runs):
    whole, logged, problems = pooled(runs, logged_of(runs))
    return comparisons(whole, logged)[0], problems


def together(*runs):
    return put_together(runs)[0]


def grids(rows):
    return tuple(fill(rows[0].spec.about.tables, rows))


def grids_of(*runs):
    return grids(together(*runs))


# --- Splits together ------------------------------------------------------------------------------


def test_splits_without_a_common_seed_have_no_score():
    score = {"mctg_acc": 80.0}
    found, problems = put_together([run(YELP[0], score), run(YELP[1], score, seed=7)])
    assert found == ()
    assert "no training seed" in str(problems[0])


def test_the_same_thing_under_another_split_is_another_thing():
    """So the gap of both splits is the mean of theirs, weighed by what their halves share."""
    of = [
        [(0.0, 7.0, 100.0), (1.0, 7.0, 25.0)],
        [(0.0, 7.0, 40.0), (0.0, 8.0, 9.0), (1.0, 7.0, 30.0)],
    ]
    found = Column.joined([Column.of(values, GAP_OF_SAME) for values in of])
    assert found.value == (75 + 10) / 2
    assert found.scored.all()


# --- Tables ---------------------------------------------------------------------------------------


def averaged(*corpora):
    runs = []
    for number, corpus in enumerate(corpora):
        runs.append(run(specs(corpus, "original")[0], {"mctg_acc": 80.0 + number}))
        for protocol in ("holdout", "acd", "fewshot"):
            scores = halves(80 + number, 60 - 10 * (protocol == "fewshot"))
            runs += [run(spec, scores) for spec in specs(corpus, protocol)]
    return together(*runs)


def layouts():
    tuned = [run(spec, halves(80, 40)) for spec in YELP]
    other = run(YELP[1], halves(80, 40), model="other")
    untuned = run(COMPMCTG.find("compmctg", "yelp", "acd"), halves(50, 40), seed=None)
    own = COMPMCTG.find("compmctg", "weather", "acd", "0")
    exact = {"mini_acc": 40.0, "mini_gap_real": 40.0}
    rows = together(*tuned)
    yield "All splits", grids([*rows, *published_rows(rows)])
    for corpus, protocol in (("mixture", "holdout"), ("yelp", "fewshot")):  # one is published
        one = together(run(specs(corpus, protocol)[0], {"mctg_acc": 80.0}))
        yield f"{corpus}, {protocol}", grids([*one, *published_rows(one)])
    # The gap is 100 * (70 - 47) / 70, not the mean of 50 and 10.
    yield "Two splits", grids_of(tuned[0], run(YELP[1], halves(60, 54)))
    yield "Splits of 30 and 10 texts", grids_of(acc(0, 80, n=30), acc(1, 40))
    seeds = [acc(0, 80 + 2 * seed, seed=seed) for seed in range(3)]
    yield "Seeds of every split", grids_of(*seeds, acc(1, 60), acc(1, 62, seed=1))
    copy = replace(acc(1, 80), file=Path("copy"))
    yield "The same file twice", grids_of(acc(0, 80), acc(1, 80), copy)
    other_copy = replace(copy, scores={"mctg_acc": 70.0})
    yield "Files that differ on a split", grids_of(acc(0, 80), acc(1, 80), other_copy)
    yield "No samples", grids_of(*(replace(acc(n, 80), key="") for n in (0, 1)))
    yield "One split", grids_of(tuned[3])
    yield "Two splits, one by another model too", grids_of(*tuned[:2], other)
    yield "A model without tuning", grids_of(untuned)
    yield "A model without tuning and after it", grids_of(untuned, *tuned)
    yield "No right text", grids_of(*(run(spec, halves(0, 0, 1)) for spec in YELP[:2]))
    yield "An embedded corpus", grids_of(*(run(s, exact) for s in specs("compmctg_mini", "acd")))
    yield "A space of one's own", grids_of(run(own, {"mctg_acc": 40.0, "mctg_gap_real": 40.0}))
    yield "Averages", averages.averaged(averaged("fyelp", "amazon", "yelp", "mixture"))
    yield "No averages of three corpora", averages.averaged(averaged("fyelp", "yelp", "mixture"))


def test_tables_are_the_golden_ones(tmp_path):
    written = report.collect([attribute_runs.write(tmp_path)])
    assert not [problem for problem in written.problems if problem.lost]
    found = [*layouts(), ("From result files", tables.document(written).grids)]
    texts = (f"# {name}\n\n{plain_text(Document(name, tuple(grids)))}" for name, grids in found)
    golden.same("compmctg.txt", "\n\n".join(texts) + "\n")


def test_both_halves_of_a_protocol_are_drawn_with_the_gap_of_their_means():
    runs = [run(spec, halves(80 + number, 60 - number)) for number, spec in enumerate(YELP)]
    rows, _ = comparisons(runs, logged_of(runs))
    original = together(run(specs("yelp", "original")[0], {"mctg_acc": 80.0}))
    assert "halves" not in {plot.name for plot in draw(original, ())}
    (found,) = (plot for plot in draw(rows, ()) if plot.name == "halves")
    seen, comp = 80 + fmean(range(10)), 60 - fmean(range(10))
    assert f"+{100 * (seen - comp) / seen:.1f} %" in found.svg
    assert "CompMCTG Yelp, ACD: Accuracy" in found.svg
