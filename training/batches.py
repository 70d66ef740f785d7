"""Pairs as tensors, padded or packed, and the loss over their targets.

Packed pairs stand end to end in one row, and each sees only itself. So nothing is padded, and the
model learns the same.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import peft
import torch
from torch.nn import functional
from transformers import PreTrainedModel

from spor_tasks.core.errors import ConfigError, SporError
from spor_tasks.models.checkpoints import class_name, running
from spor_tasks.models.coded import CodedModel
from training.encoding import IGNORED, Row, Step, collate
from training.memory import LESS_MEMORY, enough_memory

Model: TypeAlias = peft.PeftModel | PreTrainedModel | CodedModel
"""A base with an adapter or with vectors for values, or a model that is trained whole."""

# How much rounding may change the loss of a token, as a share of it: in float32, in fewer bits.
_ROUNDING, _ROUNDING_16 = 1e-3, 5e-2
# The cost of attention is the square of a row's tokens, so a packed row has at most this many.
_LONGEST_ROW = 1024
_ENCODER_MASK = "encoder_attention_mask"


@dataclass(frozen=True, slots=True)
class Batch:
    """Some pairs on the model's device.

    ``inputs`` are the model's, ``labels`` the ids of the target tokens, and ``positions`` the
    places in the batch's flattened outputs that should predict them. ``samples`` are the ids of the
    pairs' samples, and ``sizes`` how many targets each pair has.
    """

    inputs: Mapping[str, torch.Tensor]
    labels: torch.Tensor
    positions: torch.Tensor
    samples: tuple[str, ...]
    sizes: tuple[int, ...]


def load_batches(
    step: Step, rows: Sequence[Row], pad_id: int, model: Model, *, packing: bool = False
) -> list[Batch]:
    """Return the batches of a step, on the model's device; a long packed batch in parts."""
    parts: list[list[Row]] = []
    for numbers in step.batches:
        parts.append([])
        for row in (rows[number] for number in numbers):
            taken = sum(each.length for each in parts[-1])
            if packing and taken and taken + row.length > _LONGEST_ROW:
                parts.append([])
            parts[-1].append(row)
    return [load_batch(part, pad_id, model, packing=packing) for part in parts]


def load_batch(rows: Sequence[Row], pad_id: int, model: Model, *, packing: bool = False) -> Batch:
    """Return the rows as one batch, on the model's device."""
    inputs = _packed(rows, model) if packing else collate(rows, pad_id)
    if model.config.is_encoder_decoder and not packing:
        inputs["decoder_input_ids"] = _decoder_inputs(model, inputs["labels"])
    labels = inputs.pop("labels").flatten()
    positions = (labels != IGNORED).nonzero().flatten()  # on a GPU, this would wait for it
    device = model.device
    on_device = {name: tensor.to(device) for name, tensor in inputs.items()}
    return Batch(
        on_device,
        labels[positions].to(device),
        positions.to(device),
        tuple(row.sample for row in rows),
        tuple(row.targets for row in rows),
    )


def _packed(rows: Sequence[Row], model: Model) -> dict[str, torch.Tensor]:
    """Return all pairs in one row.

    A decoder gets positions that start again with each pair, from which transformers derives the
    mask. An encoder-decoder gets the three masks, and must use relative positions.
    """
    inputs = [torch.tensor([row.input_ids]) for row in rows]
    labels = [torch.tensor([row.labels]) for row in rows]
    batch = {"input_ids": torch.cat(inputs, 1), "labels": torch.cat(labels, 1)}
    if not model.config.is_encoder_decoder:
        positions = [torch.arange(ids.shape[1]) for ids in inputs]
        return batch | {"position_ids": torch.cat(positions)[None]}
    shifted = [_decoder_inputs(model, ids) for ids in labels]
    before = [block.tril() for block in _own(labels, labels)]
    return batch | {
        "decoder_input_ids": torch.cat(shifted, 1),
        _ENCODER_MASK: _mask(_own(inputs, inputs), model.dtype),
        "decoder_attention_mask": _mask(before, model.dtype),
        "attention_mask": _mask(_own(labels, inputs), model.dtype),
    }


