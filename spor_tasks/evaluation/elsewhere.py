"""Training by other programs: pairs of an arm, and the record of an adapter that they gave.

The record of a file of pairs says which arm they are of. With it an adapter, or a whole model, gets
the record that a training of this package writes. All that is unknown of the training stays so:
its recipe equals no other, unless the user names one for several adapters.
"""

import os
from collections.abc import Mapping
from contextlib import suppress
from itertools import chain
from pathlib import Path

import msgspec
from msgspec.structs import replace as changed

from spor_tasks.aspects import check
from spor_tasks.core.digests import set_digest, sha256_of
from spor_tasks.core.errors import ConfigError, ResultError, advice
from spor_tasks.core.files import (
    atomic_write,
    encode_row,
    is_file,
    read_json,
    require_new,
    shortened,
    writing,
)
from spor_tasks.core.folders import MANIFEST, read_manifest, write_manifest
from spor_tasks.core.weights import digest_weights, find_folder
from spor_tasks.harness import plan, task_files
from spor_tasks.models.checkpoints import ADAPTER_CONFIG, TRAINED_WHOLE
from spor_tasks.prompts.pairs import pairs_of
from spor_tasks.results.facts import ELSEWHERE, Adapter, BaseModel, Digest, TrainedOn

KIND = "pairs"
_LORA = ("r", "lora_alpha", "lora_dropout", "target_modules", "use_rslora", "use_dora")


class Pairs(msgspec.Struct, frozen=True, kw_only=True):
    """The record of a file of pairs."""

    task: str
    file_sha256: Digest
    adapter: Adapter
    """All that is known of an adapter before it is trained on them."""


def record_of(file: Path) -> Path:
    """Return the place of the record of a file of pairs.

    Raises:
        ConfigError: the path has no name of a file, as ``.`` has none.
    """
    if not file.name:
        raise ConfigError("is a folder", where=file, remedy="Name a file of pairs.")
    return file.with_name(f"{shortened(file.name, 240)}.{MANIFEST}")


def write(
    file: Path,
    name: str,
    arm: str,
    settings: Mapping[str, object],
    *,
    overwrite: bool,
    include: Path | None = None,
) -> Pairs:
    """Write the pairs of an arm of a task as JSON Lines, and then their record beside them.

    ``settings`` are those of an evaluation that decide them, such as ``prompt_style``. The task may
    be in the folder ``include``.

    Raises:
        ConfigError: the task has no such arm with texts, a setting is wrong, or a file exists and
            ``overwrite`` is off or it is no file of pairs.
        SporError: the sets cannot be loaded, or strict ones violate a requirement.
    """
    record = record_of(file)
    for path in (file, record):
        require_new(path, overwrite=overwrite)
    if file.exists():
        try:
            read(file)
        except ConfigError as error:
            what = "exists, and is no file of pairs as it was written"
            remedy = "Choose another file, or move this one away."
            raise ConfigError(what, where=file, remedy=remedy) from error
    task, *more = task_files.find([name], include)
    if more:
        what = f"stands for {len(more) + 1} tasks"
        raise ConfigError(what, where=name, remedy=f"Name one of them, such as {task.name}.")
    if task.sets.icl_arm:
        plain = task.sets.spec.task
        raise ConfigError(f"{name} is for untuned models", remedy=f"Name {plain} instead.")
    found = plan.resolve(plan.read({**task.metadata, **settings}))
    if arm not in found.pair.arms:
        pooled = "It is read under all its splits: name one with --split."
        arms = found.pair.arms
        raise ConfigError(
            f"{task.name} has no arm {arm!r}", remedy=advice(arm, arms) if arms else pooled
        )
    samples, count = found.pair.arms[arm], 0
    violations = check.violated(found.pair)
    with writing(file), atomic_write(file) as content:
        for pair in chain.from_iterable(pairs_of(each, found.style) for each in samples):
            content.write(encode_row({"prompt": pair.prompt, "completion": pair.text}))
            count += 1
        if not count:
            raise ConfigError(f"{arm} of {task.name} has no texts to train on")
    corpus_sha256 = None
    if own := task.sets.own_corpus:
        corpus_sha256 = own.version.removeprefix("sha256:")
    adapter = changed(
        Adapter.of(arm, set_digest(samples)),
        sets=TrainedOn.of(found.pair, corpus_sha256),
        violations=violations,
        pairs=count,
        prompt_style=found.style,
    )
    written = Pairs(task=task.name, file_sha256=sha256_of(file), adapter=adapter)
    with writing(record):
        write_manifest(record.parent, {"kind": KIND, **msgspec.to_builtins(written)}, record.name)
    return written


