"""Runs a recorded model again with some of its heads changed, and says what that does to its answer."""
import sys
from contextlib import closing
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F

from .recording import NEVER, listed
from .running import log_softmax
from .state import array_of
from .watch import Unusual, Watch, again, is_constant


class Editing(Watch):
    """Keeps nothing, but changes heads where the model multiplies weights and values: in the result of that product, or of a fused operation.

    `changes` is {(name of the module, how often it was used before): {head: (what, argument)}}; it may change between runs."""
    def __init__(self, model, changes):
        super().__init__(model)
        self.changes, self.met, self.why = changes, set(), None

    def enter(self, name, module, args, kwargs):
        if module is self.model:
            self.met, self.why = set(), None
        super().enter(name, module, args, kwargs)

    def lose(self, why):
        self.why = self.why or (self.at()[-1][0], why)

    def change(self, where, action, key=None):
        key = key or self.key_of(where)
        if not self.changes.get(key):
            return
        try:
            action(self.changes[key])
            self.met.add(key)
        except Unusual as error:
            self.lose(str(error))
        except (RuntimeError, IndexError, ValueError) as error:
            self.why = (where[-1][0], "%s" % error)

    def take_whole(self, where, key, out, ask):
        if key:
            self.change(where, lambda heads: self.change_whole(heads, where, out, ask), key)

    def change_whole(self, heads, where, out, ask):
        """Of a module that multiplies parts of its keys; it is asked for its weights only where a change needs to know them."""
        size, known = out.shape[-1] // self.heads_of(where)[0], ask() if any(what != "scale" for what, _ in heads.values()) else None
        rows = known.q.shape[2] if known else out.shape[1]
        for head, (what, by) in heads.items():
            own = out[:, :rows, head * size:(head + 1) * size]
            fill = lambda new: F.pad(new, (0, known.tokens - rows, 0, known.tokens - rows))  # with what fills up the length that the kernel needs
            own.copy_(changed_output(what, by, own.clone(), lambda new, head=head: known.product(fill(new), head)[:, :rows], lambda head=head: known.weights[:, head] > 0, rows))

    def check(self):
        """ValueError where a change that was wanted was not made."""
        missed = [key for key, heads in self.changes.items() if heads and key not in self.met]
        if missed:
            name, why = self.why or (missed[0][0], "this run does not reach it")
            raise ValueError("%s could not be changed: %s." % (name or type(self.model).__name__, why.rstrip(".")))

    def finish(self, weights, a, v, out):
        self.change(weights.where, lambda heads: self.change_product(heads, weights, a, v, out))
        self.forget(weights.scores.a)

    def change_product(self, heads, weights, a, v, out):
        """`out` is a·v, where `a` are the weights after some views; rows are followed through these by their numbers."""
        whole = weights.values
        *lead, queries, keys = whole.shape
        batch, count, group = self.axes(tuple(lead), queries, weights.where)
        marks = again(torch.arange(whole.numel() // keys).reshape(*lead, queries, 1).expand(whole.shape), weights.steps)
        if marks.shape != a.shape or not is_constant(marks, -1):
            raise Unusual("its weights and values are not multiplied head by head")
        at = torch.argsort(marks[..., 0].reshape(-1)).reshape(batch, count * group, -1).to(out.device)
        rows = out.reshape(-1, out.shape[-1]).clone()

        def product(head, new):
            changed = a.reshape(-1, keys).clone()
            changed[at[:, head]] = new.to(changed)
            return (changed.reshape(a.shape) @ v).reshape(rows.shape)[at[:, head]]

        seen = lambda: torch.from_numpy(seen_of(self.told(weights, a, v)))
        for head, (what, by) in heads.items():
            rows[at[:, head]] = changed_output(what, by, rows[at[:, head]], lambda new, head=head: product(head, new), lambda head=head: seen()[:, head], keys)
        out.copy_(rows.reshape(out.shape))

    def take(self, query, key, value, mask, is_causal, scale, out, cap=0.0, bias=None):
        self.change(self.at(), lambda heads: self.change_fused(heads, query, key, value, (mask, bias, is_causal), out))

    def change_fused(self, heads, query, key, value, masks, out):
        rows, keys = query.shape[-2], key.shape[-2]
        batch, count, group = self.axes(tuple(query.shape[:-2]), rows, self.at())
        form = lambda tensor: tensor.reshape(batch, count * group, -1, tensor.shape[-1])
        values, outputs = value.reshape(batch, -1, *value.shape[-2:]), form(out).clone()

        def seen():
            all_seen = torch.ones((*query.shape[:-2], rows, keys), dtype=torch.bool, device=query.device)
            for mask in masks[:2]:
                if mask is not None:
                    all_seen &= mask if mask.dtype == torch.bool else mask > NEVER
            return form(all_seen.tril() if masks[2] else all_seen)

        for head, (what, by) in heads.items():
            own = values[:, head * values.shape[1] // (count * group)]
            outputs[:, head] = changed_output(what, by, outputs[:, head], lambda new, own=own: new.to(own) @ own, lambda head=head: seen()[:, head], keys)
        out.copy_(outputs.reshape(out.shape))


def changed_output(what, by, output, product, seen, keys):
    """The new output [batch, queries, d] of a head. product(weights) multiplies others with its values; seen() is where a query sees a key."""
    if what == "scale":
        return output * by
    if what == "mean":
        return output.float().mean(1, keepdim=True).to(output).expand(output.shape)
    if what == "uniform":
        shown = seen()
        return product(shown / shown.sum(-1, keepdim=True).clamp(min=1))
    shape, wanted = tuple(by.shape[-2:]), (output.shape[1], keys)
    if shape == (wanted[0], keys + 1):  # the sink of a recorded layer stands as one more key
        by = by[..., :-1]
    elif shape != wanted or by.ndim == 3 and len(by) not in (1, len(output)):
        raise ValueError("weights: have the shape %s; this head has %d queries and %d keys" % (list(by.shape), *wanted))
    return product(torch.from_numpy(np.ascontiguousarray(by)).expand(len(output), *wanted))


def seen_of(found):
    """[batch, heads, queries, keys]: True where a query sees a key."""
    seen = np.ones((*found.q.shape[:3], found.k.shape[2]), bool)
    if found.hidden is not None:
        seen &= ~found.hidden
    if found.bias is not None:
        seen &= found.bias > NEVER
    return seen


class Next(NamedTuple):
    """A token that may come next: its probabilities and logits before and after the change."""
    token: str
    before: float
    after: float
    logit_before: float
    logit_after: float


class Edit:
    """with recording.edit() as edit: edit.off(layer=5, head=3); then edit.before, edit.after, edit.kl, edit.top(), edit.loss(targets).

    Layers are those of the recording, by number or name; heads those of the model; both count from 0, and negative ones from the end. `head` may be a
    list or a range. The last change of a head counts. Inside the block the changes hold for every run of the model; when it ends, the model is as it was, and the
    recorded run was made once more without and once with them.
    """
    def __init__(self, recording):
        self.recording, self.changes, self._watch, self.before, self.after = recording, {}, None, None, None

    def off(self, layer, head):
        """The output of the head, its weights · V, is 0."""
        self._put(layer, head, "scale", 0.0)

    def scale(self, layer, head, factor):
        """Multiplies the output of the head."""
        factor = float(factor)
        if not np.isfinite(factor):
            raise ValueError("factor: is %s; give a finite number." % factor)
        self._put(layer, head, "scale", factor)

    def mean(self, layer, head):
        """The output of the head is the same for all queries: its mean over them."""
        self._put(layer, head, "mean", None)

    def uniform(self, layer, head):
        """Every key that a query sees has the same weight."""
        self._put(layer, head, "uniform", None)

    def replace(self, layer, head, weights):
        """Other weights, [queries, keys] or [batch, queries, keys], of NumPy, PyTorch or lists."""
        weights = array_of("weights", weights)
        if weights.ndim not in (2, 3):
            raise ValueError("weights: have the shape %s; give [queries, keys] or [batch, queries, keys]." % list(weights.shape))
        self._put(layer, head, "replace", weights.astype(np.float32))

    def _put(self, layer, head, what, by):
        if isinstance(layer, str):
            one = self.recording[layer]
        else:
            one = self.recording[listed(layer, len(self.recording), "layer")[0]]
        for number in listed(head, one.origin[1], "head"):
            self.changes.setdefault(one.origin[0], {})[number] = (what, by)

    def __enter__(self):
        self._watch = Editing(self.recording.run.model, self.changes)
        self._watch.__enter__()
        return self

    def __exit__(self, kind, error, trace):
        self._watch.__exit__(kind, error, trace)
        if kind is None:
            run = self.recording.run
            with Editing(run.model, {}):  # the same operations of PyTorch before and after
                self.before = run.logits()
            with Editing(run.model, self.changes) as watch:
                self.after = run.logits(watch)

    # ---------------------------------------------------------------- what came of it

    @property
    def kl(self):
        """KL(before ‖ after) of the next token over the whole vocabulary, in bit: [batch]."""
        return divergence(*(self.recording.run.next(one) for one in self._both()))

    def top(self, count=10, entry=0):
        """[(token, probability before, after, logit before, after)] of the likeliest next tokens, the likeliest before first."""
        run = self.recording.run
        logits = [run.last(one)[entry] for one in self._both()]
        numbers = [*(np.exp(log_softmax(one)) for one in logits), *logits]
        return [Next(run.word(i), *(float(one[i]) for one in numbers)) for i in np.argsort(-numbers[0])[:count]]

    def loss(self, targets):
        """Mean cross-entropy (before, after) in nat: `targets` are the numbers of the right tokens [batch, tokens], or classes [batch]; −100: none."""
        return tuple(self.recording.run.loss(one, targets) for one in self._both())

    def _both(self):
        if self.after is None:
            raise ValueError("the run is made when the with-block ends.")
        return self.before, self.after

    def __repr__(self):
        heads = sum(map(len, self.changes.values()))
        return "<Edit: %d head%s changed%s>" % (heads, "" if heads == 1 else "s", "" if self.after is None else ", largest difference of a logit %.3g" % np.abs(self.after - self.before).max())


def divergence(before, after):
    """KL in bit of the rows of log-probabilities."""
    return np.maximum((np.exp(before) * (before - after)).sum(-1) / np.log(2), 0)


def effects(recording, numbers, target=None, before=None):
    """How much the answer depends on each of these (layer, head), one after the other; `before` are the logits without a change, where they are known."""
    run, changes = recording.run, {}
    with Editing(run.model, changes) as watch:
        before = run.logits() if before is None else before
        base = None if target is None else run.loss(before, target)
        for i, head in numbers:
            changes.clear()
            changes[recording[i].origin[0]] = {head: ("scale", 0.0)}
            after = run.logits(watch)
            yield divergence(run.next(before), run.next(after)).mean() if target is None else run.loss(after, target) - base


def heads_of(recording):
    """(layer, head) of all heads that the model has in the layers of a recording."""
    return [(i, head) for i, layer in enumerate(recording) for head in range(layer.origin[1])]


def effect(recording, target=None, progress=True):
    """How much the answer depends on each head: [layers, heads], NaN where a layer has fewer. See Recording.effect()."""
    numbers = heads_of(recording)
    found = np.full((len(recording), max(layer.origin[1] for layer in recording)), np.nan)
    tell = progress if callable(progress) else bar if progress and sys.stderr.isatty() else lambda done, total: None
    try:
        with closing(effects(recording, numbers, target)) as each:
            tell(0, len(numbers))
            for done, (at, value) in enumerate(zip(numbers, each)):
                found[at] = value
                tell(done + 1, len(numbers))
    except KeyboardInterrupt as error:
        error.effect = found  # as far as it came
        raise
    return found


def bar(done, total):
    print("\r%d of %d heads%s" % (done, total, "\n" if done == total else ""), end="", file=sys.stderr, flush=True)
