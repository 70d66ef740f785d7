"""The scores of registered metrics by name, also over groups of samples, and gaps between them."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache

from spor_tasks.core.contracts import Gap, of_twin
from spor_tasks.core.errors import ConfigError, advice
from spor_tasks.core.registry import registry
from spor_tasks.metrics.base import Metric, ScoreInfo
from spor_tasks.metrics.groups import HALVES, OVERLAP, TWINS, group_of, name_over
from spor_tasks.metrics.totals import COUNTED_MEAN, MEAN, Less


def metric(name: str) -> Metric:
    """Return the registered metric with this name.

    Raises:
        ConfigError: there is none, or it cannot be imported or lacks a part of the contract.
    """
    registered: Metric = registry().get("metric", name)
    return registered


@cache
def score_infos() -> Mapping[str, ScoreInfo]:
    """Return the scores of all registered metrics by name, in the order of the registry.

    Raises:
        ConfigError: two metrics have a score of one name, or a metric cannot be imported.
    """
    owners: dict[str, str] = {}
    infos: dict[str, ScoreInfo] = {}
    for owner in registry().names("metric"):
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


def _score_and_group(name: str) -> tuple[str, str | None]:
    """Return the score that a score over a group comes from, and the group."""
    return (name, None) if name in score_infos() else group_of(name) or (name, None)


def registered_score(name: str) -> str:
    """Return the score of a registered metric that a score over a group comes from."""
    return _score_and_group(name)[0]


def metrics_for(scores: Iterable[str]) -> tuple[Metric, ...]:
    """Return the registered metrics of these scores, some of which may be of twins or groups."""
    registered = set(map(registered_score, scores))
    metrics = map(metric, registry().names("metric"))
    return tuple(each for each in metrics if registered & {info.name for info in each.scores})


def known_info(name: str) -> ScoreInfo | None:
    """Return the declaration of a score, also over a group; None of an unknown one."""
    score, group = _score_and_group(name)
    info = score_infos().get(score)
    return info_over(info, group) if info and group else info


def info_over(info: ScoreInfo, group: str) -> ScoreInfo | None:
    """Return the declaration of a score over a group or over twins; None if it cannot be.

    Samples may count in halves under several splits, which only a mean allows.
    """
    if group == TWINS:
        of_some, totals, own_title = info.of_some, info.totals, info.own_title
        label, own_title = f"{info.label}, twins", own_title and f"{own_title}, twins"
    elif not info.totals.resampled or (group in HALVES and info.totals is not MEAN):
        return None
    else:
        of_some, totals = True, COUNTED_MEAN if group in HALVES else info.totals
        label, own_title = f"{info.label}, {group}", info.own_title
    return replace(
        info,
        name=name_over(info.name, group),
        label=label,
        corrects=info.corrects and name_over(info.corrects, group),
        totals=totals,
        of_some=of_some,
        own_title=own_title,
    )


def with_groups(infos: Iterable[ScoreInfo], *, has_twins: bool = False) -> tuple[ScoreInfo, ...]:
    """Return scores, those of twins if samples have them, and those over each other group."""
    infos = tuple(infos)
    whole = [info for info in infos if not info.of_some]
    over_twins = (info_over(info, TWINS) for info in infos if has_twins)
    over_groups = (info_over(info, group) for group in (*OVERLAP, *HALVES) for info in whole)
    return (*infos, *filter(None, (*over_twins, *over_groups)))


def score_info(name: str) -> ScoreInfo:
    """Return what is known of a score, also of twins or over a group, or of the gap between two.

    Raises:
        ConfigError: no registered metric has it.
    """
    if gap := Gap.parse(name):
        first, second = map(score_info, gap)
        is_of_twins = gap.subtracted == of_twin(gap.score)
        return ScoreInfo(
            name,
            f"{first.label}, original − twin" if is_of_twins else f"{first.label} − {second.label}",
            low=first.low - second.high,
            high=first.high - second.low,
            higher_is_better=None,
            totals=Less(first.totals, second.totals),
        )
    if not (info := known_info(name)):
        names = (info.name for info in score_infos().values() if not info.of_some)
        remedy = f"{advice(name, names)} Or install the package that it comes from."
        raise ConfigError(f"no metric has a score {name!r}", remedy=remedy)
    return info
