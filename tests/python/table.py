"""Records architectures in every type of number and by every implementation of attention, and holds the weights against those of the same model
in eager mode. With the real ends of a model's life: padding, generate(), bad input.

usage: table.py   (prints a line of JSON for each; models are made from small configurations)"""
import json
import resource
import types
import warnings

import numpy as np
import torch
import transformers as hf
from torch import nn

from attention_playground import record

hf.logging.set_verbosity_error()
IS_5 = int(hf.__version__.split(".")[0]) >= 5
IDS = torch.arange(9)[None] * 7 % 90 + 1
PAIR = torch.cat([IDS, IDS.flip(1)])
LEFT = torch.ones(2, 9, dtype=torch.long)
LEFT[1, :3] = 0
SMALL = dict(vocab_size=100, num_hidden_layers=2, hidden_size=64, intermediate_size=96, num_attention_heads=4)
GROUPED = dict(SMALL, num_key_value_heads=2)
NEO = dict(vocab_size=100, n_positions=32, n_embd=64, n_layer=2, n_head=4)
BOTH = dict(input_ids=IDS, decoder_input_ids=IDS[:, :5])
ARCHITECTURES = {
    "GPT-2": ("GPT2", NEO),
    "GPT-J": ("GPTJ", dict(NEO, rotary_dim=8)),
    "Llama": ("Llama", GROUPED),
    "Mistral": ("Mistral", dict(GROUPED, sliding_window=4)),
    "Qwen3": ("Qwen3", dict(GROUPED, head_dim=16)),
    "Gemma 2": ("Gemma2", dict(GROUPED, head_dim=16, sliding_window=4, query_pre_attn_scalar=16)),
    "gpt-oss": ("GptOss", dict(GROUPED, head_dim=16, sliding_window=4, num_local_experts=2, num_experts_per_tok=1)),
    "OPT": ("OPT", dict(vocab_size=100, num_hidden_layers=2, hidden_size=64, num_attention_heads=4, ffn_dim=64, word_embed_proj_dim=64)),
    "BLOOM": ("Bloom", dict(vocab_size=100, hidden_size=64, n_layer=2, n_head=4)),
    "BERT": ("Bert", SMALL),
    "ALBERT": ("Albert", dict(SMALL, embedding_size=24)),
    "BigBird": ("BigBird", dict(SMALL, attention_type="original_full")),
    "GPT-NeoX": ("GPTNeoX", SMALL),
    "Cohere": ("Cohere", GROUPED),
    "ESM": ("Esm", dict(SMALL, position_embedding_type="rotary", pad_token_id=0, mask_token_id=1)),
    "ModernBERT": ("ModernBert", dict(SMALL, pad_token_id=0, local_attention=4)),
    "MPT": ("Mpt", dict(vocab_size=100, d_model=64, n_layers=2, n_heads=4, max_seq_len=32)),
    "T5": ("T5", dict(vocab_size=100, d_model=64, d_kv=16, num_layers=2, num_heads=4, d_ff=64)),
    "BART": ("Bart", dict(vocab_size=100, d_model=64, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4,
                          encoder_ffn_dim=64, decoder_ffn_dim=64)),
    "ViT": ("ViT", dict(num_hidden_layers=2, hidden_size=64, intermediate_size=96, num_attention_heads=4, image_size=32, patch_size=16)),
}
# Kernels that multiply parts of the keys. Longformer and LED fill 19 tokens up to 20, and token 7 sees all; the blocks of BigBird fill 62 up to 64.
LONG, WIDE, SEEING = torch.arange(19)[None] * 7 % 90 + 1, torch.arange(62)[None] * 7 % 90 + 1, torch.zeros(1, 19, dtype=torch.long).index_fill(1, torch.tensor([7]), 1)
BOTH_LONG = dict(vocab_size=100, d_model=64, encoder_layers=2, decoder_layers=1, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=64, decoder_ffn_dim=64)
BLOCKS = dict(block_size=4, num_random_blocks=1, max_position_embeddings=128)
SPARSE = {
    "Longformer": ("Longformer", dict(SMALL, attention_window=4, max_position_embeddings=64), dict(input_ids=LONG, global_attention_mask=SEEING), "LongformerSelfAttention"),
    "LED": ("LED", dict(BOTH_LONG, attention_window=4, max_encoder_position_embeddings=64, max_decoder_position_embeddings=64),
            dict(input_ids=LONG, decoder_input_ids=IDS, global_attention_mask=SEEING), "LEDEncoderSelfAttention"),
    "BigBird, block-sparse": ("BigBird", dict(SMALL, **BLOCKS), dict(input_ids=WIDE), "BigBirdBlockSparseAttention"),
    "BigBird-Pegasus": ("BigBirdPegasus", dict(BOTH_LONG, **BLOCKS), dict(input_ids=WIDE, decoder_input_ids=IDS), "BigBirdPegasusBlockSparseAttention"),
}
INPUTS = {"T5": BOTH, "BART": BOTH, "ViT": dict(pixel_values=torch.linspace(-1, 1, 3 * 32 * 32).reshape(1, 3, 32, 32))}


