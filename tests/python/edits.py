"""Heads that are changed by recording.edit() against hooks written by hand, on GPT-2, Llama, T5 and ViT, by every implementation of attention that the
installed PyTorch has.

usage: edits.py   (prints a line of JSON for each)"""
import json

import numpy as np
import torch
import transformers as hf
from torch import nn

from attention_playground import record
from attention_playground.switches import Switches

hf.logging.set_verbosity_error()
IS_5 = int(hf.__version__.split(".")[0]) >= 5
IDS = torch.arange(9)[None] * 7 % 90 + 1
PAIR = torch.cat([IDS, IDS.flip(1)])
SMALL = dict(vocab_size=100, num_hidden_layers=3, hidden_size=64, intermediate_size=96, num_attention_heads=4)
HEADS, D = 4, 16


def say(name, **more):
    print(json.dumps({"name": name, **more}), flush=True)


def module(model, *paths):
    """The module by the first path that exists: names differ between versions of transformers."""
    modules = dict(model.named_modules())
    return next(modules[path] for path in paths if path in modules)


# Of each model: its making, its inputs, the layer that is changed by its number in the recording, the modules whose input are the heads side by side and
# whose output are the values, how the values are cut out, the heads that they have, what a query sees.
MODELS = {
    "GPT-2": (lambda: hf.GPT2LMHeadModel(hf.GPT2Config(vocab_size=100, n_positions=32, n_embd=64, n_layer=3, n_head=4)), dict(input_ids=PAIR), 1,
              ["transformer.h.1.attn.c_proj"], ["transformer.h.1.attn.c_attn"], lambda v: v[..., 128:], 4, "causal"),
    "Llama": (lambda: hf.LlamaForCausalLM(hf.LlamaConfig(**SMALL, num_key_value_heads=2)), dict(input_ids=PAIR), 2,
              ["model.layers.2.self_attn.o_proj"], ["model.layers.2.self_attn.v_proj"], lambda v: v, 2, "causal"),
    "T5": (lambda: hf.T5ForConditionalGeneration(hf.T5Config(vocab_size=100, d_model=64, d_kv=16, num_layers=2, num_heads=4, d_ff=96)),
           dict(input_ids=PAIR, decoder_input_ids=PAIR[:, :5]), 5,
           ["decoder.block.1.layer.1.EncDecAttention.o"], ["decoder.block.1.layer.1.EncDecAttention.v"], lambda v: v, 4, "all"),
    "ViT": (lambda: hf.ViTForImageClassification(hf.ViTConfig(num_hidden_layers=2, hidden_size=64, intermediate_size=96, num_attention_heads=4, image_size=32, patch_size=8,
                                                              num_labels=10)),
            dict(pixel_values=torch.linspace(-1, 1, 2 * 3 * 32 * 32).reshape(2, 3, 32, 32).sin()), 1,
            ["vit.encoder.layer.1.attention.output.dense", "vit.layers.1.attention.o_proj", "vit.encoder.layer.1.attention.o_proj"],
            ["vit.encoder.layer.1.attention.attention.value", "vit.layers.1.attention.v_proj", "vit.encoder.layer.1.attention.v_proj"], lambda v: v, 4, "all"),
}


def made(name, implementation):
    model = MODELS[name][0]
    torch.manual_seed(1)
    model = model().eval()
    if IS_5:
        model.set_attn_implementation(implementation)
    for parameter in model.parameters():
        parameter.data *= 3  # so that heads matter
    return model


