"""What the tests of the Python package do with the installed wheel. usage: package.py make FOLDER | serve | module"""
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import types
from pathlib import Path

import numpy as np

import attention_playground
from attention_playground import Layer, Playground, Recording, server
from attention_playground.boards import boards_of

rng = np.random.default_rng(3)
draw = lambda *shape: rng.standard_normal(shape).astype(np.float32)


def recording():
    """Three layers as record() gives them: causal, with a mask in a batch, and of a decoder that looks at an encoder."""
    words = ["[CLS]", "▁I", "Ġsaw", "\n", "日本"]
    seen = np.ones((2, 1, 5, 5), bool)
    seen[1, ..., 3:] = False
    return Recording([
        Layer("h.0.attn", draw(1, 4, 5, 8), draw(1, 2, 5, 8), draw(1, 2, 5, 6), 0.25, causal=True, tokens=[words]),
        Layer("h.1.attn", draw(2, 4, 5, 8), draw(2, 4, 5, 8), draw(2, 4, 5, 8), 8 ** -0.5, mask=seen, tokens=[words, words]),
        Layer("decoder.0.cross", draw(1, 2, 3, 4), draw(1, 2, 5, 4), draw(1, 2, 5, 4), 1.0, softcap=3.0, mask=draw(1, 2, 3, 5), tokens=[["je", "vis", "."]], key_tokens=[words]),
    ])


def shown(board, **options):
    """The same board as the page tells it: with the value of every option."""
    board.set(**options)
    with tempfile.TemporaryDirectory() as folder:
        board.save(f"{folder}/given.json")
        subprocess.run([ATTN, "convert", f"{folder}/given.json", f"{folder}/shown.json", "--state"], check=True)
        return Playground(state=Path(f"{folder}/shown.json").read_text())


def make(folder):
    found = {"version": attention_playground.__version__, "where": attention_playground.__file__,
             "needs": {name: importlib.util.find_spec(name) is not None for name in ("torch", "anywidget", "IPython")}, "layers": []}
    layers = recording()
    layers.save(f"{folder}/layers.npz")
    layers.save(f"{folder}/layers.safetensors")
    layers.save(f"{folder}/entry.npz", layers=1, entry=1)
    layers[0].playground().save(f"{folder}/board.json")
    Playground(q=[[1, 0.1], [0, 1]], k=[[1, 0], [1 / 3, 1]], v=[[1], [2]], tokens=["a", "b"], causal=True).save(f"{folder}/lists.npz")
    Playground(q=[[1, 0.1], [0, 1]], k=[[1, 0], [1 / 3, 1]], v=[[1], [2]], mask=[[0, -np.inf], [0, 1]]).save(f"{folder}/mask.json")
    for layer in layers:
        found["layers"].append({"name": layer.name, "weights": layer.computed().ravel().tolist()})
    found["texts"] = [repr(layers), repr(Recording(layers[:1]))]
    found["picture"] = layers.picture()
    os.environ.pop("ATTN", None)
    boards = [layer.playground() for layer in (layers[0], layers[2])]
    boards[1].set(temperature=2)
    boards += [shown(layers[0].playground(), scale=scale) for scale in (True, False, 0.3)]
    found["computed"] = []
    for board in boards:
        ours = {name: board.tensor(name) for name in ("weights", "output")}
        os.environ["ATTN"], board._computed = ATTN, {}
        found["computed"].append(max(float(np.abs(ours[name] - board.tensor(name)).max()) for name in ours))
        del os.environ["ATTN"]
    layers.to_html(f"{folder}/heads.html", layers=[0])
    layers.to_html(f"{folder}/unlike.html")
    many = Recording(Layer(f"h.{i}", draw(1, 4, 5, 8), draw(1, 2, 5, 8), draw(1, 2, 5, 6), 0.25, causal=i != 1, mask=draw(1, 1, 5, 5) if i == 1 else None, tokens=layers[0].tokens) for i in range(11))
    many.to_html(f"{folder}/many.html")
    many.to_html(f"{folder}/alike.html", layers=[0, 2, 10])
    found["parts"] = [name for name, *_ in boards_of(Recording(Layer(f"h.{i}", *(np.zeros((1, 12, 384, 64), np.float32),) * 3, 0.125, causal=True) for i in range(12)))]
    os.environ["ATTN"] = ATTN
    made = layers.figure(layer=2, head=3, base=1, width="3.25in", range=(0, 0.5), tokens=slice(1, 4))
    for ending in ("svg", "pdf", "png"):
        made.save(f"{folder}/figure.{ending}")
    kept = Layer("kept", *(draw(1, 1, 2, 4),) * 3, 1.0, weights=np.array([[[[0.25, 0.75], [0.5, 0.5]]]]))
    found["figures"] = [made._repr_svg_(), layers[2].figure("heads", width="3.25in", title="").svg, layers[2].figure("arcs").svg, kept.figure(colors="grey").svg]
    found["unfit"] = []
    for wrong in (lambda: layers.figure("legs"), lambda: layers.figure(layer=3), lambda: layers[0].figure(head=9), lambda: layers[0].figure(width="3 feet"),
                  lambda: layers[0].figure(range=(1, 0))):
        try:
            wrong()
            found["unfit"].append(None)
        except Exception as error:  # noqa: BLE001
            found["unfit"].append(f"{type(error).__name__}: {error}")
    del os.environ["ATTN"]
    found["refused"] = []
    for wrong in (lambda: Playground(), lambda: Playground(q=[["a"]], k=[[1]], v=[[1]]), lambda: Playground(q=[[1, np.nan]], k=[[1, 2]], v=[[1]]),
                  lambda: layers.save(f"{folder}/layers.pt"), lambda: layers.save(f"{folder}/layers.npz", layers=[]),
                  lambda: layers.save(f"{folder}/none/layers.npz"), lambda: Playground(q=[[1]], k=[[1]], v=[[1]], normalizer="sparsemax").tensor("weights")):
        try:
            wrong()
            found["refused"].append(None)
        except Exception as error:  # noqa: BLE001: its sentence is what is tested
            found["refused"].append(f"{type(error).__name__}: {error}")
    found["left"] = sorted(os.listdir(folder))
    found["plain"] = repr(Playground(q=[[1]], k=[[1]], v=[[1]])._repr_mimebundle_()) if not found["needs"]["anywidget"] else ""
    sys.modules["marimo"] = types.SimpleNamespace(running_in_notebook=lambda: True)  # stands in for it
    found["marimo"] = [one if isinstance(one, str) else type(one).__name__ for one in (layers.show(), boards[0]._display_())]
    print(json.dumps(found))


