"""Classifiers of transformers that say which value of an aspect a text has.

Each aspect has a folder with a sequence classifier. The published ones (github.com/tqzhong/CG4MCTG)
are RoBERTa with layers of another name, and their files name no classes. Their code fills batches
with the token 0 and adds -10000 to what is filled, which changes no number in float32.
"""

import logging
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

from spor_tasks.core.errors import ConfigError
from spor_tasks.core.files import is_file, read_json
from spor_tasks.core.folders import recover
from spor_tasks.core.weights import known_digest, weight_files
from spor_tasks.corpora.compmctg.spaces import PUBLISHED
from spor_tasks.metrics.classifier import SequenceClassifier, Tokenizers, read_classifier
from spor_tasks.metrics.compmctg import Asked, Attributes

try:
    import torch
    from safetensors.torch import load_file
    from transformers import AutoTokenizer, RobertaConfig, RobertaForSequenceClassification
except ImportError as error:
    raise ConfigError(
        f"a classifier needs a package that is not installed: {error.name}",
        remedy="Install it with `pip install 'spor-tasks[hf]'`.",
    ) from error

_State: TypeAlias = Mapping[str, torch.Tensor]

_log = logging.getLogger(__name__)

_MOST_TOKENS = 512  # that the published classifiers read
_LABELS = "map_dict.json"
_REMEDY = (
    "Name a folder that has a folder for each aspect, such as `sentiment`, in which a sequence "
    "classifier of transformers was saved. `python -m training classifier` trains them."
)
# The layers of the published files that RobertaForSequenceClassification has under other names.
_RENAMED = {
    "roberta.pooler.dense.": "classifier.dense.",
    "cls.seq_relationship.": "classifier.out_proj.",
}
_UNNAMED = re.compile(r"label_\d+", re.IGNORECASE)  # transformers' own name of a class


@lru_cache(maxsize=1)  # all tasks of a run ask the same ones
def load(classifiers: str, *, device: str | None = None, batch_size: int = 32) -> Attributes:
    """Return the metric with the classifiers in the folders of this folder, one for each aspect.

    The name of an aspect is that of its folder. A classifier's classes are named by its config, in
    capitals or not; by the file ``map_dict.json`` in its folder or the one above; or in the
    published order.

    Raises:
        ConfigError: there are none, one cannot be loaded, or nothing says what its classes are.
    """
    return Attributes(_Classifiers(aspects(Path(classifiers), device, batch_size)))


def aspects(folder: Path, device: str | None, batch_size: int) -> "dict[str, Aspect]":
    """Return the classifiers in the folders of this folder, by aspect.

    Raises:
        ConfigError: as :func:`load`.
    """
    recover(folder)
    found = sorted(path for path in folder.glob("[!.]*") if is_file(path / "config.json"))
    if not found:
        raise ConfigError("has no classifiers", where=folder, remedy=_REMEDY)
    return {path.name: Aspect(path, device, batch_size) for path in found}


class _Classifiers:
    def __init__(self, by_aspect: "Mapping[str, Aspect]") -> None:
        self._by_aspect = by_aspect
        digests = (f"{name}={each.digest}" for name, each in by_aspect.items())
        self.signature = f"classifiers:{','.join(digests)}"

    def __call__(self, asked: Sequence[Asked]) -> list[str]:
        """Return the value that each text has."""
        said = [""] * len(asked)
        spelled = {(unit[0], unit[-1].casefold()): unit[-1] for unit, _ in asked}
        for aspect, value in dict.fromkeys((unit[0], unit[-1]) for unit, _ in asked):
            known = self._of(aspect)
            if value.casefold() not in map(str.casefold, known.values):
                raise ConfigError(
                    f"the classifier of {aspect} does not know {value!r}",
                    where=known.folder,
                    remedy=f"It knows {', '.join(known.values)}.",
                )
        for aspect in dict.fromkeys(unit[0] for unit, _ in asked):
            places = [i for i, (unit, _) in enumerate(asked) if unit[0] == aspect]
            found = self._of(aspect)([asked[i][1] for i in places])
            for place, value in zip(places, found, strict=True):
                said[place] = spelled.get((aspect, value.casefold()), value)
        return said

    def _of(self, aspect: str) -> "Aspect":
        if aspect not in self._by_aspect:
            raise ConfigError(
                f"there is no classifier of {aspect}, only of {', '.join(self._by_aspect)}",
                remedy=_REMEDY,
            )
        return self._by_aspect[aspect]


