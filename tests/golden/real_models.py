#!/usr/bin/python3
"""Makes real_models.json: layers as the models have them that are in use, computed here by NumPy in float64, and their gradients.

Each is written the way its model is, not the way the layer is:
  rotary by halves      x·cos + rotate_half(x)·sin with the angles twice over, as Hugging Face's Llama; the first columns only as GPT-NeoX
  rotary by neighbours  columns 0 and 1, 2 and 3 … (Su et al. 2021, equation 34; GPT-J)
  ALiBi                 slopes by the lists of Press et al. 2022 and their code, also of heads that are no power of two
  additive              v_aᵀ tanh(W_a q + U_a k) with hidden units of its own number (Bahdanau et al. 2015, appendix A.1.2)
  linear, NTK-aware     positions ÷ factor (Chen et al. 2023); base · factor^(r/(r − 2))
A gradient is the imaginary part of the loss after a step of 1e-30·i in one number: exact to the last digits, and without any
rule of differentiation (Squire and Trapp 1998, "Using Complex Variables to Estimate Derivatives of Real Functions").

Inputs are multiples of 1/1024, so that floats hold them. Run with NumPy: python3 real_models.py. The seed is fixed.
"""

import json
import pathlib

import numpy as np

rng = np.random.default_rng(20211)


def numbers(*shape, size=1.0):
    return np.round(rng.standard_normal(shape) * size * 1024) / 1024


def rotate_half(x):
    half = x.shape[-1] // 2
    return np.concatenate([-x[..., half:], x[..., :half]], axis=-1)


def rotary(x, ids, o):
    """x [heads, rows, d]; ids [rows]."""
    r = o.get("rotary_dims", 0) or x.shape[-1]
    base, factor = o.get("rotary_base", 10000.0), o.get("rotary_factor", 1.0)
    scaling = o.get("rotary_scaling", "none")
    if scaling == "ntk":
        base = base * factor ** (r / (r - 2))
    speeds = 1.0 / base ** (np.arange(0, r, 2) / r)
    if scaling == "linear":
        speeds = speeds / factor
    angles = np.outer(ids, speeds)
    first, rest = x[..., :r], x[..., r:]
    if o.get("rotary_pairs") == "half":
        twice = np.concatenate([angles, angles], axis=-1)
        turned = first * np.cos(twice) + rotate_half(first) * np.sin(twice)
    else:
        a, b = first[..., 0::2], first[..., 1::2]
        turned = np.stack([a * np.cos(angles) - b * np.sin(angles), b * np.cos(angles) + a * np.sin(angles)], axis=-1).reshape(first.shape)
    return np.concatenate([turned, rest], axis=-1)


