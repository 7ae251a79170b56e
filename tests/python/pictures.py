"""How unlike two PNG files of 8 bits and four channels are. usage: pictures.py ONE OTHER, prints JSON: their sizes, and the mean difference on white, of 255."""
import json
import struct
import sys
import zlib

import numpy as np


def pixels(path):
    with open(path, "rb") as file:
        content = file.read()
    at, packed = 8, b""
    while at < len(content):
        size, kind = struct.unpack_from(">I4s", content, at)
        body = content[at + 8:at + 8 + size]
        if kind == b"IHDR":
            width, height = struct.unpack_from(">II", body)
        packed += body if kind == b"IDAT" else b""
        at += size + 12
    rows, wide = zlib.decompress(packed), 4 * width
    above, lines = bytearray(wide), []
    for start in range(0, height * (wide + 1), wide + 1):
        kind, line = rows[start], bytearray(rows[start + 1:start + 1 + wide])
        for i in range(wide if kind else 0):
            left, up, corner = (line[i - 4], above[i], above[i - 4]) if i >= 4 else (0, above[i], 0)
            near = left + up - corner
            paeth = min((left, up, corner), key=lambda one: abs(near - one)) if kind == 4 else 0
            line[i] = (line[i] + (0, left, up, (left + up) // 2, paeth)[kind]) % 256
        lines.append(line)
        above = line
    out = np.frombuffer(b"".join(lines), np.uint8).reshape(height, width, 4).astype(float)
    alpha = out[..., 3:] / 255
    return out[..., :3] * alpha + 255 * (1 - alpha)


one, other = map(pixels, sys.argv[1:])
print(json.dumps([one.shape[:2], other.shape[:2], float(np.abs(one - other).mean()) if one.shape == other.shape else None]))
