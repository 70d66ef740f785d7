"""An adapter that is merged into its base, with which a token costs as much as without one."""

import torch
from peft import PeftConfig, PeftModel
from transformers import PreTrainedModel

from spor_tasks.core.errors import ConfigError

ROUNDING = 0.1
"""What rounding may change of logits, in their own standard deviations.

SmolLM2 has 0.025 in a batch in bfloat16, tiny models of 94 families up to 0.01. RWKV, MiniMax and
trained prompts, which take notice of padding, have 0.28 and more.
"""


def asked(merge: object, adapter: object) -> bool:
    """Return whether an adapter is to be merged.

    Raises:
        ConfigError: that is neither true nor false, or there is no adapter.
    """
    if merge not in (True, False, None):
        raise ConfigError(f"merge={merge} is unknown", remedy="Use true or false.")
    if merge and not adapter:
        remedy = "Name one with peft=, or leave merge= away."
        raise ConfigError("there is no adapter that merge=true could merge", remedy=remedy)
    return bool(merge)


def check(adapter: str, revision: str | None, *, coded: bool, quantization: str | None) -> None:
    """Refuse an adapter, or a base, that is known not to be merged before it is loaded.

    Raises:
        ConfigError: the base is quantized, or the adapter changes no weights of it.
    """
    if quantization:
        raise _refused(adapter, f"weights in {quantization} would be rounded again")
    if coded or PeftConfig.from_pretrained(adapter, revision=revision).is_prompt_learning:
        raise _refused(adapter, "it puts vectors before the prompt, and changes no weights")


@torch.no_grad()  # type: ignore[untyped-decorator]
def merge(tuned: PeftModel, adapter: str) -> PreTrainedModel:
    """Return the base with the changes of an adapter in its own weights.

    Raises:
        ConfigError: peft cannot merge it, or the merged base gives other probabilities.
    """
    tokens = tuned.get_input_embeddings().weight.shape[0]
    ids = torch.arange(1, 17, device=tuned.device)[None] % tokens
    inputs = {"input_ids": ids}
    if tuned.config.is_encoder_decoder:
        inputs["decoder_input_ids"] = ids
    tuned.eval()
    beside = tuned(**inputs).logits.float()
    try:
        merged = tuned.merge_and_unload()
    except (AttributeError, NotImplementedError, TypeError, ValueError) as error:
        raise _refused(adapter, f"peft has no way: {error}") from error
    merged.tie_weights = lambda: None  # which peft has done, if they still are
    change = (merged.eval()(**inputs).logits.float() - beside).std() / beside.std()
    if not change <= ROUNDING:
        raise _refused(adapter, "the merged weights give other probabilities")
    return merged


def _refused(adapter: str, why: str) -> ConfigError:
    what = f"cannot be merged into its base: {why}"
    return ConfigError(what, where=adapter, remedy="Leave merge= away.")
