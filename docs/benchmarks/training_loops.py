"""The recipe against the plain loop, in one run: speed, memory, and what is learned.

The plain loop is what one writes first: float32, batches of 6 in random order, padded to the
longest, the model's own loss over logits everywhere. Both take the same pairs in steps of 6, by
turns for every seed, with the same number of CPU threads.
"""

import math
import os
import random
import resource
import statistics
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Literal, NamedTuple

import peft
import tokenizers
import torch
import transformers
from accelerate import PartialState
from tokenizers.pre_tokenizers import ByteLevel

from spor_tasks.core import named
from spor_tasks.core.files import FileContent
from spor_tasks.core.sample import Sample
from spor_tasks.core.visible import visible
from spor_tasks.corpora import sources
from spor_tasks.prompts.styles import prompt
from training import graphs, processes
from training.adapters import prepare
from training.bases import Base, load_base
from training.batches import load_batch, target_loss
from training.config import DataConfig, ModelConfig, OptimizationConfig, TrainingConfig
from training.encoding import IGNORED, Row, Rows, Step, collate, encode
from training.lora import fit
from training.objectives.base import Material
from training.objectives.likelihood import Likelihood, NoSettings
from training.processes import cpu_threads
from training.state import Training, seeded

LORA: FileContent = {"target_modules": "all-linear"}
_HELD_OUT = 60
ARM = "atom"
# So many tokens of bytes and pieces of words split names about as a large vocabulary does.
_MERGED = 2000
_END, _PAD = "<end>", "<pad>"
# Dense bfloat16 operations a second, by a word of the device's name.
_PEAKS = {"H200": 989e12, "H100": 989e12, "A100": 312e12}
_HEADER = "pairs/s|tokens/s|times faster|by CPU time|padding|memory|MFU|loss afterwards"


class Loop(NamedTuple):
    """What is compared: the type of the frozen weights, their bits, and the recipe's settings."""

    dtype: Literal["float32", "bfloat16"]
    settings: OptimizationConfig
    quantization: Literal["nf4"] | None = None


PAPER = OptimizationConfig(epochs=1, learning_rate=1e-3)
PACKED = replace(PAPER, packing=True)
BFLOAT16 = replace(PAPER, precision="bfloat16")
PACKED_BFLOAT16 = replace(BFLOAT16, packing=True)
_IN_THREE = replace(PACKED_BFLOAT16, batch_size=2, gradient_accumulation=3)
PLAIN = "plain loop"
LOOPS = {
    PLAIN: Loop("float32", PAPER),
    "recipe, float32": Loop("float32", PAPER),
    "recipe, float32, packed": Loop("float32", PACKED),
    "recipe, bfloat16": Loop("bfloat16", BFLOAT16),
    "recipe, bfloat16, packed": Loop("bfloat16", PACKED_BFLOAT16),
    "recipe, bfloat16, packed, in batches of 2": Loop("bfloat16", _IN_THREE),
    "recipe, nf4, packed": Loop("bfloat16", PACKED_BFLOAT16, "nf4"),
}
if torch.cuda.is_available():
    _GRAPHS = replace(BFLOAT16, cuda_graphs=True)
    LOOPS["recipe, bfloat16, CUDA graphs"] = Loop("bfloat16", _GRAPHS)


@dataclass(frozen=True, slots=True)
class Measured:
    """One epoch of one loop.

    ``cpu_seconds`` are those of this process, whatever else the machine did; ``tokens`` are those
    that are read, without padding; ``memory`` is the peak in bytes. ``loss`` is that of held-out
    pairs afterwards, by target token, in nats and float32. ``utilization`` is the share of what the
    GPU can do in bfloat16. What is not known is 0.
    """

    seconds: float
    cpu_seconds: float
    pairs: int
    tokens: int
    padding: float
    loss: float
    memory: int
    utilization: float


def run(models: Sequence[str], pairs: int, seeds: int, threads: int = 1) -> None:
    """Measure the loops on every model, on two small ones made for it if none is named.

    Raises:
        SporError: a model cannot be loaded, or fitting fails.
    """
    corpus = "webnlg" if sources.SPOR.data_dir().is_dir() else "mini"
    arm = named.load("systematicity", corpus).arms[ARM]
    transformers.utils.logging.disable_progress_bar()
    with tempfile.TemporaryDirectory() as folder:
        for model in models or small_models(Path(folder), arm):
            measured = compare(model, arm, pairs, seeds, threads)
            load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
            print(f"\n{visible(Path(model).name)} on {pairs} pairs of {corpus} {ARM}{load}\n")
            print("\n".join(table(measured)))


