"""Writes the files of open.test.mjs and save.test.mjs with NumPy, and reads back what was saved.

usage: files.py make FOLDER · files.py read FILE   (prints {name: [type, shape, the bytes in hexadecimal]})"""
import io
import json
import os
import pickle
import struct
import sys
import zipfile

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.dont_write_bytecode = True
from safetensors_file import dtype_of, read_safetensors, write_safetensors  # noqa: E402


def with_types(arrays):
    return {name: (dtype_of(a), a) for name, a in arrays.items()}


def layer(seed, heads=2, tokens=5, columns=4):
    rng = np.random.default_rng(seed)
    return {name: rng.standard_normal((heads, tokens, columns)).astype(np.float32) for name in "qkv"}


def make(folder):
    tokens = np.array(["I", "saw", "a", "saw", "."])
    one = layer(1)
    at = lambda name: f"{folder}/{name}"
    np.savez(at("clear.npz"), tokens=tokens, causal=False, **one)
    np.savez_compressed(at("packed.npz"), query=one["q"].astype(np.float16), key=one["k"].astype(">f4"), value=np.asfortranarray(one["v"].astype(np.float64)))
    np.save(at("stacked.npy"), np.stack([one["q"], one["k"], one["v"]]))
    write_safetensors(at("clear.safetensors"), with_types(one), {"labels": json.dumps(["I", "saw", "a", "saw", "."]), "causal": "false"})
    # As a table of a spreadsheet: with a byte order mark, a heading, words in the first column, Windows' line ends.
    with open(at("sheet.csv"), "w", encoding="utf-8-sig", newline="") as file:
        file.write("word,a,b\r\nred,1,2\r\ngreen,3,4.5\r\nblue,-1,0\r\n")
    with open(at("sheet.tsv"), "w", newline="") as file:
        file.write("1\t2,5\n3\t4\n")
    with open(at("lists.json"), "w") as file:
        json.dump({name: a.tolist() for name, a in one.items()}, file)
    np.savez(at("unclear.npz"), alpha=one["q"], beta=one["k"], gamma=one["v"])
    np.savez(at("tokens-first.npz"), tokens=tokens, **{name: a.transpose(1, 0, 2).copy() for name, a in one.items()})
    np.savez(at("layers.npz"), **{f"layers.{i}.{name}": a for i in range(12) for name, a in layer(i).items()})
    rng = np.random.default_rng(2)
    llama = {"hidden_states": rng.standard_normal((1, 3, 8)).astype(np.float32)}
    for name, out in [("q", 8), ("k", 4), ("v", 4), ("o", 8)]:
        llama[f"model.layers.0.self_attn.{name}_proj.weight"] = rng.standard_normal((out, 8)).astype(np.float32)
    write_safetensors(at("llama.safetensors"), with_types(llama))
    # About 50 MB, of which one layer is shown.
    large = {f"h.{i}.{name}": a for i in range(40) for name, a in layer(i, 8, 128, 100).items()}
    np.savez(at("large.npz"), **large)
    np.savez(at("thousand.npz"), **{f"t{i}": np.ones((2, 2), np.float32) for i in range(1000)})
    attentions = np.stack([np.tril(np.ones((3, 5, 5))) / np.arange(1, 6)[:, None]] * 4).astype(np.float32)
    write_safetensors(at("weights.safetensors"), with_types({"attentions": attentions}), {"tokens": json.dumps(list(tokens))})
    wrong(folder, one)


def wrong(folder, one):
    """Files that are to be refused."""
    def put(name, content):
        with open(f"{folder}/{name}", "wb") as file:
            file.write(content)
    with open(f"{folder}/clear.npz", "rb") as file:
        whole = file.read()
    put("cut.npz", whole[:-100])
    put("mislabelled.npy", whole)
    with open(f"{folder}/clear.safetensors", "rb") as file:
        tensors = file.read()
    put("cut.safetensors", tensors[:-10])
    put("lies.safetensors", struct.pack("<Q", 2 ** 40) + tensors[8:])
    put("model.pt", pickle.dumps({"q": one["q"].tolist()}))
    put("pickled.npz", b"")
    np.savez(f"{folder}/pickled.npz", q=np.array([{"a": 1}], dtype=object), k=one["k"], v=one["v"])
    with_nan = {name: a.copy() for name, a in one.items()}
    with_nan["k"][1, 2, 3] = np.nan
    np.savez(f"{folder}/nan.npz", tokens=np.array(["I", "saw", "a", "saw", "."]), **with_nan)
    long = layer(7, heads=1, tokens=1500)
    long["q"][0, 700, 1] = np.inf
    np.savez(f"{folder}/nan-long.npz", **long)
    with_nan["k"][:] = np.nan
    np.savez(f"{folder}/all-nan.npz", **with_nan)
    put("ragged.csv", b"1,2,3\n4,5\n")
    put("empty.npz", b"")
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        header = io.BytesIO()
        np.lib.format.write_array_header_1_0(header, {"descr": "<f4", "fortran_order": False, "shape": (25000, 10000)})
        archive.writestr("q.npy", header.getvalue() + bytes(4 * 250_000_000))
    put("bomb.npz", bomb.getvalue())


def read(path):
    if path.endswith(".npy"):
        return {"": np.load(path)}
    if path.endswith(".npz"):
        with np.load(path, allow_pickle=False) as archive:
            return dict(archive)
    return {name: a for name, (_, a) in read_safetensors(path)[0].items()}


if sys.argv[1] == "make":
    make(sys.argv[2])
else:
    found = read(sys.argv[2])
    print(json.dumps({name: [str(a.dtype), list(a.shape), a.tolist() if a.dtype.kind == "U" else np.ascontiguousarray(a).tobytes().hex()] for name, a in found.items()}))
