#!/usr/bin/env python3
"""Continues training the model of this folder, in plain PyTorch (1.13 or newer), on one machine or on many:

    python3 train.py --tokens tokens.safetensors --steps 1000 --out trained
    torchrun --nproc_per_node 8 train.py --tokens tokens.safetensors --steps 1000 --out trained
    torchrun --nnodes 4 --nproc_per_node 8 --rdzv_backend c10d --rdzv_endpoint HOST:29400 train.py ...

The folder is in the layout of Hugging Face: config.json and model.safetensors of GPT-2, Llama, Mistral, Qwen2 or Qwen3.
With an optimizer.safetensors the optimizer continues with its state; otherwise AdamW begins.

The file of tokens has a tensor `tokens` of integers, (rows, length), or (count) for one long text, which is cut into
rows. It may have `targets`, (rows, length): the token that each position must predict, -100 to ignore it. Without them
the target is the next token. Rows are used in their order, repeatedly, or shuffled.
"""

import argparse
import ctypes
import json
import math
import os
import shutil
import struct
from pathlib import Path

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

IGNORE = -100
DTYPES = {
    "F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16,
    "I64": torch.int64, "I32": torch.int32, "I16": torch.int16, "I8": torch.int8, "U8": torch.uint8,
}  # fmt: skip
ACTIVATIONS = {
    "gelu": F.gelu,
    "gelu_new": lambda x: F.gelu(x, approximate="tanh"),
    "quick_gelu": lambda x: x * torch.sigmoid(1.702 * x),
    "relu": F.relu,
    "silu": F.silu,
}
ALIASES = {"gelu_python": "gelu", "gelu_fast": "gelu_new", "gelu_pytorch_tanh": "gelu_new", "swish": "silu"}


# ---- files -----------------------------------------------------------------------------------------------------


def read_safetensors(path):
    with open(path, "rb") as file:
        (size,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(size))
        data = file.read()
    metadata = header.pop("__metadata__", {})
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        dtype = DTYPES[entry["dtype"]]
        flat = torch.frombuffer(bytearray(data[begin:end]), dtype=dtype) if end > begin else torch.empty(0, dtype=dtype)
        tensors[name] = flat.reshape(entry["shape"])
    return tensors, metadata


def write_safetensors(path, tensors, metadata):
    header, blocks, at = {"__metadata__": metadata}, [], 0
    for name, tensor in tensors.items():
        values = tensor.detach().float().cpu().contiguous()
        block = ctypes.string_at(values.data_ptr(), 4 * values.numel())
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [at, at + len(block)]}
        blocks.append(block)
        at += len(block)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.writelines(blocks)


# ---- the model -------------------------------------------------------------------------------------------------


def activation(name):
    return ACTIVATIONS[ALIASES.get(name, name)]