class Aspect:
    """The classifier of one aspect.

    ``values`` are what its classes stand for, in their order.
    """

    def __init__(self, folder: Path, device: str | None, batch_size: int) -> None:
        self.folder = folder
        self._model = model = SequenceClassifier(
            str(folder), 0, device, batch_size, setting="", rates=True, read=_read
        )
        self.values = _values(folder, model.config)
        self.digest = known_digest(folder)[:16]
        positions = getattr(model.config, "max_position_embeddings", None) or _MOST_TOKENS + 2
        self._most = min(model.tokenizer.model_max_length, positions - 2, _MOST_TOKENS)

    def __call__(self, texts: Sequence[str]) -> list[str]:
        """Return the value that each text has."""
        return [self.values[of.index(max(of))] for of in self.numbers(texts)]

    def numbers(self, texts: Sequence[str]) -> list[list[float]]:
        """Return the number of each class, of which the greatest says the value."""
        different = [*dict.fromkeys(texts)]
        encoded, cut = self._model.encode(different, [None], "only_first", self._most)
        if cut:
            _log.warning("%d texts are longer than the %d tokens that are read", cut, self._most)
        found = dict(zip(different, self._model.numbers(encoded), strict=True))
        return [found[text] for text in texts]


def _values(folder: Path, config: Any) -> tuple[str, ...]:  # noqa: ANN401 - of transformers
    """Return the values that the classes stand for."""
    aspect, count = folder.name, config.num_labels
    named = [str(config.id2label[number]) for number in range(count)]
    if not all(map(_UNNAMED.fullmatch, named)):
        published = (value for space in PUBLISHED for value in space.aspects.get(aspect, ()))
        spelled = {value.casefold(): value for value in published}
        return tuple(spelled.get(name.casefold(), name) for name in named)
    for path in (folder / _LABELS, folder.parent / _LABELS):
        if is_file(path):
            listed = read_json(path).get(aspect)
            if isinstance(listed, dict) and all(str(i) in listed for i in range(count)):
                return tuple(str(listed[str(i)]) for i in range(count))
    for space in PUBLISHED:
        if len(values := space.aspects.get(aspect, ())) == count:
            return values
    raise ConfigError(
        f"nothing says which values of {aspect} its {count} classes are",
        where=folder,
        remedy=f"Name them in `id2label` of its config.json, or in a {_LABELS} beside it: "
        f'{{"{aspect}": {{"0": …, "1": …}}}}.',
    )


def _read(name: str, kind: Tokenizers) -> tuple[Any, Any]:
    """Return a classifier, which may be a published one, and its tokenizer."""
    folder = Path(name)
    files = weight_files(folder)
    state = _state(files)
    if "cls.seq_relationship.weight" not in state:
        return read_classifier(name, kind)
    renamed = {}
    for key, weight in state.items():
        old = next(filter(key.startswith, _RENAMED), None)
        renamed[_RENAMED[old] + key.removeprefix(old) if old else key] = weight
    try:
        config = RobertaConfig.from_pretrained(folder)
        config.num_labels = len(renamed["classifier.out_proj.weight"])
        model = RobertaForSequenceClassification(config)
        missing = model.load_state_dict(renamed, strict=False).missing_keys
        tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
    except (OSError, ValueError, RuntimeError, KeyError) as error:
        raise ConfigError(
            f"the classifier cannot be loaded: {error}", where=folder, remedy=_REMEDY
        ) from error
    if missing:
        raise ConfigError(f"lacks {', '.join(missing)}", where=folder, remedy=_REMEDY)
    return model.float().eval(), tokenizer


def _state(files: Sequence[Path]) -> _State:
    """Return the weights in the files; no code that one may hold is run."""
    state: dict[str, torch.Tensor] = {}
    for file in files:
        try:
            state |= (
                load_file(file)
                if file.suffix == ".safetensors"
                else torch.load(file, map_location="cpu", weights_only=True)
            )
        except Exception as error:  # pickle and safetensors have many
            raise ConfigError(f"cannot be read: {error}", where=file) from error
    return state
