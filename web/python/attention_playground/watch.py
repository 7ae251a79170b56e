"""Follows the numbers of a PyTorch model through its forward pass, and finds where queries meet keys.

No model is known by name. Every operation of PyTorch is seen as it is carried out: a product of two tensors that reaches a softmax, and whose
weights are then multiplied with a third, is attention; what happens between product and softmax is its scale, soft cap, bias and mask. So it
works for whatever computes softmax(scale · q kᵀ + bias) v, by products of matrices or by scaled_dot_product_attention.
"""
import dataclasses
from collections import OrderedDict

import numpy as np
import torch
import torch.nn.functional as F
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

HIDDEN = -1e4      # what is added to hide a key is below this; exp() of it is 0
REMEMBERED = 128   # results of operations that are followed at a time
VIEWS = {"view", "_unsafe_view", "reshape", "_reshape_alias", "expand", "permute", "transpose", "t", "unsqueeze", "squeeze", "clone", "contiguous", "alias",
         "detach", "_to_copy", "to", "lift_fresh", "unflatten", "flatten", "slice", "select"}
LIMITS = {"maximum", "clamp", "clamp_min", "nan_to_num"}  # keep −∞ finite


@dataclasses.dataclass
class Factor:
    """A tensor that was multiplied by a number, as queries often are before they meet the keys."""
    by: float


@dataclasses.dataclass
class Scores:
    """a·b on its way to a softmax: scale · a b, soft cap, then what was added."""
    a: torch.Tensor                      # [n, rows, d]
    b: torch.Tensor                      # [n, d, columns]
    scale: float = 1.0
    cap: float = 0.0                     # 0: none
    is_capping: bool = False             # after tanh, before the factor
    steps: tuple = ()                    # views of the product since then, to be done again on other tensors
    added: tuple = ()                    # (number of steps before it, tensor, what it is: "bias" or "hidden")


@dataclasses.dataclass
class Weights:
    scores: Scores
    values: torch.Tensor                 # the softmax as the model has it, the keys last
    where: object                        # the module
    steps: tuple = ()


@dataclasses.dataclass
class Found:
    """One attention: q [batch, heads, queries, d], k, v, bias and hidden broadcast against [batch, heads, queries, keys]."""
    where: tuple                         # name and module
    q: np.ndarray
    k: np.ndarray
    v: np.ndarray
    scale: float
    cap: float
    bias: object
    hidden: object
    weights: object = None               # as the model has them
    output: object = None                # where it has no weights: their product with v


class Unusual(Exception):
    """Why an attention cannot be told as softmax(scale · q kᵀ + bias) v."""