class Decoder(nn.Module):
    """Holds the parameters under their names in the file."""

    def __init__(self, config, tensors, dropout):
        super().__init__()
        self.config, self.dropout = config, dropout
        self.names = list(tensors)
        for name, tensor in tensors.items():
            self.register_parameter(self.key(name), nn.Parameter(tensor.float()))
        base = "wte.weight" if config["model_type"] == "gpt2" else "embed_tokens.weight"
        self.prefix = next(name for name in tensors if name.endswith(base))[: -len(base)]

    @staticmethod
    def key(name):
        return name.replace(".", "/")

    def get(self, name):
        return getattr(self, self.key(self.prefix + name), None)

    def head(self, embedding):
        return embedding if self.config.get("tie_word_embeddings", self.tied) else getattr(self, "lm_head/weight")

    def linear(self, x, name):
        return F.linear(x, self.get(f"{name}.weight"), self.get(f"{name}.bias"))

    def attend(self, q, k, v, scale, window=None):
        """q (B,T,H,D), k and v (B,T,G,D): H / G query heads share a key head. Returns (B,T,H·D)."""
        B, T, H, D = q.shape
        k, v = (x.repeat_interleave(H // x.shape[2], dim=2) for x in (k, v))
        distance = torch.arange(T, device=q.device)[:, None] - torch.arange(T, device=q.device)
        hidden = (distance < 0) | (distance >= (window or T))
        scores = torch.einsum("bthd,bshd->bhts", q, k) * scale
        weights = F.dropout(scores.masked_fill(hidden, -math.inf).softmax(-1), self.dropout, self.training)
        return torch.einsum("bhts,bshd->bthd", weights, v).reshape(B, T, H * D)


class GPT2(Decoder):
    tied = True

    def norm(self, x, name):
        weight, bias = self.get(f"{name}.weight"), self.get(f"{name}.bias")
        return F.layer_norm(x, weight.shape, weight, bias, self.config.get("layer_norm_epsilon", 1e-5))

    def product(self, x, name):
        """GPT-2 stores its weights as (in, out)."""
        return x @ self.get(f"{name}.weight") + self.get(f"{name}.bias")

    def forward(self, ids):
        c = self.config
        B, T = ids.shape
        heads, width = c["n_head"], c["n_embd"] // c["n_head"]
        scale = width**-0.5 if c.get("scale_attn_weights", True) else 1.0
        act = activation(c.get("activation_function", "gelu_new"))
        x = self.get("wte.weight")[ids] + self.get("wpe.weight")[:T]
        for i in range(c["n_layer"]):
            q, k, v = self.product(self.norm(x, f"h.{i}.ln_1"), f"h.{i}.attn.c_attn").chunk(3, -1)
            q, k, v = (y.reshape(B, T, heads, width) for y in (q, k, v))
            own = scale / (i + 1) if c.get("scale_attn_by_inverse_layer_idx") else scale
            x = x + self.product(self.attend(q, k, v, own), f"h.{i}.attn.c_proj")
            if self.get(f"h.{i}.mlp.c_fc.weight") is not None:
                inside = act(self.product(self.norm(x, f"h.{i}.ln_2"), f"h.{i}.mlp.c_fc"))
                x = x + self.product(inside, f"h.{i}.mlp.c_proj")
        return F.linear(self.norm(x, "ln_f"), self.head(self.get("wte.weight")))


class Llama(Decoder):
    """Llama, Mistral, Qwen2 and Qwen3: tensors and config show which parts a model has."""

    tied = False

    def norm(self, x, name):
        square = x.square().mean(-1, keepdim=True)
        return x * torch.rsqrt(square + self.config.get("rms_norm_eps", 1e-6)) * self.get(f"{name}.weight")

    def window(self, layer):
        c = self.config
        width = c.get("sliding_window", 4096)
        if c["model_type"] == "mistral":
            return width
        if not (c["model_type"].startswith("qwen") and c.get("use_sliding_window") and width):
            return None
        types = c.get("layer_types")
        local = types[layer] == "sliding_attention" if types else layer >= c.get("max_window_layers", 28)
        return width if local else None

    def forward(self, ids):
        c = self.config
        B, T = ids.shape
        heads = c["num_attention_heads"]
        width = self.get("layers.0.self_attn.q_proj.weight").shape[0] // heads
        angles = rotary(c, width, T, ids.device)
        act = activation(c.get("hidden_act", "silu"))
        x = self.get("embed_tokens.weight")[ids]
        for i in range(c["num_hidden_layers"]):
            at, inside = f"layers.{i}.self_attn", self.norm(x, f"layers.{i}.input_layernorm")
            q, k, v = (self.linear(inside, f"{at}.{name}_proj").reshape(B, T, -1, width) for name in "qkv")
            if self.get(f"{at}.q_norm.weight") is not None:
                q, k = self.norm(q, f"{at}.q_norm"), self.norm(k, f"{at}.k_norm")
            q, k = (rotate(y, *angles) for y in (q, k))
            x = x + self.linear(self.attend(q, k, v, width**-0.5, self.window(i)), f"{at}.o_proj")
            at, inside = f"layers.{i}.mlp", self.norm(x, f"layers.{i}.post_attention_layernorm")
            gated = act(self.linear(inside, f"{at}.gate_proj")) * self.linear(inside, f"{at}.up_proj")
            x = x + self.linear(gated, f"{at}.down_proj")
        return F.linear(self.norm(x, "norm"), self.head(self.get("embed_tokens.weight")))


def rotate(x, cos, sin):
    """Rotates element n of a head with element n + D/2. x (B,T,H,D)."""
    a, b = x.chunk(2, -1)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), -1)