def _decoder_inputs(model: Model, labels: torch.Tensor) -> torch.Tensor:
    """Return what a decoder reads: the labels one place later, after the token it starts with."""
    if hasattr(model, "prepare_decoder_input_ids_from_labels"):  # not in every family
        made: torch.Tensor = model.prepare_decoder_input_ids_from_labels(labels)
        return made
    begin = model.generation_config.decoder_start_token_id
    shifted = labels.roll(1, dims=1).clamp(min=0)  # what stands for ignored ones is never seen
    shifted[:, 0] = model.generation_config.bos_token_id if begin is None else begin
    return shifted


def _own(queries: Sequence[torch.Tensor], keys: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """Return for each pair, queries x keys, that its queries see its keys."""
    pairs = zip(queries, keys, strict=True)
    return [torch.ones(query.shape[1], key.shape[1], dtype=torch.bool) for query, key in pairs]


def _mask(blocks: Sequence[torch.Tensor], dtype: torch.dtype) -> torch.Tensor:
    """Return a mask that attention adds, by which the queries of a block see only its keys.

    Its shape is batch x heads x queries x keys.
    """
    is_own = torch.block_diag(*blocks).bool()
    hidden = torch.finfo(dtype).min
    return torch.zeros(is_own.shape, dtype=dtype).masked_fill(~is_own, hidden)[None, None]


def target_loss(model: Model, batch: Batch) -> torch.Tensor:
    """Return the cross-entropy of the batch, summed over its target tokens."""
    return target_losses(model, batch).sum()


def target_losses(model: Model, batch: Batch) -> torch.Tensor:
    """Return the cross-entropy of every target token of the batch, pair after pair.

    Only the logits that a target needs are computed: with a large vocabulary, the others would
    cost more than all the rest. The losses are the same.
    """
    inputs: dict[str, object] = dict(batch.inputs)
    if _ENCODER_MASK in inputs:
        inputs["encoder_outputs"] = model.get_encoder()(
            input_ids=inputs.pop("input_ids"), attention_mask=inputs.pop(_ENCODER_MASK)
        )
    ids = batch.inputs.get("decoder_input_ids", batch.inputs["input_ids"])

    def select(_: torch.nn.Module, states: tuple[torch.Tensor]) -> tuple[torch.Tensor]:
        if states[0].shape[:-1] != ids.shape:  # ProphetNet predicts further tokens too
            raise ConfigError(
                f"{class_name(model)} predicts more than the next token of each text",
                remedy="Train a model that predicts the next token alone.",
            )
        return (states[0].flatten(0, 1)[batch.positions],)

    # A hook, because encoder-decoders lack `logits_to_keep`. All else that a model does to its
    # states or logits (scale, cap, bias) stays.
    with model.get_output_embeddings().register_forward_pre_hook(select):
        logits = model(**inputs, use_cache=False).logits
    return functional.cross_entropy(logits.float(), batch.labels, reduction="none")


def check_packing(model: Model, rows: Sequence[Row], pad_id: int) -> None:
    """Check that a pair has the same losses packed behind another pair as alone.

    The pairs are the shortest, and the longest before it.

    Raises:
        ConfigError: the losses differ, the model does not take packed pairs, or memory runs out.
    """
    by_length = sorted(rows, key=lambda row: row.tokens)
    shortest, longest = by_length[0], by_length[-1]
    exact = all(weight.dtype == torch.float32 for weight in model.parameters())
    training, cause = model.training, None
    model.eval()
    try:
        with torch.no_grad(), enough_memory("on the longest pair", LESS_MEMORY):
            with running(model):
                alone = target_losses(model, load_batch([shortest], pad_id, model))
            pair = load_batch([longest, shortest], pad_id, model, packing=True)
            behind = target_losses(model, pair)[-len(alone) :]
        moved = float((behind - alone).abs().mean() / alone.mean())
        if moved <= (_ROUNDING if exact else _ROUNDING_16):
            return
        fault = f"behind another pair, a pair's losses differ by {moved:.1%}"
    except SporError:
        raise
    except Exception as error:  # noqa: BLE001 - of the model's own code, of many kinds
        fault, cause = f"it raised {type(error).__name__}: {error}", error
    finally:
        model.train(training)
    raise ConfigError(
        f"optimization.packing cannot be used with {class_name(model)}: {fault}",
        remedy="Set optimization.packing=false. To pad less, set optimization.batch_size=3 and "
        "optimization.gradient_accumulation=2, which learn the same as a batch of 6, or "
        "optimization.group_by_length=true.",
    ) from cause
