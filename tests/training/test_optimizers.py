"""The optimizer of a run, against plain arithmetic, and its rate at each step."""

import pytest
import torch

from training.config import OptimizationConfig
from training.optimizers import optimizer, rate_at

GRADIENTS = (0.5, -2.0, 1e-7)


def weight_after(settings, name, shape):
    """Return a weight after each step along the gradients; it begins as 1."""
    weight = torch.nn.Parameter(torch.ones(shape, dtype=torch.float64))
    steps, found = optimizer({name: weight}, settings), []
    for gradient in GRADIENTS:
        weight.grad = torch.full_like(weight, gradient)
        steps.step()
        found.append(weight.flatten()[0].item())
    return found


def by_hand(rate, decay, *, old):
    """Return what Adam makes of 1, with the decay after the update and before it."""
    weight, mean, square, found = 1.0, 0.0, 0.0, []
    for number, gradient in enumerate(GRADIENTS, start=1):
        mean = 0.9 * mean + 0.1 * gradient
        square = 0.999 * square + 0.001 * gradient**2
        first, second = 1 - 0.9**number, 1 - 0.999**number
        if old:
            weight -= rate * second**0.5 / first * mean / (square**0.5 + 1e-6)
            weight -= rate * decay * weight
        else:
            weight -= rate * decay * weight
            weight -= rate * (mean / first) / ((square / second) ** 0.5 + 1e-8)
        found.append(weight)
    return found


@pytest.mark.parametrize("of", ["torch", "transformers"])
@pytest.mark.parametrize(
    ("name", "shape", "decay", "norms", "decays"),
    [
        ("h.weight", (2, 2), 0.0, False, False),
        ("h.weight", (2, 2), 0.3, False, True),
        ("h.bias", (2,), 0.3, True, False),
        ("ln_1.weight", (2,), 0.3, False, False),
        ("ln_1.weight", (2,), 0.3, True, True),
    ],
)
def test_weights_are_updated_as_by_hand_and_only_some_decay(
    of, name, shape, decay, *, norms, decays
):
    settings = OptimizationConfig(
        learning_rate=0.1, optimizer=of, weight_decay=decay, decay_norms=norms
    )
    old, kept = of == "transformers", 0.3 if decays else 0.0
    expected, other = by_hand(0.1, kept, old=old), by_hand(0.1, kept, old=not old)
    assert weight_after(settings, name, shape) == pytest.approx(expected, rel=1e-9)
    assert other != pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("schedule", "warmup", "expected"),
    [
        ("constant", 0.0, [1, 1, 1, 1, 1]),
        ("constant", 0.4, [0, 1 / 2, 1, 1, 1]),
        ("linear", 0.0, [1, 4 / 5, 3 / 5, 2 / 5, 1 / 5]),
        ("linear", 0.4, [0, 1 / 2, 1, 2 / 3, 1 / 3]),
        ("linear", 0.1, [1, 4 / 5, 3 / 5, 2 / 5, 1 / 5]),
    ],
)
def test_the_rate_rises_and_falls_as_the_published_schedule(schedule, warmup, expected):
    settings = OptimizationConfig(learning_rate=1.0, schedule=schedule, warmup=warmup)
    found = [rate_at(number, 5, settings) for number in range(1, 6)]
    assert found == pytest.approx(expected)
