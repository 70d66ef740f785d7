"""What a run that was cut off goes on from, to the same losses as one that was not."""

import io
import logging
import os
import pickle
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from accelerate import PartialState
from accelerate.utils import gather_object

from spor_tasks.core.errors import ConfigError
from spor_tasks.core.files import atomic_write, open_file, writing
from spor_tasks.core.visible import visible
from training.config import TrainingConfig
from training.settings import to_dict

_log = logging.getLogger(__name__)

RunState = dict[str, Any]
"""Tensors, numbers, texts, and lists and dictionaries of these."""

# What may be changed to go on, beside where the adapter is saved: it changes how a step is
# computed, but not what is learned in it beyond rounding.
_FREE = ("packing", "gradient_checkpointing", "compile", "save_steps")


def learned_settings(config: TrainingConfig) -> dict[str, Any]:
    """Return what a run must have in common with one that it goes on from, of its settings."""
    settings = to_dict(config)
    for key in ("output", "overwrite", "report_to"):
        del settings[key]
    del settings["selection"]["batch_size"]
    optimization = settings["optimization"]
    for key in _FREE:
        del optimization[key]
    optimization["batch_size"] *= optimization.pop("gradient_accumulation")
    return settings


class Unfinished:
    """The file beside an output folder that holds the state of its run until it is finished.

    ``facts`` tell this run from others: settings, data, base, versions, processes.
    """

    def __init__(self, output: Path, facts: Mapping[str, Any], processes: PartialState) -> None:
        self.path = output.with_name(f"{output.name}.unfinished")
        self._facts = facts
        self._processes = processes

    def load(self, *, discard_others: bool) -> RunState | None:
        """Return the state that was kept, with the random state restored; None if there is none.

        Raises:
            ConfigError: it is damaged, or of another run and others are not to be discarded.
        """
        if not os.path.lexists(self.path):
            return None
        with self._reading():
            with open_file(self.path) as file:
                kept = torch.load(file, map_location="cpu", weights_only=True)
            differences = sorted(_differences(kept["facts"], self._facts))
        if differences:
            if discard_others:
                _log.warning("%s is of another run, and is replaced", visible(self.path))
                return None
            raise ConfigError(
                f"is of a run with other {', '.join(differences)}",
                where=self.path,
                remedy="Go on with the settings of that run, delete the file to start anew, or "
                "have it replaced by setting `overwrite`.",
            )
        with self._reading():
            own, state = kept["random"][self._processes.process_index], dict(kept["state"])
            torch.set_rng_state(own["cpu"])
            if "cuda" in own:
                torch.cuda.set_rng_state(own["cuda"], self._processes.device)
        return state

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Say of whatever is raised in the block, by torch of a damaged file, that it is damaged.

        Raises:
            ConfigError: in place of such an error.
        """
        try:
            yield
        except Exception as error:
            what = f"{type(error).__name__}: {error}"
            if isinstance(error, pickle.UnpicklingError):  # which advises to load it nevertheless
                what = "it is not a file that training wrote"
            raise ConfigError(
                f"cannot be read: {what}", where=self.path, remedy="Delete it to start anew."
            ) from error

    def save(self, state: RunState) -> None:
        """Keep the state and the random state; a process that is killed meanwhile loses neither.

        Raises:
            ConfigError: it cannot be written.
        """
        random = {"cpu": torch.get_rng_state()}
        if self._processes.device.type == "cuda":
            random["cuda"] = torch.cuda.get_rng_state(self._processes.device)
        every = gather_object([random])
        if not self._processes.is_main_process:
            return
        content = io.BytesIO()  # of a full disk torch's writer would make an error of its own
        torch.save({"facts": self._facts, "state": state, "random": every}, content)
        with writing(self.path), atomic_write(self.path) as file:
            file.write(content.getbuffer())

    def remove(self) -> None:
        """Forget the run, which is finished."""
        if self._processes.is_main_process:
            self.path.unlink(missing_ok=True)


def _differences(one: Mapping[str, Any], other: Mapping[str, Any], prefix: str = "") -> list[str]:
    """Return the dotted keys under which the two hold different values."""
    found = []
    for key in one.keys() | other.keys():
        mine, theirs = one.get(key), other.get(key)
        if isinstance(mine, Mapping) and isinstance(theirs, Mapping):
            found += _differences(mine, theirs, f"{prefix}{key}.")
        elif mine != theirs:
            found.append(prefix + key)
    return found