def compare(
    model: str, arm: Sequence[Sample], pairs: int, seeds: int, threads: int
) -> dict[str, list[Measured]]:
    """Return what was measured of each loop, for each seed."""
    encodes = transformers.AutoConfig.from_pretrained(model).is_encoder_decoder
    loops = {
        name: loop for name, loop in LOOPS.items() if not (encodes and loop.settings.cuda_graphs)
    }
    measured: dict[str, list[Measured]] = {name: [] for name in loops}
    for seed in range(seeds):
        for name, (dtype, settings, bits) in loops.items():
            loop = Loop(dtype, replace(settings, seed=seed), bits)
            with seeded(seed, processes.join().device):
                prepared = prepare_loop(model, loop, arm, pairs)
                found = _epoch(prepared, threads, plain=name == PLAIN)
            measured[name].append(found)
    return measured


class Prepared(NamedTuple):
    """A run before its first step, its objective with the rows, its steps, and other rows."""

    run: Training
    objective: Likelihood
    steps: Sequence[Step]
    held_out: Sequence[Row]


def prepare_loop(
    model: str, loop: Loop, arm: Sequence[Sample], pairs: int, lora: FileContent = LORA
) -> Prepared:
    """Return a run with fresh adapter weights, from torch's random state."""
    settings = loop.settings
    config = TrainingConfig(
        model=ModelConfig(model, dtype=loop.dtype, quantization=loop.quantization),
        data=DataConfig("any", "any", ARM),
        lora=lora,
        optimization=settings,
    )
    base = load_base(config.model)
    rows, held_out = _rows(base, arm, pairs)
    objective = Likelihood(NoSettings(), Material(arm, base, settings, limit=1))
    objective.rows = rows
    run = Training(prepare(base, config, processes.join().device), settings)
    return Prepared(run, objective, objective.steps(), held_out)


def _epoch(prepared: Prepared, threads: int, *, plain: bool) -> Measured:
    """Train for an epoch."""
    run, objective, steps, held_out = prepared
    rows, base, device = objective.rows.rows, objective.material.base, run.team.device
    with cpu_threads(threads):
        _forget_peak(device)
        start, cpu_start = time.perf_counter(), time.process_time()
        for _ in (plain_fit if plain else fit)(run, objective, steps):
            pass
        seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - cpu_start
        memory = _peak_memory(device)
        loss = _loss(run.model, base, held_out)
    tokens = sum(_tokens_read(row, base) for row in rows)
    return Measured(
        seconds=seconds,
        cpu_seconds=cpu_seconds,
        pairs=len(rows),
        tokens=tokens,
        padding=_padding(rows, steps, run.settings),
        loss=loss,
        memory=memory,
        utilization=_utilization(run.model, tokens / seconds, run.team),
    )


def _forget_peak(device: torch.device) -> None:
    """Reset the measured peak: of a GPU anywhere, of the machine's memory on Linux."""
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
    else:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def _peak_memory(device: torch.device) -> int:
    """Return the most bytes that this process held, of its GPU or else of the machine's memory."""
    if device.type == "cuda":
        return int(torch.cuda.max_memory_allocated(device))
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _padding(rows: Sequence[Row], steps: Sequence[Step], settings: OptimizationConfig) -> float:
    """Return the share of padding among the positions that the steps' inputs take, 0 to 1."""
    if settings.packing:
        return 0.0
    lengths = [
        [len(rows[number].input_ids) for number in batch]
        for step in steps
        for batch in step.batches
    ]
    unit = graphs.LENGTHS if settings.cuda_graphs else 1
    positions = sum(len(batch) * math.ceil(max(batch) / unit) * unit for batch in lengths)
    return 1 - sum(map(sum, lengths)) / positions


def _rows(base: Base, arm: Sequence[Sample], pairs: int) -> tuple[Rows, Sequence[Row]]:
    """Return the rows to train on and others, the same for every loop and seed."""
    drawn = [*Material(arm, base, limit=pairs + _HELD_OUT).pairs(Likelihood.pairs)]
    random.Random(0).shuffle(drawn)
    rows, others = (
        encode(some, base.tokenizer, base.style, base.positions)
        for some in (drawn[:-_HELD_OUT], drawn[-_HELD_OUT:])
    )
    return rows, others.rows


def plain_fit(run: Training, objective: Likelihood, steps: Sequence[Step]) -> Iterator[Step]:
    """Do what a tutorial does on the rows of the steps; yield each step.

    A shorter precision is autocast's. The optimizer is torch's as it would be on a GPU.
    """
    model, base, short = run.model, objective.material.base, run.settings.mixed_precision
    optimizer = torch.optim.Adam(run.weights.values(), lr=PAPER.learning_rate, foreach=True)
    for step in steps:
        rows = [objective.rows.rows[number] for number in step.batches[0]]
        batch = collate([labelled(row, base) for row in rows], base.pad_id)
        on_device = {name: tensor.to(model.device) for name, tensor in batch.items()}
        with torch.autocast(model.device.type, torch.bfloat16, enabled=short is not None):
            loss = model(**on_device).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        loss.item()
        yield step


