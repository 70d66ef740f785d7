"""What every evaluation of lm-eval asks again, asked once for all tests of a process."""

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from lm_eval.tasks import _index
from torch.utils import collect_env

from spor_tasks.harness import task_files


def ask_once() -> None:
    """Find out once what the machine is, which takes 1.3 s, and what our task files say, 0.8 s."""
    collect_env.get_pretty_env_info = cache(collect_env.get_pretty_env_info)
    build = _index.TaskIndex.build
    ours = cache(lambda: build([task_files.FOLDER]))

    def built(paths: Iterable[Path], **settings: Any) -> dict[str, _index.Entry]:  # noqa: ANN401
        paths = list(paths)
        return dict(ours()) if paths == [task_files.FOLDER] else build(paths, **settings)

    _index.TaskIndex.build = staticmethod(built)
