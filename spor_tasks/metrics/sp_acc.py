"""SP-Acc of LogicNLG: the share of outputs that a program says are true of the table.

The published score (Chen et al., ACL 2020, section 3 and parse_programs.py) links an output to the
table, and searches for all programs that it may mean. A ranker chooses among their verdicts.
How far it compares: docs/decisions/sp-acc.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from tqdm import tqdm

from spor_tasks import __version__
from spor_tasks.core.errors import ConfigError, CorpusError
from spor_tasks.core.references import has_words
from spor_tasks.core.sample import Sample
from spor_tasks.core.table import Table
from spor_tasks.corpora.logicnlg.columns import TypedTable, typed
from spor_tasks.corpora.logicnlg.linearize import table_of
from spor_tasks.metrics.base import Judgement, Metric, ScoreInfo, Texts
from spor_tasks.metrics.programs import linking, ranking
from spor_tasks.metrics.programs.execute import verdict
from spor_tasks.metrics.programs.search import search
from spor_tasks.metrics.programs.states import DEFAULT_LIMITS, Limits, Stop

LEXICAL = "lexical"
"""Names the ranker, which compares words and needs no model."""

_MOST_RANKED = 36  # programs that the ranker looks at, the first of the search [code]
_FEW = 8  # of so many programs the best one decides
_BEST = 3  # of more, one of these
_MOST_WORDS = 200  # of a sentence; the longest of the data has 50
_LONGEST = 2000  # characters
_PROGRESS_AFTER = 20  # seconds of searching after which progress is shown


@dataclass(frozen=True, slots=True)
class SpAcc(Metric):
    """How many outputs a program says are true, of all and of those with a program.

    An output without a word or without a program counts as false, as published. One of more than
    200 words or 2,000 characters is not a sentence, and is not searched for. ``sp_cut`` says if a
    limit ended its search; the programs found until then decide.

    A table with a row that is longer than its header has no verdict, nor has one without a column:
    its outputs are not scored. A row that is too short ends with missing values, and of two headers
    with one name the second is numbered (`name.1`); they are scored. Sentence and table are
    lower-cased, as the tables of LogicNLG are.
    """

    scores = (
        ScoreInfo("sp_acc", "SP-Acc", is_share=True),
        ScoreInfo("sp_found", "with a program", own_title="SP-Acc: with a program", is_share=True),
        ScoreInfo("sp_acc_found", "SP-Acc, with a program", of_some=True, is_share=True),
        ScoreInfo(
            "sp_cut",
            "search cut",
            higher_is_better=None,
            own_title="SP-Acc: search cut",
            is_share=True,
        ),
    )
    caption = f"our programs of SP-Acc ranked by {ranking.SIGNATURE.removeprefix('ranker:')}"
    logged = ("sp_program", "sp_verdict", "sp_programs", "sp_search")

    limits: Limits = DEFAULT_LIMITS

    @property
    def signature(self) -> str:
        """Whatever can change the numbers."""
        return (
            f"sp_acc|{ranking.SIGNATURE}|operators:published"
            f"|{self.limits.signature}|{linking.signature()}|v:{__version__}"
        )

    def judge(self, samples: Sequence[Sample], outputs: Sequence[Texts]) -> list[Judgement]:
        """Judge each output alone, and show progress where that takes long."""
        pairs = zip(samples, outputs, strict=True)
        progress = tqdm(pairs, "programs", len(samples), delay=_PROGRESS_AFTER, disable=None)
        return [self.judge_one(sample, *texts) for sample, texts in progress]

    def judge_one(self, sample: Sample, output: str) -> Judgement:
        """Return 0 or 100 to each score; then the links of the sentence, and the best programs.

        Raises:
            CorpusError: the sample has no table.
        """
        if not isinstance(sample.table, Table):
            raise CorpusError(
                "has no table that a program could be about",
                where=f"sample {sample.id} of {sample.corpus}",
                remedy="Score outputs for the corpus logicnlg.",
            )
        own = table_of(sample)
        if not own.header or any(len(row) > len(own.header) for row in own.rows):
            no_verdict = dict.fromkeys(("sp_acc", "sp_found", "sp_cut"))
            return Judgement(no_verdict, no_verdict)
        is_short = len(output) <= _LONGEST and len(output.split()) <= _MOST_WORDS
        if not is_short or not has_words(output):
            nothing = dict.fromkeys(("sp_acc", "sp_found", "sp_cut"), 0.0)
            return Judgement(nothing, nothing)
        header, *rows = (tuple(map(str.lower, row)) for row in (own.header, *own.rows))
        table, linker = _linker(Table(header, tuple(rows)), sample.about("title") or "")
        linked = linker.link(output)
        programs, stop = search(table, linked, self.limits)
        first = programs[:_MOST_RANKED]
        # Of equal ones, the first that was found.
        ranked = sorted(first, key=lambda finished: -ranking.fit(output, finished.program))
        best = ranked[: _BEST if len(first) > _FEW else 1]
        values = {
            "sp_acc": 100.0 * any(program.value for program in best),
            "sp_found": 100.0 * bool(programs),
            "sp_cut": 100.0 * (stop in {Stop.STATES, Stop.SECONDS}),
        }
        if programs:
            values["sp_acc_found"] = values["sp_acc"]
        details = {
            "sp_linked": linked.sentence,
            "sp_columns": linked.columns,
            "sp_search": stop.value,
            "sp_programs": len(programs),
            "sp_program": best[0].program if best else None,
            "sp_verdict": best[0].value if best else None,
            "sp_best": [f"{program}={verdict}" for program, verdict in best],
        }
        return Judgement(values, {**values, **details})


SP_ACC = SpAcc()
"""The metric with the default limits."""


def load(ranker: str = LEXICAL) -> SpAcc:
    """Return the metric with the ranker of this name.

    Raises:
        ConfigError: the ranker does not exist.
    """
    if ranker != LEXICAL:
        raise ConfigError(f"unknown ranker {ranker!r}", remedy=f"Use {LEXICAL}.")
    return SP_ACC


def is_true(program: str, table: Table) -> bool | None:
    """Return whether a program is true of a table; None where it has no truth value."""
    return verdict(program, typed(table))


@lru_cache(maxsize=64)  # a table has several outputs, one after another
def _linker(table: Table, title: str) -> tuple[TypedTable, linking.Linker]:
    columns = typed(table)
    return columns, linking.Linker(table, columns, title)
