"""Character-level Shakespeare: ours against nanoGPT's documented recipe for CPUs.

    python bench/language_model.py ../shared/data/tinyshakespeare/input.txt.gz
    python bench/language_model.py ../shared/data/tinyshakespeare/input.txt.gz --budgets 150s 30min

First nanoGPT's recipe, re-implemented here in plain torch (4 layers, 4 heads, width 128, context 64,
batches of 12, 2,000 steps): its training time and its loss on the whole validation text. Then ours,
recipe ``shakespeare`` scaled down for a short run, with more and more steps, each time from scratch and
with the whole schedule, until it reaches that loss: the time of that one training and the ratio. Both
train on the first 90% of the characters and are evaluated on the rest in windows that overlap by half,
every character counted once. Loading, evaluation and saving are not timed.
``--budgets`` trains ours for these times instead and prints the loss.
"""

import argparse
import gzip
import json
import math
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional

import regard
from regard.data.windows import slide_windows
from regard.recipe.load import load
from regard.training.allocator import configure_malloc

LAYERS, HEADS, WIDTH, CONTEXT, ROWS, STEPS = 4, 4, 128, 64, 12, 2000
RATE, LEAST_RATE, WARMUP, BETAS, DECAY, CLIP = 1e-3, 1e-4, 100, (0.9, 0.99), 0.1, 1.0
LADDER = (14, 20, 28, 34, 40, 46, 52, 60, 70, 80, 112, 160, 224, 320, 450, 640)  # steps of ours
SPRINT = [
    "text.max_length=64",
    "model.width=64",
    "model.feed_forward=256",
    "model.mixer={kind='attention', heads=2, normed=true}",
    "model.embedding.ngram_dropout=0.0",
    "training.optimizer.rate=1e-2",
]
"""Settings for a few dozen steps: a narrower model, a shorter window, a higher learning rate."""


class PeerBlock(nn.Module):
    """Pre-norm attention and GELU feed-forward, no biases, as nanoGPT documents it."""

    def __init__(self):
        super().__init__()
        self.norm_1, self.norm_2 = nn.LayerNorm(WIDTH, bias=False), nn.LayerNorm(WIDTH, bias=False)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.out = nn.Linear(WIDTH, WIDTH, bias=False)
        self.inner = nn.Linear(WIDTH, 4 * WIDTH, bias=False)
        self.outer = nn.Linear(4 * WIDTH, WIDTH, bias=False)

    def forward(self, states):
        rows, length, _ = states.shape
        three = self.qkv(self.norm_1(states)).split(WIDTH, dim=2)
        q, k, v = (part.view(rows, length, HEADS, -1).transpose(1, 2) for part in three)
        mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        states = states + self.out(mixed.transpose(1, 2).reshape(rows, length, WIDTH))
        return states + self.outer(functional.gelu(self.inner(self.norm_2(states))))


class Peer(nn.Module):
    """nanoGPT's model: learned positions, tied head."""

    def __init__(self, tokens):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(tokens, WIDTH), nn.Embedding(CONTEXT, WIDTH)
        self.blocks = nn.ModuleList(PeerBlock() for _ in range(LAYERS))
        self.norm = nn.LayerNorm(WIDTH, bias=False)
        for name, matrix in self.named_parameters():
            if matrix.ndim > 1:
                last = name.endswith(("out.weight", "outer.weight"))
                nn.init.normal_(matrix, std=0.02 / math.sqrt(2 * LAYERS) if last else 0.02)

    def forward(self, ids):
        states = self.tokens(ids) + self.positions.weight[: ids.shape[1]]
        for block in self.blocks:
            states = block(states)
        return self.norm(states) @ self.tokens.weight.T


def peer_rate(step):
    if step < WARMUP:
        return RATE * (step + 1) / (WARMUP + 1)
    done = (step - WARMUP) / (STEPS - WARMUP)
    return LEAST_RATE + 0.5 * (1 + math.cos(math.pi * done)) * (RATE - LEAST_RATE)


