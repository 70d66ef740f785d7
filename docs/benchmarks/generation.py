"""`spor-hf` beside plainer ways: drawing, stopping, rows that leave, adapters that are merged."""

from collections import Counter
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import peft
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from transformers import LlamaConfig, LlamaForCausalLM, StoppingCriteria

from docs.benchmarks.measure import folder, seconds, show
from spor_tasks.corpora.webnlg import WEBNLG
from spor_tasks.models.generation import LastTokens, SeededSampling, StopAtLength, StopAtText
from spor_tasks.models.leaving import Leaving
from spor_tasks.text.filters import DEFAULT, is_complete
from tests.oracles import generation as slow
from tests.support.tiny_bases import make_tokenizer

VOCABULARY = 49_152  # that of SmolLM2
ATTENTION = ("q_proj", "v_proj")
LINEAR = (*ATTENTION, "k_proj", "o_proj", "gate_proj", "up_proj", "down_proj")


def thin(layers: int, width: int) -> LlamaForCausalLM:
    """Return a fresh model with SmolLM2's form, and another size."""
    sizes = {"hidden_size": width, "intermediate_size": 2 * width, "num_hidden_layers": layers}
    config = LlamaConfig(**sizes, vocab_size=512, num_attention_heads=4, num_key_value_heads=2)
    return LlamaForCausalLM(config).eval()


def draws(rows: int) -> None:
    """Draw one of the 20 likeliest tokens for each row."""
    scores, seeds = torch.randn(rows, VOCABULARY), [*range(rows)]
    ids = torch.zeros(rows, 2)
    fast = seconds(lambda: SeededSampling(seeds, 0, top_k=20)(ids, scores).argmax(1), times=5)
    plain = seconds(lambda: slow.drawn(seeds, 2, scores, top_k=20), times=3)
    name = f"a draw from 20 tokens, {rows:,} rows"
    show(name, f"{fast * 1e3:.2f} ms", ratio=plain / fast, to="noise for every token")


def stops(rows: int) -> None:
    """Find the rows of 24 tokens whose first line is complete."""
    tokenizer = make_tokenizer("llama")
    letters = torch.tensor(tokenizer.convert_tokens_to_ids([*"abcdefghijklmnopqrstuvwxyz"]))
    ids = letters[torch.randint(len(letters), (rows, 24))]

    def is_ended(text: str) -> bool:
        return is_complete(DEFAULT, text)

    stop = StopAtText(tokenizer, is_ended, 0, LastTokens(tokenizer, {"\n"}))
    fast = seconds(lambda: [stop(ids, None) for _ in range(100)], times=5) / 100
    plain = seconds(lambda: slow.ended(tokenizer, ids, is_ended), times=5)
    name = f"which texts end, {rows:,} rows"
    show(name, f"{fast * 1e3:.3f} ms", ratio=plain / fast, to="every text decoded")


def positions(limits: list[int], rows: int) -> None:
    """Write texts of so many tokens in batches; count the positions that are read for them."""
    model, read = thin(layers=8, width=256), Counter[bool]()

    def write(*, leaves: bool) -> None:
        read[leaves] = 0
        for start in range(0, len(limits), rows):
            own = limits[start : start + rows]
            ids = torch.ones(len(own), 8, dtype=torch.long)
            stop: StoppingCriteria = StopAtLength(own, ids.shape[1])
            block: AbstractContextManager[None] = nullcontext()
            if leaves:
                stop = Leaving([stop], len(own), "cpu")
                block = stop.around(model)
            with block:
                model.generate(
                    ids,
                    attention_mask=torch.ones_like(ids),
                    stopping_criteria=[stop],
                    max_new_tokens=max(own),
                    pad_token_id=0,
                )

    def count(_: object, inputs: tuple[torch.Tensor, ...]) -> None:
        read[leaves] += len(inputs[0])

    needed = sum(limits)
    model.model.layers[0].register_forward_pre_hook(count)
    took = {}
    for leaves in (False, True):
        took[leaves] = seconds(lambda: write(leaves=leaves))  # noqa: B023
    shares = " to ".join(f"{needed / read[way]:.0%}" for way in (False, True))
    ratio, name = took[False] / took[True], f"useful positions in batches of {rows:,}"
    show(name, shares, ratio=ratio, to="the time with all rows")


class Operations(TorchDispatchMode):  # type: ignore[misc]
    """Counts dispatched operations, but for views."""

    count = 0

    def __torch_dispatch__(
        self, operation: Any, types: object, args: tuple[object, ...] = (), kwargs: Any = None
    ) -> object:
        self.count += not operation.is_view
        return operation(*args, **kwargs or {})


def merged(modules: tuple[str, ...]) -> None:
    """Read a token with an adapter beside the weights, and with a merged one."""
    tuned = peft.get_peft_model(thin(layers=30, width=64), peft.LoraConfig(target_modules=modules))
    counts, times = [], []
    for merges in (False, True):
        model = tuned.merge_and_unload() if merges else tuned
        with torch.no_grad(), Operations() as operations:
            model(torch.ones(1, 1, dtype=torch.long))
        counts.append(operations.count)
        with torch.no_grad():
            times.append(seconds(lambda: model(torch.ones(1, 1, dtype=torch.long)), times=9))  # noqa: B023
    beside, own = counts
    name = f"operations of a token, LoRA on {len(modules)} modules merged"
    fewer = f"{own:,}, {1 - own / beside:.0%} fewer"
    show(name, fewer, ratio=times[0] / times[1], to="the time beside the weights")


def main() -> None:
    """Measure each part."""
    for rows in (16, 256):
        draws(rows)
    for rows in (16, 1_024):
        stops(rows)
    if data := folder("SPOR_DATA_DIR"):
        samples = WEBNLG.part("test", data)
        limits = [len(sample.references[0].split()) for sample in samples][:1_024]
        for rows in (16, 256, 1_024):
            positions(limits, rows)
    for modules in (ATTENTION, LINEAR):
        merged(modules)


if __name__ == "__main__":
    main()
