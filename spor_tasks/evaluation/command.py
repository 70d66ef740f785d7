"""The settings of `spor eval`, from lm-eval's own command line and configuration files."""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from lm_eval._cli.run import Run
from lm_eval.config.evaluate_config import EvaluatorConfig
from lm_eval.utils import simple_parse_args_string

from spor_tasks.core import plain_yaml
from spor_tasks.core.errors import ConfigError
from spor_tasks.core.files import is_file, read_text
from spor_tasks.core.terminal import Parser

LIST = "`spor tasks list` names our tasks, `lm_eval ls tasks` those of lm-eval."
"""What to type to see the names of tasks."""


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Return the arguments as lm-eval's own parser reads them.

    Raises:
        ConfigError: an argument is JSON that is nested too deeply.
    """
    parser = Parser(prog="spor eval")
    Run.create(parser.add_subparsers(dest="command"))
    try:
        return parser.parse_args(["run", *arguments])
    except RecursionError as error:
        raise ConfigError("an argument is nested too deeply", where="command line") from error


def read_settings(options: argparse.Namespace) -> dict[str, Any]:
    """Return the settings: those of the command line, then those of the file after ``--config``.

    Raises:
        ConfigError: the file cannot be read, is not valid YAML or has an unknown key.
    """
    file: dict[str, Any] = {}
    if options.config:
        path = Path(options.config)
        try:
            if is_file(path):
                plain_yaml.parse(
                    read_text(path), str(path)
                )  # first, since lm-eval does not refuse aliases
            file = EvaluatorConfig.load_yaml_config(path)
        except (
            OSError,
            RuntimeError,
            TypeError,
            ValueError,
        ) as error:  # RuntimeError: a loop of links
            raise ConfigError(str(error), where="--config") from error
        if unknown := file.keys() - {field.name for field in fields(EvaluatorConfig)}:
            raise ConfigError(f"unknown key {min(map(str, unknown))!r}", where=path)
    return file | {key: value for key, value in vars(options).items() if value is not None}


def config_of(options: argparse.Namespace) -> EvaluatorConfig:
    """Return the settings as lm-eval checks and completes them.

    Raises:
        ConfigError: a setting is wrong.
    """
    try:
        return EvaluatorConfig.from_cli(options)
    except ValueError as error:
        raise ConfigError(str(error)) from error


def task_names(settings: Mapping[str, Any]) -> list[str]:
    """Return the names of tasks and groups, and the patterns, that were given.

    Raises:
        ConfigError: none were given, or one is not a name.
    """
    listed = settings.get("tasks") or []
    parts = listed if isinstance(listed, list) else [listed]
    if not all(isinstance(part, str) for part in parts):
        raise ConfigError("must be a list of names", where="--tasks", remedy=LIST)
    names = [name for part in parts for name in part.split(",")]
    if not names:
        raise ConfigError("no tasks were given", where="--tasks", remedy=LIST)
    return names


def mapping(settings: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Return a setting that is a mapping, given as one or as text; empty if it was not given.

    Raises:
        ConfigError: it is not a mapping.
    """
    value = settings.get(key) or {}
    parsed = simple_parse_args_string(value) if isinstance(value, str) else value
    if not isinstance(parsed, dict):
        raise ConfigError(
            "must be a mapping", where=f"--{key}", remedy="Write KEY=VALUE,KEY=VALUE, or JSON."
        )
    return dict(parsed)
