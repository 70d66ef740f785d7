"""Train the tiny base of each embedded corpus from scratch.

    python docs/generators/tiny_bases.py training/pretrained [CORPUS …]

A base reads the file of its corpus in `training/pretraining`: the tokens of the corpus, then rows
of a prompt and texts. Like a pretrained model, it knows the words, how to copy, and single
sentences; it reads nothing that a test sample needs. The other scripts here made those files.
"""

import hashlib
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import tokenizers
import torch
from safetensors.torch import load_file, save_file
from tokenizers import Regex, decoders, pre_tokenizers
from tokenizers.models import WordLevel
from torch.nn import functional
from tqdm import tqdm
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from spor_tasks.core.files import read_rows
from spor_tasks.core.folders import atomic_folder, write_manifest
from spor_tasks.core.weights import digest_weights
from training.config import OptimizationConfig
from training.encoding import IGNORED, Row, collate, plan_steps
from training.identity import versions
from training.processes import cpu_threads

KIND = "base"
PRETRAINING = Path(__file__).parent.parent.parent / "training" / "pretraining"

_END, _PAD, _UNKNOWN = "<end>", "<pad>", "<unknown>"
_WEIGHTS = "model.safetensors"


@dataclass(frozen=True, slots=True)
class BaseSettings:
    """The size of the model and of its training.

    With ``half`` the weights are rounded to 16 bits when they are saved, so that they take half the
    space; loaded, they are 32-bit numbers as ever.
    """

    width: int = 64
    layers: int = 3
    heads: int = 4
    steps: int = 2000
    warm_up: int = 50
    batch_size: int = 16
    learning_rate: float = 3e-3
    half: bool = False
    threads: int = 1
    seed: int = 0


SETTINGS = {
    "mini": BaseSettings(width=96, steps=1200, half=True),
    "totto_mini": BaseSettings(),
    "logicnlg_mini": BaseSettings(steps=2400),
    "compmctg_mini": BaseSettings(steps=600),
}
"""The settings of each corpus."""


def facts(corpus: str, settings: BaseSettings) -> dict[str, Any]:
    """Return the facts in the manifest of the base that :func:`build` makes of these arguments.

    Raises:
        CorpusError: the corpus has no pretraining file.
    """
    content = _file(corpus).read_bytes()
    return {
        "kind": KIND,
        "corpus": corpus,
        "settings": asdict(settings),
        "pretraining_sha256": hashlib.sha256(content).hexdigest(),
        "versions": versions(),
    }


def build(folder: Path, corpus: str, settings: BaseSettings, *, progress: bool = True) -> None:
    """Train the base of a corpus and save it to the folder.

    Raises:
        ConfigError: the folder exists and is not such a base; it is not changed.
        CorpusError: the pretraining file is missing or damaged.
    """
    with atomic_folder(folder, kind=KIND, overwrite=True) as place:
        tokenizer, rows = read(corpus)
        model = pretrain(rows, tokenizer, settings, progress=progress)
        model.save_pretrained(place)
        tokenizer.save_pretrained(place)
        if settings.half:  # only in the file: the config still says 32 bits
            weights = load_file(place / _WEIGHTS)
            rounded = {name: weight.half() for name, weight in weights.items()}
            save_file(rounded, place / _WEIGHTS, metadata={"format": "pt"})
        write_manifest(place, facts(corpus, settings) | {"sha256": digest_weights(place)})


def read(corpus: str) -> tuple[PreTrainedTokenizerFast, list[Row]]:
    """Return the tokenizer of a base, and the rows that it learns from, in token ids.

    A row learns each of its texts and where it ends, given the prompt and the texts before.

    Raises:
        CorpusError: the pretraining file is missing or damaged.
    """
    (_, header), *lessons = read_rows(_file(corpus))
    tokenizer = word_tokenizer(header["words"], header["pattern"])
    prompts = tokenizer([row["prompt"] for _, row in lessons])["input_ids"]
    texts = iter(tokenizer([text for _, row in lessons for text in row["texts"]])["input_ids"])
    end = tokenizer.eos_token_id
    rows = []
    for (_, row), prompt in zip(lessons, prompts, strict=True):
        targets = [*chain.from_iterable([*next(texts), end] for _ in row["texts"])]
        read_ids = prompt + targets[:-1]
        labels = [IGNORED] * (len(prompt) - 1) + targets
        # Without a prompt nothing predicts the first token.
        rows.append(Row(read_ids, labels[-len(read_ids) :]))
    return tokenizer, rows


def _file(corpus: str) -> Path:
    return PRETRAINING / f"{corpus}.jsonl.gz"


def word_tokenizer(words: Iterable[str], pattern: str) -> PreTrainedTokenizerFast:
    """Return a tokenizer whose tokens are these words, and match the pattern."""
    vocabulary = {word: number for number, word in enumerate([_END, _PAD, _UNKNOWN, *words])}
    tokenizer = tokenizers.Tokenizer(WordLevel(vocabulary, unk_token=_UNKNOWN))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(pattern), "removed", invert=True)
    # It puts spaces between words, but not before punctuation marks; no token has the prefix.
    tokenizer.decoder = decoders.WordPiece(prefix="##", cleanup=True)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token=_END, pad_token=_PAD, unk_token=_UNKNOWN
    )


def pretrain(
    rows: Sequence[Row],
    tokenizer: PreTrainedTokenizerFast,
    settings: BaseSettings,
    *,
    progress: bool,
) -> LlamaForCausalLM:
    """Return the trained model."""
    plan = OptimizationConfig(
        batch_size=settings.batch_size,
        epochs=None,
        max_steps=settings.steps,
        group_by_length=True,
        seed=settings.seed,
    )
    batches = [
        collate([rows[number] for number in batch], tokenizer.pad_token_id)
        for step in plan_steps([len(row.labels) for row in rows], plan)
        for batch in step.batches
    ]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(settings.seed)
        model = _new_model(tokenizer, settings)
    optimizer = torch.optim.AdamW(model.parameters(), lr=settings.learning_rate, fused=True)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / settings.warm_up, 1) * (1 - step / settings.steps)
    )
    with cpu_threads(settings.threads), tqdm(batches, unit=" steps", disable=not progress) as bar:
        for batch in bar:
            optimizer.zero_grad()
            loss = _loss(model, batch)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            bar.set_postfix(loss=f"{loss.item():.3f}", refresh=False)
    return model.eval()


def _new_model(tokenizer: PreTrainedTokenizerFast, settings: BaseSettings) -> LlamaForCausalLM:
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=settings.width,
            intermediate_size=settings.width * 8 // 3,
            num_hidden_layers=settings.layers,
            num_attention_heads=settings.heads,
            max_position_embeddings=512,
            tie_word_embeddings=True,
            # In proportion to the small width; with the usual 0.02 it learns to copy later.
            initializer_range=settings.width**-0.5,
            bos_token_id=None,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
        )
    )


def _loss(model: LlamaForCausalLM, batch: dict[str, torch.Tensor]) -> torch.Tensor:
    """Return the mean cross-entropy over the batch's targets."""
    inputs = {name: tensor for name, tensor in batch.items() if name != "labels"}
    logits = model(**inputs, use_cache=False).logits
    return functional.cross_entropy(logits.flatten(0, 1), batch["labels"].flatten())


if __name__ == "__main__":
    for each in sys.argv[2:] or SETTINGS:
        build(Path(sys.argv[1], each), each, SETTINGS[each])
