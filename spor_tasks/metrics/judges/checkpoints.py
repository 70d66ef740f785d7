"""Checkpoints of judges: a model in float32 with its tokenizer.

Classifiers are loaded from safetensors alone, but for the published ones of CompMCTG, of which only
tensors are read.
"""

import logging
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import torch
import transformers

from spor_tasks.core.errors import ConfigError, SporError, advice
from spor_tasks.core.files import is_file
from spor_tasks.core.weights import digest_weights, find_folder

Encoding: TypeAlias = Mapping[str, Any]
"""The tokens of an input, by the names of a model's arguments."""

Loaded: TypeAlias = tuple[Any, Any, Iterable[str]]
"""A model, its tokenizer, and the names of weights that the checkpoint lacks."""

_log = logging.getLogger(__name__)

MOST_TOKENS = 512  # of a checkpoint that does not say how many it takes, and of most kinds
_DEVICES = ("cpu", "cuda", "mps", "xpu")

_REMEDY = (
    "Name a folder that a sequence classifier was saved in, or one on the Hugging Face hub, "
    "such as Inria-CEDAR/FactSpotter-DeBERTaV3-Base."
)


def identity_of(name: str) -> str:
    """Return a model's name, without the folders above its own, and the digest of its weights."""
    folder = find_folder(name, "config.json")
    weights = digest_weights(folder)[:16] if folder else "unknown"
    short = Path(name).name if Path(name).is_dir() else name
    return f"model:{short}|weights:{weights}"


def device_of(name: str | None, user: str = "classifier") -> torch.device:
    """Return the device of this name for a user, or else the GPU where there is one.

    Raises:
        ConfigError: the device does not exist.
    """
    name = name or ("cuda" if torch.cuda.is_available() else "cpu")
    try:
        return torch.empty(0, device=name).device
    except (AssertionError, ImportError, RuntimeError) as error:
        reason, remedy = str(error).partition("\n")[0], "Use cpu."
        if isinstance(error, NotImplementedError):
            reason = "torch has no part for it here"
        elif reason.startswith("Expected one of"):
            reason, remedy = "there is no such device", advice(name.partition(":")[0], _DEVICES)
        what = f"the {user} cannot use the device {name}: {reason}"
        raise ConfigError(what, remedy=remedy) from error


def warn_of_cuts(count: int, inputs: int, fault: str, most_tokens: int) -> None:
    """Log how many of the inputs are longer than a model reads, if there are any."""
    if count:
        text = "%d of %d %s the %d tokens that the model reads, and lost their ends"
        _log.warning(text, count, inputs, fault, most_tokens)


class JudgeCheckpoint(NamedTuple):
    """A model in float32 with its tokenizer; ``identity`` is its part of a signature."""

    model: Any
    tokenizer: Any
    identity: str
    device: torch.device
    batch_size: int

    @property
    def labels(self) -> list[str]:
        """The names of the classes of a classifier."""
        config = self.model.config
        return [str(config.id2label[number]) for number in range(config.num_labels)]

    def limit(self, most: float = math.inf, *, first_position: int = 0) -> int:
        """Return how many tokens the model reads; RoBERTa's first position is 2."""
        named = getattr(self.model.config, "max_position_embeddings", None)
        positions = named or MOST_TOKENS + first_position
        return int(min(self.tokenizer.model_max_length, most, positions - first_position))

    def encode(
        self,
        firsts: Sequence[str],
        seconds: Sequence[str] | None,
        cut: str,
        most: int,
        fault: str | None = None,
    ) -> list[Encoding]:
        """Return texts of one or two segments as tokens.

        ``cut`` is `only_first`, `only_second` or `longest_first`: the segment that loses tokens
        beyond ``most``. A ``fault`` says what was too long, in a warning with the number of texts.
        """
        paired = list(seconds) if seconds else None
        encoded = self.tokenizer(list(firsts), paired, truncation=cut, max_length=most)
        if fault:
            count = sum(bool(each.overflowing) for each in encoded.encodings or ())
            warn_of_cuts(count, len(firsts), fault, most)
        return [{key: encoded[key][i] for key in encoded} for i in range(len(firsts))]


