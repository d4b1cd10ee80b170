"""Writes transformer-training.{json,bin}: 200 steps of AdamW on a Llama and a GPT-2, tiny, written in plain PyTorch.

    python3 tests/golden/make_training.py

Losses of every step are stored in float64 and float32, the parameters of the end in float64. Parameters have the names
of hl.transformer.
"""
import json
import math
from pathlib import Path

import torch
import torch.nn.functional as F

BATCH, LENGTH, BATCHES, STEPS = 4, 12, 8, 200
VOCAB, C, LAYERS = 23, 16, 2
ADAMW = dict(lr=3e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01)
SHAPE = dict(layers=LAYERS, dModel=C, numHeads=4, vocab=VOCAB, context=16)
LLAMA = dict(SHAPE, kvHeads=2, mlp=24, positions="rotary", norm="rms", normEps=1e-6, activation="silu", gated=True,
             bias=False)
GPT2 = dict(SHAPE, mlp=32, positions="learned", norm="layer", normEps=1e-5, activation="gelu-tanh", tied=True)


def shapes(o):
    heads, width = o["numHeads"], C // o["numHeads"]
    groups = o.get("kvHeads", heads) * width
    biased = o.get("bias", True)
    out = {"embedding.table": (VOCAB, C)}
    if o["positions"] == "learned":
        out["embedding.position"] = (o["context"], C)
    norms = ["weight", "bias"] if o["norm"] == "layer" else ["weight"]
    for i in range(LAYERS):
        at = f"blocks.{i}"
        out.update({f"{at}.norm{n}.{part}": (C,) for n in (1, 2) for part in norms})
        for name, rows in (("q", C), ("k", groups), ("v", groups), ("o", C)):
            out[f"{at}.attention.w{name}"] = (rows, C)
            if biased:
                out[f"{at}.attention.b{name}"] = (rows,)
        for name, size in (("gate", (o["mlp"], C)), ("up", (o["mlp"], C)), ("down", (C, o["mlp"]))):
            if name != "gate" or o.get("gated"):
                out[f"{at}.{name}.weight"] = size
                if biased:
                    out[f"{at}.{name}.bias"] = (size[0],)
    out.update({f"norm.{part}": (C,) for part in norms})
    if not o.get("tied"):
        out["head.weight"] = (VOCAB, C)
    return out


def normed(o, p, name, x):
    weight = p[f"{name}.weight"]
    if o["norm"] == "layer":
        return F.layer_norm(x, (C,), weight, p[f"{name}.bias"], o["normEps"])
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + o["normEps"]) * weight


def rotated(x):
    rows, width = x.shape[-2:]
    angles = torch.outer(torch.arange(rows), 10000.0 ** (-torch.arange(0, width, 2, dtype=torch.float64) / width))
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    a, b = x.chunk(2, -1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)


def attended(o, p, at, x):
    width = C // o["numHeads"]

    def of(name):
        y = F.linear(x, p[f"{at}.w{name}"], p.get(f"{at}.b{name}"))
        return y.view(*x.shape[:2], -1, width).transpose(1, 2)

    q, k, v = of("q"), of("k"), of("v")
    if o["positions"] == "rotary":
        q, k = rotated(q), rotated(k)
    k, v = (y.repeat_interleave(o["numHeads"] // k.shape[1], 1) for y in (k, v))
    hidden = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
    weights = (q @ k.transpose(-1, -2) / math.sqrt(width)).masked_fill(hidden, -math.inf).softmax(-1)
    heads = (weights @ v).transpose(1, 2).reshape(x.shape)
    return F.linear(heads, p[f"{at}.wo"], p.get(f"{at}.bo"))


def logits_of(o, p, ids):
    x = p["embedding.table"][ids]
    if o["positions"] == "learned":
        x = x + p["embedding.position"][: ids.shape[1]]
    for i in range(LAYERS):
        at = f"blocks.{i}"
        linear = lambda name, y: F.linear(y, p[f"{at}.{name}.weight"], p.get(f"{at}.{name}.bias"))
        x = x + attended(o, p, f"{at}.attention", normed(o, p, f"{at}.norm1", x))
        y = normed(o, p, f"{at}.norm2", x)
        inside = F.silu(linear("gate", y)) * linear("up", y) if o.get("gated") else F.gelu(linear("up", y), approximate="tanh")
        x = x + linear("down", inside)
    return F.linear(normed(o, p, "norm", x), p.get("head.weight", p["embedding.table"]))


def start(o):
    parameters = {}
    for name, shape in shapes(o).items():
        around = 1.0 if "norm" in name and name.endswith("weight") else 0.0
        spread = 1 / math.sqrt(C) if len(shape) > 1 else 0.1
        parameters[name] = around + spread * torch.randn(shape)
    return parameters


def train(o, first, ids, targets, dtype):
    p = {name: x.to(dtype).clone().requires_grad_() for name, x in first.items()}
    optimizer = torch.optim.AdamW(p.values(), **ADAMW)
    losses = []
    for step in range(STEPS):
        n = step % BATCHES
        optimizer.zero_grad()
        loss = F.cross_entropy(logits_of(o, p, ids[n]).flatten(0, 1), targets[n].flatten(), ignore_index=-100)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return torch.tensor(losses, dtype=torch.float64), {name: x.detach() for name, x in p.items()}


def main():
    folder = Path(__file__).parent
    torch.manual_seed(15)
    torch.set_num_threads(1)
    cases, blob = [], bytearray()

    def stored(tensors):
        entries = []
        for name, x in tensors.items():
            data = x.contiguous().numpy()
            blob.extend(b"\0" * (-len(blob) % 8))
            entries.append(dict(name=name, dtype=str(data.dtype), shape=list(x.shape), offset=len(blob), bytes=data.nbytes))
            blob.extend(data.tobytes())
        return entries

    for name, options in (("llama", LLAMA), ("gpt2", GPT2)):
        first = start(options)
        # Each token is determined by the previous one, except every sixth: the loss decreases, to a limit above 0.
        ids = torch.randint(0, VOCAB, (BATCHES, BATCH, LENGTH + 1))
        for t in range(LENGTH):
            follows = (ids[..., t] * 5 + 3) % VOCAB
            ids[..., t + 1] = torch.where(torch.rand(BATCHES, BATCH) < 5 / 6, follows, ids[..., t + 1])
        targets = ids[..., 1:].clone()
        targets[torch.rand(targets.shape) < 0.1] = -100
        ids = ids[..., :-1].contiguous()
        losses64, end64 = train(options, first, ids, targets, torch.float64)
        losses32, end32 = train(options, first, ids, targets, torch.float32)
        # The gradient of the key's bias is only rounding, which Adam amplifies.
        apart = {part: ((end32[part].double() - x).abs().max() / x.abs().max()).item()
                 for part, x in end64.items() if not part.endswith(".bk")}
        largest = max(apart, key=apart.get)
        print(f"{name}: loss {losses64[0]:.4f} to {losses64[-1]:.4f}; float32 apart in losses by "
              f"{((losses32 - losses64).abs() / losses64).max():.1e}, in parameters by {apart[largest]:.1e} ({largest})")
        cases.append(dict(
            name=name, options=options, adamW=ADAMW,
            inputs=stored({**first, "ids": ids.int(), "targets": targets.int(), "losses32": losses32.float()}),
            outputs64=stored({**end64, "losses": losses64}),
        ))
    manifest = dict(torch=torch.__version__, bin="transformer-training.bin", cases=cases)
    (folder / "transformer-training.json").write_text(json.dumps(manifest) + "\n")
    (folder / "transformer-training.bin").write_bytes(blob)


main()
