#!/usr/bin/env python3
"""Writes tests/golden/layers: small files of tensors, one for each thing that a file may say of a layer. There are no results
in them: the tests give each to the board and to attn, which must answer with the same numbers."""
import json
import os
import random

folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "layers")
numbers = random.Random(20)


def tensor(*shape, **more):
    count = 1
    for size in shape:
        count *= size
    return {"shape": list(shape), "data": [round(numbers.gauss(0, 1), 3) for _ in range(count)], **more}


def half(*shape):
    """Numbers that 16 bits cannot hold as they are."""
    drawn = tensor(*shape, dtype="float16")
    drawn["data"] = [round(value * 1.0007 + 0.00013, 6) for value in drawn["data"]]
    return drawn


def cells(*shape):
    """A mask of true and false whose rows see at least their first key."""
    drawn = tensor(*shape)
    keys = shape[-1]
    return {"shape": list(shape), "dtype": "bool", "data": [i % keys == 0 or value > -0.3 for i, value in enumerate(drawn["data"])]}


def added(*shape):
    """A mask of numbers, some of which mask."""
    drawn = tensor(*shape)
    keys = shape[-1]
    drawn["data"] = ["-inf" if value < -0.9 and i % keys else value for i, value in enumerate(drawn["data"])]
    return drawn


def layer(queries=4, keys=4, heads=2, kv=2, d=4, dv=3, batch=0, make=tensor):
    front = [batch] if batch else []
    return {"q": make(*front, heads, queries, d), "k": make(*front, kv, keys, d), "v": make(*front, kv, keys, dv)}


def save(name, file, **options):
    if options:
        file["options"] = options
    with open(os.path.join(folder, name + ".json"), "w") as out:
        json.dump(file, out)
        out.write("\n")


os.makedirs(folder, exist_ok=True)

# Layouts and types
save("one_head", {"q": tensor(3, 4), "k": tensor(3, 4), "v": tensor(3, 2)})
save("lists", {name: [[round(numbers.gauss(0, 1), 2) for _ in range(3)] for _ in range(4)] for name in "qkv"})
save("heads", layer(), causal=True)
save("ranks", {"q": tensor(3, 4), "k": tensor(1, 3, 4), "v": tensor(1, 1, 3, 4)})
save("batch", layer(batch=3), causal=True)
save("grouped", layer(heads=4, kv=2, batch=2))
save("multi_query", layer(heads=3, kv=1), causal=True)
save("packed", {"q": tensor(2, 4, 8), "k": tensor(2, 4, 4), "v": tensor(2, 4, 6)}, layout="packed", heads=4, kv_heads=2)
save("packed_one", {"q": tensor(4, 6), "k": tensor(4, 6), "v": tensor(4, 6)}, layout="packed", heads=2, causal=True)
save("cross", layer(queries=3, keys=5))
save("float16", layer(make=half), causal=True)
save("float16_mask", {**layer(make=half), "mask": half(4, 4)})

# Options
save("scale", layer(), scale=0.37)
save("scale_of_one", layer(), scale=1)
save("scale_usual", layer(), scale=0.5)
save("scale_nearly_usual", layer(d=3), scale=0.5773507)
save("scale_below_zero_is_refused", layer(), scale=-0.25)
save("no_scale", layer(), scale=False)
save("softcap", layer(), softcap=1.5, temperature=0.6)
save("window", layer(), window_left=1, window_right=0)
save("prefix", layer(), causal=True, prefix=2)
save("pattern", layer(queries=6, keys=6), pattern_local=2, pattern_global=1)
save("random_pattern", layer(queries=6, keys=6), causal=True, pattern_random=2, pattern_seed=4)
save("offset", layer(queries=2, keys=5), causal=True, causal_offset=3)
save("padding", layer(), key_length=3)
save("alibi", layer(), position="alibi", causal=True)
save("rotary", layer(), position="rotary")
for score in ("dot", "cosine", "general", "additive"):
    save(score, layer(), score=score)
save("weights_given", {**layer(), "w_a": tensor(2, 4, 4), "u_a": tensor(2, 4, 4), "v_a": tensor(2, 4)}, score="additive")
for normalizer in ("sparsemax", "sigmoid", "relu", "hardmax", "none"):
    save(normalizer, layer(), normalizer=normalizer, causal=True)
save("after_softmax", {**layer(), "mask": cells(4, 4)}, mask_after_softmax=True)

