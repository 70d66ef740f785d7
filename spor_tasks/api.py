"""The Python interface: what a notebook imports as ``spor_tasks``.

Tasks, evaluations, scores of files, results as pandas frames, and comparisons of systems. Each
function does what the command of its name does. Nothing heavy is imported before it is needed.
"""

import tempfile
import weakref
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike, fspath
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, TypeAlias

from spor_tasks.core.errors import ConfigError, MissingError, SporError
from spor_tasks.core.visible import visible
from spor_tasks.core.words import joined

if TYPE_CHECKING:
    from pandas import DataFrame

    from spor_tasks.evaluation.score import Result
    from spor_tasks.report import Report
    from spor_tasks.results.runs import Run

PathText: TypeAlias = str | PathLike[str]
"""A path of a file or folder."""


def list_tasks(pattern: str = "*", *, include_path: PathText | None = None) -> list[str]:
    """Return the names of the tasks that match a pattern such as ``spor_*_e2e``, or have a tag.

    ``include_path`` is a folder of further tasks, which ``spor tasks make`` wrote.

    Raises:
        ConfigError: there is no such task, or no such folder.
    """
    from spor_tasks.harness import task_files

    include = _path("include_path", include_path)
    return [file.name for file in task_files.find([_str("pattern", pattern)], include)]


def _str(name: str, given: object) -> str:
    """Return the text that a parameter of this name was given."""
    if not isinstance(given, str):
        raise ConfigError(f"{given!r:.80} is no text", where=name)
    return given


def _place(name: str, given: object) -> str:
    """Return the path that a parameter of this name was given."""
    if isinstance(given, str | PathLike) and isinstance(path := fspath(given), str) and path:
        return path
    remedy = "Results have theirs in `paths`." if isinstance(given, Results) else None
    raise ConfigError(f"{given!r:.80} is no path", where=name, remedy=remedy)


def _path(name: str, given: PathText | None) -> Path | None:
    return None if given is None else Path(_place(name, given))


def _places(name: str, *given: PathText | Sequence[PathText]) -> list[str]:
    """Return paths that were given one by one, or in lists."""
    lists = (
        each if isinstance(each, Iterable) and not isinstance(each, str | PathLike) else [each]
        for each in given
    )
    return [_place(name, path) for each in lists for path in each]


def _names(name: str, given: str | Sequence[str]) -> list[str]:
    """Return a list of names, or those of a text with commas, as the commands take them."""
    if not isinstance(given, Iterable):
        raise ConfigError(f"{given!r:.80} is no list of names", where=name)
    return given.split(",") if isinstance(given, str) else [_str(name, each) for each in given]


@dataclass(frozen=True, slots=True)
class TaskDescription:
    """The question of a task, its arms and scores, and its first prompt."""

    name: str
    title: str
    question: str
    arms: tuple[str, ...]
    """The sets that models are tuned on, or shown demonstrations of."""
    shown_arm: str | None
    """The arm that prompts show; None if the task is for models that were tuned on an arm."""
    scores: Mapping[str, str]
    """The titles of the scores that it reports without further settings."""
    samples: int | None
    """The size of the test set; None without its data."""
    first_prompt: str | None
    """As a causal model reads it; None without its data."""
    missing: str | None
    """How to get the data, if it is not here."""

    def __str__(self) -> str:
        """Return it as lines for a terminal."""
        scores = "; ".join(f"{name} ({title})" for name, title in self.scores.items())
        lines = [
            f"{self.name}: {self.title}",
            self.question,
            f"arms: {', '.join(self.arms)}" if self.arms else "",
            f"scores: {scores}",
            self.missing or f"{self.samples:,} samples, the first prompt:\n\n{self.first_prompt}",
        ]
        return visible("\n".join(filter(str.strip, lines)), keep="\n\t")


