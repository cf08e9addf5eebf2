"""BERT: input, size, word pieces, [CLS] (D0 Q8, D4 Q5, Q6)."""

import json
from itertools import islice

import torch

from regard.claims.claim import Figure, Measurement, claim
from regard.claims.counters import count_parameters
from regard.claims.precision import difference, exact, find_dependencies
from regard.claims.table import tabulate
from regard.data.worlds.scenes import draw_scenes
from regard.draw.bars import Bars
from regard.layers.pooling import First
from regard.layers.position import Added
from regard.models.body import all_visible
from regard.models.build.pretraining import bert
from regard.recipe.head import HeadSettings
from regard.recipe.model import (
    AttentionSettings,
    EmbeddingSettings,
    LearnedSettings,
    ModelSettings,
)
from regard.text.layout import CONTINUING
from regard.text.tokenizer import Tokenizer
from regard.text.train import train_tokenizer

WORDS = 30_522
SIZES = {
    # name, layers L, width H, heads A: parameters with the pooler
    ("tiny", 2, 128, 2): 4_385_920,
    ("mini", 4, 256, 4): 11_170_560,
    ("small", 4, 512, 8): 28_763_648,
    ("medium", 8, 512, 8): 41_373_184,
    ("base", 12, 768, 12): 109_482_240,
    ("large", 24, 1024, 16): 335_141_888,
}


def settings(layers: int, width: int, heads: int, **more: object) -> ModelSettings:
    """Give BERT's architecture."""
    shape: dict[str, object] = {
        "width": width,
        "depth": layers,
        "feed_forward": 4 * width,
        "activation": "gelu",
        "norm": "layer",
        "norm_order": "post",
        "biases": True,
        "scaled_embedding": False,
        "zero_init": False,
        "dropout": 0.0,
        "position": LearnedSettings(kind="learned", positions=512),
        "embedding": EmbeddingSettings(segments=2, norm=True),
        "head": HeadSettings(bias=True, transform=True),
        "mixer": AttentionSettings(heads=heads, biases=True),
    }
    return ModelSettings.model_validate({**shape, **more})


@claim(
    numbers=(40,),
    source="D0 Q8; Devlin et al. 2019, figure 2",
    statement="BERT's input is the sum of token, segment and position embeddings.",
    layer="layers/embedding.py",
    meaning="The difference is rounding; the sum is then layer-normalised. A “sentence” is any "
    "span: [CLS] A [SEP] B [SEP].",
    next_step="`regard train bert` with your own text.",
)
@exact()
def bert_input() -> Measurement:
    """Embed [CLS] A [SEP] B [SEP] with a small BERT and rebuild the result from its tables.

    The three tables are the model's; their sum goes through the model's norm.
    """
    model = bert(settings(1, 24, 2), 37, pairs=False)
    reading = model.body.reading
    assert reading.segments is not None and reading.norm is not None
    assert isinstance(reading.place, Added)
    ids = torch.tensor([[4, 11, 23, 5, 17, 29, 31, 5]])
    segments = torch.tensor([[0, 0, 0, 0, 1, 1, 1, 1]])
    tables = reading.table[ids], reading.segments[segments], reading.place.table(8)
    found = reading(ids, segments=segments)
    gap = difference(found, reading.norm(sum(tables)))
    without = difference(found, reading.norm(tables[0] + tables[2]))
    return Measurement(
        f"the normalised sum of three tables differs by {gap:g}; without segments by {without:.2f}",
        (
            Figure("difference from norm(token + segment + position)", gap, gap < 1e-12),
            Figure("difference if segments are left out", without, without > 0.01),
        ),
    )


@claim(
    numbers=(40, 41),
    source="D0 Q8, D4 Q5; Devlin et al. 2019, §3; Turc et al. 2019",
    statement="BERT is named by its layers L, width H and heads A: base 12/768/12 with 110M, "
    "large 24/1024/16 with 340M parameters.",
    layer="models/bert.py",
    meaning="Equal to the published checkpoints, pooler included; 110M and 340M are rounded.",
    next_step="`regard account bert` counts the parameters of a recipe.",
)
def bert_sizes() -> Measurement:
    """Build six sizes on torch's meta device and count body and pooler; 30,522 word pieces."""
    found = {}
    for size in SIZES:
        with torch.device("meta"):
            model = bert(settings(*size[1:]), WORDS, pairs=True)
        assert model.pair_head is not None
        found[size] = count_parameters(model.body, model.pair_head.pool)
    by_name = {name: count for (name, *_), count in found.items()}
    return Measurement(
        f"base {by_name['base']:,}, large {by_name['large']:,}",
        tabulate("{}: L {}, H {}, A {}", found, equal=SIZES),
        Bars("Parameters with the pooler", list(by_name.items())),
    )


