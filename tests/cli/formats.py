"""Writes and reads the files of tests/cli/formats.test.mjs, with NumPy and, for .safetensors, by the format's own description.

usage: formats.py COMMAND …; values are compared by their bits."""
import glob
import json
import os
import struct
import sys
import zipfile

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.dont_write_bytecode = True
from safetensors_file import dtype_of, read_safetensors, write_safetensors  # noqa: E402


def samples():
    """One array of each type, its extremes among the values."""
    rng = np.random.default_rng(7)
    out = {}
    for code in ["f8", "f4", "f2"]:
        info = np.finfo(code)
        a = rng.standard_normal((2, 3, 4)).astype(code)
        a.flat[:8] = [info.max, info.min, info.tiny, info.smallest_subnormal, -0.0, np.inf, -np.inf, 1 / 3]
        out["float" + str(8 * a.itemsize)] = a
    for kind in "iu":
        for size in (1, 2, 4, 8):
            info = np.iinfo(f"{kind}{size}")
            a = rng.integers(info.min, info.max, (3, 5), dtype=f"{kind}{size}", endpoint=True)
            a.flat[:3] = [info.min, info.max, 0]
            out[("u" if kind == "u" else "") + f"int{8 * size}"] = a
    out["bool"] = rng.integers(0, 2, (4, 3)).astype(bool)
    out["scalar"] = np.asarray(0.1)
    out["empty"] = np.zeros((0, 3), np.float32)
    out["vector"] = np.arange(5, dtype=np.float32)
    return out


def same(a, b, name):
    a, b = np.asarray(a), np.asarray(b)
    assert a.shape == b.shape, f"{name}: shape {b.shape}, not {a.shape}"
    assert a.dtype.newbyteorder("=") == b.dtype.newbyteorder("="), f"{name}: type {b.dtype}, not {a.dtype}"
    little = lambda array: np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<")).tobytes()
    assert little(a) == little(b), f"{name}: other bits"


def values(a):
    return [str(x) if isinstance(x, float) and not np.isfinite(x) else x for x in a.ravel().tolist()]


def layer(shape=(2, 3, 4)):
    rng = np.random.default_rng(11)
    return [rng.standard_normal(shape).astype(np.float32) for _ in range(3)]


