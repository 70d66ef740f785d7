"""Whether checkpoints have all their weights, and whether lm-eval's `hf` reads them right.

transformers and peft fill what a file lacks with random numbers, and only warn. Our code sees no
model that `hf` loads. So it is tried on torch's device `meta`, which keeps names and shapes alone.
"""

import copy
import logging
import warnings
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from peft import (
    PeftConfig,
    PeftModel,
    PeftType,
    get_peft_model_state_dict,
    load_peft_weights,
    set_peft_model_state_dict,
)
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForSeq2SeqLM,
    AutoTokenizer,
    PreTrainedModel,
)
from transformers.models.auto.modeling_auto import MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES

from spor_tasks.core.errors import ConfigError, SporError
from spor_tasks.core.visible import visible
from spor_tasks.models.checkpoints import ADAPTER_CONFIG, Checkpoint

_log = logging.getLogger(__name__)

# Kinds of models in transformers whose texts depend on the padding of a batch.
_READ_ALONE = frozenset({"minimax", "rwkv", "trocr", "whisper"})

# Encoders that take no notice of padding on the left: their positions are relative, or skip it.
_ANY_PADDING = frozenset(
    {"longt5", "m2m_100", "mt5", "switch_transformers", "t5", "t5gemma", "umt5"}
)

_UNCHECKED = "it was not checked for missing weights"
_REMEDY = "Use the model spor-hf with `spor eval`."


def check_base(model: PreTrainedModel, loaded: Mapping[str, Iterable[str]], where: str) -> None:
    """Refuse a base some of whose weights its files lack.

    ``loaded`` is what ``from_pretrained`` returns about the loading. Buffers are no weights, as
    transformers makes them, except those of quantized layers.

    Raises:
        ConfigError: some are missing.
    """
    buffers = {} if getattr(model, "is_quantized", False) else dict(model.named_buffers())
    missing = sorted(loaded["missing_keys"])
    if made := [key for key in missing if key in buffers]:
        _log.warning("%s lacks %s, which transformers makes", visible(where), ", ".join(made))
    if lost := [key for key in missing if key not in buffers]:
        remedy = "Get the checkpoint again, or name another one."
        raise _faulty(where, "lacks", lost, "of its architecture", remedy)


def load_adapter(model: PreTrainedModel, adapter: str, revision: str | None = None) -> PeftModel:
    """Return a base with an adapter, all of whose weights are there and fit.

    Raises:
        ConfigError: the adapter lacks weights, or has some that the base has no place for.
    """
    is_empty = all(each.is_meta for each in model.parameters())
    device = "cpu" if is_empty else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of missing keys, and of training
        try:
            tuned = PeftModel.from_pretrained(
                model, adapter, revision=revision, low_cpu_mem_usage=is_empty, torch_device=device
            )
        except KeyError as error:  # peft asks for some by their names
            raise _faulty(adapter, "lacks", [str(error.args[0])], "for this base") from error
        (name,) = tuned.peft_config
        weights = load_peft_weights(adapter, device="cpu", revision=revision)
        found = set_peft_model_state_dict(tuned, weights, name, low_cpu_mem_usage=is_empty)
    saved = get_peft_model_state_dict(tuned, save_embedding_layers=False)
    # In the model a key has the adapter's name too. What layers share has a key in each of them.
    keys = [key.replace(f".{name}", "") for key in found.missing_keys]
    lost = sorted(key for key in keys if saved.keys() & {key, key.rpartition(".")[0]})
    foreign = [key for key in found.unexpected_keys if key not in saved]
    if lost:
        raise _faulty(adapter, "lacks", lost, "for this base")
    if foreign:
        raise _faulty(adapter, "has", foreign, "without a place in this base")
    return tuned


def is_removable(tuned: PeftModel, adapter: str, revision: str | None = None) -> bool:
    """Return whether peft's ``unload`` gives back the base as it was before its adapter.

    It keeps what the adapter brought in place of the base's own weights: whole modules, biases, or
    what is left where the adapter began as a part of the base.
    """
    own = {
        name.replace(".base_layer", "").replace(".original_module", "")
        for name, _ in tuned.named_parameters(remove_duplicate=False)
    }
    brought = load_peft_weights(adapter, device="cpu", revision=revision)
    start = getattr(tuned.active_peft_config, "init_lora_weights", None)
    if not hasattr(tuned.base_model, "unload") or isinstance(start, str):
        return False
    return own.isdisjoint(key.replace(".base_layer", "") for key in brought)


def _faulty(
    where: str,
    verb: str,
    keys: Sequence[str],
    place: str,
    remedy: str = "Name the base that it was trained on, or get the adapter again.",
) -> ConfigError:
    counted, first = f"{len(keys)} weights", f"; the first is {keys[0]}"
    if len(keys) == 1:
        counted, first = "1 weight", f": {keys[0]}"
    return ConfigError(f"{verb} {counted} {place}{first}", where=where, remedy=remedy)