def describe_task(name: str, *, include_path: PathText | None = None) -> TaskDescription:
    """Return what a task asks, which may be in a folder of further tasks.

    Raises:
        ConfigError: there is no task of this name.
        CorpusError: the data of the task is damaged.
    """
    from spor_tasks.harness import documents, plan, task_files
    from spor_tasks.metrics.scores import info_of

    file, *more = task_files.find([_str("name", name)], _path("include_path", include_path))
    if more:
        names = ", ".join(each.name for each in (file, *more[:2]))
        remedy = "list_tasks(…) returns all of them."
        raise ConfigError(f"is several tasks, such as {names}", where=name, remedy=remedy)
    spec, shown = file.sets.spec, file.sets.icl_arm
    samples, prompt, missing = None, None, None
    try:
        sets = plan.load(file.sets)
        samples = len(sets.test)
        prompt = documents.first_prompt(sets, shown, file.shots)
    except MissingError as error:
        missing = str(error)
    part = f", {spec.sets.part_title}" if spec.sets.part_title else ""
    return TaskDescription(
        name=file.name,
        title=f"{spec.title}{part}",
        question=spec.asking.question,
        arms=tuple(spec.arms),
        shown_arm=shown,
        scores={
            str(score): info_of(score).title
            for score in spec.judging.reported
            if score in spec.judging.scores
        },
        samples=samples,
        first_prompt=prompt,
        missing=missing,
    )


# --- Results --------------------------------------------------------------------------------------

_RUN = ("task", "model", "arm", "seed")
_SCORES = (
    *(*_RUN, "score", "title", "higher_is_better", "value"),
    "low",
    "high",
    "n",
    "clusters",
    "documents",
    "file",
)
_SAMPLES = (*_RUN, "sample", "input", "prompt", "output", "references")
_BOARD = (
    "aspect",
    "corpus",
    "protocol",
    "part",
    "variant",
    "task",
    "apart",
    "metric",
    "n",
    "rank_of",
    "rank",
    "model",
    "arm",
    "value",
    "low",
    "high",
    "interval_over",
    "seeds",
    "reason",
    "runs",
)


@dataclass(frozen=True, eq=False)
class Results:
    """The results in files and folders of lm-eval, as :func:`load` or :func:`evaluate` found them.

    ``problems`` names what is wrong with the files, as a report does.
    """

    paths: tuple[Path, ...]

    @cached_property
    def _read(self) -> "Report":
        from spor_tasks.report import collect

        return collect(self.paths)

    @property
    def problems(self) -> tuple[str, ...]:
        """What is wrong with the files, or must be known of them."""
        return tuple(map(str, self._read.problems))

    @cached_property
    def scores(self) -> "DataFrame":
        """A row for each score of each run.

        The columns are task, model, arm, seed, score, title, higher_is_better, value, low, high, n,
        clusters, documents and file. ``low`` and ``high`` are a 95 % interval; it is missing
        without logged samples, and on fewer than six clusters that disagree.
        """
        import pandas as pd

        from spor_tasks.results.compare import interval

        logged, found = self._read.logged, {}
        for row in (*self._read.rows, *self._read.pooled):
            for cell in (*row.arms, row.as_is):  # the last is in the rows of all its adapters
                for run, value in zip(cell.runs, cell.values, strict=True):
                    ends = interval(logged, row.metric, [run])
                    samples = logged.get(run.id)
                    found[run.id, run.comparison, row.metric] = {
                        **_of_run(run),
                        "score": row.metric,
                        "title": row.score.title,
                        "higher_is_better": row.score.higher_is_better,
                        "value": value,
                        "low": ends.low if ends else None,
                        "high": ends.high if ends else None,
                        "n": run.n,
                        "clusters": len(set(samples.keys)) if samples else None,
                        "documents": run.documents,
                        "file": str(run.file),
                    }
        return pd.DataFrame([*found.values()], columns=_SCORES).convert_dtypes()

    @cached_property
    def samples(self) -> "DataFrame":
        """A row for each sample of each run that logged them.

        The columns are task, model, arm, seed, sample (its id), input, prompt, output, references,
        and each score. A score of one sample alone is missing where it has no verdict. Samples with
        several prompts have several outputs, which blank lines divide.
        """
        import pandas as pd

        from spor_tasks.results.samples import alone

        rows = [
            {
                **_of_run(file.run),
                "sample": record.sample.id,
                "input": _text(record.inputs),
                "prompt": _text(record.contexts),
                "output": _text(record.scored),
                "references": [_text([text]) for text in record.sample.references],
                **{
                    name: alone(file.run.spec, name, value)
                    for name, value in record.scores.items()
                    if name in file.run.spec.scores
                },
            }
            for file in self._read.samples
            if file.run.id in self._read.logged  # or else problems name its file
            for record in file.records()
        ]
        return pd.DataFrame(rows, columns=None if rows else _SAMPLES)

    def report(self, out: PathText) -> Path:
        """Write the report that ``spor report --out`` writes; return its page.

        Raises:
            ConfigError: the folder cannot be written.
        """
        from spor_tasks.report import PAGE, write

        folder = Path(_place("out", out))
        write(self.paths, folder)
        return folder / PAGE

    def board(self) -> "DataFrame":
        """Return the leaderboards, a row for each system, score and test."""
        import pandas as pd

        from spor_tasks.report import leaderboard

        rows = leaderboard.document(leaderboard.rank(self._read)).rows
        return pd.DataFrame([*rows], columns=_BOARD)


