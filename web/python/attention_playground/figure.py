"""Figures of a layer for papers and slides, drawn by `attn render`."""
import os
import subprocess
import tempfile

import numpy as np

from . import program
from .files import write

KINDS = ("weights", "heads", "arcs", "board")


class Figure:
    """A figure as SVG: shown by a notebook, saved as .svg, .pdf or .png, drawn into axes of Matplotlib."""

    def __init__(self, tensors, words):
        self.tensors, self.words = tensors, words
        self.svg = self.rendered(".svg").decode()

    def rendered(self, ending, scale=1):
        """The bytes of the file that `attn render` writes; a ValueError with its sentence where it refuses."""
        attn = program.attn()
        if not attn:
            raise FileNotFoundError("a figure is drawn by attn, which did not come with the package for this platform and is not on the PATH; name one by the variable ATTN.")
        with tempfile.TemporaryDirectory(prefix="attention-") as folder:
            layer, out = os.path.join(folder, "layer.npz"), os.path.join(folder, "figure" + ending)
            write(layer, self.tensors)
            done = subprocess.run([attn, "render", layer, "-o", out, "--scale", str(scale), *self.words], encoding="utf-8", stderr=subprocess.PIPE)
            if done.returncode:
                raise ValueError(done.stderr.strip().replace("attn: ", "", 1).replace(layer + ": ", "").replace("--", "", 1))
            with open(out, "rb") as file:
                return file.read()

    def save(self, path, scale=1):
        """Writes .svg, .pdf (text by fonts inside it; by the attn of a wheel as outlines) or .png, whose pixels are 96 × scale an inch."""
        content = self.rendered(os.path.splitext(path)[1], scale)
        with open(path, "wb") as file:
            file.write(content)

    def draw(self, ax, scale=4):
        """Draws the figure into axes of Matplotlib, as a picture of 96 × scale pixels an inch."""
        with tempfile.TemporaryDirectory(prefix="attention-") as folder:
            path = os.path.join(folder, "figure.png")
            self.save(path, scale)
            import matplotlib.image
            ax.imshow(matplotlib.image.imread(path))
        ax.set_axis_off()

    def _repr_svg_(self):
        return self.svg


def figure_of(layer, what="weights", head=0, entry=0, width=None, range=None, tokens=None, pool=None, base=0, title=None, style=None, ax=None, **more):
    """See Layer.figure."""
    if what not in KINDS:
        raise ValueError("what: %r is not a figure; use %s or %s." % (what, ", ".join(KINDS[:-1]), KINDS[-1]))
    pair = lambda given, sign: given if given is None or isinstance(given, str) else sign.join("" if one is None else str(one) for one in given)
    span = (tokens.start, tokens.stop) if isinstance(tokens, slice) else tokens
    given = {"what": what, "head": head, "base": base, "width": width, "range": pair(range, ","), "tokens": pair(span, ":"), "pool": pool, "title": title,
             "style": style, **{name.replace("_", "-"): value for name, value in more.items()}}
    if what == "heads":
        given.pop("head")
    words = [word for name, value in given.items() if value is not None for word in (["--" + name, ""] if value == "" else ["--%s=%s" % (name, value)])]
    figure = Figure(tensors_of(layer, entry, what), words)
    if ax is not None:
        figure.draw(ax)
    return figure


def tensors_of(layer, entry, what):
    """The weights that the model computed, where they were kept and are shares of 1; otherwise what they are computed from."""
    tensors = layer.tensors(entry)
    kept = None if layer.weights is None or what == "board" else np.asarray(layer.weights[entry], np.float32)
    if kept is None or np.abs(kept.sum(-1, dtype=np.float64) - 1).max() > 1e-3:
        return tensors
    return {"weights": kept, **{name: tensors[name] for name in ("tokens", "key_labels") if name in tensors}}
