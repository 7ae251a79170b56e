"""The board in a notebook, by anywidget: JupyterLab, Notebook, VS Code, Colab, marimo."""
import gzip
from functools import lru_cache
from pathlib import Path

import anywidget
import traitlets

from .server import PAGE
from .state import packed, unpacked

MOST = 1 << 20  # bytes of one message: Jupyter closes a connection at 10 MB


@lru_cache(1)
def page_script():
    """The whole page as one script, which the notebook's page asks for once however many boards it has."""
    return gzip.compress((PAGE / "standalone.js").read_bytes(), 9)


class Asked(anywidget.AnyWidget):
    """A widget that gives what its front end asks for, in messages of at most MOST bytes: {"wants": name, "id"} is answered by answer_NAME."""
    _esm = Path(__file__).parent / "widget.js"
    error = traitlets.Unicode().tag(sync=True)      # the last refusal
    theme = traitlets.Unicode("auto").tag(sync=True)
    picture = traitlets.Unicode().tag(sync=True)    # the id of the one beside it, hidden while the widget lives

    def __init__(self, **traits):
        super().__init__(**traits)
        self._heard = []
        self.on_msg(self._hear)

    def give(self, key, told, data):
        """Sends `told` and bytes, in as many parts as they need."""
        parts = range(0, max(len(data), 1), MOST)
        for i, at in enumerate(parts):
            self.send({"id": key, "part": i, "parts": len(parts), **({} if i else {"told": told})}, [data[at:at + MOST]])

    def _hear(self, widget, content, buffers):
        if not isinstance(content, dict):
            return
        if "wants" in content:
            try:
                self.give(content.get("id"), *getattr(self, "answer_" + str(content["wants"]))(content))
            except Exception as error:  # noqa: BLE001: the front end says it, and .error
                self.send({"id": content.get("id"), "error": str(error)})
        elif "tells" in content:
            self._heard = [*(self._heard if content["part"] else []), bytes(buffers[0])]
            self.told = content["told"] if not content["part"] else self.told
            if content["part"] + 1 == content["parts"]:
                self.hear(content["tells"], unpacked(self.told, b"".join(self._heard)), self.told)
                self._heard = []

    def answer_page(self, content):
        return {}, page_script()


class Board(Asked):
    kind = traitlets.Unicode("board").tag(sync=True)
    options = traitlets.Dict().tag(sync=True)       # to be set; empty once they are
    wanted = traitlets.List().tag(sync=True)        # names of tensors that the front end sends after each change
    hide = traitlets.Unicode("").tag(sync=True)
    lock = traitlets.Unicode("").tag(sync=True)
    parts = traitlets.Unicode("").tag(sync=True)
    height = traitlets.Int(600).tag(sync=True)

    def __init__(self, playground, **traits):
        super().__init__(**traits)
        self.playground = playground

    def answer_state(self, content):
        return packed(self.playground._state)

    def give_state(self):
        self.give("state", *self.answer_state({}))

    def hear(self, what, heard, told):
        """The parts of the state that have changed, or the tensors that are wanted."""
        if what == "tensors":
            return self.playground._changed(None, heard)
        kept = {name: value for name, value in self.playground._state.items() if name not in told["gone"]}
        self.playground._changed({**kept, **heard}, None)


class Heads(Asked):
    """All heads of a recording; what is looked at is asked for."""
    kind = traitlets.Unicode("heads").tag(sync=True)
    title = traitlets.Unicode().tag(sync=True)
    layers = traitlets.List().tag(sync=True)        # [name, heads] of each
    chosen = traitlets.List().tag(sync=True)        # layer and head
    live = traitlets.Bool(False).tag(sync=True)     # the model stands behind it, so that heads can be changed

    def __init__(self, recording, **traits):
        super().__init__(**traits)
        self.recording, self._switches = recording, None

    @property
    def switches(self):
        if self._switches is None:
            from .switches import Switches  # which needs PyTorch
            self._switches = Switches(self.recording)
        return self._switches

    def answer_thumbnails(self, content):
        from .picture import SIZE, thumbnails
        pictures = thumbnails(self.recording)
        return {"size": SIZE}, b"".join(one.tobytes() for one in pictures)

    def answer_head(self, content):
        """The weights of one head, in at most 512 × 512 means of blocks."""
        from .picture import pooled
        layer = self.recording[content["layer"]]
        weights = layer.of_head(content["head"])
        keys = layer.key_tokens or layer.tokens
        return packed({"weights": pooled(weights, 512), "rows": weights.shape[0], "keys": weights.shape[1], "positions": layer.positions, "tokens": layer.tokens and layer.tokens[0], "keyTokens": keys and keys[0]})

    def answer_layer(self, content):
        """A layer for the board."""
        return packed(self.recording[content["layer"]].playground()._state)

    def answer_changed(self, content):
        """The model's answer with heads changed."""
        return self.switches.answer(content["changes"], content["targets"]), b""

    def answer_effect(self, content):
        """How much the answer depends on the heads from a number on, as many as a moment has time for."""
        return self.switches.effect(content["first"], content["targets"]), b""

    def hear(self, what, heard, told):
        pass
