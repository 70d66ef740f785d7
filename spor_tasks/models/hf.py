"""`spor-hf`: an lm-eval model that generates exactly as transformers' own ``generate``.

Five things differ from lm-eval's `hf`. Stop texts end every row, including beams, and ``generate``
handles the end token. An encoder's input is padded on the right. A length limit counts only new
tokens, also for a decoder of an encoder-decoder. Embeddings are never cut to the tokenizer. A model
whose texts depend on their batch reads each prompt alone.
"""

import copy
import json
import logging
from collections import Counter
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from accelerate.utils import gather_object
from lm_eval.api.instance import Instance
from lm_eval.models.huggingface import HFLM
from lm_eval.models.utils import normalize_gen_kwargs
from peft import PeftModel
from transformers import PreTrainedModel
from transformers.generation import EosTokenCriteria

from spor_tasks.core.visible import visible
from spor_tasks.metrics.judges.checkpoints import device_of
from spor_tasks.models import checkpoints, merging, whole
from spor_tasks.models import quantization as reduction
from spor_tasks.models.apart import ReadsApart
from spor_tasks.models.backends import DECODING, KEEPS_END, Decoding, given
from spor_tasks.models.coded import CodedModel, load
from spor_tasks.models.generation import (
    SEED,
    LastTokens,
    Seeded,
    SeededSampling,
    StopAtLength,
    StopAtText,
    as_drawn,
    padded,
    template_first,
    without_own_settings,
)
from spor_tasks.models.leaving import Leaving
from spor_tasks.prompts.cut import without_end_of_table
from spor_tasks.text.filters import END, is_complete

_log = logging.getLogger(__name__)

# Keys in a request's settings, which lm-eval passes through.
_FILTERS, _CUT, _WHOLE = "spor_filters", "cut_before", "text_tokens"
_ANY_DEVICE = "cuda:0"  # lm-eval's default, by which it takes the CPU where there is no GPU
_DRAWING = ("temperature", "top_k", "top_p")
_OURS = {"id", "units", "corpus"}  # of a document whose id is that of one sample alone


