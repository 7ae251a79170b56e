#!/usr/bin/python3
"""Makes derived.json: what the mechanisms around and beside the layer must compute, from sources that share no code with
them.

numpy, float64, written here from the papers' equations:
  LN(x + sublayer(x)), FFN(x) = max(0, x W₁ + b₁) W₂ + b₂    Vaswani et al. 2017, sections 3.1 and 3.3
  x + sublayer(LN(x))                                        Xiong et al. 2020, table 1
  mean and variance over the width of a token                Ba et al. 2016, equations (3) and (4)
  u = tanh(W h + b), softmax(u · u_w), Σ a h, at two levels  Yang et al. 2016, equations (5) to (10)
  softmax(W_c v + b_c)                                       the same, equation (11)
  v_a · tanh(W_a s_{i−1} + U_a h_j), softmax, Σ a h          Bahdanau et al. 2015, section 3.1 and appendix A.1.2
  s_i = tanh(U s_{i−1} + C c_i)                              the same, appendix A.2.2, without gates and words
  ∂h_n/∂h_1 = Π diag(1 − h_t²) U                             Pascanu et al. 2013, equation (5)
torch, float64: layer_norm, gelu; the block with them is compared with the one of numpy before anything is written.

The draws (SplitMix64, sums of sixteen) are written again here, in whole numbers. Run on Debian 12: apt-get install
python3-numpy python3-torch, then /usr/bin/python3 derived.py. The result does not depend on the machine.
"""

import json
import math
import pathlib

import numpy as np
import torch
import torch.nn.functional as F

from generate import expected, normal, stored

WORD = (1 << 64) - 1


def mix(z):
    z = (z + 0x9E3779B97F4A7C15) & WORD
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & WORD
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & WORD
    return z ^ (z >> 31)


def normal_sum(bits):
    total = -16 * 65535 // 2
    for _ in range(4):
        total += sum(bits >> shift & 0xFFFF for shift in (0, 16, 32, 48))
        bits = mix(bits)
    return total


def draws(seed):
    state = mix(seed)
    while True:
        yield normal_sum(mix(state)) / 75675
        state = (state + 1) & WORD


def layer_norm(x, gamma, delta, epsilon):
    mean = x.mean(axis=1, keepdims=True)
    variance = ((x - mean) ** 2).mean(axis=1, keepdims=True)
    return gamma * (x - mean) / np.sqrt(variance + epsilon) + delta


ACTIVATIONS = {
    "relu": lambda h: np.maximum(h, 0),
    "gelu": lambda h: h * (1 + np.vectorize(math.erf)(h / math.sqrt(2))) / 2,
    "tanh": np.tanh,
}


def kept(options, site, rows, cols):
    """1 where dropout keeps a cell."""
    state = mix(options["seed"] << 8 | site)
    chance = lambda r, c: (mix(state ^ (r << 32 | c)) >> 11) / (1 << 53)
    rate = np.float64(np.float32(options["dropRate"]))
    return np.array([[chance(r, c) >= rate for c in range(cols)] for r in range(rows)])


def drop(options, site, a):
    if not options["training"]:
        return a
    return np.where(kept(options, site, *a.shape), a / (1 - np.float64(np.float32(options["dropRate"]))), 0)


def block(options, x, attention, gamma1, delta1, w1, b1, w2, b2, gamma2, delta2, norm=layer_norm,
          activations=ACTIVATIONS):
    epsilon = np.float64(np.float32(options["epsilon"]))
    out = dict(attention=attention)
    pre, post = options["norm"] == "pre", options["norm"] == "post"
    stream = x if options["residual"] else 0
    if pre:
        out["norm_1"] = norm(x, gamma1, delta1, epsilon)
    out["dropout_1"] = drop(options, 1, attention)
    out["residual_1"] = stream + out["dropout_1"]
    z = out["residual_1"]
    if post:
        z = out["norm_1"] = norm(z, gamma1, delta1, epsilon)
    read = z
    if pre:
        read = out["norm_2"] = norm(z, gamma2, delta2, epsilon)
    out["hidden_raw"] = read @ w1 + b1
    out["hidden"] = activations[options["activation"]](out["hidden_raw"])
    out["feed_forward"] = out["hidden"] @ w2 + b2
    out["dropout_2"] = drop(options, 2, out["feed_forward"])
    out["residual_2"] = (z if options["residual"] else 0) + out["dropout_2"]
    if post:
        out["norm_2"] = norm(out["residual_2"], gamma2, delta2, epsilon)
    return out


