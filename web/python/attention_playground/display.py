"""What a cell's output holds: a picture that stays without a kernel and without scripts, and beside it the widget."""
import sys

HINT = "\nTo see it here: pip install anywidget. In the browser: .show()"


def is_marimo():
    """Is this a notebook of marimo, whose cells show their value alone?"""
    return "marimo" in sys.modules and sys.modules["marimo"].running_in_notebook()


def in_marimo(shown, make):
    """What a cell of marimo shows."""
    try:
        return make()
    except ImportError:
        return repr(shown) + HINT


def is_notebook():
    """Is this a kernel, whose cells show more than text?"""
    if is_marimo():
        return True
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return shell is not None and hasattr(shell, "kernel")


def bundle(shown, make):
    """One output by the type of its data, for those who ask for that alone."""
    try:
        out = make()._repr_mimebundle_()
        out = dict(out[0] if isinstance(out, tuple) else out)
        out["text/plain"] = repr(shown)
    except ImportError:
        out = {"text/plain": repr(shown) + HINT}
    picture = shown.picture()
    return {**out, "image/svg+xml": picture} if picture else out


def display(shown, make):
    """Two outputs in IPython: the picture, which the widget hides once it lives, and the widget. In one, whoever knows widgets would show nothing else.
    In marimo the widget, to be the value of the cell."""
    if is_marimo():
        return in_marimo(shown, make)
    from IPython.display import display as output
    picture, widget = shown.picture(), None
    try:
        widget = make()
    except ImportError:
        pass
    plain = repr(shown) + ("" if widget else HINT)
    if picture and widget:
        widget.picture = picture.split('id="', 1)[1].split('"', 1)[0]
    output({"text/plain": plain, **({"image/svg+xml": picture} if picture else {})}, raw=True)
    if widget:
        output(widget)
