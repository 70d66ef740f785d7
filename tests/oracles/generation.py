"""Drawing and stopping as one would first write them down: noise for every token, every text read.

It is the oracle of the differential tests and the yardstick of the benchmark.
"""

import torch
from transformers import TemperatureLogitsWarper, TopKLogitsWarper

from spor_tasks.models.generation import _mixed, _shifted


def drawn(seeds, step, scores, temperature=1.0, top_k=0):
    """Return the token that each row draws."""
    if temperature != 1:
        scores = TemperatureLogitsWarper(temperature)(None, scores)
    if top_k > 0:
        scores = TopKLogitsWarper(top_k)(None, scores)
    tokens = torch.arange(scores.shape[1])
    bits = _mixed(_mixed(_mixed(torch.tensor(seeds)[:, None]) + step) + tokens)
    uniform = (_shifted(bits, 11).double() + 0.5) / (1 << 53)
    return (scores.double() - torch.log(-torch.log(uniform))).argmax(1)


def ended(tokenizer, ids, is_ended):
    """Return which rows have a text that has ended."""
    return torch.tensor([*map(is_ended, tokenizer.batch_decode(ids))])
