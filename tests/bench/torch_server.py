# PyTorch as a contender of native.bench.mjs, where it is installed: the same lines and answers as kernels.cpp.
import sys
import time

import torch
import torch.nn.functional as F

inputs = {}
for line in sys.stdin:
    _, heads, tokens, dim, causal, _, threads = line.split()
    heads, tokens, dim, causal = int(heads), int(tokens), int(dim), causal == "1"
    torch.set_num_threads(int(threads))
    key = (heads, tokens, dim)
    if key not in inputs:
        inputs[key] = [torch.randn(1, heads, tokens, dim) for _ in range(3)]
    q, k, v = inputs[key]
    with torch.no_grad():
        wall, cpu = time.perf_counter(), time.process_time()
        if hasattr(F, "scaled_dot_product_attention"):
            F.scaled_dot_product_attention(q, k, v, is_causal=causal)
        else:  # before PyTorch 2.0
            scores = q @ k.transpose(-2, -1) * dim**-0.5
            if causal:
                scores = scores + torch.full((tokens, tokens), float("-inf")).triu(1)
            torch.softmax(scores, -1) @ v
    print(time.perf_counter() - wall, time.process_time() - cpu, flush=True)
