"""What others make of the same model, beside what this package makes: GPT-2 with random weights, 12 layers × 12 heads × 256 tokens, eager attention.

usage: models.py FOLDER [--quick]   (prints a line of JSON for each output, whose page it writes to FOLDER; for what a peer cannot do, a line with the reason)"""
import json
import os
import statistics
import sys
import time
from importlib.metadata import PackageNotFoundError, version

import torch
import transformers as hf

from attention_playground import record
from attention_playground.picture import thumbnails
from attention_playground.widget import page_script

hf.logging.set_verbosity_error()
folder, is_quick = sys.argv[1], "--quick" in sys.argv
LAYERS, HEADS, TOKENS, ROUNDS, PAIRS = (2, 12, 32, 1, 1) if is_quick else (12, 12, 256, 3, 7)
LENGTHS = (24, 48) if is_quick else (512, 1024, 2048)
IDS = torch.arange(TOKENS)[None] * 7 % 900
WORDS = ["t%d" % i for i in range(TOKENS)]
PAGE = "<!doctype html><meta charset=utf-8><title>%s</title><body>%s"


def version_of(name):
    try:
        return version(name)
    except PackageNotFoundError:
        return "is missing"


def say(kind, tool, what, **more):
    print(json.dumps({"kind": kind, "tool": tool, "what": what, **more}), flush=True)


def timed(call, rounds=ROUNDS):
    times = []
    for _ in range(rounds):
        began, out = time.perf_counter(), None
        out = call()
        times.append(time.perf_counter() - began)
    return statistics.median(times), out


def compared(alone, call):
    """Seconds of a call, how many times those of the other, and what it gives: in turns and by the processor's time of all threads, since other programs
    run on the machine too."""
    pairs = []
    for _ in range(PAIRS):
        began, out = time.process_time(), None
        alone()
        between = time.process_time()
        out = call()
        pairs.append((between - began, time.process_time() - between))
    return {"seconds": statistics.median(b for a, b in pairs), "ratio": statistics.median(b / a for a, b in pairs)}, out


def bytes_of(arrays):
    return sum(one.nbytes for one in arrays if one is not None)


def attempt(tool, call):
    """One that cannot be installed or does not run is named with the reason."""
    try:
        call()
    except Exception as error:  # noqa: BLE001: whatever another package raises
        say("missing", tool, "", why=" ".join(("%s: %s" % (type(error).__name__, error)).split())[:200])


def made(tool, what, call, see="svg, canvas, img", kind="output", **more):
    """call() gives the HTML of a cell's output; `see` is what is there once it can be seen."""
    seconds, html = timed(call, ROUNDS if kind == "output" else 1)
    name = "%s %s.html" % (tool, what.split(":")[0])
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write(html if html.lstrip().startswith("<!doctype") else PAGE % (tool, html))
    say(kind, tool, what, seconds=seconds, bytes=len(html.encode()), file=name, see=see, **more)


def one_file(recording):
    path = os.path.join(folder, "one.html")
    recording.to_html(path)
    with open(path, encoding="utf-8") as file:
        return file.read()


def ours(recording):
    made("attention_playground", "cell: all heads, without scripts", recording.picture)
    made("attention_playground", "one file: page and all layers", lambda: one_file(recording), see="attention-playground")
    widget = recording.widget()
    head = widget.answer_head({"layer": 0, "head": 0})
    say("travels", "attention_playground", "live cell", page=len(page_script()), thumbnails=sum(one.nbytes for one in thumbnails(recording)), head=len(head[1]))


def bertviz(attentions):
    from bertviz import head_view, model_view
    made("bertviz", "model view", lambda: model_view(attentions, WORDS, html_action="return").data, see="svg line, svg path")
    made("bertviz", "head view", lambda: head_view(attentions, WORDS, html_action="return").data, see="svg rect")