def labelled(row: Row, base: Base) -> Row:
    """Return the row as transformers' models take it: a causal one's labels stand at the tokens."""
    if base.style == "seq2seq":
        return row
    return Row([*row.input_ids, row.labels[-1]], [IGNORED, *row.labels])


def _loss(model: peft.PeftModel, base: Base, rows: Sequence[Row]) -> float:
    model.float().eval()
    one_by_one = [load_batch([row], base.pad_id, model) for row in rows]
    with torch.no_grad():
        total = sum(target_loss(model, batch).item() for batch in one_by_one)
    return float(total / sum(len(batch.labels) for batch in one_by_one))


def _tokens_read(row: Row, base: Base) -> int:
    return len(row.input_ids) + (len(row.labels) if base.style == "seq2seq" else 0)


def _utilization(model: peft.PeftModel, speed: float, team: PartialState) -> float:
    """Return the share of the GPU's peak that so many tokens a second are.

    Each costs two operations a weight forward and two backward: the frozen weights want no
    gradient of their own.
    """
    name = torch.cuda.get_device_name(team.device) if team.device.type == "cuda" else ""
    peak = next((value for word, value in _PEAKS.items() if word in name), float("inf"))
    weights: int = sum(weight.numel() for weight in model.parameters())
    return 4 * weights * speed / peak


def table(measured: Mapping[str, Sequence[Measured]]) -> Iterator[str]:
    """Yield the lines of a Markdown table: means over the seeds, and the spread of the loss."""
    yield f"| | {' | '.join(_HEADER.split('|'))} |"
    yield f"|{'---|' * 9}"
    plain = measured[PLAIN]
    for name, runs in measured.items():
        seconds = sum(run.seconds for run in runs)
        cpu_seconds = sum(run.cpu_seconds for run in runs)
        losses = [run.loss for run in runs]
        spread = f" ± {statistics.stdev(losses):.4f}" if len(losses) > 1 else ""
        memory, utilization = max(run.memory for run in runs), runs[-1].utilization
        cells = [
            name,
            f"{sum(run.pairs for run in runs) / seconds:.2f}",
            f"{sum(run.tokens for run in runs) / seconds:.0f}",
            f"{sum(run.seconds for run in plain) / seconds:.2f}",
            f"{sum(run.cpu_seconds for run in plain) / cpu_seconds:.2f}",
            f"{runs[0].padding:.0%}",
            f"{memory / 1e9:.2f} GB" if memory else "–",
            f"{utilization:.1%}" if utilization else "–",
            f"{statistics.fmean(losses):.4f}{spread}",
        ]
        yield f"| {' | '.join(cells)} |"


def small_models(folder: Path, arm: Sequence[Sample]) -> list[str]:
    """Save a causal and a seq2seq model of random weights; return their folders.

    They are small, but have vocabularies of the usual size; one of a pretrained model makes about
    as many tokens of a text as theirs does.
    """
    tokenizer = _tokenizer(arm)
    special = {"pad_token_id": tokenizer.pad_token_id, "eos_token_id": tokenizer.eos_token_id}
    causal = transformers.LlamaConfig(
        vocab_size=49_152,
        hidden_size=512,
        intermediate_size=1536,
        num_hidden_layers=8,
        num_attention_heads=8,
        tie_word_embeddings=True,
        bos_token_id=None,
        **special,
    )
    seq2seq = transformers.T5Config(
        vocab_size=32_128,
        d_model=512,
        d_ff=2048,
        num_layers=6,
        num_heads=8,
        decoder_start_token_id=tokenizer.pad_token_id,
        **special,
    )
    with seeded(0, torch.device("cpu")):
        models = {
            "small-causal": transformers.LlamaForCausalLM(causal),
            "small-seq2seq": transformers.T5ForConditionalGeneration(seq2seq),
        }
    for name, model in models.items():
        model.save_pretrained(folder / name)
        tokenizer.save_pretrained(folder / name)
    return [str(folder / name) for name in models]


def _tokenizer(arm: Sequence[Sample]) -> transformers.PreTrainedTokenizerFast:
    texts = chain.from_iterable([prompt(sample, "causal"), *sample.references] for sample in arm)
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=False)
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=_MERGED,
        special_tokens=[_END, _PAD],
        initial_alphabet=ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token=_END, pad_token=_PAD
    )


if __name__ == "__main__":
    for name in [*LOOPS][3:]:
        del LOOPS[name]  # takes minutes on processors without instructions for it
    run([], pairs=12, seeds=1, threads=1)
