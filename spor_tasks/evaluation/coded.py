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

The values are read from the ids of a row, which begins with :func:`codes` in the tokenizer's
tokens, however many these are. So a model reads the rows of every training and of every task as
they are. A document would not do: a likelihood is asked after codes that are not the document's.
"""

import itertools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
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
from spor_tasks.harness.checkpoints import ADAPTER_CONFIG, CODED

Combination: TypeAlias = tuple[str, ...]
"""One value of each aspect."""

Aspects: TypeAlias = Mapping[str, Sequence[str]]
"""The values of each aspect."""

_WEIGHTS = "adapter_model.safetensors"

_QUOTED = 5  # tokens behind codes that are not known

# The settings of generation that have no effect here with these values, which our tasks state.
_NEUTRAL: Mapping[str, object] = {
    "do_sample": False,
    "num_beams": 1,
    "no_repeat_ngram_size": 0,
    "repetition_penalty": 1.0,
    "length_penalty": 1.0,
    "early_stopping": False,
    "min_length": 0,
    "use_cache": True,
}


@dataclass(frozen=True, slots=True)
class Around:
    """The vectors before a row's text: embeddings after its start token, a cache before it."""

    embeddings: torch.Tensor | None = None
    layers: tuple[tuple[torch.Tensor, torch.Tensor], ...] = ()


class Vectors(nn.Module):  # type: ignore[misc]  # torch has no types here
    """What is trained: it makes vectors of values, which are numbered through all aspects."""

    kind: ClassVar[str]
    length: int = 0
    """How many vectors follow the start token."""

    def around(self, values: torch.Tensor) -> Around:
        """Return what precedes the texts of rows of values, batch x aspects."""
        raise NotImplementedError

    def saved(self) -> dict[str, torch.Tensor]:
        """Return the tensors that a checkpoint has."""
        return {name: tensor.detach() for name, tensor in self.state_dict().items()}

    @property
    def sizes(self) -> dict[str, int]:
        """The arguments that make the like of what is saved."""
        raise NotImplementedError


class Dcg(Vectors):
    """``code_vectors`` made of the embeddings ``words``, and ``task_vectors`` for all rows."""

    kind = "dcg"

    def __init__(
        self, base: PreTrainedModel, words: torch.Tensor, aspects: int, **sizes: int
    ) -> None:
        super().__init__()
        self._sizes = {"code_vectors": 6, "task_vectors": 44} | sizes
        per_code, always = self._sizes.values()
        width = words.shape[1]
        self.length = per_code + always
        self.register_buffer("words", words.float(), persistent=False)
        self.code_map = nn.Linear(aspects * width, per_code * width)
        self.task_vectors = nn.Parameter(torch.empty(always, width))
        _draw(base, self.code_map.weight, self.task_vectors)
        nn.init.zeros_(self.code_map.bias)

    def around(self, values: torch.Tensor) -> Around:
        """Return the embeddings after the start token."""
        mapped = self.code_map(self.words[values].flatten(1))
        own = mapped.unflatten(1, (-1, self.words.shape[1]))
        return Around(torch.cat([own, self.task_vectors.expand(len(values), -1, -1)], 1))

    @property
    def sizes(self) -> dict[str, int]:
        """The numbers of vectors."""
        return self._sizes


class Prefixes(Vectors):
    """For each value, ``length`` keys and values of every layer, as they are."""

    kind = "contrastive_prefix"

    def __init__(
        self, base: PreTrainedModel, words: torch.Tensor, aspects: int, *, length: int = 10
    ) -> None:
        super().__init__()
        self._aspects, self._length = aspects, length
        config = base.config.get_text_config()
        heads = getattr(config, "num_key_value_heads", None) or config.num_attention_heads
        own_width = config.hidden_size // config.num_attention_heads
        self._head = getattr(config, "head_dim", None) or own_width
        self._shape = (len(words), config.num_hidden_layers, 2, length)
        self._width = heads * self._head
        self._add(base)

    def _add(self, base: PreTrainedModel) -> None:  # noqa: ARG002 - for what is trained
        self.prefixes = nn.Parameter(torch.empty(*self._shape, self._width))

    def _vectors_of(self, values: torch.Tensor) -> torch.Tensor:
        """Return the vectors of some values: values x layers x 2 x length x width."""
        return self.prefixes[values]

    def around(self, values: torch.Tensor) -> Around:
        """Return the keys and values before the start token, one aspect after the other."""
        used, places = torch.unique(values, return_inverse=True)
        rows = self._vectors_of(used)[places]  # batch x aspects x layers x 2 x length x width
        joined = rows.permute(2, 3, 0, 1, 4, 5).flatten(3, 4)
        layers = joined.unflatten(-1, (-1, self._head)).transpose(3, 4)
        return Around(layers=tuple((keys, contents) for keys, contents in layers))

    @property
    def sizes(self) -> dict[str, int]:
        """The length of a prefix."""
        return {"length": self._length}