def load(*paths: PathText | Sequence[PathText]) -> Results:
    """Read lm-eval's results in files and folders, one by one or in a list.

    Raises:
        ResultError: a path is missing, or there are no results of our tasks; for those of other
            tasks there is :func:`compare`.
    """
    if not (named := _places("paths", *paths)):
        raise ConfigError("no results are named", remedy="Name the folder that has them.")
    results = Results(tuple(map(Path, named)))
    _ = results.problems  # damage shows here
    return results


def _of_run(run: "Run") -> dict[str, str | int | None]:
    model = _text([run.model])
    return {"task": run.comparison, "model": model, "arm": run.arm, "seed": run.seed}


def _text(parts: Iterable[str]) -> str:
    """Return texts as one, in Unicode: half a character, which no frame takes, becomes U+FFFD."""
    return "\n\n".join(parts).encode("utf-16", "surrogatepass").decode("utf-16", "replace")


# --- Evaluations ----------------------------------------------------------------------------------


def evaluate(
    tasks: str | Sequence[str],
    *,
    model: str = "spor-hf",
    out: PathText | None = "runs",
    limit: float | None = None,
    num_fewshot: int | None = None,
    batch_size: int = 1,
    device: str | None = None,
    metadata: Mapping[str, object] | None = None,
    gen_kwargs: Mapping[str, object] | None = None,
    apply_chat_template: bool | str = False,
    system_instruction: str | None = None,
    seed: int | None = None,
    include_path: PathText | None = None,
    **model_args: object,
) -> Results:
    """Evaluate a model on tasks of this package, as ``spor eval`` does; return the results.

    ``model`` is one of lm-eval's types of models, and further arguments are the model's, such as
    ``pretrained`` and ``peft``. Results and samples are written to the folder ``out``. None keeps
    them as long as the returned object only. ``include_path`` is a folder of further tasks, which
    ``spor tasks make`` wrote. Tasks of lm-eval itself are for its ``simple_evaluate``.

    Raises:
        ConfigError: a task or setting is unknown, a checkpoint is not a checkpoint or does not fit
            the task, the model cannot do what the task needs, or its server fails.
        CorpusError: the data of a task is missing.
        ResultError: the results were not written whole.
    """
    from argparse import Namespace

    from lm_eval.config.evaluate_config import EvaluatorConfig
    from rapidfuzz import fuzz, process

    from spor_tasks.evaluation.checks import check, lm_eval_errors, task_names
    from spor_tasks.evaluation.run import Evaluator, options_of
    from spor_tasks.harness import task_files

    names = _names("tasks", tasks)
    settings = {
        "limit": limit,
        "num_fewshot": num_fewshot,
        "batch_size": batch_size,
        "device": device,
        "metadata": dict(metadata or {}),
        "gen_kwargs": dict(gen_kwargs or {}),
        "apply_chat_template": apply_chat_template,
        "system_instruction": system_instruction,
        "seed": seed,
        "include_path": None if include_path is None else _place("include_path", include_path),
    }
    for name in model_args:
        if close := process.extractOne(name, [*settings], scorer=fuzz.ratio, score_cutoff=80):
            remedy = f"Write {close[0]}."
            raise ConfigError(f"{name!r} is not a setting", where="evaluate", remedy=remedy)
    folder = Path(tempfile.mkdtemp(prefix="spor-") if out is None else _place("out", out))
    include = _path("include_path", include_path)
    given = {**settings, "model": model, "model_args": model_args, "tasks": names, "limit": None}
    evaluator = Evaluator(model, batch_size=batch_size, device=device)
    try:
        config = EvaluatorConfig.from_cli(
            Namespace(**given, log_samples=True, output_path=str(folder))
        )
    except (OverflowError, TypeError, ValueError) as error:
        raise ConfigError(str(error), where="evaluate") from error
    # Without lm-eval's default, and without its warning of a limit.
    config.device, config.limit = device, limit
    with lm_eval_errors():
        check(config, [config.model_args])
        for name in task_names(config):
            task_files.find([name], include)
        evaluator.evaluate(
            [config.model_args],
            [file.name for file in task_files.expand(names, include)],
            folder,
            include=include,
            **options_of(config),
        )
    results = Results(tuple(evaluator.written))
    if out is None:
        weakref.finalize(results, rmtree, folder, ignore_errors=True)
    return results


