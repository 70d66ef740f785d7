"""Write the tables of docs/tasks.md from the declarations: `python docs/generators/tasks.py`.

They stand between `<!-- BENCHMARK -->` and `<!-- end -->`; the prose around them stays. `tasks.tsv`
has the numbers of samples; `--count` renews those whose data is here.
"""

import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from spor_tasks.core import named
from spor_tasks.core.contracts import TaskSpec
from spor_tasks.core.errors import CorpusError
from spor_tasks.corpora.sources import LICENCES

HERE = Path(__file__).parent
PAGE = HERE.parent / "tasks.md"
BENCHMARKS = {sets.name: sets for sets in named.benchmarks()}
OF_AN_ASPECT = "_acc_(?:sentiment|tense|topic)$"
"""The ends of scores of one aspect, which have a score of all too."""


def counts() -> dict[str, int]:
    """Return the numbers of test samples by task."""
    lines = (HERE / "tasks.tsv").read_text("utf-8").splitlines()
    return {task: int(number) for task, number in (line.split("\t") for line in lines)}


def counted(specs: Sequence[TaskSpec] = named.available()) -> dict[str, int]:
    """Return these numbers, counted anew for sets whose data is here."""
    numbers = counts()
    for spec in specs:
        with suppress(CorpusError):
            numbers[spec.task] = len(BENCHMARKS[spec.benchmark].load(spec).test)
    return numbers


def pattern(spec: TaskSpec) -> str:
    """Return the name of a task with `C` for its corpus; in LogicNLG and ToTTo without `_mini`."""
    corpora = {each.sets.corpus for each in BENCHMARKS[spec.benchmark].sets()}
    if spec.benchmark in corpora:
        return spec.task.replace(spec.sets.corpus, spec.benchmark, 1)
    return spec.task.replace(f"_{spec.sets.corpus.removeprefix(f'{spec.benchmark}_')}", "_C", 1)


def row(*cells: str) -> str:
    """Return a row of a table of Markdown."""
    return f"| {' | '.join(cells)} |"


def code(names: Sequence[str]) -> str:
    """Return names as code."""
    return ", ".join(f"`{name}`" for name in names)


def tasks(specs: Sequence[TaskSpec]) -> Iterator[str]:
    """Yield the table of tasks: questions, numbers of samples and variants."""
    corpora = list(dict.fromkeys(spec.sets.corpus for spec in specs))
    yield row("task", "question", *(f"n: `{corpus}`" for corpus in corpora), "variants")
    yield row("---", "---", *["---:"] * len(corpora), "---")
    licences = (LICENCES[name].name if name in LICENCES else "embedded" for name in corpora)
    yield row("data", "`spor data fetch --corpus C`; its licence", *licences, "")
    grouped: dict[str, dict[str, TaskSpec]] = defaultdict(dict)
    for spec in specs:
        grouped[pattern(spec)][spec.sets.corpus] = spec
    numbers, seen = counts(), set[str]()
    for name, group in grouped.items():
        asks = re.findall(r"\S.*?[.?](?= |$)", next(iter(group.values())).asking.question)
        new = [each for each in asks if each not in seen] if asks[:1] and asks[0] in seen else asks
        seen.update(asks)
        found = (f"{numbers[group[each].task]:,}" if each in group else "" for each in corpora)
        variants = dict.fromkeys(
            f"_{variant}"
            for spec in group.values()
            for variant in (
                *spec.sets.decodings,
                *(f"icl_{arm}" for arm in spec.arms if spec.sets.in_context),
            )
        )
        yield row(f"`{name}`", " ".join(new) or "the same", *found, code([*variants]))


def scores(specs: Sequence[TaskSpec]) -> Iterator[str]:
    """Yield the table of scores, each row for the tasks that have the same."""
    grouped: dict[tuple[str, str], dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for spec in specs:
        over_all = [
            score.name
            for score in (*spec.judging.scores, *spec.judging.reported)
            if not score.group
        ]
        shown = [name for name in over_all if not re.search(OF_AN_ASPECT, name)]
        whole = [
            score.name for score in spec.judging.scores if score.name in shown and not score.group
        ]
        more = [name for name in dict.fromkeys(shown) if name not in whole]
        group = grouped[code(whole), code(more)]
        if not any(pattern(spec).startswith(f"{name}_") for name in group):
            group[pattern(spec)].append(spec.sets.corpus)
    all_of = {
        name: [s.sets.corpus for s in specs if pattern(s) == name] for name in map(pattern, specs)
    }
    yield row("tasks", "scores", "with a model or option")
    yield row("---", "---", "---")
    for (whole, more), group in grouped.items():
        of = {name: code(found) if found != all_of[name] else "" for name, found in group.items()}
        places = dict.fromkeys(of.values())
        cell = "; ".join(
            code([name for name in of if of[name] == place]) + (f" of {place}" if place else "")
            for place in places
        )
        yield row(cell, whole, more)


def page() -> str:
    """Return docs/tasks.md with new tables."""
    text = PAGE.read_text("utf-8")
    for name, sets in BENCHMARKS.items():
        lines = ["", *tasks(sets.sets()), "", *scores(sets.sets()), "<!-- end -->"]
        start, between, rest = text.partition(f"<!-- {name} -->")
        text = start + between + "\n".join(lines) + rest.partition("<!-- end -->")[2]
    return text


if __name__ == "__main__":
    if "--count" in sys.argv:
        text = "".join(f"{task}\t{number}\n" for task, number in counted().items())
        (HERE / "tasks.tsv").write_text(text, "utf-8")
    PAGE.write_text(page(), "utf-8")
