"""Encoder or encoder-decoder: both architectures on four tasks, with the same number of parameters.

    python bench/shapes.py                       all eight, minutes
    python bench/shapes.py --tasks classify translate --seeds 1 2 3 --steps 1500 --json shapes.json

Both have the same width and embedding table. Four encoder blocks with a feed-forward of 3·width have
exactly as many parameters as two encoder blocks and one decoder block with 4·width, since a decoder
block has a second attention. Only the output layers differ, and they are counted.

| task | encoder alone | encoder and decoder |
|---|---|---|
| summarise (world:reviews: the sentences that give the rating) | marks sentences: extracts | writes |
| classify (world:reviews: the rating) | pools, one logit per label | writes the label's name |
| retrieve (world:scenes: the English page of a German sentence) | mean of its states | the decoder's first state |
| translate (world:scenes, German to English) | fills one mask per word, in parallel | writes autoregressively |

An encoder alone predicts all words in parallel, independently of each other (non-autoregressive
decoding); a decoder-only model is not compared. Both train on the same batches for the same number of
steps.
"""

import argparse
import itertools
import json
import statistics
import time
from pathlib import Path

import numpy as np
import torch
from runs import format_interval
from torch import nn
from torch.nn import functional

from regard.data.batch import Batch, pad
from regard.data.worlds.reviews import draw_reviews
from regard.data.worlds.scenes import draw_scenes
from regard.decoding.search import greedy_search
from regard.decoding.steps import Limits
from regard.layers.visibility import padding
from regard.models.build.body import body
from regard.models.build.writing import token_head, transformer
from regard.models.parameters import initialise_parameters
from regard.recipe.model import ModelSettings
from regard.recipe.training import AdamWSettings, MuonSettings
from regard.tasks.metrics import translation_metrics
from regard.tasks.writing.pairs import writing_loss
from regard.tasks.writing.rouge import mean_rouge, rouge
from regard.text import special
from regard.text.train import train_tokenizer
from regard.training.optimizer import make_optimizers

WIDTH = 96
SHAPES = {
    "encoder": {"depth": 4, "feed_forward": 3 * WIDTH},
    "encoder-decoder": {"depth": 2, "decoder_depth": 1, "feed_forward": 4 * WIDTH},
}
COMMON = {"width": WIDTH, "dropout": 0.0, "mixer": {"kind": "attention", "heads": 4}}
VOCABULARY, ROWS, WARMUP, SPARE = 1500, 32, 0.05, 8
OPTIMIZER = MuonSettings(kind="muon", rate=0.02, rest=AdamWSettings(rate=3e-3, weight_decay=0.0))
METRICS = {"summarise": "rougel", "classify": "accuracy", "retrieve": "mrr@10", "translate": "bleu"}
TEMPERATURE = 0.05


def examples(task, split, count):
    """Generate pairs of texts; for summaries also the sentences and the rationale."""
    if task in ("translate", "retrieve"):
        return [(one.source, one.target) for one in draw_scenes(split, count=count)]
    found = draw_reviews(split, count=count)
    if task == "classify":
        return [(one.text, one.rating) for one in found]
    return [
        (one.text, " ".join(one.sentences[n] for n in one.rationale_sentences), one)
        for one in found
    ]


def encode(tokenizer, texts):
    return pad([[*ids, special.END] for ids in tokenizer.encode_batch(texts)], filler=special.PAD)


class EncoderDecoder(nn.Module):
    """Answers are decoded autoregressively; vectors are the decoder's first state."""

    def __init__(self, tokenizer, task, labels):
        super().__init__()
        self.tokenizer, self.task = tokenizer, task
        settings = ModelSettings.model_validate({**COMMON, **SHAPES["encoder-decoder"]})
        self.model = transformer(settings, tokenizer.size)

    def loss(self, rows):
        sides = [encode(self.tokenizer, [row[side] for row in rows]) for side in (0, 1)]
        if self.task == "retrieve":
            return contrast(*(self.vectors(side) for side in sides))
        batch = Batch(tuple(sides), np.arange(len(rows)))
        lost = writing_loss(self.model, batch, smoothing=0.0, together=0.0)
        return lost.smoothed / lost.tokens

    def vectors(self, side):
        begin = torch.full((len(side.ids), 1), special.BEGIN)
        one = torch.ones(len(begin), dtype=torch.long)
        return self.model(side.ids, begin, source_lengths=side.lengths, target_lengths=one)[:, 0]

    def answers(self, rows):
        source = encode(self.tokenizer, [row[0] for row in rows])
        steps = self.model.steps(source.ids, source_lengths=source.lengths)
        longest = (source.lengths + SPARE).tolist()
        limits = Limits(special.BEGIN, special.END, longest, tuple(range(special.END)))
        return [
            self.tokenizer.decode(a.ids) for a in greedy_search(steps, len(rows), limits=limits)
        ]


