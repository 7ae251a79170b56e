#!/usr/bin/python3
"""Makes golden.json: what the layer must compute, from two sources that share no code with it.

numpy: float64, written here from the papers' equations:
  softmax(Q Kᵀ / √d_k) V               Vaswani et al. 2017, "Attention Is All You Need", equation (1)
  MultiHead = Concat(head_i) W_O       the same, section 3.2.2
  causal mask before the softmax       the same, section 3.2.3 ("setting to -∞ all values in the input of the softmax")
  q · k without a scale                Luong et al. 2015, equation (8), "dot"
  shared key heads                     Ainslie et al. 2023, "GQA", section 2.2
  window                               Beltagy et al. 2020, "Longformer", section 3.1
torch: scaled_dot_product_attention and multi_head_attention_forward, in float64.

Inputs are float32 and stored so that they come back bit for bit. Run on Debian 12: apt-get install python3-numpy
python3-torch, then /usr/bin/python3 generate.py. The result does not depend on the machine (seeds are fixed).
"""

import json
import pathlib

import numpy as np
import torch
import torch.nn.functional as F

OPTIONS = dict(heads=1, kvHeads=1, score="scaled", scale=0.0, temperature=1.0, causal=False, causalOffset=0,
               windowLeft=-1, windowRight=-1)


def stored(array):
    """Float32 numbers as the shortest decimals that read back as the same bits."""
    data = [float(str(v)) for v in array.astype(np.float32).ravel()]
    assert np.array_equal(np.array(data).astype(np.float32), array.astype(np.float32).ravel())
    return {"shape": list(array.shape), "data": data}


def expected(array):
    """Float64 numbers to 11 digits; JSON has no infinity, so masked cells are null."""
    return [None if np.isneginf(v) else float("%.11g" % v) for v in np.asarray(array, np.float64).ravel()]


def visible(queries, keys, options, painted):
    position = np.arange(queries)[:, None] + options["causalOffset"]
    key = np.arange(keys)[None, :]
    seen = np.ones((queries, keys), bool)
    if options["causal"]:
        seen &= key <= position
    if options["windowLeft"] >= 0:
        seen &= key >= position - options["windowLeft"]
    if options["windowRight"] >= 0:
        seen &= key <= position + options["windowRight"]
    return seen & ~painted if painted is not None else seen


def attention(q, k, v, options, painted):
    """Every intermediate, for q [H,Lq,d], k and v [Hkv,Lk,d], all float64."""
    share = q.shape[0] // k.shape[0]
    k, v = np.repeat(k, share, axis=0), np.repeat(v, share, axis=0)
    raw = q @ k.transpose(0, 2, 1)
    factor = 1.0 if options["score"] == "dot" else options["scale"] or 1.0 / np.sqrt(q.shape[2])
    # The layer holds the factor as a float32, and an option that was given is one too.
    scores = raw * (factor if options["scale"] == 0.0 else np.float64(np.float32(factor)))
    seen = visible(q.shape[1], k.shape[1], options, painted)
    masked = np.where(seen, scores, -np.inf)
    tempered = masked / np.float64(np.float32(options["temperature"]))
    row_max = tempered.max(axis=2, keepdims=True)
    exponentials = np.exp(tempered - np.where(np.isneginf(row_max), 0.0, row_max))
    row_sum = exponentials.sum(axis=2, keepdims=True)
    weights = exponentials / np.where(row_sum == 0.0, 1.0, row_sum)  # a row with every key masked gives zeros
    head_output = weights @ v
    concat = head_output.transpose(1, 0, 2).reshape(1, q.shape[1], -1)
    return dict(raw=raw, scores=scores, masked=masked, row_max=row_max, exponentials=exponentials, row_sum=row_sum,
                weights=weights, head_output=head_output, concat=concat, output=concat)


def split(matrix, heads):
    return matrix.reshape(matrix.shape[0], heads, -1).transpose(1, 0, 2)


