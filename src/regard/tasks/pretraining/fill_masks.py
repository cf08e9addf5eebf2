"""Mask filling: replace every ``[MASK]`` of a text by the most likely token."""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

from regard.errors import UsageError
from regard.tasks.task import Prediction
from regard.text import special
from regard.text.tokenizer import Tokenizer

MASK = special.SPECIAL[special.MASK]
SHOWN = 5  # most likely tokens

MaskLogits = Callable[[list[int]], Tensor]
"""Maps the ids of a text to the logits at each mask."""


def fill_masks(
    text: str, tokenizer: Tokenizer, mask_logits: MaskLogits, *, most: int, truncate: bool
) -> Prediction:
    """Fill every [MASK] of a text of at most ``most`` tokens."""
    ids = encode_with_masks(tokenizer, " ".join(text.split()))
    if special.MASK not in ids:
        raise UsageError(
            f"a text must contain at least one {MASK}. Got {text[:60]!r}.",
            f"Write {MASK} in place of the word to predict.",
        )
    kept = truncate_masked(ids, most, truncate=truncate)
    logits = mask_logits(kept)
    logits[:, : len(special.SPECIAL)] = -torch.inf
    log_p = logits.log_softmax(dim=-1)
    best = log_p.max(dim=-1)
    found = iter(best.indices.tolist())
    filled = [next(found) if id == special.MASK else id for id in kept]
    return Prediction(
        tokenizer.decode(filled),
        float(best.values.sum()),
        len(ids) - len(kept),
        _most_likely(tokenizer, log_p.exp()),
    )


def encode_with_masks(tokenizer: Tokenizer, text: str) -> list[int]:
    """Encode a text; every ``[MASK]`` in it becomes the mask token."""
    before, *after = text.split(MASK)
    ids = tokenizer.encode(before.rstrip()) if before.strip() else []
    for part in after:
        # The tokenizer puts a space before a text; what follows a mask brings its own, or none.
        folded = tokenizer.normalize(part.rstrip())
        folded = folded if tokenizer.kind == "characters" else folded.removeprefix(" ")
        ids.append(special.MASK)
        ids += [i for word in tokenizer.split_words(folded) for i in tokenizer.encode_word(word)]
    return ids


def truncate_masked(ids: list[int], most: int, *, truncate: bool) -> list[int]:
    """Return at most ``most`` ids; more are an error unless ``truncate`` and a mask remains."""
    if len(ids) <= most:
        return ids
    if truncate and special.MASK in ids[:most]:
        return ids[:most]
    raise UsageError(
        f"a text must fit the model's input. Got {len(ids)} tokens; this model reads at most "
        f"{most}.",
        f"Shorten the text around its {MASK}, or truncate its end with --truncate.",
    )


def _most_likely(
    tokenizer: Tokenizer, probabilities: Float[Tensor, "mask token"]
) -> dict[str, float]:
    """Return the most likely tokens of every mask; several masks are numbered."""
    found: dict[str, float] = {}
    for number, row in enumerate(probabilities, start=1):
        best = row.topk(min(SHOWN, len(row)))
        for share, token in zip(best.values.tolist(), best.indices.tolist(), strict=True):
            named = tokenizer.tokens([token])[0].replace("▁", " ").strip() or "▁"
            named = named if len(probabilities) == 1 else f"{number}: {named}"
            # Different tokens are written alike, such as a word with and without its space.
            found[named] = found.get(named, 0.0) + share
    return found