def serve():
    """Two pages, until standard input ends."""
    board = Playground(q=draw(2, 4, 3), k=draw(2, 4, 3), v=draw(2, 4, 3), tokens=["I", "saw", "a", "saw"], causal=True)
    layers = recording()
    print(json.dumps({"board": board.show(browser=False), "layers": layers.show(browser=False, block=False),
                      "state": board.state, "weights": layers[0].computed().ravel().tolist(), "page": str(server.PAGE)}), flush=True)
    sys.stdin.read()


def by_module():
    """How far the tensors of boards by wasmtime are from those of attn, and what it refuses."""
    given = dict(q=draw(2, 4, 3), k=draw(2, 4, 3), v=draw(2, 4, 3))
    boards = [Playground(**given, normalizer="sparsemax", causal=True), Playground(**given, score="cosine", position="alibi", tokens=["ein", "Ġsaw", "日本", "\n"]),
              Playground(x=draw(3, 4), w_q=draw(4, 4), w_k=draw(4, 4), w_v=draw(4, 4), w_o=draw(4, 4), heads=2), Playground(**given, mask=draw(4, 4), normalizer="entmax15")]
    names, found = ("weights", "output", "scores"), {"off": [], "refused": []}
    for board in boards:
        ours = {name: board.tensor(name) for name in names}
        os.environ["ATTN"], board._computed = ATTN, {}
        for name in names:
            theirs = board.tensor(name)
            found["off"].append(float(np.abs(ours[name] - theirs).max() / max(1, np.abs(theirs).max())))
        del os.environ["ATTN"]
    for wrong in (lambda: Playground(**given, normalizer="softestmax").tensor("weights"), lambda: boards[0].tensor("legs")):
        try:
            wrong()
            found["refused"].append(None)
        except Exception as error:  # noqa: BLE001
            found["refused"].append(f"{type(error).__name__}: {error}")
    print(json.dumps(found))


ATTN = os.environ.get("ATTN") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../build/native/attn")
{"make": lambda: make(sys.argv[2]), "serve": serve, "module": by_module}[sys.argv[1]]()
