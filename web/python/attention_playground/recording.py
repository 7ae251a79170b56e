"""What a model's attention computed, layer by layer, in a form that the board and `attn` open."""
import dataclasses
import warnings
from typing import List, Optional

import numpy as np

from .files import readable, safetensors, write
from .server import open_file

NEVER = -1e4  # what is added to a score to hide its key is at most this


@dataclasses.dataclass
class Layer:
    """One attention of a model, as it was computed.

    q is [batch, heads, queries, d], k and v are [batch, kv_heads, keys, d]: as they meet, so after biases and rotary positions. The weights are
    softmax(scale · q kᵀ + mask), with the soft cap between where there is one. mask is True where a query sees a key (bool), or is added to the
    scores (float), broadcast against [batch, heads, queries, keys]; None with `causal`, or where every query sees every key.
    """
    name: str
    q: np.ndarray
    k: np.ndarray
    v: np.ndarray
    scale: float
    softcap: float = 0.0
    causal: bool = False
    mask: Optional[np.ndarray] = None
    tokens: Optional[List[List[str]]] = None        # of each entry of the batch, by queries
    key_tokens: Optional[List[List[str]]] = None    # where the keys are another sequence
    weights: Optional[np.ndarray] = None            # [batch, heads, queries, keys] as the model computed them

    @property
    def heads(self):
        return self.q.shape[1]

    @property
    def kv_heads(self):
        return self.k.shape[1]

    def computed(self):
        """The weights in double precision, from what stands here."""
        q, k = self.q.astype(np.float64), np.repeat(self.k, self.heads // self.kv_heads, 1).astype(np.float64)
        scores = self.scale * (q @ k.swapaxes(-1, -2))
        if self.softcap:
            scores = self.softcap * np.tanh(scores / self.softcap)
        if self.causal:
            scores = np.where(lower(*scores.shape[-2:]), scores, -np.inf)
        if self.mask is not None:
            scores = np.where(self.mask, scores, -np.inf) if self.mask.dtype == bool else scores + self.mask
        largest = scores.max(-1, keepdims=True)
        scores = np.exp(scores - np.where(np.isfinite(largest), largest, 0))
        return scores / np.maximum(scores.sum(-1, keepdims=True), np.finfo(float).tiny)

    def tensors(self, entry=None):
        """{name: array} as files have them: all entries of the batch, or one, or the only one."""
        entry = 0 if entry is None and len(self.q) == 1 else entry
        of = (lambda a: a) if entry is None else (lambda a: a[min(entry, len(a) - 1)])
        out = {"q": of(self.q), "k": of(self.k), "v": of(self.v)}
        if self.mask is not None:
            out["mask"] = of(self.mask)
        if abs(self.scale * self.q.shape[-1] ** 0.5 - 1) > 1e-6:
            out["scale"] = np.float64(self.scale)
        if self.softcap:
            out["softcap"] = np.float64(self.softcap)
        out["causal"] = np.bool_(self.causal)
        for name, labels in (("tokens", self.tokens), ("key_labels", self.key_tokens)):
            if labels and (entry is not None or all(one == labels[0] for one in labels)):
                out[name] = np.array(readable(labels[entry or 0]))
        return out

    def playground(self, entry=0):
        """The board of this layer; of a batch, of one entry."""
        from .playground import Playground
        tensors = self.tensors(entry)
        tensors.pop("causal")
        return Playground(causal=self.causal, **tensors)


class Recording(list):
    """The layers in the order in which they were computed: recording[0].q, recording.save("layers.npz"), recording.show()."""

    def tensors(self, layers=None, entry=None):
        """{name: array} of all layers, or of those whose numbers are given; see save()."""
        chosen = list(self) if layers is None else [self[i] for i in ([layers] if isinstance(layers, int) else layers)]
        if not chosen:
            raise ValueError("layers: none was chosen; there are 0 to %d." % (len(self) - 1))
        tensors = {}
        for layer in chosen:
            prefix = layer.name + "." if len(chosen) > 1 and layer.name else ""
            tensors.update({prefix + name: array for name, array in layer.tensors(entry).items()})
        return tensors

    def save(self, path, layers=None, entry=None):
        """Writes .npz or .safetensors: each tensor as the name of its layer, a point, and q, k, v, mask, tokens, scale, causal …

        `layers` chooses some by number; a single one is written without its name in front. `entry` chooses one of the batch. The board asks
        which layer to show; attn run --prefix NAME chooses one.
        """
        write(path, self.tensors(layers, entry))

    def playground(self, layer=0, entry=0):
        return self[layer].playground(entry)

    def show(self, layers=None, entry=None, block=None, browser=True):
        """Opens the page in the browser, where a layer can be chosen, as Playground.show() does."""
        return open_file(safetensors(self.tensors(layers, entry)), "recording.safetensors", block, browser)


def lower(rows, keys):
    """True where a key is not later than the query; the last query sees all keys."""
    return np.tril(np.ones((rows, keys), bool), keys - rows)


# ---------------------------------------------------------------- from what was found in a forward pass

def shared(array):
    """Without the axes of batch and heads along which it is the same."""
    if (array == array[:, :1]).all():
        array = array[:, :1]
    return array[:1] if (array == array[:1]).all() else array


def grouped(k, v):
    """The keys and values of a group of heads once: models repeat them for each of its heads."""
    heads = k.shape[1]
    for group in range(heads, 1, -1):
        if heads % group == 0:
            parts = [a.reshape(len(a), heads // group, group, *a.shape[2:]) for a in (k, v)]
            if all((a == a[:, :, :1]).all() for a in parts):
                return [a[:, :, 0] for a in parts]
    return k, v


def mask_of(found, shape):
    """(causal, mask) of what was added to the scores and what was hidden."""
    bias = np.broadcast_to(found.bias, shape) if found.bias is not None else np.zeros((1, 1, 1, 1), np.float32)
    hidden = bias <= NEVER
    if found.hidden is not None:
        hidden = hidden | found.hidden
    hidden = np.broadcast_to(hidden, shape)
    nobody = hidden.all(-1)
    is_spread = found.weights[nobody] > 0 if found.weights is not None else np.isfinite(np.broadcast_to(bias, shape)[nobody])
    if is_spread.any() and found.bias is not None:  # the model spreads a row that sees nothing over hidden keys
        least = np.where(found.hidden, np.finfo(np.float32).min, np.float32(0)) if found.hidden is not None else np.float32(0)
        with np.errstate(over="ignore"):
            return False, shared(np.broadcast_to(least + bias.astype(np.float32), shape))
    if ((bias != 0) & ~hidden).any():
        return False, shared(np.where(hidden, -np.inf, bias).astype(np.float32))
    if shape[2] > 1 and shape[2] <= shape[3] and (hidden == ~lower(*shape[2:])).all():
        return True, None
    return False, shared(~hidden) if hidden.any() else None


def layer_of(found, name, tokens):
    causal, mask = mask_of(found, (len(found.q), found.q.shape[1], found.q.shape[2], found.k.shape[2]))
    k, v = grouped(found.k, found.v) if found.k.shape[1] == found.q.shape[1] else (found.k, found.v)
    layer = Layer(name, found.q, k, v, found.scale, found.cap, causal, mask, weights=found.weights)
    layer.tokens, layer.key_tokens = tokens.of(name, len(found.q), found.q.shape[2], found.k.shape[2])
    return layer


def is_as_in_model(weights, layer, found, accuracy):
    """Do these weights give what the model computed: its own weights, or where it has none, its output?"""
    if found.weights is not None:
        return np.abs(weights - found.weights).max() <= accuracy
    output = weights @ np.repeat(layer.v, layer.heads // layer.kv_heads, 1).astype(np.float64)
    return np.abs(output - np.nan_to_num(found.output)).max() <= accuracy * max(1, float(np.abs(layer.v).max()))


class Tokens:
    """The words that rows and columns stand for."""

    def __init__(self, tokens, key_tokens, tokenizer, inputs, encoding):
        def words(name, given):
            ids = inputs.get(name)
            if given is not None:
                return [list(map(str, given))] if not given or isinstance(given[0], str) else [list(map(str, one)) for one in given]
            if ids is None or getattr(ids, "ndim", 0) != 2:
                return None
            if encoding is not None and name == "input_ids" and getattr(encoding, "is_fast", False):
                return [encoding.tokens(i) for i in range(len(ids))]
            if tokenizer is not None:
                return [list(tokenizer.convert_ids_to_tokens(one.tolist())) for one in ids]
            return [[str(i) for i in one.tolist()] for one in ids]

        self.decoded = words("decoder_input_ids", tokens if key_tokens is not None else None)
        self.first = words("input_ids", key_tokens if key_tokens is not None else tokens)
        if key_tokens is not None and self.decoded is None:
            self.decoded = words("", tokens)

    def of(self, name, batch, rows, keys):
        """(of the queries, of the keys where they are others) of a layer."""
        def fitting(lists, count):
            if not lists or any(len(one) != count for one in lists):
                return None
            return lists if len(lists) == batch else lists * batch if len(lists) == 1 else None

        is_cross = any(word in name.lower() for word in ("cross", "encdec", "encoder_attn", "multihead_attn"))
        is_decoder = is_cross or ("decoder" in name.lower() and self.decoded is not None)
        ours, others = (self.decoded, self.first) if is_decoder and self.decoded else (self.first, self.decoded)
        queries = fitting(ours, rows) or fitting(others, rows)
        if not is_cross and rows == keys:
            return queries, None
        return queries, fitting(self.first, keys)


def record(model, *args, tokens=None, key_tokens=None, tokenizer=None, **inputs):
    """Runs a PyTorch model once and gives back a Recording of its attention layers.

        recording = record(model, **tokenizer("I saw a saw", return_tensors="pt"), tokenizer=tokenizer)
        recording[0].q, recording[0].weights, recording.save("layers.npz"), recording.show()

    `args` and `inputs` are those of the model. Works for the models of Hugging Face, torch.nn.MultiheadAttention, TransformerEncoder and
    TransformerDecoder, and whatever else computes softmax(scale · q kᵀ + mask) v with PyTorch. The labels come from `tokenizer`, from what a
    tokenizer made (record(model, tokenizer(…)), or from `tokens`, and `key_tokens` of an encoder. The model computes without dropout and
    without gradients, and is left as it was.

    Every layer is checked: what was recorded gives the model's own weights (to 1e-5 in float32). One that does not is left out with a warning that
    says why; ValueError where no attention was found.
    """
    import torch
    from .watch import Watch
    if not isinstance(model, torch.nn.Module):
        inner = getattr(model, "model", None)
        if not isinstance(inner, torch.nn.Module):
            raise TypeError("model: must be a torch.nn.Module, not %s." % type(model).__name__)
        tokenizer, model = tokenizer or getattr(model, "tokenizer", None), inner  # a pipeline
    encoding = args[0] if args and hasattr(args[0], "keys") and "input_ids" in args[0] else None
    if encoding is not None:
        args, inputs = args[1:], {**encoding, **inputs}
    given = inputs
    if args and "input_ids" not in inputs and getattr(args[0], "ndim", 0) == 2 and not args[0].dtype.is_floating_point:
        given = {"input_ids": args[0], **inputs}
    were = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        with torch.no_grad(), Watch(model) as watch:
            model(*args, **inputs)
    finally:
        for module, training in were:
            module.training = training
    words = Tokens(tokens, key_tokens, tokenizer, given, encoding)
    accuracy = 1e-5 if all(p.dtype in (torch.float32, torch.float64) for p in model.parameters()) else 2e-2
    recording, names = Recording(), {}
    for found in watch.found:
        name = found.where[-1][0]
        names[name] = names.get(name, 0) + 1
        if names[name] > 1:  # a layer that is used more than once
            name += ".%d" % names[name] if name else str(names[name])
        layer = layer_of(found, name, words)
        weights = layer.computed()
        if found.weights is None:
            layer.weights = weights.astype(np.float32)
        if not is_as_in_model(weights, layer, found, accuracy):
            watch.lost.append((found.where, "it is no plain softmax of scaled products"))
            continue
        recording.append(layer)
    for where, why in watch.lost:
        warnings.warn("%s was not recorded: %s." % (where[-1][0] or type(model).__name__, why), stacklevel=2)
    if not recording:
        raise ValueError("model: no attention was found in it: no softmax of a product of matrices, by which another matrix is multiplied.")
    return recording
