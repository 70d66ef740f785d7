"""The splits of a protocol as one run, of the samples of all splits together.

Why: docs/decisions/pooled-splits.md. A system that was read under all splits at once has such a
score already.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean

from spor_tasks.results.facts import Declared
from spor_tasks.results.logged import AllLogged, Logged
from spor_tasks.results.runs import Problem, Run, RunKey

# Facts in which the splits of a protocol differ.
_OF_SPLIT = frozenset({"task", "test_sha256", "n", "demonstrations_sha256"})


def pooled(results: Iterable[Run], logged: AllLogged) -> tuple[list[Run], AllLogged, list[Problem]]:
    """Return a run of all splits for each model, arm and seed, with their samples.

    Runs of all splits at once are returned as they are. A seed that lacks a split which another
    seed of the same arm has is left out.
    """
    runs: list[Run] = []
    wholes: list[Run] = []
    of_runs: dict[RunKey, Logged] = {}
    problems: list[Problem] = []
    parts: dict[object, set[str]] = defaultdict(set)
    systems: dict[tuple[object, ...], dict[int | None, dict[str, list[Run]]]]
    systems = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for result in results:
        sets = result.spec.sets
        if sets.part is None:
            wholes.append(replace(result, signature=_shared(result)))
            of_runs |= {result.id: logged[result.id]} if result.id in logged else {}
            continue
        protocol = sets.corpus, sets.protocol, result.variant
        parts[protocol].add(sets.part)
        facts = *sorted(_shared(result).items()), *sorted(result.training.items())
        system = protocol, result.model, result.arm, facts
        systems[system][result.seed][sets.part].append(result)
    for (of_protocol, *_), by_seed in systems.items():
        unequivocal = [
            {
                split: first
                for split, (first, *copies) in by_split.items()
                if all(copy.scores == first.scores for copy in copies)
            }
            for by_split in by_seed.values()
        ]
        seeds = [by_split for by_split in unequivocal if by_split]
        splits = sorted({split for by_split in seeds for split in by_split})
        complete = [by_split for by_split in seeds if len(by_split) == len(splits)]
        if seeds and not complete:
            example = next(iter(seeds[0].values()))
            what = "no training seed has all these splits, so they are not put together"
            problems.append(Problem("incomplete", f"{example.model}: {example.task}", what))
        notes = []
        if len(splits) < (number := len(parts[of_protocol])):
            notes.append(f"{len(splits)} of {number} splits")
        if len(complete) < len(seeds):
            notes.append("some splits were trained with more seeds")
        for by_split in complete:
            run, samples = _joined({split: by_split[split] for split in splits}, logged, notes)
            runs.append(run)
            of_runs |= {run.id: samples} if samples else {}
    return [*runs, *wholes], of_runs, problems


def _shared(result: Run) -> Mapping[str, str]:
    return {fact: value for fact, value in result.signature.items() if fact not in _OF_SPLIT}


def _joined(
    parts: Mapping[str, Run], logged: AllLogged, notes: Sequence[str]
) -> tuple[Run, Logged | None]:
    """Return one run of the samples of all splits, and these, if all splits logged them."""
    first = next(iter(parts.values()))
    known = {split: logged[run.id] for split, run in parts.items() if run.id in logged}
    spec = Declared.together([run.spec for run in parts.values()])
    whole = Logged.joined(known, spec) if len(known) == len(parts) else None
    scores: dict[str, float] = {}
    for metric in spec.displayed:
        if not spec.totals(metric).is_logged:  # the mean of the splits' own
            of_splits = [run.scores[metric] for run in parts.values() if metric in run.scores]
            scores |= {metric: fmean(of_splits)} if of_splits else {}
        elif whole and metric in whole.columns:
            scores[metric] = whole.columns[metric].value
    whole_sets = replace(first.spec.sets, part=None, part_title=None)
    spec = replace(spec, sets=whole_sets)
    run = replace(
        first,
        key=f"{first.key}, {len(parts)} splits",
        asked=first.asked._replace(split=None),
        spec=spec,
        scores={metric: score for metric, score in scores.items() if not math.isnan(score)},
        log=replace(first.log, stderrs={}, splits=tuple(parts), notes=tuple(notes)),
        n=sum(result.n for result in parts.values()),
        documents=sum(result.documents or result.n for result in parts.values()),
        signature=_shared(first),
    )
    return run, whole
