"""Files of .safetensors by the format's own description, for tests that must not trust our reader."""
import json
import struct

import numpy as np

TYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "|i1",
         "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "|u1", "BOOL": "|b1"}


def read_safetensors(path):
    with open(path, "rb") as file:
        data = file.read()
    (length,) = struct.unpack("<Q", data[:8])
    assert (8 + length) % 8 == 0, "the header is not aligned"
    header = json.loads(data[8:8 + length])
    notes = header.pop("__metadata__", {})
    out, end = {}, 0
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        begin, stop = entry["data_offsets"]
        assert begin == end, f"{name} does not begin where the one before ends"
        end = stop
        a = np.frombuffer(data[8 + length + begin:8 + length + stop], TYPES[entry["dtype"]]).reshape(entry["shape"])
        out[name] = (entry["dtype"], a)
    assert 8 + length + end == len(data)
    return out, notes


def write_safetensors(path, arrays, notes=None):
    header, blocks, at = {}, [], 0
    if notes:
        header["__metadata__"] = notes
    for name, (dtype, a) in arrays.items():
        block = np.ascontiguousarray(a.astype(TYPES[dtype])).tobytes()
        header[name] = {"dtype": dtype, "shape": list(a.shape), "data_offsets": [at, at + len(block)]}
        blocks.append(block)
        at += len(block)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(blocks))


def dtype_of(a):
    return next(name for name, code in TYPES.items() if np.dtype(code) == a.dtype and name != "BF16")
