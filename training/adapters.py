"""A base with a fresh adapter, ready to be trained."""

import warnings

import peft
import torch
from transformers import PreTrainedModel
from transformers.pytorch_utils import Conv1D

from spor_tasks.core.errors import ConfigError
from spor_tasks.prompts.styles import PromptStyle
from training.bases import Base
from training.config import LoraConfig, TrainingConfig
from training.memory import enough_memory, forget_peak


def prepare(base: Base, config: TrainingConfig, device: torch.device) -> peft.PeftModel:
    """Return the base with a fresh adapter on the device, ready to be trained.

    Raises:
        ConfigError: the adapter does not fit the model, or the model does not fit the device.
    """
    settings = config.optimization
    if settings.precision == "float16" and device.type == "cpu":
        raise ConfigError(
            "optimization.precision=float16 needs a GPU",
            remedy="Set optimization.precision=bfloat16 or float32.",
        )
    if config.model.quantization:
        peft.prepare_model_for_kbit_training(base.model, use_gradient_checkpointing=False)
    if settings.gradient_checkpointing:
        _recompute_activations(base.model)
    model = add_lora(base.model, config.lora, base.style)
    with enough_memory(
        "when the model was put on the device",
        "Set model.dtype=bfloat16, or model.quantization=nf4.",
    ):
        model = model if config.model.quantization else model.to(device)
    forget_peak(device)
    if settings.compile:
        for blocks in (part for part in model.modules() if isinstance(part, torch.nn.ModuleList)):
            for block in blocks:
                block.compile(dynamic=True)
    return model.train()


def add_lora(model: PreTrainedModel, lora: LoraConfig, style: PromptStyle) -> peft.PeftModel:
    """Freeze the model and give it fresh adapter weights, from torch's random state.

    Raises:
        ConfigError: the model does not have the target modules, or peft knows none for it.
    """
    modules = lora.target_modules
    settings = peft.LoraConfig(
        task_type="CAUSAL_LM" if style == "causal" else "SEQ_2_SEQ_LM",
        r=lora.rank,
        lora_alpha=lora.alpha,
        lora_dropout=lora.dropout,
        target_modules=list(modules) if isinstance(modules, tuple) else modules,
        use_dora=lora.dora,
        use_rslora=lora.rslora,
        # GPT-2 stores its weights transposed
        fan_in_fan_out=any(isinstance(module, Conv1D) for module in model.modules()),
    )
    try:
        with warnings.catch_warnings():
            # peft 0.21 uses the old name of a property of transformers 5.23
            warnings.filterwarnings("ignore", "`is_gradient_checkpointing`", FutureWarning)
            return peft.get_peft_model(model, settings)
    except ValueError as error:
        raise ConfigError(
            f"lora.target_modules does not fit this model: {error}",
            remedy="Set lora.target_modules=all-linear, or to a list of module names.",
        ) from error


def _recompute_activations(model: PreTrainedModel) -> None:
    # transformers 5.23 renamed the method
    old, new = "gradient_checkpointing_enable", "activation_checkpointing_enable"
    getattr(model, new if hasattr(model, new) else old)({"use_reentrant": False})