class SporHF(ReadsApart, HFLM):  # type: ignore[misc]
    """lm-eval's Hugging Face model, generating as ``transformers`` itself.

    ``quantization`` ``nf4`` loads the base in four bits, as QLoRA's training does. ``merge`` adds
    the adapter's changes to the base's own weights. A checkpoint's own code is run only if
    ``trust_remote_code`` is true.

    Raises:
        ConfigError: the quantization is unknown, or its package is missing; or the model cannot be
            loaded, lacks weights, or has no adapter that can be merged as asked.
    """

    merges: bool
    """Whether the adapter is part of the base's own weights."""
    _model: Any
    _prompts_cut: dict[str, int]
    _reads_alone = False
    _seeded: Sequence[Seeded] = ()  # the prompts of a batch, if texts are drawn

    def __init__(
        self,
        pretrained: object,
        *args: object,
        device: str | None = None,
        quantization: str | None = None,
        merge: bool | None = False,
        trust_remote_code: bool | None = False,
        **kwargs: object,
    ) -> None:
        reduced = {"quantization_config": reduction.settings(quantization)} if quantization else {}
        self._reduced = reduced
        self._last_tokens: dict[frozenset[str], LastTokens] = {}
        trust = trust_remote_code is True  # with None, transformers asks on the terminal
        self.merges = merging.asked(merge, isinstance(pretrained, str) and kwargs.get("peft"))
        name = pretrained if isinstance(pretrained, str) else type(pretrained).__name__
        with checkpoints.loading(name, "Check its folder, and that of its adapter."):
            if device not in {None, _ANY_DEVICE}:
                device_of(device, "model")  # lm-eval would take the CPU for one that is not here
            chosen = {"trust_remote_code": trust, "device": device or _ANY_DEVICE}
            super().__init__(pretrained, *args, **chosen, **kwargs)
            self.begin()
        if hasattr(self, "accelerator") and self.device.type == "cpu":
            # lm-eval shares documents only among GPUs; here every process would evaluate all.
            self._rank = self.accelerator.process_index
            self._world_size = self.accelerator.num_processes

    def _create_model(self, pretrained: str, **kwargs: Any) -> None:
        adapter, revision = kwargs.pop("peft", None), kwargs.get("revision")
        coded = checkpoints.coded_folder(adapter, revision)
        if self.merges:
            kind = "four bits" if self._reduced else reduction.kind_of(self.config)
            merging.check(adapter, revision, coded=coded is not None, quantization=kind)
        is_reported = not any(map(kwargs.get, checkpoints.OTHER_LOADERS))
        report = {"output_loading_info": True} if is_reported else {}
        super()._create_model(pretrained, **{**kwargs, **self._reduced, **report})
        if is_reported:
            self._model, loaded = self._model
            whole.check_base(self._model, loaded, pretrained)
        else:
            _log.warning("%s was not checked for missing weights", visible(pretrained))
        reduction.keep_layout(self._model)
        if coded:
            self._model = load(self._model, self.tokenizer, coded)
            return
        if adapter:
            whole.grow(self._model, len(self.tokenizer))
            self._model = whole.load_adapter(self._model, adapter, revision)
        if self.merges:
            self._model = merging.merge(self._model, adapter)
        if head := self._model.get_output_embeddings():
            # transformers slices the last states of the prompts. On a CPU torch then copies the
            # vocabulary's weights for each prompt of a batch, which takes longer than all the rest.
            head.register_forward_pre_hook(lambda _, states: (states[0].contiguous(), *states[1:]))
        if isinstance(self._model, PeftModel):
            # peft keeps weights tied. transformers, which lm-eval asks to tie them again, does not
            # find embeddings that an adapter trains.
            self._model.tie_weights = lambda: None

    def generate_until(self, requests: list[Instance], disable_tqdm: bool = False) -> list[str]:  # noqa: FBT001, FBT002
        """Generate for every request; count the prompts that are longer than the model takes."""
        # A request may be repeated, to fill up a process's share.
        different = {id(request): request for request in requests}.values()
        counts: Counter[str] = Counter()
        for request in different:
            prompt, settings = request.args
            counts[request.task_name] += self._length(prompt) > self._room(settings)
        total: Counter[str] = Counter()
        for share in gather_object([counts]):  # only the first process writes
            total.update(share)
        self._prompts_cut |= total
        if cut := counts.total():
            has_tables = all(_CUT in request.args[1] for request in different)
            _log.warning(
                "%d of %d prompts are longer than the model takes and lose %s",
                cut,
                len(different),
                "the end of their table" if has_tables else "their beginning",
            )
        prepared, asked = list[Instance](), Counter[int]()
        for request in requests:
            prepared.append(self._prepared(request, asked[id(request)]))
            asked[id(request)] += 1
        outputs = self.written(prepared, disable_tqdm)
        for number, (_, settings) in enumerate(request.args for request in requests):
            if settings.get(KEEPS_END):
                tokens = self.tok_encode(outputs[number], add_special_tokens=False)
                outputs[number] += END if len(tokens) < self._most_new(settings) else ""
        return outputs

    spor_beam_search = generate_until  # what our tasks call for beams

    def written(self, requests: list[Instance], disable_tqdm: bool) -> list[str]:  # noqa: FBT001
        """Return what lm-eval generates for prepared requests."""
        outputs: list[str] = super().generate_until(requests, disable_tqdm)
        return outputs

    def get_model_info(self) -> dict[str, object]:
        """Return lm-eval's facts for the result file, and five more.

        ``prompts_cut``: how many prompts of each evaluated task were cut. ``reads_alone``: whether
        each prompt was read alone, since a batch would change texts. ``quantization``: that of the
        weights. ``adapter_merged``: whether the adapter was merged into them. ``threads``: the
        number of CPU threads; None on a GPU.
        """
        return {
            **super().get_model_info(),
            "prompts_cut": self._prompts_cut,
            "reads_alone": self._reads_alone,
            "quantization": reduction.kind_of(self.model.config),
            "adapter_merged": self.merges,
            "threads": torch.get_num_threads() if self.device.type == "cpu" else None,
        }

    def begin(self) -> None:
        """Forget which prompts were cut, and find out whether batches change what is written."""
        self._prompts_cut = {}
        self._reads_alone = False
        if self.batch_size == 1 or isinstance(self._model, CodedModel):
            return
        adapters = getattr(self.model, "peft_config", {}).values()
        inserts = self.backend == "causal" and any(map(whole.inserts_prompt, adapters))
        if inserts or self._change_in_batch() > merging.ROUNDING:
            self._reads_alone = True
            _log.warning(
                "in a batch this %s would write other texts than alone, so it reads one prompt "
                "after another",
                type(self.model).__name__,
            )

    @property
    def batch_size(self) -> int | str:
        """How many prompts are read at a time."""
        return 1 if self._reads_alone else super().batch_size

    def _change_in_batch(self) -> float:
        """Return how much the logits of four tokens change beside a longer prompt."""
        short, long = "The harbour", "The harbour is near the old town. " * 4
        logits, written = [], []
        for prompts in ([short], [short, long]):
            ids, mask = self.tok_batch_encode(prompts)
            with without_own_settings(self.model):
                output = self.model.generate(
                    input_ids=ids.to(self.device),
                    attention_mask=mask.to(self.device),
                    max_new_tokens=4,
                    min_new_tokens=4,
                    do_sample=False,
                    pad_token_id=self.tokenizer.pad_token_id,
                    output_logits=True,
                    return_dict_in_generate=True,
                )
            logits.append(torch.stack(output.logits)[:, 0].float())
            written.append(output.sequences[0, -4:])
        same = 1 + int((written[0] == written[1])[:-1].cumprod(0).sum())
        alone, beside = (each[:same] for each in logits)
        possible = alone.isfinite() & beside.isfinite()
        changes = (alone - beside).where(possible, 0).std(1)
        return float((changes / alone.where(possible, 0).std(1)).nan_to_num().max())

    def _prepared(self, request: Instance, number: int) -> Instance:
        """Return a request whose prompt fits and has its seed, and that ends where its filters cut.

        The task says what may be left out of a prompt, and the seed of sampling. It may also say
        how many tokens the whole text has, with the beginning that is given. Beams go on behind
        what the filters cut: to stop one would change which of them wins. A task may repeat a
        request, whose ``number`` gives each output draws of its own.

        Raises:
            ConfigError: a seed is given beside settings that do not draw by seeds.
        """
        prompt, settings = request.args
        settings, doc = given(settings), request.doc if isinstance(request.doc, dict) else {}
        settings.pop(KEEPS_END, None)
        if (cut := settings.pop(_CUT, None)) is not None:
            room = self._room(settings)
            prompt = without_end_of_table(prompt, cut, room, self._length, self.tokenizer)
        if (names := getattr(request, "filters", ())) and settings.get("num_beams", 1) <= 1:
            settings[_FILTERS] = names
        settings = as_drawn(settings)
        if SEED in settings or _WHOLE in settings:
            begun = 0
            if _WHOLE in settings:
                beginning = json.loads(doc.get("context") or "{}").get("prefix", "")
                begun = len(self.tok_encode(beginning, add_special_tokens=False))
            place = doc["id"] if doc.keys() >= _OURS else request.doc_id
            key = (settings.get(SEED), place, request.idx, *[number] * (number > 0))
            prompt = Seeded.from_key(prompt, max(1, settings.get(_WHOLE, 0) - begun), *key)
        prepared = copy.copy(request)
        prepared.arguments = prompt, settings
        return prepared

    def _length(self, prompt: str) -> int:
        is_coded = isinstance(self._model, CodedModel)
        ids: list[int] = (self._model.encode if is_coded else self.tok_encode)(prompt)
        return len(ids)

    def _encode_pair(self, context: str, continuation: str) -> tuple[list[int], list[int]]:
        prompt, text = super()._encode_pair(context, continuation)
        if isinstance(self._model, CodedModel):
            prompt = self._model.encode(context.rstrip())
        return prompt, text

    def _most_new(self, settings: Decoding) -> int:
        return int(normalize_gen_kwargs(given(settings), self.max_gen_toks)["max_gen_toks"])

    def _room(self, settings: Decoding) -> int:
        """Return how many tokens of a prompt the model sees."""
        written = 0 if self.backend == "seq2seq" else self._most_new(settings)
        return int(self.max_length) - written

    def tok_batch_encode(
        self, strings: list[str], **kwargs: object
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Encode a batch, padded on the left for a decoder and on the right for an encoder."""
        self._seeded = [text for text in strings if isinstance(text, Seeded)]
        if isinstance(self._model, CodedModel):
            return padded(map(self._model.encode, strings), self.tokenizer.pad_token_id)
        ids, mask = super().tok_batch_encode(strings, **kwargs)
        if self.backend == "seq2seq":
            # It is padded on the left so far: a stable sort by the mask moves the padding.
            order = mask.argsort(dim=1, descending=True, stable=True)
            ids, mask = ids.gather(1, order), mask.gather(1, order)
        return ids, mask

    def _reader(self) -> PreTrainedModel:
        """Return the model itself, without what an adapter puts around it."""
        model = self.model.base if isinstance(self.model, CodedModel) else self.model
        return model.get_base_model() if isinstance(model, PeftModel) else model

    def _model_generate(
        self, context: torch.Tensor, max_length: int, stop: list[str], **generation_kwargs: Any
    ) -> torch.Tensor:
        if not generation_kwargs.get("do_sample"):
            generation_kwargs.pop("temperature", None)  # lm-eval's 0.0; unused here
        end_token = self.model.generation_config.eos_token_id
        # lm-eval adds the end token's text to the stops. It would also end a row that spells it in
        # other tokens, and beams are scored by the token.
        stops = [text for text in stop if text != self.tokenizer.decode(self.eot_token_id)]
        names = generation_kwargs.pop(_FILTERS, ())
        sees_prompt = self.backend == "causal" and not isinstance(self._model, CodedModel)
        prompt_length = context.shape[1] if sees_prompt else 0
        criteria, processors = [], []
        if stops or names:
            last = frozenset([stop[-1:] for stop in stops] + (["\n"] if names else []))
            criteria.append(
                StopAtText(
                    self.tokenizer,
                    lambda text: any(stop in text for stop in stops) or is_complete(names, text),
                    prompt_length + (self.backend == "seq2seq"),  # a decoder's start token
                    self._last_tokens.setdefault(last, LastTokens(self.tokenizer, last)),
                )
            )
        if generation_kwargs.pop("coarse_to_fine", False):
            processors += template_first(self.tokenizer, prompt_length)
        if generation_kwargs.pop(SEED, None) is not None:
            how = {key: generation_kwargs.pop(key) for key in _DRAWING if key in generation_kwargs}
            seeds = [row.seed for row in self._seeded]
            processors.append(SeededSampling(seeds, prompt_length, **how))
            generation_kwargs["do_sample"] = False
        if generation_kwargs.pop(_WHOLE, None) is not None:
            criteria.append(StopAtLength([row.limit for row in self._seeded], prompt_length))
        own_end = self.eot_token_id if end_token is None else end_token
        adapters = getattr(self.model, "peft_config", {}).values()
        is_known = generation_kwargs.keys() <= {*DECODING, "attention_mask"}
        # peft gives aLoRA's layers a place in each row of the batch, whether it has ended or not.
        is_known &= not any(getattr(each, "alora_invocation_tokens", None) for each in adapters)
        block: AbstractContextManager[None] = nullcontext()
        if own_end is not None and is_known and generation_kwargs.get("num_beams", 1) == 1:
            leaving = Leaving([EosTokenCriteria(own_end), *criteria], len(context), self.device)
            criteria, block = [leaving], leaving.around(self._reader())
        precision = torch.autocast(
            self.device.type,
            dtype=self.mixed_precision_dtype,
            enabled=self.mixed_precision_dtype is not None,
        )
        with precision, without_own_settings(self.model), block:
            output: torch.Tensor = self.model.generate(
                input_ids=context,
                max_new_tokens=max_length - context.shape[1],
                stopping_criteria=criteria,
                logits_processor=processors,
                eos_token_id=own_end,
                pad_token_id=self.tokenizer.pad_token_id,
                use_cache=True,
                **generation_kwargs,
            )
        return output


def swap_adapter(model: HFLM, adapter: str | None) -> bool:
    """Replace a loaded model's adapter, with the same effect as loading the model with it.

    Return False, and change nothing, if the model must be loaded again: with several processes, for
    an adapter that peft does not read or cannot take away whole, after one that was merged, or if
    lm-eval resizes the embeddings to the tokenizer, which it does only with an adapter; `spor-hf`
    only adds some.

    Raises:
        ConfigError: the adapter lacks weights, or does not fit the base.
    """
    is_merged = isinstance(model, SporHF) and model.merges
    if is_merged or isinstance(model.model, CodedModel) or checkpoints.coded_folder(adapter):
        return False
    tuned = isinstance(model.model, PeftModel)
    fixed = tuned and not whole.is_removable(model.model, model.peft, model.revision)
    config = getattr(model.config, "text_config", model.config)
    grown = config.vocab_size < len(model.tokenizer)
    cut = config.vocab_size > len(model.tokenizer) and not isinstance(model, SporHF)
    resized = tuned != (adapter is not None) and (grown or cut)
    if hasattr(model, "accelerator") or fixed or resized:
        return False
    if tuned:
        model._model = model.model.unload()  # noqa: SLF001 - no public way to replace it
    if adapter is not None:
        with checkpoints.loading(adapter, "Check its folder."):
            tuned_base = whole.load_adapter(model.model, adapter, model.revision)
        model._model = tuned_base.eval()  # noqa: SLF001
    model.peft = adapter
    if isinstance(model, SporHF):
        model.begin()
    return True