def torch_norm(x, gamma, delta, epsilon):
    tensors = [torch.from_numpy(np.ascontiguousarray(m)) for m in (x, gamma, delta)]
    return F.layer_norm(tensors[0], (x.shape[1],), tensors[1], tensors[2], float(epsilon)).numpy()


TORCH_ACTIVATIONS = {
    "relu": lambda h: F.relu(torch.from_numpy(h)).numpy(),
    "gelu": lambda h: F.gelu(torch.from_numpy(h)).numpy(),
    "tanh": lambda h: torch.tanh(torch.from_numpy(h)).numpy(),
}


def block_cases():
    rng = np.random.default_rng(1607)
    base = dict(residual=True, norm="post", epsilon=1e-5, activation="relu", dropRate=0.0, seed=1, training=False)
    changes = {
        "post-norm, ReLU": {},
        "pre-norm, GELU": dict(norm="pre", activation="gelu"),
        "no norm, tanh": dict(norm="none", activation="tanh"),
        "no residual": dict(residual=False, activation="gelu", epsilon=0.01),
        "dropout": dict(training=True, dropRate=0.4, seed=7),
        "pre-norm with dropout": dict(norm="pre", training=True, dropRate=0.25, seed=123456, activation="tanh"),
    }
    for title, change in changes.items():
        options = base | change
        shapes = dict(x=(3, 6), attention=(3, 6), gamma1=(1, 6), delta1=(1, 6), w1=(6, 12), b1=(1, 12), w2=(12, 6),
                      b2=(1, 6), gamma2=(1, 6), delta2=(1, 6))
        inputs = {key: normal(rng, *shape) for key, shape in shapes.items()}
        inputs["gamma1"] += 1
        inputs["gamma2"] += 1
        wide = {key: value.astype(np.float64) for key, value in inputs.items()}
        result = block(options, **wide)
        flat = wide | {key: wide[key][0] for key in ("gamma1", "delta1", "gamma2", "delta2")}
        other = block(options, **flat, norm=torch_norm, activations=TORCH_ACTIVATIONS)
        for key, value in result.items():
            assert np.abs(value - other[key]).max() < 1e-12, (title, key)
        yield {"name": title, "options": options, "inputs": {k: stored(v[None]) for k, v in inputs.items()},
               "expected": {k: expected(v) for k, v in result.items()}}


def level(inputs, name, h):
    return np.tanh(h @ inputs[name + ".w"] + inputs[name + ".b"]) @ inputs[name + ".query"][0]


def softmax(s):
    e = np.exp(s - s.max())
    return e / e.sum()


def hierarchy_cases():
    rng, last = np.random.default_rng(2016), np.random.default_rng(11)
    cases = {"three segments": [0, 3, 5], "one segment": [0], "a segment per token": list(range(7)), "every three": [0, 3, 6]}
    for title, starts in cases.items():
        inputs = dict(h=normal(rng, 7, 4))
        for name in ("tokens", "segments"):
            shapes = {".w": (4, 8), ".b": (1, 8), ".query": (1, 8)}
            inputs |= {name + key: normal(rng, *shape) for key, shape in shapes.items()}
        wide = {key: value.astype(np.float64) for key, value in inputs.items()}
        scores = level(wide, "tokens", wide["h"])
        groups = [range(a, b) for a, b in zip(starts, starts[1:] + [7])]
        weights = np.concatenate([softmax(scores[list(g)]) for g in groups])
        sums = np.array([weights[list(g)] @ wide["h"][list(g)] for g in groups])
        upper = level(wide, "segments", sums)
        upper_weights = softmax(upper)
        classes = dict(W=normal(last, 4, 3), b=normal(last, 1, 3))
        inputs |= {"class.w": classes["W"], "class.b": classes["b"]}
        logits = (upper_weights @ sums) @ classes["W"].astype(np.float64) + classes["b"][0].astype(np.float64)
        yield {"name": title, "starts": starts, "inputs": {k: stored(v[None]) for k, v in inputs.items()},
               "expected": {"tokens.scores": expected(scores), "tokens.weights": expected(weights),
                            "tokens.sums": expected(sums), "segments.scores": expected(upper),
                            "segments.weights": expected(upper_weights),
                            "segments.sums": expected(upper_weights @ sums), "class.scores": expected(logits),
                            "class.probabilities": expected(softmax(logits))}}


