"""The plan of a task from its metadata: sets, demonstrations, an adapter, metrics to switch on."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import NamedTuple, cast

import msgspec

from spor_tasks.core.contracts import TaskSpec
from spor_tasks.core.digests import set_digest
from spor_tasks.core.errors import ConfigError, SplitError, advice, misspelt
from spor_tasks.core.sample import InFile, Sample, Sets
from spor_tasks.core.visible import visible
from spor_tasks.harness import added, own
from spor_tasks.harness.task_files import TaskSets
from spor_tasks.metrics import learned
from spor_tasks.models import checkpoints
from spor_tasks.models.backends import backend
from spor_tasks.models.checkpoints import Checkpoint
from spor_tasks.prompts.styles import PromptStyle
from spor_tasks.results.facts import Adapter


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings that an evaluation may add to the metadata of tasks."""

    prompt_style: object = None
    """Causal or seq2seq if the model's files are not on this machine; or instruction.

    The last is for a model that was not tuned on the paper's prompts.
    """
    fewshot_arm: object = None
    """The arm that demonstrations are drawn from, by default the first.

    A task with an ``icl_arm`` shows that.
    """
    baseline_arm: object = None
    """The arm that a baseline uses as its training set: an argument of ``spor-baseline``."""
    split: object = None
    """The split that answers are read under, where the adapter does not name it."""
    allow_split_mismatch: bool = False
    """Evaluate an adapter that was trained on other sets."""
    held_out_reference: bool = False
    """Remove the first reference from each sample, and leave out samples without another.

    So a human text can be scored like an output.
    """
    limit_evenly: bool = False
    """Take the samples of ``--limit`` from the whole test set, evenly spaced.

    Neighbours are of equal size or share entities, so the first are no fair part of it.
    """
    metrics: object = None
    """Metrics to add to those of each task: names, with commas between them or as a list."""
    judges: Mapping[str, object] = {}
    """Settings of metrics by a model, such as ``facts_model`` or ``sp_ranker``.

    Tasks that report their scores then give them (:data:`spor_tasks.metrics.learned.LOADERS`).
    """


class Metadata(msgspec.Struct, frozen=True, kw_only=True):
    """A task's metadata: that of its file, then the model's arguments, then the user's own."""

    set: TaskSets
    model: Checkpoint
    settings: Settings
    source: str | None = None
    """The task's file, where lm-eval says it."""

    def __hash__(self) -> int:
        return hash(repr(self))  # settings may be of any type


_PREFIXES = tuple(f"{prefix}_" for prefix in learned.LOADERS)
_FLAGS = ("allow_split_mismatch", "held_out_reference", "limit_evenly")
SETTINGS = (
    *(key for key in Settings.__struct_fields__ if key != "judges"),
    *(f"{prefix}_{name}" for prefix, each in learned.LOADERS.items() for name in each.settings),
)
"""The names of all settings."""


def read(given: Mapping[str, object]) -> Metadata:
    """Return what a task's metadata says; the name of a setting may not be misspelt.

    Raises:
        ConfigError: a setting is unknown, or a value has the wrong type.
    """
    for key in _FLAGS:
        if not isinstance(value := given.get(key, False), bool):
            raise ConfigError(
                f"{key}={value} is neither true nor false",
                where="metadata",
                remedy=f"Write {key}=true or {key}=false.",
            )
    judges = {key: given[key] for key in sorted(given) if key.startswith(_PREFIXES)}
    known = {*TaskSets.__struct_fields__, *SETTINGS, *Checkpoint.__struct_fields__}
    check_names(given.keys() - known, are_ours=False)
    try:
        return Metadata(
            set=msgspec.convert(given, TaskSets),
            model=Checkpoint.read(given),
            settings=msgspec.convert({**given, "judges": judges}, Settings),
            source=cast("str | None", given.get("config_source")),
        )
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        raise ConfigError(
            f"does not name sets: {error}",
            where="metadata",
            remedy="Make the task's file again, and name no set in the metadata.",
        ) from error


class Plan(NamedTuple):
    """What the metadata of a task asks for."""

    spec: TaskSpec
    pair: Sets
    fewshot_arm: str | None
    """The arm of the demonstrations."""
    adapter: Adapter | None
    style: PromptStyle
    """That of the prompts."""
    warnings: tuple[str, ...]
    """What could not be checked of the adapter."""


