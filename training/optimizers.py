"""The optimizer of a run, its rate at each step, and which weights decay.

``torch`` is Adam of PyTorch, or its AdamW where weights decay, with ε = 1e-8. ``transformers`` is
AdamW as transformers had it up to version 4, which older published code uses. It differs in three
things. ε is 1e-6. It is added to √v before v is corrected for its start at 0: in the units of
PyTorch it is ε / √(1 − β₂ᵗ), 32 times as much at the first step. A weight decays after its update,
not before.
"""

import math
from collections.abc import Mapping

import torch

from training.config import OptimizationConfig

_BETAS = (0.9, 0.999)
_EPSILON = 1e-6


def optimizer(
    weights: Mapping[str, torch.nn.Parameter],
    settings: OptimizationConfig,
    *,
    foreach: bool | None = None,
) -> torch.optim.Optimizer:
    """Return the optimizer of the weights, by their names.

    ``foreach`` lets torch's update all weights by the same few operators, which need memory for one
    more copy of them; None leaves the choice to torch. The updates are equal.
    """
    rate, decay = settings.learning_rate, settings.weight_decay
    if settings.optimizer == "torch" and not decay:
        return torch.optim.Adam(weights.values(), lr=rate, foreach=foreach)
    decaying, exempt = list[torch.nn.Parameter](), list[torch.nn.Parameter]()
    for name, weight in weights.items():
        is_norm = weight.ndim < 2
        is_exempt = "bias" in name or (is_norm and not settings.decay_norms)
        (exempt if is_exempt else decaying).append(weight)
    parts = ((decaying, decay), (exempt, 0.0))
    groups = [{"params": some, "weight_decay": own} for some, own in parts if some]
    if settings.optimizer == "torch":
        return torch.optim.AdamW(groups, lr=rate, foreach=foreach)
    return TransformersAdamW(groups, {"lr": rate, "weight_decay": 0.0})


def rate_at(number: int, steps: int, settings: OptimizationConfig) -> float:
    """Return the rate of a step, counted from 1, of so many."""
    done, rising = number - 1, math.floor(steps * settings.warmup)
    if done < rising:
        return settings.learning_rate * done / rising
    if settings.schedule == "constant":
        return settings.learning_rate
    return settings.learning_rate * (steps - done) / (steps - rising)


class TransformersAdamW(torch.optim.Optimizer):  # type: ignore[misc]
    """AdamW of transformers 4, with its defaults."""

    def step(self, closure: None = None) -> None:  # noqa: ARG002 - torch's contract
        """Update every weight that has a gradient."""
        weights = ((group, weight) for group in self.param_groups for weight in group["params"])
        with torch.no_grad():
            for group, weight in weights:
                if weight.grad is None:
                    continue
                state, rate = self.state[weight], group["lr"]
                if not state:
                    state |= {"step": 0, "exp_avg": torch.zeros_like(weight)}
                    state["exp_avg_sq"] = torch.zeros_like(weight)
                state["step"] += 1
                mean, square = state["exp_avg"], state["exp_avg_sq"]
                mean.lerp_(weight.grad, 1 - _BETAS[0])
                square.mul_(_BETAS[1]).addcmul_(weight.grad, weight.grad, value=1 - _BETAS[1])
                first, second = (1 - beta ** state["step"] for beta in _BETAS)
                scale = rate * math.sqrt(second) / first
                weight.addcdiv_(mean, square.sqrt().add_(_EPSILON), value=-scale)
                weight.mul_(1 - rate * group["weight_decay"])
