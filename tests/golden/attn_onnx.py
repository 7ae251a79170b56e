#!/usr/bin/python3
"""Makes attn_onnx_1.json and attn_onnx_2.json: what `attn run` must compute, from the text of ONNX's operator Attention, in NumPy float64.

Sources, read for facts only:
  opset 23  docs/Changelog.md#Attention-23 of onnx/onnx: ranks 3 and 4, heads, masks, past, soft cap, scale, the score outputs
  opset 24  the same, Attention-24: nonpad_kv_seqlen, a mask whose last axis is shorter
  #7867     corrects both: the soft cap comes before the mask
  #8068     corrects both: causal with offset (past length, or nonpad_kv_seqlen - q_sequence_length for each batch), and
            zeros for a query that sees no key
  opset 25  #8108: left_window_size and right_window_size, on positions with the same offset, beside everything else
Beyond ONNX: temperature, the score "dot", and the shapes without a batch, which are our own.

Everything is written out position by position, so that it shares no idea with the code that it tests.
Inputs are float32 and stored so that they come back bit for bit. Debian: apt-get install python3-numpy, then
/usr/bin/python3 attn_onnx.py. The result does not depend on the machine (the seed of a case is its name).
"""

import json
import math
import pathlib
import zlib

import numpy as np

ALL = ["output", "scores", "softcapped", "masked", "weights", "present_k", "present_v"]
USUAL = ["output", "masked", "weights"]


def stored(array, dtype=None):
    """As JSON, so that reading gives the same bits; infinities as texts."""
    entry = {"shape": list(array.shape)}
    if dtype:
        entry["dtype"] = dtype
    if array.dtype == bool:
        entry["data"] = array.ravel().tolist()
    elif dtype in ("int32", "int64"):
        entry["data"] = [int(v) for v in array.ravel()]
    else:
        entry["data"] = [("inf" if v > 0 else "-inf") if np.isinf(v) else float(str(v)) for v in array.ravel()]
    return entry


def expected(array):
    if array.dtype == np.float32:
        return stored(array)
    return {"shape": list(array.shape),
            "data": ["-inf" if np.isneginf(v) else float("%.9g" % v) for v in np.asarray(array, np.float64).ravel()]}


