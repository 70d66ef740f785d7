"""`spor-vllm`: lm-eval's vLLM model, with texts as those of transformers.

vLLM's texts contain special tokens, and lack a character whose last bytes are missing; here the
tokens are decoded as `hf` does.
"""

from lm_eval.models.vllm_causallms import VLLM, LoRARequest

from spor_tasks.models.apart import ReadsApart


class SporVLLM(ReadsApart, VLLM):  # type: ignore[misc]  # skipped, as is lm-eval
    """lm-eval's vLLM model, decoding as transformers does."""

    def _model_generate(
        self,
        requests: list[list[int]],
        generate: bool = False,  # noqa: FBT001, FBT002 - lm-eval's
        sampling_params: object = None,
    ) -> object:
        outputs = super()._model_generate(requests, generate, sampling_params)
        if generate and not self.think_end_token:  # which may be a special token
            for output in outputs:
                tokens = output.outputs[0].token_ids
                output.outputs[0].text = self.tokenizer.decode(tokens, skip_special_tokens=True)
        return outputs


def swap_adapter(model: VLLM, adapter: str | None) -> bool:
    """Replace the adapter of a loaded model; return False if it was loaded without any."""
    if not model.model_args["enable_lora"]:
        return adapter is None
    # vLLM takes an adapter with an earlier one's name or number for that; 1 is lm-eval's own.
    number = model.adapters_swapped = getattr(model, "adapters_swapped", 1) + 1
    model.lora_request = adapter and LoRARequest(f"{number}", number, adapter)
    return True