class Encoder(nn.Module):
    """Answers are predicted in parallel."""

    def __init__(self, tokenizer, task, labels):
        super().__init__()
        self.tokenizer, self.task, self.labels = tokenizer, task, labels
        settings = ModelSettings.model_validate({**COMMON, **SHAPES["encoder"]})
        self.body = body(settings, tokenizer.size, bidirectional=True)
        self.head = token_head(settings, self.body.reading, tokenizer.size)
        outputs = {"classify": len(labels), "summarise": 1}.get(task)
        self.answer_head = nn.Linear(WIDTH, outputs) if outputs else None
        initialise_parameters(self, width=WIDTH, zero_init=True)

    def states(self, side):
        return self.body(side.ids, visible=padding(side.lengths, side.ids.shape[1]))

    def vectors(self, side):
        real = (torch.arange(side.ids.shape[1]) < side.lengths[:, None])[..., None]
        return (self.states(side) * real).sum(dim=1) / side.lengths[:, None]

    def loss(self, rows):
        if self.task == "retrieve":
            sides = [encode(self.tokenizer, [row[side] for row in rows]) for side in (0, 1)]
            return contrast(*map(self.vectors, sides))
        if self.task == "classify":
            wanted = torch.tensor([self.labels.index(row[1]) for row in rows])
            return functional.cross_entropy(self._labelled(rows), wanted)
        if self.task == "summarise":
            scores, wanted = zip(*self._sentences(rows), strict=True)
            return functional.binary_cross_entropy_with_logits(torch.cat(scores), torch.cat(wanted))
        targets = [[*ids, special.END] for ids in self.tokenizer.encode_batch([r[1] for r in rows])]
        logits, slots = self._filled(rows, most=max(map(len, targets)))
        wanted = torch.full(logits.shape[:2], special.END)
        for row, ids in enumerate(targets):
            wanted[row, : len(ids)] = torch.tensor(ids)[: logits.shape[1]]
        return functional.cross_entropy(logits[slots], wanted[slots])

    def _labelled(self, rows):
        return self.answer_head(self.vectors(encode(self.tokenizer, [row[0] for row in rows])))

    def _sentences(self, rows):
        """Score every sentence of a review by the mean of its states."""
        cut = [self.tokenizer.encode_batch(list(row[2].sentences)) for row in rows]
        side = pad([[i for ids in one for i in ids] for one in cut], filler=special.PAD)
        for states, sentences, row in zip(self.states(side), cut, rows, strict=True):
            ends = np.cumsum([0, *map(len, sentences)])
            pooled = [states[a:b].mean(dim=0) for a, b in itertools.pairwise(ends)]
            wanted = torch.zeros(len(pooled))
            wanted[list(row[2].rationale_sentences)] = 1.0
            yield self.answer_head(torch.stack(pooled))[:, 0], wanted

    def _filled(self, rows, most=0):
        """Append as many masks to each source as its answer may have words; give their logits."""
        sources = [[*ids, special.SEP] for ids in self.tokenizer.encode_batch([r[0] for r in rows])]
        counts = [max(len(ids) + SPARE, most) for ids in sources]
        side = pad(
            [[*ids, *[special.MASK] * n] for ids, n in zip(sources, counts, strict=True)],
            filler=special.PAD,
        )
        slots = torch.arange(max(counts))[None] < torch.tensor(counts)[:, None]
        at = torch.tensor([len(ids) for ids in sources])[:, None] + torch.arange(max(counts))
        at = at.clamp(max=side.ids.shape[1] - 1)
        states = self.states(side).gather(1, at[..., None].expand(-1, -1, WIDTH))
        return self.head(states), slots

    def answers(self, rows):
        if self.task == "classify":
            return [self.labels[n] for n in self._labelled(rows).argmax(dim=1).tolist()]
        if self.task == "summarise":
            found = []
            for (scores, _), row in zip(self._sentences(rows), rows, strict=True):
                chosen = [n for n, score in enumerate(scores.tolist()) if score > 0]
                chosen = chosen or [int(scores.argmax())]
                found.append(" ".join(row[2].sentences[n] for n in chosen))
            return found
        logits, _ = self._filled(rows)
        logits[..., : special.END] = -torch.inf
        every = logits.argmax(dim=-1).tolist()
        ended = (ids[: ids.index(special.END)] if special.END in ids else ids for ids in every)
        return [self.tokenizer.decode(ids) for ids in ended]