def split_heads(packed, heads):
    """[B, L, H·d] to [B, H, L, d]"""
    batch, length, width = packed.shape
    out = np.empty((batch, heads, length, width // heads))
    for h in range(heads):
        out[:, h] = packed[:, :, h * (width // heads):(h + 1) * (width // heads)]
    return out


def attend(q, k, v, mask, past_k, past_v, lengths, options):
    """All of it for q [B,Hq,Lq,d], k and v [B,Hkv,Lk,·] in float64; mask as given, any rank, bool or float."""
    k = k if past_k is None else np.concatenate([past_k, k], axis=2)
    v = v if past_v is None else np.concatenate([past_v, v], axis=2)
    batches, heads, queries, dim = q.shape
    share, keys = heads // k.shape[1], k.shape[2]
    scale = options.get("scale")
    if options.get("score") == "dot" or scale is False:
        scale = 1.0
    elif scale is None or scale is True:
        scale = 1.0 / math.sqrt(dim)
    else:
        scale = float(np.float32(scale))
    cap = float(np.float32(options.get("softcap", 0.0)))
    temperature = float(np.float32(options.get("temperature", 1.0)))
    left, right = options.get("window_left", -1), options.get("window_right", -1)

    shape = (batches, heads, queries, keys)
    scores, softcapped = np.zeros(shape), np.zeros(shape)
    masked, weights = np.full(shape, -np.inf), np.zeros(shape)
    output = np.zeros((batches, heads, queries, v.shape[3]))
    if mask is not None:
        full = np.zeros(mask.shape[:-1] + (keys,), bool) if mask.dtype == bool else np.full(mask.shape[:-1] + (keys,), -np.inf)
        full[..., :mask.shape[-1]] = mask  # beyond its last column keys are masked
        mask = np.broadcast_to(full, shape)
    for b in range(batches):
        if past_k is not None:
            offset = past_k.shape[2]
        else:
            offset = lengths[b] - queries if lengths is not None else 0
        for h in range(heads):
            for i in range(queries):
                position = i + offset
                seen = []
                for j in range(keys):
                    s = float(np.dot(q[b, h, i], k[b, h // share, j])) * scale
                    scores[b, h, i, j] = s
                    if cap > 0.0:
                        s = cap * math.tanh(s / cap)
                    softcapped[b, h, i, j] = s
                    if mask is not None and mask.dtype != bool:
                        s = s + mask[b, h, i, j]
                    if mask is not None and mask.dtype == bool and not mask[b, h, i, j]:
                        continue
                    if options.get("causal") and j > position:
                        continue
                    if left >= 0 and j < position - left:
                        continue
                    if right >= 0 and j > position + right:
                        continue
                    if lengths is not None and j >= lengths[b]:
                        continue
                    if s == -math.inf:
                        continue
                    masked[b, h, i, j] = s
                    seen.append(j)
                if not seen:
                    continue
                most = max(masked[b, h, i, j] for j in seen)
                exps = {j: math.exp((masked[b, h, i, j] - most) / temperature) for j in seen}
                total = math.fsum(exps.values())
                for j in seen:
                    weights[b, h, i, j] = exps[j] / total
                    output[b, h, i] += weights[b, h, i, j] * v[b, h // share, j]
    return dict(output=output, scores=scores, softcapped=softcapped, masked=masked, weights=weights, present_k=k, present_v=v)


class Cases:
    def __init__(self):
        self.cases = []

    def add(self, name, q, k, v, mask=None, past=None, lengths=None, outputs=USUAL, opset=23, dtype=None, mask_dtype=None,
            inputs=None, **options):
        """Shapes as in a file; `past` is the pair of past_k's and past_v's shapes, `mask` an array or a shape of a float one.
        opset 0: not ONNX's."""
        rng = np.random.default_rng(zlib.crc32(name.encode()))
        normal = lambda shape: (rng.standard_normal(shape).round(3) + 0.0).astype(np.float32)  # no -0.0, which JavaScript writes as 0
        given = dict(zip("qkv", inputs)) if inputs else dict(q=normal(q), k=normal(k), v=normal(v))
        if past:
            given["past_k"], given["past_v"] = normal(past[0]), normal(past[1])
        if isinstance(mask, tuple):
            mask = normal(mask)
        file = {key: stored(value.astype(np.float16).astype(np.float32) if dtype == "float16-exact" else value,
                            "float16" if dtype else None) for key, value in given.items()}
        if dtype == "float16":  # values between two float16 are rounded
            given = {key: value.astype(np.float16) for key, value in given.items()}
        given = {key: value.astype(np.float64) for key, value in given.items()}
        if mask is not None:
            file["mask"] = stored(mask, "bool" if mask.dtype == bool else mask_dtype)
            mask = mask if mask.dtype == bool else (mask.astype(np.float16) if mask_dtype else mask).astype(np.float64)
        if lengths is not None:
            file["key_lengths"] = stored(np.array(lengths), "int64")
        if options:
            file["options"] = options

        packed, rank = options.get("layout") == "packed", given["q"].ndim
        def whole(name, array):
            if name.startswith("past"):
                return array.reshape((1,) * (4 - array.ndim) + array.shape)
            if not packed:
                return array.reshape((1,) * (4 - array.ndim) + array.shape)
            heads = options["heads"] if name == "q" else options.get("kv_heads", options["heads"])
            return split_heads(array.reshape((1,) * (3 - array.ndim) + array.shape), heads)
        wide = {key: whole(key, value) for key, value in given.items()}
        narrow = lambda key: results[key].astype(np.float32) if key.startswith("present") else results[key]
        results = attend(wide["q"], wide["k"], wide["v"], mask, wide.get("past_k"), wide.get("past_v"), lengths, options)
        for key in results:
            if packed and key == "output":
                batch, heads, rows, columns = results[key].shape
                results[key] = results[key].transpose(0, 2, 1, 3).reshape((batch, rows, heads * columns))
                drop = 3 - rank
            else:
                drop = 4 - (rank + 1 if packed else rank)
            results[key] = results[key].reshape(results[key].shape[drop:])
        self.cases.append(dict(name=name, opset=opset, input=file, expected={key: expected(narrow(key)) for key in outputs}))


def truths(name, shape, share=0.7):
    return np.random.default_rng(zlib.crc32(("mask of " + name).encode())).random(shape) < share


def make():
    c = Cases()
    inf = np.float32(np.inf)
    base = ((2, 3, 4, 8), (2, 3, 6, 8), (2, 3, 6, 8))  # q, k, v of most cases
    small = ((2, 2, 3, 4), (2, 2, 5, 4), (2, 2, 5, 3))

    # Shapes and heads.
    c.add("4d", *base, outputs=ALL)
    c.add("4d, other value size", (2, 3, 4, 8), (2, 3, 6, 8), (2, 3, 6, 10), outputs=ALL)
    c.add("4d, one of everything", (1, 1, 1, 1), (1, 1, 1, 1), (1, 1, 1, 1))
    c.add("4d, grouped heads", (2, 9, 4, 8), (2, 3, 6, 8), (2, 3, 6, 8), outputs=["output", "weights"])
    c.add("4d, one key head", (2, 4, 4, 8), (2, 1, 6, 8), (2, 1, 6, 5), outputs=["output", "weights"])
    c.add("3 axes, no batch", (2, 3, 4), (2, 5, 4), (2, 5, 3), opset=0, outputs=ALL)
    c.add("3 axes, grouped heads and past", (4, 3, 4), (2, 2, 4), (2, 2, 3), past=((2, 3, 4), (2, 3, 3)), opset=0, causal=True)
    c.add("2 axes", (3, 4), (5, 4), (5, 3), opset=0, outputs=ALL)
    c.add("2 axes, past", (3, 4), (2, 4), (2, 3), past=((4, 4), (4, 3)), opset=0, causal=True, outputs=ALL)
    c.add("lengths around the lanes", (1, 2, 25, 17), (1, 1, 67, 17), (1, 1, 67, 9), outputs=["output"], causal=True)
    c.add("more keys than a block", (1, 1, 3, 5), (1, 1, 530, 5), (1, 1, 530, 3), outputs=["output", "weights"])
    c.add("no queries", (1, 2, 0, 4), (1, 2, 3, 4), (1, 2, 3, 4), opset=0, outputs=ALL)
    c.add("no keys", (1, 2, 2, 4), (1, 2, 0, 4), (1, 2, 0, 3), opset=0, outputs=ALL)

    # Rank 3: packed.
    c.add("packed", (2, 4, 24), (2, 6, 24), (2, 6, 24), heads=3, kv_heads=3, layout="packed", outputs=ALL)
    c.add("packed, grouped heads", (2, 4, 72), (2, 6, 24), (2, 6, 24), heads=9, kv_heads=3, layout="packed", outputs=["output", "weights"])
    c.add("packed, other value size", (2, 4, 24), (2, 6, 24), (2, 6, 30), heads=3, kv_heads=3, layout="packed")
    c.add("packed, causal, scale, softcap", (2, 4, 24), (2, 6, 24), (2, 6, 24), heads=3, kv_heads=3, layout="packed", causal=True,
          scale=0.3, softcap=2.0, outputs=ALL)
    c.add("packed, past", (2, 4, 24), (2, 2, 24), (2, 2, 30), past=((2, 3, 5, 8), (2, 3, 5, 10)), heads=3, kv_heads=3, layout="packed", outputs=ALL)
    c.add("packed, past, causal, grouped, mask", (2, 4, 36), (2, 4, 12), (2, 4, 6), past=((2, 2, 3, 6), (2, 2, 3, 3)), heads=6, kv_heads=2,
          layout="packed", causal=True, mask=(2, 1, 4, 7), outputs=["output", "masked", "present_k", "present_v"])
    c.add("packed, key lengths", (2, 4, 24), (2, 6, 24), (2, 6, 24), heads=3, layout="packed", lengths=[4, 6], causal=True, opset=24)
    c.add("packed, no batch", (4, 12), (6, 12), (6, 9), heads=3, layout="packed", opset=0)

    # Scale, soft cap, temperature.
    c.add("scale", *base, scale=0.01, outputs=ALL)
    c.add("scale 0", *small, scale=0.0, opset=0)
    c.add("scale below 0", *small, scale=-0.5, opset=0)
    c.add("scale as false", *small, scale=False, opset=0)
    c.add("dot", *small, score="dot", opset=0)
    c.add("softcap", *base, softcap=2.0, outputs=ALL)
    c.add("softcap 3, causal", *base, softcap=3.0, causal=True, outputs=ALL)
    c.add("softcap and a mask of -inf", *base, softcap=1.0, mask=np.where(truths("cap", (4, 6), 0.6), np.float32(0), -inf))
    c.add("softcap and a float mask", *base, softcap=2.0, mask=(4, 6), outputs=ALL)
    c.add("softcap and a boolean mask", *base, softcap=2.0, mask=truths("capped", (2, 3, 4, 6)))
    c.add("temperature", *small, temperature=0.25, causal=True, opset=0)
    c.add("temperature, softcap, mask", *small, temperature=3.0, softcap=1.5, mask=(3, 5), opset=0, outputs=ALL)

    # Masks.
    for rank, shape in enumerate([(6,), (4, 6), (3, 4, 6), (2, 3, 4, 6)], 1):
        c.add(f"boolean mask of rank {rank}", *base, mask=truths(f"b{rank}", shape))
        c.add(f"float mask of rank {rank}", *base, mask=shape)
    for shape in [(1, 6), (1, 4, 6), (3, 1, 6), (2, 1, 4, 6), (1, 3, 4, 6), (2, 1, 1, 6), (1, 1, 1, 6)]:
        c.add(f"boolean mask {list(shape)}", *base, mask=truths(str(shape), shape))
        c.add(f"float mask {list(shape)}", *base, mask=shape)
    for keys in (1, 4):
        c.add(f"boolean mask of {keys} keys out of 6", *base, mask=truths(f"short{keys}", (4, keys), 0.8), opset=24)
        c.add(f"float mask of {keys} keys out of 6", *base, mask=(2, 1, 4, keys), opset=24)
    c.add("boolean mask, grouped heads", (2, 4, 3, 4), (2, 2, 5, 4), (2, 2, 5, 4), mask=truths("g", (2, 4, 3, 5)))
    c.add("float mask with -inf, causal", *base, mask=np.where(truths("fc", (2, 1, 4, 6)), np.float32(0.5), -inf), causal=True)
    c.add("boolean mask, causal", *base, mask=truths("bc", (4, 6)), causal=True)
    c.add("mask in float16", *base, mask=(4, 6), mask_dtype="float16", opset=0)

    # Causal, past, key lengths, windows.
    c.add("causal, as many keys", (2, 3, 5, 8), (2, 3, 5, 8), (2, 3, 5, 8), causal=True)
    c.add("causal, more keys", *base, causal=True)
    c.add("causal, fewer keys", (2, 3, 6, 8), (2, 3, 4, 8), (2, 3, 4, 8), causal=True)
    past = ((2, 3, 5, 8), (2, 3, 5, 10))
    with_past = ((2, 3, 4, 8), (2, 3, 4, 8), (2, 3, 4, 10))
    c.add("past", *with_past, past=past, outputs=ALL)
    c.add("past, causal", *with_past, past=past, causal=True, outputs=ALL)
    c.add("past, one query, causal", (2, 3, 1, 8), (2, 3, 1, 8), (2, 3, 1, 10), past=past, causal=True)
    c.add("past of nothing", *with_past, past=((2, 3, 0, 8), (2, 3, 0, 10)), causal=True)
    c.add("past and no new keys", (1, 2, 2, 4), (1, 2, 0, 4), (1, 2, 0, 3), past=((1, 2, 3, 4), (1, 2, 3, 3)), opset=0, outputs=ALL)
    c.add("past, float mask of rank 3", *with_past, past=past, mask=(1, 4, 9))
    c.add("past, boolean mask of rank 4, causal", *with_past, past=past, mask=truths("p4", (2, 3, 4, 9)), causal=True)
    c.add("past, grouped heads, softcap", (2, 6, 4, 8), (2, 2, 4, 8), (2, 2, 4, 5), past=((2, 2, 3, 8), (2, 2, 3, 5)), softcap=1.5,
          causal=True, outputs=["output", "weights", "present_k", "present_v"])
    c.add("key lengths", *base, lengths=[3, 6], opset=24)
    c.add("key lengths, causal", *base, lengths=[5, 6], causal=True, opset=24)
    c.add("key lengths below the queries, causal", *base, lengths=[2, 0], causal=True, opset=24)
    c.add("key lengths, one query, causal", (3, 2, 1, 4), (3, 2, 7, 4), (3, 2, 7, 4), lengths=[1, 4, 7], causal=True, opset=24)
    c.add("key lengths, mask", *base, lengths=[3, 5], mask=(2, 1, 4, 5), opset=24)
    c.add("key lengths, boolean mask, causal, softcap", *base, lengths=[4, 5], mask=truths("kl", (1, 3, 4, 6)), causal=True, softcap=1.0, opset=24)
    c.add("key lengths and past, causal", *with_past, past=past, lengths=[7, 9], causal=True, opset=0)
    for left, right in [(1, -1), (-1, 1), (2, 1), (0, 0), (100, 100), (0, -1)]:
        c.add(f"window {left} {right}", (1, 2, 6, 4), (1, 2, 6, 4), (1, 2, 6, 3), window_left=left, window_right=right, opset=25,
              outputs=["output", "masked", "weights"])
    c.add("window 2 1, causal", (1, 2, 6, 4), (1, 2, 6, 4), (1, 2, 6, 3), window_left=2, window_right=1, causal=True, opset=25)
    c.add("window 2 0, past", *with_past, past=past, window_left=2, window_right=0, opset=25)
    c.add("window 3 -1, past, causal", *with_past, past=past, window_left=3, causal=True, opset=25)
    c.add("window 1 1, past, mask", *with_past, past=past, window_left=1, window_right=1, mask=truths("w", (4, 9)), opset=25)
    c.add("window 1 -1, key lengths, causal", *base, lengths=[4, 6], window_left=1, causal=True, opset=25)
    c.add("window 1 1, key lengths", *base, lengths=[3, 5], window_left=1, window_right=1, opset=25)
    c.add("window 1 0, packed, past", (2, 4, 24), (2, 4, 24), (2, 4, 24), past=((2, 3, 2, 8), (2, 3, 2, 8)), heads=3, layout="packed",
          window_left=1, window_right=0, opset=25)

    # Rows that see nothing.
    rows = np.ones((4, 6), bool)
    rows[[0, 2]] = False
    c.add("rows masked by a boolean mask", *base, mask=rows)
    c.add("rows masked by -inf", *base, mask=np.where(rows, np.float32(0), -inf))
    c.add("rows masked by a mask and causal together", *base, mask=np.triu(np.ones((4, 6), bool), 1), causal=True)
    c.add("everything masked", *base, mask=np.zeros((1,), bool), softcap=1.0)
    c.add("rows masked by -inf, softcap", *base, mask=np.where(rows, np.float32(1), -inf), softcap=2.0)

    # Numbers: float16, and large ones.
    c.add("float16", *base, dtype="float16", opset=0)
    c.add("float16 as NumPy saves it", (1, 2, 3, 4), (1, 2, 3, 4), (1, 2, 3, 4), dtype="float16-exact", inputs=[
        np.random.default_rng(i).standard_normal((1, 2, 3, 4)).astype(np.float16).astype(np.float32) for i in range(3)], causal=True, opset=0)
    halves = np.array([[65504.0, 5.9604645e-8, 2.9802322e-8, 1e-9], [0.1, 1.0004883, 1.0014648, 2049.0]], np.float32)
    c.add("float16 at its ends", None, None, None, dtype="float16", inputs=[halves * 0 + 1, halves, halves], scale=1e-5, opset=0)
    rng = np.random.default_rng(7)
    large = [(rng.standard_normal((1, 1, 4, 4)) * 1e4).astype(np.float32) for _ in range(3)]
    c.add("large numbers", None, None, None, inputs=large, causal=True, outputs=["output", "weights"])
    return c.cases


if __name__ == "__main__":
    cases = make()
    half = len(cases) // 2
    for number, part in enumerate([cases[:half], cases[half:]], start=1):
        path = pathlib.Path(__file__).with_name(f"attn_onnx_{number}.json")
        lines = [json.dumps(case, separators=(",", ":")) for case in part]
        path.write_text("[\n" + ",\n".join(lines) + "\n]\n")
        print(path.name, len(part), "cases,", path.stat().st_size, "bytes")
