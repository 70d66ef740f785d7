"""Losses and scores for Weights & Biases, TensorBoard or trackio, if ``report_to`` names one."""

import json
from collections.abc import Mapping
from typing import Any

from accelerate import PartialState
from accelerate.tracking import LOGGER_TYPE_TO_CLASS, get_available_trackers

from spor_tasks.core.errors import ConfigError
from training.config import TrainingConfig
from training.settings import to_dict


class Tracker:
    """Reports from the first process; does nothing if ``report_to`` is null.

    TensorBoard's files go to the folder ``logs`` beside the output, so that an adapter's folder
    holds nothing else.

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
                f"report_to={name} needs the package {name}, which is not installed",
                remedy=f"Run `pip install {name}`, or set report_to=null.",
            )
        kind = LOGGER_TYPE_TO_CLASS[name]
        logs = [str(config.output.parent / "logs")] if kind.requires_logging_directory else []
        self._tracker = kind(config.output.name, *logs)
        self._tracker.store_init_configuration({"config": json.dumps(to_dict(config))})

    def log(self, values: Mapping[str, float], step: int) -> None:
        """Report the values after a step."""
        if self._tracker:
            self._tracker.log(dict(values), step=step)

    def finish(self) -> None:
        """Report that the run is finished."""
        if self._tracker:
            self._tracker.finish()
