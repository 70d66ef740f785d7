"""Classifiers for tests of `facts`: one that looks for words, and tiny random ones of ELECTRA."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from spor_tasks.metrics.facts import ClassifierInput


@dataclass
class WordClassifier:
    """Says that a text tells a unit as far as it has the words of the unit's last part."""

    signature: str = "model:words"
    asked: list[list[ClassifierInput]] = field(default_factory=list)

    def __call__(self, pairs: Sequence[ClassifierInput]) -> list[float]:
        self.asked.append(list(pairs))
        return [_share(text, unit or text) for text, unit in pairs]


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
    import torch  # noqa: PLC0415 - most tests do without
    import transformers  # noqa: PLC0415

    torch.manual_seed(seed)
    model = transformers.ElectraForSequenceClassification(
        transformers.ElectraConfig(
            vocab_size=len(_VOCABULARY),
            embedding_size=16,
            hidden_size=32,
            num_hidden_layers=2,
            num_attention_heads=4,
            intermediate_size=64,
            max_position_embeddings=positions,
            id2label=dict(enumerate(labels)),
            label2id={label: number for number, label in enumerate(labels)},
            **settings,
        )
    )
    # Fresh weights are so small that every text is told alike.
    for parameter in model.parameters():
        parameter.data.mul_(15 if parameter.dim() > 1 else 1)
    model.save_pretrained(folder)
    transformers.BertTokenizerFast(vocab=_VOCABULARY).save_pretrained(folder)
    return folder
