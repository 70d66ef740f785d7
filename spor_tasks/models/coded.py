"""Language models that are conditioned by vectors on the values of aspects.

The language model stays as it is. The trained part makes vectors of the values in a
prompt (:class:`Vectors`), which replace the values' words:

- `dcg` (Zeng et al., ACL 2023): six vectors that a linear map makes of the embeddings of the
  values' words, and 44 that are always the same. They follow the start token, as if they were
  embeddings of tokens.
- `contrastive_prefix` (Qian et al., Findings of ACL 2022): for each value ten keys and ten values
  of every layer's attention. They come before the start token and take no positions, as published.

The sizes are those of CompMCTG (Zhong et al., ACL 2024). A word of several tokens has the mean of
their embeddings.

peft is not used: its prompts and prefixes are one set of vectors for each adapter, and here each
row of a batch has those of its own values. The prefix goes through transformers' cache, as peft's.

A row of ids has places for all that stands before its text: ids above the base's own tokens, which
say the combination. So the tokens of a text, their logits and their positions stay where they are.
"""

import inspect
import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

import torch
from safetensors.torch import load_file, save_file
from torch import nn
from torch.nn import functional
from transformers import DynamicCache, PreTrainedModel, PreTrainedTokenizerBase

from spor_tasks.core.errors import ConfigError
from spor_tasks.core.files import read_json
from spor_tasks.corpora.compmctg.linearize import START, codes
from spor_tasks.models.checkpoints import ADAPTER_CONFIG, CODED

Aspects: TypeAlias = Mapping[str, Sequence[str]]
"""The values of each aspect."""

Layers: TypeAlias = Sequence[tuple[torch.Tensor, torch.Tensor]]
"""The keys and values of each layer's attention, batch x heads x length x width."""

_WEIGHTS = "adapter_model.safetensors"

_QUOTED = 80  # letters of a prompt without known codes


class Vectors(nn.Module):  # type: ignore[misc]  # torch has no types here
    """What is trained: it makes vectors of values, which are numbered through all aspects.

    ``sizes`` are the arguments that make the like of what is saved.
    """

    kind: ClassVar[str]
    length: int = 0
    """How many vectors follow the start token."""
    sizes: Mapping[str, int]

    def around(self, start: torch.Tensor, values: torch.Tensor) -> tuple[torch.Tensor, Layers]:
        """Return the embeddings and the cache before the texts of rows of values.

        ``values`` are batch x aspects. The embeddings begin with ``start``, those of the start
        token, batch x 1 x width; the cache precedes it.
        """
        raise NotImplementedError

    def saved(self) -> dict[str, torch.Tensor]:
        """Return the tensors that a checkpoint has."""
        return {name: tensor.detach() for name, tensor in self.state_dict().items()}


class Dcg(Vectors):
    """``code_vectors`` made of the embeddings ``words``, and ``task_vectors`` for all rows."""

    kind = "dcg"

    def __init__(
        self,
        base: PreTrainedModel,
        words: torch.Tensor,
        aspects: int,
        *,
        code_vectors: int = 6,
        task_vectors: int = 44,
    ) -> None:
        super().__init__()
        self.sizes = {"code_vectors": code_vectors, "task_vectors": task_vectors}
        self.length = code_vectors + task_vectors
        width = words.shape[1]
        self.register_buffer("words", words.float(), persistent=False)
        self.code_map = nn.Linear(aspects * width, code_vectors * width)
        self.task_vectors = nn.Parameter(torch.empty(task_vectors, width))
        _draw(base, self.code_map.weight, self.task_vectors)
        nn.init.zeros_(self.code_map.bias)

    def around(self, start: torch.Tensor, values: torch.Tensor) -> tuple[torch.Tensor, Layers]:
        """Return the start token, the vectors of the values, and those of all rows."""
        mapped = self.code_map(self.words[values].flatten(1))
        own = mapped.unflatten(1, (-1, self.words.shape[1]))
        shared = self.task_vectors.expand(len(values), -1, -1)
        return torch.cat([start, own.to(start.dtype), shared.to(start.dtype)], 1), ()


