"""`spor-vllm`: lm-eval's vLLM model, with beams and texts as those of transformers.

vLLM's own beam search has other rules: it counts the prompt in the length penalty, lets every ended
candidate count, and does not stop early. So here vLLM only scores the next tokens. And its texts
contain special tokens, and lack a character whose last bytes are missing; here the tokens are
decoded as `hf` does.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from lm_eval.api.instance import Instance
from lm_eval.api.registry import register_model
from lm_eval.models.utils import normalize_gen_kwargs, postprocess_generated_text
from lm_eval.models.vllm_causallms import VLLM
from tqdm import tqdm
from vllm import SamplingParams, TokensPrompt

from spor_tasks.core.errors import ConfigError
from spor_tasks.evaluation import beams
from spor_tasks.evaluation.apart import ReadsApart

_TOGETHER = 32
"""How many prompts are searched at once unless ``batch_size`` is a number."""

_MOST_CANDIDATES = 64  # vLLM's own limit of 20 is less than five beams have with four end tokens

# The settings that the search has, and the values of others with which they change nothing.
_KNOWN = {"num_beams", "length_penalty", "max_gen_toks", "until"}
_NEUTRAL = {
    "do_sample": False,
    "temperature": 0.0,
    "early_stopping": False,
    "no_repeat_ngram_size": 0,
    "repetition_penalty": 1.0,
    "min_length": 0,
}


@register_model("spor-vllm")
class SporVLLM(ReadsApart, VLLM):  # type: ignore[misc]  # skipped, as is lm-eval
    """lm-eval's vLLM model, searching and decoding as transformers does."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - passed on
        super().__init__(*args, **{"max_logprobs": _MOST_CANDIDATES, **kwargs})

    def spor_beam_search(self, requests: list[Instance], disable_tqdm: bool = False) -> list[str]:  # noqa: FBT001, FBT002
        """Search for the text of every request, which our tasks call for beams.

        Raises:
            ConfigError: a setting has a value that the search does not have, or vLLM was loaded
                several times.
        """
        if self.data_parallel_size > 1:
            raise ConfigError(
                "beams need one engine",
                where="--model_args",
                remedy="Leave out data_parallel_size.",
            )
        size = _TOGETHER if self.batch_size == "auto" else self.batch_size
        parts = [requests[start : start + size] for start in range(0, len(requests), size)]
        return [
            text
            for part in tqdm(parts, "beam search", disable=disable_tqdm)
            for text in self._search(part)
        ]

    def _search(self, requests: Sequence[Instance]) -> list[str]:
        prompts, given = zip(*(request.args for request in requests), strict=True)
        settings = [normalize_gen_kwargs(dict(each), self.max_gen_toks) for each in given]
        rules = [self._rules(each) for each in settings]
        tokens = [
            tuple(prompt[-(self.max_length - each.limit) :])
            for prompt, each in zip(self.tok_encode(list(prompts)), rules, strict=True)
        ]
        asked = SamplingParams(
            max_tokens=1,
            temperature=0.0,
            logprobs=max(each.kept for each in rules),
            detokenize=False,
        )

        def score(sequences: Sequence[beams.Tokens]) -> list[dict[int, float]]:
            outputs = self.model.generate(
                [TokensPrompt(prompt_token_ids=list(sequence)) for sequence in sequences],
                sampling_params=asked,
                use_tqdm=False,
                lora_request=self.lora_request,
            )
            return [
                {token: found.logprob for token, found in output.outputs[0].logprobs[0].items()}
                for output in outputs
            ]

        return [
            postprocess_generated_text(self._text(found), list(each["until"]), None)
            for found, each in zip(beams.search(tokens, score, rules), settings, strict=True)
        ]

    def _rules(self, settings: Mapping[str, Any]) -> beams.Rules:
        for key, value in settings.items():
            if key not in _KNOWN and (key not in _NEUTRAL or value != _NEUTRAL[key]):
                raise ConfigError(
                    f"spor-vllm does not search with {key}={value}",
                    where="--gen_kwargs",
                    remedy="Leave it out, or use `--model spor-hf`.",
                )
        own = self.model.llm_engine.model_config.try_get_generation_config().get("eos_token_id")
        ends = self.eot_token_id if own is None else own
        stops = settings["until"]
        return beams.Rules(
            beams=settings["num_beams"],
            limit=settings["max_gen_toks"],
            ends=frozenset(ends if isinstance(ends, list) else [ends]),
            length_penalty=settings.get("length_penalty", 1.0),
            is_ended=lambda tokens: any(stop in self.tokenizer.decode(tokens) for stop in stops),
        )

    def _model_generate(
        self,
        requests: list[list[int]],
        generate: bool = False,  # noqa: FBT001, FBT002 - lm-eval's
        sampling_params: Any = None,  # noqa: ANN401
    ) -> Any:  # noqa: ANN401
        outputs = super()._model_generate(requests, generate, sampling_params)
        if generate and not self.think_end_token:  # which may be a special token
            for output in outputs:
                output.outputs[0].text = self._text(output.outputs[0].token_ids)
        return outputs

    def _text(self, tokens: Sequence[int]) -> str:
        text: str = self.tokenizer.decode(tokens, skip_special_tokens=True)
        return text