def decoder_cases():
    rng = np.random.default_rng(1409)
    for title, tokens, units, words in (("three words of five", 5, 4, 3), ("one word", 1, 1, 1), ("more than were read", 3, 6, 8)):
        shapes = dict(h=(tokens, units), wA=(units, units), uA=(units, units), vA=(1, units), u=(units, units), c=(units, units))
        inputs = {key: normal(rng, *shape) for key, shape in shapes.items()}
        h, w_a, u_a, v_a, u, c = (inputs[key].astype(np.float64) for key in shapes)
        state, rows = h[-1], dict(scores=[], weights=[], contexts=[], states=[])
        for _ in range(words):
            scores = np.array([v_a[0] @ np.tanh(state @ w_a + word @ u_a) for word in h])
            weights = softmax(scores)
            context = weights @ h
            state = np.tanh(state @ u + context @ c)
            for key, row in zip(rows, (scores, weights, context, state)):
                rows[key].append(row)
        yield {"name": title, "words": words, "inputs": {k: stored(v[None]) for k, v in inputs.items()},
               "expected": {k: expected(np.array(v)) for k, v in rows.items()}}


def statistics(scores):
    weights = np.array([softmax(row) for row in scores])
    entropy = -(weights * np.log2(np.where(weights > 0, weights, 1))).sum(axis=1)
    largest = weights.max(axis=1)
    return dict(mean=scores.mean(), deviation=scores.std(), largestWeight=largest.mean(), entropy=entropy.mean())


def spread_cases(queries=128, keys=16):
    for mu, sigma, seed, dims in ((0.0, 1.0, 1, [1, 2, 16, 64]), (0.5, 2.0, 9, [3, 32]), (0.0, 0.0, 2, [4])):
        stream = draws(seed)
        q, k = np.zeros((queries, dims[-1])), np.zeros((queries, keys, dims[-1]))
        for c in range(dims[-1]):
            for i in range(queries):
                q[i, c] = mu + sigma * next(stream)
                for j in range(keys):
                    k[i, j, c] = mu + sigma * next(stream)
        results = []
        for d in dims:
            raw = np.einsum("ic,ijc->ij", q[:, :d], k[:, :, :d])
            results.append({"dim": d, "raw": statistics(raw), "scaled": statistics(raw / math.sqrt(d))})
        yield {"mean": mu, "deviation": sigma, "seed": seed, "expected": results}


def reach_cases(width=16):
    for steps, recurrent, inward, lead, seed in ((24, 0.9, 0.5, 4.0, 1), (12, 1.5, 1.0, 0.0, 3), (8, 1.0, 0.0, -2.0, 5)):
        stream = draws(seed)
        vector = lambda: np.array([next(stream) for _ in range(width)])
        columns = np.array([vector() for _ in range(width)]).T
        q, r = np.linalg.qr(columns)
        u = recurrent * q * np.sign(np.diag(r))  # Gram and Schmidt keep the direction of each column's remainder
        h = np.tanh(inward * vector())
        product, norms = np.eye(width), [1.0]
        for _ in range(steps - 1):
            h = np.tanh(u @ h + inward * vector())
            product = np.diag(1 - h**2) @ u @ product
            norms.append(math.sqrt((np.linalg.svd(product, compute_uv=False) ** 2).mean()))
        n = np.arange(1, steps + 1)
        focused = [softmax(np.r_[lead, np.zeros(k - 1)])[0] for k in n]
        yield {"steps": steps, "recurrent": recurrent, "input": inward, "lead": lead, "seed": seed,
               "expected": {"recurrent": expected(norms), "attention": expected(focused), "even": expected(1 / n)}}


def main():
    first = draws(1)
    golden = {
        "mix": [str(mix(z)) for z in (0, 1, WORD)],
        "normalSums": [normal_sum(mix(z)) for z in range(8)],
        "draws": [next(first) for _ in range(4)],
        "blocks": list(block_cases()),
        "hierarchies": list(hierarchy_cases()),
        "decoders": list(decoder_cases()),
        "spreads": list(spread_cases()),
        "reaches": list(reach_cases()),
    }
    lines = ",\n".join(f'"{key}":' + json.dumps(value, separators=(",", ":")) for key, value in golden.items())
    path = pathlib.Path(__file__).with_name("derived.json")
    path.write_text("{\n" + lines + "\n}\n")
    print(path.name, path.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