def check_hf(model: Checkpoint, *, writes: bool) -> tuple[str, ...]:
    """Refuse a checkpoint that lm-eval's `hf` reads wrongly; return notes for the results.

    ``writes`` says whether it is asked for texts: likelihoods do not depend on the batch. Nothing
    is downloaded. A model that cannot be tried is left to its own loading, and a note says so.

    Raises:
        ConfigError: weights are missing or do not fit, or a text would depend on its batch.
    """
    if model.other_loader:
        return (f"{_UNCHECKED}: {model.other_loader}= loads it otherwise",)
    is_here = model.base() and (not model.adapter or model.find(model.adapter, ADAPTER_CONFIG))
    return _check(model, model.files(), writes=writes) if is_here else ()


def _source(model: Checkpoint) -> dict[str, str | bool]:
    """Return what transformers needs to find the files, besides their place."""
    return {key: getattr(model, key) for key in ("revision", "subfolder", "trust_remote_code")}


@lru_cache(maxsize=64)
def _check(model: Checkpoint, _files: object, *, writes: bool) -> tuple[str, ...]:
    """Return the notes on a model, tried once while its files do not change."""
    notes = []
    try:
        base = _empty(model)
        if writes:
            _check_batches(base, model)
        if writes and base.config.is_encoder_decoder:
            notes.append("hf lets a text exceed its limit by the length of its batch's prompts")
        if model.adapter:
            name = model.tokenizer or model.pretrained
            tokens = len(AutoTokenizer.from_pretrained(name, **_source(model)))
            rows = base.config.get_text_config().vocab_size
            cut = copy.deepcopy(base) if tokens < rows else None
            grow(base, tokens)
            load_adapter(base, model.adapter, model.revision)
            if cut is not None:
                fact = (
                    f"hf cuts the {rows} embeddings of the base to the {tokens} tokens of its "
                    "tokenizer"
                )
                cut.resize_token_embeddings(tokens)
                try:
                    load_adapter(cut, model.adapter, model.revision)
                except RuntimeError as error:  # of shapes
                    what = f"was trained with other embeddings: {fact}"
                    raise ConfigError(what, where=model.adapter, remedy=_REMEDY) from error
                notes.append(f"{fact}, so that its probabilities are not those of training")
    except SporError:
        raise
    except Exception as error:  # noqa: BLE001 - of libraries; the loading itself meets it as well
        notes.append(f"{_UNCHECKED}: {type(error).__name__}: {error}")
    return tuple(notes)


def _empty(model: Checkpoint) -> PreTrainedModel:
    """Return the base that `hf` would load, without its weights, which are all there."""
    name, source = str(model.pretrained), _source(model)
    config = AutoConfig.from_pretrained(name, **source)
    is_seq2seq = config.model_type in MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES
    if model.backend in ["causal", "seq2seq"]:  # which may be of any type
        is_seq2seq = model.backend == "seq2seq"
    reduced = config.__dict__.pop("quantization_config", None) is not None
    base, loaded = (AutoModelForSeq2SeqLM if is_seq2seq else AutoModelForCausalLM).from_pretrained(
        name,
        config=config,
        device_map="meta",
        output_loading_info=True,
        ignore_mismatched_sizes=reduced,
        **source,
    )
    if reduced:  # A quantized weight is in tensors of other names and shapes, in the same module.
        there = {key.rpartition(".")[0] for key in loaded["unexpected_keys"]}
        loaded["missing_keys"] = [
            key for key in loaded["missing_keys"] if key.rpartition(".")[0] not in there
        ]
    check_base(base, loaded, name)
    return base


def _check_batches(base: PreTrainedModel, model: Checkpoint) -> None:
    """Refuse what would write other texts in a batch, as `hf` pads on the left."""
    kind, where = base.config.model_type, str(model.pretrained)
    if base.config.is_encoder_decoder and kind not in _ANY_PADDING:
        what = "is an encoder-decoder that hf pads on the left"
    elif kind in _READ_ALONE:
        what = "takes notice of padding"
    elif model.adapter and inserts_prompt(
        PeftConfig.from_pretrained(model.adapter, revision=model.revision)
    ):
        what, where = "puts a trained prompt before the padding of a batch", model.adapter
    else:
        return
    raise ConfigError(f"{what}, so that its texts depend on the batch", where=where, remedy=_REMEDY)


def inserts_prompt(config: PeftConfig) -> bool:
    """Return whether an adapter puts embeddings before the prompts, and so before their padding."""
    return bool(config.is_prompt_learning and config.peft_type != PeftType.PREFIX_TUNING)


def grow(model: PreTrainedModel, tokens: int) -> None:
    """Give a base embeddings for tokens that were added to its tokenizer; remove none."""
    if tokens > model.get_input_embeddings().weight.shape[0]:
        model.resize_token_embeddings(tokens, mean_resizing=model.device.type != "meta")
