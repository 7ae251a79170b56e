"""What a layer computes, without a browser: by `attn` where it is installed, else here for layers of the plain kind, and by wasmtime for others."""
import os
import subprocess
import tempfile

import numpy as np

from . import module, program
from .positions import mask_by, turned
from .state import text_of

VIEW = {"version", "preset", "mode", "tokens", "labels", "key_labels", "heads", "kv_heads", "d_k", "d_v", "model_dim", "focus_head", "decimals", "theme", "seed", "weight_scale", "patch_columns", "not_finite", "picture",
        "x", "w_q", "w_k", "w_v", "w_o"}  # what changes no number of a layer that has q, k and v
POSITIONS = {"position", "rotary_pairs", "rotary_base", "rotary_dims", "rotary_scaling", "rotary_factor", "window_left", "window_right"}
PLAIN = {"q", "k", "v", "mask", "causal", "scale", "softcap", "temperature", "normalizer", "score", *POSITIONS}


def computed(state, names):
    """{name: array of float32} as the board has them: weights [heads, queries, keys], output [queries, heads · d]; None where there is neither
    `attn` nor wasmtime, and this file does not compute such a layer."""
    attn = program.attn()
    if attn:
        return by_attn(attn, state, names)
    found = here(state, names)
    return module.tensors(text_of(state), names) if found is None and module.is_there() else found


def by_attn(attn, state, names):
    with tempfile.TemporaryDirectory(prefix="attention-") as folder:
        whole, path = os.path.join(folder, "state.json"), os.path.join(folder, "tensors.npz")
        for call, text in ((["-", whole, "--state"], text_of(state)), ([whole, path, "--only", ",".join(names)], None)):
            done = subprocess.run([attn, "convert", *call], input=text, encoding="utf-8", stderr=subprocess.PIPE)
            if done.returncode:
                raise ValueError(done.stderr.strip().replace("attn: ", "", 1) or "attn ended with status %d." % done.returncode)
        with np.load(path) as found:
            return {name: found[name].astype(np.float32) for name in names}


def here(state, names):
    layer = plain_layer(state)
    if layer is None:
        return None
    weights = layer.computed()
    output = (weights @ np.repeat(layer.v, layer.heads // layer.kv_heads, 1))[0].swapaxes(0, 1)
    whole = {"q": layer.q[0], "k": layer.k[0], "v": layer.v[0], "weights": weights[0], "output": output.reshape(len(output), -1)}
    return {name: whole[name].astype(np.float32) for name in names} if set(names) <= set(whole) else None


def plain_layer(state):
    """The Layer of a state with q, k and v, one entry, and nothing that Layer does not compute; else None."""
    from .recording import Layer
    given = {**{name: value for name, value in state.items() if name != "options"}, **state.get("options", {})}
    parts = [given.get(name) for name in "qkv"]
    if given.get("mode", "qkv") != "qkv" or set(given) - VIEW - PLAIN or not all(isinstance(one, np.ndarray) and one.ndim in (2, 3) for one in parts):
        return None
    q, k, v = (one.reshape((1,) * (4 - one.ndim) + one.shape) for one in parts)
    normalizer, score, rows, keys = given.get("normalizer", "softmax"), given.get("score", "scaled"), q.shape[2], k.shape[2]
    is_usual = normalizer in ("softmax", "sigmoid") and score in ("scaled", "dot") and given.get("heads", q.shape[1]) == q.shape[1]
    mask = given.get("mask")
    if not is_usual or given.get("causal") and rows != keys or mask is not None and (not isinstance(mask, np.ndarray) or mask.shape[-1] != keys):
        return None
    options = {name: given[name] for name in ("causal", *POSITIONS) if given.get(name) not in (None, False, "none", -1)}
    if set(options) - {"causal"}:
        if rows != keys or mask is not None or options.get("position", "rotary") not in ("rotary", "alibi"):
            return None
        if options.get("position") == "rotary":
            q, k = turned(q, options), turned(k, options)
        options["causal"], mask = mask_by(options, q.shape[1], rows)
    by = 1 / given.get("temperature", 1)
    scale = given.get("scale", True) if score == "scaled" else False
    if isinstance(scale, bool):  # as the board has it: 1/√d_k or none
        scale = q.shape[-1] ** -0.5 if scale else 1
    if mask is not None:
        mask = mask.reshape((1,) * (4 - mask.ndim) + mask.shape)
        mask = mask if mask.dtype == bool else mask * by
    return Layer("", q, k, v, scale * by, given.get("softcap", 0) * by, bool(options.get("causal")), mask, normalizer=normalizer)
