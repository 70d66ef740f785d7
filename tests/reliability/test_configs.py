"""Settings that are not YAML are refused at once, wherever settings are read."""

import time
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from spor_tasks.cli import evaluate
from spor_tasks.core.errors import ConfigError
from spor_tasks.core.plain_yaml import parse

TEXTS = {
    "digits": f"- a\n- {'9' * 5_000}",
    "dashes": "- " * 5_000,
    "no number": "- !!int many",
    "no truth": "- !!bool maybe",
    "no day": "- !!timestamp 2024-13-01",
    "no time": "- !!timestamp never",
    "an object": "- !!python/object/apply:os.system [true]",
}


@contextmanager
def cheap(seconds: float = 10, megabytes: float = 30) -> Iterator[None]:
    """See to it that the block takes no more, of this process and this machine."""
    tracemalloc.start()
    start = time.process_time()
    try:
        yield
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert time.process_time() - start < seconds
    assert peak < megabytes * 2**20


@pytest.mark.parametrize("text", TEXTS)
def test_what_is_not_yaml_is_refused_at_once(text: str) -> None:
    with cheap(), pytest.raises(ConfigError, match="is not valid YAML") as caught:
        parse(TEXTS[text], "here")
    assert str(caught.value).startswith("here: ")


@pytest.mark.parametrize("option", ["--metadata", "--model_args", "--gen_kwargs"])
def test_json_without_end_is_refused_on_the_command_line(option: str) -> None:
    given = ["--tasks", "spor_mini", option, '{"a": ' + "[" * 20_000]
    with pytest.raises(ConfigError, match=r"command line: .*nested"):
        evaluate.run(given)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("task: spor_mini", "settings.yaml: "),
        ("{1: 2}", "settings.yaml: "),
        ("tasks: [1]", "tasks: must be names"),
        ("{tasks: spor_mini, model_args: [1]}", "settings.yaml: "),
        ("{tasks: spor_mini, gen_kwargs: 5}", "settings.yaml: gen_kwargs must be a dict"),
        ("- 5", "YAML root must be a mapping"),
    ],
)
def test_settings_of_an_evaluation_that_are_none_are_refused(
    text: str, fault: str, tmp_path: Path
) -> None:
    path = tmp_path / "settings.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        evaluate.run(["--config", str(path)])
    assert fault in str(caught.value)
