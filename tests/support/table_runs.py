"""Runs about the tables of LogicNLG: written sentences with programs, pairs, and likelihoods."""

from dataclasses import replace

from spor_tasks.core.codec import doc_of
from spor_tasks.core.table import Table
from spor_tasks.corpora.embedded import LOGICNLG_MINI
from spor_tasks.metrics.adversarial import ADVERSARIAL
from spor_tasks.metrics.likelihood import Likelihood
from spor_tasks.metrics.perplexity import PERPLEXITY
from tests.support.invented_runs import HOSTILE
from tests.support.result_files import (
    edited,
    means_of,
    rows_of,
    values_in,
    write_result,
    write_samples,
)

TASK = "logicnlg_mini"
PAIRS, PPL = f"{TASK}_adversarial", f"{TASK}_ppl"
ROWS = 60
"""Of the table of the last sample, which is longer than what is shown at once."""

READ = {
    "sp_program": "eq{1; count{all_rows}}",
    "sp_verdict": False,
    "sp_programs": 2,
    "sp_search": "enough",
}
UNREAD = {"sp_program": None, "sp_verdict": None, "sp_programs": 0, "sp_search": "steps"}
LOGS = ((-20.0, 10, -24.0, 10), (-30.0, 10, -27.0, 10), (-20.0, 10, -24.0, 20), (-9.0, 9, -9.0, 9))
"""Likelihoods and tokens of true and false texts: a win, a loss, one by sum alone, a tie."""


def _damage(rows, last):
    """Give the last sample a long table of cells that mean harm, after its prompt was written."""
    rows_of_table = (
        (HOSTILE[number % len(HOSTILE)], f"cell {number}", "3") for number in range(ROWS)
    )
    table = Table((HOSTILE[0], HOSTILE[5], "goats"), tuple(rows_of_table))
    changed = {**last.context, "table": table, "title": HOSTILE[1]}
    rows[-1]["doc"] |= doc_of(replace(last, context=changed))


def write(folder, model="base"):
    """Write the results and samples of a model as it is on three tasks; return the folder."""
    told, pairs = LOGICNLG_MINI.part("test")[:4], LOGICNLG_MINI.part("pairs")[:4]
    outputs = [told[0].target, "Gisla has goats", HOSTILE[1], HOSTILE[0]]
    scores = [{"bleu_1": 60.0, "bleu_3": 50.0, "sp_acc": 0.0} for number in range(4)]
    rows = rows_of(told, ([output] for output in outputs), scores)
    harmful = {**READ, "sp_program": HOSTILE[0]}
    for row, found in zip(rows, (READ, harmful, UNREAD, {}), strict=True):
        row["doc"] |= found
    _damage(rows, told[-1])
    write_rows(folder, TASK, None, rows, model=model)
    both = [
        (Likelihood(true, of_true, len(pair.target)), Likelihood(false, of_false, len(pair.target)))
        for pair, (true, of_true, false, of_false) in zip(pairs, LOGS, strict=True)
    ]
    write_rows(folder, PAIRS, "adversarial", _given(ADVERSARIAL, pairs, both), model=model)
    own = [(true,) for true, _ in both]
    write_rows(folder, PPL, "ppl", _given(PERPLEXITY, told, own), model=model)
    return folder


def _given(metric, samples, found):
    values = [each.values for each in metric.judge(samples, found)]
    rows = rows_of(samples, ([""] * len(each) for each in found), values)
    for row, likelihoods in zip(rows, found, strict=True):
        row["resps"] = [[[str(each.log), "False"]] for each in likelihoods]
        row["filtered_resps"] = [str(each.log) for each in likelihoods]
        row["doc"]["tokens"] = [each.tokens for each in likelihoods]
    _damage(rows, samples[-1])
    return rows


def write_scores(folder, task, part, scores, *, ranker="lexical-1", **settings):
    """Write a result of a task, of version 99, which no shipped one contradicts."""
    told = {"benchmark": "logicnlg", "corpus": TASK, "protocol": "published"}
    metadata = told | settings.pop("metadata", {})
    about = {"task": task, "aspect": "logicnlg", "part": part, "arm": None, "version": 99.0}
    file = folder / f"results_{task}.json"
    write_result(file, scores=scores, metadata=metadata, **{**about, **settings})
    with edited(file) as content:
        content["configs"][task]["metadata"]["spor"]["judges"]["sp"] = f"sp_acc|ranker:{ranker}"
        captions = content["configs"][task]["metadata"]["spor"]["declared"]["about"]["captions"]
        captions["sp"] = f"our programs of SP-Acc ranked by {ranker}"
    return file


def write_rows(folder, task, part, rows, **settings):
    """Write a result whose scores follow from the values of its samples, and these samples."""
    scores = means_of(values_in(rows))
    result = write_scores(folder, task, part, scores, n=len(rows), **settings)
    write_samples(result, task, rows)
    return result
