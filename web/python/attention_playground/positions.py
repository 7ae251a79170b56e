"""Positions and windows by the names that the board has for them: how a model turned its queries and keys, and what its mask is."""
import itertools

import numpy as np


def turned(x, options, first=0, sign=1):
    """x [..., tokens, d] turned by rotary positions first, first + 1, …; turned back with sign −1. With options["table"], by its frequencies, and stretched by its number."""
    d, table = x.shape[-1], options.get("table")
    width = 2 * len(table[0]) if table else int(options.get("rotary_dims") or d)
    pair = np.arange(width // 2)
    base, by = float(options.get("rotary_base", 1e4)), float(options.get("rotary_factor", 1))
    scaling = options.get("rotary_scaling", "none")
    if scaling == "ntk" and width > 2:
        base *= by ** (width / (width - 2))
    speed = table[0] if table else base ** (-2.0 * pair / width) / (by if scaling == "linear" else 1)
    angle = (first + np.arange(x.shape[-2]))[:, None] * speed
    one, two = (pair, pair + width // 2) if options.get("rotary_pairs") == "half" else (2 * pair, 2 * pair + 1)
    stretch = table[1] ** sign if table else 1.0
    cosine, sine, out = stretch * np.cos(angle), stretch * sign * np.sin(angle), x.astype(np.float64)
    a, b = x[..., one].astype(np.float64), x[..., two].astype(np.float64)
    out[..., one], out[..., two] = a * cosine - b * sine, a * sine + b * cosine
    return out.astype(np.float32)


def seen_by(options, tokens):
    """True where a query sees a key: [tokens, tokens]."""
    away = np.arange(tokens) - np.arange(tokens)[:, None]
    left, right = options.get("window_left", -1), 0 if options.get("causal") else options.get("window_right", -1)
    return (away >= -left if left >= 0 else away >= -tokens) & (away <= right if right >= 0 else away <= tokens)


def alibi(heads, tokens):
    """What ALiBi adds to the scores, with the slopes of Press et al.: [heads, tokens, tokens]."""
    power = 2 ** int(np.log2(heads))
    steps = np.array([head + 1 if head < power else head - power + 0.5 for head in range(heads)])
    return -(2.0 ** (-8 * steps / power))[:, None, None] * np.abs(np.arange(tokens) - np.arange(tokens)[:, None])


def mask_by(options, heads, tokens):
    """(causal, mask) as a Layer has them."""
    seen, is_causal = seen_by(options, tokens), bool(options.get("causal")) and options.get("window_left", -1) < 0
    if options.get("position") == "alibi":
        return False, np.where(seen, alibi(heads, tokens), -np.inf).astype(np.float32)[None]
    return is_causal, None if is_causal or seen.all() else seen[None, None]


def options_of(mask, heads):
    """The options that give this mask, None where there are none: a window, or ALiBi with what hides keys."""
    seen, tokens = mask if mask.dtype == bool else np.isfinite(mask), mask.shape[-1]
    if mask.shape[-2] != tokens or not (seen == seen[:1, :1]).all():
        return None
    seen = seen[0, 0]
    away = (np.arange(tokens) - np.arange(tokens)[:, None])[seen]
    left, right = -int(away.min(initial=0)), int(away.max(initial=0))
    options = {"causal": right == 0, "window_left": left if left < tokens - 1 else -1, "window_right": right if 0 < right < tokens - 1 else -1}
    options = {name: value for name, value in options.items() if value not in (-1, False)}
    if (seen != seen_by(options, tokens)).any():
        return None
    if mask.dtype == bool:
        return options
    if mask.shape[:2] != (1, heads):
        return None
    off = np.where(seen, np.where(seen, mask[0], 0) - alibi(heads, tokens), np.nan)  # a number for a whole row changes no weight
    is_so = np.nanmax(off, -1) - np.nanmin(off, -1) <= 1e-6 * np.abs(mask[0][:, seen]).max(initial=1)
    return {"position": "alibi", **options} if is_so.all() else None


# ---------------------------------------------------------------- what a configuration says, held against the numbers

def said(config):
    """(name, value) of everything in a configuration and the dictionaries in it."""
    config = config if isinstance(config, dict) else config.to_dict() if hasattr(config, "to_dict") else getattr(config, "__dict__", {})
    for name, value in config.items():
        yield str(name), value
        if isinstance(value, dict):
            yield from said(value)


def rotaries(config, d):
    """The rotary positions that a configuration may mean, as options of the board; which of them, the numbers have to say."""
    bases, widths, scalings, is_rotary = [], [d], [{}], False
    for name, value in said(config):
        is_ours = "rope" in name or "rotary" in name
        is_rotary = is_rotary or is_ours or value == "rotary"
        if isinstance(value, dict) and is_ours and value.get("rope_type", value.get("type")) == "linear":
            scalings.append({"rotary_scaling": "linear", "rotary_factor": float(value["factor"])})
        if isinstance(value, bool) or not isinstance(value, (int, float)) or value <= 0:
            continue
        if is_ours and ("theta" in name or "base" in name):
            bases.append(float(value))
        elif is_ours and (name.endswith(("pct", "factor", "percent")) and value <= 1 or "dim" in name and value <= d):
            widths.append(int(value if "dim" in name else value * d))
    if not is_rotary:
        return
    for base, width, scaling, pairs in itertools.product(dict.fromkeys(bases or [1e4]), dict.fromkeys(widths), scalings, ("half", "adjacent")):
        if width > 0 and width % 2 == 0:
            yield {"position": "rotary", "rotary_pairs": pairs, "rotary_base": base, **({"rotary_dims": width} if width < d else {}), **scaling}


def scalings(configs):
    """What configurations say of rotary frequencies that the board has no name for: "yarn, factor 2"."""
    for config in configs:
        for name, value in said(config):
            kind = isinstance(value, dict) and ("rope" in name or "rotary" in name) and value.get("rope_type", value.get("type"))
            if kind and kind not in ("default", "linear"):
                yield kind + (", factor %g" % value["factor"] if isinstance(value.get("factor"), (int, float)) else "")


def tables_of(model, d):
    """[(frequencies, by which number the turned ones are multiplied)] of the modules of a model that hold such for heads of d columns."""
    out = []
    for name, buffer in model.named_buffers():
        if name.endswith("inv_freq") and buffer.dim() == 1 and 0 < 2 * len(buffer) <= d:
            module, start = model.get_submodule(name.rpartition(".")[0]), name.rpartition(".")[2][:-len("inv_freq")]
            stretch = getattr(module, start + "attention_scaling", getattr(module, "attention_scaling", 1.0))
            out.append((buffer.double().cpu().numpy(), float(stretch)))
    return out


def maker(part, outputs, accuracy):
    """The module of [(module, output [batch, tokens, heads, d])] that gave all of part [batch, heads, tokens, d], None where none did."""
    for module, output in outputs:
        if len(output) != len(part) or output.shape[1] != part.shape[2]:
            continue
        for by in (1, part.shape[-1] ** -0.5):  # queries may be scaled before they are turned
            off = np.abs(part.swapaxes(1, 2)[:, :, :, None] - by * output[:, :, None]).max(-1).min(-1)
            if off.max() <= accuracy * max(1e-6, np.abs(part).max()):
                return module
    return None


def made(q, k, configs, outputs, eps, tables=()):
    """(options, the class that normalised queries and keys or "", what is said of a rotation that options do not name or "") by which they were made of
    what submodules gave; they are [batch, heads, tokens, d].

    `outputs` are [(module, [batch, queries, heads, d])] of these queries. A rotation is believed where it takes two of the queries, and of the keys, back to
    such an output."""
    rows, keys, d = q.shape[2], k.shape[2], q.shape[3]
    some, accuracy = sorted({rows // 2, rows - 1}), max(1e-3, 8 * eps)
    if keys - 1 < 1 or keys < rows or not outputs:
        return {}, "", ""
    outputs = [(module, output[:, some]) for module, output in outputs]
    is_norm = lambda module: "norm" in type(module).__name__.lower()
    later = keys - rows

    def back(x, at, options):
        return np.concatenate([turned(x[:, :, [i]], options, position + later, -1) for i, position in zip(at, some)], 2) if options else x[:, :, at]

    named = list(scalings(configs))
    others = [{"table": table, "rotary_pairs": pairs} for table in tables for pairs in ("half", "adjacent")] if named else []
    for options in ({}, *(one for config in configs for one in rotaries(config, d)), *others):
        makers = [maker(back(x, at, options), outputs, accuracy) for x, at in ((q, some), (k, [i + later for i in some]))]
        if all(makers) and (options or all(map(is_norm, makers))):
            norm = type(makers[0]).__name__ if all(map(is_norm, makers)) else ""
            return ({}, norm, named[0]) if "table" in options else (options, norm, "")
    return {}, "", ""