# Lengths and pasts
save("lengths", {**layer(queries=2, keys=5), "key_lengths": [4]})
save("lengths_causal", {**layer(queries=2, keys=5), "key_lengths": [4]}, causal=True)
save("lengths_alibi", {**layer(queries=2, keys=5), "key_lengths": [4]}, position="alibi")
save("lengths_rotary", {**layer(queries=2, keys=5), "key_lengths": [3]}, position="rotary", window_left=1)
save("lengths_short", {**layer(queries=4, keys=4), "key_lengths": [2]})
save("lengths_of_a_batch", {**layer(queries=2, keys=5, batch=3), "key_lengths": [5, 2, 3]})
save("lengths_of_a_batch_alike", {**layer(queries=2, keys=5, batch=2), "key_lengths": [4, 4]}, causal=True)
save("lengths_of_a_batch_and_mask", {**layer(queries=2, keys=5, batch=2), "key_lengths": [5, 3], "mask": added(2, 1, 2, 5)})
save("lengths_of_a_batch_causal_is_refused", {**layer(queries=2, keys=5, batch=2), "key_lengths": [5, 3]}, causal=True)
save("past", {**layer(queries=2, keys=2), "past_k": tensor(2, 3, 4), "past_v": tensor(2, 3, 3)}, causal=True)
save("past_alibi", {**layer(queries=2, keys=2), "past_k": tensor(2, 3, 4), "past_v": tensor(2, 3, 3)}, position="alibi")
save("past_lengths", {**layer(queries=2, keys=2, batch=2), "past_k": tensor(2, 2, 3, 4), "past_v": tensor(2, 2, 3, 3), "key_lengths": [5, 5]}, causal=True)
save("past_packed", {"q": tensor(2, 1, 8), "k": tensor(2, 1, 4), "v": tensor(2, 1, 4), "past_k": tensor(2, 1, 3, 4), "past_v": tensor(2, 1, 3, 4)},
     layout="packed", heads=2, kv_heads=1, causal=True)

# Masks
for name, shape in {"keys": [4], "queries": [4, 4], "head": [2, 4, 4], "one_head": [1, 4, 4], "queries_once": [2, 1, 4], "short": [4, 3],
                    "column": [4, 1]}.items():
    save("mask_" + name, {**layer(), "mask": cells(*shape)}, causal=name == "head")
    save("added_" + name, {**layer(), "mask": added(*shape)}, causal=name == "queries")
for name, shape in {"entry": [3, 1, 4, 4], "entry_and_head": [3, 2, 4, 4], "entry_keys": [3, 1, 1, 4], "shared": [1, 1, 4, 4]}.items():
    save("mask_" + name, {**layer(batch=3), "mask": cells(*shape)})
    save("added_" + name, {**layer(batch=3), "mask": added(*shape)})
save("added_alibi", {**layer(), "mask": added(2, 4, 4)}, position="alibi", softcap=2)
save("added_infinity", {**layer(), "mask": {"shape": [4, 4], "data": ["inf"] + [0, 0.5, -1] * 5}})
save("added_hides_a_row", {**layer(), "mask": {"shape": [4, 4], "data": ["-inf"] * 4 + [0, 0.5, -1] * 4}})
save("added_past", {**layer(queries=2, keys=2), "past_k": tensor(2, 3, 4), "past_v": tensor(2, 3, 3), "mask": added(2, 5)})
save("mask_hides_a_row", {**layer(), "mask": {"shape": [2, 4, 4], "data": [i >= 8 for i in range(32)]}})
save("after_softmax_of_heads_is_refused", {**layer(), "mask": cells(2, 4, 4)}, mask_after_softmax=True)
save("after_softmax_of_entries_is_refused", {**layer(batch=2), "mask": cells(2, 1, 4, 4)}, mask_after_softmax=True)

# Of X
x = {"x": tensor(4, 6), "w_q": tensor(6, 4), "w_k": tensor(6, 4), "w_v": tensor(6, 4), "w_o": tensor(4, 6)}
save("projected", dict(x), heads=2, causal=True)
save("projected_float16", {**x, "x": half(4, 6), "w_q": half(6, 4)}, heads=2)
save("projected_mask", {**x, "mask": added(2, 4, 4)}, heads=2)
save("projected_sinusoidal", dict(x), heads=2, position="sinusoidal")
save("projected_cross", {**x, "x_kv": tensor(3, 6), "mask": cells(4, 3)}, heads=2)

# As models in use have them
save("projected_biases", {**x, "b_q": tensor(4), "b_k": tensor(4), "b_v": tensor(1, 4), "b_o": tensor(6)}, heads=2, causal=True)
save("additive_units", {**layer(), "w_a": tensor(2, 3, 4), "u_a": tensor(2, 3, 4), "v_a": tensor(2, 3)}, score="additive")
save("additive_units_drawn", layer(), score="additive", additive_dim=6)
save("projected_values", {**x, "x_v": tensor(4, 6)}, heads=2, position="sinusoidal")
save("projected_wide", {**x, "w_o": tensor(4, 9)}, heads=2)
save("projected_apart", {name: value for name, value in x.items() if name != "w_o"}, heads=2)
save("projected_bias_of_q", {**x, "b_q": tensor(4)}, heads=2)
save("rotary_halves", layer(d=6), position="rotary", rotary_pairs="half", rotary_base=500000, rotary_dims=4, position_ids=[2, 3, 0])
save("rotary_scaled", layer(), position="rotary", rotary_scaling="ntk", rotary_factor=4)
save("general_widths", {**layer(), "q": tensor(2, 4, 6), "w_a": tensor(2, 6, 4)}, score="general")
save("additive_widths", {**layer(kv=1), "q": tensor(2, 4, 3), "w_a": tensor(2, 5, 3), "u_a": tensor(2, 5, 4), "v_a": tensor(2, 5)}, score="additive", causal=True)
save("additive_widths_drawn", {**layer(), "q": tensor(2, 4, 6)}, score="additive")
save("projected_widths", {**x, "w_q": tensor(6, 6), "w_a": tensor(2, 3, 2)}, heads=2, score="general")
save("widths_of_a_dot_product_is_refused", {**layer(), "q": tensor(2, 4, 6)})
save("widths_that_are_rotated_is_refused", {**layer(), "q": tensor(2, 4, 6)}, score="general", position="rotary")
