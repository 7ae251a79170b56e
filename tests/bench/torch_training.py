# The model of training.cpp in PyTorch, eager, as one would write it: from the same numbers and batches, given as a line of JSON.
# Then "run STEPS" as training.cpp answers it: seconds of the clock and of the processor, and the loss of the last step.
import json
import sys
import time

import torch
import torch.nn.functional as F

torch.set_num_threads(1)
given = json.loads(sys.stdin.readline())
heads, d, layers = given["heads"], given["d_model"], given["layers"]
p = {name: torch.tensor(of["data"], dtype=torch.float32).reshape(of["shape"]).requires_grad_() for name, of in given["parameters"].items()}
batches = [(torch.tensor(b["tokens"]).reshape(given["batch"], -1), torch.tensor(b["targets"])) for b in given["batches"]]
length = batches[0][0].shape[1]
angles = torch.arange(length)[:, None] * 10000.0 ** (-2.0 * (torch.arange(d) // 2) / d)
places = torch.where(torch.arange(d) % 2 == 0, angles.sin(), angles.cos()).float()
future = torch.full((length, length), float("-inf")).triu(1)


def norm(x, name, which):
    return F.layer_norm(x, (d,), p[f"{name}gamma{which}"][0], p[f"{name}delta{which}"][0])


def attention(h, name):
    split = lambda x: x.view(x.shape[0], length, heads, d // heads).transpose(1, 2)
    q, k, v = (split(h @ p[name + w]) for w in ("w_q", "w_k", "w_v"))
    if hasattr(F, "scaled_dot_product_attention"):
        out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    else:  # before PyTorch 2.0
        out = torch.softmax(q @ k.transpose(-2, -1) * (d // heads) ** -0.5 + future, -1) @ v
    return out.transpose(1, 2).reshape(h.shape) @ p[name + "w_o"]


def loss_of(tokens, targets):
    x = F.embedding(tokens, p["embedding"]) + places
    for layer in range(layers):
        name = f"layers.{layer}."
        x = x + attention(norm(x, name, "_1"), name)
        hidden = F.relu(norm(x, name, "_2") @ p[name + "w_1"] + p[name + "b_1"][0])
        x = x + hidden @ p[name + "w_2"] + p[name + "b_2"][0]
    logits = norm(x, "", "") @ p["unembedding"] + p["unembedding_bias"][0]
    return F.cross_entropy(logits.flatten(0, 1), targets, ignore_index=-1)


# Adam has two loops, over the tensors or over lists of them: whichever is faster where this runs is the contender.
def stepper(foreach):
    return torch.optim.Adam(list(p.values()), lr=given["rate"], foreach=foreach)


def run(steps, optimizer, first):
    for step in range(first, first + steps):
        loss = loss_of(*batches[step % len(batches)])
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
    return loss.item()


optimizers = {}
before = {name: tensor.detach().clone() for name, tensor in p.items()}
for foreach in (False, True):
    optimizers[foreach] = stepper(foreach)
    run(10, optimizers[foreach], 0)
    began = time.process_time()
    run(30, optimizers[foreach], 10)
    optimizers[foreach] = time.process_time() - began
best = stepper(min(optimizers, key=optimizers.get))
with torch.no_grad():
    for name, tensor in p.items():
        tensor.copy_(before[name])
done = 0
for line in sys.stdin:
    steps = int(line.split()[1])
    wall, cpu = time.perf_counter(), time.process_time()
    loss = run(steps, best, done)
    done += steps
    print(time.perf_counter() - wall, time.process_time() - cpu, loss, flush=True)
