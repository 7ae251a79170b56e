"""The board, in a notebook or in the browser."""
import json
import os

import numpy as np

from . import server
from .files import readable, write

WATCHED = ("q", "k", "v", "weights", "output")  # what comes back as arrays


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


def json_of(array):
    """{"shape", "data"}; nine digits give a float32 back bit for bit."""
    flat = array.ravel()
    if array.dtype == bool:
        return '{"dtype": "bool", "shape": %s, "data": %s}' % (list(array.shape), json.dumps(flat.tolist()))
    words = ["%.9g" % x if np.isfinite(x) else '"%sinf"' % ("-" if x < 0 else "") for x in flat.tolist()]
    return '{"shape": %s, "data": [%s]}' % (list(array.shape), ", ".join(words))


class Playground:
    """A board with these numbers. In a notebook it is shown where it is the value of a cell (with anywidget); show() opens it in the browser.

    q [tokens, d] or [heads, tokens, d], k and v likewise (fewer heads: each is shared by several), of NumPy, PyTorch or lists; or x [tokens, d]
    with w_q, w_k, w_v [d, heads·d_k] and w_o; mask, True where a query sees a key, or added to the scores. A batch has one axis more. `tokens` and
    `key_labels` are the words of rows and columns. All else are options by their names: causal=True, scale=0.5, temperature=2, heads=2,
    score="additive", normalizer="sparsemax" … `state` is a state or the text of one, as .state gives it, instead of tensors.

    hide, lock, parts ("q,k,weights,output"), theme ("auto", "light", "dark") and height (pixels) say how it is shown, as the element's attributes
    of these names do (parts: show).
    """

    def __init__(self, q=None, k=None, v=None, tokens=None, *, state=None, hide="guide", lock="", parts="", theme="auto", height=600, **more):
        self._interface = dict(hide=hide, lock=lock, parts=parts, theme=theme, height=height)
        self._widget, self._given, self._options = None, {}, {}
        if state is not None:
            self._text = state if isinstance(state, str) else json.dumps(state)
            self._options = more
            return
        named = dict(q=q, k=k, v=v, **more)
        if all(named.get(name) is None for name in ("q", "x")):
            raise TypeError("q: it is missing; give q, k and v, or x, w_q, w_k and w_v, or a state.")
        labels = dict(labels=tokens, key_labels=named.pop("key_labels", None))
        for name, value in named.items():
            if value is None:
                continue
            if isinstance(value, (str, bool, int, float)) or np.ndim(value) == 0 and not hasattr(value, "detach"):
                self._options[name] = value.item() if hasattr(value, "item") else value
            else:
                self._given[name] = array_of(name, value)
        self._labels = {name: readable(words) for name, words in labels.items() if words is not None}
        parts = ['"%s": %s' % (name, json_of(array)) for name, array in self._given.items()]
        parts += ['"%s": %s' % (name, json.dumps(words, ensure_ascii=False)) for name, words in self._labels.items()]
        if self._options:
            parts.append('"options": ' + json.dumps(self._options))
        self._text, self._options = "{%s}" % ", ".join(parts), {}

    # ---------------------------------------------------------------- what stands on the board

    @property
    def state(self):
        """All that can be changed, as a dictionary: what the reader has made of it, once the board is shown. Setting it changes the board."""
        return json.loads(self._widget.state if self._widget else self._text)

    @state.setter
    def state(self, value):
        self._text = value if isinstance(value, str) else json.dumps(value)
        if self._widget:
            self._widget.state = self._text

    def set(self, **options):
        """Changes options of the board: set(causal=True, temperature=2)."""
        self._options.update(options)
        if self._widget:
            self._widget.options = dict(self._options)
            self._options = {}

    def tensor(self, name):
        """q, k, v, weights or output as it stands on the board: [heads, rows, columns] of float32. The board computes it, so it must be shown."""
        found = self._widget.tensors.get(name) if self._widget else None
        if found is None:
            raise LookupError("%s: %s" % (name, "the board is not shown yet; display it in a cell of its own first." if name in WATCHED
                                          else "is none of " + ", ".join(WATCHED) + "."))
        return np.frombuffer(found["data"], np.float32).reshape(found["shape"]).copy()

    def observe(self, handler):
        """handler(self) is called after every change of the board."""
        self.widget.observe(lambda change: handler(self), "tensors")

    @property
    def error(self):
        """What the board last refused, as a sentence; "" where nothing was."""
        return self._widget.error if self._widget else ""

    # ---------------------------------------------------------------- how it is seen

    @property
    def widget(self):
        """The widget of the notebook: an anywidget.AnyWidget with the traits state, options, tensors, error."""
        if self._widget is None:
            from .widget import Board
            self._widget = Board(state=self._text, options=dict(self._options), **self._interface)
            self._options = {}
        return self._widget

    def _repr_mimebundle_(self, **kwargs):
        try:
            return self.widget._repr_mimebundle_(**kwargs)
        except ImportError:
            return {"text/plain": repr(self) + "\nTo see it here: pip install anywidget. In the browser: .show()"}

    def __repr__(self):
        shapes = ", ".join("%s %s" % (name, list(array.shape)) for name, array in self._given.items())
        return "Playground(%s)" % (shapes or "state")

    def show(self, block=None, browser=True):
        """Opens the page in the browser, from a server of this process, with the board as it stands; gives back its address.

        A script waits here until it is interrupted, so that the page can load; a notebook or a prompt goes on. `block` says otherwise. Nothing leaves
        this computer.
        """
        state = self._widget.state if self._widget else self._text
        return server.open_file(state.encode(), "board.json", block, browser)

    def save(self, path):
        """Writes .json (all of the board), or its tensors as .npz or .safetensors."""
        if os.fspath(path).lower().endswith(".json"):
            with open(path, "w", encoding="utf-8") as file:
                file.write(self._widget.state if self._widget else self._text)
            return
        tensors = dict(self._given)
        for name in ("q", "k", "v"):
            if self._widget and name in self._widget.tensors and (not tensors or name in tensors):
                tensors[name] = self.tensor(name)
        if not tensors:
            raise ValueError("path: the tensors of a state are known once the board is shown; save it as .json, or show it first.")
        found = json.loads(self._widget.state if self._widget else self._text)
        tensors.update({name: np.array(words) for name, words in self._labels.items()} if self._given else {})
        tensors["options"] = np.array(json.dumps(found.get("options", {})))
        write(path, tensors)
