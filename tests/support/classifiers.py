"""Classifiers for tests of `facts` and NLI-Acc: some that look for words, and tiny random ones."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from spor_tasks.metrics.learned import Claim, ClassifierInput, Pair


@dataclass
class WordClassifier:
    """Says that a text tells a unit as far as it has the words of the unit's last part."""

    signature: str = "model:words"
    asked: list[list[ClassifierInput]] = field(default_factory=list)

    def __call__(self, pairs: Sequence[ClassifierInput]) -> list[float]:
        self.asked.append(list(pairs))
        return [_share(*pair) for pair in pairs]


def _share(text: str, unit: str) -> float:
    words = re.findall(r"\w+", unit.rpartition(", ")[2].lower())
    found = re.findall(r"\w+", text.lower())
    return sum(word in found for word in words) / len(words) if words else 0.0


_SIGNS = "abcdefghijklmnopqrstuvwxyz0123456789"
_SPECIALS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_VOCABULARY = {
    token: number
    for number, token in enumerate(
        [*_SPECIALS, *_SIGNS, *(f"##{sign}" for sign in _SIGNS), *",.:|<>/-"]
    )
}


def save_classifier(
    folder: Path,
    labels: Sequence[str] = ("LABEL_0", "LABEL_1"),
    *,
    seed: int = 0,
    positions: int = 514,
    **settings: Any,  # noqa: ANN401 - of the config
) -> Path:
    """Save a tiny random ELECTRA with a tokenizer of single characters."""
    import transformers  # noqa: PLC0415 - most tests do without

    config = transformers.ElectraConfig(
        **_small(labels), embedding_size=16, max_position_embeddings=positions, **settings
    )
    _save(transformers.ElectraForSequenceClassification, config, folder, seed)
    transformers.BertTokenizerFast(vocab=_VOCABULARY).save_pretrained(folder)
    return folder


# --- Of tables --------------------------------------------------------------------------------


class TargetJudge:
    """Says that a table entails the text that a sample asks for, and no other."""

    signature = "model:target"

    def __call__(self, claims: Sequence[Claim]) -> list[float]:
        return [float(text == sample.target) for sample, text in claims]


class EqualRater:
    """Rates a text best if it is the reference, and worst otherwise."""

    signature = "model:equal"

    def __call__(self, pairs: Sequence[Pair]) -> list[float]:
        return [2.0 if text == reference else -3.0 for reference, text in pairs]


def save_tapas(folder: Path, labels: Sequence[str] = ("LABEL_0", "LABEL_1"), seed: int = 0) -> Path:
    """Save a tiny random TAPAS with a tokenizer of single characters."""
    import transformers  # noqa: PLC0415 - most tests do without

    sizes = _small(labels) | {"vocab_size": len(_VOCABULARY) + 1}  # [EMPTY] is added
    config = transformers.TapasConfig(**sizes, max_position_embeddings=512)
    _save(transformers.TapasForSequenceClassification, config, folder, seed)
    folder.joinpath("vocab.txt").write_text("\n".join(_VOCABULARY) + "\n")
    transformers.TapasTokenizer(str(folder / "vocab.txt")).save_pretrained(folder)
    return folder


def save_bert(folder: Path, labels: Sequence[str] = ("LABEL_0", "LABEL_1"), seed: int = 0) -> Path:
    """Save a tiny random BERT with the same tokenizer."""
    import transformers  # noqa: PLC0415

    config = transformers.BertConfig(**_small(labels), max_position_embeddings=512)
    _save(transformers.BertForSequenceClassification, config, folder, seed)
    transformers.BertTokenizerFast(vocab=_VOCABULARY).save_pretrained(folder)
    return folder


def save_tapex(
    folder: Path, labels: Sequence[str] = ("Refused", "Entailed"), seed: int = 0
) -> Path:
    """Save a tiny random BART with a tokenizer of bytes, as a release of TAPEX names it."""
    import transformers  # noqa: PLC0415
    from tokenizers.pre_tokenizers import ByteLevel  # noqa: PLC0415

    signs = ["<s>", "<pad>", "</s>", "<unk>", *sorted(ByteLevel.alphabet()), "<mask>"]
    config = transformers.BartConfig(
        vocab_size=len(signs),
        d_model=32,
        encoder_layers=2,
        decoder_layers=2,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=64,
        decoder_ffn_dim=64,
        **_named(labels),
    )
    _save(transformers.BartForSequenceClassification, config, folder, seed)
    folder.joinpath("vocab.json").write_text(json.dumps({sign: i for i, sign in enumerate(signs)}))
    folder.joinpath("merges.txt").write_text("#version: 0.2\n")
    settings = {
        "tokenizer_class": "TapexTokenizer",
        "model_max_length": 1024,
        "max_cell_length": 15,
    }
    folder.joinpath("tokenizer_config.json").write_text(json.dumps(settings))
    return folder


def _small(labels: Sequence[str]) -> dict[str, Any]:
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}
    return {**sizes, "intermediate_size": 64, "vocab_size": len(_VOCABULARY), **_named(labels)}


def _named(labels: Sequence[str]) -> dict[str, Any]:
    return {
        "id2label": dict(enumerate(labels)),
        "label2id": {label: number for number, label in enumerate(labels)},
    }


def _save(kind: Any, config: Any, folder: Path, seed: int) -> None:  # noqa: ANN401 - of transformers
    import torch  # noqa: PLC0415

    torch.manual_seed(seed)
    model = kind(config)
    # Fresh weights are so small that every text is judged alike.
    for parameter in model.parameters():
        parameter.data.mul_(15 if parameter.dim() > 1 else 1)
    model.save_pretrained(folder)
