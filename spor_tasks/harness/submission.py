"""Tasks whose outputs are judged elsewhere: they write a file to submit, in place of scores."""

import json
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lm_eval.api.instance import Instance

from spor_tasks.core.errors import ConfigError
from spor_tasks.core.files import atomic_write, writing
from spor_tasks.core.visible import visible
from spor_tasks.harness import host
from spor_tasks.harness.likelihood import AdversarialTask
from spor_tasks.harness.task import SporTask
from spor_tasks.metrics.likelihood import Likelihood

_log = logging.getLogger(__name__)


class SubmissionTask(SporTask):
    """A test set without references: the outputs are written to a file.

    The file is ``TASK.json`` in the working directory, or what ``--metadata submission=FILE``
    names. It has a list for each table, in the order of the test set, as published.

    Raises:
        ConfigError: the file exists, or there are several processes, each with a part of the set.
    """

    suffix = ".json"

    def build_all_requests(self, **kwargs: Any) -> None:  # noqa: ANN401 - passed on
        """Build the requests, if the file can be written."""
        if kwargs.get("world_size", 1) > 1:
            raise ConfigError(
                "cannot write one file from several processes",
                where=self.config.task,
                remedy="Run the task in one process.",
            )
        if self._file.exists():
            raise ConfigError(
                "already exists; refusing to overwrite it",
                where=self._file,
                remedy="Remove it, or name another with --metadata submission=FILE.",
            )
        super().build_all_requests(**kwargs)

    @property
    def _file(self) -> Path:
        name = f"{self.config.task}{self.suffix}"
        return Path(str(self.config.metadata.get("submission", name)))

    def apply_filters(self) -> list[Instance]:
        """Filter the outputs, and write the file."""
        instances = super().apply_filters()
        asked = self._asked()
        answers = [
            (str(requests[0].doc["name"]), self._answer(requests)) for requests in asked.values()
        ]
        with writing(self._file), atomic_write(self._file) as file:
            file.write(self.written(answers).encode())
        _log.warning(
            "%s: wrote the answers for %d of %d samples to %s",
            *(self.config.task, len(asked), len(self._plan.pair.test.samples)),
            visible(self._file),
        )
        return instances

    def _answer(self, requests: Sequence[Instance]) -> str:
        return host.kept(requests[0], self._filters[0].name)

    def written(self, answers: Sequence[tuple[str, str]]) -> str:
        """Return the text of the file, of the name and the answer of each sample in order."""
        found: dict[str, list[str]] = {}
        for name, answer in answers:
            found.setdefault(name, []).append(answer)
        return json.dumps(found, indent=2)


class LinesTask(SubmissionTask):
    """A test set without references: the file, ``TASK.txt``, has one sentence a line."""

    suffix = ".txt"

    def written(self, answers: Sequence[tuple[str, str]]) -> str:
        """Return a line for each answer, in the order of the test set."""
        return "".join(f"{' '.join(answer.split())}\n" for _, answer in answers)


class AdversarialSubmissionTask(SubmissionTask, AdversarialTask):
    """Pairs of which nobody says which side is true: the file names the likelier side of each."""

    def _answer(self, requests: Sequence[Instance]) -> str:
        first, second = (_by_token(self._likelihoods[id(request)]) for request in requests)
        return "unknown1" if first > second else "unknown2"


def _by_token(found: Likelihood) -> float:
    """Return the mean by token as published, or the sum if tokens are not known."""
    return found.log if found.per_token is None else found.per_token