def resolve(metadata: Metadata) -> Plan:
    """Return what the metadata asks for, checked before any model is loaded.

    The plans of equal metadata are the same object while no file changes.

    Raises:
        ConfigError: the benchmark or a setting is unknown, or the adapter does not fit the base
            or the sets.
        SplitError: the test set is not the one that the task was made for.
        CorpusError: the data is missing, or not what was published.
    """
    files, pair = metadata.model.files(), load(metadata.set, metadata.source)
    asked = msgspec.structs.replace(metadata, source=None)
    is_loaded = not isinstance(metadata.model.pretrained, str | None)
    plan_of = _resolve.__wrapped__ if is_loaded else _resolve  # a kept plan holds no model
    return plan_of(asked, pair, files)


@lru_cache(maxsize=256)
def _resolve(metadata: Metadata, pair: Sets, _files: object) -> Plan:
    of_set, settings = metadata.set, metadata.settings
    adapter = checkpoints.find_adapter(metadata.model)
    spec = _split(metadata, adapter)
    if spec.sets.split:
        pair = _read(of_set, spec)
    if settings.metrics is not None:
        names = added.names_in(settings.metrics)
        spec = added.with_metrics(spec, names, pair, settings.judges)
    if arm := _arm(pair, "baseline_arm", settings.baseline_arm):  # for a baseline that is trained
        of_arm = Adapter.of(arm, set_digest(pair.arms[arm]))
        adapter = msgspec.structs.replace(of_arm, prompt_style="causal")
    return Plan(
        spec=spec,
        pair=pair,
        fewshot_arm=_arm(pair, "fewshot_arm", of_set.icl_arm, settings.fewshot_arm)
        or next(iter(pair.arms), None),
        adapter=adapter,
        style=checkpoints.prompt_style(metadata.model, adapter, settings.prompt_style),
        warnings=_check_adapter(adapter, pair, metadata),
    )


def check_names(names: Iterable[str], *, are_ours: bool) -> None:
    """Refuse a name that is no setting, or that is nearly one if it may be an argument of a model.

    Raises:
        ConfigError: there is such a name; the error says which settings are the nearest.
    """
    given = list(names)
    unknown = [name for name in given if name not in SETTINGS] if are_ours else []
    if name := misspelt(given, SETTINGS) or next(iter(unknown), None):
        remedy = advice(name, SETTINGS, "`spor eval --help` names more.")
        raise ConfigError(f"there is no setting {name!r}", where="metadata", remedy=remedy)


def arm_digest(samples: Sequence[Sample]) -> str | None:
    """Return the digest of an arm, None if it is in a file that is not here."""
    is_absent = isinstance(samples, InFile) and samples.sha256 is None
    return None if is_absent else set_digest(samples)


def load(of: TaskSets, source: str | None = None) -> Sets:
    """Return the sets of a task, whose test set must be the one that it was made for.

    Raises:
        ConfigError: the benchmark is unknown.
        SplitError: it is another test set.
        CorpusError: the data is missing, or not what was published.
    """
    pair = _read(of, of.spec)
    actual = set_digest(pair.test)
    if of.test_sha256 not in {None, actual}:
        raise SplitError(
            f"the test set has the SHA-256 {actual}, but the task was made for {of.test_sha256}",
            where=source,
            remedy="Scores on another test set do not compare. Install the version of spor-tasks "
            "that the task file belongs to, and name no set in the metadata.",
        )
    return pair


def _read(of: TaskSets, spec: TaskSpec) -> Sets:
    return own.load(of.own_corpus, spec.sets) if of.own_corpus else of.found.load(spec)


def _split(metadata: Metadata, adapter: Adapter | None) -> TaskSpec:
    """Return the sets of the split that answers are read under: the adapter's, or the named one."""
    whole, requested = metadata.set.spec, metadata.settings.split
    if not whole.sets.is_pooled:
        if requested is not None:
            raise ConfigError(
                f"split={requested}: {whole.sets} has no splits",
                where="metadata",
                remedy="Leave the setting out.",
            )
        return whole
    benchmark, own_split = metadata.set.found, None
    if adapter and (sets := adapter.sets):
        with suppress(SplitError):  # it was trained for another benchmark
            trained = benchmark.find(sets.aspect, sets.corpus, sets.protocol or "", sets.part)
            own_split = trained.sets.split if trained.task == whole.task else None
    if requested is None:
        return benchmark.under(whole, own_split) if own_split else whole
    if own_split not in {None, str(requested)} and not metadata.settings.allow_split_mismatch:
        raise ConfigError(
            f"split={requested} contradicts the adapter, which was trained on split {own_split}",
            where=str(metadata.model.adapter or metadata.model.pretrained),
            remedy="Leave split out: the adapter names its own.",
        )
    return benchmark.under(whole, str(requested))