def read(file: Path) -> Pairs:
    """Return the record of a file of pairs, which must be as it was written.

    Raises:
        ConfigError: the file was changed, or the record is damaged.
        ResultError: there is no record.
    """
    record = record_of(file)
    again = "Write the pairs again with `spor data pairs`."
    try:
        found = msgspec.convert(read_manifest(record.parent, record.name), Pairs)
        if found.file_sha256 != sha256_of(file):
            raise ConfigError("is not the file that was recorded", where=file, remedy=again)
    except (msgspec.ValidationError, OSError, ResultError) as error:
        what = error.what if isinstance(error, ResultError) else str(error)
        raise ConfigError(f"is no record of pairs: {what}", where=record, remedy=again) from error
    return found


def adopt(
    folder: Path, file: Path, *, seed: int, base: str | None = None, recipe: str | None = None
) -> Pairs:
    """Record that the adapter, or whole model, in a folder was trained elsewhere on the pairs.

    Its base is the one that the adapter names, unless ``base`` is given. ``recipe`` is the user's
    name for how it was trained: adapters with equal ones may be compared. Return the record of the
    pairs with that of the adapter.

    Raises:
        ConfigError: the folder has no weights, or the record of a training by this package; the
            pairs were changed; or the base is not on this machine, or is another one.
        ResultError: the folder has a damaged record.
    """
    pairs = read(file)
    if os.path.lexists(folder / MANIFEST):
        earlier = read_manifest(folder)
        is_ours = earlier.get("kind") != KIND  # or else the record of pairs, copied by hand
        if is_ours and not Adapter.read(earlier, folder / MANIFEST).is_from_elsewhere:
            raise ConfigError(
                "was trained by this package, and says on what",
                where=folder,
                remedy="Evaluate it as it is.",
            )
    is_adapter = is_file(folder / ADAPTER_CONFIG)
    config = read_json(folder / ADAPTER_CONFIG) if is_adapter else {}
    sha256 = digest_weights(folder)
    lora = {key: config[key] for key in _LORA if key in config}
    if isinstance(targets := lora.get("target_modules"), list):
        lora["target_modules"] = sorted(map(str, targets))  # peft writes them in any order
    adapter = changed(
        pairs.adapter,
        seed=seed,
        base_model=_base(folder, base, config.get("base_model_name_or_path")),
        adapter_sha256=sha256,
        settings={
            **ELSEWHERE,
            "recipe": recipe or f"unknown, of {sha256[:12]}",
            "method": str(config["peft_type"]).lower() if "peft_type" in config else "full",
            **({"lora": lora} if lora else {}),
        },
    )
    kind = "adapter" if is_adapter else TRAINED_WHOLE
    with writing(folder / MANIFEST):
        write_manifest(folder, {"kind": kind, **msgspec.to_builtins(adapter)})
    return changed(pairs, adapter=adapter)


def _base(folder: Path, given: str | None, own: object) -> BaseModel:
    """Return the base, by the user's name or else the adapter's own; both must be one if known."""
    name = str(given or own or "")
    place = find_folder(name, "config.json") if name else None
    if place is None:
        raise ConfigError(
            f"its base {name!r} is not on this machine, so its weights have no digest"
            if name
            else "does not say which base it was trained on",
            where=folder,
            remedy="Name its base with --base: a folder, or a hub id whose files are in the cache.",
        )
    base = BaseModel(path=name, sha256=digest_weights(place))
    other = None
    with suppress(ConfigError):  # the name may be a folder of another machine
        other = find_folder(own, "config.json")
    if other and digest_weights(other) != base.sha256:
        raise ConfigError(
            f"was trained on {own}, whose weights are not those of {name}",
            where=folder,
            remedy="Leave --base out.",
        )
    return base


def arguments_of(folder: Path, adapter: Adapter) -> dict[str, str]:
    """Return the arguments of lm-eval's models that load what was recorded."""
    if not is_file(folder / ADAPTER_CONFIG) or adapter.base_model is None:
        return {"pretrained": str(folder)}
    return {"pretrained": adapter.base_model.path, "peft": str(folder)}