class TrainedPrefixes(Prefixes):
    """Prefixes as they are trained: a linear map, of each value and layer, of ``width`` numbers.

    Keys and values share the map. It is applied once before they are saved.
    """

    def __init__(
        self,
        base: PreTrainedModel,
        words: torch.Tensor,
        aspects: int,
        *,
        length: int = 10,
        width: int = 512,
    ) -> None:
        self._inner = width
        super().__init__(base, words, aspects, length=length)

    def _add(self, base: PreTrainedModel) -> None:
        values, layers, *_ = self._shape
        self.inner = nn.Parameter(torch.empty(*self._shape, self._inner))
        self.map = nn.Parameter(torch.empty(values, layers, self._inner, self._width))
        self.map_bias = nn.Parameter(torch.zeros(values, layers, self._width))
        _draw(base, self.inner, self.map)

    def _vectors_of(self, values: torch.Tensor) -> torch.Tensor:
        mapped = torch.einsum("vlpni,vliw->vlpnw", self.inner[values], self.map[values])
        return mapped + self.map_bias[values][:, :, None, None]

    def saved(self) -> dict[str, torch.Tensor]:
        """Return the prefixes themselves, which are all that an evaluation needs."""
        with torch.no_grad():
            return {
                "prefixes": self._vectors_of(
                    torch.arange(len(self.inner), device=self.inner.device)
                )
            }


KINDS: Mapping[str, Callable[..., Vectors]] = {Dcg.kind: Dcg, Prefixes.kind: Prefixes}
"""What reads a checkpoint of each kind."""