class Prefixes(Vectors):
    """For each value, ``length`` keys and values of every layer.

    They are trained as a linear map, of each value and layer, of ``width`` numbers; keys and values
    share the map. It is applied once before they are saved: what is loaded has neither.
    """

    kind = "contrastive_prefix"

    def __init__(
        self,
        base: PreTrainedModel,
        words: torch.Tensor,
        aspects: int,  # noqa: ARG002 - for other kinds
        *,
        length: int = 10,
        width: int | None = None,
    ) -> None:
        super().__init__()
        self.sizes = {"length": length}
        config = base.config.get_text_config()
        heads = getattr(config, "num_key_value_heads", None) or config.num_attention_heads
        own_width = config.hidden_size // config.num_attention_heads
        self._head = getattr(config, "head_dim", None) or own_width
        shape = (len(words), config.num_hidden_layers, 2, length)
        self.prefixes = None
        if width is None:
            self.prefixes = nn.Parameter(torch.empty(*shape, heads * self._head))
            return
        self.inner = nn.Parameter(torch.empty(*shape, width))
        self.map = nn.Parameter(torch.empty(*shape[:2], width, heads * self._head))
        self.map_bias = nn.Parameter(torch.zeros(*shape[:2], heads * self._head))
        _draw(base, self.inner, self.map)

    def _vectors_of(self, values: torch.Tensor) -> torch.Tensor:
        """Return the vectors of some values: values x layers x 2 x length x width."""
        if self.prefixes is not None:
            return self.prefixes[values]
        mapped = torch.einsum("vlpni,vliw->vlpnw", self.inner[values], self.map[values])
        return mapped + self.map_bias[values][:, :, None, None]

    def around(self, start: torch.Tensor, values: torch.Tensor) -> tuple[torch.Tensor, Layers]:
        """Return the start token, and before it keys and values, one aspect after the other."""
        used, places = torch.unique(values, return_inverse=True)
        rows = self._vectors_of(used)[places]  # batch x aspects x layers x 2 x length x width
        joined = rows.permute(2, 3, 0, 1, 4, 5).flatten(3, 4)
        layers = joined.unflatten(-1, (-1, self._head)).transpose(3, 4).to(start.dtype)
        return start, [(keys, contents) for keys, contents in layers]

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def saved(self) -> dict[str, torch.Tensor]:
        """Return the prefixes themselves, which are all that an evaluation needs."""
        return {"prefixes": self._vectors_of(torch.arange(len(self.map), device=self.map.device))}


KINDS: Mapping[str, Callable[..., Vectors]] = {Dcg.kind: Dcg, Prefixes.kind: Prefixes}
"""What reads a checkpoint of each kind."""


