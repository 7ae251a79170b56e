"""Files of tensors that the board and `attn` open: .npz and .safetensors, written whole or not at all."""
import json
import os
import struct
import tempfile

import numpy as np

TYPES = {"f8": "F64", "f4": "F32", "f2": "F16", "i8": "I64", "i4": "I32", "i2": "I16", "i1": "I8", "u8": "U64", "u4": "U32", "u2": "U16", "u1": "U8", "b1": "BOOL"}


def readable(labels):
    """Labels as plain texts: byte-level ones (Ġthe) and control characters are read by who opens the file."""
    return [str(label).replace("\0", "") or " " for label in labels]


def safetensors(tensors):
    """The bytes of a file. Texts, which the format has no type for, go to its notes as JSON."""
    header, blocks, at, notes = {}, [], 0, {}
    for name, value in tensors.items():
        array = np.asarray(value)
        if array.dtype.kind in "US":
            notes[name] = json.dumps(array.tolist(), ensure_ascii=False)
            continue
        code = array.dtype.str[1:]
        if code not in TYPES:
            raise TypeError("%s: tensors of %s cannot be written; convert it to float32." % (name, array.dtype))
        block = np.ascontiguousarray(array.astype(array.dtype.newbyteorder("<"))).tobytes()
        header[name] = {"dtype": TYPES[code], "shape": list(array.shape), "data_offsets": [at, at + len(block)]}
        blocks.append(block)
        at += len(block)
    text = json.dumps({**({"__metadata__": notes} if notes else {}), **header}, ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    return b"".join([struct.pack("<Q", len(text)), text, *blocks])


def write(path, tensors):
    """{name: array} as the format that the path ends in."""
    path = os.fspath(path)
    kind = os.path.splitext(path)[1].lower()
    if kind not in (".npz", ".safetensors"):
        raise ValueError("path: %r does not end in .npz or .safetensors." % path)
    whole(path, (lambda file: np.savez(file, **tensors)) if kind == ".npz" else lambda file: file.write(safetensors(tensors)))


def whole(path, write_to):
    """A file that is written whole or not at all: write_to(file) fills it."""
    path = os.fspath(path)
    handle, scratch = tempfile.mkstemp(dir=os.path.dirname(os.path.abspath(path)), prefix=".attention-")
    try:
        with os.fdopen(handle, "wb") as file:
            write_to(file)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(scratch, 0o666 & ~umask)
        os.replace(scratch, path)
    except BaseException:
        os.unlink(scratch)
        raise