def main():
    command, *args = sys.argv[1:]
    if command == "samples":  # FOLDER: every type in both byte orders and both orders of axes
        folder = args[0]
        for name, a in samples().items():
            np.save(f"{folder}/{name}.npy", a)
            np.save(f"{folder}/{name}-big.npy", a.astype(a.dtype.newbyteorder(">")))
            np.save(f"{folder}/{name}-fortran.npy", np.asfortranarray(a).reshape(a.shape, order="F"))
            for version in [(1, 0), (2, 0), (3, 0)]:
                with open(f"{folder}/{name}-v{version[0]}.npy", "wb") as file:
                    np.lib.format.write_array(file, a, version)
        np.savez(f"{folder}/all.npz", **samples())
        np.savez_compressed(f"{folder}/packed.npz", **samples())
        brain = np.array([0x3F80, 0x8000, 0x7F80, 0x0001], np.uint16)
        write_safetensors(f"{folder}/all.safetensors", {**{n: (dtype_of(a), a) for n, a in samples().items()}, "brain": ("BF16", brain)})
    elif command == "same":  # SUFFIX FOLDER NAME…: out-NAME-….npy and NAME+SUFFIX have the bits of that sample, the former just as NumPy writes it
        suffix, folder, *names = args
        for name in names:
            if suffix:
                same(samples()[name], np.load(f"{folder}/{name}{suffix}"), name)
            for path in [] if suffix else glob.glob(f"{folder}/out-{name}*.npy"):
                same(samples()[name], np.load(path), path)
                assert open(path, "rb").read() == open(f"{folder}/{name}.npy", "rb").read(), f"{path}: other bytes than NumPy's"
    elif command == "same-all":  # FILE…: every sample is in it
        for path in args:
            expected = samples()
            if path.endswith(".npz"):
                with zipfile.ZipFile(path) as archive:
                    assert archive.testzip() is None
                with np.load(path) as found:
                    found = {name: found[name] for name in found.files}
                brain = found.pop("brain", None)
                if brain is not None:
                    same(np.array([1, -0.0, np.inf, 2.0**-133], np.float32), brain, "brain")
            else:
                read, _ = read_safetensors(path)
                brain = read.pop("brain", None)
                if brain is not None and brain[0] == "BF16":
                    assert brain[1].tolist() == [0x3F80, 0x8000, 0x7F80, 0x0001]
                elif brain is not None:  # by way of NumPy, which has no bfloat16
                    same(np.array([1, -0.0, np.inf, 2.0**-133], np.float32), brain[1], "brain")
                found = {name: a for name, (_, a) in read.items()}
            assert set(found) == set(expected), (path, set(found) ^ set(expected))
            for name in expected:
                same(expected[name], found[name], f"{path}: {name}")
    elif command == "layer":  # FOLDER: one layer in every format
        folder = args[0]
        q, k, v = layer()
        mask = np.tri(3, dtype=bool)
        np.savez(open(f"{folder}/plain.NPZ", "wb"), q=q, k=k, v=v)
        np.savez_compressed(f"{folder}/packed.npz", Q=q.astype(">f8"), key=np.asfortranarray(k), V=v)
        np.savez(f"{folder}/nameless.npz", q, k, v)
        np.savez(f"{folder}/mask.npz", query=q, key=k, value=v, attn_mask=mask)
        np.savez(f"{folder}/causal.npz", q=q, k=k, v=v, is_causal=True, tokens=["I", "saw", "▁a"], scale=np.float64(0.25))
        np.savez(f"{folder}/fused.npz", qkv=np.stack([q, k, v]))
        np.savez(f"{folder}/columns.npz", qkv=np.concatenate([q, k, v], -1))
        np.savez(f"{folder}/sixteen.npz", q=q.astype(np.float16), k=k.astype(np.float16), v=v.astype(np.float16))
        np.savez(f"{folder}/wide.npz", q=q.astype(np.float16).astype(np.float64), k=k.astype(np.float16), v=v.astype(np.float16))
        f32 = lambda a: ("F32", a)
        write_safetensors(f"{folder}/plain.safetensors", {"q": f32(q), "k": f32(k), "v": f32(v)})
        write_safetensors(f"{folder}/causal.safetensors", {"q": f32(q), "k": f32(k), "v": f32(v)}, {"causal": "true", "scale": "0.25", "tokens": '["I", "saw", "▁a"]', "format": "pt"})
        write_safetensors(f"{folder}/notes.safetensors", {"q": f32(q), "k": f32(k), "v": f32(v)}, {"causal": "true", "scale": "0.25", "score": "scaled", "tokens": '["I", "saw", "▁a"]', "format": "pt", "licence": "MIT"})
        write_safetensors(f"{folder}/model.safetensors", {"embedding": f32(q), "layers.0.q": f32(q), "layers.0.k": f32(k), "layers.0.v": f32(v)})
        write_safetensors(f"{folder}/layers.safetensors", {f"layers.{i}.{n}": f32(a if i == 1 else -a) for i in range(300) for n, a in zip("qkv", (q, k, v))})
        for name, a in zip("qkv", (q, k, v)):
            np.save(f"{folder}/{name}.npy", a)
            with open(f"{folder}/{name}.csv", "w") as file:
                for head in a:
                    np.savetxt(file, head, delimiter=",", fmt="%.9g")
                    file.write("\n")
            with open(f"{folder}/{name}.tsv", "w") as file:
                file.write("token\ta\tb\tc\td\n")
                for row, label in zip(a[0], ["I", '"saw, a"', "x"]):
                    file.write(label + "\t" + "\t".join(repr(float(x)) for x in row) + "\n")
        np.save(f"{folder}/stacked.npy", np.stack([q, k, v]))
        np.save(f"{folder}/rows.npy", q)
        with open(f"{folder}/streamed.npz", "wb") as file:  # as to a pipe: sizes stand behind the data, and in the directory
            class Pipe:
                def write(self, data): return file.write(data)
                def flush(self): file.flush()
                def read(self, *_): raise OSError
                def tell(self): raise OSError
            np.savez(Pipe(), q=q, k=k, v=v)
        json.dump({n: a.tolist() for n, a in zip("qkv", (q, k, v))}, open(f"{folder}/layer.json", "w"))
        json.dump({**{n: a.tolist() for n, a in zip("qkv", (q, k, v))}, "mask": mask.tolist()}, open(f"{folder}/mask.json", "w"))
        json.dump({**{n: a.tolist() for n, a in zip("qkv", (q, k, v))}, "options": {"causal": True, "scale": 0.25}}, open(f"{folder}/causal.json", "w"))
        json.dump({n: a[0].tolist() for n, a in zip("qkv", (q, k, v))}, open(f"{folder}/head.json", "w"))
        json.dump({n: q.tolist() for n in "qkv"}, open(f"{folder}/rows.json", "w"))
    elif command == "output":  # FILE: prints what it holds, as JSON
        path = args[0]
        if path.lower().endswith(".npz"):
            with np.load(path) as found:
                print(json.dumps({name: {"shape": found[name].shape, "data": values(found[name])} for name in found.files}))
        elif path.endswith(".npy"):
            a = np.load(path)
            print(json.dumps({"output": {"shape": a.shape, "data": values(a)}}))
        else:
            print(json.dumps({name: {"shape": a.shape, "data": values(a)} for name, (_, a) in read_safetensors(path)[0].items()}))
    elif command == "alone":  # FOLDER: weights without q and k, as output_attentions gives them, in every way to save them; prints them
        folder = args[0]
        w = np.tril(np.random.default_rng(5).random((3, 2, 2, 4, 4)))  # layers, texts, heads
        w = (w / w.sum(-1, keepdims=True)).astype(np.float32)
        one, tokens = w[:, 0], ["I", "Ġsaw", "▁a", "\n"]
        np.save(f"{folder}/attentions.npy", one)
        np.save(f"{folder}/w.npy", one[:, None])
        np.savez(f"{folder}/list.npz", *one[:, None])
        np.savez(f"{folder}/named.npz", tokens=tokens, **{f"layers.{i}.attn": layer for i, layer in enumerate(one)})
        np.savez(f"{folder}/half.npz", attentions=one.astype(np.float16), tokens=tokens)
        np.savez(f"{folder}/texts.npz", *w)
        write_safetensors(f"{folder}/weights.safetensors", {"weights": ("F32", one)}, {"tokens": json.dumps(tokens)})
        json.dump(one.tolist(), open(f"{folder}/list.json", "w"))
        json.dump({"attentions": one.tolist(), "tokens": tokens}, open(f"{folder}/named.json", "w"))
        print(json.dumps(one.tolist()))
    elif command == "python":  # FOLDER: what Python's json writes of infinities and NaN
        folder = args[0]
        q, k, v = layer((1, 3, 2))
        mask = np.where(np.tri(3) > 0, 0, -np.inf)
        json.dump({"q": q.tolist(), "k": k.tolist(), "v": v.tolist(), "mask": mask.tolist(), "tokens": ["Ġa", "Infinity", "NaN"]}, open(f"{folder}/python.json", "w"))
        json.dump({"q": q.tolist(), "k": k.tolist(), "v": v.tolist()}, open(f"{folder}/plain.json", "w"))
        q[0, 1, 1] = np.nan
        json.dump({"q": q.tolist(), "k": k.tolist(), "v": v.tolist()}, open(f"{folder}/nan.json", "w"))
    elif command == "bad":  # FOLDER: what must be refused
        bad(args[0])
    else:
        raise SystemExit(f"unknown command {command}")


