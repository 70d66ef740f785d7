"""SP-Acc of LogicNLG: the share of outputs that a program says are true of the table.

The published score (Chen et al., ACL 2020, section 3 and parse_programs.py) links an output to the
table, searches for all programs that it may mean, and lets a ranker choose among their verdicts.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache, partial
from multiprocessing import get_context
from typing import Any, NamedTuple

from tqdm import tqdm

from spor_tasks import __version__
from spor_tasks.core.errors import ConfigError, CorpusError
from spor_tasks.core.sample import Sample
from spor_tasks.core.table import Table
from spor_tasks.corpora.logicnlg import linking
from spor_tasks.corpora.logicnlg.columns import TypedTable, typed
from spor_tasks.corpora.logicnlg.linearize import table_of
from spor_tasks.metrics.base import EvidenceMetric, ScoreInfo, Texts
from spor_tasks.metrics.learned import has_words
from spor_tasks.metrics.programs.ranking import LexicalRanker, Ranker, RankerInput
from spor_tasks.metrics.programs.search import Found, search
from spor_tasks.metrics.programs.states import COUNTED, Finished, Limits, Mentions, Stop
from spor_tasks.metrics.totals import Value

LEXICAL = "lexical"
"""Names the ranker, which compares words and needs no model."""

_MOST_RANKED = 36  # programs that the ranker looks at, the first of the search [code]
_FEW = 8  # of so many programs the best one decides
_BEST = 3  # of more, one of these
_MOST_WORDS = 200  # of a sentence; the longest of the data has 50
_LONGEST = 2000  # characters
_SHOWN = 20  # seconds of searching that nobody need be told of


@dataclass(frozen=True, slots=True)
class Judged:
    """The verdict of an output, and the programs that it comes from.

    ``best`` are the programs that decide, the best one first: one, or three where there are more
    than eight. The output is ``true`` if one of them is. ``programs`` counts all that were found,
    and ``stop`` says why the search ended; it is None where there was none.
    """

    true: bool = False
    programs: int = 0
    best: tuple[Finished, ...] = ()
    linked: linking.Linked | None = None
    stop: Stop | None = None

    @property
    def is_cut(self) -> bool:
        """Whether a limit of states or time ended the search."""
        return self.stop in {Stop.STATES, Stop.SECONDS}


@dataclass(frozen=True, slots=True)
class SpAcc(EvidenceMetric[Judged | None]):
    """How many outputs a program says are true, of all and of those with a program.

    An output without a word or without a program counts as false, as published. One of more than
    200 words or 2,000 characters is not a sentence, and is not searched for. Whether a limit
    ended its search is in ``sp_cut``; the programs found until then decide.

    A table with a row that is longer than its header has no verdict, nor has one without a column:
    its outputs are not scored. A row that is too short ends with missing values, and of two headers
    with one name the second is numbered (`name.1`); they are scored. Sentence and table are
    lower-cased, as the tables of LogicNLG are.

    ``processes`` search at once. Each imports this package anew, so a script that uses more than
    one must not do its work on import.
    """

    scores = (
        ScoreInfo("sp_acc", "SP-Acc"),
        ScoreInfo("sp_found", "with a program", own_title="SP-Acc: with a program"),
        ScoreInfo("sp_acc_found", "SP-Acc, with a program", of_some=True),
        ScoreInfo("sp_cut", "search cut", higher_is_better=None, own_title="SP-Acc: search cut"),
    )
    logged = ("sp_program", "sp_verdict", "sp_programs", "sp_search")

    ranker: Ranker = field(default_factory=LexicalRanker)
    limits: Limits = field(default_factory=Limits)
    processes: int = 1

    @property
    def signature(self) -> str:
        """Whatever can change the numbers."""
        return (
            f"sp_acc|{self.ranker.signature}|operators:published"
            f"|{self.limits.signature}|{linking.SIGNATURE}|v:{__version__}"
        )

    def measured(self, sample: Sample, output: str) -> Judged | None:
        """Judge one output; many are judged faster together."""
        return self.measure([sample], [(output,)])[0]

    def measure(self, samples: Sequence[Sample], outputs: Sequence[Texts]) -> list[Judged | None]:
        """Judge the outputs together; None is an output about a table that cannot be read.

        Raises:
            CorpusError: a sample has no table.
        """
        texts = [output for (output,) in outputs]
        can = [_is_readable(sample) for sample in samples]
        jobs = [
            _Job(_lower(table_of(sample)), _title(sample), text, self.limits)
            for sample, text, is_readable in zip(samples, texts, can, strict=True)
            if is_readable and _is_sentence(text)
        ]
        readings = list(self._read(jobs))
        asked = [
            [RankerInput(job.title, job.text, one.program) for one in _ranked(reading)]
            for job, reading in zip(jobs, readings, strict=True)
        ]
        scored = iter(self.ranker([item for items in asked for item in items]))
        judged = iter(
            [
                _decided(reading, [next(scored) for _ in items])
                for reading, items in zip(readings, asked, strict=True)
            ]
        )
        return [
            None if not is_readable else next(judged) if _is_sentence(text) else Judged()
            for is_readable, text in zip(can, texts, strict=True)
        ]

    def _read(self, jobs: Sequence["_Job"]) -> Iterator["_Reading"]:
        shown = partial(tqdm, total=len(jobs), desc="programs", delay=_SHOWN, disable=None)
        if self.processes == 1 or len(jobs) <= 1:
            yield from shown(map(_read, jobs))
            return
        pool = ProcessPoolExecutor(self.processes, mp_context=get_context("spawn"))
        try:
            yield from shown(pool.map(_read, jobs))
        finally:
            pool.shutdown(cancel_futures=True)

    def values(self, evidence: Judged | None) -> dict[str, Value]:
        """Return what one output adds to each score: 0 or 100."""
        if evidence is None:
            return {"sp_acc": None, "sp_found": None, "sp_cut": None}
        true, found = 100.0 * evidence.true, evidence.programs > 0
        of_all: dict[str, Value] = {
            "sp_acc": true,
            "sp_found": 100.0 * found,
            "sp_cut": 100.0 * evidence.is_cut,
        }
        if not found:
            return of_all
        return {**of_all, "sp_acc_found": true}

    def describe(self, _: Sample, __: Texts, evidence: Judged | None, /) -> dict[str, Any]:
        """Return the values, the links of the sentence, and the best programs."""
        if evidence is None or evidence.linked is None or evidence.stop is None:
            return dict(self.values(evidence))
        best = evidence.best[0] if evidence.best else None
        return {
            **self.values(evidence),
            "sp_linked": evidence.linked.sentence,
            "sp_columns": evidence.linked.columns,
            "sp_search": evidence.stop.value,
            "sp_programs": evidence.programs,
            "sp_program": best and best.program,
            "sp_verdict": best and best.verdict,
            "sp_best": [f"{one.program}={one.verdict}" for one in evidence.best],
        }


SP_ACC = SpAcc()
"""The metric with the default limits."""


def load(ranker: str = LEXICAL) -> SpAcc:
    """Return the metric with the ranker of this name.

    Raises:
        ConfigError: the ranker does not exist.
    """
    if ranker != LEXICAL:
        raise ConfigError(f"there is no ranker {ranker!r}", remedy=f"Use {LEXICAL}.")
    return SP_ACC


# --- One output -----------------------------------------------------------------------------------


class _Reading(NamedTuple):
    linked: linking.Linked
    found: Found


class _Job(NamedTuple):
    table: Table
    title: str
    text: str
    limits: Limits


def _read(job: _Job) -> _Reading:
    table, linker = _linker(job.table, job.title)
    linked = linker.link(job.text)
    mentions = Mentions(
        linked.sentence,
        linked.tags,
        linked.texts,
        tuple((COUNTED if column is None else column, value) for column, value in linked.numbers),
        linked.text_columns,
        linked.number_columns,
    )
    return _Reading(linked, search(table, mentions, job.limits))


@lru_cache(maxsize=64)  # a table has several outputs, one after another
def _linker(table: Table, title: str) -> tuple[TypedTable, linking.Linker]:
    of = typed(table)
    return of, linking.Linker(table, of, title)


def _ranked(reading: _Reading) -> tuple[Finished, ...]:
    return reading.found.programs[:_MOST_RANKED]


def _decided(reading: _Reading, scores: Sequence[float]) -> Judged:
    """Return the verdict of the programs that fit best, of equal ones the first."""
    programs = _ranked(reading)
    order = sorted(range(len(programs)), key=lambda i: -scores[i])
    best = tuple(programs[i] for i in order[: _BEST if len(programs) > _FEW else 1])
    true = any(one.verdict for one in best)
    linked, found = reading
    return Judged(true, len(found.programs), best, linked, found.stop)


def _lower(table: Table) -> Table:
    header, *rows = (tuple(map(str.lower, row)) for row in (table.header, *table.rows))
    return Table(header, tuple(rows))


def _is_sentence(text: str) -> bool:
    return has_words(text) and len(text) <= _LONGEST and len(text.split()) <= _MOST_WORDS


def _is_readable(sample: Sample) -> bool:
    if not isinstance(sample.table, Table):
        raise CorpusError(
            "has no table that a program could be about",
            where=f"sample {sample.id} of {sample.corpus}",
            remedy="Score outputs for the corpus logicnlg.",
        )
    table = table_of(sample)
    return bool(table.header) and all(len(row) <= len(table.header) for row in table.rows)


def _title(sample: Sample) -> str:
    return sample.about("title") or ""
