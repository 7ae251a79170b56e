"""Files of attn against those of the packages that others have: every type of PyTorch and NumPy, written and read by the package safetensors, bit for bit.

usage: tensors.py ATTN FOLDER; prints how many tensors were compared on each way"""
import json
import subprocess
import sys

import numpy as np
import torch
from safetensors import safe_open
from safetensors.numpy import load_file, save_file
from safetensors.torch import load_file as load_torch, save_file as save_torch

attn, folder = sys.argv[1:]


def convert(source, target, *more):
    done = subprocess.run([attn, "convert", f"{folder}/{source}", f"{folder}/{target}", *more], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, ""), f"{source} to {target}: {done.stderr}"


def bits(a):
    """Type, shape and bytes, of an array or a tensor."""
    if isinstance(a, np.ndarray):
        return str(a.dtype), a.shape, np.ascontiguousarray(a).tobytes()
    plain = a.contiguous().view(torch.int16) if a.dtype == torch.bfloat16 else a.contiguous()
    return str(a.dtype), tuple(a.shape), plain.numpy().tobytes()


def same(wanted, found, way):
    assert set(wanted) == set(found), (way, set(wanted) ^ set(found))
    for name, a in wanted.items():
        assert bits(a) == bits(found[name]), f"{way}: {name}"
    print(json.dumps({"way": way, "tensors": len(wanted)}))


def of_torch():
    torch.manual_seed(1)
    out = {}
    for kind in [torch.float64, torch.float32, torch.float16, torch.bfloat16]:
        a = torch.randn(3, 4).to(kind)
        a.view(-1)[:6] = torch.tensor([torch.finfo(kind).max, torch.finfo(kind).tiny, -0.0, float("inf"), float("-inf"), 1 / 3], dtype=torch.float64).to(kind)
        out[str(kind)] = a
    for kind in [torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8]:
        info = torch.iinfo(kind)
        out[str(kind)] = torch.tensor([[info.min, info.max, 0], [1, 2, 3]], dtype=kind)
    out["bool"] = torch.tensor([True, False, True])
    out["turned"] = torch.arange(12.0).reshape(3, 4).T.contiguous()
    out["scalar"], out["empty"] = torch.tensor(0.1), torch.zeros(0, 4)
    return out


def of_numpy():
    kinds = ["f8", "f4", "f2", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?"]
    return {kind: (np.arange(24).reshape(2, 3, 4) * 5 % 7 - (3 if kind[0] in "fi" else 0)).astype(kind) for kind in kinds}


tensors = of_torch()
save_torch(tensors, f"{folder}/torch.safetensors", {"format": "pt"})
convert("torch.safetensors", "again.safetensors")
same(tensors, load_torch(f"{folder}/again.safetensors"), "PyTorch, by .safetensors")
convert("torch.safetensors", "torch.json")
convert("torch.json", "back.safetensors")
same(tensors, load_torch(f"{folder}/back.safetensors"), "PyTorch, by JSON")
convert("torch.safetensors", "torch.npz")
with np.load(f"{folder}/torch.npz") as found:
    wide = {name: (a.float() if a.dtype == torch.bfloat16 else a).numpy() for name, a in tensors.items()}  # NumPy has no bfloat16
    same(wide, {name: found[name] for name in found.files}, "PyTorch, by .npz")

arrays = of_numpy()
save_file(arrays, f"{folder}/numpy.safetensors")
convert("numpy.safetensors", "numpy.npz")
with np.load(f"{folder}/numpy.npz") as found:
    same(arrays, {name: found[name] for name in found.files}, "NumPy, by .npz")
np.savez(f"{folder}/numpy.npz", **arrays)
convert("numpy.npz", "back.safetensors")
same(arrays, load_file(f"{folder}/back.safetensors"), "NumPy, by .safetensors")

# A layer with everything that is computed of it, as the package reads it.
q, k, v = (np.random.default_rng(i).standard_normal((2, 3, 4)).astype(np.float32) for i in range(3))
np.savez(f"{folder}/layer.npz", q=q, k=k, v=v, causal=True, tokens=["a", "b", "c"])
convert("layer.npz", "board.json", "--state")
convert("board.json", "board.safetensors")
with safe_open(f"{folder}/board.safetensors", "np") as file:
    assert json.loads(file.metadata()["options"])["causal"] is True, file.metadata()
    assert json.loads(file.metadata()["labels"]) == ["a", "b", "c"], file.metadata()
    names = set(file.keys())
    same({"q": q, "k": k, "v": v}, {name: file.get_tensor(name) for name in "qkv"}, "a state, by .safetensors")
    scores = np.where(np.tri(3, dtype=bool), q @ k.transpose(0, 2, 1) / 2, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    assert np.abs(file.get_tensor("weights") - weights).max() < 1e-6
    assert {"scores", "masked", "weights", "head_output", "output"} <= names, names
