"""A base with a fresh adapter, or as a whole, ready to be trained; and its weights, saved."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import peft
import torch
from peft.utils import TRANSFORMERS_MODELS_TO_LORA_TARGET_MODULES_MAPPING as PEFTS_TARGETS
from peft.utils.transformers_weight_conversion import convert_peft_config_for_transformers
from safetensors import SafetensorError
from transformers import AddedToken, PreTrainedModel
from transformers.pytorch_utils import Conv1D

from spor_tasks.core.errors import ConfigError, advice
from spor_tasks.models.coded import CodedModel
from spor_tasks.prompts.styles import PromptStyle
from spor_tasks.results.facts import RECIPE
from training.bases import Base
from training.batches import Model
from training.config import TrainingConfig
from training.memory import enough_memory
from training.settings import dump_settings


def add_tokens(base: Base, tokens: Sequence[str]) -> tuple[int, ...]:
    """Add the tokens that the base lacks to its tokenizer and its embeddings; return their ids.

    They are not special tokens, which decoding would leave out. As in the published code of 2020
    they absorb a blank before them, and the last one also a blank after it. An embedding starts as
    the mean of the others.
    """
    vocabulary = base.tokenizer.get_vocab()
    new = [
        AddedToken(token, lstrip=True, rstrip=token == tokens[-1], normalized=False)
        for token in tokens
        if token not in vocabulary
    ]
    base.tokenizer.add_tokens(new)
    if len(base.tokenizer) > base.model.get_input_embeddings().num_embeddings:
        with warnings.catch_warnings():
            base.model.resize_token_embeddings(len(base.tokenizer), mean_resizing=False)
    ids = tuple(base.tokenizer.convert_tokens_to_ids([token.content for token in new]))
    with torch.no_grad():
        for embeddings in (base.model.get_input_embeddings(), base.model.get_output_embeddings()):
            for number in ids:
                embeddings.weight[number] = embeddings.weight[: min(ids)].mean(0)
    return ids


def prepare(
    base: Base,
    config: TrainingConfig,
    device: torch.device,
    new_tokens: Sequence[int] = (),
    own: Model | None = None,
) -> Model:
    """Return the base on the device, ready to be trained: with a fresh adapter, or as a whole.

    An adapter also trains the embeddings of ``new_tokens``. ``own`` is the base with weights of the
    objective's own, which takes the adapter's place.

    Raises:
        ConfigError: the method does not fit the objective, the adapter does not fit the model, or
            the model does not fit the device or cannot be trained in its type.
    """
    if (own is not None) != (config.method == "codes"):
        raise ConfigError(
            f"method={config.method} cannot be used with objective={config.objective}",
            where="method",
            remedy=f"Set method={'lora or full' if own is None else 'codes'}.",
        )
    if config.model.quantization:
        peft.prepare_model_for_kbit_training(base.model, use_gradient_checkpointing=False)
    if own is not None:
        model = own
    elif config.method == "full":
        if base.model.dtype != torch.float32:
            raise ConfigError(
                f"method=full trains weights of float32, and these are of {base.model.dtype}",
                remedy="Set model.dtype=float32; optimization.precision may be shorter.",
            )
        model = base.model.requires_grad_()
    else:
        model = add_lora(base.model, config.lora, base.style, new_tokens)
    remedy = "Set model.dtype=bfloat16, or model.quantization=nf4."
    with enough_memory("when the model was put on the device", remedy):
        model = model if config.model.quantization else model.to(device)
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
    return model.train()


def add_lora(
    model: PreTrainedModel,
    lora: Mapping[str, Any],
    style: PromptStyle,
    new_tokens: Sequence[int] = (),
) -> peft.PeftModel:
    """Freeze the model and give it fresh adapter weights, from torch's random state.

    ``lora`` holds arguments of :class:`peft.LoraConfig`. Without target modules they are peft's
    for the family, as in the paper, or :func:`linear_modules` where peft has none. The embeddings
    of ``new_tokens`` are trained, and saved with the adapter.

    Raises:
        ConfigError: peft does not know an argument, or the model does not have the target modules.
    """
    known = [each.name for each in fields(peft.LoraConfig)]
    if unknown := sorted(lora.keys() - known):
        what = f"lora.{unknown[0]}: there is no such argument of peft.LoraConfig"
        raise ConfigError(what, remedy=advice(unknown[0], known, "peft's documentation has all."))
    embeddings = (model.get_input_embeddings(), model.get_output_embeddings())
    layers = {id(layer.weight): layer for layer in reversed(embeddings)}.values()  # or one, if tied
    with_tokens = [name for name, module in model.named_modules() if module in layers]
    try:
        if lora.get("target_modules") is None and lora.get("target_parameters") is None:
            targets = PEFTS_TARGETS.get(model.config.model_type) or linear_modules(model)
            lora = {**lora, "target_modules": targets}
        settings = peft.LoraConfig(
            task_type="CAUSAL_LM" if style == "causal" else "SEQ_2_SEQ_LM",
            trainable_token_indices={name: [*new_tokens] for name in with_tokens if new_tokens}
            or None,
            # GPT-2 stores its weights transposed
            fan_in_fan_out=any(isinstance(module, Conv1D) for module in model.modules()),
            **lora,
        )
        with warnings.catch_warnings():
            # peft 0.21 uses the old name of a property of transformers 5.23
            warnings.filterwarnings("ignore", "`is_gradient_checkpointing`", FutureWarning)
            return peft.get_peft_model(model, settings)
    except (TypeError, ValueError, RuntimeError) as error:  # of a rank beyond the memory
        raise ConfigError(
            f"lora does not fit {type(model).__name__}: {error}",
            remedy="Set keys of peft.LoraConfig. lora.target_modules=null takes modules that peft "
            "can tune, and a list of names takes those.",
        ) from error


def linear_modules(model: PreTrainedModel) -> list[str]:
    """Return the names of the linear modules of a family that peft knows no targets of.

    They are those that read the text, except the head and what peft refuses or cannot tune: routers
    of experts, the experts themselves, and the output of Mamba, whose kernels read its weights.
    """
    of_text = {*model.modules()}
    if not model.config.is_encoder_decoder:  # but perhaps an encoder of images
        decoder = {*model.get_decoder().modules()}  # or the head, in ModernBERT
        of_text = decoder if model.get_input_embeddings() in decoder else of_text
    of_text -= {model.get_output_embeddings()}
    modules = dict(model.named_modules())
    mixers = {name.removesuffix("conv1d") for name in modules if name.endswith(".conv1d")}
    names = [
        name
        for name, module in modules.items()
        if isinstance(module, (torch.nn.Linear, Conv1D))
        and module in of_text
        and not type(module).__module__.startswith("transformers.models.")  # routers
        and not (name.endswith(".out_proj") and name.removesuffix("out_proj") in mixers)
    ]
    # peft takes some names for those of experts, whose weights cannot have dropout.
    found = peft.LoraConfig(target_modules=names)
    convert_peft_config_for_transformers(found, model, None)
    return sorted(found.target_modules)


def save_weights(model: Model, base: Base, config: TrainingConfig, folder: Path) -> None:
    """Write the adapter or the whole model, its tokenizer and the settings.

    Raises:
        ConfigError: the files cannot be written, for example because the disk is full.
    """
    try:
        if isinstance(model, CodedModel):
            model.save(folder, config.model.path, base.revision)
        elif config.method == "full":
            model.save_pretrained(folder)
        else:
            adapter = model.peft_config["default"]
            for name, value in vars(adapter).items():
                if isinstance(value, set):  # peft would write it in the order of hashes
                    setattr(adapter, name, sorted(value))
            model.save_pretrained(folder, save_embedding_layers=False)
        base.tokenizer.save_pretrained(folder)
        (folder / RECIPE).write_text(dump_settings(config), encoding="utf-8")
    except (OSError, SafetensorError) as error:
        raise ConfigError(
            f"cannot be written: {error}",
            where=config.output,
            remedy="Check that the disk has room, then run the same command: it continues from its "
            "last saved step.",
        ) from error