def check_shots(plan: Plan, number: int | None) -> None:
    """Refuse demonstrations if the sets have no training set, or no split is named.

    Raises:
        ConfigError: the sets have no training set to draw demonstrations from.
    """
    if number and not plan.pair.arms:
        why = "is read under all its splits" if plan.spec.sets.is_pooled else "has no training set"
        raise ConfigError(
            f"{plan.spec.task} {why}, so nothing can be demonstrated",
            where="num_fewshot",
            remedy="Name a split in the metadata, as in split=0."
            if plan.spec.sets.is_pooled
            else "Leave it out.",
        )


def check_hf(model: Checkpoint, *, writes: bool) -> Sequence[str]:
    """Refuse what lm-eval's own `hf` would read wrongly; return notes on it for the results.

    Raises:
        ConfigError: as :func:`spor_tasks.models.whole.check_hf`.
    """
    abilities = backend(model.model_type)
    if not abilities.on_transformers or abilities.has_beams:
        return ()
    from spor_tasks.models import whole  # needs torch

    return whole.check_hf(model, writes=writes)


def hint(plan: Plan, metadata: Metadata, number: int | None) -> str | None:
    """Return the way to evaluate a model without a record of its tuning; None for any other.

    A model that is shown demonstrations or instructions needs no tuning, and sets without an arm
    have nothing to tune it on, or to show.
    """
    spec, shots = plan.spec, "--num_fewshot 3"
    is_asked = metadata.settings.prompt_style == "instruction" or metadata.set.icl_arm
    if (plan.adapter and plan.adapter.arm) or number or is_asked or not spec.arms:
        return None
    if plan.spec.sets.is_pooled:
        way = f"give {shots} --metadata split=0"
    elif spec.sets.in_context:
        way = f"evaluate {' or '.join(map(spec.task_name, spec.arms))}, or give {shots}"
    else:
        way = f"give {shots}"
    fact = f"{spec.task} is for tuned models, and this one has no record of its tuning"
    return f"hint: {fact}. If it was never tuned, {way}"


def _arm(pair: Sets, setting: str, *requested: object) -> str | None:
    """Return the arm that the first given value names; None if none is given."""
    named = [each for each in requested if each]
    for each in named:
        if each not in [*pair.arms]:  # which may be of any type
            raise ConfigError(
                f"{setting}={each} is not an arm of the task",
                remedy=f"Use {' or '.join(pair.arms)}.",
            )
    return str(named[0]) if named else None


def _check_adapter(adapter: Adapter | None, pair: Sets, metadata: Metadata) -> tuple[str, ...]:
    """Refuse an adapter that was not trained on an arm of these sets; return what is not checked.

    Arms are compared, not test sets, since several tasks share their arms.
    """
    if adapter is None or metadata.settings.allow_split_mismatch:
        return ()
    name = metadata.model.adapter
    digests = {arm: arm_digest(samples) for arm, samples in pair.arms.items()}
    if adapter.arm_sha256 is None:
        return (f"{visible(name)} does not say what it was trained on",)
    if None in digests.values():
        absent = f"a training set of {pair.facts.corpus} is not on this machine"
        return (f"{absent}, so it is not checked that {visible(name)} was trained on it",)
    own_names = [arm for arm, sha256 in digests.items() if sha256 == adapter.arm_sha256]
    if adapter.arm in own_names and adapter.is_from_elsewhere:
        return (f"{visible(name)} was trained elsewhere: only its record says on what",)
    if adapter.arm in own_names:
        return ()
    if own_names:
        raise ConfigError(
            f"the adapter says that it was trained on {adapter.arm}, but the SHA-256 of "
            f"its training set is that of {' or '.join(own_names)}",
            where=name,
            remedy="Its manifest was edited. Train the adapter again.",
        )
    names = " or ".join(pair.arms) or "of any of its splits"
    of = f" of {adapter.sets.aspect} {adapter.sets.corpus}" if adapter.sets else ""
    raise ConfigError(
        f"the adapter was trained on {adapter.arm}{of}, SHA-256 {adapter.arm_sha256}, "
        f"which is not {names} here",
        where=name,
        remedy="Evaluate an adapter that was trained for this task, or allow this one with "
        "allow_split_mismatch=true in the metadata.",
    )
