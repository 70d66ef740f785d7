"""Files with a model's answers for sets that are judged elsewhere."""

import json
import logging
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from spor_tasks.core.errors import ConfigError
from spor_tasks.core.files import atomic_write, writing
from spor_tasks.core.sample import Sample
from spor_tasks.core.visible import visible
from spor_tasks.metrics.likelihood import Likelihood

_log = logging.getLogger(__name__)

_SUFFIXES = {"json": ".json", "lines": ".txt"}


class Submission:
    """The file that a task's answers are written to.

    ``metadata`` has its ``submission_format``. ``json`` has a list for each table, in the order of
    the test set, as LogicNLG's challenge takes it; ``lines`` has a sentence a line, as ToTTo's test
    set. The file is ``TASK.json`` or ``TASK.txt`` in the working directory, or what
    ``--metadata submission=FILE`` names.
    """

    def __init__(self, task: str, metadata: dict[str, Any]) -> None:
        self._task = task
        self._format = metadata["submission_format"]
        self._file = Path(str(metadata.get("submission", task + _SUFFIXES[self._format])))

    def check(self, processes: int) -> None:
        """Check that the file can be written.

        Raises:
            ConfigError: the file exists, or there are several processes, each with a part of the
                set.
        """
        if processes > 1:
            raise ConfigError(
                "cannot write one file from several processes",
                where=self._task,
                remedy="Run the task in one process.",
            )
        if self._file.exists():
            raise ConfigError(
                "already exists; refusing to overwrite it",
                where=self._file,
                remedy="Remove it, or name another with --metadata submission=FILE.",
            )

    def write(self, samples: Sequence[Sample], outputs: Sequence[Sequence[Any]]) -> None:
        """Write the answers to the samples: their texts, or which side of a pair is likelier."""
        answers = list(map(_answer, outputs))
        if self._format == "lines":
            text = "".join(f"{' '.join(answer.split())}\n" for answer in answers)
        else:
            by_name = defaultdict(list)
            for sample, answer in zip(samples, answers, strict=True):
                by_name[str(sample.about("name"))].append(answer)
            text = json.dumps(by_name, indent=2)
        with writing(self._file), atomic_write(self._file) as file:
            file.write(text.encode())
        _log.warning(
            "%s: the answers for %d samples are in %s",
            self._task,
            len(answers),
            visible(self._file),
        )


def _answer(outputs: Sequence[Any]) -> str:
    if not isinstance(outputs[0], Likelihood):
        return str(outputs[0])
    first, second = map(_by_token, outputs)
    return "unknown1" if first > second else "unknown2"


def _by_token(likelihood: Likelihood) -> float:
    """Return the mean by token as published, or the sum if tokens are not known."""
    return likelihood.log if likelihood.per_token is None else likelihood.per_token