def circuitsvis(attentions):
    from circuitsvis.attention import attention_heads
    made("circuitsvis", "heads of one layer", lambda: attention_heads(attentions[0][0], WORDS).local_src)
    made("circuitsvis", "all heads", lambda: attention_heads(torch.cat([one[0] for one in attentions]), WORDS).local_src)


def transformer_lens(config):
    """It takes a model by the name of a folder, and wants its tokenizer, which here has a word for each number."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformer_lens.model_bridge import TransformerBridge
    words = Tokenizer(models.WordLevel({"t%d" % i: i for i in range(1000)}, unk_token="t0"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    where = os.path.join(folder, "gpt2")
    tokenizer = hf.PreTrainedTokenizerFast(tokenizer_object=words, bos_token="t0", eos_token="t0", pad_token="t0", unk_token="t0", name_or_path=where)
    model = hf.GPT2LMHeadModel(config).eval()
    model.save_pretrained(where)
    tokenizer.save_pretrained(where)
    bridge = TransformerBridge.boot_transformers(where, hf_model=model, tokenizer=tokenizer)

    def quietly(call):
        with torch.no_grad():
            return call()

    quietly(lambda: bridge(IDS))
    took, found = compared(lambda: quietly(lambda: bridge(IDS)), lambda: quietly(lambda: bridge.run_with_cache(IDS)[1]))
    say("record", "transformer_lens", "run_with_cache", **took, bytes=bytes_of(found[name] for name in found.keys()), shape=list(found["blocks.0.attn.hook_pattern"].shape))
    wanted = lambda name: name.endswith(("attn.hook_q", "attn.hook_k", "attn.hook_v", "attn.hook_pattern"))  # noqa: E731
    took, found = compared(lambda: quietly(lambda: bridge(IDS)), lambda: quietly(lambda: bridge.run_with_cache(IDS, names_filter=wanted)[1]))
    say("record", "transformer_lens", "run_with_cache of q, k, v and pattern", **took, bytes=bytes_of(found[name] for name in found.keys()))


def gpt2(tokens, layers):
    config = hf.GPT2Config(vocab_size=1000, n_positions=tokens, n_embd=64 * HEADS, n_layer=layers, n_head=HEADS)
    config._attn_implementation = "eager"
    return config, hf.GPT2Model(config).eval()


def of_length(tokens):
    """One layer: what BertViz draws of a model at first."""
    from bertviz import head_view
    _, model = gpt2(tokens, 1)
    ids, words = torch.arange(tokens)[None] * 7 % 900, ["t%d" % i for i in range(tokens)]
    more = {"kind": "length", "tokens": tokens}
    recording = record(model, ids, tokens=words)
    made("attention_playground", "%d tokens" % tokens, lambda: one_file(recording), see="attention-playground", **more)
    with torch.no_grad():
        attentions = model(ids, output_attentions=True).attentions
    made("bertviz", "%d tokens" % tokens, lambda: head_view(attentions, words, html_action="return").data, see="svg rect", **more)


def main():
    torch.manual_seed(1)
    config, model = gpt2(TOKENS, LAYERS)

    def forward(**more):
        with torch.no_grad():
            return model(IDS, **more)

    forward()
    took, recording = compared(forward, lambda: record(model, IDS, tokens=WORDS))
    say("record", "attention_playground", "record", **took, bytes=bytes_of(one for layer in recording for one in (layer.q, layer.k, layer.v, layer.mask, layer.weights)))
    took, out = compared(forward, lambda: forward(output_attentions=True))
    say("record", "transformers", "output_attentions", **took, bytes=bytes_of(out.attentions))
    ours(recording)
    names = ("torch", "transformers", "bertviz", "circuitsvis", "transformer-lens")
    say("versions", "", "", versions={name: version_of(name) for name in names})
    attempt("bertviz", lambda: bertviz(out.attentions))
    attempt("circuitsvis", lambda: circuitsvis(out.attentions))
    attempt("transformer_lens", lambda: transformer_lens(config))
    for tokens in LENGTHS:
        attempt("bertviz", lambda: of_length(tokens))


if __name__ == "__main__":
    main()
