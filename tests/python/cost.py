"""What recording costs: 12 layers × 12 heads, 1,024 tokens, as a multiple of the model's own forward pass.

usage: cost.py [--quick]   (prints a line of JSON for each; the medians of pairs of calls, one after the other, by the processor time of all threads; goal: 1.5)"""
import json
import statistics
import sys
import time

import torch
import transformers as hf

from attention_playground import record

hf.logging.set_verbosity_error()
is_quick = "--quick" in sys.argv
TOKENS, LAYERS, ROUNDS = (64, 2, 1) if is_quick else (1024, 12, 7)
IS_5 = int(hf.__version__.split(".")[0]) >= 5


def seconds(call):
    began = time.process_time()
    call()
    return time.process_time() - began


def forward(model, ids):
    with torch.no_grad():
        model(ids)


ids = torch.arange(TOKENS)[None] * 7 % 900
for name in ("eager", "sdpa") if IS_5 else ("eager",):
    config = hf.GPT2Config(vocab_size=1000, n_positions=TOKENS, n_embd=768, n_layer=LAYERS, n_head=12)
    config._attn_implementation = name
    model = hf.GPT2Model(config).eval()
    calls = {"forward": lambda: forward(model, ids), "record": lambda: record(model, ids), "without weights": lambda: record(model, ids, weights=False)}
    times = {what: [] for what in calls}
    for turn in range(ROUNDS + 1):
        for what, call in calls.items():
            taken = seconds(call)
            if turn:  # the first warms up
                times[what].append(taken)
    pairs = {what: [taken / alone for taken, alone in zip(times[what], times["forward"])] for what in ("record", "without weights")}  # with what else the machine does in both
    print(json.dumps({"by": name, "seconds": {what: statistics.median(one) for what, one in times.items()},
                      **{what: statistics.median(one) for what, one in pairs.items()}, "range": {what: [min(one), max(one)] for what, one in pairs.items()}}), flush=True)
