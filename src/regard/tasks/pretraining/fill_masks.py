"""Filling in: every ``[MASK]`` of a text becomes the likeliest token."""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

from regard.errors import UsageError
from regard.tasks.task import Prediction
from regard.text import special
from regard.text.tokenizer import Tokenizer

MASK = special.SPECIAL[special.MASK]
SHOWN = 5  # of the likeliest tokens

Ask = Callable[[list[int]], Tensor]
"""The ids of a text with masks in it to the logits of every token at each mask."""


def fill(text: str, tokenizer: Tokenizer, ask: Ask, *, most: int, truncate: bool) -> Prediction:
    """Fill every [MASK] of a text of at most ``most`` tokens; a longer one is refused or cut."""
    ids = encode_with_masks(tokenizer, " ".join(text.split()))
    if special.MASK not in ids:
        raise UsageError(
            f"a text must hold at least one {MASK} to be filled. Got {text[:60]!r}.",
            f"Write {MASK} where a word is to be guessed.",
        )
    kept = fitted(ids, most, truncate=truncate)
    logits = ask(kept)
    logits[:, : len(special.SPECIAL)] = -torch.inf
    log_p = logits.log_softmax(dim=-1)
    best = log_p.max(dim=-1)
    found = iter(best.indices.tolist())
    filled = [next(found) if id == special.MASK else id for id in kept]
    return Prediction(
        tokenizer.decode(filled),
        float(best.values.sum()),
        len(ids) - len(kept),
        _likeliest(tokenizer, log_p.exp()),
    )


def encode_with_masks(tokenizer: Tokenizer, text: str) -> list[int]:
    """Turn a text into ids, every ``[MASK]`` in it into the token of that name."""
    before, *after = text.split(MASK)
    ids = tokenizer.encode(before.rstrip()) if before.strip() else []
    for part in after:
        # The tokenizer puts a space before a text; what follows a mask brings its own, or none.
        folded = tokenizer.normalize(part.rstrip())
        folded = folded if tokenizer.kind == "characters" else folded.removeprefix(" ")
        ids.append(special.MASK)
        ids += [i for word in tokenizer.split_words(folded) for i in tokenizer.encode_word(word)]
    return ids


def fitted(ids: list[int], most: int, *, truncate: bool) -> list[int]:
    """Return ids that fit ``most``; more of them are refused, or cut where a mask remains."""
    if len(ids) <= most:
        return ids
    if truncate and special.MASK in ids[:most]:
        return ids[:most]
    raise UsageError(
        f"a text must fit the model's window. Got {len(ids)} tokens; this model reads at most "
        f"{most}.",
        f"Shorten the text around its {MASK}, or allow cutting its end with --truncate.",
    )


def _likeliest(
    tokenizer: Tokenizer, probabilities: Float[Tensor, "mask token"]
) -> dict[str, float]:
    """Name the likeliest tokens of every mask; those of several are numbered."""
    found: dict[str, float] = {}
    for number, row in enumerate(probabilities, start=1):
        best = row.topk(min(SHOWN, len(row)))
        for share, token in zip(best.values.tolist(), best.indices.tolist(), strict=True):
            named = tokenizer.tokens([token])[0].replace("▁", " ").strip() or "▁"
            named = named if len(probabilities) == 1 else f"{number}: {named}"
            # Pieces that look the same to a person, such as a word with and without its space.
            found[named] = found.get(named, 0.0) + share
    return found