def say(kind, name, **more):
    print(json.dumps({"kind": kind, "name": name, **more}), flush=True)


def made(name, implementation, kind=torch.float32):
    """The model, None where this transformers has none, or not by this implementation. The same seed gives the same weights."""
    family, options = ARCHITECTURES[name]
    if not hasattr(hf, family + "Config"):
        return None
    config = getattr(hf, family + "Config")(**options)
    if IS_5:
        config._attn_implementation = implementation
    elif implementation != "eager":
        return None
    torch.manual_seed(1)
    try:
        return getattr(hf, family + "Model")(config).eval().to(kind)
    except ValueError:  # it is not supported
        return None


def wanted(name, kind):
    with torch.no_grad():
        out = made(name, "eager", kind)(**inputs_of(name, kind), output_attentions=True)
    if not getattr(out, "encoder_attentions", None):
        return out.attentions
    return [*out.encoder_attentions, *(one for pair in zip(out.decoder_attentions, out.cross_attentions) for one in pair)]


def inputs_of(name, kind):
    return {key: value.to(kind) if value.is_floating_point() else value for key, value in INPUTS.get(name, dict(input_ids=IDS)).items()}


def compared(name, implementation, kind):
    model = made(name, implementation, kind)
    if model is None:
        return None
    try:
        with torch.no_grad():
            model(**inputs_of(name, kind))
    except (RuntimeError, ValueError):
        return None  # PyTorch cannot compute it on this processor, recorded or not
    found, seen = record(model, **inputs_of(name, kind)), wanted(name, kind)
    assert len(found) == len(seen), (name, implementation, len(found), len(seen))
    return max(float(np.abs(layer.computed()[..., :one.shape[-1]] - one.float().numpy()).max()) for layer, one in zip(found, seen))


def banded(name, model, inputs):
    """The weights of the first sliding layer as the model itself reports them: a band beside the columns of tokens that all see, and apart from it the rows of
    these; as one matrix. BigBird reports one matrix. None where a model reports none."""
    with torch.no_grad():
        out = model(**inputs, output_attentions=True)
    reported = out.get("encoder_attentions") or out.get("attentions")
    if "BigBird" in name:
        return reported[0].float()
    count = LONG.shape[1]
    band, whole = reported[0].float(), torch.zeros(1, 4, 20, 24)
    for row in range(count):
        whole[0, :, row, row:row + 5] = band[0, :, row, 1:]  # keys from row − 2
    whole = whole[..., 2:2 + count][:, :, :count]
    whole[..., 7] += band[0, :, :count, 0]
    whole[:, :, 7] = (out.get("encoder_global_attentions") if "LED" in name else out.global_attentions)[0][0, :, :count, 0]
    return whole