def bad(folder):
    q, k, v = layer()

    def put(name, data):
        with open(f"{folder}/{name}", "wb") as file:
            file.write(data)

    def npz(name, method=zipfile.ZIP_STORED, **members):
        with zipfile.ZipFile(f"{folder}/{name}", "w", method) as archive:
            for member, data in members.items():
                archive.writestr(member.replace("__", "."), data)

    def npy(a, **kwargs):
        import io
        out = io.BytesIO()
        np.save(out, a, **kwargs)
        return out.getvalue()

    whole = npy(q)
    put("cut.npy", whole[:-5])
    put("head.npy", whole[:40])
    put("magic.npy", whole[:8])
    put("more.npy", whole + b"1234")
    put("empty.npy", b"")
    put("text.npy", b"q,k,v\n1,2,3\n")
    put("version.npy", whole[:6] + b"\x09\x00" + whole[8:])
    put("header.npy", whole.replace(b"fortran_order", b"fortran_orfer"))
    put("huge.npy", whole.replace(b"(2, 3, 4), }" + b" " * 17, b"(9223372036854775807, 4), }  "))
    put("lies.npy", whole.replace(b"(2, 3, 4)", b"(2, 3, 9)"))
    put("objects.npy", npy(np.array([{}, 1], dtype=object), allow_pickle=True))
    put("records.npy", npy(np.zeros(3, [("a", "<f4"), ("b", "<i4")])))
    put("complex.npy", npy(np.zeros(3, np.complex64)))
    put("dates.npy", npy(np.zeros(3, "datetime64[s]")))
    nan = q.copy()
    nan[1, 2, 3] = np.nan
    np.savez(f"{folder}/nan.npz", q=nan, k=k, v=v)
    np.savez(f"{folder}/inf.npz", q=q, k=np.where(k > 1, np.inf, k), v=v)
    np.savez(f"{folder}/beyond.npz", q=q, k=k, v=v.astype(np.float64) * 1e300)
    np.savez(f"{folder}/intmask.npz", q=q, k=k, v=v, mask=np.ones((3, 3), np.int64))
    np.savez(f"{folder}/texts.npz", q=["a"], k=k, v=v)
    np.savez(f"{folder}/twice.npz", q=q, query=q, k=k, v=v)
    np.savez(f"{folder}/unknown.npz", q=q, k=k, v=v, quux=np.zeros((2, 2)))
    np.savez(f"{folder}/option.npz", q=q, k=k, v=v, causl=True)
    np.savez(f"{folder}/missing.npz", **{f"layer_{i}": q for i in range(1000)})
    np.savez(f"{folder}/objects.npz", q=np.array([{}, 1], dtype=object), k=k, v=v)
    np.savez(f"{folder}/good.npz", q=q, k=k, v=v)
    good = open(f"{folder}/good.npz", "rb").read()
    put("cut.npz", good[:-30])
    put("cutmore.npz", good[:200])
    at = good.index(q.tobytes()[:16])
    put("damaged.npz", good[:at] + b"\0\0\0\1" + good[at + 4:])
    npz("pickle.npz", **{"archive/data__pkl": b"x"})
    npz("words.npz", **{"word/document__xml": b"<a/>"})
    npz("bzip.npz", zipfile.ZIP_BZIP2, q__npy=npy(q), k__npy=npy(k), v__npy=npy(v))
    npz("nonpy.npz", q__npy=b"no array")
    npz("bomb.npz", zipfile.ZIP_DEFLATED, q__npy=bytes(200 << 20))
    lying = bytearray(open(f"{folder}/bomb.npz", "rb").read())
    for record, at in ((b"PK\1\2", 24), (b"PK\3\4", 22)):
        i = lying.index(record)
        lying[i + at:i + at + 4] = struct.pack("<I", 1000)
    put("lyingbomb.npz", bytes(lying))
    overlap = bytearray(good)  # the second entry of the directory is the first again, by another name
    first = good.index(b"PK\1\2")
    second = good.index(b"PK\1\2", first + 4)
    overlap[second + 42:second + 46] = overlap[first + 42:first + 46]
    put("overlap.npz", bytes(overlap))
    put("directory.npz", good[:good.rindex(b"PK\5\6") + 8] + struct.pack("<HH", 60000, 60000) + good[good.rindex(b"PK\5\6") + 12:])
    encrypted = bytearray(good)
    encrypted[first + 8] |= 1
    put("encrypted.npz", bytes(encrypted))
    put("npy.npz", whole)
    put("npz.npy", good)

    def safe(name, header, data):
        text = header if isinstance(header, bytes) else json.dumps(header).encode()
        put(name, struct.pack("<Q", len(text)) + text + data)

    entry = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}
    eight = bytes(8)
    safe("overlap.safetensors", {"q": entry, "k": {**entry, "data_offsets": [4, 12]}}, bytes(12))
    safe("hole.safetensors", {"q": entry, "k": {**entry, "data_offsets": [12, 20]}}, bytes(20))
    safe("beyond.safetensors", {"q": entry, "k": {**entry, "data_offsets": [8, 16]}}, bytes(12))
    safe("shape.safetensors", {"q": {**entry, "shape": [3]}}, eight)
    safe("huge.safetensors", {"q": {**entry, "shape": [1 << 40, 1 << 40]}}, eight)
    safe("negative.safetensors", {"q": {**entry, "shape": [-2]}}, eight)
    safe("type.safetensors", {"q": {**entry, "dtype": "F8_E4M3", "shape": [8]}}, eight)
    safe("field.safetensors", {"q": {**entry, "more": 1}}, eight)
    safe("nodtype.safetensors", {"q": {"shape": [2], "data_offsets": [0, 8]}}, eight)
    safe("twice.safetensors", b'{"q":' + json.dumps(entry).encode() + b',"q":' + json.dumps({**entry, "data_offsets": [8, 16]}).encode() + b"}", bytes(16))
    safe("tail.safetensors", {"q": entry}, bytes(12))
    safe("json.safetensors", b'{"q": {]', eight)
    put("long.safetensors", struct.pack("<Q", 1 << 50) + b"{}")
    put("short.safetensors", b"\1\2\3")
    put("ragged.csv", b"1,2,3\n4,5\n")
    put("word.csv", b"1,2\n3,four\n")
    put("cell.csv", b"1,2\n3,\n")
    put("none.csv", b"\n\n")
    put("blocks.csv", b"1,2\n3,4\n\n5,6\n")
    put("sixteen.csv", "1,2\n".encode("utf-16"))


main()
