"""Training a tokenizer on a uniform sample of bounded size.

Each text gets a random number; those with the smallest numbers are kept, as many as fit in
``sample_bytes``. So every text has the same probability wherever it occurs, the stream is read once
and may have any length, and memory is bounded by the sample.
"""

import json
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from heapq import heappop, heappush
from typing import Any

import tokenizers
from tokenizers import models, trainers

from regard.errors import DataError, UsageError
from regard.text.layout import (
    BYTES,
    CONTINUING,
    VALUE,
    Trained,
    bpe_model,
    build_tokenizer_json,
    starting_tokens,
    unigram_model,
    wordpiece_model,
)
from regard.text.special import SPECIAL
from regard.text.tokenizer import Tokenizer

_LONGEST_PIECE = 20_000  # characters; longer texts are split before sampling


def train_tokenizer(
    texts: Iterable[str],
    *,
    kind: Trained,
    vocabulary: int,
    lowercase: bool = False,
    sample_bytes: int = 50_000_000,
    seed: int = 0,
) -> Tokenizer:
    """Learn at most ``vocabulary`` tokens from a sample of ``texts``."""
    start = starting_tokens(kind)
    if vocabulary < len(start):
        raise UsageError(
            f"A {kind} vocabulary contains {len(SPECIAL)} special tokens and every byte, "
            f"{len(start)} tokens. Got vocabulary={vocabulary}.",
            f"Set text.vocabulary to {len(start)} or more.",
        )
    sample = draw_sample(texts, sample_bytes=sample_bytes, seed=seed)
    if not any(text.strip() for text in sample):
        raise DataError(
            "There is no text to train a tokenizer on.",
            "Check the training files with regard check.",
        )
    model = _TRAINERS[kind](sample, vocabulary, _build_untrained(kind, lowercase=lowercase))
    return Tokenizer(kind, model, lowercase=lowercase)


def draw_sample(texts: Iterable[str], *, sample_bytes: int, seed: int) -> list[str]:
    """Draw a uniform sample of texts, in their order, of at most ``sample_bytes``."""
    chance = random.Random(seed).random
    kept: list[tuple[float, int, str, int]] = []
    total = 0
    for number, piece in enumerate(
        _split_texts(texts, min(_LONGEST_PIECE, max(1, sample_bytes // 4)))
    ):
        size = len(piece.encode("utf-8", errors="surrogatepass"))
        heappush(kept, (-chance(), number, piece, size))
        total += size
        while total > sample_bytes:
            total -= heappop(kept)[3]
    return [piece for _, _, piece, _ in sorted(kept, key=lambda drawn: drawn[1])]


def _split_texts(texts: Iterable[str], longest: int) -> Iterator[str]:
    for text in texts:
        for start in range(0, len(text), longest):
            yield text[start : start + longest]


def _build_untrained(kind: Trained, *, lowercase: bool) -> tokenizers.Tokenizer:
    """Build the pipeline of this kind with an empty vocabulary."""
    # Unigram models cannot be empty, so every pipeline is built with an empty BPE.
    frame = build_tokenizer_json(
        kind, lowercase=lowercase, model=bpe_model([], [], whole_words=False)
    )
    library = tokenizers.Tokenizer.from_str(json.dumps({**frame, "added_tokens": []}))
    library.encode_special_tokens = True
    return library


def _train(
    library: tokenizers.Tokenizer,
    model: models.Model,
    trainer: trainers.Trainer,
    sample: list[str],
) -> dict[str, Any]:
    library.model = model
    library.train_from_iterator(sample, trainer=trainer, length=len(sample))
    return json.loads(library.to_str())["model"]


def _train_bpe(sample: list[str], vocabulary: int, library: tokenizers.Tokenizer) -> dict[str, Any]:
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        min_frequency=2,
        show_progress=False,
        special_tokens=list(SPECIAL),
        initial_alphabet=list(BYTES),
    )
    learned = _train(library, models.BPE(), trainer, sample)
    merges = [(left, right) for left, right in learned["merges"]]
    tokens = [*starting_tokens("bpe"), *dict.fromkeys(left + right for left, right in merges)]
    return bpe_model(tokens, merges, whole_words=False)


def _train_wordpiece(
    sample: list[str], vocabulary: int, library: tokenizers.Tokenizer
) -> dict[str, Any]:
    start = starting_tokens("wordpiece")
    trainer = trainers.WordPieceTrainer(
        vocab_size=vocabulary,
        min_frequency=2,
        show_progress=False,
        special_tokens=list(start),
        initial_alphabet=list(BYTES),
        continuing_subword_prefix=CONTINUING,
    )
    untrained = models.WordPiece(unk_token=SPECIAL[1], continuing_subword_prefix=CONTINUING)
    learned = _train(library, untrained, trainer, sample)["vocab"]
    found = sorted(learned, key=learned.__getitem__)
    return wordpiece_model(list(dict.fromkeys([*start, *found]))[:vocabulary])


def _train_unigram(
    sample: list[str], vocabulary: int, library: tokenizers.Tokenizer
) -> dict[str, Any]:
    trainer = trainers.UnigramTrainer(
        vocab_size=vocabulary,
        show_progress=False,
        special_tokens=list(SPECIAL),
        initial_alphabet=list(BYTES),
        unk_token=SPECIAL[1],
    )
    learned = dict(_train(library, models.Unigram(), trainer, sample)["vocab"])
    for token in SPECIAL:
        learned.pop(token, None)
    # The library orders rare bytes, and sums scores, in no fixed order: one score for these bytes,
    # and rounding, make the vocabulary reproducible.
    scores = {token: round(score, 6) for token, score in learned.items()}
    rarest = min((score for token, score in scores.items() if token not in VALUE), default=0.0)
    start = [(token, 0.0) for token in SPECIAL]
    for byte in BYTES:
        score = scores.pop(byte, rarest - 1.0)
        start.append((byte, score if score >= rarest else rarest - 1.0))
    rest = sorted(scores.items(), key=lambda scored: (-scored[1], scored[0]))
    return unigram_model([*start, *rest][:vocabulary])


def _train_whole_words(
    sample: list[str], vocabulary: int, library: tokenizers.Tokenizer
) -> dict[str, Any]:
    """Keep the most frequent words (or characters); others are spelled in bytes."""
    counts: Counter[str] = Counter()
    for text in sample:
        normal = library.normalizer.normalize_str(text)
        counts.update(word for word, _ in library.pre_tokenizer.pre_tokenize_str(normal))
    start = starting_tokens("words")
    for token in start:
        counts.pop(token, None)
    frequent = sorted(counts.items(), key=lambda counted: (-counted[1], counted[0]))
    rest = [word for word, _ in frequent[: vocabulary - len(start)]]
    return bpe_model([*start, *rest], [], whole_words=True)


_TRAINERS: dict[Trained, Callable[[list[str], int, tokenizers.Tokenizer], dict[str, Any]]] = {
    "bpe": _train_bpe,
    "wordpiece": _train_wordpiece,
    "unigram": _train_unigram,
    "characters": _train_whole_words,
    "words": _train_whole_words,
}