def sparse():
    for name, (family, options, inputs, kernel) in SPARSE.items():
        torch.manual_seed(1)
        model = getattr(hf, family + "Model")(getattr(hf, family + "Config")(**options)).eval()
        for kind in (torch.float32, torch.bfloat16, torch.float16, torch.float64):
            outputs, model = {}, model.to(kind)
            hooks = [module.register_forward_hook(lambda _, args, out, at=at: outputs.update({at: out[0] if isinstance(out, tuple) else out}))
                     for at, module in model.named_modules() if type(module).__name__ == kernel]
            with torch.no_grad():
                model(**inputs)
            for hook in hooks:
                hook.remove()
            found = record(model, **inputs)
            off = 0.0
            for at, out in outputs.items():
                layer, heads = found[at], lambda one: one.swapaxes(1, 2).reshape(*one.shape[0:3:2], -1)
                count = layer.q.shape[2]
                away = [np.abs(heads(layer.computed() @ layer.v[..., i:i + 16]) - out[:, :count].float().numpy()) for i in range(0, layer.v.shape[-1], 16)]
                away = np.concatenate([away[-1][:, 7:8], away[0][:, :7], away[0][:, 8:]], 1) if len(away) > 1 else away[0]  # token 7 takes the values of its own projections
                off = max(off, float(away.max()))
            first, reported = found[next(iter(outputs))], banded(name, model, inputs)
            say("row", name, type=str(kind)[6:], by="eager", off=max(float(np.abs(layer.computed() - layer.weights).max()) for layer in found))
            say("sparse", name, type=str(kind)[6:], off=off, reported=float(np.abs(first.weights - reported[:, :, :count, :count].numpy()).max()), shape=first.q.shape, layers=len(outputs),
                names=[layer.name for layer in found], tokens=len(first.tokens[0]), causal=first.causal, seen=int((first.weights[0, 0, 10] > 0).sum()))
        if name == "Longformer":
            first = record(model.float(), LONG)[0]
            say("sparse", "window", words=first.positions, shape=first.q.shape, sparse=record(model, LONG, weights=False, layers=[1])[0].weights is None)
            found.save("longformer.npz", layers=0)


