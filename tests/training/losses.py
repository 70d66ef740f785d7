"""Objectives and rows, and what a model says of them when it is computed the plain way."""

import torch
from torch.nn import functional

from training.adapters import add_lora
from training.config import PAPER_LORA, OptimizationConfig
from training.encoding import encode
from training.objectives.base import Material
from training.objectives.likelihood import Likelihood, find_objective
from training.state import seeded


def objective_of(name, base, samples, optimization=None, *, processes=1, **settings):
    kind = find_objective(name)
    optimization = optimization or OptimizationConfig(batch_size=4)
    material = Material(samples, base, optimization, processes=processes)
    return kind(kind.settings(**settings), material)


def rows_of(base, samples):
    pairs = [pair for sample in samples for pair in Likelihood.pairs(sample, base.style)]
    return encode(pairs, base.tokenizer, base.style, None).rows


def different_rows(base, pair):
    """Return rows of different lengths, of prompts and of texts."""
    rows = []
    for samples in pair.arms.values():
        pairs = [*Material(samples, base).pairs(Likelihood.pairs)]
        rows += encode(pairs[-3:], base.tokenizer, base.style, None).rows
    return rows


def without_dropout(base):
    """Return the base with an adapter that does something, as fresh ones do not."""
    with seeded(1, torch.device("cpu")):
        model = add_lora(base.model, {**PAPER_LORA, "target_modules": "all-linear"}, base.style)
        for weight in model.parameters():
            if weight.requires_grad:
                weight.data.normal_(std=0.2)
    return model.eval()


def plain_loss(model, row):
    """Return the summed loss of one row as the model computes it: alone, logits everywhere."""
    labels = torch.tensor([row.labels])
    wanted = int((labels != -100).sum())
    if model.config.is_encoder_decoder:
        return model(input_ids=torch.tensor([row.input_ids]), labels=labels).loss * wanted
    logits = model(input_ids=torch.tensor([row.input_ids])).logits
    return functional.cross_entropy(logits[0], labels[0], ignore_index=-100, reduction="sum")


def gradients(model):
    """Return the gradients that the model has, and take them from it."""
    found = {
        name: weight.grad.clone()
        for name, weight in model.named_parameters()
        if weight.grad is not None
    }
    model.zero_grad()
    return found


def assert_equal_gradients(found, expected):
    """Allow for rounding: a part in ten thousand of a weight's whole gradient."""
    assert found.keys() == expected.keys()
    for name, gradient in expected.items():
        assert (found[name] - gradient).norm() <= 1e-4 * gradient.norm(), name
