"""Draws follow the probabilities, and depend on the seed and the request alone."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from spor_tasks.evaluation.generation import Seeded, SeededSampling
from spor_tasks.evaluation.hf import SporHF
from spor_tasks.harness import host

PROBABILITIES = torch.tensor([0.4, 0.25, 0.2, 0.1, 0.05])
SETTINGS = {"do_sample": True, "top_k": 20, "sampling_seed": 1, "max_gen_toks": 12}


def draw(seeds: list[int], step: int = 0, **how: Any) -> list[int]:  # noqa: ANN401
    sampling = SeededSampling(seeds, 3, **how)
    scores = PROBABILITIES.log().expand(len(seeds), -1)
    found: list[int] = sampling(torch.zeros(len(seeds), 3 + step), scores).argmax(dim=1).tolist()
    return found


def frequencies(drawn: list[int]) -> list[int]:
    counts = Counter(drawn)
    return [counts[token] for token in range(len(PROBABILITIES))]


@pytest.mark.parametrize("by", ["seed", "step"])
def test_draws_follow_the_probabilities(by: str) -> None:
    drawn = (
        draw([Seeded.from_key("", 9, number).seed for number in range(20_000)])
        if by == "seed"
        else [token for step in range(500) for token in draw([*range(40)], step)]
    )
    assert chisquare(frequencies(drawn), PROBABILITIES * len(drawn)).pvalue > 0.001


def test_temperature_and_the_likeliest_tokens_are_as_in_transformers() -> None:
    seeds = [*range(5_000)]
    for how, expected in (
        ({"top_k": 2}, [0.4 / 0.65, 0.25 / 0.65]),
        ({"top_p": 0.6}, [0.4 / 0.65, 0.25 / 0.65]),
        ({"temperature": 0.5, "top_k": 2}, [0.16 / 0.2225, 0.0625 / 0.2225]),
    ):
        found = frequencies(draw(seeds, **how))
        assert found[2:] == [0, 0, 0]
        shares = torch.tensor(expected, dtype=torch.float64) * len(seeds)
        assert chisquare(found[:2], shares).pvalue > 0.001


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=6), st.integers(0, 50))
def test_a_row_does_not_depend_on_the_others(seeds: list[int], step: int) -> None:
    assert draw(seeds, step) == [token for seed in seeds for token in draw([seed], step)]


def texts(model: SporHF, count: int = 6, **settings: Any) -> list[str]:  # noqa: ANN401
    requests = [
        host.request({"id": f"sample {number}"}, "the same prompt", SETTINGS | settings, 0)
        for number in range(count)
    ]
    return model.generate_until(requests, disable_tqdm=True)


@pytest.mark.parametrize("kind", ["llama", "t5"])
def test_texts_are_the_same_at_any_batch_size(checkpoint: Callable[..., Path], kind: str) -> None:
    def load(size: int) -> SporHF:
        return SporHF(pretrained=str(checkpoint(kind)), device="cpu", batch_size=size)

    one, several = load(1), load(4)
    found = texts(one)
    assert found == texts(several) == texts(one)
    assert len({*found}) > 1
    assert texts(one, sampling_seed=2) != found


def test_a_text_has_so_many_tokens_with_its_beginning(checkpoint: Callable[..., Path]) -> None:
    model = SporHF(pretrained=str(checkpoint("llama")), device="cpu", batch_size=4)
    settings = SETTINGS | {"text_tokens": 9}
    requests = [
        host.request({"context": json.dumps({"prefix": "a" * n})}, "p" + "a" * n, settings, n)
        for n in (0, 2, 6, 20)
    ]
    limited = model.generate_until(requests, disable_tqdm=True)
    for each in requests:
        each.arguments = each.args[0], SETTINGS
    whole = model.generate_until(requests, disable_tqdm=True)
    for text, full, limit in zip(limited, whole, (9, 7, 3, 1), strict=True):
        assert 0 < len(text) <= min(limit, len(full))
        assert full.startswith(text.rstrip("\ufffd"))
    assert len(limited[-1]) < len(whole[-1])
