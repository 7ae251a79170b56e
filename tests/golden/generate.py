#!/usr/bin/python3
"""Makes golden.json: what the layer must compute, from two sources that share no code with it.

numpy: float64, written here from the papers' equations:
  softmax(Q Kᵀ / √d_k) V               Vaswani et al. 2017, "Attention Is All You Need", equation (1)
  MultiHead = Concat(head_i) W_O       the same, section 3.2.2
  causal mask before the softmax       the same, section 3.2.3 ("setting to -∞ all values in the input of the softmax")
  q · k without a scale                Luong et al. 2015, equation (8), "dot"
  shared key heads                     Ainslie et al. 2023, "GQA", section 2.2
  window, dilated, global              Beltagy et al. 2020, "Longformer", section 3.1
  strided                              Child et al. 2019, "Generating Long Sequences with Sparse Transformers", 4.2
  random keys                          Zaheer et al. 2020, "Big Bird", section 2; which ones is the layer's own choice
  qᵀ W_a k                             Luong et al. 2015, equation (8), "general"
  v_aᵀ tanh(W_a q + U_a k)             Bahdanau et al. 2015, "Neural Machine Translation by Jointly Learning to Align
                                       and Translate", appendix A.1.2
  q · k / (|q| |k|)                    Graves et al. 2014, "Neural Turing Machines", equation (6)
  c tanh(s / c)                        Gemma Team 2024, "Gemma 2", section 2, "Logit soft-capping"
  sparsemax                            Martins and Astudillo 2016, algorithm 1
  entmax 1.5                           Peters, Niculae and Martins 2019, "Sparse Sequence-to-Sequence Models", algorithm 2
  sinusoids                            Vaswani et al. 2017, section 3.5
  rotary                               Su et al. 2021, "RoFormer", equation (34)
  -slope · distance                    Press et al. 2022, "Train Short, Test Long", section 3
torch: scaled_dot_product_attention, multi_head_attention_forward, bilinear and cosine_similarity, in float64.

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
# Stored with a case only where they are not these.
MORE = dict(softcap=0.0, normalizer="softmax", position="none", prefix=0, keyLength=-1, maskAfterSoftmax=False,
            hiddenHeads=0, local=0, dilation=1, stride=0, block=0, globals=0, random=0, seed=1)


def stored(array):
    """Float32 numbers as the shortest decimals that read back as the same bits."""
    data = [float(str(v)) for v in array.astype(np.float32).ravel()]
    assert np.array_equal(np.array(data).astype(np.float32), array.astype(np.float32).ravel())
    return {"shape": list(array.shape), "data": data}


def expected(array):
    """Float64 numbers to 11 digits; JSON has no infinity, so masked cells are null."""
    return [None if np.isneginf(v) else float("%.11g" % v) for v in np.asarray(array, np.float64).ravel()]


def mix(z):
    """The finaliser of SplitMix64 (Steele, Lea, Flood 2014)."""
    whole = (1 << 64) - 1
    z = (z + 0x9e3779b97f4a7c15) & whole
    z = ((z ^ z >> 30) * 0xbf58476d1ce4e5b9) & whole
    z = ((z ^ z >> 27) * 0x94d049bb133111eb) & whole
    return z ^ z >> 31


def drawn(position, allowed, options):
    """Of the keys that causal and padding leave, those with the smallest hashes."""
    order = sorted(allowed, key=lambda key: (mix(mix(mix(options["seed"]) + position) + key) >> 32, key))
    return order[:options["random"]]


def pattern(position, key, seen, options):
    """The union of the parts that are on."""
    o, distance = options, np.abs(position - key)
    parts = np.zeros(seen.shape, bool)
    if o["local"]:
        parts |= (distance < o["local"] * o["dilation"]) & (distance % o["dilation"] == 0)
    if o["stride"]:
        parts |= distance % o["stride"] == 0
    if o["block"]:
        parts |= position // o["block"] == key // o["block"]
    parts |= (position < o["globals"]) | (key < o["globals"])
    for row in range(seen.shape[0]):
        parts[row, drawn(int(position[row, 0]), np.flatnonzero(seen[row]).tolist(), o)] = True
    return parts


def visible(queries, keys, options, painted):
    position = np.arange(queries)[:, None] + options["causalOffset"]
    key = np.arange(keys)[None, :]
    seen = np.ones((queries, keys), bool)
    if options["causal"]:
        seen &= (key <= position) | (key < options["prefix"])
    if options["keyLength"] >= 0:
        seen &= key < options["keyLength"]
    sparse = pattern(position, key, seen, options) if any(
        options[part] for part in ("local", "stride", "block", "globals", "random")) else True
    if options["windowLeft"] >= 0:
        seen &= key >= position - options["windowLeft"]
    if options["windowRight"] >= 0:
        seen &= key <= position + options["windowRight"]
    seen &= sparse
    return seen & ~painted if painted is not None else seen


def turn(rows, first):
    """Rotary: each pair of columns by position · 10000^(-2i/d)."""
    angles = (first + np.arange(rows.shape[1]))[:, None] * 10000.0 ** (-np.arange(0, rows.shape[2], 2) / rows.shape[2])
    x, y = rows[:, :, 0::2], rows[:, :, 1::2]
    turned = np.empty_like(rows)
    turned[:, :, 0::2] = x * np.cos(angles) - y * np.sin(angles)
    turned[:, :, 1::2] = x * np.sin(angles) + y * np.cos(angles)
    return turned


def sinusoids(count, width):
    angles = np.arange(count)[:, None] * 10000.0 ** (-(np.arange(width) // 2 * 2) / width)
    return np.where(np.arange(width) % 2 == 0, np.sin(angles), np.cos(angles))


def raw_scores(q, k, options, w):
    if options["score"] == "general":
        return q @ w["w_a"] @ k.transpose(0, 2, 1)
    if options["score"] == "additive":
        sums = (q @ w["w_a"].transpose(0, 2, 1))[:, :, None] + (k @ w["u_a"].transpose(0, 2, 1))[:, None, :]
        return (np.tanh(sums) * w["v_a"][:, :, None]).sum(axis=3)
    dot = q @ k.transpose(0, 2, 1)
    if options["score"] == "cosine":
        lengths = np.linalg.norm(q, axis=2)[:, :, None] * np.linalg.norm(k, axis=2)[:, None, :]
        return np.divide(dot, lengths, out=np.zeros_like(dot), where=lengths > 0)
    return dot


def sparsemax(z):
    """One row, -inf where masked."""
    ordered = np.sort(z[np.isfinite(z)])[::-1]
    count = np.arange(1, ordered.size + 1)
    support = count[1 + count * ordered > np.cumsum(ordered)].max(initial=0)
    if support == 0:
        return np.zeros_like(z)
    return np.maximum(z - (ordered[:support].sum() - 1) / support, 0)


def entmax15(z):
    """One row, -inf where masked."""
    ordered = np.sort(z[np.isfinite(z)] / 2)[::-1]
    if ordered.size == 0:
        return np.zeros_like(z)
    count = np.arange(1, ordered.size + 1)
    mean = np.cumsum(ordered) / count
    spread = np.array([((ordered[:k] - mean[k - 1]) ** 2).sum() for k in count])
    thresholds = mean - np.sqrt(np.maximum(1 - spread, 0) / count)
    threshold = thresholds[(thresholds <= ordered).sum() - 1]
    return np.where(np.isfinite(z), np.maximum(z / 2 - threshold, 0) ** 2, 0)


def other_weights(z, normalizer):
    seen = np.isfinite(z)
    if normalizer in ("sparsemax", "entmax15"):
        return np.apply_along_axis({"sparsemax": sparsemax, "entmax15": entmax15}[normalizer], 2, z)
    if normalizer == "hardmax":
        return (np.arange(z.shape[2]) == z.argmax(axis=2)[:, :, None]) & seen
    finite = np.where(seen, z, 0.0)
    made = {"sigmoid": 1 / (1 + np.exp(-finite)), "relu": np.maximum(finite, 0), "none": finite}[normalizer]
    return np.where(seen, made, 0.0)


def attention(q, k, v, options, painted, score_weights=None):
    """Every intermediate, for q [H,Lq,d], k and v [Hkv,Lk,d], all float64."""
    share = q.shape[0] // k.shape[0]
    made = {}
    if options["position"] == "rotary":
        q, k = turn(q, options["causalOffset"]), turn(k, 0)
        made |= dict(q_rotated=q, k_rotated=k)
    k, v = np.repeat(k, share, axis=0), np.repeat(v, share, axis=0)
    raw = raw_scores(q, k, options, score_weights)
    factor = options["scale"] or 1.0 / np.sqrt(q.shape[2]) if options["score"] == "scaled" else 1.0
    # The layer holds the factor as a float32, and an option that was given is one too.
    scores = before = raw * (factor if options["scale"] == 0.0 else np.float64(np.float32(factor)))
    if options["softcap"]:
        cap = np.float64(np.float32(options["softcap"]))
        before = made["softcapped"] = cap * np.tanh(scores / cap)
    if options["position"] == "alibi":
        slopes = 2.0 ** (-8.0 * np.arange(1, q.shape[0] + 1) / q.shape[0])
        distance = np.abs(np.arange(q.shape[1])[:, None] + options["causalOffset"] - np.arange(k.shape[1])[None, :])
        before = made["biased"] = before - slopes[:, None, None] * distance
    seen = visible(q.shape[1], k.shape[1], options, painted)
    masked = before if options["maskAfterSoftmax"] else np.where(seen, before, -np.inf)
    tempered = masked / np.float64(np.float32(options["temperature"]))
    if options["normalizer"] == "softmax":
        row_max = tempered.max(axis=2, keepdims=True)
        exponentials = np.exp(tempered - np.where(np.isneginf(row_max), 0.0, row_max))
        row_sum = exponentials.sum(axis=2, keepdims=True)
        weights = exponentials / np.where(row_sum == 0.0, 1.0, row_sum)  # a row with every key masked gives zeros
        made |= dict(row_max=row_max, exponentials=exponentials, row_sum=row_sum)
    else:
        weights = other_weights(tempered, options["normalizer"])
    if options["maskAfterSoftmax"]:
        weights = np.where(seen, weights, 0.0)
    head_output = weights @ v
    shown = [head_output[h] * (options["hiddenHeads"] >> h & 1 == 0) for h in range(q.shape[0])]
    concat = np.concatenate(shown, axis=1)[None]
    return dict(raw=raw, scores=scores, masked=masked) | made | dict(
        weights=weights, head_output=head_output, concat=concat, output=concat)


def split(matrix, heads):
    return matrix.reshape(matrix.shape[0], heads, -1).transpose(1, 0, 2)


class Cases:
    def __init__(self):
        self.cases = []

    def add(self, name, source, options, inputs, results, painted=None):
        options = {key: value for key, value in options.items() if key in OPTIONS or value != MORE[key]}
        case = {"name": name, "source": source, "options": options,
                "inputs": {key: stored(value) for key, value in inputs.items()},
                "expected": {key: expected(value) for key, value in results.items()}}
        if painted is not None:
            case["painted"] = painted.astype(int).ravel().tolist()
        self.cases.append(case)

    def direct(self, name, q, k, v, painted=None, only=None, score_weights=None, **changed):
        options = OPTIONS | MORE | dict(heads=q.shape[0], kvHeads=k.shape[0]) | changed
        inputs = dict(q=q, k=k, v=v) | (score_weights or {})
        wide = {key: value.astype(np.float64) for key, value in inputs.items()}
        results = attention(wide["q"], wide["k"], wide["v"], options, painted, wide)
        kept = {key: value for key, value in results.items() if only is None or key in only}
        self.add(name, "numpy", options, inputs, kept, painted)

    def projected(self, name, x, w_q, w_k, w_v, w_o, x_kv=None, only=None, score_weights=None, **changed):
        options = OPTIONS | MORE | changed
        wide = [m.astype(np.float64) for m in (x, w_q, w_k, w_v, x if x_kv is None else x_kv)]
        made = {}
        if options["position"] == "sinusoidal":
            table = sinusoids(max(len(wide[0]), len(wide[4])), wide[0].shape[1])
            wide[0], wide[4] = wide[0] + table[:len(wide[0])], wide[4] + table[:len(wide[4])]
            made = dict(positions=table, x_positioned=wide[0])
            if x_kv is not None:
                made["x_kv_positioned"] = wide[4]
        q = split(wide[0] @ wide[1], options["heads"])
        k = split(wide[4] @ wide[2], options["kvHeads"])
        v = split(wide[4] @ wide[3], options["kvHeads"])
        given = score_weights or {}
        results = attention(q, k, v, options, None, {key: m.astype(np.float64) for key, m in given.items()}) | dict(q=q, k=k, v=v) | made
        inputs = dict(x=x, w_q=w_q, w_k=w_k, w_v=w_v)
        if x_kv is not None:
            inputs["x_kv"] = x_kv
        if w_o is not None:
            inputs["w_o"] = w_o
            results["output"] = results["concat"] @ w_o.astype(np.float64)
        kept = {key: value for key, value in results.items() if only is None or key in only}
        self.add(name, "numpy", options, {key: m[None] for key, m in inputs.items()} | given, kept)


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


def mechanism_cases(cases):
    rng = np.random.default_rng(20150101)
    weights = lambda heads, dim, *names: {
        name: normal(rng, heads, 1 if name == "v_a" else dim, dim) * np.float32(dim ** -0.5) for name in names}
    last = ("raw", "masked", "weights", "head_output")
    cases.direct("general", *triple(rng, 2, 1, 4, 5, 4, 3), score="general", only=last,
                 score_weights=weights(2, 4, "w_a"))
    cases.direct("additive", *triple(rng, 2, 1, 4, 5, 4, 3), score="additive", only=last,
                 score_weights=weights(2, 4, "w_a", "u_a", "v_a"))
    q, k, v = triple(rng, 2, 2, 4, 5, 4, 3)
    k[1, 2] = 0  # a key without a direction
    cases.direct("cosine", q, k, v, score="cosine", only=last)
    cases.direct("soft cap", *triple(rng, 2, 2, 5, 5, 4, 3), softcap=0.7, causal=True, only=("softcapped",) + last)
    for normalizer in ("sparsemax", "sigmoid", "relu", "hardmax", "none"):
        cases.direct(normalizer, *triple(rng, 2, 2, 5, 5, 4, 3), normalizer=normalizer, causal=True, temperature=0.8,
                     only=("weights", "head_output"))
    cases.direct("rotary", *triple(rng, 2, 1, 3, 7, 6, 3), position="rotary", causal=True, causalOffset=4,
                 only=("q_rotated", "k_rotated") + last)
    cases.direct("alibi", *triple(rng, 4, 2, 3, 6, 4, 3), position="alibi", causal=True, causalOffset=3,
                 only=("biased",) + last)
    cases.direct("prefix and padding", *triple(rng, 1, 1, 6, 6, 4, 3), causal=True, prefix=3, keyLength=5,
                 only=("masked", "weights"))
    for name, parts in (("dilated", dict(local=3, dilation=2)), ("strided", dict(stride=3, local=2)),
                        ("block", dict(block=3)), ("global", dict(globals=2, local=2)),
                        ("random", dict(random=2, seed=7))):
        cases.direct(name, *triple(rng, 1, 1, 8, 10, 4, 2), causalOffset=2, only=("masked",), **parts)
    cases.direct("pattern of all", *triple(rng, 1, 1, 12, 12, 4, 2), only=("masked",), causal=True, local=2, globals=1,
                 random=2, seed=3, windowLeft=9)
    cases.direct("mask after softmax", *triple(rng, 2, 2, 5, 5, 4, 3), causal=True, maskAfterSoftmax=True)
    x, x_kv = normal(rng, 3, 6), normal(rng, 5, 6)
    w_q, w_k, w_v, w_o = (normal(rng, 6, width) * np.float32(0.4) for width in (8, 8, 6, 6))
    only = ("positions", "x_positioned", "x_kv_positioned", "q", "k", "weights", "output")
    cases.projected("sinusoidal", x, w_q, w_k, w_v, w_o, heads=2, kvHeads=2, position="sinusoidal", only=only)
    cases.projected("cross", x, w_q, w_k, w_v, w_o, x_kv, heads=2, kvHeads=2, only=only)
    cases.projected("cross, sinusoidal, a hidden head", x, w_q, w_k, w_v, w_o, x_kv, heads=2, kvHeads=2,
                    position="sinusoidal", hiddenHeads=1, only=only)
    cases.direct("entmax15", *triple(rng, 2, 2, 5, 5, 4, 3), normalizer="entmax15", causal=True, temperature=0.8,
                 only=("weights", "head_output"))
    cases.direct("entmax15 of many keys", *triple(rng, 1, 1, 3, 33, 8, 3), normalizer="entmax15", temperature=0.3, keyLength=31,
                 only=("weights", "head_output"))
    # Queries of another width than keys: W_a is d_q × d_k, or units × d_q beside U_a of units × d_k.
    q, (_, k, v) = normal(rng, 2, 4, 6), triple(rng, 2, 1, 4, 5, 4, 3)
    cases.direct("general, wider queries", q, k, v, score="general", only=last,
                 score_weights=dict(w_a=normal(rng, 2, 6, 4) * np.float32(0.5)))
    cases.direct("additive, narrower queries", normal(rng, 2, 4, 3), k, v, score="additive", only=last,
                 score_weights=dict(w_a=normal(rng, 2, 5, 3), u_a=normal(rng, 2, 5, 4), v_a=normal(rng, 2, 1, 5)))
    x, x_kv = normal(rng, 4, 5), normal(rng, 6, 5)
    cases.projected("general, projected to other widths", x, normal(rng, 5, 6), normal(rng, 5, 8), normal(rng, 5, 6), None, x_kv,
                    heads=2, kvHeads=2, score="general", only=("q", "k") + last,
                    score_weights=dict(w_a=normal(rng, 2, 3, 4) * np.float32(0.5)))


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


def torch_mechanisms(cases):
    rng = np.random.default_rng(1409)
    wide = lambda array: torch.from_numpy(array.astype(np.float64))
    q, k, v = triple(rng, 2, 2, 4, 5, 6, 3)
    a, b = wide(q)[:, :, None].expand(2, 4, 5, 6).contiguous(), wide(k)[:, None].expand(2, 4, 5, 6).contiguous()
    options = OPTIONS | dict(heads=2, kvHeads=2)
    raw = F.cosine_similarity(a, b, dim=3)
    cases.add("cosine_similarity", "torch", options | dict(score="cosine"), dict(q=q, k=k, v=v),
              dict(raw=raw.numpy(), weights=torch.softmax(raw, dim=2).numpy()))
    w_a = normal(rng, 2, 6, 6) * np.float32(0.4)
    raw = torch.stack([F.bilinear(a[h], b[h], wide(w_a)[h][None])[:, :, 0] for h in range(2)])
    cases.add("bilinear", "torch", options | dict(score="general"), dict(q=q, k=k, v=v, w_a=w_a),
              dict(raw=raw.numpy(), weights=torch.softmax(raw, dim=2).numpy()))
    for name, made in (("sigmoid", torch.sigmoid), ("relu", torch.relu)):
        scores = wide(q) @ wide(k).transpose(1, 2) / np.sqrt(6.0)
        cases.add("torch " + name, "torch", options | dict(normalizer=name), dict(q=q, k=k, v=v),
                  dict(weights=made(scores).numpy(), head_output=(made(scores) @ wide(v)).numpy()))
    x, x_kv, w = normal(rng, 4, 12), normal(rng, 6, 12), [normal(rng, 12, 12) * np.float32(0.3) for _ in range(4)]
    query, key = wide(x)[:, None], wide(x_kv)[:, None]
    output, weights = F.multi_head_attention_forward(
        query, key, key, 12, 3, torch.cat([wide(m).T for m in w[:3]]), None, None, None, False, 0.0, wide(w[3]).T, None,
        training=False, need_weights=True, average_attn_weights=False)
    inputs = dict(zip(("x", "x_kv", "w_q", "w_k", "w_v", "w_o"), (m[None] for m in (x, x_kv, *w))))
    cases.add("multi_head_attention_forward across", "torch", OPTIONS | dict(heads=3, kvHeads=3), inputs,
              dict(weights=weights[0].numpy(), output=output[:, 0].numpy()))


def main():
    cases = Cases()
    numpy_cases(cases)
    torch_cases(cases)
    mechanism_cases(cases)
    torch_mechanisms(cases)
    lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases.cases)
    path = pathlib.Path(__file__).with_name("golden.json")
    path.write_text('{"cases":[\n' + lines + "\n]}\n")
    print(path.name, len(cases.cases), "cases", path.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
