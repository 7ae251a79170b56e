"""The board, in a notebook or in the browser."""
import os
import warnings

import numpy as np

from . import server
from .compute import computed
from .files import readable, write
from .state import array_of, lists, read, text_of

OPTIONS = ("causal", "scale", "softcap", "temperature", "score", "normalizer", "window_left", "window_right", "position")  # those of a state that files have too


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
        self._widget, self._options, self._handlers, self._computed = None, {}, [], {}
        if state is not None:
            self._state, self._options = read(state), more
            return
        named = dict(q=q, k=k, v=v, **more)
        if all(named.get(name) is None for name in ("q", "x")):
            raise TypeError("q: it is missing; give q, k and v, or x, w_q, w_k and w_v, or a state.")
        labels = dict(labels=tokens, key_labels=named.pop("key_labels", None))
        self._state, options = {}, {}
        for name, value in named.items():
            if value is None:
                continue
            if isinstance(value, (str, bool, int, float)) or np.ndim(value) == 0 and not hasattr(value, "detach"):
                options[name] = value.item() if hasattr(value, "item") else value
            else:
                self._state[name] = array_of(name, value)
        self._state.update({name: readable(words) for name, words in labels.items() if words is not None})
        if options:
            self._state["options"] = options

    # ---------------------------------------------------------------- what stands on the board

    @property
    def state(self):
        """All that can be changed, as a dictionary: what the reader has made of it, once the board is shown. Setting it changes the board."""
        return lists(self._state)

    @state.setter
    def state(self, value):
        self._state, self._computed = read(value), {}
        if self._widget:
            self._widget.give_state()

    def set(self, **options):
        """Changes options of the board: set(causal=True, temperature=2). A board that is shown refuses wrong ones by .error and a warning."""
        if self._widget:
            self._widget.options = dict(options)
        else:
            self._options.update(options)

    def tensor(self, name):
        """q, k, v, weights [heads, rows, columns] or output [rows, heads · d] of float32, as the board has it now.

        It is computed here, without a browser: by `attn`, which comes with the package for Linux and is also looked for on the PATH and by the variable
        ATTN; it knows scores, masked and all other tensors too. Without it, by NumPy for plain layers, and for others by the same code as attn's where
        wasmtime is installed. LookupError where none of these is; a board that is shown then sends it, for the next time."""
        state = self._with_options()
        if self._interface_is_known(name, state):
            return state[name].copy()
        if name not in self._computed:
            found = computed(state, [name])
            if found is None and self._widget and name not in self._widget.wanted:
                self._widget.wanted = [*self._widget.wanted, name]
            if found is None:
                raise LookupError("%s: a layer of this kind is computed by attn, which is not on the PATH, or with wasmtime (pip install wasmtime); %s." % (
                    name, "the board sends it from now on, ask again in the next cell" if self._widget else "or by the board, which is not shown yet"))
            self._computed.update(found)
        return self._computed[name].copy()

    @staticmethod
    def _interface_is_known(name, state):
        return name in ("q", "k", "v") and state.get("mode", "qkv") == "qkv" and isinstance(state.get(name), np.ndarray) and state[name].ndim == 3

    def _with_options(self):
        """The state with the options that a board that is not shown has not taken yet."""
        return {**self._state, "options": {**self._state.get("options", {}), **self._options}} if self._options else self._state

    def observe(self, handler):
        """handler(self) is called after every change of the board."""
        self._handlers.append(handler)

    def _changed(self, state, tensors):
        """What the board tells: its state, or tensors that were asked for."""
        self._computed = {} if tensors is None else dict(tensors)
        if tensors is None:
            self._state = state
        if tensors is None and not (self._widget and self._widget.wanted) or tensors is not None:
            for handler in self._handlers:
                handler(self)

    @property
    def error(self):
        """What the board last refused, as a sentence; "" where nothing was."""
        return self._widget.error if self._widget else ""

    # ---------------------------------------------------------------- how it is seen

    @property
    def widget(self):
        """The widget of the notebook: an anywidget.AnyWidget with the traits options and error."""
        if self._widget is None:
            from .widget import Board
            self._widget = Board(self, options=dict(self._options), **self._interface)
            self._widget.observe(lambda change: change["new"] and warnings.warn("the board: " + change["new"], stacklevel=2), "error")
            self._options = {}
        return self._widget

    def picture(self):
        """The weights of all heads as the text of an SVG; "" where they are not to be computed here."""
        from .picture import picture_of
        try:
            weights = self.tensor("weights")
        except (LookupError, ValueError):
            return ""
        labels = self._state.get("labels")
        return picture_of([weights], labels, self._state.get("key_labels", labels), repr(self))

    def _repr_mimebundle_(self, **kwargs):
        from .display import bundle
        return bundle(self, lambda: self.widget)

    def _ipython_display_(self):
        from .display import display
        display(self, lambda: self.widget)

    def _display_(self):  # marimo
        from .display import in_marimo
        return in_marimo(self, lambda: self.widget)

    def __repr__(self):
        shapes = ", ".join("%s %s" % (name, list(value.shape)) for name, value in self._state.items() if isinstance(value, np.ndarray))
        return "Playground(%s)" % (shapes if shapes and "version" not in self._state else "state")

    def show(self, block=None, browser=True):
        """Opens the page in the browser, from a server of this process, with the board as it stands; gives back its address.

        A script waits here until it is interrupted, so that the page can load; a notebook or a prompt goes on. `block` says otherwise. Nothing leaves
        this computer.
        """
        return server.open_file(text_of(self._with_options()).encode(), "board.json", block, browser)

    def to_html(self, path):
        """Writes one file with the whole page and this board, that works from a disk and without a network."""
        from .html import write_page
        write_page(path, [("board", "", "board.json", text_of(self._with_options()).encode())], "Attention Playground")

    def save(self, path):
        """Writes .json (all of the board), or its tensors as .npz or .safetensors."""
        state = self._with_options()
        if os.fspath(path).lower().endswith(".json"):
            with open(path, "w", encoding="utf-8") as file:
                file.write(text_of(state))
            return
        unused = ("x", "w_q", "w_k", "w_v", "w_o") if state.get("mode") == "qkv" else ()
        tensors = {name: value for name, value in state.items() if isinstance(value, np.ndarray) and name not in unused}
        if not tensors:
            raise ValueError("path: the tensors of a state are known once the board is shown; save it as .json, or show it first.")
        tensors.update({name: np.array(state[name]) for name in ("labels", "key_labels") if state.get(name)})
        options = {**{name: state[name] for name in OPTIONS if name in state}, **state.get("options", {})}
        write(path, {**tensors, "options": np.array(text_of(options))})
