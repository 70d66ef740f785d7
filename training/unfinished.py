"""The saved state of an interrupted run, which continues to the same losses as a whole one."""

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

# Settings that may change before a run continues, since they change a step only by rounding.
_FREE = ("packing", "gradient_checkpointing", "compile", "save_steps")


def learned_settings(config: TrainingConfig) -> dict[str, Any]:
    """Return the settings that a run must share with the one that it continues."""
    settings = to_dict(config)
    for key in ("output", "overwrite", "report_to"):
        del settings[key]
    del settings["selection"]["batch_size"]
    optimization = settings["optimization"]
    for key in _FREE:
        del optimization[key]
    if not config.by_batch:
        optimization["batch_size"] *= optimization.pop("gradient_accumulation")
    return settings


class Unfinished:
    """The file beside the output folder with the state of a run that is not finished.

    ``facts`` identify the run: settings, data, base, versions, processes.
    """

    def __init__(self, output: Path, facts: Mapping[str, Any], processes: PartialState) -> None:
        self.path = output.with_name(f"{output.name}.unfinished")
        self._facts = facts
        self._processes = processes

    def load(self, *, discard_others: bool) -> RunState | None:
        """Return the saved state and restore the random state; return None if there is no file.

        Raises:
            ConfigError: the file is damaged, or of another run and ``discard_others`` is off.
        """
        if not os.path.lexists(self.path):
            return None
        with self._reading():
            with open_file(self.path) as file:
                kept = torch.load(file, map_location="cpu", weights_only=True)
            differences = sorted(key for key, *_ in differing_keys(kept["facts"], self._facts))
        if differences:
            if discard_others:
                _log.warning("%s is of another run and will be replaced", visible(self.path))
                return None
            raise ConfigError(
                f"is of a run with other {', '.join(differences)}",
                where=self.path,
                remedy="Use the settings of that run, or delete the file, or set overwrite=true.",
            )
        with self._reading():
            own, state = kept["random"][self._processes.process_index], dict(kept["state"])
            torch.set_rng_state(own["cpu"])
            if "cuda" in own:
                torch.cuda.set_rng_state(own["cuda"], self._processes.device)
        return state

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Turn whatever torch raises about a damaged file into an error that names the file.

        Raises:
            ConfigError: in place of that error.
        """
        try:
            yield
        except Exception as error:
            what = f"{type(error).__name__}: {error}"
            if isinstance(error, pickle.UnpicklingError):  # torch's text says how to load it still
                what = "training did not write it"
            raise ConfigError(
                f"cannot be read: {what}",
                where=self.path,
                remedy="Delete it; training then starts from step 1.",
            ) from error

    def save(self, state: RunState) -> None:
        """Save the state and the random state; if this process is killed, the old file stays.

        Raises:
            ConfigError: the file cannot be written.
        """
        random = {"cpu": torch.get_rng_state()}
        if self._processes.device.type == "cuda":
            random["cuda"] = torch.cuda.get_rng_state(self._processes.device)
        every = gather_object([random])
        if not self._processes.is_main_process:
            return
        content = io.BytesIO()  # for a full disk, torch's writer raises an error of its own
        torch.save({"facts": self._facts, "state": state, "random": every}, content)
        with writing(self.path), atomic_write(self.path) as file:
            file.write(content.getbuffer())

    def remove(self) -> None:
        """Delete the file of a finished run."""
        if self._processes.is_main_process:
            self.path.unlink(missing_ok=True)


def differing_keys(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[tuple[str, Any, Any]]:
    """Return the dotted keys under which the two hold different values, with both values."""
    first, second = _flat(one), _flat(other)
    pairs = [(key, first.get(key), second.get(key)) for key in first | second]
    return [(key, mine, theirs) for key, mine, theirs in pairs if mine != theirs]


def _flat(settings: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in settings.items():
        key = f"{prefix}{name}"
        flat |= _flat(value, f"{key}.") if isinstance(value, Mapping) else {key: value}
    return flat
