"""Pairs as tensors, padded or packed, and the loss over their targets.

Packed pairs lie end to end in one row, in which each sees itself alone. So nothing is padded, and
what is learned is the same.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain

import peft
import torch
from torch.nn import functional

from spor_tasks.core.errors import ConfigError
from training.encoding import IGNORED, Row, Step, collate

# How far, relatively, rounding may move the loss of a token: in float32, and in fewer bits.
_ROUNDING, _ROUNDING_16 = 1e-3, 5e-2
# Attention costs the square of a packed row: more tokens than this go into rows of their own.
_LONGEST_ROW = 1024
_ENCODER_MASK = "encoder_attention_mask"


@dataclass(frozen=True, slots=True)
class Batch:
    """Some pairs on the model's device.

    ``inputs`` are the model's, ``labels`` the ids of the target tokens, and ``positions`` where in
    the batch's outputs, laid out flat, each of them is to be said.
    """

    inputs: Mapping[str, torch.Tensor]
    labels: torch.Tensor
    positions: torch.Tensor


def load_batches(
    step: Step, rows: Sequence[Row], pad_id: int, model: peft.PeftModel, *, packing: bool = False
) -> list[Batch]:
    """Return the batches of a step, on the model's device; long packed ones in parts."""
    batches = [[rows[number] for number in numbers] for numbers in step.batches]
    if packing:
        batches = list(chain.from_iterable(map(_packable, batches)))
    return [load_batch(batch, pad_id, model, packing=packing) for batch in batches]


def _packable(rows: Sequence[Row]) -> Iterator[list[Row]]:
    """Yield the rows in parts that are short enough to be packed, or are of one row."""
    part: list[Row] = []
    for row in rows:
        if part and sum(map(_length, part)) + _length(row) > _LONGEST_ROW:
            yield part
            part = []
        part.append(row)
    yield part


def _length(row: Row) -> int:
    return max(map(len, row))


def load_batch(
    rows: Sequence[Row], pad_id: int, model: peft.PeftModel, *, packing: bool = False
) -> Batch:
    """Return the rows as one batch, on the model's device."""
    inputs = _packed(rows, model) if packing else _padded(rows, pad_id, model)
    labels = inputs.pop("labels").flatten()
    # found here, where the device need not be waited for
    positions = (labels != IGNORED).nonzero().flatten()
    device = model.device
    on_device = {name: tensor.to(device) for name, tensor in inputs.items()}
    return Batch(on_device, labels[positions].to(device), positions.to(device))


def _padded(rows: Sequence[Row], pad_id: int, model: peft.PeftModel) -> dict[str, torch.Tensor]:
    batch = collate(rows, pad_id)
    if model.config.is_encoder_decoder:
        batch["decoder_input_ids"] = model.prepare_decoder_input_ids_from_labels(batch["labels"])
    return batch


def _packed(rows: Sequence[Row], model: peft.PeftModel) -> dict[str, torch.Tensor]:
    """Return one row of all pairs.

    A decoder is told by positions that begin anew where a pair does, as transformers has it. An
    encoder-decoder is given the three masks, and must know positions by their distance.
    """
    read, said = ([torch.tensor([ids]) for ids in column] for column in zip(*rows, strict=True))
    batch = {"input_ids": torch.cat(read, 1), "labels": torch.cat(said, 1)}
    if not model.config.is_encoder_decoder:
        positions = [torch.arange(ids.shape[1]) for ids in read]
        return batch | {"position_ids": torch.cat(positions)[None]}
    source, target = _owners(read), _owners(said)
    own = _same(target, target)
    return batch | {
        "decoder_input_ids": torch.cat(
            [model.prepare_decoder_input_ids_from_labels(ids) for ids in said], 1
        ),
        _ENCODER_MASK: _added(_same(source, source), model.dtype),
        "decoder_attention_mask": _added(own & torch.ones_like(own).tril(), model.dtype),
        "attention_mask": _added(_same(target, source), model.dtype),
    }


def _owners(rows: Sequence[torch.Tensor]) -> torch.Tensor:
    """Return, for every token, the number of the pair that it is of."""
    lengths = torch.tensor([ids.shape[1] for ids in rows])
    return torch.repeat_interleave(torch.arange(len(rows)), lengths)


def _same(queries: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
    return queries[:, None] == keys[None]


def _added(seen: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Return what is added to the scores of attention: batch x heads x queries x keys."""
    unseen = torch.finfo(dtype).min
    return torch.zeros(seen.shape, dtype=dtype).masked_fill(~seen, unseen)[None, None]


def target_loss(model: peft.PeftModel, batch: Batch) -> torch.Tensor:
    """Return the cross-entropy of the batch, summed over its target tokens."""
    return target_losses(model, batch).sum()


def target_losses(model: peft.PeftModel, batch: Batch) -> torch.Tensor:
    """Return the cross-entropy of every target token of the batch, pair after pair.

    It is what the model's logits everywhere would give, but only those that some target needs are
    computed: over a large vocabulary the others, most of all, would cost more than the rest.
    """
    inputs: dict[str, object] = dict(batch.inputs)
    if _ENCODER_MASK in inputs:
        inputs["encoder_outputs"] = model.get_encoder()(
            input_ids=inputs.pop("input_ids"), attention_mask=inputs.pop(_ENCODER_MASK)
        )
    with _only_positions(model.get_output_embeddings(), batch.positions):
        logits = model(**inputs, use_cache=False).logits
    return functional.cross_entropy(logits.float(), batch.labels, reduction="none")


@contextmanager
def _only_positions(head: torch.nn.Module, wanted: torch.Tensor) -> Iterator[None]:
    """Let the language model's head see the hidden states of the wanted positions, flattened.

    A hook and not `logits_to_keep`, which encoder-decoders lack. What a model does to its states
    or logits beside the head (scale, cap, bias) it does as always.
    """

    def select(_: torch.nn.Module, states: tuple[torch.Tensor]) -> tuple[torch.Tensor]:
        return (states[0].flatten(0, 1)[wanted],)

    hook = head.register_forward_pre_hook(select)
    try:
        yield
    finally:
        hook.remove()


def check_packing(model: peft.PeftModel, rows: Sequence[Row], pad_id: int) -> None:
    """Make sure that the model says of a pair behind another what it says of it alone.

    Compared are the losses of the tokens of the shortest pair, packed behind the longest.

    Raises:
        ConfigError: they differ, or the model cannot be told what belongs together.
    """
    by_length = sorted(rows, key=lambda row: sum(map(len, row)))
    shortest, longest = by_length[0], by_length[-1]
    training = model.training
    model.eval()
    try:
        with torch.no_grad():
            alone = target_losses(model, load_batch([shortest], pad_id, model))
            both = load_batch([longest, shortest], pad_id, model, packing=True)
            behind = target_losses(model, both)[-len(alone) :]
    except (AttributeError, NotImplementedError, TypeError, ValueError) as error:
        raise _not_packable(f"it says: {error}") from error
    finally:
        model.train(training)
    moved = float((behind - alone).abs().mean() / alone.mean())
    exact = {weight.dtype for weight in model.parameters()} == {torch.float32}
    if not moved <= (_ROUNDING if exact else _ROUNDING_16):
        raise _not_packable(f"behind another pair, a pair's losses differ by {moved:.1%}")


def _not_packable(why: str) -> ConfigError:
    return ConfigError(
        f"optimization.packing does not suit this model: {why}",
        remedy="Set optimization.packing=false. Against padding there are "
        "optimization.group_by_length=true, and smaller batches: optimization.batch_size=3 and "
        "optimization.gradient_accumulation=2 learn the same as one of 6.",
    )
