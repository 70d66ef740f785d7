"""Metrics that a user adds to a task's own: ``--metadata metrics=NAME,…``."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from spor_tasks.core.contracts import Gap, Score, TaskSpec
from spor_tasks.core.errors import ConfigError, SporError
from spor_tasks.core.foreign import guarded
from spor_tasks.core.sample import Sets, sides
from spor_tasks.corpora.own import corpus_of
from spor_tasks.metrics.base import Metric
from spor_tasks.metrics.groups import TWINS, judge_all
from spor_tasks.metrics.learned import LOADERS, PREFIXES, Learned
from spor_tasks.metrics.scores import metric, metrics_for
from spor_tasks.metrics.tally import Column


def names_in(setting: object) -> tuple[str, ...]:
    """Return the names in the setting, a list of texts or one text with commas.

    Raises:
        ConfigError: it is neither.
    """
    listed: Any = setting.split(",") if isinstance(setting, str) else setting
    names = listed if isinstance(listed, list | tuple) else [listed]
    if not names or not all(isinstance(name, str) and name.strip() for name in names):
        raise ConfigError(
            f"metrics={setting!r:.200} does not name metrics",
            where="metadata",
            remedy="Write metrics=NAME, or several names with commas between them.",
        )
    return tuple(dict.fromkeys(name.strip() for name in names))


def with_metrics(
    spec: TaskSpec, names: Sequence[str], pair: Sets, judges: Mapping[str, object]
) -> TaskSpec:
    """Return the declaration with the scores of further metrics, over all samples and over twins.

    ``judges`` are the settings of models, without which a metric by a model is refused.

    Raises:
        ConfigError: a metric is unknown, has no model, or does not fit the samples of the task.
    """
    own = spec.judging
    scores, gaps, added = [*own.scores], [*own.gaps], list[Score]()
    has_twins = pair.test[0].twin is not None
    for name in names:
        try:
            found = metric(name)
        except ConfigError as error:
            raise ConfigError(error.what, where="metadata", remedy=error.remedy) from error
        if why := next(_misfits(found, spec, pair), None):
            raise ConfigError(
                f"the metric {name} does not fit {spec.task}: {why}",
                where="metadata",
                remedy=f"`spor tasks show {spec.task}` names metrics that fit.",
            )
        if isinstance(found, Learned):
            prefix = PREFIXES.get(name, name)
            model = f"{prefix}_{LOADERS[prefix].settings[0]}"
            if model not in judges:
                remedy = f"Name one in the metadata too: {model}=PATH_OR_NAME."
                what = f"the metric {name} needs a model"
                raise ConfigError(what, where="metadata", remedy=remedy)
        for score in (Score(info.name) for info in found.scores):
            twin = score._replace(group=TWINS)
            both = [score, twin] if has_twins else [score]
            scores += [] if isinstance(found, Learned) else both
            added += both
            gaps += [Gap(score, twin)] if has_twins else []
    new = tuple(score for score in dict.fromkeys(added) if score not in own.displayed)
    judging = replace(
        own,
        scores=tuple(dict.fromkeys(scores)),
        reported=(*own.reported, *new),
        gaps=tuple(dict.fromkeys(gaps)),
        added=new,
    )
    return replace(spec, judging=judging)


def _misfits(found: Metric, spec: TaskSpec, pair: Sets) -> Iterator[str]:
    """Yield why a metric does not fit; the last check lets it judge the first sample."""
    (answers, *_) = (each.answers for each in metrics_for(spec.judging.scores))
    if found.answers != answers:
        yield f"it judges {found.answers}, and the task has {answers}"
    kind = corpus_of(pair.facts.corpus).units
    if found.units and kind not in found.units:
        yield f"it is about {' or '.join(found.units)}, and the units are {kind}"
    samples = [side for sample in pair.test for side in sides(sample)]
    outputs = spec.judging.outputs // len(sides(pair.test[0]))
    if found.outputs not in {None, outputs}:
        yield f"it reads {found.outputs} of {outputs} outputs for a sample"
    if found.challenge and not all(isinstance(each.challenge, found.challenge) for each in samples):
        yield "the samples lack what it looks at"
    if found.needs_texts and not all(each.references for each in samples):
        yield "a sample has no reference"
    if answers == "texts" and not isinstance(found, Learned):
        first = replace(samples[0], twin=None)
        texts = (first.references or ("A text.",))[:1] * outputs
        try:
            with guarded("metrics"):
                (judged,) = judge_all(found, [first], [texts], ())
                for info in found.scores:
                    Column.of([judged.values.get(info.name)], info.totals)
        except SporError as error:
            yield error.what
