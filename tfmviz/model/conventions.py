"""The mask conventions of torch's own functions, tested."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from tfmviz import masks


def agreement() -> dict[str, bool]:
    """Agreement of torch's functions with ours on random numbers, each given the mask in its own convention."""
    length, width = 5, 8
    torch_rng = torch.Generator().manual_seed(0)
    x = torch.randn(1, length, width, generator=torch_rng)
    layer = torch.nn.MultiheadAttention(width, 1, batch_first=True).eval()
    with torch.inference_mode():
        q, k, v = F.linear(x, layer.in_proj_weight, layer.in_proj_bias).chunk(3, dim=-1)

        def ours(mask: torch.Tensor) -> torch.Tensor:
            scores = torch.where(mask, q @ k.mT / width**0.5, -torch.inf)
            return scores.softmax(dim=-1) @ v

        causal, real = masks.causal(length), torch.arange(length) < 3
        fused = F.scaled_dot_product_attention(q, k, v, attn_mask=causal)
        blocking = layer(x, x, x, attn_mask=~causal, need_weights=False)[0]
        padded = layer(x, x, x, key_padding_mask=~real[None], need_weights=False)[0]
        pairs = {
            "F.scaled_dot_product_attention(attn_mask=…)": (fused, ours(causal)),
            "nn.MultiheadAttention(attn_mask=…)": (blocking, layer.out_proj(ours(causal))),
            "nn.MultiheadAttention(key_padding_mask=…)": (padded, layer.out_proj(ours(real.expand(length, length)))),
        }
        return {name: bool(torch.allclose(theirs, own, atol=1e-5)) for name, (theirs, own) in pairs.items()}
