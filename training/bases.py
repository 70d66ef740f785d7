"""Base models, and the versions and the commit that can change what training gives."""

import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import torch
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForSeq2SeqLM,
    AutoTokenizer,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)
from transformers.utils import cached_file

from spor_tasks.core.errors import ConfigError
from spor_tasks.core.files import FileContent
from spor_tasks.core.weights import digest_weights
from spor_tasks.models import quantization, whole
from spor_tasks.models.checkpoints import TRAINED_WHOLE, loading
from spor_tasks.prompts.styles import PromptStyle
from training.config import ModelConfig, check_path
from training.encoding import Row

KINDS: Mapping[str, str] = {"lora": "adapter", "codes": "adapter", "full": TRAINED_WHOLE}
"""The kind of folder that a manifest names, by the method of training."""

_AUTO_CLASSES = {"causal": AutoModelForCausalLM, "seq2seq": AutoModelForSeq2SeqLM}


@dataclass(frozen=True, slots=True)
class Base:
    """A base model with its tokenizer, style of prompt, revision, and digest of its weights."""

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    style: PromptStyle
    revision: str | None
    sha256: str

    @property
    def positions(self) -> int | None:
        """How many tokens the model can read; None if it has no limit."""
        config = self.model.config
        old_name: int | None = getattr(config, "n_positions", None)
        return getattr(config, "max_position_embeddings", old_name)

    @property
    def pad_id(self) -> int:
        """The padding token, or if there is none the end token, since a mask hides it."""
        pad, end = self.tokenizer.pad_token_id, self.tokenizer.eos_token_id
        return int(end if pad is None else pad)


def load_base(settings: ModelConfig) -> Base:
    """Load a base model from a folder, the hub, or the hub's cache; never run code that it brings.

    Raises:
        ConfigError: the folder or model does not exist, is damaged, lacks some of its weights,
            or needs code of its own.
    """
    check_path(settings)
    source: FileContent = {
        "pretrained_model_name_or_path": settings.path,
        "revision": settings.revision,
        "trust_remote_code": False,  # else transformers asks on the terminal
    }
    reduced: FileContent = {}
    if settings.quantization:  # straight onto this process's device
        device = torch.cuda.current_device() if torch.cuda.is_available() else "cpu"
        reduced["quantization_config"] = quantization.settings(settings.quantization)
        reduced["device_map"] = {"": device}
    with loading(
        settings.path,
        "Set model.path to a complete folder, or to a hub id: accept the licence on its page, run "
        "`hf auth login`, and unset HF_HUB_OFFLINE.",
    ):
        config = AutoConfig.from_pretrained(**source)
        style: PromptStyle = "seq2seq" if config.is_encoder_decoder else "causal"
        tokenizer = AutoTokenizer.from_pretrained(**source)
        model, loaded = _AUTO_CLASSES[style].from_pretrained(
            **source, config=config, dtype=settings.dtype, output_loading_info=True, **reduced
        )
        quantization.keep_layout(model)
        whole.check_base(model, loaded, settings.path)
        # A model of the hub is in a folder too: that of this revision in the cache.
        folder = Path(cached_file(settings.path, "config.json", revision=settings.revision)).parent
        revision = getattr(config, "_commit_hash", None) or settings.revision
        return Base(model, tokenizer, style, revision, digest_weights(folder))


def check_ids(base: Base, rows: Iterable[Row]) -> None:
    """Refuse rows with tokens that the base has no embedding for.

    Embeddings without a token are allowed, as many models have them.

    Raises:
        ConfigError: a row has such a token.
    """
    embeddings = base.model.get_input_embeddings().num_embeddings
    used = chain([base.pad_id], *(chain(row.input_ids, row.labels) for row in rows))
    if (largest := max(used)) >= embeddings:
        raise ConfigError(
            f"has {embeddings} embeddings, but its tokenizer made the token {largest}, "
            f"{base.tokenizer.convert_ids_to_tokens(largest)!r}",
            where=base.tokenizer.name_or_path,
            remedy="Use the tokenizer that belongs to the weights. If a token was added to it, "
            "resize the model's embeddings and save both.",
        )


def git_commit() -> str | None:
    """Return the commit of this checkout, ``-dirty`` if tracked files differ; None without git."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        done = subprocess.run(  # noqa: S603 - constants
            command, cwd=Path(__file__).parent, capture_output=True, encoding="utf-8", check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()
