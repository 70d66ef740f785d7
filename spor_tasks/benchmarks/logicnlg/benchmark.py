"""LogicNLG as a benchmark: its sets, its table, and the paper's numbers beside it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

from spor_tasks.benchmarks.logicnlg import sets as declared
from spor_tasks.benchmarks.published import beside
from spor_tasks.results.rows import Comparison
from spor_tasks.results.tables import Grid, by_metric, section_title


class LogicNLG:
    """The registered benchmark ``logicnlg``; the contract describes its methods."""

    name = declared.BENCHMARK
    title = declared.TITLE
    groups: Mapping[str, str] = {declared.BENCHMARK: declared.TITLE}
    source = "https://github.com/wenhuchen/LogicNLG"
    paper = (
        "Chen et al., ACL 2020, Table 2 (test set); SP-Acc and NLI-Acc by the paper's own models"
    )

    sets = staticmethod(declared.specs)
    find = staticmethod(declared.find)
    load = staticmethod(declared.load)
    published = staticmethod(partial(beside, declared.BENCHMARK))

    def grids(self, rows: Sequence[Comparison]) -> Iterator[Grid]:
        """Yield tables as the paper's Table 2, and of other scores.

        Models that write a template first have tables of their own.
        """
        for what, parts in _TABLES.items():
            title = ", ".join(filter(None, [section_title(rows[0]), what]))
            yield from _grids(title, [row for part in parts for row in _ordered(rows, part)])


_TABLES: Mapping[str, tuple[str | None, ...]] = {
    "": ("ppl", None, "adversarial"),
    "template first": ("c2f", "c2f_adversarial"),
}
_IN_THE_PAPER = ("ppl", "bleu_1", "bleu_2", "bleu_3", "sp_acc", "nli_acc", "adv_acc")


def _ordered(rows: Iterable[Comparison], part: str | None) -> list[Comparison]:
    """Return the rows of one part in the order of their scores, whichever a model lacks."""
    of_part = [row for row in rows if row.part == part]
    return sorted(of_part, key=lambda row: row.spec.reported.index(row.metric))


def _grids(title: str, rows: Sequence[Comparison]) -> Iterator[Grid]:
    if published := [row for row in rows if row.metric in _IN_THE_PAPER]:
        yield by_metric(title, published, about=_judges(published))
    if further := [row for row in rows if row.metric not in _IN_THE_PAPER]:
        yield by_metric(f"{title}, other scores", further)


def _judges(rows: Sequence[Comparison]) -> Iterator[str]:
    """Yield a word on the judges, which for the paper's own rows were its models."""
    rankers = {
        fact.removeprefix("ranker:")
        for row in rows
        for fact in row.signature.get("sp", "").split("|")
        if row.metric == "sp_acc" and fact.startswith("ranker:")
    }
    yield from (f"our programs of SP-Acc ranked by {name}" for name in sorted(rankers))
    has_paper = any(row.published for row in rows)
    if has_paper and any(row.metric in {"sp_acc", "nli_acc"} for row in rows):
        yield "the paper's SP-Acc and NLI-Acc are by its own models"


LOGICNLG = LogicNLG()
