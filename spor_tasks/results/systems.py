"""Results of one system, and the facts that name the rows of a model.

A system is a model that was trained and evaluated in one way, with runs of each arm and seed.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from spor_tasks.core.errors import ConfigError
from spor_tasks.results.rows import PROMPT_FACTS, Differs, prompt_in_words
from spor_tasks.results.runs import Problem, Run

_MOST_WORDS = 32
_MOST_FACTS = 6  # in the name of a row; the problems name all facts in which rows differ
_NOT_STATED = "not stated"
# Of recipes and results, where it is so.
_LEFT_OUT = {"method": "lora", "objective": "likelihood", "adapter_merged": "False"}
_OF_OBJECTIVE = "objective_settings."
_BETTER = {True: "more", False: "less", None: "neither"}

# Results that differ in one of these cannot be merged into one row.
_IDENTITY = frozenset({"task", "version", "test_sha256", "n", "scores"})

Agreed = tuple[tuple[str, str], ...]
"""Sorted facts in which the results of a row agree."""

Systems = Sequence[Sequence[Run]]
"""The results of each row of a model: those of its arms and seeds, and of the model as it is."""


def merged_facts(results: Sequence[Run], merge_by: Iterable[str]) -> frozenset[str]:
    """Return the facts in which the results of one row may differ.

    Raises:
        ConfigError: no result has such a fact, or a row must agree in it.
    """
    mergeable = {key for result in results for key in result.facts} - _IDENTITY
    requested = frozenset(merge_by)
    if unknown := sorted(requested - mergeable):
        raise ConfigError(
            f"results cannot be merged over {', '.join(unknown)}",
            where="merge_by",
            remedy=f"Name some of {', '.join(sorted(mergeable))}.",
        )
    return requested


def declared_apart(results: Iterable[Run]) -> list[Run]:
    """Return the results; those of a task whose scores are declared differently state it as a fact.

    So a damaged declaration hides no other result. A user may add scores to some results: only
    those of one name must then be declared alike.
    """
    by_task: dict[str, list[tuple[Run, str, dict[str, str]]]] = defaultdict(list)
    for result in results:
        words, added = list[str](), dict[str, str]()
        for name in result.spec.reported:
            each = result.spec.scores[name]
            better = f"{_BETTER[each.higher_is_better]} is better"
            text = f"{name} in [{each.low:g}, {each.high:g}], {better}"
            if each.added:
                added[name] = f"{text}, {each.added}"
            else:
                words.append(text)
        by_task[result.comparison].append((result, "; ".join(words), added))
    found = []
    for same in by_task.values():
        own = {words for _, words, _ in same}
        by_name = {item for _, _, added in same for item in added.items()}
        is_one = len(own) == 1 and len(by_name) == len({name for name, _ in by_name})
        for result, stated, added in same:
            scores = {"scores": "; ".join([stated, *added.values()])}
            signature = {**result.signature, **scores}
            found.append(result if is_one else replace(result, signature=signature))
    return found


def systems_of(group: Sequence[Run], merged: frozenset[str]) -> list[list[Run]]:
    """Return the results of each row of one model on one task.

    A result without an adapter is part of every row that was evaluated in the same way. Arms may
    have different numbers of pairs, but the runs of an arm may not.
    """

    def facts_of(facts: Mapping[str, str], but: Collection[str] = merged) -> Agreed:
        return tuple(sorted((key, value) for key, value in facts.items() if key not in but))

    evaluated: dict[Agreed, list[Run]] = defaultdict(list)
    for result in group:
        evaluated[facts_of(result.signature)].append(result)
    systems: list[list[Run]] = []
    for same in evaluated.values():
        trained: dict[Agreed, list[Run]] = defaultdict(list)
        for result in same:
            if result.training:
                trained[facts_of(result.training, merged | {"pairs"})].append(result)
        untrained = [result for result in same if not result.training]
        for runs in trained.values():
            by_size: dict[str, list[Run]] = defaultdict(list)
            for run in runs:
                by_size[run.training["pairs"]].append(run)
            sizes = {(run.arm, run.training["pairs"]) for run in runs}
            is_equal = "pairs" in merged or len(sizes) == len({arm for arm, _ in sizes})
            equal = [runs] if is_equal else by_size.values()
            systems += [[*of_size, *untrained] for of_size in equal]
        if not trained:
            systems.append(untrained)
    return systems


def separations(systems: Systems) -> Iterator[Problem]:
    """Yield that rows were evaluated or trained differently from the first."""
    first = systems[0][0]
    for later, *_ in systems[1:]:
        keys = differing([first, later])
        one, other = ({**_LEFT_OUT, **run.facts} for run in (first, later))
        details = "; ".join(f"{key}: {one.get(key)} against {other.get(key)}" for key in keys)
        what = f"is in another row than {first.file}: they differ in {details}"
        evaluated = any(key in first.signature for key in keys)
        yield Problem("incomparable", f"{later.file}: {later.task}", what, lost=evaluated)


def differing(results: Sequence[Run]) -> tuple[str, ...]:
    """Return the keys of the facts in which the results differ.

    Facts of training are compared among the trained results only, and the settings of an objective
    among those that were trained with it.
    """
    trained = [result for result in results if result.training]
    keys = []
    for key in dict.fromkeys(key for result in results for key in result.facts):
        compared = results if key in results[0].signature else trained
        stated = [result.facts[key] for result in compared if key in result.facts]
        is_missing = len(stated) < len(compared) and not key.startswith(_OF_OBJECTIVE)
        if len({*stated}) + is_missing > 1:
            keys.append(key)
    return tuple(keys)


def apart(systems: Systems, merged: Iterable[str]) -> list[Differs]:
    """Return how each row of a model differs from the others, in the fewest words that say it.

    A prompt has words of its own. Its facts follow, and then all facts uncut, only where rows are
    the same otherwise.
    """
    firsts = [first for first, *_ in systems]
    keys = differing(firsts)
    prompts = [prompt_in_words(first.signature) for first in firsts]
    within = []
    for results in systems:
        stated = {key: {r.facts[key] for r in results if key in r.facts} for key in sorted(merged)}
        texts = [
            f"{key} {', '.join(map(_short, sorted(values)))}"
            for key, values in stated.items()
            if len(values) > 1
        ]
        within.append(f"merged over {'; '.join(texts)}" if texts else None)
    in_short = [key for key in keys if key not in PROMPT_FACTS]
    rows: list[Differs] = []
    for shown, whole in ((in_short, False), (keys, False), (keys, True)):
        rows = []
        for first, prompt, differences in zip(firsts, prompts, within, strict=True):
            evaluated = {key: first.signature[key] for key in shown if key in first.signature}
            trained = {
                key: first.training.get(key, _LEFT_OUT.get(key, _NOT_STATED))
                for key in (shown if first.training else ())
                if key not in evaluated
                if key in first.training or not key.startswith(_OF_OBJECTIVE)
            }
            rows.append(
                Differs(
                    prompted=prompt if len({*prompts}) > 1 else None,
                    evaluated=in_words(evaluated, whole=whole),
                    trained=in_words(trained, whole=whole),
                    merged=differences,
                )
            )
        if len({*rows}) == len(rows):
            break
    return rows


def in_words(facts: Mapping[str, str], *, whole: bool = False) -> str | None:
    """Return facts in a few words, with digests cut short; None without any.

    ``whole`` leaves nothing out.
    """
    texts = [f"{key} {value}" for key, value in facts.items()]
    if not whole:
        texts = [_short(text) for text in texts]
        if len(texts) > _MOST_FACTS:
            texts[_MOST_FACTS - 1 :] = [f"and {len(texts) - _MOST_FACTS + 1} more"]
    return ", ".join(texts) or None


def _short(text: str) -> str:
    return text if len(text) <= _MOST_WORDS else f"{text[:_MOST_WORDS]}…"
