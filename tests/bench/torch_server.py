# PyTorch as a contender of native.bench.mjs and gradient.bench.mjs, where it is installed: the same lines and answers as
# kernels.cpp. "backward:torch" is autograd alone, with what its forward pass kept.
import sys
import time

import torch
import torch.nn.functional as F


def attend(q, k, v, causal):
    if hasattr(F, "scaled_dot_product_attention"):
        return F.scaled_dot_product_attention(q, k, v, is_causal=causal)
    scores = q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5  # before PyTorch 2.0
    if causal:
        scores = scores + torch.full(scores.shape[-2:], float("-inf")).triu(1)
    return torch.softmax(scores, -1) @ v


inputs = {}
for line in sys.stdin:
    what, heads, tokens, dim, causal, _, threads = line.split()
    heads, tokens, dim, causal = int(heads), int(tokens), int(dim), causal == "1"
    torch.set_num_threads(int(threads))
    key = (heads, tokens, dim)
    if key not in inputs:
        inputs[key] = [torch.randn(1, heads, tokens, dim) for _ in range(4)]
    *qkv, gradient = inputs[key]
    if what.startswith("backward:"):
        leaves = [tensor.clone().requires_grad_() for tensor in qkv]
        output = attend(*leaves, causal)
        wall, cpu = time.perf_counter(), time.process_time()
        torch.autograd.grad(output, leaves, gradient)
    else:
        with torch.no_grad():
            wall, cpu = time.perf_counter(), time.process_time()
            attend(*qkv, causal)
    print(time.perf_counter() - wall, time.process_time() - cpu, flush=True)
