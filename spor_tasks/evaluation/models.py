"""Lists of models to evaluate, as `spor eval --models` takes them."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from lm_eval.utils import simple_parse_args_string

from spor_tasks.core import plain_yaml
from spor_tasks.core.errors import ConfigError
from spor_tasks.core.files import is_file, read_text
from spor_tasks.evaluation.run import Arguments


def read_models(sources: Sequence[str]) -> Iterator[Arguments]:
    """Yield the arguments of checkpoints given as ``pretrained=…,peft=…`` or in files.

    A file has one checkpoint per line, or is a YAML list of such texts or of mappings. Empty lines
    and lines that begin with `#` are ignored.

    Raises:
        ConfigError: a file is missing or has something else, such as a YAML alias.
    """
    for text in sources:
        file = Path(text)
        if not is_file(file) and "=" in text:
            yield _arguments(text, text)
        else:
            for number, item in enumerate(_items(file), start=1):
                yield _arguments(item, f"{file}, entry {number}")


def _items(file: Path) -> list[Any]:
    text = read_text(file)
    lines = [line.strip() for line in text.splitlines()]
    items: Any = [line for line in lines if line and not line.startswith("#")]
    if items and file.suffix in {".yaml", ".yml"}:
        items = plain_yaml.parse(text, str(file))
    if not items or not isinstance(items, list):
        raise ConfigError(
            "is not a list of models",
            where=file,
            remedy="Write one pretrained=BASE,peft=ADAPTER per line.",
        )
    return items


def _arguments(item: object, place: str) -> Arguments:
    arguments: object = item
    if isinstance(item, str):
        try:
            arguments = simple_parse_args_string(item)
        except ValueError:
            arguments = None
    if not isinstance(arguments, dict) or not arguments.get("pretrained"):
        raise ConfigError(
            f"{item!r:.200} is not a model",
            where=place,
            remedy="Write pretrained=BASE,peft=ADAPTER.",
        )
    return arguments
