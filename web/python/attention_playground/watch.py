"""Follows the numbers of a PyTorch model through its forward pass, and finds where queries meet keys.

No model is known by name. Every operation of PyTorch is seen as it is carried out: a product of two tensors that reaches a softmax, and whose
weights are then multiplied with a third, is attention; what happens between product and softmax is its scale, soft cap, bias and mask. So it
works for whatever computes softmax(scale · q kᵀ + bias) v, by products of matrices or by scaled_dot_product_attention.
"""
import dataclasses
from collections import OrderedDict
from contextlib import nullcontext
from weakref import WeakValueDictionary

import numpy as np
import torch
import torch.nn.functional as F
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from .positions import made, tables_of
from .recording import spread
from .whole import Unknown, Whole

HIDDEN = -1e4      # what is added to hide a key is below this; exp() of it is 0
REMEMBERED = 128   # results of operations that are followed at a time
VIEWS = {"view", "_unsafe_view", "reshape", "_reshape_alias", "expand", "permute", "transpose", "t", "unsqueeze", "squeeze", "clone", "contiguous", "alias",
         "detach", "lift_fresh", "unflatten", "flatten", "slice", "select"}
CASTS = {"_to_copy", "to"}  # of another type: what stands where stays
HEADS = ("num_heads", "num_attention_heads", "n_heads", "n_head", "heads", "nhead")
GROUPS = ("num_key_value_heads", "num_kv_heads", "n_kv_heads", "n_kv_head")
SPARSE = "its softmax is not of a product of two whole matrices, as sliding and sparse kernels multiply parts of them"
BLOCKS = "its queries are computed in blocks, each with keys of its own, as those of LongT5 are"
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
    sink: object = None                  # a column beside the keys that takes part in the softmax alone
    eps: float = 0.0                     # of the type in which they were computed
    shifts: bool = False                 # rows were shifted, which only a softmax does not see
    is_batched: bool = False             # a product of many matrices


@dataclasses.dataclass
class Weights:
    scores: Scores
    values: torch.Tensor                 # the softmax as the model has it, the keys last
    where: object                        # the module
    steps: tuple = ()
    kind: str = "softmax"                # or "sigmoid"


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
    kind: str = "softmax"
    sink: object = None                  # [batch, heads, 1 or queries, 1]
    eps: float = 0.0                     # of the type in which the model computed
    rows: object = None                  # the numbers of the queries that weights and output have; None: all
    key: object = None                   # (name, how often it was used before in this forward pass)
    options: dict = dataclasses.field(default_factory=dict)  # of the board, by which q and k were turned
    steps: tuple = None                  # the number of keys after each step of a cache
    norm: str = ""                       # the class that normalised q and k
    rotation: str = ""                   # by what they were turned, where options do not say it


class Unusual(Exception):
    """Why an attention cannot be told as softmax(scale · q kᵀ + bias) v."""


class Limit(ValueError):
    """The recording would become larger than is allowed."""


