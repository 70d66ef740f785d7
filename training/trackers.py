"""Weights & Biases, TensorBoard or trackio, which are told losses and scores where asked for."""

import json
from collections.abc import Mapping
from typing import Any

from accelerate import PartialState
from accelerate.tracking import LOGGER_TYPE_TO_CLASS, get_available_trackers

from spor_tasks.core.errors import ConfigError
from training.config import TrainingConfig
from training.settings import to_dict


class Tracker:
    """Tells the program that ``report_to`` names, if one is named, from the first process.

    TensorBoard's files go to the folder ``logs`` beside the output; a finished adapter has no
    other files in it than that which made it.

    Raises:
        ConfigError: the package is not installed.
    """

    def __init__(self, config: TrainingConfig, team: PartialState) -> None:
        self._tracker: Any = None
        name = config.report_to
        if name is None or not team.is_main_process:
            return
        if name not in get_available_trackers():
            raise ConfigError(
                f"report_to {name} needs a package that is not installed",
                remedy=f"`pip install {name}`, or report_to=null.",
            )
        kind = LOGGER_TYPE_TO_CLASS[name]
        place = (
            {"logging_dir": str(config.output.parent / "logs")}
            if kind.requires_logging_directory
            else {}
        )
        self._tracker = kind(config.output.name, **place)
        self._tracker.store_init_configuration({"config": json.dumps(to_dict(config))})

    def log(self, values: Mapping[str, float], step: int) -> None:
        """Tell the values after a step."""
        if self._tracker:
            self._tracker.log(dict(values), step=step)

    def finish(self) -> None:
        """Tell that no more will come."""
        if self._tracker:
            self._tracker.finish()