class CodedModel(nn.Module):  # type: ignore[misc]  # torch has no types here
    """A frozen language model with vectors in place of the codes that its rows begin with.

    The logits that it returns stand where they would without: those of the last code predict the
    first token of the text. Those of the codes before it have no meaning.
    """

    def __init__(
        self,
        base: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        aspects: Aspects,
        vectors: Callable[..., Vectors],
    ) -> None:
        """Make the model; ``vectors`` is called with base, embeddings of values, and aspects.

        Raises:
            ConfigError: the tokens of one combination's codes begin those of another's.
        """
        super().__init__()
        self.base = base.requires_grad_(requires_grad=False)
        self.aspects = {aspect: tuple(values) for aspect, values in aspects.items()}
        self._tokenizer = tokenizer
        self._start: list[int] = tokenizer(START)["input_ids"]
        combinations = [*itertools.product(*self.aspects.values())]
        self._number = {combination: place for place, combination in enumerate(combinations)}
        self._texts = sorted(map(codes, combinations), key=len, reverse=True)
        self._known = {
            tuple(tokenizer(codes(combination), add_special_tokens=special)["input_ids"]): number
            for special in (True, False)  # lm-eval leaves out what a text begins with already
            for combination, number in self._number.items()
        }
        self._lengths = sorted({*map(len, self._known)}, reverse=True)
        self._check_codes()
        ends = [0, *itertools.accumulate(map(len, self.aspects.values()))]
        places = itertools.product(*itertools.starmap(range, itertools.pairwise(ends)))
        self._values = torch.tensor([*places])  # of each combination
        words = torch.stack([*map(self._word, itertools.chain(*self.aspects.values()))])
        self.vectors: Vectors = vectors(base, words, len(self.aspects)).to(base.device)

    def _check_codes(self) -> None:
        for ids, number in self._known.items():
            shorter = (self._known.get(ids[:length], number) for length in self._lengths)
            if any(each != number for each in shorter):
                raise ConfigError(
                    "has the same tokens for several combinations, or for one and the beginning "
                    "of another",
                    where=self._tokenizer.name_or_path,
                    remedy="Use a tokenizer that knows the words of the values.",
                )

    def _word(self, value: str) -> torch.Tensor:
        """Return the mean embedding of the tokens of a value's word."""
        ids = self._tokenizer(f" {value}", add_special_tokens=False)["input_ids"]
        embed = self.base.get_input_embeddings()
        return embed(torch.tensor(ids, device=self.base.device)).detach().mean(0)

    @property
    def config(self) -> Any:  # noqa: ANN401 - transformers'
        """The settings of the language model."""
        return self.base.config

    @property
    def generation_config(self) -> Any:  # noqa: ANN401 - transformers'
        """The language model's settings of generation."""
        return self.base.generation_config

    @property
    def device(self) -> torch.device:
        """Where the language model is."""
        return self.base.device

    @property
    def dtype(self) -> torch.dtype:
        """The type of the language model's weights."""
        return self.base.dtype

    @property
    def longer(self) -> int:
        """How many positions more than a row has are taken, at most."""
        longer: int = len(self._start) + self.vectors.length - self._lengths[-1]
        return max(0, longer)

    def tie_weights(self) -> None:
        """Leave the weights as they are, which lm-eval asks to tie: the base's are tied."""

    def get_output_embeddings(self) -> nn.Module:
        """Return the layer that makes logits."""
        return self.base.get_output_embeddings()

    def number(self, combination: Combination) -> int:
        """Return the number of a combination."""
        return self._number[combination]

    def encode(self, text: str) -> list[int]:
        """Return the ids of a prompt, where no token spans its codes and what follows them."""
        prefix = next(filter(text.startswith, self._texts), None)
        ids: list[int] = self._tokenizer(text if prefix is None else prefix)["input_ids"]
        if prefix is not None and prefix != text:
            ids += self._tokenizer(text[len(prefix) :], add_special_tokens=False)["input_ids"]
        return ids

    def encode_batch(self, texts: Sequence[str], pad_id: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the ids of prompts, padded on the left, and their mask."""
        rows = [torch.tensor(self.encode(text)) for text in texts]
        return _padded(rows, pad_id), _padded(map(torch.ones_like, rows))

    def forward(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor | None = None,
        combinations: torch.Tensor | None = None,
        **_: object,
    ) -> Any:  # noqa: ANN401 - transformers'
        """Return the output of the language model for rows that are padded on either side.

        ``combinations`` are the numbers of those that the rows are read with, −1 for a row's own.

        Raises:
            ConfigError: a row does not begin with the codes of a known combination.
        """
        inputs, _, _ = self._inputs(input_ids, attention_mask, combinations)
        shift = input_ids.shape[1] - inputs["inputs_embeds"].shape[1]
        with _states(
            self.get_output_embeddings(),
            lambda states: functional.pad(states, (0, 0, shift, 0)),  # a negative shift cuts
        ):
            return self.base(**inputs, use_cache=False)

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def generate(
        self,
        input_ids: torch.Tensor,
        *,
        attention_mask: torch.Tensor,
        max_new_tokens: int,
        eos_token_id: int | Sequence[int],
        pad_token_id: int,
        stopping_criteria: Sequence[Callable[..., torch.Tensor]] = (),
        logits_processor: Sequence[Callable[..., torch.Tensor]] = (),
        **settings: object,
    ) -> torch.Tensor:
        """Return the rows with what the model writes after them, as transformers' own method.

        The likeliest token is taken, after the processors.

        Raises:
            ConfigError: as :meth:`forward`, or beams or another kind of sampling are asked for.
        """
        for name, value in settings.items():
            if name not in _NEUTRAL or value != _NEUTRAL[name]:
                raise ConfigError(
                    f"a model with vectors for values does not generate with {name}={value}",
                    where="--gen_kwargs",
                    remedy="Leave it out; `sampling_seed` with `top_k`, `top_p` and `temperature` "
                    "samples.",
                )
        inputs, mask, positions = self._inputs(input_ids, attention_mask, None, to_continue=True)
        ends = torch.tensor(eos_token_id, device=input_ids.device).flatten()
        going = torch.ones(len(input_ids), dtype=torch.bool, device=input_ids.device)
        position = positions[:, -1:]
        for _ in range(max_new_tokens):
            with _states(self.get_output_embeddings(), lambda states: states[:, -1:]):
                output = self.base(**inputs, use_cache=True)
            scores = output.logits[:, -1].float()
            for processor in logits_processor:
                scores = processor(input_ids, scores)
            chosen = torch.where(going, scores.argmax(-1), pad_token_id)[:, None]
            input_ids = torch.cat([input_ids, chosen], 1)
            going = going & ~torch.isin(chosen[:, 0], ends)
            for criterion in stopping_criteria:
                going = going & ~criterion(input_ids, None)
            if not going.any():
                break
            mask = torch.cat([mask, torch.ones_like(mask[:, :1])], 1)
            position = position + 1
            inputs = {
                "input_ids": chosen,
                "attention_mask": mask,
                "position_ids": position,
                "past_key_values": output.past_key_values,
            }
        return input_ids

    def _inputs(
        self,
        ids: torch.Tensor,
        mask: torch.Tensor | None,
        combinations: torch.Tensor | None,
        *,
        to_continue: bool = False,
    ) -> tuple[dict[str, Any], torch.Tensor, torch.Tensor]:
        """Return the language model's inputs, aligned on the right, with mask and positions."""
        mask = torch.ones_like(ids) if mask is None else mask
        own, begins = self._read(ids, mask)
        numbers = own
        if combinations is not None:
            numbers = torch.where(combinations < 0, own, combinations)
        around: Around = self.vectors.around(self._values.to(ids.device)[numbers])
        embed = self.base.get_input_embeddings()
        start = embed(torch.tensor(self._start, device=ids.device)).expand(len(ids), -1, -1)
        between = [] if around.embeddings is None else [around.embeddings.to(start.dtype)]
        before = torch.cat([start, *between], 1)
        # each row is the start token, the vectors, and the text without its codes
        embeddings = _padded(
            torch.cat([vectors, text[begin:]])
            for vectors, text, begin in zip(before, embed(ids), begins, strict=True)
        )
        visible = _padded(
            torch.cat([row.new_ones(before.shape[1]), row[begin:]])
            for row, begin in zip(mask, begins, strict=True)
        )
        positions = (visible.cumsum(1) - 1).clamp(min=0)
        inputs = {"inputs_embeds": embeddings, "position_ids": positions}
        if around.layers or to_continue:
            cache = inputs["past_key_values"] = DynamicCache(config=self.config)
            for number, (keys, contents) in enumerate(around.layers):
                cache.update(keys.to(start.dtype), contents.to(start.dtype), number)
            length = around.layers[0][0].shape[2] if around.layers else 0
            visible = torch.cat([visible.new_ones(len(ids), length), visible], 1)
        return inputs | {"attention_mask": visible}, visible, positions

    def _read(self, ids: torch.Tensor, mask: torch.Tensor) -> tuple[torch.Tensor, list[int]]:
        """Return the combination of each row, and where its text begins."""
        pairs = [self._find(*row) for row in zip(ids.tolist(), mask.tolist(), strict=True)]
        numbers, begins = zip(*pairs, strict=True)
        return torch.tensor(numbers, device=ids.device), list(begins)

    def _find(self, row: list[int], mask: list[int]) -> tuple[int, int]:
        begin = mask.index(1) if 1 in mask else 0
        for length in self._lengths:
            number = self._known.get(tuple(row[begin : begin + length]))
            if number is not None:
                return number, begin + length
        beginning = self._tokenizer.decode(row[begin : begin + self._lengths[0] + _QUOTED])
        values = "; ".join(f"{name}: {', '.join(each)}" for name, each in self.aspects.items())
        raise ConfigError(
            f"the prompt {beginning!r} does not begin with values that the model knows",
            remedy=f"It knows {values}. Use tasks of the corpus that it was trained on.",
        )

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


def _padded(rows: Iterable[torch.Tensor], filler: int = 0) -> torch.Tensor:
    """Return the rows as one tensor, padded on the left."""
    return nn.utils.rnn.pad_sequence(
        list(rows), batch_first=True, padding_value=filler, padding_side="left"
    )


def _draw(base: PreTrainedModel, *weights: nn.Parameter) -> None:
    """Draw weights as the base's own were drawn before training, from torch's random state."""
    for weight in weights:
        nn.init.normal_(weight, std=getattr(base.config, "initializer_range", 0.02))


@contextmanager
def _states(head: nn.Module, change: Callable[[torch.Tensor], torch.Tensor]) -> Iterator[None]:
    """Give the language model's head changed states, before any other hook sees them."""
    hook = head.register_forward_pre_hook(lambda _, states: (change(states[0]),), prepend=True)
    try:
        yield
    finally:
        hook.remove()