def said(call):
    """What a call raises or warns of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            call()
        except Exception as error:  # noqa: BLE001: its sentence is what is tested
            return " | ".join([str(one.message) for one in caught if "recorded" in str(one.message)] + [f"{type(error).__name__}: {error}"])
    return " | ".join(str(one.message) for one in caught if issubclass(one.category, UserWarning) and ("recorded" in str(one.message) or "labels" in str(one.message)))


def table():
    for name in ARCHITECTURES:
        for kind in (torch.float32, torch.bfloat16, torch.float16, torch.float64) if IS_5 else (torch.float32, torch.bfloat16):
            for implementation in ("eager", "sdpa", "flex_attention"):
                off = said(lambda: say("row", name, type=str(kind)[6:], by=implementation, off=compared(name, implementation, kind)))
                if off:
                    say("row", name, type=str(kind)[6:], by=implementation, refused=off)


# ---------------------------------------------------------------- axes


class Folded(nn.Module):
    """Grouped queries of one decoded token as the rows of one matrix; tokens > 1 leave the order open."""
    num_heads, num_kv_heads = 4, 2

    def forward(self, x):
        self.q, k = x.reshape(len(x), 4, -1, 8), torch.stack([x.flatten(1), x.flatten(1).cos()], 1).reshape(len(x), 2, -1, 8)
        q = self.q.reshape(len(x), 2, -1, 8)
        hidden = torch.arange(k.shape[2])[None, None, None] >= torch.arange(len(x))[:, None, None, None] + 2
        self.weights = (q @ k.transpose(-1, -2)).masked_fill(hidden, -torch.inf).softmax(-1)
        return self.weights @ k


class Head(nn.Module):
    """One head as a module, in a module that has n_head of them: its batch is no heads."""
    def forward(self, x):
        return (x @ x.transpose(-1, -2)).softmax(-1) @ x


class Heads(nn.Module):
    def __init__(self):
        super().__init__()
        self.n_head, self.parts = 4, nn.ModuleList(Head() for _ in range(4))

    def forward(self, x):
        return torch.cat([part(x) for part in self.parts], -1)


class Windows(nn.Module):
    def forward(self, x):
        return (x @ x.transpose(-1, -2)).softmax(-1) @ x


class Sigmoid(nn.Module):
    def forward(self, x):
        self.weights = torch.sigmoid(x @ x.transpose(-1, -2) / 8 ** 0.5 - 1.5)
        return self.weights @ x


class Plus1(nn.Module):
    """softmax-1: a zero beside the scores."""
    def forward(self, x):
        self.weights = nn.functional.pad(x @ x.transpose(-1, -2), (0, 1)).softmax(-1)[..., :-1]
        return self.weights @ x


def axes():
    torch.manual_seed(3)
    folded = Folded()
    one = record(folded, torch.randn(3, 4, 8))[0]
    say("axes", "folded", shape=one.q.shape, off=float(np.abs(one.computed() - folded.weights.reshape(3, 4, 1, -1).numpy()).max()),
        q=float(np.abs(one.q - folded.q.numpy()).max()), said=said(lambda: record(folded, torch.randn(3, 8, 8))))
    heads = record(Heads(), torch.randn(4, 5, 8))
    say("axes", "heads", layers=len(heads), shape=heads[0].q.shape, names=[layer.name for layer in heads])
    say("axes", "windows", said=said(lambda: record(Windows(), torch.randn(2, 3, 4, 5, 8))))
    for name, model in (("sigmoid", Sigmoid()), ("softmax-1", Plus1())):
        one = record(model, torch.randn(1, 2, 6, 8))[0]
        say("axes", name, shape=one.k.shape, off=float(np.abs(one.computed()[..., :6] - model.weights.numpy()).max()), normalizer=one.normalizer)


class Overwriting(nn.Module):
    """Uses the memory of its weights again."""
    def forward(self, x):
        weights = (x @ x.transpose(-1, -2)).softmax(-1)
        out = weights @ x
        self.weights = weights.clone()
        weights[0].zero_()
        return out


def written():
    model = Overwriting()
    one = record(model, torch.randn(2, 6, 8))[0]
    say("axes", "written", off=float(np.abs(one.weights.reshape(2, 6, 6) - model.weights.numpy()).max()))


# ---------------------------------------------------------------- positions by their names

LINEAR = dict(rope_parameters=dict(rope_type="linear", factor=2.0, rope_theta=1e6)) if IS_5 else dict(rope_theta=1e6, rope_scaling=dict(type="linear", factor=2.0))
POSITIONS = {
    "Llama, linear": ("Llama", dict(GROUPED, **LINEAR)),
    "Llama, yarn": ("Llama", dict(GROUPED, rope_parameters=dict(rope_type="yarn", factor=2.0, rope_theta=1e4, original_max_position_embeddings=8)) if IS_5 else GROUPED),
    "Falcon, ALiBi": ("Falcon", dict(vocab_size=100, num_hidden_layers=2, hidden_size=64, num_attention_heads=4, alibi=True)),
    "Llama 3.1": ("Llama", dict(GROUPED, rope_parameters=dict(rope_type="llama3", factor=8.0, rope_theta=1e4, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=64)) if IS_5 else GROUPED),
    "BLOOM, 6 heads": ("Bloom", dict(vocab_size=100, hidden_size=72, n_layer=2, n_head=6)),
}


def positions():
    ARCHITECTURES.update(POSITIONS)
    for name in (*POSITIONS, "GPT-2", "GPT-J", "Llama", "Mistral", "Qwen3", "GPT-NeoX", "Cohere", "ESM", "ModernBERT", "MPT"):
        for implementation in ("eager", "sdpa"):
            model = made(name, implementation)
            if model is None:
                continue
            found = record(model, **inputs_of(name, torch.float32))
            off = max(float(np.abs(layer.playground().tensor("weights") - layer.weights[0]).max()) for layer in found)  # as the board computes it
            say("positions", name, by=implementation, off=off, norm=found[-1].norm, words=found[-1].positions, options=[layer.options for layer in found],
                is_raw=[name in found[0].tensors() for name in ("position", "mask")])
    model = made("Llama", "eager")
    words = record(model, IDS, tokens=["▁a", "b", *"cdefghi"]).words()[1]
    say("positions", "words", options=[words.options], off=float(np.abs(words.playground().tensor("weights") - words.weights[0]).max()))
    part = record(model, IDS, queries=[2, 5])[0]
    say("positions", "parts", options=[part.options], off=float(np.abs(part.tensors()["q"] - record(model, IDS)[0].q[0][:, [2, 5]]).max()))


# ---------------------------------------------------------------- what rows and columns stand for


def sources():
    pixels, sees = torch.linspace(-1, 1, 3 * 48 * 32).reshape(1, 3, 32, 48), dict(num_hidden_layers=1, hidden_size=64, intermediate_size=96, num_attention_heads=4, image_size=32, patch_size=8)
    hears = dict(vocab_size=100, d_model=32, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=48, decoder_ffn_dim=48,
                 num_mel_bins=8, max_source_positions=30, pad_token_id=0, decoder_start_token_id=1, bos_token_id=1, eos_token_id=2)
    text = dict(vocab_size=100, hidden_size=32, intermediate_size=48, num_hidden_layers=1, num_attention_heads=2)
    t5 = hf.T5ForConditionalGeneration(hf.T5Config(**ARCHITECTURES["T5"][1], decoder_start_token_id=0)).eval()
    cases = {
        "ViT": (hf.ViTModel(hf.ViTConfig(**sees)), dict(pixel_values=pixels[..., :32])),
        "DINOv2": (hf.Dinov2Model(hf.Dinov2Config(**sees)), dict(pixel_values=pixels)),
        "CLIP": (hf.CLIPModel(hf.CLIPConfig(text_config=text, vision_config=sees)), dict(input_ids=torch.arange(17)[None], pixel_values=pixels[..., :32])),
        "Whisper": (hf.WhisperModel(hf.WhisperConfig(**hears)), dict(input_features=torch.linspace(-1, 1, 480).reshape(1, 8, 60), decoder_input_ids=IDS[:, :5])),
        "wav2vec 2": (hf.Wav2Vec2Model(hf.Wav2Vec2Config(**text)), dict(input_values=torch.linspace(-1, 1, 4000)[None])),
        "T5, labels": (t5, dict(input_ids=IDS, labels=IDS[:, :5])),
        "T5": (t5, dict(input_ids=IDS, decoder_input_ids=IDS[:, 1:6])),
    }
    for name, (model, inputs) in cases.items():
        found = record(model, **inputs)
        say("sources", name, layers=[[one.name, one.tokens and one.tokens[0], one.key_tokens and one.key_tokens[0], one.options.get("patch_columns", 0)] for one in found])
        if name == "ViT":
            for kind in ("npz", "safetensors"):
                found.save(f"vit.{kind}")
            say("sources", "board", off=float(np.abs(found[0].playground().tensor("weights") - found[0].weights[0]).max()))
            shown, whole = found[0].picture[0, 1:].reshape(4, 4, 8, 8, 3), pixels[0, :, :, :32]
            wanted = (2 * (whole - whole.min()) / (whole.max() - whole.min()) - 1).permute(1, 2, 0).reshape(4, 8, 4, 8, 3).transpose(1, 2).numpy()
            say("sources", "picture", off=float(np.abs(shown - wanted).max()), others=float(np.abs(found[0].picture[0, 0]).max()), shape=found[0].picture.shape)
    with torch.no_grad():
        ids = t5.generate(IDS, max_new_tokens=4, do_sample=False)[0, :-1].tolist()
    found = record(t5.generate, IDS, max_new_tokens=4, do_sample=False)[-1]
    say("sources", "generate", same=[found.tokens[0] == [str(one) for one in ids], found.key_tokens[0] == [str(one) for one in IDS[0].tolist()]], layer=found.name)


# ---------------------------------------------------------------- generate, parts, bad input


def uses():
    torch.manual_seed(1)
    for implementation in ("eager", "sdpa") if IS_5 else ("eager",):
        config = hf.LlamaConfig(**GROUPED)
        config._attn_implementation = implementation
        model = hf.LlamaForCausalLM(config).eval()
        for name, ids, more in (("generate", IDS, {}), ("generate padded", PAIR, dict(attention_mask=LEFT))):
            found = record(model.generate, ids, max_new_tokens=4, do_sample=False, pad_token_id=0, **more)
            whole = torch.tensor([[int(one) for one in entry] for entry in found[0].tokens])
            mask = torch.cat([more["attention_mask"], torch.ones(2, 3, dtype=torch.long)], 1) if more else None
            once = record(model, whole, **(dict(attention_mask=mask, position_ids=(mask.cumsum(1) - 1).clamp(min=0)) if more else {}))
            shown = slice(None) if found[0].padding is None else ~found[0].padding
            off = max(float(np.abs(a.weights - b.weights).swapaxes(1, 2)[shown].max()) for a, b in zip(found, once))
            positions = found[0].options.get("position")
            for step in range(4) if not more else ():
                with torch.no_grad():
                    cache = model(whole[:, :9 + step], use_cache=True).past_key_values
                keys, values = (cache.layers[1].keys, cache.layers[1].values) if hasattr(cache, "layers") else cache[1]
                away = [float(np.abs(ours - theirs.numpy()).max()) for ours, theirs in zip(found[1].present(step), (keys, values))]
                say("use", "present", steps=found[1].steps, shape=keys.shape, off=max(away))
            say("use", f"{name}, {implementation}", position=positions, layers=len(found), shape=found[0].q.shape, causal=found[0].causal, off=off,
                padding=None if found[0].padding is None else found[0].padding.sum(1).tolist())
    say("use", "no cache", said=said(lambda: record(model, IDS)[0].present()))
    part = record(model, IDS, layers=[1], heads=[1, 3], queries=[2, -1], weights=False)
    whole = record(model, IDS)
    say("use", "parts", names=[layer.name for layer in part], shape=part[0].q.shape, weights=part[0].weights is None, text=repr(part),
        off=float(np.abs(part[0].computed() - whole[1].weights[:, [1, 3]][:, :, [2, 8]]).max()), tokens=part[0].tokens[0])
    config = hf.LlamaConfig(**dict(GROUPED, num_hidden_layers=12))
    config._attn_implementation = "eager"
    wide, peak = hf.LlamaModel(config).eval(), lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    long = torch.arange(1024)[None] % 90
    with torch.no_grad():
        wide(long)
    before, grown = peak(), []
    for weights in (False, True):
        record(wide, long, weights=weights)
        grown.append(peak() - before)
    say("use", "memory", grown=grown)
    albert = record(made("ALBERT", "eager"), IDS)
    say("use", "ALBERT", names=[layer.name for layer in albert])
    for kind in ("npz", "safetensors"):
        albert.save(f"albert.{kind}")
        record(Sigmoid(), torch.randn(1, 2, 6, 8)).save(f"sigmoid.{kind}")


def bad():
    class Failing(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = Head(), Head()

        def forward(self, x):
            raise RuntimeError("out of memory" + str(self.first(x).shape[:0]))

    model = made("Llama", "eager")
    model.train()
    say("bad", "limit", said=said(lambda: record(model, IDS, limit="1kB")))
    say("bad", "layers", said=said(lambda: record(model, IDS, layers=7)))
    say("bad", "heads", said=said(lambda: record(model, IDS, heads=9)))
    say("bad", "size", said=said(lambda: record(model, IDS, limit="much")))
    say("bad", "labels", said=said(lambda: record(model, IDS, tokens=list("abc"))))
    failing = Failing()
    try:
        record(failing, torch.randn(1, 5, 8))
    except RuntimeError as error:
        say("bad", "raises", said=str(error), kept=len(error.recording))
    hook = model.layers[0].self_attn.register_forward_hook(lambda module, args, out: (out[0][:, :4], *out[1:]))
    say("bad", "shapes", said=said(lambda: record(model, IDS)))
    hook.remove()
    short = lambda ids: ["a", "b", "c"]  # of a tokenizer whose words are not as many as the ids
    say("bad", "tokenizer", said=said(lambda: record(model, IDS, tokenizer=types.SimpleNamespace(convert_ids_to_tokens=short))), tokens=record(
        model, IDS, tokenizer=types.SimpleNamespace(convert_ids_to_tokens=short))[0].tokens)
    try:
        record(model, IDS, limit=model.layers[0].self_attn.q_proj.weight.numel() * 4)
    except ValueError as error:
        say("bad", "second", said=str(error), kept=len(error.recording))
    with torch.no_grad():
        model.layers[1].self_attn.q_proj.weight[0, 0] = torch.nan
    say("bad", "NaN", said=said(lambda: record(model, IDS)))
    modules = [*model.modules(), *failing.modules()]
    say("bad", "left", hooks=sum(len(m._forward_hooks) + len(m._forward_pre_hooks) for m in modules), training=all(m.training for m in model.modules()))
    if not IS_5:  # hooks of PyTorch 1 are not told all that a module was given
        return say("bad", "Longformer", said=said(lambda: record(hf.LongformerModel(hf.LongformerConfig(**SPARSE["Longformer"][1])), IDS)))
    relative = dict(vocab_size=100, d_model=64, d_kv=16, num_layers=1, num_heads=4, d_ff=64, local_radius=3)
    for name, model in (("Mamba", hf.MambaModel(hf.MambaConfig(vocab_size=100, hidden_size=32, num_hidden_layers=2))),
                        ("LongT5", hf.LongT5EncoderModel(hf.LongT5Config(**relative)))):
        say("bad", name, said=said(lambda: record(model, IDS)))
    pegasus = hf.PegasusXModel(hf.PegasusXConfig(**BOTH_LONG, num_global_tokens=4, block_size=4))
    say("bad", "Pegasus-X", said=said(lambda: record(pegasus, input_ids=IDS[:, :8], decoder_input_ids=IDS[:, :5])))


if __name__ == "__main__":
    table()
    if IS_5:
        sparse()
    axes()
    written()
    positions()
    sources()
    uses()
    bad()
