"""The weights of a module that multiplies parts of its keys: sliding windows (Longformer, LED) and blocks (BigBird).

Its softmax is of no single product, so it cannot be followed to one. But what it gives is weights · values, so the module is asked: it runs again with
values that are 1 in one place and 0 in all others, and its output is a column of the weights, to the last bit. No model is known by name, only that a
projection is called query, key or value; what was asked is believed where softmax(scale · q kᵀ + mask) gives the same weights and their product with the
values what the module gave.

Tokens that see everything may have projections of their own. Then q, k and v hold both side by side, and each query is 0 in the half that is not its own.
"""
import numpy as np
import torch

NAMES = (("query", "key", "value"), ("q_proj", "k_proj", "v_proj"), ("q", "k", "v"))
GLOBAL = "_global"


class Unknown(Exception):
    """Why the weights of a module could not be asked for."""


class Whole:
    """A module that gives [batch, tokens, heads · d]: q, k, v, weights and where a key stands several times, once ask() has been called.

    `own` is, for each token, the number of the projections by which it is a query."""
    def __init__(self, module, args, kwargs, out, heads):
        self.module, self.args, self.kwargs, self.out = module, args, kwargs, out
        self.names = projections(module)
        tensors = [one for one in (*args, *kwargs.values()) if isinstance(one, torch.Tensor) and one.dim() == 3 and one.is_floating_point()]
        if not tensors or not isinstance(out, torch.Tensor) or out.dim() != 3 or out.shape[:2] != tensors[0].shape[:2] or not heads or out.shape[-1] % heads:
            raise Unknown
        self.given, self.heads = tensors[0], heads
        self.batch, self.tokens, width = out.shape
        self.size = width // heads

    def read(self):
        """The projections that this run uses: {name: [batch, heads, tokens, d]}."""
        seen = {}
        self.run({name: lambda inputs, made, name=name: seen.setdefault(name, (inputs, made.clone())) and None for names in self.names for name in names})
        self.names = [names for names in self.names if names[1] in seen and names[2] in seen]
        if not self.names or not set(self.names[0]) <= set(seen):
            raise Unknown
        made = {}
        for query, key, value in self.names:
            inputs = seen[key][0]
            made.update({query: getattr(self.module, query)(inputs), key: seen[key][1], value: seen[value][1]})  # of all tokens, whichever are queries of these
        self.is_turned = not torch.equal(inputs, self.given) if inputs.shape == self.given.shape else True
        if not torch.equal(inputs.transpose(0, 1) if self.is_turned else inputs, self.given) or any(one.numel() != self.out.numel() or one.shape[:2] != inputs.shape[:2] for one in made.values()):
            raise Unknown
        by_token = lambda one: (one.transpose(0, 1) if self.is_turned else one).reshape(self.batch, self.tokens, self.heads, self.size).transpose(1, 2)
        self.made = {name: by_token(one) for name, one in made.items()}

    def run(self, actions):
        """The output, with actions {name of a projection: what to do with its input and output}, which may give another output."""
        hooks = [getattr(self.module, name).register_forward_hook(lambda _, args, out, act=act: act(args[0], out)) for name, act in actions.items()]
        try:
            out = self.module(*self.args, **self.kwargs)
        finally:
            for hook in hooks:
                hook.remove()
        return out[0] if isinstance(out, tuple) else out

    def with_values(self, *values):
        """The output [batch, heads, tokens, d] with these values [batch, tokens, heads, d] instead of those of each kind of projections."""
        def instead(made, one):
            one = one.reshape(self.batch, self.tokens, -1)
            one = one.transpose(0, 1) if self.is_turned else one
            if one.shape != made.shape:  # a projection of other tokens too
                raise Unknown
            return one.to(made).contiguous()

        out = self.run({names[2]: lambda inputs, made, one=one: instead(made, one) for names, one in zip(self.names, values)})
        return out.reshape(self.batch, self.tokens, self.heads, self.size).transpose(1, 2)

    def weigh(self):
        """[batch, heads, tokens, tokens] as the module has them."""
        weights = self.out.new_zeros(self.batch, self.heads, self.tokens, self.tokens, dtype=torch.float32)
        for begin in range(0, self.tokens, self.size):
            count = min(self.size, self.tokens - begin)
            one = self.out.new_zeros(self.batch, self.tokens, self.heads, self.size)
            one[:, torch.arange(begin, begin + count), :, torch.arange(count)] = 1
            weights[..., begin:begin + count] = self.with_values(*[one] * len(self.names))[..., :count]
        return weights

    def owners(self):
        """[batch, tokens]: by which projections each token is a query, found by the values that it takes."""
        none, ones = (self.out.new_full((self.batch, self.tokens, self.heads, self.size), by) for by in (0, 1))
        takes = torch.stack([self.with_values(*[ones if other is names else none for other in self.names]).abs().amax((1, 3)) for names in self.names])
        if ((takes > 0).sum(0) > 1).any():
            raise Unknown
        return takes.argmax(0)

    def ask(self):
        self.read()
        self.weights, self.own = self.weigh(), self.owners()
        self.q, self.k, self.v = (torch.cat([self.made[names[i]] for names in self.names], -1) for i in range(3))
        if len(self.names) > 1:
            columns = torch.arange(len(self.names), device=self.own.device).repeat_interleave(self.size)
            self.q = self.q * (columns == self.own[..., None])[:, None]
        self.scale, self.times = self.scaled()
        return self

    def product(self, weights, head):
        """[batch, tokens, d] of other weights of a head: each query takes the values of its own projections."""
        outs = torch.stack([weights.to(self.out) @ self.made[names[2]][:, head] for names in self.names])
        return outs.gather(0, self.own[None, :, :, None].expand(1, -1, -1, self.size))[0]

    def is_true(self):
        """Do weights and values give what the module gave?"""
        outs = torch.stack([self.product(self.weights[:, head], head) for head in range(self.heads)], 2).reshape(self.out.shape)
        largest = max(1.0, max(float(self.made[names[2]].abs().max()) for names in self.names))
        return float((outs - self.out).abs().max()) <= max(1e-5, 8 * torch.finfo(self.out.dtype).eps) * largest

    def scaled(self):
        """(scale, how often each key stands in the softmax of a query): a block that is chosen twice counts twice. The scale is that of the smaller error."""
        found = [(self.counts(scale), scale) for scale in (self.size ** -0.5, 1.0)]
        (off, times), scale = min(found, key=lambda one: one[0][0])
        return scale, times

    def counts(self, scale):
        times, off = torch.ones_like(self.weights, dtype=torch.uint8), 0.0
        for entry in range(self.batch):
            for head in range(self.heads):
                weights = self.weights[entry, head]
                seen = weights > 1e-30
                ratio = (weights.log() - scale * self.q[entry, head].float() @ self.k[entry, head].float().T).masked_fill(~seen, torch.nan)
                ratio = (ratio - ratio.nanmedian(-1, keepdim=True).values).clamp(-5, 5).exp()  # most keys stand there once
                whole = ratio.round().clamp(min=1)
                off = max(off, float((ratio - whole).abs().nan_to_num().max()))
                times[entry, head] = whole.nan_to_num(1).to(torch.uint8)
        return off, times

    def cut(self, length):
        """Without tokens by which a model filled up the length that its kernel needs, where no other sees them."""
        if not 0 < length < self.tokens or (self.weights[:, :, :length, length:] != 0).any():
            return
        self.q, self.k, self.v = (one[:, :, :length] for one in (self.q, self.k, self.v))
        self.weights, self.times = (one[:, :, :length, :length] for one in (self.weights, self.times))

    def masks(self):
        """(bias, hidden): what the weights have beside scale · q kᵀ."""
        hidden, times = (self.weights == 0).numpy(force=True), self.times.numpy(force=True)
        if (times == 1).all():
            return None, hidden if hidden.any() else None
        return np.where(hidden, -np.inf, np.log(times, dtype=np.float32)), None


def projections(module):
    """[(query, key, value)], and after it those of tokens that see everything, by their names."""
    children = dict(module.named_children())
    for names in NAMES:
        if all(name in children for name in names):
            others = tuple(name + GLOBAL for name in names)
            return [names] + [others] * all(name in children for name in others)
    raise Unknown
