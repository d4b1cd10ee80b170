# Writes small files of torch.save, and their tensors as text, into the folder torch/ next to this program. Run it with
# Debian's python3-torch (1.13).

import collections
import json
import os

import torch

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "torch")
DTYPES = {
    torch.float64: "F64",
    torch.float32: "F32",
    torch.float16: "F16",
    torch.bfloat16: "BF16",
    torch.int64: "I64",
    torch.int32: "I32",
    torch.int16: "I16",
    torch.int8: "I8",
    torch.uint8: "U8",
    torch.bool: "BOOL",
}


def numbers(tensor):
    values = tensor.detach().flatten()
    if values.dtype == torch.bool:
        return [int(x) for x in values]
    return [str(int(x)) for x in values] if values.dtype == torch.int64 else values.double().tolist()


def flatten(value, name=""):
    if isinstance(value, torch.Tensor):
        return {name: {"dtype": DTYPES[value.dtype], "shape": list(value.shape), "data": numbers(value)}}
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, (list, tuple)) else []
    found = {}
    for key, inner in pairs:
        found.update(flatten(inner, f"{name}.{key}" if name else str(key)))
    return found


def make():
    torch.manual_seed(5)
    square = torch.randn(6, 5)
    types = {str(dtype)[6:]: (torch.randn(2, 3) * 9).to(dtype) for dtype in DTYPES}
    module = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.LayerNorm(2))
    optimizer = torch.optim.AdamW(module.parameters())
    module(torch.randn(4, 3)).sum().backward()
    optimizer.step()
    shared = torch.randn(4, 3)
    return {
        "types": types,
        "bfloat16": {"w": torch.randn(3, 4).bfloat16()},
        "strided": {
            "transposed": square.t(),
            "columns": square[:, 1:4],
            "steps": square[1::2, ::2],
            "rows": square[2:4],
            "permuted": torch.arange(24.0).reshape(2, 3, 4).permute(2, 0, 1),
            "wide": torch.arange(12).reshape(3, 4).t(),
            "expanded": torch.tensor([[1.0], [2.0]]).expand(2, 3),
            "scalar": torch.tensor(7.5),
            "none": torch.zeros(0, 4),
            "one": square[3:4, 2:3],
        },
        "shared": {"wte": shared, "lm_head": shared, "first": shared[:2], "last": shared.flatten()[-3:]},
        "training": {
            "model": module.state_dict(),
            "optimizer": optimizer.state_dict(),
            "model_args": {"n_layer": 2, "bias": False, "dropout": 0.0, "name": None, "big": 2**70, "less": -(2**40)},
            "iter_num": 100000,
            "best_val_loss": torch.tensor(2.5),
            "config": {"betas": (0.9, 0.95), "list": [1, [2, "x"]], "device": torch.device("cpu"), "dtype": torch.float16},
            "parameters": [torch.nn.Parameter(torch.ones(2))],
        },
        "tensor": torch.arange(3.0),
    }


os.makedirs(HERE, exist_ok=True)
expected = {}
for name, value in make().items():
    expected[name] = flatten(value)
    torch.save(value, os.path.join(HERE, f"{name}.pt"))
    torch.save(value, os.path.join(HERE, f"{name}.legacy.pt"), _use_new_zipfile_serialization=False)
torch.save(make()["training"], os.path.join(HERE, "protocol4.pt"), pickle_protocol=4)
expected["protocol4"] = expected["training"]
module = torch.jit.script(torch.nn.Linear(2, 2))
module.save(os.path.join(HERE, "script.pt"))
with open(os.path.join(HERE, "expected.json"), "w") as file:
    json.dump(expected, file)


class Block(torch.nn.Module):
    """A block of nanoGPT."""

    def __init__(self, width, heads, bias):
        super().__init__()
        self.heads = heads
        self.ln_1 = Norm(width, bias)
        self.attn = torch.nn.ModuleDict(
            {"c_attn": torch.nn.Linear(width, 3 * width, bias=bias), "c_proj": torch.nn.Linear(width, width, bias=bias)}
        )
        self.ln_2 = Norm(width, bias)
        self.mlp = torch.nn.ModuleDict(
            {"c_fc": torch.nn.Linear(width, 4 * width, bias=bias), "c_proj": torch.nn.Linear(4 * width, width, bias=bias)}
        )

    def forward(self, x):
        length, width = x.shape
        parts = self.attn["c_attn"](self.ln_1(x)).split(width, dim=1)
        q, k, v = (part.view(length, self.heads, -1).transpose(0, 1) for part in parts)
        scores = q @ k.transpose(1, 2) / (width / self.heads) ** 0.5
        scores = scores.masked_fill(torch.ones(length, length).triu(1) == 1, float("-inf"))
        x = x + self.attn["c_proj"]((scores.softmax(-1) @ v).transpose(0, 1).reshape(length, width))
        return x + self.mlp["c_proj"](torch.nn.functional.gelu(self.mlp["c_fc"](self.ln_2(x))))


class Norm(torch.nn.Module):
    def __init__(self, width, bias):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(width))
        self.bias = torch.nn.Parameter(torch.randn(width)) if bias else None

    def forward(self, x):
        return torch.nn.functional.layer_norm(x, self.weight.shape, self.weight, self.bias, 1e-5)


class Gpt(torch.nn.Module):
    def __init__(self, args):
        super().__init__()
        width, vocab = args["n_embd"], args["vocab_size"]
        self.transformer = torch.nn.ModuleDict(
            {
                "wte": torch.nn.Embedding(vocab, width),
                "wpe": torch.nn.Embedding(args["block_size"], width),
                "h": torch.nn.ModuleList([Block(width, args["n_head"], args["bias"]) for _ in range(args["n_layer"])]),
                "ln_f": Norm(width, args["bias"]),
            }
        )
        self.lm_head = torch.nn.Linear(width, vocab, bias=False)
        self.transformer["wte"].weight = self.lm_head.weight

    def forward(self, ids):
        x = self.transformer["wte"](ids) + self.transformer["wpe"](torch.arange(len(ids)))
        for block in self.transformer["h"]:
            x = block(x)
        return self.lm_head(self.transformer["ln_f"](x))


def save_nanogpt(name, bias, prefix):
    torch.manual_seed(9)
    args = dict(n_layer=2, n_head=2, n_embd=16, block_size=12, bias=bias, vocab_size=23, dropout=0.0)
    model = Gpt(args)
    optimizer = torch.optim.AdamW(model.parameters())
    model(torch.tensor([1, 2])).sum().backward()
    optimizer.step()
    ids = torch.tensor([3, 1, 4, 1, 5, 9])
    checkpoint = {
        "model": {prefix + key: value for key, value in model.state_dict().items()},
        "optimizer": optimizer.state_dict(),
        "model_args": args,
        "iter_num": 5,
        "best_val_loss": torch.tensor(2.5),
        "config": {"out_dir": "out", "learning_rate": 6e-4},
    }
    torch.save(checkpoint, os.path.join(HERE, f"{name}.pt"))
    return {"ids": ids.tolist(), "shape": [6, 23], "logits": model.double()(ids).flatten().tolist()}


with open(os.path.join(HERE, "nanogpt.json"), "w") as file:
    cases = [("nanogpt", True, ""), ("nanogpt-compiled", False, "_orig_mod.")]
    json.dump({name: save_nanogpt(name, bias, prefix) for name, bias, prefix in cases}, file)