def peer_optimizer(model):
    matrices = [p for p in model.parameters() if p.ndim > 1]
    vectors = [p for p in model.parameters() if p.ndim < 2]
    groups = [
        {"params": matrices, "weight_decay": DECAY},
        {"params": vectors, "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=RATE, betas=BETAS)


def peer_steps(model, optimizer, text, steps):
    """Train for some steps; return the seconds."""
    rng = np.random.default_rng(0)
    model.train()
    begin = time.perf_counter()
    for step in steps:
        begins = rng.integers(len(text) - CONTEXT, size=ROWS)
        rows = torch.stack([text[b : b + CONTEXT + 1] for b in begins.tolist()])
        for group in optimizer.param_groups:
            group["lr"] = peer_rate(step)
        loss = functional.cross_entropy(model(rows[:, :-1]).flatten(0, 1), rows[:, 1:].flatten())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        optimizer.step()
    return time.perf_counter() - begin


@torch.inference_mode()
def peer_loss(model, text):
    """Compute nats per character, without the first one, which has no context."""
    model.eval()
    total, length = 0.0, len(text) - 1
    for begin, counted in slide_windows(length, context=CONTEXT, stride=CONTEXT // 2):
        logits = model(text[begin : begin + CONTEXT][None])[0]
        targets = text[begin + 1 : begin + CONTEXT + 1]
        lost = functional.cross_entropy(logits[counted:], targets[counted:], reduction="sum")
        total += float(lost)
    return total / length


def train_peer(file):
    raw = file.read_bytes()
    text = (gzip.decompress(raw) if file.suffix == ".gz" else raw).decode()
    characters = sorted(set(text))
    ids = torch.tensor([characters.index(character) for character in text])
    cut = int(len(ids) * 0.9)
    torch.manual_seed(1337)
    model = Peer(len(characters))
    optimizer = peer_optimizer(model)
    peer_steps(model, optimizer, ids[:cut], range(0))
    seconds = peer_steps(model, optimizer, ids[:cut], range(STEPS))
    return model, seconds, peer_loss(model, ids[cut:])


def train_ours(file, recipe, budget, sets, folder):
    """Train ours; return the summary of its run."""
    chosen = [f"data.train={json.dumps([str(file)])}", f"training.budget={budget}", *sets]
    return regard.train(load(recipe, chosen), folder).summary


def describe(summary):
    scores = summary["metrics"]
    return (
        f"{summary['steps']:6} steps  {summary['seconds']:8.2f} s  loss {scores['loss']:.4f}  "
        f"{scores['bits_per_byte']:.3f} bits per byte  {summary['parameters']:,} parameters  "
        f"(n-grams alone {scores['baseline']['loss']:.4f})"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--recipe", default="shakespeare")
    parser.add_argument("--budgets", nargs="+", default=[])
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--set", action="append", default=[], dest="sets")
    chosen = parser.parse_args()
    file, sets = chosen.data.absolute(), [*chosen.sets, f"training.threads={chosen.threads}"]
    if chosen.threads:
        torch.set_num_threads(chosen.threads)
    configure_malloc()
    with tempfile.TemporaryDirectory() as folder:
        for budget in chosen.budgets:
            summary = train_ours(file, chosen.recipe, budget, sets, Path(folder) / budget)
            print(f"{chosen.recipe}, {budget}: {describe(summary)}", flush=True)
        if not chosen.budgets:
            race(file, chosen.recipe, sets, Path(folder))


def race(file, recipe, sets, folder):
    _, seconds, loss = train_peer(file)
    print(f"nanoGPT's recipe: {STEPS} steps  {seconds:8.2f} s  loss {loss:.4f}", flush=True)
    for steps in LADDER:
        budget = ["training.evaluations=1", "training.checkpoints=1", *SPRINT, *sets]
        summary = train_ours(file, recipe, f"{steps} steps", budget, folder / str(steps))
        print(f"ours: {describe(summary)}", flush=True)
        if summary["metrics"]["loss"] <= loss:
            ratio = seconds / summary["seconds"]
            print(f"ours reaches nanoGPT's loss in 1/{ratio:.1f} of its time")
            break


if __name__ == "__main__":
    main()
