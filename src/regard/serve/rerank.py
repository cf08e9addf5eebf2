"""Relevance of texts to a query, by whatever is served for it.

    sentence pairs with scores    (score - low) / (high - low), both texts read together
    retrieval, or any encoder     the cosine of the vectors

A run of sentence pairs goes first: it was trained to compare.
"""

import asyncio
import math
from collections.abc import Mapping, Sequence
from typing import Any

from regard.serve.choice import Fits, choose
from regard.serve.embedding import ENCODERS, embed, scale
from regard.serve.engine import Engine
from regard.serve.refusal import Refusal
from regard.serve.served import Served
from regard.serve.truncation import fit_texts, refuse_cut

LEAST = 1e-9  # of a share whose logit is finite


def scores_pairs(facts: Mapping[str, Any]) -> bool:
    """Whether a run gives two texts a score."""
    return facts.get("task") == "sentence-pair" and facts["score_range"] is not None


RERANKERS: tuple[Fits, ...] = (scores_pairs, *ENCODERS)


def find_reranker(engine: Engine, name: str | None) -> Served:
    """Find what ranks texts: a run that scores pairs, else one that embeds."""
    wanted = "ranking needs a run of sentence pairs with scores, or an encoder"
    return choose(engine, name, RERANKERS, wanted)


async def score_texts(
    engine: Engine, served: Served, query: str, texts: Sequence[str], *, truncate: bool = False
) -> list[float]:
    """Return the relevance of each text: a share from 0 to 1, or a cosine from -1 to 1."""
    if not query.strip():
        raise Refusal(422, "invalid", "a query must not be blank.", param="query")
    if scores_pairs(served.facts):
        return await score_pairs(engine, served, [(query, text) for text in texts], truncate)
    (asked,), _ = await fit_texts(served, [query], param="query", truncate=truncate)
    fitting, _ = await fit_texts(served, texts, param="texts", truncate=truncate)
    own, vectors = await asyncio.gather(
        embed(engine, served, [asked]), embed(engine, served, fitting)
    )
    return (scale(vectors) @ scale(own)[0]).tolist()


async def score_pairs(
    engine: Engine, served: Served, pairs: Sequence[tuple[str, str]], truncate: bool
) -> list[float]:
    """Return the share of the range of scores that a run gives each pair."""
    for place, pair in enumerate(pairs):
        if not all(text.strip() for text in pair):
            message = "a text that is read together with another must not be blank."
            raise Refusal(422, "invalid", message, param=f"texts[{place}]")
    lines = [write_pair(pair) for pair in pairs]
    found = await engine.ask(served.name, "predict", lines, {"truncate": truncate})
    if not truncate:
        refuse_cut(served, found, param="texts")
    low, high = served.facts["score_range"]
    return [(one["score"] - low) / (high - low) for one in found]


def write_pair(pair: Sequence[str]) -> str:
    """Return two texts as a run of sentence pairs is asked: with a tab between them."""
    return "\t".join(" ".join(text.split("\t")) for text in pair)


def logit(share: float) -> float:
    """Return log(share / (1 - share)), finite at 0 and 1."""
    inside = min(max(share, LEAST), 1 - LEAST)
    return math.log(inside / (1 - inside))