def number(value):
    """The number that an operand is; None where it is a tensor of several."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, torch.Tensor) and value.numel() == 1 and not value.dtype.is_complex:
        return float(value)
    return None


def plain(tensor):
    return tensor.detach().to("cpu", torch.bool if tensor.dtype == torch.bool else torch.float32).numpy().copy()


def again(tensor, steps):
    """The same views of another tensor."""
    for operation, args, kwargs in steps:
        tensor = operation(tensor, *args, **kwargs)
    return tensor


def is_view(name, before, after):
    return name in VIEWS and after.numel() == before.numel()


class Operations(TorchDispatchMode):
    def __init__(self, watch):
        super().__init__()
        self.watch = watch

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        out = operation(*args, **(kwargs or {}))
        if not self.watch.is_quiet:
            self.watch.is_quiet = True
            try:
                self.watch.see(operation, args, kwargs or {}, out)
            finally:
                self.watch.is_quiet = False
        return out


class Calls(TorchFunctionMode):
    """That it is there keeps torch.nn.TransformerEncoderLayer and MultiheadAttention from computing a whole layer in one operation."""
    def __init__(self, watch):
        super().__init__()
        self.watch = watch

    def __torch_function__(self, function, types, args=(), kwargs=None):
        if function is self.watch.sdpa:
            return self.watch.fused(*args, **(kwargs or {}))
        return function(*args, **(kwargs or {}))


class Watch:
    """with Watch(model) as watch: model(…); then watch.found, and watch.lost with why."""
    def __init__(self, model):
        self.model, self.found, self.lost = model, [], []
        self.is_quiet, self.known, self.inside, self.hooks = False, OrderedDict(), [], []
        self.sdpa = getattr(F, "scaled_dot_product_attention", None)

    def __enter__(self):
        for name, module in self.model.named_modules():
            self.hooks.append(module.register_forward_pre_hook(lambda m, args, at=(name, module): self.inside.append(at)))
            self.hooks.append(module.register_forward_hook(lambda m, args, out: self.leave(m)))
        self.modes = [Calls(self), Operations(self)]
        for mode in self.modes:
            mode.__enter__()
        if self.sdpa:
            F.scaled_dot_product_attention = self.fused
        return self

    def __exit__(self, *error):
        if self.sdpa:
            F.scaled_dot_product_attention = self.sdpa
        for mode in reversed(self.modes):
            mode.__exit__(*error)
        for hook in self.hooks:
            hook.remove()
        self.known.clear()

    def leave(self, module):
        while self.inside and self.inside.pop()[1] is not module:
            pass

    def at(self):
        return tuple(self.inside) or (("", self.model),)

    # ---------------------------------------------------------------- what is known of a tensor

    def note(self, tensor, what):
        if not isinstance(tensor, torch.Tensor):
            return
        self.known.pop(id(tensor), None)
        if what is not None:
            self.known[id(tensor)] = (tensor, what)  # the tensor is kept, so that no other gets its id
        while len(self.known) > REMEMBERED:
            self.known.popitem(last=False)

    def of(self, tensor, kind):
        held = self.known.get(id(tensor)) if isinstance(tensor, torch.Tensor) else None
        return held[1] if held and isinstance(held[1], kind) else None

    # ---------------------------------------------------------------- operations

    def see(self, operation, args, kwargs, out):
        name = operation._schema.name.split("::")[-1]
        name = name.rstrip("_") if not name.startswith("_") else name
        if isinstance(out, (tuple, list)) and out and not name.startswith(("split", "unbind", "chunk")):
            out = out[0]
        if not args or not isinstance(out, torch.Tensor):
            return
        if name in ("bmm", "mm"):
            self.product(args[0], args[1], out)
        elif name == "baddbmm":
            self.product(args[1], args[2], out, kwargs.get("alpha", 1), args[0], kwargs.get("beta", 1))
        elif name in ("_softmax", "_safe_softmax", "softmax"):
            self.softmax(args[0], args[1], out)
        elif name.startswith("_scaled_dot_product"):
            self.fused_operation(operation, args, kwargs, out)
        elif self.of(args[0], Weights):
            weights = self.of(args[0], Weights)
            if is_view(name, args[0], out):
                weights = dataclasses.replace(weights, steps=weights.steps + ((operation, args[1:], kwargs),))
            self.note(out, weights)
        else:
            self.note(out, self.followed(name, operation, args, kwargs, out))

    def followed(self, name, operation, args, kwargs, out):
        """What is known of the result of an operation."""
        scores = self.of(args[0], Scores)
        if name == "where":
            return self.where(args, out)
        if name in ("add", "mul") and not scores and len(args) > 1 and self.of(args[1], Scores):
            scores, args = self.of(args[1], Scores), (args[1], args[0])
        if not scores:
            return self.factor(name, args, out)
        if is_view(name, args[0], out):
            return dataclasses.replace(scores, steps=scores.steps + ((operation, args[1:], kwargs),))
        if out.shape != args[0].shape:
            return None
        by = number(args[1]) if len(args) > 1 else None
        if name == "mul" and by is not None:
            return self.scaled(scores, by)
        if name == "div" and by:
            return self.scaled(scores, 1 / by)
        if name == "tanh" and not scores.added and not scores.cap:
            return dataclasses.replace(scores, is_capping=True)
        if scores.is_capping:
            return None
        if name in ("add", "sub"):
            what = args[1] * (kwargs.get("alpha", 1) * (1 if name == "add" else -1))
            return self.plus(scores, out, torch.as_tensor(what), "bias")
        if name == "masked_fill" and (number(args[2]) or 0) <= HIDDEN:
            return self.plus(scores, out, args[1], "hidden")
        return scores if name in LIMITS else None

    def factor(self, name, args, out):
        known = self.of(args[0], Factor)
        if name in VIEWS:
            return known
        by = number(args[1]) if len(args) > 1 else None
        if name == "mul" and by:
            return Factor(by * (known.by if known else 1))
        return Factor((known.by if known else 1) / by) if name == "div" and by else None

    def where(self, args, out):
        if len(args) < 3:
            return None
        shown, one, other = args[:3]
        for scores, fill, hidden in ((self.of(one, Scores), other, ~shown), (self.of(other, Scores), one, shown)):
            if scores and (number(fill) or 0) <= HIDDEN:
                return self.plus(scores, out, hidden, "hidden")
        return None

    @staticmethod
    def plus(scores, out, tensor, what):
        return dataclasses.replace(scores, added=scores.added + ((len(scores.steps), tensor.expand(out.shape).clone(), what),))

    @staticmethod
    def scaled(scores, by):
        if scores.is_capping:  # c · tanh(s / c)
            return dataclasses.replace(scores, scale=scores.scale * by, cap=by, is_capping=False)
        if scores.cap:
            return None
        added = tuple((at, tensor * by if what == "bias" else tensor, what) for at, tensor, what in scores.added)
        return dataclasses.replace(scores, scale=scores.scale * by, added=added)

    def product(self, a, b, out, alpha=1, bias=None, beta=0):
        weights = self.of(a, Weights)
        if weights:
            return self.finish(weights, a, b)
        scale, d = float(alpha), a.shape[-1]
        for tensor in (a, b):
            known = self.of(tensor, (Factor, Scores))  # a projection is a product too
            by = known.by if isinstance(known, Factor) else known.scale if known else 1.0
            if by > 0 and min(abs(by * d ** 0.5 - 1), abs(by * d ** 0.25 - 1)) < 1e-5:
                scale *= by
                a, b = (a / by, b) if tensor is a else (a, b / by)
        if a.dim() == 2:
            a, b = a[None], b[None]
        scores = Scores(a, b, scale)
        if out.dim() == 2:
            scores.steps = ((lambda t: t[0], (), {}),)
        if bias is not None and beta:
            scores = self.plus(scores, out, bias * beta, "bias")
        self.note(out, scores)

    def softmax(self, before, dim, out):
        scores = self.of(before, Scores)
        if not scores or scores.is_capping:
            return self.note(out, None)
        if dim not in (-1, out.dim() - 1):
            return self.lose("its softmax does not run over the last axis")
        self.note(out, Weights(scores, out, self.at()))

    def lose(self, why):
        self.lost.append((self.at(), why))

    # ---------------------------------------------------------------- what came of it

    def finish(self, weights, a, v):
        try:
            self.found.append(self.told(weights, a, v))
        except Unusual as error:
            self.lost.append((weights.where, str(error)))
        weights.scores = Scores(torch.empty(0), torch.empty(0))  # lets go

    def told(self, weights, a, v):
        scores, whole = weights.scores, weights.values
        rows, keys, d = scores.a.shape[1], scores.b.shape[2], scores.a.shape[2]
        if whole.dim() < 2 or whole.shape[-1] != keys:
            raise Unusual("the axes of its scores are turned")
        # Which product each score is of: the views that the model took, of numbers that count them.
        count = scores.a.shape[0] * rows * keys
        places = again(torch.arange(count).reshape(-1, rows, keys), scores.steps)
        if places.shape != whole.shape or count != whole.numel():
            raise Unusual("its scores are not all of a product of two matrices")
        q = scores.a.reshape(-1, d)[torch.div(places[..., 0], keys, rounding_mode="floor")]
        of = torch.div(places[..., 0, :], rows * keys, rounding_mode="floor") * keys + places[..., 0, :] % keys
        k = scores.b.transpose(1, 2).reshape(-1, d)[of]
        # The values stand by the matrices of the weights.
        queries, v = whole.shape[-2], v if v.dim() == 3 else v[None]
        turned = again(torch.arange(whole.numel()).reshape(whole.shape), weights.steps)
        turned = turned if turned.dim() == 3 else turned[None]
        owner = torch.div(turned[:, 0, 0], queries * keys, rounding_mode="floor")
        if turned.shape[1:] != (queries, keys) or len(owner) != q[..., 0, 0].numel() or v.shape[0] != len(owner):
            raise Unusual("its weights and values are not multiplied head by head")
        placed = torch.empty_like(v)
        placed[owner] = v
        batch, heads = self.sizes(q.shape[:-2], weights.where)
        form = lambda t: plain(t).reshape(batch, heads, *t.shape[-2:])
        bias, hidden = None, None
        for begin, tensor, what in scores.added:
            tensor = again(tensor, scores.steps[begin:])
            if what == "hidden":
                hidden = form(tensor) if hidden is None else hidden | form(tensor)
            else:
                bias = form(tensor) if bias is None else bias + form(tensor)
        return Found(weights.where, form(q), form(k), form(placed.reshape(*q.shape[:-2], *v.shape[1:])), scores.scale, scores.cap, bias, hidden, form(whole))

    @staticmethod
    def sizes(lead, where):
        """Batch and heads of the axes before queries and keys."""
        count = int(np.prod(lead)) if lead else 1
        if len(lead) >= 2:
            return count // lead[-1], lead[-1]
        for _, module in reversed(where):
            for name in ("num_heads", "num_attention_heads", "n_heads", "n_head", "heads", "nhead"):
                heads = getattr(module, name, None)
                if isinstance(heads, int) and heads > 0 and count % heads == 0:
                    return count // heads, heads
        return 1, count

    # ---------------------------------------------------------------- fused operations of PyTorch 2

    def fused(self, query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, **more):
        if self.is_quiet:
            return self.sdpa(query, key, value, attn_mask, dropout_p, is_causal, scale=scale, **more)
        self.is_quiet = True
        try:
            out = self.sdpa(query, key, value, attn_mask, dropout_p, is_causal, scale=scale, **more)
            self.take(query, key, value, attn_mask, is_causal, scale, out)
            return out
        finally:
            self.is_quiet = False

    def fused_operation(self, operation, args, kwargs, out):
        given = {a.name: value for a, value in zip(operation._schema.arguments, args)}
        given.update(kwargs)
        self.take(given["query"], given["key"], given["value"], given.get("attn_mask", given.get("attn_bias")), given.get("is_causal", False), given.get("scale"), out)

    def take(self, query, key, value, mask, is_causal, scale, out):
        four = lambda t: plain(t).reshape(-1, *t.shape[-3:]) if t.dim() > 2 else plain(t)[None, None]
        q, k, v = four(query), four(key), four(value)
        bias, hidden = None, None
        if is_causal:
            hidden = np.triu(np.ones((q.shape[2], k.shape[2]), bool), 1)[None, None]
        if mask is not None and mask.dtype == torch.bool:
            hidden = four(~mask) if hidden is None else hidden | four(~mask)
        elif mask is not None:
            bias = four(mask)
        self.found.append(Found(self.at(), q, k, v, query.shape[-1] ** -0.5 if scale is None else float(scale), 0.0, bias, hidden, output=four(out)))
