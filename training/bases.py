"""Base models, and what else can change what training them gives."""

import os
import platform
import re
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Any

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
from spor_tasks.core.files import is_file, is_folder
from spor_tasks.core.folders import recover
from spor_tasks.core.weights import digest_weights
from spor_tasks.evaluation import quantization
from spor_tasks.harness.checkpoints import loading
from spor_tasks.prompts.styles import PromptStyle
from training.config import ModelConfig
from training.encoding import Row

# What the manifest of an adapter calls it.
KIND = "adapter"
_HUB_ID = re.compile(r"[\w.-]+(/[\w.-]+)?")
_AUTO_CLASSES = {"causal": AutoModelForCausalLM, "seq2seq": AutoModelForSeq2SeqLM}
_PACKAGES = (
    "spor-tasks",
    "torch",
    "transformers",
    "tokenizers",
    "peft",
    "accelerate",
    "safetensors",
)


@dataclass(frozen=True, slots=True)
class Base:
    """A base model, its tokenizer, and what tells its weights from all others."""

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    style: PromptStyle
    revision: str | None
    sha256: str

    @property
    def positions(self) -> int | None:
        """How many tokens the model can read; None where it sets no limit."""
        for name in ("max_position_embeddings", "n_positions"):
            limit = getattr(self.model.config, name, None)
            if limit is not None:
                return int(limit)
        return None

    @property
    def pad_id(self) -> int:
        """The padding token; where there is none the end token, which a mask hides as well."""
        pad, end = self.tokenizer.pad_token_id, self.tokenizer.eos_token_id
        return int(end if pad is None else pad)


def load_base(settings: ModelConfig) -> Base:
    """Load a base model from a folder, or from the hub or its cache; its own code is never run.

    Raises:
        ConfigError: there is no such folder or model, it is damaged, lacks some of its weights,
            needs code of its own, or is of another architecture than the settings say.
    """
    folder = Path(settings.path)
    recover(folder)
    if is_folder(folder):
        if not is_file(folder / "config.json"):
            raise ConfigError(
                "is not a checkpoint: it has no config.json",
                where=folder,
                remedy="Set model.path to a folder that save_pretrained wrote, or to a hub id.",
            )
    elif not _HUB_ID.fullmatch(settings.path):
        raise ConfigError(
            "there is no such folder", where=settings.path, remedy="Set model.path to a checkpoint."
        )
    reduced = _quantized(settings.quantization) if settings.quantization else {}
    with loading(
        settings.path,
        "A local checkpoint may be incomplete. A model of the hub may need a licence to be "
        "accepted on its page, `hf auth login`, or HF_HUB_OFFLINE unset.",
    ):
        return _load(settings, reduced)


def _load(settings: ModelConfig, reduced: dict[str, Any]) -> Base:
    source: dict[str, Any] = {
        "pretrained_model_name_or_path": settings.path,
        "revision": settings.revision,
        "trust_remote_code": False,  # else transformers asks on the terminal
    }
    config = AutoConfig.from_pretrained(**source)
    style: PromptStyle = "seq2seq" if config.is_encoder_decoder else "causal"
    if settings.architecture not in ("auto", style):
        raise ConfigError(
            f"is a {style} model, and model.architecture says {settings.architecture}",
            where=settings.path,
        )
    tokenizer = AutoTokenizer.from_pretrained(**source)
    model, loading = _AUTO_CLASSES[style].from_pretrained(
        **source,
        config=config,
        dtype=settings.dtype,
        output_loading_info=True,
        **reduced,
    )
    quantization.keep_layout(model)
    if missing := sorted(loading["missing_keys"]):
        # transformers fills them with random numbers and only warns
        raise ConfigError(
            f"lacks {len(missing)} weights of its architecture, {missing[0]} first",
            where=settings.path,
        )
    # A model of the hub lies in a folder too: the cache's, of this revision.
    folder = Path(cached_file(settings.path, "config.json", revision=settings.revision)).parent
    revision = getattr(config, "_commit_hash", None) or settings.revision
    return Base(model, tokenizer, style, revision, digest_weights(folder))


def _quantized(kind: str) -> dict[str, Any]:
    """Return what loads a model's weights in fewer bits onto this process's device."""
    device = torch.cuda.current_device() if torch.cuda.is_available() else "cpu"
    return {"quantization_config": quantization.settings(kind), "device_map": {"": device}}


def check_ids(base: Base, rows: Iterable[Row]) -> None:
    """Refuse rows with tokens that the base has no embedding for.

    Embeddings without a token are fine, and common.

    Raises:
        ConfigError: the tokenizer has more tokens than the model has embeddings.
    """
    embeddings = base.model.get_input_embeddings().num_embeddings
    used = chain([base.pad_id], *(chain(*row) for row in rows))
    if (largest := max(used)) >= embeddings:
        raise ConfigError(
            f"has {embeddings} embeddings, and its tokenizer made the token {largest}, "
            f"{base.tokenizer.convert_ids_to_tokens(largest)!r}",
            where=base.tokenizer.name_or_path,
            remedy="Tokenizer and weights do not belong together, or a token was added to the "
            "tokenizer alone: resize the model's embeddings and save both.",
        )


def versions(model: ModelConfig | None = None) -> dict[str, str]:
    """Return the versions that can change what training gives, on that base if one is named."""
    reduced = model is not None and model.quantization and quantization.is_at_hand()
    packages = (*_PACKAGES, quantization.PACKAGE) if reduced else _PACKAGES
    return {"python": platform.python_version(), **{name: version(name) for name in packages}}


def git_commit() -> str | None:
    """Return the commit of this checkout, ``-dirty`` if tracked files differ; None without git.

    Where the checkout came in a pack, it is the commit that was packed, from ``SPOR_COMMIT``.
    """
    if packed := os.environ.get("SPOR_COMMIT"):
        return packed
    command = ["git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        done = subprocess.run(  # noqa: S603 - constants
            command, cwd=Path(__file__).parent, capture_output=True, encoding="utf-8", check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()