def baseline(
    name: str,
    tasks: str | Sequence[str],
    *,
    out: PathText = "runs",
    limit: int | None = None,
    held_out: bool = False,
    include_path: PathText | None = None,
) -> Results:
    """Evaluate a baseline, which needs no model, as ``spor baseline`` does; return the results.

    Raises:
        ConfigError: the baseline or a task is unknown, the baseline does not suit the tasks, or the
            folder ``out`` cannot be written.
        CorpusError: the data of a task is missing.
    """
    from spor_tasks.evaluation.baseline_run import run

    written = run(
        name,
        _names("tasks", tasks),
        folder=Path(_place("out", out)),
        limit=limit,
        held_out=held_out,
        include=_path("include_path", include_path),
    )
    return Results(tuple(dict.fromkeys(each.file for each in written)))


# --- Outputs of any system ------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Scored:
    """The scores of outputs, as :func:`score` returns them.

    ``scores`` has a row for each score of each system: system, score, value, low, high, n, unscored
    and signature. ``samples`` has a row for each sample of each system: system, sample (its id),
    output, references, and a column for each score. ``comparisons`` has a row for each score of
    each further system, with the columns of :func:`compare`, and is empty for one system.
    ``warnings`` name what makes scores mean something else than they seem to.
    """

    scores: "DataFrame"
    samples: "DataFrame"
    comparisons: "DataFrame"
    warnings: tuple[str, ...]


def score(
    outputs: PathText | Sequence[PathText] | Mapping[str, Sequence[str]],
    *,
    task: str | None = None,
    corpus: PathText | None = None,
    references: PathText | None = None,
    metrics: str | Sequence[str] = (),
    baseline: str | None = None,
    filters: str | Sequence[str] | None = None,
    lowercase: bool = False,
) -> Scored:
    """Score outputs of any system, as ``spor score`` does, with intervals.

    ``outputs`` is a file, several files, or lists of texts by the name of a system: a text for each
    sample of the ``task`` or of ``references``, in their order. Several systems are compared with
    the ``baseline``, which is one of them, or with the first. ``filters="none"`` scores all of each
    output.

    Raises:
        ConfigError: a name is unknown, or nothing says what the outputs are for.
        CorpusError: an output cannot be read or scored, or the counts of texts and samples differ.
        ResultError: two systems have different samples.
    """
    from spor_tasks.core.files import is_file, write_rows, writing
    from spor_tasks.evaluation.score import score as scored

    for setting, value in (("task", task), ("baseline", baseline)):
        if value is not None:
            _str(setting, value)
    cut = None if filters is None else _names("filters", filters)
    with tempfile.TemporaryDirectory(prefix="spor-") as folder:
        if isinstance(outputs, Mapping):
            names = (_str("outputs", name) for name in outputs)
            named = {str(Path(folder, f"{i}.jsonl")): name for i, name in enumerate(names)}
            for file, name in named.items():
                texts = outputs[name]
                if isinstance(texts, str) or not isinstance(texts, Iterable):
                    raise ConfigError(f"{texts!r:.80} is no list of texts", where=name)
                with writing(Path(file)):
                    write_rows(Path(file), ({"output": text} for text in texts))
        else:
            named = {file: file for file in _places("outputs", outputs)}
            if no_file := next((f for f in named if f != "-" and not is_file(Path(f))), None):
                remedy = 'Texts of a system come by its name: {"mine": texts}.'
                raise ConfigError("there is no such file", where=no_file[:80], remedy=remedy)
        files = {name: Path(file) for file, name in named.items()}
        if not files or (baseline is not None and baseline not in files):
            what = "no outputs are named" if not files else f"{baseline!r} is none of the systems"
            raise ConfigError(what, where="score", remedy="Name a file, or lists of texts.")
        try:
            found = scored(
                [file for name, file in files.items() if name != baseline],
                task=task,
                metrics=_names("metrics", metrics),
                corpus=_place("corpus", corpus) if corpus is not None else None,
                references=_path("references", references),
                baseline=files[baseline] if baseline is not None else None,
                filters=() if cut == ["none"] else cut,
                lowercase=lowercase,
                intervals=True,
            )
        except SporError as error:  # of a file that nobody named
            error.where = _renamed(error.where or "", named) or None
            raise
    return _scored(found, named)


