"""The plan of a task from its metadata: sets, demonstrations, an adapter, metrics to switch on."""

import logging
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, NamedTuple, cast

from rapidfuzz.distance import Levenshtein

from spor_tasks.core.contracts import Sets, SetSpec, Splits
from spor_tasks.core.digests import split_digest
from spor_tasks.core.errors import ConfigError, SplitError, advice
from spor_tasks.core.registry import registry
from spor_tasks.core.sample import SetName, Split, SplitPair
from spor_tasks.core.visible import visible
from spor_tasks.harness import own
from spor_tasks.metrics import learned
from spor_tasks.metrics.base import Metric
from spor_tasks.models import checkpoints
from spor_tasks.results.declared import FIRST_BENCHMARK

_log = logging.getLogger(__name__)

Metadata = Mapping[str, Any]
"""A task's `metadata`: that of its file, then the model's arguments, then the user's own."""

SETTINGS = (
    *("prompt_style", "fewshot_arm", "split", "held_out_reference", "limit_evenly"),
    *("allow_split_mismatch", "baseline_arm"),
    *(f"{prefix}_{name}" for prefix, each in learned.LOADERS.items() for name in each.settings),
)
"""The settings that an evaluation may add to the metadata."""

_TYPING_ERRORS = 2  # by which a name of nobody knows whose is still one of the settings


class Plan(NamedTuple):
    """The sets, the arm of the demonstrations, the adapter, and the metrics that are switched on.

    ``instruction`` is that of a corpus of one's own, if its task files were made with one.
    ``metrics`` are by the prefix of their settings. ``has_splits`` is true if answers may
    be read under one of several splits.
    """

    spec: SetSpec
    pair: SplitPair
    fewshot_arm: Split | None
    adapter: Mapping[str, Any] | None
    metrics: Mapping[str, Metric]
    has_splits: bool
    instruction: str | None


def resolve(metadata: Metadata) -> Plan:
    """Return what the metadata asks for, checked before any model is loaded.

    Raises:
        ConfigError: the benchmark or a setting is unknown, or the adapter does not fit the base
            or the sets.
        SplitError: the test set is not the one that the task was made for.
        CorpusError: the data is missing, or not what was published.
    """
    check_names(metadata, are_ours=False)
    adapter = checkpoints.find_adapter(metadata)
    spec, pair = _sets(metadata, adapter)
    if arm := _arm(metadata, pair, "baseline_arm"):  # of a baseline that uses a training set
        adapter = {"arm": arm.name, "arm_sha256": split_digest(arm), "prompt_style": "causal"}
    _check_adapter(adapter, pair, metadata)
    fewshot_arm = _arm(metadata, pair, "icl_arm", "fewshot_arm") or next(iter(pair.arms), None)
    metrics = learned.requested(metadata, spec)
    instruction = (metadata.get("own_corpus") or {}).get("instruction")
    return Plan(spec, pair, fewshot_arm, adapter, metrics, has_splits(metadata), instruction)


def check_names(names: Iterable[str], *, are_ours: bool) -> None:
    """Refuse a name that is no setting, or that is nearly one if it may be an argument of a model.

    Raises:
        ConfigError: there is such a name; the error says which settings are the nearest.
    """
    for name in names:
        edits = (Levenshtein.distance(name.lower(), setting) for setting in SETTINGS)
        if name not in SETTINGS and (are_ours or min(edits) <= _TYPING_ERRORS):
            remedy = advice(name, SETTINGS, "`spor eval --help` names more.")
            raise ConfigError(f"there is no setting {name!r}", where="metadata", remedy=remedy)


def sets_of(metadata: Metadata) -> tuple[Sets, SetName]:
    """Return the benchmark of a task, and the name of the task's sets.

    Raises:
        ConfigError: the benchmark is unknown.
    """
    sets: Sets = registry().get("benchmark", metadata.get("benchmark", FIRST_BENCHMARK))
    aspect, corpus, protocol = (metadata[key] for key in ("aspect", "corpus", "protocol"))
    return sets, SetName(aspect, corpus, protocol, metadata.get("part"))


def has_splits(metadata: Metadata) -> bool:
    """Return whether the answers to a task are read under splits.

    Raises:
        ConfigError: the benchmark is unknown.
    """
    return hasattr(sets_of(metadata)[0], "read_under")


def is_on(metadata: Metadata, setting: str) -> bool:
    """Return a setting that is true or false; false if it is not given.

    Raises:
        ConfigError: it is something else.
    """
    value = metadata.get(setting, False)
    if not isinstance(value, bool):
        raise ConfigError(
            f"{setting}={value} is neither true nor false",
            where="metadata",
            remedy=f"Write {setting}=true or {setting}=false.",
        )
    return value


def arm_digest(arm: Split) -> str | None:
    """Return the digest of an arm, None if it is in a file that is not here."""
    return split_digest(arm) if getattr(arm.samples, "sha256", "") is not None else None


def _sets(metadata: Metadata, adapter: Mapping[str, Any] | None) -> tuple[SetSpec, SplitPair]:
    """Return the sets of a task, of one split where one is named."""
    (sets, name), pair = sets_of(metadata), load(metadata)
    split = _split(sets, name, metadata, adapter)
    return sets.find(split), pair if split == name else _loader(metadata)(split)


