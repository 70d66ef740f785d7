"""An evaluation that was cut short goes on: outputs are kept as they come, until it has results.

A run takes the outputs of an earlier one only if all is equal on which an output depends. Of a
model that runs here these are whole batches, so that the same prompts stand side by side as in a
run that was not cut short.
"""

import json
import logging
import os
import time
import zlib
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from lm_eval import evaluator
from lm_eval.api.instance import Instance
from lm_eval.api.model import LM, CacheHook

from spor_tasks import __version__
from spor_tasks.core.digests import sha256_of_text
from spor_tasks.core.errors import ConfigError
from spor_tasks.core.files import FileContent, JsonObject, is_file, open_file
from spor_tasks.core.folders import user_cache, writing_alone
from spor_tasks.core.foreign import in_words
from spor_tasks.core.visible import visible
from spor_tasks.models import backends
from spor_tasks.models.answers import Failed
from spor_tasks.models.checkpoints import Checkpoint

_log = logging.getLogger(__name__)

_NAMES = ("pretrained", "model", "base_url", "peft", "lora_local_path")
_OPTIONS = (
    "limit",
    "num_fewshot",
    "gen_kwargs",
    "system_instruction",
    "apply_chat_template",
    "fewshot_as_multiturn",
)
_DELIVERY = (
    "num_concurrent",
    "max_retries",
    "timeout",
    "verify_certificate",
    "batch_size",
    "max_batch_size",
)
"""How a server is asked, on which no output depends."""
_BATCHES = ("_model_generate", "_model_call")  # what lm-eval's models of transformers call for each


class Conditions(NamedTuple):
    """What the outputs of a run depend on, as far as it is known before its prompts are made."""

    name: str
    """The digest of the model's name and of the tasks."""
    settings: Mapping[str, str]
    """The digests of all else on which outputs depend, but for prompts and decoding."""
    is_here: bool
    """False if a server answers, of which nothing but the address is known."""

    @property
    def prefix(self) -> str:
        """How the names of its files begin."""
        return f"{self.name}-{_digest({**self.settings})}"

    @classmethod
    def of(
        cls,
        model: LM,
        kind: str,
        arguments: JsonObject,
        tasks: Sequence[str],
        options: JsonObject,
    ) -> "Conditions | None":
        """Return those of a loaded model; None, with a line, if its files are not known."""
        of_kind, checkpoint = backends.backend(kind), Checkpoint.read(arguments)
        has_files = bool(arguments.get("pretrained")) and "base_url" not in arguments
        is_here = of_kind.adapter is not None or has_files
        files: Sequence[object] = ()
        with suppress(ConfigError, OSError, TypeError):
            json.dumps({**arguments})  # a model that is given as an object has no name
            files = checkpoint.files(with_tokenizer=True) if is_here and checkpoint.base() else ()
        if is_here and not files:
            _log.info("outputs are not kept while they come: the files of the model are not known")
            return None
        known: FileContent = {
            **{name: options.get(name) for name in (*_OPTIONS, "batch_size", "max_batch_size")},
            **arguments,
            "model type": kind,
            "device": options.get("device"),
            "packages": [__version__, backends.package_versions()],
            "files of the model": files,
            "dtype": str(getattr(getattr(model, "_model", None), "dtype", None)),
            "machine": _machine(model) if of_kind.on_transformers else None,
        }
        name = _digest([[arguments.get(each) for each in _NAMES], sorted(tasks)])
        settled = sorted(known.keys() - (() if is_here else _DELIVERY))
        return cls(name, {key: _digest(known[key]) for key in settled}, is_here)


def folder_of(out: Path | None) -> Path:
    """Return the folder of kept outputs: beside the results, or in the user's cache."""
    if out is None:
        return user_cache() / "unfinished"
    return (out.parent if out.suffix == ".json" else out) / ".unfinished"


@contextmanager
def keeping(model: LM, run: Conditions | None, folder: Path) -> Iterator[Callable[[], None]]:
    """Keep what a model writes in the block, and have it write nothing that is kept already.

    Yields what removes the kept outputs, to be called when there are results.
    """
    if run is None:
        yield lambda: None
        return
    kept = _Kept(model, run, folder)
    before = dict(vars(model))
    # `spor-hf` counts all prompts before it asks lm-eval for outputs
    asking = "written" if hasattr(model, "written") else "generate_until"
    for name in (asking, "loglikelihood"):
        method = "generate_until" if name == asking else name
        setattr(model, name, partial(kept.answer, method, getattr(model, name)))
    for name in kept.batches:
        setattr(model, name, partial(kept.after_batch, getattr(model, name)))
    model.set_cache_hook(kept)
    try:
        yield kept.remove
    except BaseException:
        if kept.count and model.rank == 0:
            _log.warning(
                "%d of %d outputs are kept in %s; the same command goes on with them",
                kept.count,
                kept.asked,
                visible(folder),
            )
        with suppress(OSError):  # it has outputs
            folder.rmdir()
        raise
    finally:
        for name in (asking, "loglikelihood", *_BATCHES, "cache_hook"):
            vars(model).pop(name, None)
            if name in before:
                setattr(model, name, before[name])