class CodedModel(nn.Module):  # type: ignore[misc]  # torch has no types here
    """A frozen language model with vectors in place of the codes that its prompts begin with.

    Its other attributes, such as its config, are the language model's. ``numbers`` has each
    combination's number, and ``width`` is how many places a row has before its text. The last of
    them predicts the first token of the text.
    """

    def __init__(
        self,
        base: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        aspects: Aspects,
        vectors: Callable[..., Vectors],
    ) -> None:
        """Make the model; ``vectors`` is called with base, embeddings of values, and aspects."""
        super().__init__()
        self.base = base.requires_grad_(requires_grad=False)
        self.aspects = {aspect: tuple(values) for aspect, values in aspects.items()}
        self._tokenizer = tokenizer
        self._start: list[int] = tokenizer(START)["input_ids"]
        combinations = itertools.product(*self.aspects.values())
        self.numbers = {combination: number for number, combination in enumerate(combinations)}
        embed = base.get_input_embeddings()
        self._first = embed.num_embeddings
        named = [f" {value}" for values in self.aspects.values() for value in values]
        with torch.no_grad():
            ids = map(torch.tensor, tokenizer(named, add_special_tokens=False)["input_ids"])
            words = torch.stack([embed(each.to(base.device)).mean(0) for each in ids])
        by_aspect = torch.arange(len(words)).split([*map(len, self.aspects.values())])
        self._values = torch.cartesian_prod(*by_aspect).view(len(self.numbers), -1)
        self.vectors: Vectors = vectors(base, words, len(self.aspects)).to(base.device)
        self.width = len(self._start) + self.vectors.length
        renamed = "cache" in inspect.signature(base.forward).parameters  # by transformers 5.24
        self._cache = "cache" if renamed else "past_key_values"

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(super().__getattr__("base"), name)

    def encode(self, text: str) -> list[int]:
        """Return the ids of a prompt: the places of its codes, and the tokens of what follows.

        Raises:
            ConfigError: the prompt does not begin with the codes of a known combination.
        """
        numbers = {codes(each): number for each, number in self.numbers.items()}
        prefix = max(filter(text.startswith, numbers), key=len, default=None)
        if prefix is None:
            values = "; ".join(f"{name}: {', '.join(each)}" for name, each in self.aspects.items())
            raise ConfigError(
                f"the prompt {text[:_QUOTED]!r} does not begin with values that the model knows",
                remedy=f"It knows {values}. Use tasks of the corpus that it was trained on.",
            )
        following: list[int]
        following = self._tokenizer(text[len(prefix) :], add_special_tokens=False)["input_ids"]
        return [self._first + numbers[prefix]] * self.width + following

    def read_as(self, ids: torch.Tensor, combination: int) -> torch.Tensor:
        """Return rows of ids with the places of another combination, given by its number."""
        return ids.where(ids < self._first, self._first + combination)

    def forward(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor | None = None, **_: object
    ) -> Any:
        """Return the output of the language model for rows that are padded on either side.

        Raises:
            ConfigError: a row lacks some of its places.
        """
        return self.base(**self._inputs(input_ids, attention_mask), use_cache=False)

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def generate(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor, **settings: Any
    ) -> torch.Tensor:
        """Return the rows with what the model writes after them, as transformers' own method.

        Stopping criteria and processors of logits see only what is written.

        Raises:
            ConfigError: as :meth:`forward`.
        """
        inputs = self._inputs(input_ids, attention_mask)
        if cache := inputs[self._cache]:
            cache.batch_repeat_interleave(settings.get("num_beams", 1))
            # transformers skips as many embeddings as the cache is long
            room = (0, 0, cache.get_seq_length(), 0)
            inputs["inputs_embeds"] = functional.pad(inputs["inputs_embeds"], room)
        return torch.cat([input_ids, self.base.generate(**inputs, **settings)], 1)

    def _inputs(self, ids: torch.Tensor, mask: torch.Tensor | None) -> dict[str, Any]:
        """Return the language model's inputs: embeddings, and a cache before them."""
        mask = torch.ones_like(ids) if mask is None else mask
        is_place = ids >= self._first
        if (is_place.sum(1) != self.width).any():
            raise ConfigError(
                "a text is longer than the model takes, and its codes were cut off",
                remedy="Use shorter texts, or a base with more positions.",
            )
        embed = self.base.get_input_embeddings()
        start = embed(torch.tensor(self._start, device=ids.device)).expand(len(ids), -1, -1)
        values = self._values.to(ids.device)[ids.amax(1) - self._first]
        before, layers = self.vectors.around(start, values)
        tokens = embed(ids.masked_fill(is_place, 0))
        cache = DynamicCache(config=self.config)
        for number, (keys, contents) in enumerate(layers):
            cache.update(keys, contents, number)
        return {
            "inputs_embeds": tokens.masked_scatter(is_place[..., None], before),
            "position_ids": (mask.cumsum(1) - 1).clamp(min=0),
            "attention_mask": functional.pad(mask, (cache.get_seq_length(), 0), value=1),
            self._cache: cache if layers else None,
        }

    def save(self, folder: Path, base: str, revision: str | None) -> None:
        """Write what was trained, and what is needed to load it, on the base of that name."""
        tensors = {name: tensor.contiguous() for name, tensor in self.vectors.saved().items()}
        save_file(tensors, folder / _WEIGHTS, {"format": "pt"})
        facts = {
            "peft_type": CODED,
            "kind": self.vectors.kind,
            "sizes": self.vectors.sizes,
            "aspects": self.aspects,
            "base_model_name_or_path": base,
            "revision": revision,
        }
        (folder / ADAPTER_CONFIG).write_text(json.dumps(facts, indent=2) + "\n", "utf-8")


def load(base: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, folder: Path) -> CodedModel:
    """Return the base with the vectors that the folder has.

    Raises:
        ConfigError: the folder is damaged, or does not fit the base.
    """
    facts = read_json(folder / ADAPTER_CONFIG)
    try:
        vectors = partial(KINDS[facts["kind"]], **facts["sizes"])
        model = CodedModel(base, tokenizer, facts["aspects"], vectors)
        model.vectors.load_state_dict(load_file(folder / _WEIGHTS))
    except (OSError, AttributeError, KeyError, TypeError, ValueError, RuntimeError) as error:
        raise ConfigError(
            f"has no vectors for values that fit this base: {type(error).__name__}: {error}",
            where=folder,
            remedy="Name the base that it was trained on, or train it again.",
        ) from error
    model.eval()
    return model


def _draw(base: PreTrainedModel, *weights: nn.Parameter) -> None:
    """Draw weights as the base's own were drawn before training, from torch's random state."""
    for weight in weights:
        nn.init.normal_(weight, std=getattr(base.config, "initializer_range", 0.02))