def load(metadata: Metadata) -> SplitPair:
    """Return the sets of a task, whose test set must be the one that it was made for.

    Raises:
        SplitError: it is not.
        CorpusError: the data is missing, or not what was published.
    """
    _, name = sets_of(metadata)
    pair = _loader(metadata)(name)
    expected, actual = metadata.get("test_sha256"), split_digest(pair.test)
    if expected not in {None, actual}:
        raise SplitError(
            f"the test set has the SHA-256 {actual}, but the task was made for {expected}",
            where=metadata.get("config_source"),
            remedy="Scores on another test set do not compare. Install the version of spor-tasks "
            "that the task file belongs to, and name no set in the metadata.",
        )
    return pair


def _loader(metadata: Metadata) -> Callable[[SetName], SplitPair]:
    own_corpus = metadata.get("own_corpus")
    return partial(own.load, own_corpus) if own_corpus else sets_of(metadata)[0].load


def _split(
    sets: Sets, name: SetName, metadata: Metadata, adapter: Mapping[str, Any] | None
) -> SetName:
    """Return the sets of the split that answers are read under: the adapter's, or the named one."""
    requested = metadata.get("split")
    if not has_splits(metadata):
        if requested is not None:
            raise ConfigError(
                f"split={requested}: {name} has no splits",
                where="metadata",
                remedy="Leave the setting out.",
            )
        return name
    splits, manifest = cast("Splits", sets), adapter or {}
    trained = SetName(*(manifest.get(key) for key in SetName._fields))  # type: ignore[arg-type]
    own_split = splits.split_of(name, trained)
    if requested is None:
        return splits.read_under(name, own_split) if own_split else name
    if own_split not in {None, str(requested)} and not is_on(metadata, "allow_split_mismatch"):
        raise ConfigError(
            f"split={requested} contradicts the adapter, which was trained on split {own_split}",
            where=checkpoints.adapter_name(metadata) or metadata.get("pretrained"),
            remedy="Leave split out: the adapter names its own.",
        )
    return splits.read_under(name, str(requested))


def check_shots(plan: Plan, number: int | None) -> None:
    """Refuse demonstrations if the sets have no training set, or no split is named.

    Raises:
        ConfigError: the sets have no training set to draw demonstrations from.
    """
    if number and not plan.pair.arms:
        why = "is read under all its splits" if plan.has_splits else "has no training set"
        raise ConfigError(
            f"{plan.spec.task} {why}, so nothing can be demonstrated",
            where="num_fewshot",
            remedy="Name a split in the metadata, as in split=0."
            if plan.has_splits
            else "Leave it out.",
        )


def hint(plan: Plan, metadata: Metadata, number: int | None) -> str | None:
    """Return the way to evaluate a model without a record of its tuning; None for any other.

    A model that is shown demonstrations or instructions needs no tuning.
    """
    is_asked = metadata.get("prompt_style") == "instruction" or "icl_arm" in metadata
    if "arm" in (plan.adapter or {}) or number or is_asked:
        return None
    spec, shots = plan.spec, "--num_fewshot 3"
    if plan.has_splits:
        way = f"give {shots} --metadata split=0"
    elif spec.in_context:
        way = f"evaluate {' or '.join(map(spec.task_name, spec.arms))}, or give {shots}"
    else:
        way = f"give {shots}"
    fact = f"{spec.task} is for tuned models, and this one has no record of its tuning"
    return f"hint: {fact}. If it was never tuned, {way}"


def _arm(metadata: Metadata, pair: SplitPair, *settings: str) -> Split | None:
    """Return the arm that the first given setting names; None if none is given."""
    requested = [*filter(None, map(metadata.get, settings))]
    arms = {arm.name: arm for arm in pair.arms}
    for each in requested:
        if each not in [*arms]:  # which may be of any type
            raise ConfigError(
                f"{settings[-1]}={each} is not an arm of the task",
                remedy=f"Use {' or '.join(arms)}.",
            )
    return arms[requested[0]] if requested else None


def _check_adapter(adapter: Mapping[str, Any] | None, pair: SplitPair, metadata: Metadata) -> None:
    """Refuse an adapter that was not trained on an arm of these sets.

    Arms are compared, not test sets, since several tasks share their arms.
    """
    if adapter is None or is_on(metadata, "allow_split_mismatch"):
        return
    name = checkpoints.adapter_name(metadata)
    digests = [arm_digest(arm) for arm in pair.arms]
    if "arm_sha256" not in adapter:
        _log.warning("%s does not say what it was trained on", visible(name))
    elif None in digests:
        _log.warning(
            "a training set of %s is not on this machine, so it is not checked that %s was trained "
            "on it",
            pair.name.corpus,
            visible(name),
        )
    elif adapter["arm_sha256"] in digests:
        own_names = [arm.name for arm in pair.arms if arm_digest(arm) == adapter["arm_sha256"]]
        if adapter.get("arm") not in own_names:
            raise ConfigError(
                f"the adapter says that it was trained on {adapter.get('arm')}, but the SHA-256 of "
                f"its training set is that of {' or '.join(own_names)}",
                where=name,
                remedy="Its manifest was edited. Train the adapter again.",
            )
    else:
        names = " or ".join(arm.name for arm in pair.arms) or "of any of its splits"
        raise ConfigError(
            f"the adapter was trained on {adapter['arm']} of {adapter['aspect']} "
            f"{adapter['corpus']}, SHA-256 {adapter['arm_sha256']}, which is not {names} here",
            where=name,
            remedy="Evaluate an adapter that was trained for this task, or allow this one with "
            "allow_split_mismatch=true in the metadata.",
        )