MODELS = {"encoder": Encoder, "encoder-decoder": EncoderDecoder}


def contrast(first, second):
    """Compute the contrastive loss with in-batch negatives, in both directions."""
    first, second = (functional.normalize(each, dim=-1) for each in (first, second))
    scores, own = first @ second.T / TEMPERATURE, torch.arange(len(first))
    return (functional.cross_entropy(scores, own) + functional.cross_entropy(scores.T, own)) / 2


# ── training and evaluation, the same for all ─────────────────────────────────────────────────────


def train(model, train_set, steps, seed):
    rng = np.random.default_rng(seed)
    optimizers = make_optimizers(model, OPTIMIZER)
    epochs = steps * ROWS // len(train_set) + 1
    order = np.concatenate([rng.permutation(len(train_set)) for _ in range(epochs)])
    begin = time.perf_counter()
    for step in range(steps):
        rate = min((step + 1) / (WARMUP * steps), (steps - step) / (steps * (1 - WARMUP)))
        for group in (group for one in optimizers for group in one.param_groups):
            group["lr"] = min(1.0, rate) * group["rate"]
        loss = model.loss([train_set[n] for n in order[step * ROWS : (step + 1) * ROWS]])
        model.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for one in optimizers:
            one.step()
    return time.perf_counter() - begin


@torch.inference_mode()
def measure(model, task, test_set):
    model.eval()
    begin = time.perf_counter()
    if task == "retrieve":
        sides = [encode(model.tokenizer, [row[side] for row in test_set]) for side in (0, 1)]
        first, second = (functional.normalize(model.vectors(side), dim=-1) for side in sides)
        scores = first @ second.T
        ranks = (scores > scores.diagonal()[:, None]).sum(dim=1) + 1
        score = float(torch.where(ranks <= 10, 1.0 / ranks, 0.0).mean())
        return score, time.perf_counter() - begin
    chunks = [test_set[n : n + 64] for n in range(0, len(test_set), 64)]
    answers = [answer for chunk in chunks for answer in model.answers(chunk)]
    seconds = time.perf_counter() - begin
    expected = [row[1] for row in test_set]
    if task == "classify":
        right = [a == b for a, b in zip(answers, expected, strict=True)]
        return statistics.mean(map(float, right)), seconds
    if task == "summarise":
        each = [rouge(*pair) for pair in zip(answers, expected, strict=True)]
        return mean_rouge(each).rougel, seconds
    return translation_metrics(answers, expected).scores["bleu"], seconds


def run(task, shape, chosen, seed):
    train_set = examples(task, "train", chosen.examples)
    test_set = examples(task, "test", chosen.asked)
    texts = [text for row in train_set for text in row[:2]]
    tokenizer = train_tokenizer(texts, kind="bpe", vocabulary=VOCABULARY)
    torch.manual_seed(seed)
    model = MODELS[shape](tokenizer, task, sorted({row[1] for row in train_set}))
    seconds = train(model.train(), train_set, chosen.steps, seed)
    score, answering = measure(model, task, test_set)
    return {
        "task": task,
        "shape": shape,
        "seed": seed,
        "metric": METRICS[task],
        "score": score,
        "parameters": sum(p.numel() for p in model.parameters()),
        "seconds": seconds,
        "milliseconds_per_answer": 1000 * answering / len(test_set),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", nargs="+", choices=METRICS, default=list(METRICS))
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--examples", type=int, default=6000, help="to train on")
    parser.add_argument("--asked", type=int, default=500, help="to evaluate on")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    torch.set_num_threads(chosen.threads)
    print("task       shape            metric      score            parameters  train s  ms/answer")
    rows = []
    for task in chosen.tasks:
        for shape in SHAPES:
            found = [run(task, shape, chosen, seed) for seed in chosen.seeds]
            rows += found
            score = format_interval([one["score"] for one in found], 3)
            print(
                f"{task:10} {shape:16} {METRICS[task]:9} {score:17} "
                f"{found[0]['parameters']:11,}  {statistics.mean(o['seconds'] for o in found):7.1f}  "
                f"{statistics.mean(o['milliseconds_per_answer'] for o in found):9.2f}",
                flush=True,
            )
    if chosen.json:
        chosen.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
