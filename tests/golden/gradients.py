#!/usr/bin/python3
"""Makes gradients.json: gradients by PyTorch's autograd, in float64, of layers written here with PyTorch's own operations.

What PyTorch has, it computes: softmax, sigmoid, relu, tanh, gelu, cosine_similarity, bilinear, linear, RNN, LSTM,
scaled_dot_product. Sparsemax and entmax it does not have: the support is found by sorting, and autograd goes through the formula on it.

Inputs are multiples of 1/1024, so that floats hold them. Run on Debian 12: apt-get install python3-torch, then
/usr/bin/python3 gradients.py. The result does not depend on the machine (seeds are fixed).
"""

import json
import math
import pathlib

import torch
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)
made = torch.Generator().manual_seed(11)


def numbers(*shape, size=1.0):
    return (torch.randn(*shape, generator=made) * size * 1024).round() / 1024


def sparsemax(z):
    ordered, _ = torch.sort(z, descending=True)
    sums = torch.cumsum(ordered, 0)
    counts = torch.arange(1, len(z) + 1)
    count = int((1 + counts * ordered > sums).sum())
    return torch.clamp(z - (sums[count - 1] - 1) / count, min=0)


def entmax15(z):
    ordered, _ = torch.sort(z / 2, descending=True)
    counts = torch.arange(1, len(z) + 1)
    means = torch.cumsum(ordered, 0) / counts
    spread = torch.stack([((ordered[:k] - means[k - 1]) ** 2).sum() for k in counts])
    thresholds = means - torch.sqrt(torch.clamp((1 - spread) / counts, min=0))
    count = int((thresholds <= ordered).sum())
    # On the support, so that nothing is divided by the root of 0.
    mean = ordered[:count].mean()
    threshold = mean - torch.sqrt((1 - ((ordered[:count] - mean) ** 2).sum()) / count)
    return torch.clamp(z / 2 - threshold, min=0) ** 2


def normalised(z, kind):
    """z has -inf where a key is masked."""
    seen = z > -math.inf
    if not seen.any():
        return torch.zeros_like(z)
    if kind == "softmax":
        return torch.softmax(z, -1)
    if kind == "sigmoid":
        return torch.sigmoid(z)
    if kind == "relu":
        return F.relu(z)
    out = torch.zeros_like(z)
    out[seen] = {"sparsemax": sparsemax, "entmax15": entmax15}.get(kind, lambda kept: kept)(z[seen])
    return out


