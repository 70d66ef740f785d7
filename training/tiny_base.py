"""A tiny base model, trained from scratch on other worlds of the kind of an embedded corpus.

Like a pretrained model, it knows the words, single sentences and how to copy. It knows neither the
facts of the corpus `mini` nor how to put several facts into a text. A base for another corpus has
other :class:`Lessons`.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import chain, combinations
from pathlib import Path
from typing import Any, NamedTuple

import tokenizers
import torch
from tokenizers import Regex, decoders, pre_tokenizers
from tokenizers.models import WordLevel
from torch.nn import functional
from tqdm import tqdm
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from spor_tasks.core.digests import digest
from spor_tasks.core.folders import atomic_folder, write_manifest
from spor_tasks.core.sample import DataUnit, Sample
from spor_tasks.core.weights import digest_weights
from spor_tasks.corpora.mini import worlds as mini
from spor_tasks.prompts.styles import prompt
from spor_tasks.text.normalize import display
from training.bases import versions
from training.config import OptimizationConfig
from training.data import TrainingPair
from training.encoding import Row, collate, encode, plan_steps
from training.threads import cpu_threads

KIND = "base"
_END, _PAD, _UNKNOWN = "<end>", "<pad>", "<unknown>"
_WORDS = r"</?\w+>|\w+|[^\w\s]"


@dataclass(frozen=True, slots=True)
class BaseSettings:
    """The size of the model and of its training; ``worlds`` is the number of worlds it reads."""

    width: int = 96
    layers: int = 3
    heads: int = 4
    worlds: int = 10
    steps: int = 1200
    warm_up: int = 50
    batch_size: int = 16
    learning_rate: float = 3e-3
    threads: int = 1
    seed: int = 0


class Lessons(NamedTuple):
    """What a base reads: texts with all of its words, and rows that tell nothing of tested samples.

    ``name`` is that of the corpus that it is a base for, and ``pattern`` what matches a token.
    """

    name: str
    words: Callable[[], Iterable[str]]
    rows: Callable[[Sequence[Sample], BaseSettings, PreTrainedTokenizerFast], list[Row]]
    pattern: str = _WORDS


def facts(
    tested: Sequence[Sample], settings: BaseSettings, lessons: Lessons | None = None
) -> dict[str, Any]:
    """Return the facts in the manifest of the base that :func:`build` makes of these arguments."""
    return {
        "kind": KIND,
        **({"lessons": lessons.name} if lessons else {}),
        "settings": asdict(settings),
        "tested_sha256": digest(tested),
        "versions": versions(),
    }


def build(
    folder: Path,
    tested: Sequence[Sample],
    settings: BaseSettings,
    lessons: Lessons | None = None,
    *,
    progress: bool = True,
) -> None:
    """Train the base and save it to the folder; the default lessons are those of `mini`.

    Nothing that it reads there holds two units of one of the ``tested`` samples.

    Raises:
        ConfigError: the folder exists and is not such a base; it is not changed.
    """
    with atomic_folder(folder, kind=KIND, overwrite=True) as place:
        taught = lessons or MINI
        tokenizer = word_tokenizer(taught.words(), taught.pattern)
        rows = taught.rows(tested, settings, tokenizer)
        model = pretrain(rows, tokenizer, settings, progress=progress)
        model.save_pretrained(place)
        tokenizer.save_pretrained(place)
        write_manifest(place, facts(tested, settings, lessons) | {"sha256": digest_weights(place)})


def word_tokenizer(texts: Iterable[str], pattern: str = _WORDS) -> PreTrainedTokenizerFast:
    """Return a tokenizer whose tokens are the words, tags and punctuation marks of the texts."""
    split = pre_tokenizers.Split(Regex(pattern), "removed", invert=True)
    words = sorted({word for text in texts for word, _ in split.pre_tokenize_str(text)})
    vocabulary = {word: number for number, word in enumerate([_END, _PAD, _UNKNOWN, *words])}
    tokenizer = tokenizers.Tokenizer(WordLevel(vocabulary, unk_token=_UNKNOWN))
    tokenizer.pre_tokenizer = split
    # It puts spaces between words, but not before punctuation marks; no token has the prefix.
    tokenizer.decoder = decoders.WordPiece(prefix="##", cleanup=True)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token=_END, pad_token=_PAD, unk_token=_UNKNOWN
    )


def other_worlds(number: int, tested: Iterable[Sample]) -> Iterator[Sample]:
    """Yield the samples of so many worlds, which have the same things but other facts.

    Some facts are those of the corpus by chance, but no two of one tested sample stand together.
    """

    def pairs(sample: Sample) -> Iterator[frozenset[DataUnit]]:
        return map(frozenset, combinations(sample.units, 2))

    apart = set(chain.from_iterable(map(pairs, tested)))
    for seed in range(1, number + 1):
        yield from (sample for sample in mini.samples(seed) if apart.isdisjoint(pairs(sample)))


def reading(samples: Iterable[Sample], tokenizer: PreTrainedTokenizerFast) -> list[Row]:
    """Return the rows that the base learns from.

    It learns to put a single unit into words, with a prompt and without, and to repeat several
    units as they are. It never sees a text about several units.
    """
    prompted: list[TrainingPair] = []
    sentences: list[str] = []
    for sample in samples:
        if len(sample.units) == 1:
            prompted.extend(
                TrainingPair(prompt(sample, "causal"), text) for text in sample.references
            )
            sentences.extend(sample.references)
        else:
            prompted.append(TrainingPair(prompt(sample, "causal"), repeated(sample)))
    ids = tokenizer(sentences)["input_ids"]
    return [
        *encode(prompted, tokenizer, "causal", None).rows,
        *(Row(words, [*words[1:], tokenizer.eos_token_id]) for words in ids),
    ]


def repeated(sample: Sample) -> str:
    """Return the sample's units as they are, with a full stop behind each."""
    return " ".join(f"{' '.join(map(display, unit))}." for unit in sample.units)


MINI = Lessons(
    "mini",
    lambda: chain.from_iterable([prompt(one, "causal"), *one.references] for one in mini.samples()),
    lambda tested, settings, tokenizer: reading(other_worlds(settings.worlds, tested), tokenizer),
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
        optimizer,
        lambda step: min((step + 1) / settings.warm_up, 1) * (1 - step / settings.steps),
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