def load(
    name: str,
    read: Callable[[], Loaded],
    device: str | None,
    batch_size: int,
    remedy: str,
) -> JudgeCheckpoint:
    """Return what a function reads, with the name of its checkpoint.

    Raises:
        ConfigError: it cannot be loaded, or lacks what is needed; the ``remedy`` says what to name.
    """
    if not isinstance(batch_size, int) or batch_size < 1:
        raise ConfigError(f"a batch cannot have {batch_size!r} texts", remedy="Use 1 or more.")
    chosen = device_of(device)
    try:
        model, tokenizer, missing = read()
    except SporError:
        raise
    except Exception as error:  # code of any family
        raise ConfigError(
            f"the model cannot be loaded: {error}", where=name, remedy=remedy
        ) from error
    if missing:
        raise ConfigError(
            f"lacks the weights {', '.join(sorted(missing))}", where=name, remedy=remedy
        )
    if tokenizer.pad_token is None:
        raise ConfigError(
            "its tokenizer has no padding or end token, which batches need",
            where=name,
            remedy=remedy,
        )
    return JudgeCheckpoint(model.float().eval(), tokenizer, identity_of(name), chosen, batch_size)


def classifier(
    name: str,
    device: str | None,
    batch_size: int,
    tokenizers: Mapping[str, str] | None = None,
) -> JudgeCheckpoint:
    """Return a model that was trained as a classifier, and its tokenizer.

    ``tokenizers`` names classes of tokenizers by the type of the model, for checkpoints that name
    one which transformers lacks.

    Raises:
        ConfigError: there is none, or it lacks weights or a padding token; or the device or the
            size of a batch does not exist.
    """

    def read() -> Loaded:
        model, loaded = transformers.AutoModelForSequenceClassification.from_pretrained(
            name, trust_remote_code=False, use_safetensors=True, output_loading_info=True
        )
        kind = (tokenizers or {}).get(model.config.model_type, "AutoTokenizer")
        tokenizer = getattr(transformers, kind).from_pretrained(name, trust_remote_code=False)
        return model, tokenizer, loaded["missing_keys"]  # transformers draws these at random

    return load(name, read, device, batch_size, _REMEDY)


def causal(name: str, device: str | None, batch_size: int, remedy: str) -> JudgeCheckpoint:
    """Return a causal model whose tokenizer pads with its end token.

    Raises:
        ConfigError: there is none, or its tokenizer has no end token; or as :func:`classifier`.
    """

    def read() -> Loaded:
        model = transformers.AutoModelForCausalLM.from_pretrained(name, trust_remote_code=False)
        tokenizer = transformers.AutoTokenizer.from_pretrained(
            name, trust_remote_code=False, padding_side="right"
        )
        tokenizer.pad_token = tokenizer.eos_token
        return model, tokenizer, ()

    return load(name, read, device, batch_size, remedy)


# The layers of the published files that RobertaForSequenceClassification has under other names.
_RENAMED = {
    "roberta.pooler.dense.": "classifier.dense.",
    "cls.seq_relationship.": "classifier.out_proj.",
}


def attribute_classifier(
    folder: Path, device: str | None, batch_size: int, remedy: str
) -> JudgeCheckpoint:
    """Return a classifier of an attribute, as transformers saves it or as CompMCTG published it.

    The published one (github.com/tqzhong/CG4MCTG) is RoBERTa with layers of other names, and its
    files name no classes. Its code fills batches with the token 0 and adds -10000 to what is
    filled, which changes no number in float32.

    Raises:
        ConfigError: as :func:`classifier`.
    """
    file = folder / "pytorch_model.bin"
    weights: Mapping[str, torch.Tensor] = {}
    if is_file(file):
        try:
            weights = torch.load(file, "cpu", weights_only=True)
        except Exception as error:  # of pickle, which has many
            raise ConfigError(f"cannot be read: {error}", where=file) from error
    if "cls.seq_relationship.weight" not in weights:
        return classifier(str(folder), device, batch_size)

    def read() -> Loaded:
        renamed = {}
        for key, weight in weights.items():
            old = next(filter(key.startswith, _RENAMED), None)
            renamed[_RENAMED[old] + key.removeprefix(old) if old else key] = weight
        config = transformers.RobertaConfig.from_pretrained(folder)
        config.num_labels = len(renamed["classifier.out_proj.weight"])
        model = transformers.RobertaForSequenceClassification(config)
        missing = model.load_state_dict(renamed, strict=False).missing_keys
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
        return model, tokenizer, missing

    return load(str(folder), read, device, batch_size, remedy)
