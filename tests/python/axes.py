"""Draws figures into axes of Matplotlib. usage: axes.py ATTN   (prints JSON: what the axes hold)"""
import json
import os
import sys
import tempfile

import matplotlib
import numpy as np

from attention_playground import Layer, Recording

matplotlib.use("Agg")
import matplotlib.image  # noqa: E402: after the choice of what draws
import matplotlib.pyplot as plt  # noqa: E402

os.environ["ATTN"] = sys.argv[1]
rng = np.random.default_rng(1)
recording = Recording(Layer("h.%d" % i, *rng.normal(size=(3, 1, 2, 4, 8)).astype("float32"), 8 ** -0.5, causal=True, tokens=[["I", "saw", "a", "saw"]]) for i in range(2))
figure, (left, right) = plt.subplots(1, 2, figsize=(6.75, 3), dpi=100)
drawn = recording.figure("weights", layer=1, head=1, width="3.25in", ax=left)
recording[0].figure("arcs", ax=right)
with tempfile.TemporaryDirectory() as folder:
    drawn.save(f"{folder}/one.png", scale=4)
    alone = matplotlib.image.imread(f"{folder}/one.png")
    figure.savefig(f"{folder}/both.pdf")
    with open(f"{folder}/both.pdf", "rb") as file:
        is_pdf = file.read(5) == b"%PDF-"
figure.canvas.draw()
pixels = np.asarray(figure.canvas.buffer_rgba())[..., :3]
print(json.dumps({"width": alone.shape[1], "same": bool(np.array_equal(left.images[0].get_array(), alone)), "axes": [left.axison, right.axison], "pdf": is_pdf,
                  "ink": [float((half < 128).any(-1).mean()) for half in (pixels[:, :337], pixels[:, 338:])]}))
