"""The board in a notebook, by anywidget: JupyterLab, Notebook, VS Code, Colab, marimo."""
import gzip
from functools import lru_cache
from pathlib import Path

import anywidget
import traitlets

from .server import PAGE


@lru_cache(1)
def page_script():
    """The whole page as one script, which the notebook's page asks for once however many boards it has."""
    return gzip.compress((PAGE / "standalone.js").read_bytes(), 9)


class Board(anywidget.AnyWidget):
    _esm = Path(__file__).parent / "widget.js"
    state = traitlets.Unicode().tag(sync=True)      # JSON: tensors or a state; once it is shown, a state
    options = traitlets.Dict().tag(sync=True)       # to be set; empty once they are
    tensors = traitlets.Dict().tag(sync=True)       # {name: {shape, data}} as computed
    error = traitlets.Unicode().tag(sync=True)      # the last refusal
    hide = traitlets.Unicode("").tag(sync=True)
    lock = traitlets.Unicode("").tag(sync=True)
    parts = traitlets.Unicode("").tag(sync=True)
    theme = traitlets.Unicode("auto").tag(sync=True)
    height = traitlets.Int(600).tag(sync=True)

    def __init__(self, **traits):
        super().__init__(**traits)
        self.on_msg(self._answer)

    def _answer(self, widget, content, buffers):
        if isinstance(content, dict) and content.get("wants") == "page":
            self.send({"has": "page"}, [page_script()])