def rotary(config, width, length, device):
    """Cosines and sines, (T,1,D/2), computed in float64."""
    scaling = config.get("rope_scaling") or config.get("rope_parameters") or {}
    theta = scaling.get("rope_theta") or config.get("rope_theta") or 10000.0
    kind = scaling.get("rope_type", scaling.get("type", "default"))
    context = scaling.get("original_max_position_embeddings") or config.get("max_position_embeddings")
    pair = torch.arange(width // 2, dtype=torch.float64)
    angles, amount = theta ** (-2 * pair / width), 1.0
    if kind == "linear":
        angles = angles / scaling["factor"]
    elif kind == "llama3":
        low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
        stays = ((context * angles / (2 * math.pi) - low) / (high - low)).clamp(0, 1)
        angles = (1 - stays) * angles / scaling["factor"] + stays * angles
    elif kind == "yarn":
        factor = scaling["factor"]

        def magnitude(scale):
            return 0.1 * scale * math.log(factor) + 1 if factor > 1 else 1.0

        given, scale, of_all = (scaling.get(name) for name in ("attention_factor", "mscale", "mscale_all_dim"))
        amount = given if given is not None else magnitude(scale) / magnitude(of_all) if scale and of_all else magnitude(1)
        ends = [
            width * math.log(context / (turns * 2 * math.pi)) / (2 * math.log(theta))
            for turns in (scaling.get("beta_fast") or 32, scaling.get("beta_slow") or 1)
        ]
        if scaling.get("truncate") is not False:
            ends = [math.floor(ends[0]), math.ceil(ends[1])]
        first, last = max(ends[0], 0), min(ends[1], width - 1)
        slow = ((pair - first) / (last - first if last != first else 0.001)).clamp(0, 1)
        angles = slow * angles / factor + (1 - slow) * angles
    elif kind not in ("default", "dynamic"):
        raise SystemExit(f"rope_scaling {kind!r} is not known here")
    phases = torch.arange(length, dtype=torch.float64)[:, None, None] * angles
    return tuple((amount * part).float().to(device) for part in (phases.cos(), phases.sin()))


# ---- the optimizer ---------------------------------------------------------------------------------------------

#: The names of the optimizer's state in torch.
STATE = {
    "adamW": {"mean": "exp_avg", "square": "exp_avg_sq"},
    "adam": {"mean": "exp_avg", "square": "exp_avg_sq"},
    "sgd": {"velocity": "momentum_buffer"},
}
FRESH = {"optimizer": "adamW", "lr": 1e-3, "betas": [0.9, 0.999], "eps": 1e-8, "weightDecay": 0.01, "steps": 0}


def make_optimizer(model, settings, state):
    """Restores the optimizer; `state` has its tensors by the names of the parameters."""
    kind, lr, decay = settings["optimizer"], settings["lr"], settings["weightDecay"]
    if kind == "sgd":
        options = {"momentum": settings["momentum"], "nesterov": settings["nesterov"]}
        optimizer = torch.optim.SGD(model.parameters(), lr=lr, weight_decay=decay, **options)
    else:
        of = {"adamW": torch.optim.AdamW, "adam": torch.optim.Adam}[kind]
        options = {"betas": tuple(settings["betas"]), "eps": settings["eps"]}
        optimizer = of(model.parameters(), lr=lr, weight_decay=decay, **options)
    if settings["steps"] > 0 and state:
        for name in model.names:
            parameter = getattr(model, model.key(name))
            own = {there: state[f"{name}.{here}"].to(parameter.device) for here, there in STATE[kind].items()}
            steps = {} if kind == "sgd" else {"step": torch.tensor(float(settings["steps"]))}
            optimizer.state[parameter] = {**steps, **own}
    return optimizer


def state_of(model, optimizer, kind):
    return {
        f"{name}.{here}": state[there]
        for name in model.names
        for state in [optimizer.state.get(getattr(model, model.key(name)), {})]
        for here, there in STATE[kind].items()
        if state.get(there) is not None
    }


# ---- training --------------------------------------------------------------------------------------------------


def read_rows(path, length):
    tensors, _ = read_safetensors(path)
    if "tokens" not in tensors:
        raise SystemExit(f"{path} has no tensor called tokens, but {', '.join(tensors) or 'none'}")
    tokens, targets = tensors["tokens"].long(), tensors.get("targets")
    if tokens.dim() == 1:
        count = (len(tokens) - 1) // length
        if count < 1:
            raise SystemExit(f"{path}: {len(tokens)} tokens are not one row of {length}")
        rows = [tokens[at : at + count * length].reshape(count, length) for at in (0, 1)]
        return rows[0], rows[1]
    return (tokens[:, :-1], tokens[:, 1:]) if targets is None else (tokens, targets.long())


def batches(count, size, seed):
    """Yields batches of row indices without end. Every process yields the same batches."""
    random = torch.Generator().manual_seed(seed or 0)
    waiting = []
    while True:
        while len(waiting) < size:
            waiting += (torch.randperm(count, generator=random) if seed is not None else torch.arange(count)).tolist()
        yield torch.tensor(waiting[:size])
        waiting = waiting[size:]


def save(folder, here, model, optimizer, settings):
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {name: getattr(model, model.key(name)) for name in model.names}
    write_safetensors(folder / "model.safetensors", tensors, {"format": "pt"})
    state = state_of(model, optimizer, settings["optimizer"])
    write_safetensors(folder / "optimizer.safetensors", state, {"headlight": json.dumps(settings)})
    for name in ("config.json", "tokenizer.json", "train.py"):
        if (here / name).exists() and folder.resolve() != here.resolve():
            shutil.copyfile(here / name, folder / name)


def main():
    here = Path(__file__).parent
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--tokens", required=True, help="a .safetensors file")
    options.add_argument("--steps", type=int, required=True)
    options.add_argument("--batch", type=int, default=8, help="rows of a step in all processes")
    options.add_argument("--length", type=int, help="length of the rows of one long text; default: the model's context")
    options.add_argument("--shuffle", type=int, metavar="SEED", help="uses the rows in a random order")
    options.add_argument("--lr", type=float, help="default: the optimizer's previous rate")
    options.add_argument("--clip", type=float, help="the largest norm of all gradients together")
    options.add_argument("--dropout", type=float, help="of attention weights; default: its previous value")
    options.add_argument("--save", type=int, metavar="STEPS", help="writes the folder every so many steps")
    options.add_argument("--out", type=Path, help="the folder to write")
    args = options.parse_args()

    if "WORLD_SIZE" in os.environ:
        dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
    rank, world = (dist.get_rank(), dist.get_world_size()) if dist.is_initialized() else (0, 1)
    if args.batch % world:
        raise SystemExit(f"--batch {args.batch} is not a multiple of the {world} processes")
    device = torch.device(f"cuda:{os.environ.get('LOCAL_RANK', 0)}" if torch.cuda.is_available() else "cpu")

    config = json.loads((here / "config.json").read_text())
    state, settings = {}, dict(FRESH)
    if (here / "optimizer.safetensors").exists():
        state, metadata = read_safetensors(here / "optimizer.safetensors")
        settings = json.loads(metadata["headlight"])
    settings.setdefault("dropout", config.get("attn_pdrop", config.get("attention_dropout")) or 0.0)
    for name in ("lr", "dropout"):
        if getattr(args, name) is not None:
            settings[name] = getattr(args, name)
    family = GPT2 if config["model_type"] == "gpt2" else Llama
    model = family(config, read_safetensors(here / "model.safetensors")[0], settings["dropout"]).to(device)
    optimizer = make_optimizer(model, settings, state)
    shared = nn.parallel.DistributedDataParallel(model) if dist.is_initialized() else model

    context = config.get("n_positions") or config.get("n_ctx") or config["max_position_embeddings"]
    tokens, targets = read_rows(args.tokens, args.length or context)
    rows = batches(len(tokens), args.batch, args.shuffle)
    share = args.batch // world
    for _ in range(args.steps):
        chosen = next(rows)
        wanted = targets[chosen]
        counted = max(int((wanted != IGNORE).sum()), 1)
        mine = slice(rank * share, (rank + 1) * share)
        logits = shared(tokens[chosen[mine]].to(device))
        loss = F.cross_entropy(logits.flatten(0, 1), wanted[mine].flatten().to(device), reduction="sum") / counted
        optimizer.zero_grad()
        # DistributedDataParallel averages gradients, so multiplying by the number of processes gives their sum.
        (loss * world).backward()
        if args.clip is not None:
            nn.utils.clip_grad_norm_(model.parameters(), args.clip)
        optimizer.step()
        settings["steps"] += 1
        whole = loss.detach()
        if dist.is_initialized():
            dist.all_reduce(whole)
        if rank == 0:
            print(f"step {settings['steps']} loss {whole.item():.9g}", flush=True)
            if args.out and args.save and settings["steps"] % args.save == 0:
                save(args.out, here, model, optimizer, settings)
    if rank == 0 and args.out:
        save(args.out, here, model, optimizer, settings)
    if dist.is_initialized():
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