def by_hand(model, name, what, head, by):
    """The logits with a head changed by hooks."""
    _, inputs, _, outs, values, cut, groups, sees = MODELS[name]
    kept = {}

    def keep(one, args, out):
        kept["v"] = cut(out).reshape(len(out), -1, groups, D).transpose(1, 2)

    def change(one, args):
        heads = args[0].reshape(*args[0].shape[:2], HEADS, D).clone()
        own, v = heads[:, :, head], kept["v"][:, head * groups // HEADS]
        if what in ("off", "scale"):
            own = own * (0 if what == "off" else by)
        elif what == "mean":
            own = own.mean(1, keepdim=True).expand(own.shape)
        else:
            weights = by
            if what == "uniform":
                weights = torch.ones(own.shape[1], v.shape[1])
                weights = weights.tril() if sees == "causal" else weights
                weights = weights / weights.sum(-1, keepdim=True)
            own = weights @ v
        heads[:, :, head] = own
        return (heads.reshape(args[0].shape),)

    hooks = [module(model, *values).register_forward_hook(keep), module(model, *outs).register_forward_pre_hook(change)]
    with torch.no_grad():
        out = model(**inputs).logits
    for hook in hooks:
        hook.remove()
    return out.numpy()


def compared():
    for name, (_, inputs, layer, *_) in MODELS.items():
        for implementation in ("eager", "sdpa", "flex_attention") if IS_5 else ("eager",):
            try:
                model = made(name, implementation)
                with torch.no_grad():
                    plain = model(**inputs).logits.numpy()
            except Exception:  # noqa: BLE001
                continue  # not supported here
            recording = record(model, **inputs)
            shape = recording[layer].weights.shape
            weights = torch.rand(shape[2:], generator=torch.Generator().manual_seed(2))
            worst, moved, switched = {}, {}, 0.0
            for what, by in (("off", None), ("scale", -1.5), ("mean", None), ("uniform", None), ("replace", weights)):
                with recording.edit() as edit:
                    getattr(edit, what)(layer, 3, **({} if by is None else {"factor": by} if what == "scale" else {"weights": by}))
                wanted = by_hand(model, name, what, 3, by)
                if what != "replace":  # the switches of a notebook have no weights of their own
                    last = wanted[0] if wanted.ndim == 2 else wanted[0, -1]
                    for token, _, after, _, logit in Switches(recording).answer([[layer, 3, what, by]])["top"]:
                        switched = max(switched, abs(logit - last[int(token)]) / np.abs(last).max(), abs(after - float(torch.from_numpy(last).softmax(-1)[int(token)])))
                worst[what], moved[what] = float(np.abs(edit.after - wanted).max() / np.abs(wanted).max()), float(np.abs(edit.after - plain).max() / np.abs(plain).max())
            say("hooks", model=name, by=implementation, worst=worst, moved=moved, switched=float(switched), before=float(np.abs(edit.before - plain).max() / np.abs(plain).max()))


def sliding():
    """Longformer and BigBird multiply parts of their keys: heads of their second layer against the output of its kernel, changed by hand."""
    made = {"Longformer": (hf.LongformerForMaskedLM, hf.LongformerConfig(**SMALL, attention_window=4, max_position_embeddings=64),
                           dict(input_ids=torch.arange(19)[None] * 7 % 90 + 1, global_attention_mask=torch.arange(19)[None].eq(7).long())),
            "BigBird": (hf.BigBirdForMaskedLM, hf.BigBirdConfig(**SMALL, block_size=4, num_random_blocks=1, max_position_embeddings=128), dict(input_ids=torch.arange(62)[None] * 7 % 90 + 1))}
    for name, (family, config, inputs) in made.items():
        torch.manual_seed(1)
        model = family(config).eval()
        for parameter in model.parameters():
            parameter.data *= 3
        recording = record(model, **inputs)
        layer, count = recording[1], recording[1].q.shape[2]
        kernel, worst, moved = dict(model.named_modules())[layer.name], {}, {}
        parts = [layer.v[0, 1, :, at:at + D] for at in range(0, layer.v.shape[-1], D)]  # token 7 takes the values of its own projections

        def product(weights):
            out = weights @ parts[0]
            out[7] = (weights @ parts[-1])[7]
            return torch.from_numpy(out.astype(np.float32))

        other = np.random.default_rng(2).dirichlet(np.ones(count), count).astype(np.float32)
        seen = layer.weights[0, 1] > 0
        by_hand = {"off": lambda own: own * 0, "scale": lambda own: own * 2.5, "mean": lambda own: own.mean(0, keepdim=True).expand(own.shape),
                   "uniform": lambda own: product(seen / seen.sum(-1, keepdims=True)), "replace": lambda own: product(other)}
        for what, change in by_hand.items():
            def hook(module, args, out):
                new = (out[0] if isinstance(out, tuple) else out).clone()
                new[0, :count, D:2 * D] = change(new[0, :count, D:2 * D])
                return (new, *out[1:]) if isinstance(out, tuple) else new

            with torch.no_grad():
                before = model(**inputs).logits
                handle = kernel.register_forward_hook(hook)
                wanted = model(**inputs).logits
                handle.remove()
            with recording.edit() as edit:
                getattr(edit, what)(1, 1, *{"scale": [2.5], "replace": [other]}.get(what, []))
            largest = float(wanted.abs().max())
            worst[what], moved[what] = float(np.abs(edit.after - wanted.numpy()).max()) / largest, float((wanted - before).abs().max()) / largest
        say("sliding", model=name, worst=worst, moved=moved)
        say("sliding map", model=name, least=float(recording.effect(progress=False).min()), hooks=sum(len(one._forward_hooks) for one in model.modules()))


def said(call):
    try:
        call()
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001: its sentence is what is tested
        return "%s: %s" % (type(error).__name__, error.args[0] if isinstance(error, KeyError) else error)
    return "done"


def numbers():
    model = made("GPT-2", "eager")
    recording = record(model, input_ids=PAIR)
    with recording.edit() as edit:
        edit.off(layer=1, head=[0, 3])
        edit.scale("transformer.h.2.attn", -1, 0.5)
        with torch.no_grad():
            inside = model(input_ids=PAIR).logits.numpy()
    with torch.no_grad():
        outside = model(input_ids=PAIR).logits.numpy()
    p, q = (torch.log_softmax(torch.from_numpy(one)[:, -1].double(), -1) for one in (edit.before, edit.after))
    kl = (p.exp() * (p - q)).sum(-1).numpy() / np.log(2)
    targets = torch.roll(PAIR, -1, 1)
    targets[:, -1] = -100
    losses = [float(nn.functional.cross_entropy(torch.from_numpy(one).flatten(0, 1), targets.flatten())) for one in (edit.before, edit.after)]
    top = edit.top()
    say("numbers", inside=float(np.abs(inside - edit.after).max()), outside=float(np.abs(outside - edit.before).max()), kl=float(np.abs(kl - edit.kl).max()), least=float(kl.min()),
        loss=float(np.abs(np.array(losses) - edit.loss(targets)).max()), top=len(top), first=[int(top[0][0]) == int(p[0].argmax()), abs(top[0][1] - float(p[0].max().exp()))], text=repr(edit))

    switches, both = Switches(recording), [[1, 0, "off", 1], [1, 3, "off", 1], [2, 3, "scale", 0.5]]
    answered = switches.answer(both, " ".join(map(str, targets[0].tolist())))
    own = targets[:1].repeat(2, 1)
    parts, map_of = 0, []
    while len(map_of) < 12:
        map_of += switches.effect(len(map_of), "5")["found"]
        parts += 1
    last = torch.full_like(targets, -100)
    last[:, -1] = 5
    say("switches", kl=abs(answered["kl"] - float(kl[0])), loss=float(np.abs(np.array(answered["loss"]) - edit.loss(own)).max()), top=[list(one) for one in top] == answered["top"],
        map=float(np.abs(np.array(map_of) - recording.effect(last, progress=False).ravel()).max()), parts=parts,
        wrong=[said(lambda: switches.answer(both, one)) for one in ("1 2 3", "saw", "100")], unknown=said(lambda: switches.answer([[0, 0, "explode", 1]])))

    seen = []
    found = recording.effect(progress=lambda done, total: seen.append([done, total]))
    with recording.edit() as edit:
        edit.off(2, 1)
    grown = recording.effect(targets)
    say("effect", shape=found.shape, same=abs(float(found[2, 1]) - float(edit.kl.mean())), loss=abs(float(grown[2, 1]) - (edit.loss(targets)[1] - edit.loss(targets)[0])), seen=[seen[0], seen[-1], len(seen)],
        is_sweep=bool(np.array_equal(found, recording.sweep(progress=False))))


class Changing(nn.Module):
    """Raises in the run that is told to."""
    def __init__(self, model):
        super().__init__()
        self.model, self.fails = model, False

    def forward(self, **inputs):
        if self.fails:
            self.model.transformer.h[0](torch.randn(1, 3, 64))
            raise RuntimeError("out of memory")
        return self.model(**inputs)


def bad():
    model = made("GPT-2", "eager")
    model.train()
    recording = record(model, input_ids=PAIR)

    def edited(change, what=recording):
        with what.edit() as edit:
            change(edit)
        return edit

    say("bad", case="layer", said=said(lambda: edited(lambda e: e.off(7, 0))))
    say("bad", case="name", said=said(lambda: edited(lambda e: e.off("h.9", 0))))
    say("bad", case="head", said=said(lambda: edited(lambda e: e.off(0, 4))))
    say("bad", case="NaN", said=said(lambda: edited(lambda e: e.replace(0, 0, np.full((9, 9), np.nan)))))
    say("bad", case="shape", said=said(lambda: edited(lambda e: e.replace(0, 0, np.ones((9, 8))))))
    say("bad", case="factor", said=said(lambda: edited(lambda e: e.scale(0, 0, float("inf")))))
    say("bad", case="targets", said=said(lambda: edited(lambda e: e.off(0, 0)).loss(np.ones((2, 3), int))))
    say("bad", case="early", said=said(lambda: edited(lambda e: e.kl)))
    say("bad", case="no head", said=said(lambda: edited(lambda e: e.off(0, 0), record(model.transformer, input_ids=PAIR))))
    say("bad", case="generate", said=said(lambda: record(model.generate, IDS, max_new_tokens=2, do_sample=False, pad_token_id=0).edit()))
    failing = Changing(model)
    whole = record(failing, input_ids=PAIR)
    failing.fails = True
    say("bad", case="raises", said=said(lambda: edited(lambda e: e.off(0, 0), whole)))
    failing.fails = False
    hook = model.transformer.h[1].attn.register_forward_hook(lambda one, args, out: (out[0][:, :4], *out[1:]))
    say("bad", case="shapes", said=said(lambda: edited(lambda e: e.off(0, 0))))
    hook.remove()

    def stop(done, total):
        if done == 3:
            raise KeyboardInterrupt

    try:
        recording.effect(progress=stop)
    except KeyboardInterrupt as error:
        say("bad", case="stop", known=int(np.isfinite(error.effect).sum()))
    with torch.no_grad():
        model.transformer.h[1].attn.c_attn.weight[0, 0] = torch.nan
    say("bad", case="model", said=said(lambda: edited(lambda e: e.off(0, 0))))
    say("left", hooks=sum(len(m._forward_hooks) + len(m._forward_pre_hooks) for m in failing.modules()), training=all(m.training for m in model.modules()),
        sdpa=getattr(getattr(nn.functional, "scaled_dot_product_attention", None), "__name__", None))


if __name__ == "__main__":
    if IS_5:
        sliding()
    compared()
    numbers()
    bad()
