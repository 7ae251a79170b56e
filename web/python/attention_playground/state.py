"""A state of the board in Python: values by their names, and matrices as arrays of float32 or bool."""
import json

import numpy as np


def array_of(name, value):
    """A tensor of NumPy, PyTorch or lists as an array that the board can have."""
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        value = (value if value.dtype.is_floating_point is False else value.float()).numpy()
    array = np.asarray(value)
    if array.dtype.kind not in "biuf":
        raise TypeError("%s: must hold numbers, not %s." % (name, array.dtype))
    array = array if array.dtype == bool else array.astype(np.float32)
    finite = np.isfinite(array) if name != "mask" else ~np.isnan(array)
    if not finite.all():
        raise ValueError("%s%s: is %s; give finite numbers." % (name, list(map(int, np.argwhere(~finite)[0])), array[~finite][0]))
    return array


def read(text):
    """The state of a JSON text or a dictionary. A matrix that is not whole stays as it stands: the board says what is wrong with it."""
    return {name: matrix(value) for name, value in (json.loads(text) if isinstance(text, str) else text).items()}


def matrix(value):
    if not isinstance(value, dict) or not {"shape", "data"} <= set(value) or value.get("dtype", "bool") != "bool":
        return value
    try:
        return np.array([float(x) for x in value["data"]], np.float32).astype(bool if "dtype" in value else np.float32).reshape(value["shape"])
    except (TypeError, ValueError):
        return value


def lists(state):
    """As JSON has it: {"shape", "data"} for each matrix."""
    def plain(array):
        data = [x if array.dtype == bool or np.isfinite(x) else "%sinf" % ("-" if x < 0 else "") for x in array.ravel().tolist()]
        return {"shape": list(array.shape), **({"dtype": "bool"} if array.dtype == bool else {}), "data": data}
    return {name: plain(value) if isinstance(value, np.ndarray) else value for name, value in state.items()}


def text_of(state):
    """JSON; nine digits give a float32 back bit for bit."""
    return "{%s}" % ", ".join("%s: %s" % (json.dumps(name), json_of(value)) for name, value in state.items())


def json_of(value):
    if not isinstance(value, np.ndarray):
        return json.dumps(value, ensure_ascii=False)
    flat = value.ravel().tolist()
    if value.dtype == bool:
        return '{"dtype": "bool", "shape": %s, "data": %s}' % (list(value.shape), json.dumps(flat))
    words = ["%.9g" % x if np.isfinite(x) else '"%sinf"' % ("-" if x < 0 else "") for x in flat]
    return '{"shape": %s, "data": [%s]}' % (list(value.shape), ", ".join(words))


def packed(state):
    """({"values", "matrices": [[name, is it bool, shape]]}, the bytes of the matrices one after the other), as messages have it."""
    matrices = {name: value for name, value in state.items() if isinstance(value, np.ndarray)}
    told = {"values": {name: value for name, value in state.items() if name not in matrices},
            "matrices": [[name, value.dtype == bool, list(value.shape)] for name, value in matrices.items()]}
    return told, b"".join(np.ascontiguousarray(value).tobytes() for value in matrices.values())


def unpacked(told, data):
    """The state of what packed() made."""
    state, at = dict(told["values"]), 0
    for name, is_bool, shape in told["matrices"]:
        kind, count = np.dtype(bool if is_bool else np.float32), int(np.prod(shape))
        state[name] = np.frombuffer(data, kind, count, at).reshape(shape).copy()
        at += count * kind.itemsize
    return state
