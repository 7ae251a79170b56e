"""What a model's attention computed, layer by layer, in a form that the board and `attn` open."""
import dataclasses
import re
import warnings
from typing import List, Optional

import numpy as np

from .files import readable, safetensors, write
from .frames import grid_of, picture_of, sensed
from .positions import mask_by, options_of, turned
from .server import open_file

NEVER = -1e4  # what is added to a score to hide its key is at most this


class Later:
    """The weights of a Layer: those that it was given, or where it has only LATER, computed when they are first asked for."""
    def __get__(self, layer, owner):
        if layer is None:
            return None  # what stands there where none are given
        if layer.__dict__.get("weights") is LATER:
            layer.weights = layer.computed(dtype=np.float32)
        return layer.__dict__.get("weights")

    def __set__(self, layer, weights):
        layer.__dict__["weights"] = weights


LATER = ...  # stays the same object in copies and pickles


@dataclasses.dataclass
class Layer:
    """One attention of a model, as it was computed.

    q is [batch, heads, queries, d], k and v are [batch, kv_heads, keys, d]: as they meet, so after biases and rotary positions. The weights are
    softmax(scale · q kᵀ + mask), with the soft cap between where there is one. mask is True where a query sees a key (bool), or is added to the
    scores (float), broadcast against [batch, heads, queries, keys]; None with `causal`, or where every query sees every key.

    An attention sink (gpt-oss, softmax-1) stands there as one more key, of zeros, whose mask is its logit and whose value is zero.
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
    weights: Optional[np.ndarray] = Later()         # [batch, heads, queries, keys] as the model computed them; of fused operations, as recomputed
    normalizer: str = "softmax"                     # or "sigmoid"
    padding: Optional[np.ndarray] = None            # [batch, queries]: True where a token only fills up a batch, by attention_mask
    norm: str = ""                                  # the class of the module that normalised q and k, such as "Qwen3RMSNorm"
    options: dict = dataclasses.field(default_factory=dict)  # of the board, which files have instead: position, rotary_base, window_left …; see options_of()
    rotation: str = ""                              # rotary positions that the board has no name for, such as "yarn, factor 2"; q and k are as they were turned
    picture: Optional[np.ndarray] = None            # [batch, keys, 3 · side²]: the pixels of the patches, from −1 to 1
    steps: Optional[List[int]] = None               # how many keys the cache held after each step of generate(), the first of which is the prompt
    origin: Optional[tuple] = None                  # where the model computes it, (name of the module, which of its uses), and how many heads it has there

    @property
    def heads(self):
        return self.q.shape[1]

    @property
    def kv_heads(self):
        return self.k.shape[1]

    @property
    def positions(self):
        """What q, k and the mask have of positions, in words: "rotary, base 10000", "yarn, factor 2", "ALiBi", "window of 4 keys"; "" if the configuration names none."""
        options, words = self.options, []
        if options.get("position") == "rotary":
            scaled = options.get("rotary_scaling", "none")
            words.append("rotary, base %g" % options["rotary_base"] + (", %s scaling by %g" % (scaled, options["rotary_factor"]) if scaled != "none" else ""))
        elif options.get("position") == "alibi":
            words.append("ALiBi")
        if self.rotation:
            words.append("rotary, " + self.rotation)
        left, right = options.get("window_left", -1), options.get("window_right", -1)
        if left >= 0 or right >= 0:
            words.append("window of %d keys" % (max(left, 0) + max(right, 0) + 1))
        return "; ".join(words + (["queries and keys by " + self.norm] if self.norm else []))

    def computed(self, rows=None, dtype=np.float64):
        """The weights in double precision, from what stands here; `rows` are the numbers of queries, all without it."""
        rows = np.arange(self.q.shape[2]) if rows is None else rows
        q, k = self.q[:, :, rows].astype(dtype), self.k.astype(dtype)
        if self.heads > self.kv_heads:
            k = np.repeat(k, self.heads // self.kv_heads, 1)
        scores = (self.scale * q) @ k.swapaxes(-1, -2)
        if self.softcap:
            scores = self.softcap * np.tanh(scores / self.softcap)
        if self.causal:
            np.copyto(scores, -np.inf, where=~lower(self.q.shape[2], k.shape[2])[rows])
        if self.mask is not None:
            mask = self.mask if self.mask.shape[-2] == 1 else self.mask[..., rows, :]
            scores = np.where(mask, scores, -np.inf) if mask.dtype == bool else scores + mask
        if self.normalizer == "sigmoid":
            return 0.5 + 0.5 * np.tanh(scores / 2)
        largest = scores.max(-1, keepdims=True)
        scores -= np.where(np.isfinite(largest), largest, 0)
        np.exp(scores, out=scores)
        scores /= np.maximum(scores.sum(-1, keepdims=True), np.finfo(dtype).tiny)
        return scores

    def present(self, step=-1):
        """(k, v) in the cache after a step of generate(): step 0 is the prompt, each further one a token; [batch, kv_heads, keys so far, d]."""
        if self.steps is None:
            raise ValueError("%s: was computed in one step, so there is no cache; record(model.generate, …) has one." % (self.name or "layer"))
        count = self.steps[listed(step, len(self.steps), "step")[0]]
        return self.k[:, :, :count], self.v[:, :, :count]

    def before_positions(self):
        """q and k before the rotation that the options name."""
        if self.options.get("position") != "rotary":
            return self.q, self.k
        return tuple(turned(one, self.options, sign=-1) for one in (self.q, self.k))

    def of_head(self, head, entry=0):
        """The weights [queries, keys] of one head; computed where none were kept."""
        if self.weights is not None:
            return self.weights[entry, head]
        one = dataclasses.replace(self, q=self.q[entry:entry + 1, head:head + 1], weights=None,
                                  **{name: getattr(self, name)[entry:entry + 1, head // (self.heads // self.kv_heads)][:, None] for name in "kv"},
                                  mask=None if self.mask is None else self.mask[min(entry, len(self.mask) - 1)][None, [min(head, self.mask.shape[1] - 1)]])
        return one.computed(dtype=np.float32)[0, 0]

    def tensors(self, entry=None):
        """{name: array} as files have them: all entries of the batch, or one, or the only one."""
        entry = 0 if entry is None and len(self.q) == 1 else entry
        of = (lambda a: a) if entry is None else (lambda a: a[min(entry, len(a) - 1)])
        q, k = self.before_positions()
        out = {"q": of(q), "k": of(k), "v": of(self.v)}
        if self.mask is not None and not is_masked(self.options):
            out["mask"] = of(self.mask)
        if abs(self.scale * self.q.shape[-1] ** 0.5 - 1) > 1e-6:
            out["scale"] = np.float64(self.scale)
        if self.softcap:
            out["softcap"] = np.float64(self.softcap)
        if self.picture is not None:
            out["picture"] = of(self.picture)
        out["causal"] = np.bool_(self.causal)
        out.update({name: np.array(value) for name, value in self.options.items()})
        if self.normalizer != "softmax":
            out["normalizer"] = np.array(self.normalizer)
        for name, labels in (("tokens", self.tokens), ("key_labels", self.key_tokens)):
            if labels and (entry is not None or all(one == labels[0] for one in labels)):
                out[name] = np.array(readable(labels[entry or 0]))
        return out

    def playground(self, entry=0):
        """The board of this layer; of a batch, of one entry."""
        from .playground import Playground
        tensors = self.tensors(entry)
        return Playground(causal=bool(tensors.pop("causal")), **tensors)

    def figure(self, what="weights", head=0, entry=0, **options):
        """A figure for a paper: "weights" of one head, "heads", "arcs" or "board", as `attn render` draws it.

        Options: width="3.25in", range=(0, 0.5), tokens=slice(40, 80) or (40, 80), pool="max" or "mean", base=0 or 1 (from which heads, layers and tokens
        count, here and in the figure), title="", style="light", ax=axes of Matplotlib, and those of `attn render` by their names. Returns a Figure, which
        a notebook shows and `save("figure.pdf")` writes. The weights are those that the model computed, where they were kept.
        """
        from .figure import figure_of
        return figure_of(self, what, head, entry, **options)


class Recording(list):
    """The layers in the order in which they were computed: recording[0].q, recording["h.0.attn"], recording.save("layers.npz"), recording.show()."""

    def __getitem__(self, which):
        if not isinstance(which, str):
            return super().__getitem__(which)
        for layer in self:
            if layer.name == which:
                return layer
        raise KeyError("%s: there is no layer of this name; there are %s." % (which, ", ".join(layer.name for layer in self)))

    title = ""   # the model's class
    _run = None

    @property
    def run(self):
        """The run that was recorded, to be made again."""
        if self._run is None:
            raise ValueError("this recording is not of one run of a model (but of files, of parts, or of generate()), so it cannot be run again; record the model itself.")
        return self._run

    def edit(self):
        """A with-block in which heads are changed: off, scale, mean, uniform, replace; see Edit."""
        from .edit import Edit
        self.run  # or why not
        return Edit(self)

    def effect(self, target=None, progress=True):
        """How much the answer depends on each head: [layers, heads], NaN where a layer has fewer. Each head is switched off in a run of its own.

        Without `target`, KL(before ‖ after) of the next token in bit, the mean over the batch; with target, [batch, tokens] numbers of tokens, by how much
        the loss grows, in nat. `progress` shows a line on a terminal, or is called with (heads done, all heads). KeyboardInterrupt leaves the model as it
        was, and has what was found so far as `effect`."""
        from .edit import effect
        self.run  # or why not
        return effect(self, target, progress)

    sweep = effect

    def __repr__(self):
        """One line, whatever it holds."""
        def several(numbers, word):
            least, most = min(numbers, default=0), max(numbers, default=0)
            return "%s %s%s" % (least if least == most else "%d to %d" % (least, most), word, "" if most == 1 else "s")

        cross = sum(bool(layer.key_tokens) and not set(layer.tokens[0] if layer.tokens else [None]) <= set(layer.key_tokens[0]) for layer in self)
        parts = [several([layer.q.shape[2] for layer in self], "token"), several([len(layer.q) for layer in self], "prompt")] + (["%d cross" % cross] if cross else [])
        return "<Recording%s: %s × %s, %s>" % (" " + self.title if self.title else "", several([len(self)], "layer"), several([layer.heads for layer in self], "head"), ", ".join(parts))

    def tensors(self, layers=None, entry=None):
        """{name: array} of all layers, or of those whose numbers are given; see save()."""
        chosen, tensors = chosen_of(self, layers), {}
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

    def words(self, entry=0):
        """The recording of one prompt by words instead of the tokenizer's pieces: weights are summed over the pieces of a key and averaged over those of
        a query. Its layers have these weights, as the softmax of their logarithms in the mask; no longer the q and k of the model."""
        from .words import merged
        out = Recording(merged(layer, entry) for layer in self)
        out.title = self.title
        return out

    def show(self, layers=None, entry=None, block=None, browser=None):
        """In a notebook, all heads in the cell: a click shows a head, its weights are asked for then. Elsewhere, or with browser=True, opens the page,
        where a layer can be chosen, as Playground.show() does."""
        from .display import display, is_notebook
        if browser is None and is_notebook():
            chosen = Recording(self if layers is None else [self[i] for i in ([layers] if isinstance(layers, int) else layers)])
            chosen.title, chosen._run = self.title, self._run
            return display(chosen, chosen.widget)
        return open_file(safetensors(self.tensors(layers, entry)), "recording.safetensors", block, browser is not False)

    def widget(self):
        """The widget of the notebook, with the traits layers, chosen, live and error."""
        from .widget import Heads
        is_live = self._run is not None and all(layer.origin and layer.origin[1] == layer.heads for layer in self)  # with all heads that the model has
        return Heads(self, title=self.title, layers=[[layer.name, layer.heads] for layer in self], live=is_live)

    def picture(self):
        """All heads, one of them large, and the best of each kind, as the text of an SVG: of the first prompt."""
        from .picture import picture_of
        first = self[0]
        tokens = first.tokens[0] if first.tokens else None
        keys = first.key_tokens[0] if first.key_tokens else tokens
        return picture_of([[layer.of_head(head) for head in range(layer.heads)] for layer in self], tokens, keys, repr(self))

    def figure(self, what="weights", layer=0, head=0, base=0, title=None, **options):
        """A figure of one layer, which its title names: recording.figure(layer=5, head=3, width="3.25in").save("figure.pdf"). See Layer.figure."""
        number = layer if isinstance(layer, str) else layer - base
        if title is None and len(self) > 1 and what != "board":
            title = {"weights": "Attention weights, layer {layer}, head {head}", "arcs": "Who attends to whom, layer {layer}, head {head}",
                     "heads": "Attention weights of all heads of layer {layer}"}.get(what, "").format(layer=layer, head=head)
        if not isinstance(number, str) and not 0 <= number < len(self):
            raise IndexError("layer: %s is not one of %d layers, which are counted from %d." % (layer, len(self), base))
        return self[number].figure(what, head, base=base, title=title, **options)

    def to_html(self, path, layers=None, entry=None):
        """Writes one file with the whole page and this recording, that works from a disk and without a network. It opens on the page Model; layers that
        one page cannot hold together (of other shapes or options, of several prompts, or with too many numbers) are chosen in a list above it."""
        from .boards import boards_of
        from .html import write_page
        write_page(path, boards_of(chosen_of(self, layers), entry), "Attention Playground: " + repr(self).strip("<>"))


def chosen_of(recording, layers):
    """All layers, or those whose numbers are given."""
    chosen = list(recording) if layers is None else [recording[i] for i in ([layers] if isinstance(layers, int) else layers)]
    if not chosen:
        raise ValueError("layers: none was chosen; there are 0 to %d." % (len(recording) - 1))
    return chosen


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
    bias = found.bias if found.bias is not None else np.zeros((1, 1, 1, 1), np.float32)
    hidden = bias <= NEVER
    if found.hidden is not None:
        hidden = hidden | found.hidden
    hidden = np.broadcast_to(hidden, (*hidden.shape[:2], *shape[2:]))
    nobody = hidden.all(-1)
    if nobody.any() and found.bias is not None:
        rows = np.broadcast_to(nobody, shape[:3])
        is_spread = found.weights[rows] > 0 if found.weights is not None and found.rows is None else np.isfinite(np.broadcast_to(bias, shape)[rows])
        if is_spread.any():  # the model spreads a row that sees nothing over hidden keys
            least = np.where(found.hidden, np.finfo(np.float32).min, np.float32(0)) if found.hidden is not None else np.float32(0)
            with np.errstate(over="ignore"):
                both = least + bias.astype(np.float32)
            return False, shared(np.broadcast_to(both, (*both.shape[:2], *shape[2:])))
    if found.bias is not None and ((bias != 0) & ~hidden).any():
        return False, shared(np.where(hidden, -np.inf, bias).astype(np.float32))
    if shape[2] > 1 and shape[2] <= shape[3] and (hidden == ~lower(*shape[2:])).all():
        return True, None
    return False, shared(~hidden) if hidden.any() else None


def with_sink(layer, sink):
    """The sink as one more key: its score is 0, its mask its logit, its value 0."""
    shape = (len(layer.q), layer.heads, layer.q.shape[2], layer.k.shape[2])
    mask = np.zeros((1, 1, *shape[2:]), np.float32)
    if layer.causal or layer.mask is not None:
        seen = lower(*shape[2:]) if layer.causal else layer.mask
        mask = np.where(seen, np.float32(0), -np.inf) if seen.dtype == bool else seen
    mask = np.broadcast_to(mask, (max(len(sink), mask.shape[0] if mask.ndim == 4 else 1), max(sink.shape[1], mask.shape[1] if mask.ndim == 4 else 1), *shape[2:]))
    layer.mask = np.concatenate([mask, np.broadcast_to(sink, (*mask.shape[:3], 1))], -1).astype(np.float32)
    layer.causal = False
    layer.k, layer.v = (np.concatenate([a, np.zeros_like(a[:, :, :1])], 2) for a in (layer.k, layer.v))
    if layer.weights is not None:
        layer.weights = np.concatenate([layer.weights, 1 - layer.weights.sum(-1, keepdims=True)], -1)
    keys = layer.key_tokens or layer.tokens
    layer.key_tokens = [[*one, "sink"] for one in keys] if keys else None
    return layer


def is_masked(options):
    """Do they say all that the mask says?"""
    return options.get("position") == "alibi" or "window_left" in options or "window_right" in options


def by_options(layer):
    """The layer as the options make it of q and k before their rotation."""
    q, k = layer.before_positions()
    if layer.options.get("position") == "rotary":
        q, k = turned(q, layer.options), turned(k, layer.options)
    causal, mask = mask_by(layer.options, layer.heads, q.shape[2]) if is_masked(layer.options) else (layer.causal, layer.mask)
    return dataclasses.replace(layer, q=q, k=k, causal=causal, mask=mask, weights=None)


def described(layer, found):
    """Names what q, k and the mask are by options of the board, where these give the same weights, to 1e-6."""
    layer.norm, layer.rotation = found.norm, found.rotation
    if layer.q.shape[2] != layer.k.shape[2] or found.sink is not None:
        return
    rotary, masked = found.options, options_of(layer.mask, layer.heads) if layer.mask is not None else None
    rows = spread(layer.q.shape[2])
    for options in (rotary, masked or {}):
        was, layer.options = layer.options, {**layer.options, **options}
        if options and np.abs(by_options(layer).computed(rows) - layer.computed(rows)).max() > 1e-6:
            layer.options = was


def layer_of(found, name, tokens):
    causal, mask = mask_of(found, (len(found.q), found.q.shape[1], found.q.shape[2], found.k.shape[2]))
    layer = Layer(name, found.q, found.k, found.v, found.scale, found.cap, causal, mask, weights=found.weights, normalizer=found.kind)
    layer.tokens, layer.key_tokens = tokens.of(name, len(found.q), found.q.shape[2], found.k.shape[2])
    layer.padding = tokens.padding_of(name, len(found.q), found.q.shape[2])
    keys, grid = layer.key_tokens or layer.tokens, grid_of(tokens.config, tokens.inputs, found.k.shape[2])
    if grid and grid[1] < grid[0] and keys and keys[0] == sensed(tokens.config, tokens.inputs, found.k.shape[2]):
        layer.options = {"patch_columns": grid[0]}
        layer.picture = picture_of(tokens.config, tokens.inputs, found.k.shape[2]) if found.q.shape[2] == found.k.shape[2] and found.sink is None else None
    layer.steps = found.steps and list(found.steps)
    return with_sink(layer, found.sink) if found.sink is not None else layer


def spread(count):
    """64 numbers, evenly from the first to the last, or all where there are fewer."""
    return np.unique(np.linspace(0, count - 1, 64).astype(int))


def difference(layer, found):
    """Why these numbers do not give what the model computed, None where they do: its own weights, or where it has none, its output.

    Of long inputs 64 rows are computed again, evenly from the first to the last; in the precision in which the model computed its scores."""
    if not all(np.isfinite(a).all() for a in (layer.q, layer.k, layer.v)):
        return "its queries, keys or values are not all numbers (NaN or infinity)"
    rows = spread(layer.q.shape[2])
    weights, own = layer.computed(rows), slice(None) if found.rows is not None else rows
    q, k = np.abs(layer.q[:, :, rows]).max(2), np.repeat(np.abs(layer.k), layer.heads // layer.kv_heads, 1)
    largest = float((k * q[:, :, None]).sum(-1).max()) * abs(layer.scale)
    if layer.mask is not None and layer.mask.dtype != bool:
        largest += float(np.abs(layer.mask[layer.mask > NEVER]).max(initial=0))
    accuracy = max(1e-5, min(0.1, 2 * found.eps * (1 + largest)))
    if found.weights is not None:
        off = np.abs(weights - layer.weights[:, :, own]).max()
    else:
        output = weights @ np.repeat(layer.v, layer.heads // layer.kv_heads, 1).astype(np.float64)
        off = np.abs(output - np.nan_to_num(found.output[:, :, own])).max() / max(1, float(np.abs(layer.v).max()))
    return None if off <= accuracy else "it is no plain %s of scaled products" % layer.normalizer


def chosen(layer, heads, queries):
    """The layer with these heads and queries alone."""
    if heads is not None:
        numbers = listed(heads, layer.heads, "heads")
        group = layer.heads // layer.kv_heads
        k, v = (a[:, [h // group for h in numbers]] for a in (layer.k, layer.v))
        of = lambda a: a if a is None or a.shape[1] == 1 else a[:, numbers]
        layer.q, layer.mask, layer.weights = layer.q[:, numbers], of(layer.mask), None if layer.weights is None else layer.weights[:, numbers]
        layer.k, layer.v = grouped(k, v)
        if layer.options.get("position") == "alibi":  # its slopes go by the number of heads
            layer.options = {}
    if queries is not None:
        layer.options, layer.picture = {}, None
        rows, keys = layer.q.shape[2], layer.k.shape[2]
        numbers = listed(queries, rows, "queries")
        if layer.causal:
            layer.causal, layer.mask = False, lower(rows, keys)[None, None]
        of = lambda a: a if a is None or a.shape[2] == 1 else a[:, :, numbers]
        layer.q, layer.mask, layer.weights = layer.q[:, :, numbers], of(layer.mask), None if layer.weights is None else layer.weights[:, :, numbers]
        if layer.tokens and layer.key_tokens is None and rows == keys:
            layer.key_tokens = layer.tokens
        layer.tokens = layer.tokens and [[one[i] for i in numbers] for one in layer.tokens]
        layer.padding = None if layer.padding is None else layer.padding[:, numbers]
    return layer


def listed(numbers, count, name):
    """The numbers that 3, [0, 2], range(4) or slice(-2, None) stand for; negative ones count from the end."""
    given = range(count)[numbers] if isinstance(numbers, slice) else [numbers] if isinstance(numbers, (int, np.integer)) else list(numbers)
    for number in given:
        if not -count <= number < count:
            raise ValueError("%s: there is no number %d; there are 0 to %d." % (name, number, count - 1))
    if not len(given):
        raise ValueError("%s: none was chosen; there are 0 to %d." % (name, count - 1))
    return [int(number) % count for number in given]


def bytes_of(limit):
    """2e9, "2GB" or "500 MB" in bytes."""
    match = re.fullmatch(r"\s*([0-9.]+(?:e[0-9]+)?)\s*([kMGT]?)B?\s*", str(limit))
    try:
        return float(match[1]) * {"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}[match[2]]
    except (TypeError, ValueError):
        raise ValueError('limit: must be a number of bytes, or a text such as "2GB", not %r.' % (limit,)) from None


class Room:
    """What the recording may take: said before a copy is made that would be too much."""
    def __init__(self, limit):
        self.limit, self.taken, self.count = bytes_of(limit), 0.0, 0

    def __call__(self, q, k, v, weights, name):
        from .watch import Limit
        size = 4.0 * sum(np.prod(shape, dtype=float) for shape in (q, k, v, weights))
        if self.taken + size > self.limit:
            raise Limit("limit: the recording would take more than %.3g MB: %s needs %.3g MB after %d layers with %.3g MB. Choose by layers=, give fewer tokens, "
                        "or a larger limit." % (self.limit / 1e6, name or "the model", size / 1e6, self.count, self.taken / 1e6))
        self.taken += size
        self.count += 1


def joined(found):
    """What a cache cut into steps as one attention: queries of generate() one below the other, before the keys of the last step."""
    out, last = [], {}
    for one in found:
        if one.k.shape[1] == one.q.shape[1]:
            one.k, one.v = grouped(one.k, one.v)
        at = last.get(one.key)
        whole = out[at] if at is not None else None
        if whole is not None and extends(whole, one):
            out[at] = extended(whole, one)
        else:
            last[one.key] = len(out)
            out.append(one)
    return out


def extends(whole, one):
    before = whole.k.shape[2]
    same = lambda a, b: a.shape[:2] == b.shape[:2] and a.shape[3] == b.shape[3] and np.array_equal(a, b[:, :, :before])
    return (whole.q.shape[:2] == one.q.shape[:2] and before <= one.k.shape[2] and one.k.shape[2] - before in (0, one.q.shape[2]) and same(whole.k, one.k) and same(whole.v, one.v)
            and (whole.scale, whole.cap, whole.kind) == (one.scale, one.cap, one.kind) and (whole.sink is None) == (one.sink is None) and whole.key == one.key)


def extended(whole, one):
    keys, rows = one.k.shape[2], (whole.q.shape[2], one.q.shape[2])

    def below(first, second, fill):
        """Two parts of [batch, heads, queries, keys], that may be broadcast or missing; keys that came later have `fill`."""
        parts = []
        for part, count, own in ((first, rows[0], whole.k.shape[2]), (second, rows[1], keys)):
            part = np.zeros((1, 1, 1, 1), type(fill)) if part is None else part
            part = np.broadcast_to(part, (*part.shape[:2], count, own))
            parts.append(np.pad(part, ((0, 0), (0, 0), (0, 0), (0, keys - own)), constant_values=fill))
        lead = np.broadcast_shapes(*(part.shape[:2] for part in parts))
        return np.concatenate([np.broadcast_to(part, (*lead, *part.shape[2:])) for part in parts], 2)

    both = lambda a, b: None if a is None else np.concatenate([a, b], 2)
    sink = None if one.sink is None else np.concatenate([np.broadcast_to(part.sink, (*part.sink.shape[:2], count, 1)) for part, count in zip((whole, one), rows)], 2)
    # By −∞ where there is a bias: a row that sees nothing may be spread over the keys of its own step.
    has_bias = whole.bias is not None or one.bias is not None
    has_hidden = not has_bias or whole.hidden is not None or one.hidden is not None
    steps = (*(whole.steps or (whole.k.shape[2],)), keys)
    same = whole.options if whole.options == one.options else {}
    return dataclasses.replace(one, q=both(whole.q, one.q), sink=sink, options=same, steps=steps, output=both(whole.output, one.output),
                               hidden=below(whole.hidden, one.hidden, not has_bias) if has_hidden else None,
                               bias=below(whole.bias, one.bias, -np.inf).astype(np.float32) if has_bias else None,
                               weights=None if one.weights is None else below(whole.weights, one.weights, 0.0).astype(np.float32))


class Tokens:
    """The words that rows and columns stand for."""

    def __init__(self, tokens, key_tokens, tokenizer, inputs, encoding, config=None):
        self.inputs, self.config = inputs, config

        def words(name, given):
            ids = inputs.get(name)
            if given is not None:
                return [list(map(str, given))] if not given or isinstance(given[0], str) else [list(map(str, one)) for one in given]
            if ids is None or getattr(ids, "ndim", 0) != 2:
                return None
            numbers = [[str(i) for i in one.tolist()] for one in ids]
            if encoding is not None and name == "input_ids" and getattr(encoding, "is_fast", False):
                said = [encoding.tokens(i) for i in range(len(ids))]
            else:
                said = numbers if tokenizer is None else [list(tokenizer.convert_ids_to_tokens(one.tolist())) for one in ids]
            wrong = [(len(one), len(given)) for one, given in zip(said, numbers) if len(one) != len(given)]
            if wrong:
                warnings.warn("tokenizer: it gives %d labels for %d tokens; the layers have the numbers of the tokens instead." % wrong[0], stacklevel=5)
            return numbers if wrong else said

        self.decoded = words("decoder_input_ids", tokens if key_tokens is not None else None)
        self.first = words("input_ids", key_tokens if key_tokens is not None else tokens)
        if key_tokens is not None and self.decoded is None:
            self.decoded = words("", tokens)
        of = lambda name: None if getattr(inputs.get(name), "ndim", 0) != 2 else np.asarray(inputs[name].tolist()) == 0
        self.pads, self.decoded_pads = of("attention_mask"), of("decoder_attention_mask")

    def padding_of(self, name, batch, rows):
        """[batch, rows]: True where a token only fills up; None where nothing does."""
        ours = self.decoded_pads if "decoder" in name.lower() and self.decoded is not None else self.pads
        if ours is None or len(ours) != batch or not ours.any() or ours.shape[1] > rows:
            return None
        return np.pad(ours, ((0, 0), (0, rows - ours.shape[1])))

    def of(self, name, batch, rows, keys):
        """(of the queries, of the keys where they are others) of a layer."""
        def fitting(lists, count, is_source=False):
            labels = sensed(self.config, self.inputs, count) if is_source and (not lists or "vision" in name) else None
            if labels:
                return [labels] * batch
            if not lists or any(len(one) != count for one in lists):
                return None
            return lists if len(lists) == batch else lists * batch if len(lists) == 1 else None

        is_cross = any(word in name.lower() for word in ("cross", "encdec", "encoder_attn", "multihead_attn"))
        is_decoder = is_cross or ("decoder" in name.lower() and self.decoded is not None)
        ours, others = (self.decoded, self.first) if is_decoder and self.decoded else (self.first, self.decoded)
        queries = fitting(ours, rows, not is_cross and "decoder" not in name.lower()) or fitting(others, rows)
        if not is_cross and rows == keys:
            return queries, None
        return queries, fitting(self.first, keys, True)


def record(model, *args, tokens=None, key_tokens=None, tokenizer=None, layers=None, heads=None, queries=None, weights=True, limit="2GB", **inputs):
    """Runs a PyTorch model once and gives back a Recording of its attention layers.

        recording = record(model, **tokenizer("I saw a saw", return_tensors="pt"), tokenizer=tokenizer)
        recording[0].q, recording[0].weights, recording.save("layers.npz"), recording.show()

    `args` and `inputs` are those of the model, or of its method: record(model.generate, ids, max_new_tokens=8) gives one layer for the prompt and
    what was generated. Works for the models of Hugging Face, torch.nn.MultiheadAttention, TransformerEncoder and TransformerDecoder, and whatever
    else computes softmax(scale · q kᵀ + mask) v with PyTorch, by products, scaled_dot_product_attention or flex_attention. The labels come from
    `tokenizer`, from what a tokenizer made (record(model, tokenizer(…)), or from `tokens`, and `key_tokens` of an encoder. The model computes
    without dropout and without gradients, and is left as it was.

    A list of prompts, texts or what a tokenizer made of them, gives a list of recordings, each of its own length and without padding; `limit` holds for all.

    `layers` (numbers in the order of a forward pass, or names), `heads` and `queries` (numbers) choose what is kept; weights=False keeps none.
    ValueError says so before the recording would take more than `limit`. If the model raises, what was recorded so far is the error's `recording`.

    Every layer is checked: what was recorded gives the model's own weights, to 1e-5 in float32 and to the rounding of scores in shorter types. One
    that does not is left out with a warning that says why; ValueError where no attention was found.
    """
    import torch
    from .running import Run, evaluated
    from .watch import Watch
    if args and isinstance(args[0], (list, tuple)) and args[0] and all(isinstance(one, str) or hasattr(one, "keys") for one in args[0]):
        if tokenizer is None and any(isinstance(one, str) for one in args[0]):
            raise TypeError("tokenizer: it is missing; prompts that are texts need one.")
        room, prompts = Room(limit), [tokenizer(one, return_tensors="pt") if isinstance(one, str) else one for one in args[0]]
        return [record(model, one, *args[1:], tokenizer=tokenizer, layers=layers, heads=heads, queries=queries, weights=weights, limit=room, **inputs) for one in prompts]
    call, model = model, getattr(model, "__self__", model)  # a method of a model
    if not isinstance(model, torch.nn.Module):
        inner = getattr(model, "model", None)
        if not isinstance(inner, torch.nn.Module):
            raise TypeError("model: must be a torch.nn.Module, not %s." % type(model).__name__)
        tokenizer, model = tokenizer or getattr(model, "tokenizer", None), inner  # a pipeline
        call = model
    encoding = args[0] if args and hasattr(args[0], "keys") and "input_ids" in args[0] else None
    if encoding is not None:
        args, inputs = args[1:], {**encoding, **inputs}
    is_ids = bool(args) and getattr(args[0], "ndim", 0) == 2 and not args[0].dtype.is_floating_point
    given = {"input_ids" if is_ids else getattr(model, "main_input_name", "input_ids"): args[0], **inputs} if args else inputs
    wanted = None if layers is None else [layers] if isinstance(layers, (int, str)) else list(layers)
    watch = Watch(model, (lambda number, name: True) if wanted is None else lambda number, name: number in wanted or name in wanted, limit if isinstance(limit, Room) else Room(limit),
                  is_sparse=not weights and call is model)
    make = lambda: recorded(watch, Tokens(tokens, key_tokens, tokenizer, given, encoding, getattr(model, "config", None)), heads, queries, weights)
    try:
        with evaluated(model), watch:
            out = call(*args, **inputs)
    except Exception as error:
        error.recording = make()
        raise
    if call is not model:  # generate() gives the prompt and what follows it
        out = getattr(out, "sequences", out)
        if getattr(out, "ndim", 0) == 2 and not out.dtype.is_floating_point and tokens is None:
            given = {**given, "decoder_input_ids" if getattr(getattr(model, "config", None), "is_encoder_decoder", False) else "input_ids": out[:, :-1]}  # the last is not read again
            encoding = None
    if watch.decoder_ids and tokens is None and len({len(one) for one in watch.decoder_ids}) == 1:
        given = {**given, "decoder_input_ids": torch.cat(watch.decoder_ids, 1)}
    recording = make()
    if call is model:
        recording._run = Run(call, model, args, inputs, tokenizer)
    missing = [one for one in wanted or [] if one not in watch.numbers.values() and one not in [name for name, _ in watch.numbers]]
    if missing:
        raise ValueError("layers: the model has no attention %s; it has %s." % (missing[0], ", ".join("%d %s" % (i, name) for (name, _), i in watch.numbers.items())))
    for where, why in dict.fromkeys((where[-1][0], why) for where, why in watch.lost):
        warnings.warn("%s was not recorded: %s." % (where or type(model).__name__, why), stacklevel=2)
    if not recording:
        raise ValueError("model: no attention was found in it: no softmax of a product of matrices, by which another matrix is multiplied%s." % (
            "" if watch.has_softmax else "; it computes no softmax at all, as linear attention and state spaces (Mamba, RWKV) do not, and they have no matrix of weights to show"))
    for name, labels in (("tokens", tokens), ("key_tokens", key_tokens)):
        if labels is not None and not any(layer.tokens or layer.key_tokens for layer in recording):
            warnings.warn("%s: %d labels do not fit %d queries and %d keys; the layers have none." % (name, len(labels), recording[0].q.shape[2], recording[0].k.shape[2]), stacklevel=2)
    return recording


def recorded(watch, words, heads, queries, weights):
    """The layers of what was found; those that do not agree with the model are added to watch.lost."""
    recording, found = Recording(), joined(watch.found)
    recording.title = type(watch.model).__name__
    names, used = [one.where[-1][0] for one in found], {}
    for one, name in zip(found, names):
        used[name] = used.get(name, 0) + 1
        if names.count(name) > 1:  # a layer that is used more than once
            name = "%s.%d" % (name, used[name]) if name else str(used[name])
        layer = layer_of(one, name, words)
        why = difference(layer, one)
        if why:
            watch.lost.append((one.where, why))
            continue
        described(layer, one)
        layer.origin = (one.key, layer.heads)
        layer.weights = layer.weights if weights else None
        layer = chosen(layer, heads, queries)
        if weights and layer.weights is None:
            layer.weights = LATER
        recording.append(layer)
    return recording