@contextmanager
def keeping_for_lm_eval(
    kind: str, arguments: JsonObject, tasks: Sequence[str], settings: JsonObject, out: Path | None
) -> Iterator[None]:
    """Keep what a model writes in the block, in which lm-eval's own command evaluates it."""
    begun, whole, folder = time.time(), evaluator.evaluate, folder_of(out)
    removals = []

    def evaluate(*, lm: LM, **options: object) -> object:
        run = Conditions.of(lm, kind, arguments, tasks, settings)
        with keeping(lm, run, folder) as remove:
            removals.extend([remove] if lm.rank == 0 else [])
            return whole(lm=lm, **options)

    evaluator.evaluate = evaluate
    try:
        yield
    finally:
        evaluator.evaluate = whole
    written = [*folder.parent.rglob("results*.json")] if out else []
    if out is None or any(file.stat().st_mtime >= begun for file in written):
        for remove in removals:
            remove()


class _Kept(CacheHook):  # type: ignore[misc]  # lm-eval has no types
    """Answers requests from a file, and keeps there each output of which lm-eval tells it."""

    def __init__(self, model: LM, run: Conditions, folder: Path) -> None:
        super().__init__(None)
        self._model, self._run, self._folder = model, run, folder
        self.batches = [name for name in _BATCHES if run.is_here and hasattr(model, name)]
        self._method = ""  # whose outputs are taken now
        self._file: _Journal | None = None  # of that method; None if it cannot be written
        self._batch: list[tuple[str, object]] = []  # keys and outputs
        self._paths: list[Path] = []
        self.asked = self.count = 0

    def answer(
        self,
        method: str,
        write: Callable[..., Sequence[object]],
        requests: Sequence[Instance],
        *args: object,
        **kwargs: object,
    ) -> list[object]:
        """Return an output for each request: a kept one, or what ``write`` returns."""
        if any(len(request.args) != 2 for request in requests):  # it shows pictures
            return [*write(requests, *args, **kwargs)]
        keys = [_key(*request.args) for request in requests]
        self.asked += len(requests)
        with self._opened(method, _digest([method, keys])) as rows:
            kept: Mapping[str, deque[Any]] = defaultdict(deque)
            for key, output in rows:
                is_pair = isinstance(output, list)  # a likelihood, and whether it is the most
                kept[key].append(tuple(output) if is_pair else output)
            outputs = [kept[key].popleft() if kept[key] else None for key in keys]
            left = [number for number, output in enumerate(outputs) if output is None]
            for request, output in zip(requests, outputs, strict=True):
                if output is not None:  # whoever else counts is told, too
                    self._model.cache_hook.add_partial(method, request.args, output)
            self.count += len(requests) - len(left)
            self._method = method
            # several processes may have to agree on the size of a batch
            if left or self._model.world_size > 1:
                new = write([requests[number] for number in left], *args, **kwargs)
                for number, output in zip(left, new, strict=True):
                    outputs[number] = output
            self._append()
            self._method = ""
        return outputs

    @contextmanager
    def _opened(self, method: str, asked: str) -> Iterator[list[tuple[str, Any]]]:
        """Open the file of some requests for the block; yield what is kept there."""
        path = self._folder / f"{self._run.prefix}-{asked}-{self._model.rank}.jsonl"
        header = {"method": method, "rank": self._model.rank, **self._run._asdict()}
        rows: list[tuple[str, Any]] = []
        with ExitStack() as lock:
            try:
                lock.enter_context(writing_alone(path, path.with_suffix(".lock")))
                self._file = _Journal(path, header)
                self._paths.append(path)
                if rows := self._file.rows():
                    _log.warning(
                        "%d outputs are of a run that was cut short%s: %s",
                        len(rows),
                        ""
                        if self._run.is_here
                        else "; if the server has another model now, stop and delete them",
                        visible(path),
                    )
                else:
                    self._compare(header)
            except (ConfigError, OSError) as error:
                _log.warning("no outputs are kept: %s: %s", visible(path), in_words(error))
                self._file = None
            yield rows
        self._file = None

    def _compare(self, now: JsonObject) -> None:
        """Say how the last run that was cut short differs, if there is one."""
        paths = self._folder.glob(f"{self._run.name}-*.jsonl")
        for path in sorted(paths, key=lambda path: path.stat().st_mtime, reverse=True):
            before, *batches = (value for value, _ in _whole_lines(path) or [({}, 0)])
            if batches and all(before.get(key) == now[key] for key in ("method", "rank")):
                former = before["settings"]
                names = [name for name, own in now["settings"].items() if former.get(name) != own]
                _log.warning(
                    "a run that was cut short differs in %s, so this one starts anew; %d outputs "
                    "stay in %s",
                    ", ".join(names) or "its prompts",
                    sum(map(len, batches)),
                    visible(path),
                )
                return

    def add_partial(self, attr: str, req: Sequence[Any], res: object) -> None:
        """Take an output from lm-eval.

        A sampled one is not kept, since it depends on those before it; but `spor-hf` draws each
        with a seed of its own. A request that a server failed to answer is made again.
        """
        if attr != self._method or isinstance(res, Failed):
            return
        settings = req[1] if attr == "generate_until" else {}
        is_drawn = settings.get("do_sample") or settings.get("temperature")
        if not is_drawn or hasattr(req[0], "seed"):
            self._batch.append((_key(*req), res))
            if not self.batches:
                self._append()

    def after_batch(self, call: Callable[..., object], *args: object, **kwargs: object) -> object:
        """Call a method for the next batch, once the last one is kept."""
        self._append()
        return call(*args, **kwargs)

    def _append(self) -> None:
        batch, self._batch = self._batch, []
        if batch and self._file:
            try:
                self._file.append(batch)
                self.count += len(batch)
            except OSError as error:
                _log.warning("no further outputs are kept: %s", error)
                self._file = None

    def remove(self) -> None:
        """Remove what this run has kept, and its other processes."""
        others = self._folder.glob(f"{self._run.prefix}-*-[1-9]*.jsonl")
        for path in (*self._paths, *(others if self._model.world_size > 1 else ())):
            path.unlink(missing_ok=True)
        for lock in self._folder.glob("*.lock"):  # those of killed processes
            with suppress(ConfigError), writing_alone(lock, lock):
                pass
        with suppress(OSError):  # it has those of other runs, or is not there
            self._folder.rmdir()