def rotated(x, first):
    """Neighbouring columns as complex numbers, turned by position · 10000^(-2i/d)."""
    d = x.shape[-1]
    angles = torch.outer(torch.arange(x.shape[1]) + first, 10000.0 ** (-torch.arange(0, d, 2) / d))
    turned = torch.view_as_complex(x.reshape(*x.shape[:-1], d // 2, 2)) * torch.polar(torch.ones_like(angles), angles)
    return torch.view_as_real(turned).reshape(x.shape)


def sinusoids(count, width, first):
    angle = torch.outer(torch.arange(count) + first, 10000.0 ** (-(torch.arange(width) // 2 * 2) / width))
    return torch.where(torch.arange(width) % 2 == 0, torch.sin(angle), torch.cos(angle))


def split(x, heads):
    return x.reshape(x.shape[0], heads, -1).transpose(0, 1)


def layer(i, o):
    """Weights and output; inputs as the layer's, [heads, rows, columns]."""
    heads, kv, offset = o["heads"], o["kvHeads"], o.get("causalOffset", 0)
    position = o.get("position", "none")
    if "x" in i:
        x, x_kv = i["x"][0], i.get("x_kv", i["x"])[0]
        if position == "sinusoidal":
            x = x + sinusoids(len(x), x.shape[1], offset if "x_kv" in i else 0)
            x_kv = x_kv + sinusoids(len(x_kv), x_kv.shape[1], 0)
        q, k, v = split(x @ i["w_q"][0], heads), split(x_kv @ i["w_k"][0], kv), split(x_kv @ i["w_v"][0], kv)
    else:
        q, k, v = i["q"], i["k"], i["v"]
    if position == "rotary":
        q, k = rotated(q, offset), rotated(k, 0)
    k, v = k.repeat_interleave(heads // kv, 0), v.repeat_interleave(heads // kv, 0)
    queries, keys, d = q.shape[1], k.shape[1], q.shape[2]
    if o["score"] in ("dot", "scaled"):
        s = q @ k.transpose(1, 2)
    elif o["score"] == "general":
        s = torch.stack([F.bilinear(q[h].repeat_interleave(keys, 0), k[h].repeat(queries, 1), i["w_a"][h][None]).reshape(queries, keys) for h in range(heads)])
    elif o["score"] == "additive":
        s = torch.stack([torch.tanh(F.linear(q[h], i["w_a"][h])[:, None] + F.linear(k[h], i["u_a"][h])[None]) @ i["v_a"][h, 0] for h in range(heads)])
    else:
        s = F.cosine_similarity(q[:, :, None], k[:, None], dim=-1)
    if o["score"] == "scaled":
        s = s * (o["scale"] or 1 / math.sqrt(d))
    if o.get("softcap"):
        s = o["softcap"] * torch.tanh(s / o["softcap"])
    row, col = torch.arange(queries)[:, None] + offset, torch.arange(keys)[None]
    if position == "alibi":
        s = s - torch.tensor([2.0 ** (-8 * (h + 1) / heads) for h in range(heads)])[:, None, None] * (row - col).abs()
    if "bias" in i:
        s = s + i["bias"]
    seen = torch.ones(queries, keys, dtype=torch.bool)
    if o.get("causal"):
        seen &= col <= row
    if o.get("windowLeft", -1) >= 0:
        seen &= col >= row - o["windowLeft"]
    if o.get("keyLength", -1) >= 0:
        seen &= col < o["keyLength"]
    after = o.get("maskAfterSoftmax", False)
    if not after:
        s = s.masked_fill(~seen, -math.inf)
    s = s / o["temperature"]
    if "sink" in i:  # as in gpt-oss: one more column for softmax, which is then dropped
        w = torch.softmax(torch.cat([s, (i["sink"] / o["temperature"]).expand(-1, queries, 1)], -1), -1)[..., :-1]
    else:
        w = torch.stack([torch.stack([normalised(s[h, r], o.get("normalizer", "softmax")) for r in range(queries)]) for h in range(heads)])
    if after:
        w = w * seen
    hidden = torch.tensor([0.0 if o.get("hiddenHeads", 0) >> h & 1 else 1.0 for h in range(heads)])
    output = ((w @ v) * hidden[:, None, None]).transpose(0, 1).reshape(queries, -1)
    if "w_o" in i:
        output = output @ i["w_o"][0]
    return w, output[None]


def stored(tensor):
    tensor = tensor.detach()
    return {"shape": list(tensor.shape), "data": [float(f"{value:.12g}") for value in tensor.flatten().tolist()]}


def gradients_of(inputs):
    """What does not matter to the result has no gradient in PyTorch, which is 0."""
    return {key: stored(torch.zeros_like(value) if value.grad is None else value.grad) for key, value in inputs.items()}


def case(name, inputs, **options):
    o = {"heads": 1, "kvHeads": 1, "score": "scaled", "scale": 0, "temperature": 1, "causal": False, "causalOffset": 0, "windowLeft": -1, "windowRight": -1, **options}
    inputs = {key: value.clone().requires_grad_() for key, value in inputs.items()}
    weights, output = layer(inputs, o)
    d_weights, d_output = numbers(*weights.shape), numbers(*output.shape)
    ((weights * d_weights).sum() + (output * d_output).sum()).backward()
    return {"name": name, "options": o, "inputs": {key: stored(value) for key, value in inputs.items()}, "d_weights": stored(d_weights), "d_output": stored(d_output),
            "gradients": gradients_of(inputs)}


def direct(heads=2, kv=1, queries=3, keys=4, d=4, dv=3):
    return {"q": numbers(heads, queries, d), "k": numbers(kv, keys, d), "v": numbers(kv, keys, dv)}


def projected(heads=2, kv=1, rows=4, model=5, d=4, dv=3, cross=0, out=5):
    return {"x": numbers(1, rows, model), **({"x_kv": numbers(1, cross, model)} if cross else {}), "w_q": numbers(1, model, heads * d, size=0.5), "w_k": numbers(1, model, kv * d, size=0.5),
            "w_v": numbers(1, model, kv * dv, size=0.5), **({"w_o": numbers(1, heads * dv, out, size=0.5)} if out else {})}


def scored(inputs, heads=2, d=4, both=True):
    return {**inputs, "w_a": numbers(heads, d, d, size=0.5), **({"u_a": numbers(heads, d, d, size=0.5), "v_a": numbers(heads, 1, d)} if both else {})}


def sunk(inputs, heads=2):
    return {**inputs, "sink": numbers(heads, 1, 1)}


two = {"heads": 2, "kvHeads": 1}
cases = [case(f"{kind}", direct(), **two, normalizer=kind) for kind in ("softmax", "sparsemax", "sigmoid", "relu", "none")]
cases += [case("dot", direct(), **two, score="dot"), case("general", scored(direct(), both=False), **two, score="general"),
          case("additive", scored(direct()), **two, score="additive"), case("cosine", direct(), **two, score="cosine")]
cases += [case(f"masked {kind}", direct(), **two, normalizer=kind, causal=True, causalOffset=1, windowLeft=1, keyLength=3) for kind in ("softmax", "sparsemax", "sigmoid", "none")]
cases += [case("masked too late", direct(), **two, causal=True, maskAfterSoftmax=True)]
cases += [case("a row that sees nothing", direct(), **two, keyLength=0), case("soft cap", direct(), **two, softcap=1.5, scale=1.25), case("temperature", direct(), **two, temperature=0.5),
          case("bias", {**direct(), "bias": numbers(1, 3, 4)}, **two), case("bias of each head", {**direct(), "bias": numbers(2, 3, 4)}, **two, softcap=2, causal=True, causalOffset=1),
          case("rotary", direct(), **two, position="rotary", causalOffset=3), case("alibi", direct(), **two, position="alibi", causalOffset=1),
          case("rotary, additive off, cosine", direct(), **two, score="cosine", position="rotary"), case("four heads of two", direct(4, 2), heads=4, kvHeads=2)]
cases += [case("projected", projected(), **two, causal=True), case("projected, no w_o", projected(out=0), **two), case("sinusoids", projected(), **two, position="sinusoidal"),
          case("cross", projected(cross=3), **two, position="sinusoidal", causalOffset=2), case("projected rotary", projected(), **two, position="rotary"),
          case("hidden head", projected(), **two, hiddenHeads=1), case("projected additive sparsemax", scored(projected()), **two, score="additive", normalizer="sparsemax", softcap=2)]


def recurrent(cell):
    """PyTorch's own cells, whose two biases are one here."""
    tokens, width, units = 5, 3, 4
    made_of = torch.nn.LSTM if cell == "lstm" else torch.nn.RNN
    net = made_of(width, units, bias=True)
    columns = (4 if cell == "lstm" else 1) * units
    i = {"x": numbers(1, tokens, width), "w": numbers(1, width, columns, size=0.5), "u": numbers(1, units, columns, size=0.5), "b": numbers(1, 1, columns), "h0": numbers(1, 1, units, size=0.5)}
    if cell == "lstm":
        i["c0"] = numbers(1, 1, units, size=0.5)
    with torch.no_grad():
        net.weight_ih_l0.copy_(i["w"][0].T), net.weight_hh_l0.copy_(i["u"][0].T), net.bias_ih_l0.copy_(i["b"][0, 0]), net.bias_hh_l0.zero_()
    x, h0 = i["x"][0].clone().requires_grad_(), i["h0"][0].clone().requires_grad_()
    c0 = i["c0"][0].clone().requires_grad_() if cell == "lstm" else None
    states, _ = net(x, (h0, c0) if cell == "lstm" else h0)
    d = numbers(1, tokens, units)
    (states * d[0]).sum().backward()
    gradients = {"x": x.grad[None], "w": net.weight_ih_l0.grad.T[None], "u": net.weight_hh_l0.grad.T[None], "b": net.bias_ih_l0.grad[None, None], "h0": h0.grad[None]}
    if cell == "lstm":
        gradients["c0"] = c0.grad[None]
    return {"cell": cell, "inputs": {key: stored(value) for key, value in i.items()}, "states": stored(states[None]), "d_states": stored(d), "gradients": {key: stored(value) for key, value in gradients.items()}}


result = {"torch": torch.__version__, "layers": cases, "recurrent": [recurrent("tanh"), recurrent("lstm")]}
result["layers"] += [case("entmax15", direct(), **two, normalizer="entmax15"),
                     case("masked entmax15", direct(), **two, normalizer="entmax15", temperature=0.5, causal=True, causalOffset=1, windowLeft=1, keyLength=3)]
result["layers"] += [case("sink", sunk(direct()), **two), case("masked sink", sunk(direct()), **two, temperature=0.5, causal=True, causalOffset=1, windowLeft=1, keyLength=3),
                     case("a sink has what no key has", sunk(direct()), **two, keyLength=0), case("sink, masked too late", sunk(projected()), **two, causal=True, maskAfterSoftmax=True)]
result["layers"] += [case("general, wider queries", {**direct(), "q": numbers(2, 3, 6), "w_a": numbers(2, 6, 4, size=0.5)}, **two, score="general"),
                     case("additive, narrower queries", {**direct(), "q": numbers(2, 3, 3), "w_a": numbers(2, 5, 3), "u_a": numbers(2, 5, 4), "v_a": numbers(2, 1, 5)}, **two, score="additive"),
                     case("additive, projected to other widths", {**projected(), "w_q": numbers(1, 5, 12, size=0.5), "w_a": numbers(2, 4, 6, size=0.5), "u_a": numbers(2, 4, 4, size=0.5), "v_a": numbers(2, 1, 4)}, **two, score="additive")]
text = json.dumps(result, separators=(",", ":")).replace('{"name"', '\n{"name"').replace('{"cell"', '\n{"cell"')
(pathlib.Path(__file__).parent / "gradients.json").write_text(text + "\n")
