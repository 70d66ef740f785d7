"""The scores of registered metrics by name, also over groups of samples, and gaps between them."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from itertools import chain

from spor_tasks.core.contracts import Gap, Score
from spor_tasks.core.errors import ConfigError, advice
from spor_tasks.core.registry import registry
from spor_tasks.metrics.base import Metric, ScoreInfo
from spor_tasks.metrics.groups import GROUPS, HALVES, TWINS
from spor_tasks.metrics.totals import COUNTED_MEAN, MEAN, Less


def metric(name: str) -> Metric:
    """Return the registered metric with this name.

    Raises:
        ConfigError: there is none, or it cannot be imported or lacks a part of the contract.
    """
    registered: Metric = registry().get("metric", name)
    return registered


@cache
def score_infos(name: str | None = None) -> Mapping[str, ScoreInfo]:
    """Return the scores of all registered metrics by name, in the order of the registry.

    With the name of a score, those of the metrics that may have it.

    Raises:
        ConfigError: two metrics have a score of one name, or a metric cannot be imported.
    """
    owners: dict[str, str] = {}
    infos: dict[str, ScoreInfo] = {}
    for owner in registry().scoring([name]) if name else registry().names("metric"):
        for info in metric(owner).scores:
            if owners.setdefault(info.name, owner) != owner:
                raise ConfigError(
                    f"the metrics {owners[info.name]!r} and {owner!r} both have a score "
                    f"{info.name!r}",
                    where="registry of metrics",
                    remedy="Rename the score of one of them.",
                )
            infos[info.name] = info
    return infos


def metrics_for(scores: Iterable[Score]) -> tuple[Metric, ...]:
    """Return the registered metrics of these scores."""
    names = {score.name for score in scores}
    metrics = map(metric, registry().scoring(names))
    return tuple(each for each in metrics if names & {info.name for info in each.scores})


def info_of(score: Score | Gap) -> ScoreInfo:
    """Return what is known of a score, also over a group, or of the gap between two.

    Raises:
        ConfigError: no registered metric has it, or it cannot be over this group.
    """
    if isinstance(score, Gap):
        first, second = map(info_of, score)
        is_of_twins = score.second == (score.first.name, TWINS)
        return ScoreInfo(
            str(score),
            f"{first.label}, original − twin" if is_of_twins else f"{first.label} − {second.label}",
            low=first.low - second.high,
            high=first.high - second.low,
            higher_is_better=None,
            totals=Less(first.totals, second.totals),
        )
    info = score_infos(score.name).get(score.name)
    if info and score.group:
        info = info_over(info, score.group)
    if info is None:
        names = (info.name for info in score_infos().values() if not info.of_some)
        remedy = f"{advice(score, names)} Or install the package that it comes from."
        raise ConfigError(f"no metric has a score {str(score)!r}", remedy=remedy)
    return info


def info_over(info: ScoreInfo, group: str) -> ScoreInfo | None:
    """Return the declaration of a score over a group or over twins; None if it cannot be.

    Samples may count in halves under several splits, which only a mean allows.
    """
    of_twins, own_title = group == TWINS, info.own_title
    if not of_twins and not info.totals.resampled:
        return None
    if group in HALVES and info.totals is not MEAN:
        return None
    if own_title and of_twins:
        own_title = f"{own_title}, twins"
    return replace(
        info,
        name=str(Score(info.name, group)),
        label=f"{info.label}, {'twins' if of_twins else group}",
        corrects=info.corrects and str(Score(info.corrects, group)),
        totals=COUNTED_MEAN if group in HALVES else info.totals,
        of_some=info.of_some or not of_twins,
        own_title=own_title,
    )


def over_groups(infos: Iterable[ScoreInfo], groups: Iterable[str] = GROUPS) -> list[ScoreInfo]:
    """Return scores, and then those over each group; those of some samples only over twins."""
    infos = list(infos)
    over = (
        info_over(info, group)
        for group in groups
        for info in infos
        if group == TWINS or not info.of_some
    )
    return [*infos, *(info for info in over if info)]


@cache
def _by_key() -> Mapping[str, Score]:
    """Return all scores, and those over groups, by their keys in results."""
    declared = registry().scores
    others = (metric(name) for name in registry().names("metric") if name not in declared)
    names = [*chain.from_iterable(declared.values())]
    names += [info.name for each in others for info in each.scores]
    over = (Score(name, group) for name in names for group in (TWINS, *GROUPS))
    return {str(score): score for score in (*over, *map(Score, names))}


def score_of(key: str) -> Score:
    """Return the score with this key in results; one of this name if no metric has it."""
    return _by_key().get(key, Score(key))


def known_info(key: str) -> ScoreInfo | None:
    """Return the declaration of a score by its key in results; None of an unknown one."""
    return info_of(score_of(key)) if key in _by_key() else None


def score_info(key: str) -> ScoreInfo:
    """Return what is known of a score by its key in results.

    Raises:
        ConfigError: no registered metric has it.
    """
    return info_of(score_of(key))
