"""Training speed of an encoder-decoder in tokens per second: regard and two peers, interleaved.

All three have 3+3 layers, width 256, feed-forward 1024, 4 heads, 8,000 shared tokens, dropout 0.1,
label smoothing 0.1, AdamW, and get the same bucketed batches of at most 2,048 tokens a side. A round
is a few steps of each in turn; the figure is the median over rounds of the ratio within a round.
"""

import argparse
import statistics
import time

import numpy as np
import torch
from torch import nn

from regard.data.batch import Batch, cut_batches, pad
from regard.layers.dropout import keyed
from regard.models.build.writing import transformer
from regard.recipe.model import ModelSettings
from regard.tasks.losses import head_loss
from regard.tasks.writing.pairs import shift
from regard.training.allocator import configure_malloc

TOKENS, WIDTH, DEPTH, HEADS, INNER, BUDGET, DROPOUT = 8000, 256, 3, 4, 1024, 2048, 0.1


def make_batches(count, seed=0):
    """Make bucketed batches with lengths like those of image captions."""
    rng = np.random.default_rng(seed)
    lengths = np.sort(np.clip(rng.gamma(9, 1.6, size=200 * count).astype(int) + 3, 4, 60))
    cuts = cut_batches(lengths, budget=BUDGET)
    chosen = rng.permutation(len(cuts) - 1)[:count]
    made = []
    for n in chosen:
        rows = lengths[cuts[n] : cuts[n + 1]]
        sides = [
            pad([rng.integers(7, TOKENS, size=max(3, k + d)).tolist() for k in rows], filler=0)
            for d in (0, int(rng.integers(-2, 3)))
        ]
        made.append(Batch(tuple(sides), np.arange(len(rows))))
    return made


class Ours:
    name = "regard"

    def __init__(self):
        settings = ModelSettings.model_validate(
            {
                "width": WIDTH,
                "depth": DEPTH,
                "decoder_depth": DEPTH,
                "feed_forward": INNER,
                "activation": "relu",
                "norm": "layer",
                "norm_order": "post",
                "biases": True,
                "dropout": DROPOUT,
                "mixer": {"kind": "attention", "heads": HEADS, "biases": True},
            }
        )
        self.model = transformer(settings, TOKENS)

    def loss(self, batch, step):
        pair, target = shift(batch), batch.fields[1]
        with keyed(step):
            states = self.model(
                pair.source,
                pair.target_in,
                source_lengths=pair.source_lengths,
                target_lengths=pair.target_lengths,
            )
        real = torch.arange(target.ids.shape[1])[None] < target.lengths[:, None]
        lost = head_loss(self.model.head, states[real], target.ids[real], smoothing=0.1)
        return lost.smoothed / lost.tokens


class TorchTransformer:
    name = "torch.nn.Transformer"

    def __init__(self):
        self.model = nn.Transformer(WIDTH, HEADS, DEPTH, DEPTH, INNER, DROPOUT, batch_first=True)
        self.model.table = nn.Embedding(TOKENS, WIDTH)
        self.model.drop = nn.Dropout(DROPOUT)

    def loss(self, batch, step):
        pair, target = shift(batch), batch.fields[1]
        hidden_source = pair.source == 0
        length = pair.target_in.shape[1]
        states = self.model(
            self.model.drop(self.model.table(pair.source) * WIDTH**0.5),
            self.model.drop(self.model.table(pair.target_in) * WIDTH**0.5),
            tgt_mask=nn.Transformer.generate_square_subsequent_mask(length).isinf(),
            src_key_padding_mask=hidden_source,
            memory_key_padding_mask=hidden_source,
            tgt_is_causal=True,
        )
        logits = states @ self.model.table.weight.T
        return nn.functional.cross_entropy(
            logits.flatten(0, 1), target.ids.flatten(), ignore_index=0, label_smoothing=0.1
        )


class Marian:
    name = "transformers Marian"

    def __init__(self):
        from transformers import MarianConfig, MarianMTModel

        config = MarianConfig(
            vocab_size=TOKENS,
            d_model=WIDTH,
            encoder_layers=DEPTH,
            decoder_layers=DEPTH,
            encoder_attention_heads=HEADS,
            decoder_attention_heads=HEADS,
            encoder_ffn_dim=INNER,
            decoder_ffn_dim=INNER,
            dropout=DROPOUT,
            attention_dropout=0.0,
            activation_dropout=0.0,
            pad_token_id=0,
            decoder_start_token_id=2,
            eos_token_id=3,
            max_position_embeddings=128,
        )
        self.model = MarianMTModel(config)

    def loss(self, batch, step):
        pair, target = shift(batch), batch.fields[1]
        logits = self.model(
            input_ids=pair.source,
            attention_mask=(pair.source != 0).long(),
            decoder_input_ids=pair.target_in,
            use_cache=False,
        ).logits
        return nn.functional.cross_entropy(
            logits.flatten(0, 1), target.ids.flatten(), ignore_index=0, label_smoothing=0.1
        )


def time_steps(rival, optimizer, some, step):
    begin = time.perf_counter()
    for batch in some:
        optimizer.zero_grad(set_to_none=True)
        rival.loss(batch, step).backward()
        optimizer.step()
    return time.perf_counter() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    chosen = parser.parse_args()
    torch.set_num_threads(chosen.threads)
    configure_malloc()
    torch.manual_seed(0)
    rivals = [Ours(), TorchTransformer(), Marian()]
    optimizers = [
        torch.optim.AdamW(rival.model.parameters(), lr=1e-4, fused=True) for rival in rivals
    ]
    every = make_batches(4 * (chosen.rounds + 1))
    rates = {rival.name: [] for rival in rivals}
    for number in range(chosen.rounds + 1):
        some = every[4 * number : 4 * number + 4]
        tokens = sum(batch.fields[1].tokens for batch in some)
        for rival, optimizer in zip(rivals, optimizers, strict=True):
            took = time_steps(rival, optimizer, some, number)
            if number:  # the first round warms up
                rates[rival.name].append(tokens / took)
    print(f"{chosen.threads} threads, {chosen.rounds} rounds")
    for rival in rivals:
        ratio = statistics.median(
            a / b for a, b in zip(rates["regard"], rates[rival.name], strict=True)
        )
        print(
            f"{rival.name:22} {statistics.median(rates[rival.name]):8,.0f} target tokens/s   "
            f"regard is {ratio:.2f} times as fast"
        )


if __name__ == "__main__":
    main()
