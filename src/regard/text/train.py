"""Training a tokenizer on a bounded sample, drawn evenly from the whole of the text.

Each text gets a random number; those with the smallest are kept, as many as fit in
``sample_bytes``. So every text has the same chance wherever it stands, the stream is read once and
may be of any length, and the memory needed is the sample's.
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
    document,
    starting_tokens,
    unigram_model,
    wordpiece_model,
)
from regard.text.special import SPECIAL
from regard.text.tokenizer import Tokenizer

_LONGEST_PIECE = 20_000  # characters of one text that are drawn together


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
            f"A {kind} vocabulary holds {len(SPECIAL)} special tokens and every byte, "
            f"{len(start)} tokens. Got vocabulary={vocabulary}.",
            f"Set text.vocabulary to {len(start)} or more.",
        )
    sample = draw(texts, sample_bytes=sample_bytes, seed=seed)
    if not any(text.strip() for text in sample):
        raise DataError(
            "A tokenizer is learned from text, and there is none.",
            "Check that the training files are not empty (regard check).",
        )
    model = _TRAINERS[kind](sample, vocabulary, _untrained(kind, lowercase=lowercase))
    return Tokenizer(kind, model, lowercase=lowercase)


def draw(texts: Iterable[str], *, sample_bytes: int, seed: int) -> list[str]:
    """Draw texts evenly, in their order, of at most ``sample_bytes`` altogether."""
    chance = random.Random(seed).random
    kept: list[tuple[float, int, str, int]] = []
    total = 0
    for number, piece in enumerate(_pieces(texts, min(_LONGEST_PIECE, max(1, sample_bytes // 4)))):
        size = len(piece.encode("utf-8", errors="surrogatepass"))
        heappush(kept, (-chance(), number, piece, size))
        total += size
        while total > sample_bytes:
            total -= heappop(kept)[3]
    return [piece for _, _, piece, _ in sorted(kept, key=lambda drawn: drawn[1])]


def _pieces(texts: Iterable[str], longest: int) -> Iterator[str]:
    for text in texts:
        for start in range(0, len(text), longest):
            yield text[start : start + longest]


def _untrained(kind: Trained, *, lowercase: bool) -> tokenizers.Tokenizer:
    """Build the pipeline of this kind around an empty vocabulary."""
    # Unigram models cannot be empty, so all pipelines are built around a BPE that is.
    frame = document(kind, lowercase=lowercase, model=bpe_model([], [], whole_words=False))
    library = tokenizers.Tokenizer.from_str(json.dumps({**frame, "added_tokens": []}))
    library.encode_special_tokens = True
    return library


def _learn(
    library: tokenizers.Tokenizer,
    model: models.Model,
    trainer: trainers.Trainer,
    sample: list[str],
) -> dict[str, Any]:
    library.model = model
    library.train_from_iterator(sample, trainer=trainer, length=len(sample))
    return json.loads(library.to_str())["model"]


def _bpe(sample: list[str], vocabulary: int, library: tokenizers.Tokenizer) -> dict[str, Any]:
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        min_frequency=2,
        show_progress=False,
        special_tokens=list(SPECIAL),
        initial_alphabet=list(BYTES),
    )
    learned = _learn(library, models.BPE(), trainer, sample)
    merges = [(left, right) for left, right in learned["merges"]]
    tokens = [*starting_tokens("bpe"), *dict.fromkeys(left + right for left, right in merges)]
    return bpe_model(tokens, merges, whole_words=False)


def _wordpiece(sample: list[str], vocabulary: int, library: tokenizers.Tokenizer) -> dict[str, Any]:
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
    learned = _learn(library, untrained, trainer, sample)["vocab"]
    found = sorted(learned, key=learned.__getitem__)
    return wordpiece_model(list(dict.fromkeys([*start, *found]))[:vocabulary])


def _unigram(sample: list[str], vocabulary: int, library: tokenizers.Tokenizer) -> dict[str, Any]:
    trainer = trainers.UnigramTrainer(
        vocab_size=vocabulary,
        show_progress=False,
        special_tokens=list(SPECIAL),
        initial_alphabet=list(BYTES),
        unk_token=SPECIAL[1],
    )
    learned = dict(_learn(library, models.Unigram(), trainer, sample)["vocab"])
    for token in SPECIAL:
        learned.pop(token, None)
    # The library numbers bytes it rarely saw in no fixed order, and sums in no fixed order either:
    # one score for those bytes, and rounding, give the same vocabulary every time.
    scores = {token: round(score, 6) for token, score in learned.items()}
    rarest = min((score for token, score in scores.items() if token not in VALUE), default=0.0)
    start = [(token, 0.0) for token in SPECIAL]
    for byte in BYTES:
        score = scores.pop(byte, rarest - 1.0)
        start.append((byte, score if score >= rarest else rarest - 1.0))
    rest = sorted(scores.items(), key=lambda scored: (-scored[1], scored[0]))
    return unigram_model([*start, *rest][:vocabulary])


def _whole(sample: list[str], vocabulary: int, library: tokenizers.Tokenizer) -> dict[str, Any]:
    """Take the most frequent words (or characters); the others are spelled in bytes."""
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
    "bpe": _bpe,
    "wordpiece": _wordpiece,
    "unigram": _unigram,
    "characters": _whole,
    "words": _whole,
}
