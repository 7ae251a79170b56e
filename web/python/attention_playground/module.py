"""The tensors of any state where there is no `attn`: by the same code in WebAssembly, with wasmtime."""
import functools
import io
import os
import struct

import numpy as np

PATH = os.path.join(os.path.dirname(__file__), "tensors.wasm")


def is_there():
    """Is wasmtime installed, and the module in this package?"""
    try:
        import wasmtime  # noqa: F401
    except ImportError:
        return False
    return os.path.exists(PATH)


@functools.lru_cache(maxsize=1)
def compiled():
    """The module with what it may call: the clock and the standard streams, and no file."""
    from wasmtime import Config, Engine, FuncType, Linker, Module, ValType
    config = Config()
    config.cache = True  # the machine code, for later processes
    engine = Engine(config)
    linker = Linker(engine)
    linker.define_wasi()
    linker.define_func("env", "emscripten_notify_memory_growth", FuncType([ValType.i32()], []), lambda index: None)
    return engine, linker, Module.from_file(engine, PATH)


def tensors(text, names):
    """{name: array} of the state with this text; ValueError with the sentence where it is refused."""
    from wasmtime import Store, Trap, WasiConfig
    engine, linker, module = compiled()
    store = Store(engine)  # its memory ends with the call
    store.set_wasi(WasiConfig())
    exports = linker.instantiate(store, module).exports(store)
    memory = exports["memory"]

    def given(words):
        block = words.encode()
        place = exports["alloc"](store, len(block) or 1) & 0xFFFFFFFF
        if not place:
            raise MemoryError("the state is larger than the memory of WebAssembly.")
        memory.write(store, block, place)
        return place, len(block)

    try:
        exports["_initialize"](store)
        answer = exports["tensors"](store, *given(text), *given(",".join(names))) & 0xFFFFFFFF
    except Trap:
        raise MemoryError("the layer does not fit into the memory of WebAssembly, 4 GB.") from None
    place, size, is_file = struct.unpack("<IIi", memory.read(store, answer, answer + 12))
    content = bytes(memory.read(store, place, place + size))
    if not is_file:
        raise ValueError(content.decode())
    with np.load(io.BytesIO(content)) as found:
        return {name: found[name].astype(np.float32) for name in names}