def sinusoids(ids, width):
    angles = np.outer(ids, 10000.0 ** (-(np.arange(width) // 2 * 2) / width))
    return np.where(np.arange(width) % 2 == 0, np.sin(angles), np.cos(angles))


def positions(count, o):
    given = list(o.get("position_ids", []))
    while len(given) < count:
        given.append(given[-1] + 1 if given else 0)
    return np.array(given[:count], np.float64)


def powers(*exponents):
    return [2.0 ** -e for e in exponents]


# By hand: of four heads 1/4, 1/16, 1/64, 1/256; three have those of two and then the first of four, and so on.
SLOPES = {1: powers(8), 2: powers(4, 8), 3: powers(4, 8, 2), 4: powers(2, 4, 6, 8), 6: powers(2, 4, 6, 8, 1, 3),
          12: powers(1, 2, 3, 4, 5, 6, 7, 8, 0.5, 1.5, 2.5, 3.5)}


def split(x, heads):
    return x.reshape(x.shape[0], heads, -1).swapaxes(0, 1)


def layer(i, o):
    heads, offset, made = o["heads"], o.get("causal_offset", 0), {}
    position = o.get("position", "none")
    if "x" in i:
        x = i["x"][0]
        if position == "sinusoidal":
            x = made["x_positioned"] = x + sinusoids(positions(len(x), o), x.shape[1])
        x_v = i["x_v"][0] if "x_v" in i else x
        linear = lambda name: (x_v if name == "v" else x) @ i["w_" + name][0] + (i["b_" + name][0] if "b_" + name in i else 0)
        q, k, v = split(linear("q"), heads), split(linear("k"), o["kv_heads"]), split(linear("v"), o["kv_heads"])
    else:
        q, k, v = i["q"], i["k"], i["v"]
    if position == "rotary":
        ids = positions(max(k.shape[1], offset + q.shape[1]), o)
        q, k = rotary(q, ids[offset:offset + q.shape[1]], o), rotary(k, ids[:k.shape[1]], o)
        made |= dict(q_rotated=q, k_rotated=k)
    share = heads // o["kv_heads"]
    k, v = np.repeat(k, share, axis=0), np.repeat(v, share, axis=0)
    if "v_a" in i:
        hidden = np.einsum("hud,hqd->hqu", i["w_a"], q)[:, :, None] + np.einsum("hud,hkd->hku", i["u_a"], k)[:, None]
        scores = np.einsum("hqku,hu->hqk", np.tanh(hidden), i["v_a"][:, 0])
    else:
        scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    row, col = np.arange(q.shape[1])[:, None] + offset, np.arange(k.shape[1])[None]
    if position == "alibi":
        made["biased"] = scores = scores - np.array(SLOPES[heads])[:, None, None] * np.abs(row - col)
    if o.get("causal"):
        scores = np.where(col <= row, scores, -1e30)
    e = np.exp(scores - scores.real.max(axis=-1, keepdims=True))
    weights = e / e.sum(axis=-1, keepdims=True)
    output = (weights @ v).swapaxes(0, 1).reshape(q.shape[1], -1)
    if "w_o" in i:
        output = output @ i["w_o"][0] + (i["b_o"][0] if "b_o" in i else 0)
    return made | dict(weights=weights, output=output[None])


def stored(array):
    return {"shape": list(array.shape), "data": [float("%.12g" % v) for v in np.real(array).ravel()]}


def case(name, inputs, **options):
    o = {"heads": 1, "kv_heads": 1, **options}
    results = layer(inputs, o)
    d_weights, d_output = numbers(*results["weights"].shape), numbers(*results["output"].shape)

    def loss(changed):
        made = layer(changed, o)
        return (made["weights"] * d_weights).sum() + (made["output"] * d_output).sum()

    gradients = {}
    for key, value in inputs.items():
        gradients[key] = np.zeros(value.shape)
        for at in np.ndindex(value.shape):
            stepped = value.astype(complex)
            stepped[at] += 1e-30j
            gradients[key][at] = loss(inputs | {key: stepped}).imag / 1e-30
    return {"name": name, "options": o, "inputs": {k: stored(v) for k, v in inputs.items()}, "expected": {k: stored(v) for k, v in results.items()},
            "d_weights": stored(d_weights), "d_output": stored(d_output), "gradients": {k: stored(v) for k, v in gradients.items()}}


def direct(heads=2, kv=1, queries=3, keys=4, d=6, dv=3):
    return {"q": numbers(heads, queries, d), "k": numbers(kv, keys, d), "v": numbers(kv, keys, dv)}


def projected(heads=2, kv=1, rows=4, model=5, d=4, dv=3, out=5):
    return {"x": numbers(1, rows, model), "w_q": numbers(1, model, heads * d, size=0.5), "w_k": numbers(1, model, kv * d, size=0.5),
            "w_v": numbers(1, model, kv * dv, size=0.5), "w_o": numbers(1, heads * dv, out, size=0.5)}


def biased(inputs):
    return {**inputs, **{"b" + key[1:]: numbers(1, 1, value.shape[2]) for key, value in inputs.items() if key.startswith("w_")}}


def additive(inputs, heads=2, units=3, d=6):
    return {**inputs, "w_a": numbers(heads, units, d, size=0.5), "u_a": numbers(heads, units, d, size=0.5), "v_a": numbers(heads, 1, units)}


two = {"heads": 2, "kv_heads": 1}
turned = {**two, "position": "rotary", "causal_offset": 1, "causal": True}
cases = [
    case("neighbours", direct(), **turned),
    case("halves, as Llama", direct(), **turned, rotary_pairs="half"),
    case("halves of the first columns, as GPT-NeoX", direct(d=7), **turned, rotary_pairs="half", rotary_dims=4),
    case("neighbours of the first columns, as GPT-J", direct(), **turned, rotary_dims=2),
    case("another base, as Llama 3", direct(d=8), **turned, rotary_pairs="half", rotary_base=500000.0),
    case("linear scaling", direct(), **turned, rotary_pairs="half", rotary_scaling="linear", rotary_factor=4.0),
    case("NTK-aware scaling", direct(), **turned, rotary_pairs="half", rotary_scaling="ntk", rotary_factor=4.0),
    case("NTK-aware scaling of the first columns", direct(), **turned, rotary_dims=4, rotary_scaling="ntk", rotary_factor=2.5),
    case("a text that begins at 1000", direct(), **turned, position_ids=[1000]),
    case("two texts in one row", direct(queries=4, keys=4), **two, position="rotary", rotary_pairs="half", position_ids=[0, 1, 0, 1], causal=True),
    case("of X", projected(), **two, position="rotary", rotary_pairs="half", rotary_base=100.0, causal=True),
    case("ALiBi, a power of two", direct(heads=4, kv=2, d=2, dv=2), heads=4, kv_heads=2, position="alibi", causal=True, causal_offset=1),
    case("ALiBi, three heads", direct(heads=3, kv=3, d=2, dv=2), heads=3, kv_heads=3, position="alibi", causal=True, causal_offset=1),
    case("ALiBi, six heads", direct(heads=6, kv=2, d=2, dv=2), heads=6, kv_heads=2, position="alibi"),
    case("ALiBi, twelve heads", direct(heads=12, kv=1, d=2, dv=1), heads=12, kv_heads=1, position="alibi"),
    case("biases, as GPT-2", biased(projected()), **two, causal=True),
    case("a bias of Q alone", {**projected(), "b_q": numbers(1, 1, 8)}, **two, position="rotary", rotary_pairs="half"),
    case("additive with few hidden units", additive(direct()), **two, causal=True, causal_offset=1),
    case("additive with many hidden units", additive(direct(), units=9), **two),
    case("values of an X without positions, as DETR", {**projected(), "x_v": numbers(1, 4, 5)}, **two, position="sinusoidal"),
    case("sinusoids of other positions", projected(), **two, position="sinusoidal", position_ids=[3, 1], causal=True),
]
text = json.dumps({"cases": cases}, separators=(",", ":")).replace('{"name"', '\n{"name"')
(pathlib.Path(__file__).parent / "real_models.json").write_text(text + "\n")
