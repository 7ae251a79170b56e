"""All heads of a recording as an SVG that needs no script: for exported notebooks, GitHub, and cells whose kernel is gone."""
import base64
import itertools
import struct
import zlib
from html import escape

import numpy as np

from .measures import KINDS, kind_of, measures

SIZE = 14                                  # cells of a thumbnail in a row
DARK = np.array([58, 28, 104])             # as the print style of figures: from white by t^0.85
COLORS = np.round(255 + (DARK - 255) * (np.arange(256)[:, None] / 255) ** 0.85).astype(np.uint8)
WIDTH, HEIGHT = 806, 180
_numbers = itertools.count()


def pooled(weights, most):
    """[rows, keys] as means of blocks, at most `most` of them along an axis."""
    for axis in (0, 1):
        size = weights.shape[axis]
        if size > most:
            edges = np.arange(most + 1) * size // most
            weights = np.add.reduceat(weights, edges[:-1], axis) / np.expand_dims(np.diff(edges), 1 - axis)
    return np.ascontiguousarray(weights, np.float32)


def thumbnails(recording):
    """Each layer's heads as bytes [heads, SIZE, SIZE]: 255 √weight of the block, of the first entry of the batch."""
    return [np.stack([thumbnail(layer.of_head(head)) for head in range(layer.heads)]) for layer in recording]


def thumbnail(weights):
    small = pooled(weights, SIZE)
    rows, keys = (np.arange(SIZE) * count // SIZE for count in small.shape)
    return np.round(255 * np.sqrt(np.clip(small[rows][:, keys], 0, 1))).astype(np.uint8)


def png(levels):
    """The bytes of a PNG of [rows, columns] levels, 0 to 255, in the colours of weights."""
    chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = b"".join(b"\0" + row.tobytes() for row in levels)
    return b"\x89PNG\r\n\x1a\n" + b"".join([chunk(b"IHDR", struct.pack(">2I5B", *levels.shape[::-1], 8, 3, 0, 0, 0)), chunk(b"PLTE", COLORS.tobytes()),
                                           chunk(b"IDAT", zlib.compress(rows, 9)), chunk(b"IEND", b"")])


def image(levels, x, y, width, height):
    data = base64.b64encode(png(levels)).decode()
    return ('<image x="%g" y="%g" width="%g" height="%g" preserveAspectRatio="none" style="image-rendering:pixelated" href="data:image/png;base64,%s"/>'
            % (x, y, width, height, data))


def words(x, y, text, more=""):
    return '<text x="%g" y="%g"%s>%s</text>' % (x, y, " " + more if more else "", escape(text))


def grid(small, chosen):
    """The thumbnails of [layers][heads, SIZE, SIZE] at the left, as one picture with its numbers of layers."""
    most, gap = max(len(one) for one in small), 2
    levels = np.zeros((len(small) * (SIZE + gap), most * (SIZE + gap)), np.uint8)
    frames = []
    step = min(14.0, 156 / len(small), 168 / most)
    for i, layer in enumerate(small):
        for j, one in enumerate(layer):
            levels[i * (SIZE + gap):i * (SIZE + gap) + SIZE, j * (SIZE + gap):j * (SIZE + gap) + SIZE] = one
    parts = [image(levels, 30, 12, most * step, len(small) * step)]
    side = step * SIZE / (SIZE + gap)
    for i, layer in enumerate(small):
        for j in range(len(layer)):
            frames.append("M%.4g %.4gh%.4gv%.4gh-%.4gz" % (30 + j * step, 12 + i * step, side, side, side))
    parts.append('<path d="%s" fill="none" stroke="#d8d9dc" stroke-width=".5"/>' % "".join(frames))
    layer, head = chosen
    parts.append('<rect x="%.5g" y="%.5g" width="%.4g" height="%.4g" rx="2" fill="none" stroke="#7b52ab" stroke-width="1.5"/>' % (28.5 + head * step, 10.5 + layer * step, side + 3, side + 3))
    for i in sorted({0, layer, len(small) - 1}):
        parts.append(words(24, 12 + i * step + side / 2 + 4, str(i), 'text-anchor="end" class="muted"'))
    return parts


def table(marks, x):
    """The best three heads of each kind, with what was measured."""
    parts = []
    for row, (letter, (name, color, _)) in enumerate(KINDS.items()):
        found = sorted(((value, i, j) for i, layer in enumerate(marks) for j, (kind, value) in enumerate(layer) if kind == letter), reverse=True)
        y = 58 + 20 * row
        parts += ['<rect x="%d" y="%d" width="15" height="15" rx="3" fill="%s" fill-opacity=".15"/>' % (x, y - 12, color),
                  words(x + 7.5, y, letter, 'text-anchor="middle" style="fill:%s" class="small"' % color), words(x + 24, y, name), words(x + 150, y, str(len(found)), 'text-anchor="end" class="muted"')]
        for n, (value, i, j) in enumerate(found[:3]):
            parts += [words(x + 172 + 80 * n, y, "%d.%d" % (i, j)), words(x + 236 + 80 * n, y, ("%.2f" % value).lstrip("0"), 'text-anchor="end" class="muted"')]
    return parts


def picture_of(weights, tokens, key_tokens, title):
    """The SVG of [layers][heads, queries, keys]: all heads, the largest, and the best of each kind. Layers and heads are counted from 0."""
    marks = [[kind_of(measures(one, tokens, key_tokens)) for one in layer] for layer in weights]
    rank = "IPSFB–"
    layer, head = max(((i, j) for i, one in enumerate(marks) for j in range(len(one))), key=lambda at: (-rank.index(marks[at[0]][at[1]][0]), marks[at[0]][at[1]][1]))
    small = [np.stack([thumbnail(one) for one in layer]) for layer in weights]
    large = pooled(weights[layer][head], 128)
    side = 150.0
    height, width = side * min(1, large.shape[0] / large.shape[1]), side * min(1, large.shape[1] / large.shape[0])
    x = 396
    parts = ['<svg xmlns="http://www.w3.org/2000/svg" id="attention-%d-%s" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="%s">'
             % (next(_numbers), "%08x" % zlib.crc32(large.tobytes()), WIDTH, HEIGHT, WIDTH, HEIGHT, escape(title)),
             "<style>text{font:12px Inter,system-ui,sans-serif;fill:#1f2328}.muted{fill:#5c6370}.small{font-size:11px;font-weight:600}.bold{font-weight:600}</style>",
             '<rect x=".5" y=".5" width="%d" height="%d" rx="4" fill="#fff" stroke="#d8d9dc"/>' % (WIDTH - 1, HEIGHT - 1)]
    parts += grid(small, (layer, head))
    parts += [image(np.round(255 * np.sqrt(np.clip(large, 0, 1))).astype(np.uint8), 222, 12, width, height),
              '<rect x="222" y="12" width="%g" height="%g" fill="none" stroke="#d8d9dc"/>' % (width, height)]
    title = title.strip("<>").replace("Recording ", "").replace(", 1 prompt", "")
    parts += [words(x, 24, title if len(title) < 52 else title[:50] + "…", 'class="bold"'), '<path d="M%d 34H%d" stroke="#d8d9dc"/>' % (x, WIDTH - 14),
              words(x, 168, "Large: layer %d, head %d, by √ of the weights. Counted from 0." % (layer, head), 'class="muted"')]
    parts += table(marks, x)
    return "".join(parts) + "</svg>"