class _Journal:
    """A file whose lines are whole or not there: a header, and the rows of a batch in each."""

    def __init__(self, path: Path, header: JsonObject) -> None:
        self._path = path
        self._new: list[object] = [header]  # lines that are still to be written

    def rows(self) -> list[Any]:
        """Return all rows; what is behind the last whole line, or another header, is removed."""
        if not is_file(self._path):
            return []
        header, *lines = _whole_lines(self._path) or [(None, 0)]
        is_known = [header[0]] == self._new
        os.truncate(self._path, sum(size for _, size in (header, *lines)) if is_known else 0)
        self._new = [] if is_known else self._new
        return [row for batch, _ in lines for row in batch] if is_known else []

    def append(self, batch: object) -> None:
        with self._path.open("ab") as file:
            file.write(b"".join(map(_line, [*self._new, batch])))
        self._new = []


def _key(prompt: object, settings: object) -> str:
    seed = getattr(prompt, "seed", None), getattr(prompt, "limit", None)  # of spor-hf
    return _digest([prompt, *seed, settings])


def _digest(value: object) -> str:
    return sha256_of_text(json.dumps(value, sort_keys=True, default=str))[:24]


def _line(value: object) -> bytes:
    """Return a value as a line, after a check sum by which a damaged one is known."""
    content = json.dumps(value).encode()
    return b"%08x %b\n" % (zlib.crc32(content), content)


def _whole_lines(file: Path) -> list[tuple[Any, int]]:
    """Return the values of lines, and their sizes, up to the first that is not whole."""
    found = []
    with suppress(OSError), open_file(file) as lines:
        for line in lines:
            if not line.endswith(b"\n") or line[:9] != b"%08x " % zlib.crc32(line[9:-1]):
                break
            found.append((json.loads(line[9:]), len(line)))
    return found


def _machine(model: LM) -> object:
    """Return what outputs may depend on of the machine that a model of transformers is on."""
    import torch  # takes seconds

    if model.device.type == "cuda":
        return torch.cuda.get_device_name(model.device)
    return torch.backends.cpu.get_cpu_capability(), torch.get_num_threads()