def _renamed(text: str, named: Mapping[str, str]) -> str:
    """Return a text with the names of systems in place of their files."""
    for file, name in named.items():
        text = text.replace(file, name)
    return text


def _scored(found: "Result", named: Mapping[str, str]) -> Scored:
    """Return what was scored as frames, with the names of systems in place of their files."""
    import pandas as pd

    scores = [
        {
            "system": named.get(system.name, system.name),
            "score": each.name,
            "value": each.value,
            "low": each.interval[0] if each.interval else None,
            "high": each.interval[1] if each.interval else None,
            "n": each.n,
            "unscored": each.unscored,
            "signature": each.signature,
        }
        for system in found.systems
        for each in system.scores
    ]
    samples = [
        pd.DataFrame(
            {
                "system": named.get(system.name, system.name),
                "sample": [row.sample.id for row in system.rows],
                "output": [_text(row.outputs) for row in system.rows],
                "references": [[*map(_text, zip(row.sample.references))] for row in system.rows],
                **system.values,  # noqa: PD011 - not a frame's
            }
        )
        for system in found.systems
    ]
    values = {
        (system.name, each.name): each.value for system in found.systems for each in system.scores
    }
    comparisons = [
        {
            "score": each.score,
            "a": values[each.baseline, each.score],
            "b": values[each.system, each.score],
            "difference": test.value,
            "low": test.interval.low if test.interval else None,
            "high": test.interval.high if test.interval else None,
            "p": each.holm,
            "n": test.n,
            "reason": joined("; ", test.reason, *test.notes) or None,
            "first": named.get(each.baseline, each.baseline),
            "second": named.get(each.system, each.system),
            "p_alone": test.p,
            "clusters": test.clusters,
        }
        for each in found.comparisons
        for test in [each.estimate]
    ]
    return Scored(
        scores=pd.DataFrame(scores),
        samples=pd.concat(samples, ignore_index=True),
        comparisons=pd.DataFrame(comparisons, columns=_COMPARED),
        warnings=tuple(_renamed(each, named) for each in found.warnings),
    )


# --- Comparisons ----------------------------------------------------------------------------------

_COMPARED = (
    "score",
    "a",
    "b",
    "difference",
    "low",
    "high",
    "p",
    "n",
    "reason",
    "first",
    "second",
    "p_alone",
    "clusters",
)


def compare(
    first: PathText | Sequence[PathText],
    *others: PathText | Sequence[PathText],
    cluster: str | None = None,
    scores: str | Sequence[str] = (),
) -> "DataFrame":
    """Compare runs of any tasks of lm-eval, paired by document, as ``spor compare`` does.

    The files or folders have lm-eval's results with logged samples. Each of the ``others`` is
    compared with the ``first``. ``cluster`` is a field of a document; documents of one value are
    resampled together. Our own tasks have their clusters.

    Returns:
        A row for each score of each task: task, score, a, b, difference (b less a), low and high (a
        95 % interval), p (with Holm's adjustment for all rows), n (documents that all have),
        detectable (the smallest difference found with 80 % power), reason (why there is no test or
        mark), first and second (the systems), and more. ``attrs["problems"]`` names what was left
        out, and how systems were asked otherwise than the first.

    Raises:
        ConfigError: ``cluster`` or a score is unknown.
        ResultError: nothing can be compared.
    """
    import pandas as pd

    from spor_tasks.results.pairs import pair

    paths = [Path(each) for each in (*_places("first", first), *_places("others", *others))]
    pairing = pair(paths, cluster=cluster, scores=_names("scores", scores))
    frame = pd.DataFrame([row.as_row() for row in pairing.rows])
    frame.attrs["problems"] = [*map(str, pairing.problems)]
    return frame