class Cases:
    def __init__(self):
        self.cases = []

    def add(self, name, source, options, inputs, results, painted=None):
        case = {"name": name, "source": source, "options": options,
                "inputs": {key: stored(value) for key, value in inputs.items()},
                "expected": {key: expected(value) for key, value in results.items()}}
        if painted is not None:
            case["painted"] = painted.astype(int).ravel().tolist()
        self.cases.append(case)

    def direct(self, name, q, k, v, painted=None, only=None, **changed):
        options = OPTIONS | dict(heads=q.shape[0], kvHeads=k.shape[0]) | changed
        results = attention(q.astype(np.float64), k.astype(np.float64), v.astype(np.float64), options, painted)
        kept = {key: value for key, value in results.items() if only is None or key in only}
        self.add(name, "numpy", options, dict(q=q, k=k, v=v), kept, painted)

    def projected(self, name, x, w_q, w_k, w_v, w_o, **changed):
        options = OPTIONS | changed
        wide = [m.astype(np.float64) for m in (x, w_q, w_k, w_v)]
        q = split(wide[0] @ wide[1], options["heads"])
        k = split(wide[0] @ wide[2], options["kvHeads"])
        v = split(wide[0] @ wide[3], options["kvHeads"])
        results = attention(q, k, v, options, None) | dict(q=q, k=k, v=v)
        inputs = dict(x=x, w_q=w_q, w_k=w_k, w_v=w_v)
        if w_o is not None:
            inputs["w_o"] = w_o
            results["output"] = results["concat"] @ w_o.astype(np.float64)
        self.add(name, "numpy", options, {key: m[None] for key, m in inputs.items()}, results)


def normal(rng, *shape):
    return rng.standard_normal(shape).astype(np.float32)


def triple(rng, heads, kv_heads, queries, keys, dim, value_dim):
    return (normal(rng, heads, queries, dim), normal(rng, kv_heads, keys, dim), normal(rng, kv_heads, keys, value_dim))


def design_board():
    """Head 1 of the board in the design: "I saw a saw"; the fourth query looks at the third key with 0.69."""
    q = [[0.9, -0.4, 0.3], [1.2, 0.6, -0.5], [-0.3, 1.1, 0.8], [0.2, -0.7, 1.6]]
    k = [[1.1, 0.2, -0.6], [-0.2, 1.3, 0.4], [0.3, -0.5, 1.4], [0.8, 0.9, -0.2]]
    v = [[0.7, 0.3, 0.0], [-0.4, 0.9, 0.2], [0.1, -0.2, 1.0], [0.5, 0.5, -0.8]]
    return tuple(np.array([m], np.float32) for m in (q, k, v))