@claim(
    numbers=(42,),
    source="D0 Q8; Wu et al. 2016; Devlin et al. 2019",
    statement="WordPiece segments a word greedily: the longest known piece first, the rest marked "
    "as continuing.",
    layer="text/layout.py",
    meaning="Every word of unseen texts is segmented as the rule says, and every text is decoded "
    "exactly: single bytes are pieces too, so nothing is unknown.",
    next_step="Raise text.vocabulary and watch the pieces per word fall towards 1.",
)
def wordpiece_longest_match() -> Measurement:
    """Train 900 word pieces on 2,000 sentences of the built-in world and segment 300 others.

    Every piece is compared with the longest entry of the vocabulary that starts the rest of the
    word; every text is decoded again.
    """
    texts = [scene.target for scene in islice(draw_scenes("train"), 2300)]
    tokenizer = train_tokenizer(texts[:2000], kind="wordpiece", vocabulary=900)
    known = {piece: id for id, piece in enumerate(read_vocabulary(tokenizer))}
    words = longest = 0
    for text in texts[2000:]:
        for word in tokenizer.split_words(tokenizer.normalize(text)):
            words += 1
            longest += tokenizer.encode_word(word) == _match_longest(known, word)
    strange = [*texts[2000:], "Ärger im 日本 🙂 x̄", "zzzzqqqq"]
    back = sum(tokenizer.decode(tokenizer.encode(text)) == text for text in strange)
    pieces = len([id for text in texts[2000:] for id in tokenizer.encode(text)]) / words
    return Measurement(
        f"{longest:,} of {words:,} words are segmented greedily; {back} of {len(strange)} texts "
        "are decoded exactly",
        (
            Figure("share segmented by longest match first", longest / words, longest == words),
            Figure("share of texts decoded exactly", back / len(strange), back == len(strange)),
            Figure("pieces per word", pieces),
        ),
    )


def read_vocabulary(tokenizer: Tokenizer) -> list[str]:
    """Read the vocabulary, in the order of ids, from the tokenizer's own file."""
    vocabulary: dict[str, int] = json.loads(tokenizer.canonical)["model"]["vocab"]
    return sorted(vocabulary, key=vocabulary.__getitem__)


def _match_longest(known: dict[str, int], word: str) -> list[int]:
    ids, start = [], 0
    while start < len(word):
        mark = CONTINUING if start else ""
        stop = next(end for end in range(len(word), start, -1) if mark + word[start:end] in known)
        ids.append(known[mark + word[start:stop]])
        start = stop
    return ids


@claim(
    numbers=(45,),
    source="D0 Q8, D4 Q6; Devlin et al. 2019, §3",
    statement="BERT compresses a sentence into one token, [CLS], which is a poor choice.",
    layer="layers/pooling.py",
    meaning="There are as many output states as input tokens; [CLS] is one of them, and any other "
    "pooling can be chosen. Whether it is poor must be measured: pooling-trained.",
    next_step="Set model.head.pooling to cls, mean, max or attention.",
    correction="All states remain; the fair test is [CLS] against mean, max and attention pooling.",
)
@exact()
def sentence_in_one_token() -> Measurement:
    """Compute by the Jacobian which of 9 words the state at [CLS] depends on; count output states.

    Two layers of BERT with random parameters.
    """
    model = bert(settings(2, 24, 2), 37, pairs=False)
    inputs = torch.randn(1, 10, 24, requires_grad=True)
    states = model.body.stack(inputs, visible=all_visible(10))
    first = First()(states, visible=all_visible(10))
    used = len(set(find_dependencies(first.sum() + (first**2).sum(), inputs)) - {0})
    remaining = states.shape[1]
    return Measurement(
        f"[CLS] depends on {used} of 9 words, and there are {remaining} output states",
        (
            Figure("words that [CLS] depends on, of 9", used),
            Figure("output states of the body, of 10", remaining, remaining == 1),
        ),
    )
