"""The model card of an adapter, as the hub shows it: `README.md` beside the weights."""

import math
from collections.abc import Iterable
from pathlib import Path

import jinja2

from spor_tasks.core import named
from spor_tasks.core.contracts import TaskSpec
from spor_tasks.core.errors import ResultError
from spor_tasks.core.files import atomic_write
from spor_tasks.core.folders import MANIFEST, read_manifest
from spor_tasks.core.registry import registry
from spor_tasks.metrics.scores import score_info
from spor_tasks.results.facts import Adapter
from spor_tasks.results.runs import Run
from training.config import TrainingConfig
from training.data import find_spec
from training.settings import read_settings

CARD = "README.md"


def write_card(adapter: Path, results: Iterable[Run] = ()) -> None:
    """Write the card of a finished adapter, with results of it; it replaces the old card.

    Raises:
        ResultError: the folder is not a finished adapter, or its manifest was changed.
    """
    manifest = read_manifest(adapter)
    try:
        text = render_card(Adapter.read(manifest, adapter / MANIFEST), results)
    except Exception as error:  # whatever comes of what somebody wrote
        what = f"is not the manifest of an adapter: {type(error).__name__}: {error}"
        raise ResultError(what, where=adapter / MANIFEST) from error
    with atomic_write(adapter / CARD) as file:
        file.write(text.encode())


def render_card(adapter: Adapter, results: Iterable[Run] = ()) -> str:
    """Return the card of an adapter of ours."""
    selection, log, sets = adapter.selection, adapter.log, adapter.sets
    if selection is None or log is None or sets is None:
        raise ValueError("it does not say how it was trained")
    spec = find_spec(sets.aspect, sets.corpus, sets.protocol or "", sets.part)
    own = {**log.config, "output": "THIS_FOLDER"}
    config = read_settings(TrainingConfig, own, "manifest")
    path = config.model.path
    scores = [f"{s.get(selection['metric'], math.nan):.2f}" for s in selection["scores"]]
    without = [""] * (len(log.losses) - len(scores))  # epochs of an earlier stage
    template: jinja2.Template = jinja2.Template(
        Path(__file__).with_name("card.md.j2").read_text(encoding="utf-8"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    return template.render(
        run=adapter,
        log=log,
        model=Path(path).name,
        is_on_hub=not Path(path).is_dir(),
        benchmark=registry().get("benchmark", spec.benchmark),
        epochs=list(zip(log.losses, without + scores, strict=True)),
        label=score_info(selection["metric"]).label,
        results=list(results),
        arguments=",".join(f"{key}={value}" for key, value in config.arguments.items()),
        tasks=tasks_of(spec) + (" --include_path TASKS" if sets.corpus_sha256 else ""),
    )


def tasks_of(spec: TaskSpec) -> str:
    """Return the tasks, joined by commas, that test what an adapter was trained for."""
    tasks = [
        each.task
        for each in named.available()
        if each.trained_on == spec.trained_on
        and each.sets.aspect == spec.sets.aspect
        and each.sets.protocol == spec.sets.protocol
    ]
    return ",".join(tasks or [spec.task])