def numpy_cases(cases):
    rng = np.random.default_rng(20170612)
    cases.direct("design board", *design_board(), causal=True)
    cases.direct("one token", *triple(rng, 1, 1, 1, 1, 3, 2))
    cases.direct("plain", *triple(rng, 2, 2, 5, 7, 4, 3))
    cases.direct("dot", *triple(rng, 1, 1, 4, 4, 6, 2), score="dot")
    cases.direct("explicit scale", *triple(rng, 1, 1, 4, 4, 6, 2), scale=0.3)
    cases.direct("cached keys", *triple(rng, 2, 2, 3, 9, 4, 4), causal=True, causalOffset=6)
    cases.direct("window", *triple(rng, 1, 1, 9, 9, 4, 4), windowLeft=2, windowRight=1)
    cases.direct("causal window", *triple(rng, 1, 1, 8, 12, 4, 4), causal=True, causalOffset=4, windowLeft=3)
    cases.direct("grouped heads", *triple(rng, 6, 2, 5, 5, 4, 3), causal=True)
    cases.direct("one key head", *triple(rng, 4, 1, 5, 6, 4, 3))
    cases.direct("cold", *triple(rng, 1, 1, 5, 5, 4, 3), temperature=0.1)
    cases.direct("hot", *triple(rng, 1, 1, 5, 5, 4, 3), temperature=5.0, causal=True)
    painted = rng.random((6, 6)) < 0.4
    painted[2, :] = True  # a query that sees nothing
    cases.direct("painted", *triple(rng, 2, 2, 6, 6, 4, 3), painted=painted)
    cases.direct("painted and causal", *triple(rng, 2, 1, 6, 6, 4, 3), painted=painted, causal=True)
    q, k, v = triple(rng, 1, 1, 4, 6, 4, 3)
    cases.direct("equal scores", np.zeros_like(q), k, v)
    cases.direct("saturated", q * np.float32(40), k * np.float32(40), v)
    cases.direct("large", *triple(rng, 2, 2, 33, 65, 64, 16), only=("weights", "head_output"))
    x, w = normal(rng, 6, 8), [normal(rng, 8, 8) * np.float32(0.35) for _ in range(4)]
    cases.projected("projected", x, *w, heads=2, kvHeads=2, causal=True)
    cases.projected("projected without W_O", x, *w[:3], None, heads=4, kvHeads=4)
    cases.projected("projected, grouped", x, w[0], w[1][:, :4].copy(), w[2][:, :4].copy(), w[3], heads=4, kvHeads=2)


def scaled_dot_product_attention(q, k, v, mask, causal):
    if hasattr(F, "scaled_dot_product_attention"):
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=causal)
    return F._scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=causal)[0]  # its name in 1.13


def torch_cases(cases):
    rng = np.random.default_rng(1706)
    for name, causal, masked in (("sdpa", False, False), ("sdpa causal", True, False), ("sdpa mask", False, True)):
        q, k, v = triple(rng, 3, 3, 7, 7, 8, 8)
        painted = np.triu(rng.random((7, 7)) < 0.5, 1) if masked else None
        allowed = torch.from_numpy(~painted) if masked else None
        # 1.13 knows no [H, L, d] without a batch when it is given a mask.
        wide = [torch.from_numpy(m.astype(np.float64))[None] for m in (q, k, v)]
        output = scaled_dot_product_attention(*wide, allowed, causal)[0]
        cases.add(name, "torch", OPTIONS | dict(heads=3, kvHeads=3, causal=causal), dict(q=q, k=k, v=v),
                  dict(head_output=output.numpy()), painted)
    for name, causal in (("multi_head_attention_forward", False), ("multi_head_attention_forward causal", True)):
        x, w = normal(rng, 7, 12), [normal(rng, 12, 12) * np.float32(0.3) for _ in range(4)]
        wide = [torch.from_numpy(m.astype(np.float64)) for m in (x, *w)]
        blocked = torch.from_numpy(np.triu(np.ones((7, 7), bool), 1)) if causal else None
        # in_proj and out_proj hold transposes: torch multiplies x by Wᵀ. Tensors are [L, batch, model].
        rows = wide[0][:, None]
        output, weights = F.multi_head_attention_forward(
            rows, rows, rows, 12, 3, torch.cat([m.T for m in wide[1:4]]), None, None, None, False, 0.0,
            wide[4].T, None, training=False, need_weights=True, attn_mask=blocked, average_attn_weights=False)
        inputs = dict(zip(("x", "w_q", "w_k", "w_v", "w_o"), (m[None] for m in (x, *w))))
        cases.add(name, "torch", OPTIONS | dict(heads=3, kvHeads=3, causal=causal), inputs,
                  dict(weights=weights[0].numpy(), output=output[:, 0].numpy()))


def main():
    cases = Cases()
    numpy_cases(cases)
    torch_cases(cases)
    lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases.cases)
    path = pathlib.Path(__file__).with_name("golden.json")
    path.write_text('{"cases":[\n' + lines + "\n]}\n")
    print(path.name, len(cases.cases), "cases", path.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