def number(value):
    """The number that an operand is; None where it is a tensor of several."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, torch.Tensor) and value.numel() == 1 and not value.dtype.is_complex:
        return float(value)
    return None


def plain(tensor, is_ours=False):
    """An array of its own; with is_ours, nobody else has the tensor, so that it need not be copied."""
    tensor = tensor.detach()
    out = tensor.to("cpu", torch.bool if tensor.dtype == torch.bool else torch.float32)
    return (out.clone(memory_format=torch.contiguous_format) if out is tensor and not is_ours else out).numpy()


def compact(tensor, is_ours=False):
    """[batch, heads, queries, keys] as an array, without the axes along which it is only repeated."""
    for axis, stride in enumerate(tensor.stride()):
        if stride == 0:
            tensor = tensor.narrow(axis, 0, 1)
    return plain(tensor, is_ours)


def storage(tensor):
    """Where the numbers of a tensor and of its views lie."""
    return (tensor.untyped_storage() if hasattr(tensor, "untyped_storage") else tensor.storage()).data_ptr()


def some(tensor, rows):
    """[batch, heads, queries, d] of these queries."""
    return tensor if rows is None else tensor[:, :, torch.from_numpy(rows).to(tensor.device)]


def is_constant(tensor, axis):
    return tensor.stride(axis) == 0 or tensor.shape[axis] == 1 or bool((tensor == tensor.narrow(axis, 0, 1)).all())


def places(shape, steps):
    """Where the views of [n, rows, columns] take each element: its matrix [lead], its row [lead, rows] and its column [lead, columns].

    Numbers that are only repeated, not stored, go through the views; so it costs nothing but where a view has to copy."""
    marks = []
    for axis in range(3):
        form = [1, 1, 1]
        form[axis] = shape[axis]
        marks.append(again(torch.arange(shape[axis], dtype=torch.int32).reshape(form).expand(shape), steps))
    matrix, row, column = marks
    if matrix.dim() < 2 or not all(is_constant(*one) for one in ((matrix, -1), (matrix, -2), (row, -1), (column, -2))):
        raise Unusual("the axes of its scores are turned")
    return matrix[..., 0, 0].long(), row[..., 0].long(), column[..., 0, :].long()


def is_whole(matrix, part, size):
    """Every matrix in its order, with all its rows (or columns) in theirs."""
    return torch.equal(matrix.reshape(-1), torch.arange(matrix.numel())) and part.shape[-1] == size and bool((part == torch.arange(size)).all())


def picked(tensor, matrix, part):
    """[lead, rows, d] of tensor [n, rows, d]."""
    if len(tensor) == matrix.numel() and is_whole(matrix, part, tensor.shape[1]):
        return tensor.reshape(*matrix.shape, *tensor.shape[1:])
    device = tensor.device
    return tensor[matrix.reshape(-1, 1).to(device), part.reshape(-1, part.shape[-1]).to(device)].reshape(*part.shape, tensor.shape[-1])


def again(tensor, steps):
    """The same views of another tensor."""
    for operation, args, kwargs in steps:
        try:
            tensor = operation(tensor, *args, **kwargs)
        except RuntimeError:  # what is only repeated has to be stored for some
            tensor = operation(tensor.contiguous(), *args, **kwargs)
    return tensor


def step(name, operation, args, kwargs):
    """A view to be done again; by its sizes alone where PyTorch also gave the distances in memory."""
    if name == "_reshape_alias":
        return (lambda tensor, size, *distances: tensor.reshape(size)), args[1:], {}
    return operation, args[1:], kwargs


def is_view(name, before, after):
    return name in VIEWS and after.numel() == before.numel()


class Operations(TorchDispatchMode):
    def __init__(self, watch):
        super().__init__()
        self.watch = watch

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        if operation._schema.is_mutable:
            self.watch.release((*args, *(kwargs or {}).values()))
        out = operation(*args, **(kwargs or {}))
        if not self.watch.is_quiet:
            self.watch.is_quiet = True
            try:
                self.watch.see(operation, args, kwargs or {}, out)
            except (Limit, MemoryError):
                raise
            except Exception as error:  # the model's run goes on, whatever it is made of
                self.watch.lose(str(error) if isinstance(error, Unusual) else "it could not be followed (%s: %s)" % (type(error).__name__, error))
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


def before(module, hook):
    """Calls hook(module, args, kwargs) before the module; PyTorch 1 gives no kwargs."""
    try:
        return module.register_forward_pre_hook(hook, with_kwargs=True)
    except TypeError:
        return module.register_forward_pre_hook(hook)


def named(module, names):
    """The first number that the module has by one of these names."""
    for name in names:
        value = getattr(module, name, None)
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
    return None


class Watch:
    """with Watch(model) as watch: model(…); then watch.found, and watch.lost with why.

    `is_wanted(number, name)` chooses among the attentions of a forward pass; `room(q, k, v shapes, weights shape or None, name)` raises Limit
    before a copy is made that would be too much. With is_sparse, weights and outputs are kept only of the queries by which a layer is checked."""
    def __init__(self, model, is_wanted=lambda number, name: True, room=lambda *sizes: None, is_sparse=False):
        self.model, self.is_wanted, self.room, self.is_sparse = model, is_wanted, room, is_sparse
        self.found, self.lost, self.numbers, self.uses = [], [], {}, {}
        self.held = WeakValueDictionary()  # storage: what has its weights there, in the model's own tensor
        self.has_softmax, self.decoder_ids = False, []
        self.is_quiet, self.known, self.inside, self.hooks, self.modes = False, OrderedDict(), [], [], []
        self.sdpa = getattr(F, "scaled_dot_product_attention", None)

    def __enter__(self):
        for name, module in self.model.named_modules():
            self.hooks.append(before(module, lambda m, args, kwargs=None, at=name: self.enter(at, m, args, kwargs)))
            self.hooks.append(module.register_forward_hook(lambda m, args, out: self.leave(m, out)))
        stance = getattr(getattr(torch, "compiler", None), "set_stance", None)
        self.modes = [stance("force_eager") if stance else nullcontext(), Calls(self), Operations(self)]  # what is compiled cannot be seen
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

    def enter(self, name, module, args, kwargs):
        if self.is_quiet:  # it is asked for its weights
            return
        if module is self.model:
            self.uses = {}
        ids = (kwargs or {}).get("input_ids")
        if name.split(".")[-1] == "decoder" and getattr(ids, "ndim", 0) == 2:
            self.decoder_ids.append(ids)  # which the model may have made itself, of labels or step by step
        inputs = [one for one in (*args, *(kwargs or {}).values()) if isinstance(one, torch.Tensor) and one.dim() >= 2]
        self.inside.append((name, module, tuple(inputs[0].shape) if inputs else None, bool(inputs) and inputs[0].is_floating_point(), [],
                            {"args": args, "kwargs": kwargs, "found": len(self.found), "numbers": len(self.numbers)}))

    def leave(self, module, out):
        if self.is_quiet:
            return
        while self.inside:
            if self.inside[-1][1] is module and "is_parts" in self.inside[-1][5]:
                self.whole(out[0] if isinstance(out, tuple) else out)
            _, ended, _, _, made_of, held = self.inside.pop()
            made_of.clear()
            held.clear()
            if ended is module:
                break
        if self.inside and "att" in type(self.inside[-1][1]).__name__.lower() and isinstance(out, torch.Tensor) and out.is_floating_point():
            self.inside[-1][4].append((module, out))  # what queries and keys are made of

    def at(self):
        return tuple(self.inside) or (("", self.model, None, False, [], {}),)

    def key_of(self, where, sign=1):
        """What a new attention is counted by, None where it is not wanted; with sign −1, of a module as a whole."""
        name = where[-1][0]
        self.uses[name, sign] = self.uses.get((name, sign), 0) + 1
        key = (name, sign * self.uses[name, sign])
        number = self.numbers.setdefault(key, len(self.numbers))
        return key if self.is_wanted(number, name) else None

    # ---------------------------------------------------------------- what is known of a tensor

    def note(self, tensor, what):
        if not isinstance(tensor, torch.Tensor):
            return
        self.known.pop(id(tensor), None)
        if what is not None:
            self.known[id(tensor)] = (tensor, what)  # the tensor is kept, so that no other gets its id
        while len(self.known) > REMEMBERED:
            self.known.popitem(last=False)

    def forget(self, factor):
        """Lets go of the scores and weights of a product, the largest tensors of a model."""
        for key, (_, what) in list(self.known.items()):
            if getattr(getattr(what, "scores", what), "a", None) is factor:
                del self.known[key]

    def of(self, tensor, kind):
        held = self.known.get(id(tensor)) if isinstance(tensor, torch.Tensor) else None
        return held[1] if held and isinstance(held[1], kind) else None

    def hold(self, found, tensor):
        """Weights are the largest tensors of a model; they stay where they are until something else is written there."""
        is_whole = tensor.device.type == "cpu" and tensor.dtype == torch.float32 and tensor.is_contiguous() and not tensor.is_inference()
        found.weights = plain(tensor, is_ours=is_whole)
        if is_whole:
            self.held[storage(tensor)] = found

    def release(self, tensors):
        """Copies the weights that lie where an operation is about to write."""
        for tensor in tensors if self.held else ():
            found = self.held.pop(storage(tensor), None) if isinstance(tensor, torch.Tensor) else None
            if found:
                found.weights = found.weights.copy()

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
        elif name == "sigmoid":
            self.sigmoid(args[0], out)
        elif name == "baddbmm":
            self.product(args[1], args[2], out, kwargs.get("alpha", 1), args[0], kwargs.get("beta", 1))
        elif name in ("_softmax", "_safe_softmax", "softmax"):
            self.softmax(args[0], args[1], out)
        elif name.startswith("_scaled_dot_product"):
            self.fused_operation(operation, args, kwargs, out)
        elif self.of(args[0], Weights):
            weights = self.of(args[0], Weights)
            if weights.scores.sink is not None and name == "slice" and out.shape == (*args[0].shape[:-1], args[0].shape[-1] - 1):
                weights = dataclasses.replace(weights, values=out)
            elif name not in CASTS and is_view(name, args[0], out):
                weights = dataclasses.replace(weights, steps=weights.steps + (step(name, operation, args, kwargs),))
            self.note(out, weights)
        else:
            self.note(out, self.followed(name, operation, args, kwargs, out))

    def followed(self, name, operation, args, kwargs, out):
        """What is known of the result of an operation."""
        scores = self.of(args[0], Scores)
        if name == "where":
            return self.where(args, out)
        if name in ("cat", "constant_pad_nd"):
            return self.with_sink(name, args, out)
        if name in ("add", "mul") and not scores and len(args) > 1 and self.of(args[1], Scores):
            scores, args = self.of(args[1], Scores), (args[1], args[0])
        if not scores:
            return self.factor(name, args, out)
        if name in CASTS:
            return scores
        if is_view(name, args[0], out):
            return dataclasses.replace(scores, steps=scores.steps + (step(name, operation, args, kwargs),))
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
            if isinstance(args[1], torch.Tensor) and args[1].dim() and args[1].shape[-1] == 1 < out.shape[-1] and not scores.cap:
                return dataclasses.replace(scores, shifts=True)  # one number for a whole row, such as its largest: no softmax changes by it
            what = args[1] * (kwargs.get("alpha", 1) * (1 if name == "add" else -1))
            return self.plus(scores, out, torch.as_tensor(what), "bias")
        if name == "masked_fill" and (number(args[2]) or 0) <= HIDDEN:
            return self.plus(scores, out, args[1], "hidden")
        return scores if name in LIMITS else None

    def factor(self, name, args, out):
        known = self.of(args[0], Factor)
        if name in VIEWS or name in CASTS:
            return known
        by = number(args[1]) if len(args) > 1 else None
        if name == "mul" and by:
            return Factor(by * (known.by if known else 1))
        return Factor((known.by if known else 1) / by) if name == "div" and by else None

    def with_sink(self, name, args, out):
        """A column beside the keys: logits that are learnt, or a zero."""
        scores, sink = None, None
        if name == "constant_pad_nd" and list(args[1]) == [0, 1]:
            scores, sink = self.of(args[0], Scores), out[..., -1:]
        elif name == "cat" and len(args[0]) == 2 and len(args) > 1 and args[1] in (-1, out.dim() - 1) and args[0][1].shape[-1] == 1:
            scores, sink = self.of(args[0][0], Scores), args[0][1]
        return dataclasses.replace(scores, sink=sink) if scores and scores.sink is None else None

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
        return dataclasses.replace(scores, added=scores.added + ((len(scores.steps), tensor.clone().expand(out.shape), what),))

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
            return self.finish(weights, a, b, out)
        scale, d, eps = float(alpha), a.shape[-1], torch.finfo(a.dtype).eps if a.is_floating_point() else 0
        for tensor in (a, b):
            known = self.of(tensor, (Factor, Scores))  # a projection is a product too
            by = known.by if isinstance(known, Factor) else known.scale if known else 1.0
            if by > 0 and min(abs(by * d ** 0.5 - 1), abs(by * d ** 0.25 - 1)) < 1e-5:
                scale *= by
                a, b = (a.float() / by, b) if tensor is a else (a, b.float() / by)
        if a.dim() == 2:
            a, b = a[None], b[None]
        scores = Scores(a, b, scale, eps=eps, is_batched=out.dim() == 3)
        if out.dim() == 2:
            scores.steps = ((lambda t: t[0], (), {}),)
        if bias is not None and beta:
            scores = self.plus(scores, out, bias * beta, "bias")
        self.note(out, scores)

    def softmax(self, before, dim, out):
        self.has_softmax = True
        scores = self.of(before, Scores)
        if not scores or scores.is_capping:
            if "attention" in type(self.at()[-1][1]).__name__.lower():
                self.at()[-1][5]["is_parts"] = True
            return self.note(out, None)
        if dim not in (-1, out.dim() - 1):
            return self.lose("its softmax does not run over the last axis")
        self.note(out, Weights(scores, out, self.at()))

    def sigmoid(self, before, out):
        scores = self.of(before, Scores)
        is_one = scores and scores.is_batched and not (scores.is_capping or scores.shifts)  # a gate is a product with one matrix
        self.note(out, Weights(scores, out, self.at(), kind="sigmoid") if is_one else None)

    def lose(self, why):
        self.lost.append((self.at(), why))

    # ---------------------------------------------------------------- what came of it

    def add(self, found):
        rows, d = found.q.shape[2:]
        by_heads = lambda out: out.transpose(1, 2) if out.dim() == 4 and out.shape[2] == rows != out.shape[1] else out
        fits = lambda out: out.dim() > 2 and out.shape[0] == len(found.q) and out.shape[1] == rows and out.numel() % (len(found.q) * rows * d) == 0
        outputs = [(module, plain(out, is_ours=True).reshape(len(found.q), rows, -1, d)) for module, out in ((m, by_heads(o)) for m, o in found.where[-1][4]) if fits(out)]
        configs = [module.config for _, module, *_ in reversed(found.where) if hasattr(module, "config")][:1]
        found.options, found.norm, found.rotation = made(found.q, found.k, configs, outputs, found.eps, tables_of(self.model, d))
        self.found.append(found)

    def finish(self, weights, a, v, out):
        key = self.key_of(weights.where)
        try:
            if key:
                found = self.told(weights, a, v)
                found.key = key
                self.add(found)
        except Unusual as error:
            self.lost.append((weights.where, str(error)))
        self.forget(weights.scores.a)

    def told(self, weights, a, v):
        scores, whole = weights.scores, weights.values
        n, rows, keys = *scores.a.shape[:2], scores.b.shape[2]
        matrix, row, column = places((n, rows, keys), scores.steps)
        if (*matrix.shape, row.shape[-1], column.shape[-1]) != tuple(whole.shape) or n * rows * keys != whole.numel():
            raise Unusual("its scores are not all of a product of two matrices")
        queries, v = whole.shape[-2], v if v.dim() == 3 else v[None]
        batch, heads, group = self.axes(tuple(matrix.shape), queries, weights.where)
        kept = spread(rows * n // (batch * heads * group)) if self.is_sparse else None
        self.room((n * rows, scores.a.shape[2]), (matrix.numel() * column.shape[-1], scores.a.shape[2]), v.shape, self.size(whole.shape, kept), weights.where[-1][0])
        form = lambda t: t.expand(whole.shape[:-2] + t.shape[-2:]).reshape(batch, heads * group, -1, t.shape[-1])
        per_head = lambda t: plain(t.reshape(batch, heads, *t.shape[-2:]))
        bias, hidden = None, None
        for begin, tensor, what in scores.added:
            tensor = compact(form(again(tensor, scores.steps[begin:])), is_ours=True)
            if what == "hidden":
                hidden = tensor if hidden is None else hidden | tensor
            else:
                bias = tensor if bias is None else bias + tensor
        sink = compact(form(scores.sink.expand(*whole.shape[:-1], 1))) if scores.sink is not None else None
        q, k = picked(scores.a, matrix, row), picked(scores.b.transpose(1, 2), matrix, column)
        found = Found(weights.where, plain(form(q)), per_head(k), per_head(self.values_of(weights, v)), scores.scale, scores.cap, bias, hidden,
                      kind=weights.kind, sink=sink, eps=scores.eps, rows=kept)
        self.hold(found, some(form(whole), kept))
        return found

    @staticmethod
    def size(shape, rows):
        """The shape of what is kept of [lead, queries, keys]."""
        return shape if rows is None else (*shape[:-2], min(len(rows), shape[-2]), shape[-1])

    @staticmethod
    def values_of(weights, v):
        """The values, ordered as the matrices of the weights are."""
        *lead, queries, keys = weights.values.shape
        flat = lambda tensor, *args: tensor.reshape(*lead, queries, keys)
        matrix, row, column = places((int(np.prod(lead)), queries, keys), ((flat, (), {}), *weights.steps))
        if matrix.dim() == 0:
            matrix, row, column = matrix[None], row[None], column[None]
        if matrix.dim() != 1 or len(matrix) != int(np.prod(lead)) or len(v) != len(matrix) or not is_whole(torch.arange(1), row[:1], queries) or not is_whole(torch.arange(1), column[:1], keys):
            raise Unusual("its weights and values are not multiplied head by head")
        if is_whole(matrix, row, queries):
            return v.reshape(*lead, *v.shape[1:])
        placed = torch.empty_like(v)
        placed[matrix.to(v.device)] = v
        return placed.reshape(*lead, *v.shape[1:])

    # ---------------------------------------------------------------- modules that multiply parts of their keys

    def whole(self, out):
        """What came of the innermost module, as one attention; what was found of its parts is none."""
        where, held = self.at(), self.at()[-1][5]
        del self.found[held["found"]:]
        for key in list(self.numbers)[held["numbers"]:]:
            del self.numbers[key]
        self.is_quiet = True
        try:
            self.take_whole(where, self.key_of(where, -1), out, lambda: self.asked(where, out))
        except (Limit, MemoryError):
            raise
        except Exception as error:
            self.lost.append((where, str(error) if isinstance(error, Unusual) else SPARSE if isinstance(error, Unknown) else "it could not be followed (%s: %s)" % (type(error).__name__, error)))
        finally:
            self.is_quiet = False

    def asked(self, where, out):
        held = where[-1][5]
        if held["kwargs"] is None:
            raise Unusual(SPARSE + "; PyTorch 2 can ask it for them")
        one = Whole(where[-1][1], held["args"], held["kwargs"], out, self.heads_of(where)[0])
        self.room(*[out.shape] * 3, (one.batch, one.heads, one.tokens, one.tokens), where[-1][0])
        if not one.ask().is_true():
            raise Unknown
        shape = where[0][2]
        one.cut(shape[1] if shape and shape[0] == one.batch else 0)
        return one

    def take_whole(self, where, key, out, ask):
        if not key:
            return
        one = ask()
        bias, hidden = one.masks()
        kept = spread(one.q.shape[2]) if self.is_sparse else None
        self.found.append(Found(where, *(plain(tensor) for tensor in (one.q, one.k, one.v)), one.scale, 0.0, bias, hidden, plain(some(one.weights, kept)),
                                eps=torch.finfo(one.out.dtype).eps, rows=kept, key=key))

    # ---------------------------------------------------------------- which axis is what

    def heads_of(self, where):
        """(heads, those of keys and values, whether the innermost module has them) by the modules or their configurations; None: not said."""
        for _, module, *_ in reversed(where):
            for holder in (module, getattr(module, "config", None)):
                heads = named(holder, HEADS)
                if heads:
                    return heads, named(holder, GROUPS) or named(getattr(module, "config", None), GROUPS), module is where[-1][1]
        return None, None, False

    @staticmethod
    def batches_of(where):
        """How many entries the batch may have, by what the innermost module was given: by its first axis, else by its second."""
        for _, module, shape, is_float, *_ in reversed(where):
            if shape is None:
                continue
            if len(shape) == 2:
                return (1,) if is_float else shape[:1]
            is_first = getattr(module, "batch_first", None)
            return shape[:2] if is_first is None else (shape[0] if is_first else shape[1],)
        return ()

    def axes(self, lead, rows, where):
        """(batch, heads, heads that stand in the axis of the queries) of the axes before queries and keys."""
        heads, groups, is_own = self.heads_of(where)
        batches, count = self.batches_of(where), int(np.prod(lead)) if lead else 1
        unsure = Unusual("which of its axes are the batch and which the heads is not certain: neither its module nor a configuration says num_heads so that they fit %s" % (lead,))
        if len(lead) == 2:
            if heads and lead[1] != heads and groups == lead[1] and rows % (heads // groups) == 0:  # the heads of a group as rows of one matrix
                if rows != heads // groups:
                    raise Unusual("its heads and queries stand in one axis, in an order that is not certain")
                return lead[0], groups, rows
            if heads and lead[1] != heads == lead[0] and lead[1] in batches:
                raise unsure
            return (*lead, 1)
        if len(lead) > 2:
            if heads not in (lead[-1], lead[-1] * lead[-2]):
                raise unsure
            if batches and batches != (1,) and count // heads not in batches:
                raise Unusual(BLOCKS)
            return count // heads, heads, 1
        if not lead:
            return 1, 1, 1
        fit = [(b, h) for b in batches for h in (heads, 1) if h and b * h == count]
        if not fit and count in (heads, 1):
            fit = [(1, count)]
        if not fit and not heads and 1 in batches[:1]:
            fit = [(1, count)]
        if not fit:
            raise unsure
        own = [one for one in fit if one[1] == heads] if is_own else [one for one in fit if one[1] == 1]
        return (*(own or fit)[0], 1)

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

    def take(self, query, key, value, mask, is_causal, scale, out, cap=0.0, bias=None):
        """mask: where a key is seen, or what is added; bias: what is added beside it."""
        where = self.at()
        number = self.key_of(where)
        if not number:
            return
        try:
            rows, keys = query.shape[-2], key.shape[-2]
            batch, heads, group = self.axes(tuple(query.shape[:-2]), rows, where)
            whole, kept = (*query.shape[:-2], rows, keys), spread(rows // group) if self.is_sparse else None
            self.room(query.shape, key.shape, value.shape, self.size((*whole[:-1], value.shape[-1]) if self.is_sparse else whole, kept), where[-1][0])
            form = lambda t: t.reshape(batch, heads * group, -1, t.shape[-1])
            of_keys = lambda t: plain(t.reshape(batch, -1, *t.shape[-2:]))
            hidden = None
            if is_causal:
                hidden = np.triu(np.ones((rows, keys), bool), 1)[None, None]
            if mask is not None and mask.dtype == torch.bool:
                hidden = compact(form(~mask.expand(whole))) if hidden is None else hidden | compact(form(~mask.expand(whole)))
            elif mask is not None:
                bias = mask if bias is None else bias + mask
            self.add(Found(where, plain(form(query)), of_keys(key), of_keys(value), query.shape[-1] ** -0.5 if scale is None else float(scale), cap,
                           compact(form(bias.expand(whole))) if bias is not None else None, hidden, output=plain(some(form(out), kept)),
                           eps=torch.finfo(query.dtype).eps, rows=kept, key=number))
        except Unusual as error:
            self.lost.append((where, str(error)))

    def flex(self, query, key, value, score_mod, block_mask, scale, out):
        """flex_attention: its mask and what it does to scores are functions of places; they are asked for every pair."""
        from torch.nn.attention.flex_attention import TransformGetItemToIndex, _vmap_for_bhqkv
        places = [torch.arange(size) for size in (*query.shape[:3], key.shape[2])]
        shape = [len(one) for one in places]
        with TransformGetItemToIndex():
            mask = _vmap_for_bhqkv(block_mask[-1], prefix=())(*places).expand(shape)
            changed = lambda by: _vmap_for_bhqkv(score_mod, prefix=(0,))(torch.full(shape, by), *places)
            bias, one, far = changed(0.0), changed(1.0), changed(1e6)
        step, reach = (one - bias)[mask], (far - bias)[mask]
        if not mask.any() or (step - 1).abs().max() < 1e-3 * max(1, float(bias[mask].abs().max())) and reach.min() > 9e5:
            cap = 0.0
        elif reach.numel() and (reach - reach[0]).abs().max() < 1e-3 * reach[0].abs() and (step - reach[0] * torch.tanh(1 / reach[0])).abs().max() < 1e-3:
            cap = float(reach[0])
        else:
            raise Unusual("its score_mod is no bias and no soft cap")
        self.take(query, key, value, mask, False, scale, out, cap, bias if bias[mask].any() else None)


def seen_flex(mode, query, key, value, score_mod, block_mask, scale, *more, **options):
    """What PyTorch calls for flex_attention while Operations is on."""
    out = flex_attention(query, key, value, score_mod, block_mask, scale, *more, **options)
    if not mode.watch.is_quiet:
        mode.watch.is_quiet = True
        try:
            mode.watch.flex(query, key, value, score_mod, block_mask, scale, out[0])
        except (Limit, MemoryError):
            raise
        except Exception as error:
            mode.watch.lose(str(error) if isinstance(error, Unusual) else "it could not be followed (%s: %s)" % (type(error).__name__, error))
        finally:
            mode.watch.is_quiet = False
    return out


try:
    from torch._higher_order_ops.flex_attention import flex_attention
    flex_attention.py_impl(Operations)(seen_flex)
except ImportError:  # PyTorch before 2.5
    pass
