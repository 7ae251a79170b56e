"""Attention Playground: the attention of a model, on a board where every number can be changed and asked where it comes from.

    from attention_playground import Playground, record
    record(model, **tokenizer("I saw a saw", return_tensors="pt"), tokenizer=tokenizer).save("layers.npz")   # PyTorch, Hugging Face
    Playground(q=q, k=k, v=v, tokens=["I", "saw", "a", "saw"])                                            # in a notebook
    Playground(q=q, k=k, v=v).show()                                                                      # in the browser

NumPy alone is needed; PyTorch where models are recorded, anywidget in notebooks.
"""
from .playground import Playground
from .recording import Layer, Recording, record

__version__ = "@PROJECT_VERSION@"
__all__ = ["Layer", "Playground", "Recording", "record"]
