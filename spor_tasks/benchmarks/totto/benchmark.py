"""ToTTo as a benchmark: its sets, its tables, and what was published beside them."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from spor_tasks.benchmarks.published import beside
from spor_tasks.benchmarks.totto import sets as declared
from spor_tasks.core.contracts import Gap
from spor_tasks.results.rows import Comparison
from spor_tasks.results.tables import Grid, by_metric, full_title, label, section_title


class ToTTo:
    """The registered benchmark ``totto``; the contract describes its methods."""

    name = declared.BENCHMARK
    title = declared.TITLE
    groups: Mapping[str, str] = {declared.BENCHMARK: declared.TITLE}
    source = "https://github.com/google-research-datasets/ToTTo"
    paper = (
        "Parikh et al., EMNLP 2020 (arXiv:2004.14373), Tables 8 and 10; leaderboard in the README "
        "of google-research-datasets/ToTTo, commit 7b0ad5368ed523f75dc872249ce200f99d2d4b15; all "
        "on the hidden test set"
    )

    sets = staticmethod(declared.specs)
    find = staticmethod(declared.find)
    load = staticmethod(declared.load)
    published = staticmethod(partial(beside, declared.BENCHMARK))

    def grids(self, rows: Sequence[Comparison]) -> Iterator[Grid]:
        """Yield the paper's results of each input, other scores, and its ablation of the inputs."""
        parts = {row.part: row for row in rows if not row.published}
        for part, first in parts.items():
            yield from _of_input(full_title(first), [row for row in rows if row.part == part])
        if len(parts) > 1:
            yield from _by_input(section_title(rows[0]), rows)


_PUBLISHED = ("totto_bleu", "totto_parent")
_REAL = ("totto_bleu_real", "totto_parent_real")
_REAL_REFERENCES = "real references"
_FURTHER: tuple[str, ...] = ()  # all scores that no other table has
_TABLES = (
    ("", "references padded to three, as published", _PUBLISHED),
    (_REAL_REFERENCES, "without the pads", _REAL),
    ("other scores", "ours without the pads", _FURTHER),
)


def _of_input(title: str, rows: Sequence[Comparison]) -> Iterator[Grid]:
    for name, about, scores in _TABLES:
        part = [row for row in rows if scores == _scores_of_table(row.metric)]
        if part:
            yield by_metric(_named(title, name), _ordered(part), _header, _about(about, part))


def _scores_of_table(metric: str) -> tuple[str, ...]:
    """Return the scores of the table that a metric stands in."""
    score, _ = _split(metric)
    return next((scores for _, _, scores in _TABLES if score in scores), _FURTHER)


def _by_input(title: str, rows: Sequence[Comparison]) -> Iterator[Grid]:
    """Yield the scores of all four inputs, without published systems that have only one."""
    several = {row.name for row in rows if row.published and row.part}
    compared = [row for row in rows if not row.published or row.name in several]
    inputs = {row.part: row.spec.part_title or "subtable" for row in compared}
    for name, about, scores in _TABLES:
        if part := [row for score in scores for row in compared if row.metric == score]:
            yield by_metric(
                _named(f"{title}, by input", name),
                part,
                lambda key: f"{_header((None, key[1]))}, {inputs[key[0]]}",
                _about(about, part),
            )


def _split(metric: str) -> tuple[str, str]:
    """Return the score that a metric is about, and of which samples, or that it is their gap."""
    if gap := Gap.of(metric):
        return _split(gap.one)[0], _GAP
    for half, name in _HALVES.items():
        if metric.endswith(f"_{half}"):
            return metric.removesuffix(f"_{half}"), name
    return metric, ""


_GAP = "gap"
_HALVES = dict(zip(declared.HALVES, ("overlap", "non-overlap"), strict=True))


def _ordered(rows: Sequence[Comparison]) -> list[Comparison]:
    """Return each score of all samples first, then of both halves, then the gap between them."""
    scores = rows[0].spec.shown
    return sorted(
        rows, key=lambda row: (scores.index(_split(row.metric)[0]), scores.index(row.metric))
    )


def _header(column: tuple[str | None, str]) -> str:
    score, group = _split(column[1])
    return _named(label(score).removesuffix(f", {_REAL_REFERENCES}"), group)


def _named(*parts: str) -> str:
    return ", ".join(filter(None, parts))


def _about(about: str, rows: Sequence[Comparison]) -> Iterator[str]:
    """Yield a word on the references, the gap and the published rows."""
    yield about
    if any(_split(row.metric)[1] == _GAP for row in rows):
        yield "gap: non-overlap − overlap"
    if any(row.published for row in rows):
        yield "ours of the development set, the published rows of the hidden test set"


TOTTO = ToTTo()
