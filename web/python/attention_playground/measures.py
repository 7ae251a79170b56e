"""What a head looks at, in numbers."""
import numpy as np

KINDS = {  # letter: (name, colour, from which measure on)
    "P": ("Previous token", "#0a6678", 0.40),
    "I": ("Induction", "#a61e6b", 0.40),
    "F": ("First token", "#4f5661", 0.40),
    "S": ("Same word", "#7a5500", 0.40),
    "B": ("Broad", "#3f6b18", 0.85),
}


def measures(weights, tokens=None, key_tokens=None):
    """{letter: measure} of [queries, keys]: P mean W[i, i−1]; F mean W[i, 0]; S weight on earlier equal words, and I on what followed them, over the rows that
    have one; B entropy ÷ log₂ of how many keys have weight. Only F and B where queries and keys are not the same tokens."""
    rows, keys = weights.shape
    out = {"F": float(weights[1:, 0].mean()) if rows > 1 else 0.0, "B": broad(weights)}
    if rows != keys or rows < 2 or key_tokens is not None and key_tokens is not tokens and list(key_tokens) != list(tokens or []):
        return out
    out["P"] = float(np.diagonal(weights, -1).mean())
    if tokens is None or len(tokens) != rows:
        return out
    _, ids = np.unique(np.asarray(tokens, dtype=str), return_inverse=True)
    same = np.tril(ids[:, None] == ids, -1)
    after = np.tril(np.pad(same, ((0, 0), (1, 0)))[:, :keys])
    for letter, where in (("S", same), ("I", after)):
        has = where.any(1)
        out[letter] = float((weights * where).sum(1)[has].mean()) if has.any() else 0.0
    return out


def broad(weights):
    """Mean of entropy ÷ its largest value, over the rows that could spread."""
    count = (weights > 0).sum(1)
    entropy = -(weights * np.log2(np.maximum(weights, np.finfo(np.float32).tiny))).sum(1)
    has = count > 1
    return float((entropy[has] / np.log2(count[has])).mean()) if has.any() else 0.0


def kind_of(found):
    """(letter, measure): induction before all, else the largest that reaches its threshold; broad only if none does; "–" none."""
    reached = {letter: value for letter, value in found.items() if value >= KINDS[letter][2]}
    if "I" in reached:
        return "I", reached["I"]
    best = max((letter for letter in reached if letter != "B"), key=reached.get, default="B" if "B" in reached else "–")
    return best, reached.get(best, 0.0)
