"""The tiny random GPT-2 of the golden numbers, re-created from its recipe."""

import numpy as np
import torch
from transformers import GPT2Config, GPT2LMHeadModel


def make(seed, tokens):
    """Return the model for so many tokens; its weights are drawn in the order of their names.

    The recipe leaves out names that end in ``attn.bias``, ``c_attn.bias`` among them.
    """
    still = dict.fromkeys(("resid_pdrop", "embd_pdrop", "attn_pdrop"), 0.0)
    model = GPT2LMHeadModel(GPT2Config(vocab_size=tokens, n_embd=32, n_layer=2, n_head=2, **still))
    rng = np.random.RandomState(seed)
    with torch.no_grad():
        for name, weight in sorted(model.state_dict().items()):
            if name == "lm_head.weight" or name.endswith("attn.bias"):
                continue
            drawn = rng.standard_normal(tuple(weight.shape))
            if name.endswith(("ln_1.weight", "ln_2.weight", "ln_f.weight")):
                drawn = 1 + 0.1 * drawn
            else:
                drawn *= 0.05 if name.endswith(".bias") else 0.15
            weight.copy_(torch.tensor(drawn, dtype=torch.float32))
    return model.eval()
