"""Which layers of a recording one board shows together, as the page Model has them."""
import numpy as np

from .files import safetensors

MOST_NUMBERS, MOST_LAYERS = 9_600_000, 64  # of all inputs of a board, and of layers on one


def alike(tensors):
    """What layers must have in common: shapes, options and labels. Each may have a mask of its own."""
    return tuple((name, array.shape if name in "qkv" else str(array.tolist())) for name, array in sorted(tensors.items()) if name != "mask")


def size_of(tensors):
    """How many numbers a layer takes on a board, where its mask may become one for each head."""
    heads, queries = tensors["q"].shape[-3:-1]
    return sum(tensors[name].size for name in "qkv") + ("mask" in tensors) * heads * queries * tensors["k"].shape[-2]


def groups_of(recording, entries):
    """[[(layer, entry, tensors)]]: those that fit together, in the order in which they were recorded, in parts of about the same size where they are too many."""
    groups = {}
    for entry in entries:
        for layer in recording:
            if len(entries) == 1 or entry < len(layer.q):
                tensors = {name: np.asarray(array) for name, array in layer.tensors(entry).items()}
                groups.setdefault((entry, alike(tensors)), []).append((layer, entry, tensors))
    for group in groups.values():
        most = max(1, min(MOST_LAYERS, MOST_NUMBERS // max(size_of(tensors) for _, _, tensors in group)))
        parts = -(-len(group) // most)
        for i in range(parts):
            yield group[i * len(group) // parts:(i + 1) * len(group) // parts]


def name_of(group, has_prompts):
    names = [layer.name or "layer" for layer, _, _ in group]
    prompt = "prompt %d: " % (group[0][1] + 1) if has_prompts else ""
    return prompt + (names[0] if len(names) == 1 else "%s to %s, %d layers" % (names[0], names[-1], len(names)))


def boards_of(layers, entry=None):
    """[(name, view, name of a file, its bytes)] for write_page()."""
    count = max(len(layer.q) for layer in layers)
    entries = [entry] if entry is not None or len(layers) == 1 else range(count)  # a single layer shows all of its prompts
    groups, out = list(groups_of(layers, entries)), []
    for number, group in enumerate(groups, 1):
        content = {}
        for i, (layer, _, tensors) in enumerate(group):
            prefix = "%s." % (layer.name or i) if len(group) > 1 else ""
            content.update({prefix + name: array for name, array in tensors.items()})
        out.append((name_of(group, len(entries) > 1), "model" if len(group) > 1 else "layer",
                    "recording%s.safetensors" % ("-%d" % number if len(groups) > 1 else ""), safetensors(content)))
    return out
