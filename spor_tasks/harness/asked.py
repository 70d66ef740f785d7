"""Metrics that `--metadata` switches on, since they need a model or minutes."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from spor_tasks.core.contracts import SetSpec
from spor_tasks.core.errors import ConfigError
from spor_tasks.metrics import bleurt
from spor_tasks.metrics.base import Metric
from spor_tasks.metrics.twins import for_scores


class _Asked(NamedTuple):
    """A metric, the first of whose settings switches it on; all begin with a prefix."""

    load: Callable[..., Metric[Any]]
    settings: tuple[str, ...]
    meaning: str


def _facts(**settings: Any) -> Metric[Any]:  # noqa: ANN401 - checked by the loader
    from spor_tasks.metrics import classifier  # noqa: PLC0415 - torch, which most tasks do without

    return classifier.load(**settings)


def _nli(**settings: Any) -> Metric[Any]:  # noqa: ANN401 - checked by the loader
    from spor_tasks.metrics import entailment  # noqa: PLC0415 - torch, as above

    return entailment.load(**settings)


def _sp(**settings: Any) -> Metric[Any]:  # noqa: ANN401 - checked by the loader
    from spor_tasks.metrics import sp_acc  # noqa: PLC0415 - data of languages

    return sp_acc.load(**settings)


def _aspects(**settings: Any) -> Metric[Any]:  # noqa: ANN401 - checked by the loader
    from spor_tasks.metrics import attributes  # noqa: PLC0415 - torch, as above

    return attributes.load(**settings)


def _ppl(**settings: Any) -> Metric[Any]:  # noqa: ANN401 - checked by the loader
    from spor_tasks.metrics import causal  # noqa: PLC0415 - torch, as above

    return causal.load(**settings)


_CLASSIFIER = ("model", "format", "label", "device", "batch_size")
_KNOWN: Mapping[str, _Asked] = {
    "facts": _Asked(_facts, _CLASSIFIER, "the classifier that says which facts are told"),
    "nli": _Asked(_nli, _CLASSIFIER, "the classifier that says what a table entails"),
    "sp": _Asked(_sp, ("ranker",), "`lexical`, which ranks programs by their words"),
    "bleurt": _Asked(bleurt.load, ("model", "device", "batch_size"), "a checkpoint of BLEURT"),
    "aspects": _Asked(
        _aspects, ("classifiers", "device", "batch_size"), "the folder of a classifier per aspect"
    ),
    "ppl": _Asked(
        _ppl, ("model", "device", "batch_size"), "the model that says how likely texts are"
    ),
}


def metrics_of(metadata: Mapping[str, Any], spec: SetSpec) -> dict[str, Metric[Any]]:
    """Return the metrics that the metadata asks for and the set reports, by their prefix.

    Raises:
        ConfigError: a setting is unknown or missing, or its metric cannot be loaded.
    """
    found = {}
    for name, asked in _KNOWN.items():
        if given := _settings(metadata, name, asked):
            metric = for_scores(asked.load(**given), spec.scores)
            if any(info.name in spec.reported for info in metric.scores):
                found[name] = metric
    return found


def _settings(metadata: Mapping[str, Any], name: str, asked: _Asked) -> dict[str, Any]:
    prefix = f"{name}_"
    given = {
        key.removeprefix(prefix): value for key, value in metadata.items() if key.startswith(prefix)
    }
    for key in given.keys() - set(asked.settings):
        raise ConfigError(
            f"there is no setting {prefix}{key}",
            where="--metadata",
            remedy=f"The settings are {', '.join(prefix + known for known in asked.settings)}.",
        )
    first = asked.settings[0]
    if given and not isinstance(given.get(first), str):
        raise ConfigError(
            f"{prefix}{first} must be a path or a name, not {given.get(first)!r}",
            where="--metadata",
            remedy=f"Name {asked.meaning}.",
        )
    return given
