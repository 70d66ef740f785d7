"""The truth of a sentence about an embedded table of LogicNLG.

The corpus `logicnlg_mini` has a language of its own, in which each sentence means one program. The
program is executed, so there is nothing to guess.
"""

from typing import NamedTuple

from spor_tasks import __version__
from spor_tasks.core.errors import CorpusError
from spor_tasks.core.sample import Sample
from spor_tasks.core.table import Table
from spor_tasks.corpora.embedded import LOGICNLG_MINI
from spor_tasks.corpora.embedded.statements import parse
from spor_tasks.corpora.logicnlg.linearize import table_of
from spor_tasks.metrics.base import Judgement, Metric, ScoreInfo
from spor_tasks.metrics.sp_acc import is_true

_NAME = LOGICNLG_MINI.name


class Meaning(NamedTuple):
    """The kind of logic of a sentence, its program, and whether this is true."""

    logic: str
    program: str
    true: bool


class _Truth(Metric):
    """The share of true outputs, and of outputs that are sentences of the language at all."""

    scores = (
        ScoreInfo("truth", "true", is_share=True),
        ScoreInfo("truth_readable", "readable", is_share=True),
    )
    signature = f"truth|language:1|operators:published|v:{__version__}"

    def judge_one(self, sample: Sample, output: str) -> Judgement:
        """Return whether an output is true, and its program.

        Raises:
            CorpusError: the sample is of another corpus, or its table is missing or damaged.
        """
        if sample.corpus != _NAME:
            raise CorpusError(
                "has no language in which a sentence is known to be true",
                where=f"sample {sample.id} of {sample.corpus}",
                remedy=f"Score outputs for the corpus {_NAME}.",
            )
        read = meaning(output, table_of(sample))
        values = {
            "truth": 100.0 * (read is not None and read.true),
            "truth_readable": 100.0 * (read is not None),
        }
        return Judgement(values, {**values, "program": read and read.program})


def meaning(text: str, table: Table) -> Meaning | None:
    """Return the meaning of a text about an embedded table, None if the language does not have it.

    Raises:
        CorpusError: the table is damaged, so that the program has no truth value.
    """
    statement = parse(text, table)
    if statement is None:
        return None
    true = is_true(statement.program, table)
    if true is None:
        raise CorpusError(
            f"the program {statement.program} has no truth value",
            where=f"table of {', '.join(table.header)}",
            remedy=f"Give each row a name, a place and a number, as the corpus {_NAME} does.",
        )
    return Meaning(*statement, true)


TRUTH = _Truth()
