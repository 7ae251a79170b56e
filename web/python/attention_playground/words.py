"""The tokenizer's pieces as words."""
import dataclasses

import numpy as np

STARTS, CONTINUES = ("Ġ", "▁", " "), "##"


def groups_of(pieces):
    """The number of the word of each piece: by ## (BERT), by Ġ or ▁ (byte-level, SentencePiece); else each piece is one. What is no letter or digit is its own."""
    is_marked = any(piece.startswith(STARTS) for piece in pieces)
    out = []
    for i, piece in enumerate(pieces):
        if piece.startswith(CONTINUES):
            is_same = i > 0
        else:
            is_same = i > 0 and is_marked and not piece.startswith(STARTS) and piece[:1].isalnum() and pieces[i - 1][-1:].isalnum()
        out.append(0 if not out else out[-1] + (not is_same))
    return out


def words_of(pieces, groups):
    out = [""] * (groups[-1] + 1)
    for piece, group in zip(pieces, groups):
        for mark in STARTS:
            piece = piece[len(mark):] if piece.startswith(mark) and len(piece) > len(mark) else piece
        out[group] += piece[len(CONTINUES):] if out[group] and piece.startswith(CONTINUES) else piece
    return out


def matrix(groups):
    """[words, pieces]: 1 where a piece is of a word."""
    return (np.arange(groups[-1] + 1)[:, None] == np.array(groups)).astype(np.float64)


def merged(layer, entry):
    """The layer of one prompt by words: weights are summed over the pieces of a key and averaged over those of a query.

    They are the softmax of their logarithms, so these stand in the mask, with q and k 0; v is the mean over the pieces. So everything that takes a layer takes it."""
    rows, keys = layer.q.shape[2], layer.k.shape[2]
    pieces = layer.tokens and layer.tokens[entry]
    others = layer.key_tokens[entry] if layer.key_tokens else pieces
    if not pieces or len(pieces) != rows or len(others) not in (keys, keys - 1):
        raise ValueError("%s: has no tokens for its %d queries and %d keys; give record() a tokenizer, or tokens." % (layer.name or "layer", rows, keys))
    of_rows, of_keys = groups_of(pieces), groups_of(others)
    labels = words_of(others, of_keys)
    if len(others) < keys:  # a sink
        of_keys, labels = of_keys + [of_keys[-1] + 1], labels + ["(sink)"]
    queries, sums = matrix(of_rows), matrix(of_keys)
    weights = np.stack([layer.of_head(head, entry) for head in range(layer.heads)])
    weights = queries / queries.sum(1, keepdims=True) @ weights.astype(np.float64) @ sums.T
    with np.errstate(divide="ignore"):
        mask = np.log(weights)
    v = sums / sums.sum(1, keepdims=True) @ layer.v[entry].astype(np.float64)
    words = words_of(pieces, of_rows)
    return dataclasses.replace(layer, q=np.zeros((1, layer.heads, len(words), 1), np.float32), k=np.zeros((1, layer.kv_heads, len(labels), 1), np.float32), v=v[None].astype(np.float32),
                               scale=1.0, softcap=0.0, causal=False, mask=mask[None].astype(np.float32), weights=weights[None].astype(np.float32), normalizer="softmax",
                               tokens=[words], key_tokens=[labels] if layer.key_tokens or labels != words else None, padding=None, norm="", options={}, picture=None, steps=None, origin=None)
