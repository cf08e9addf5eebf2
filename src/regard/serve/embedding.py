"""Vectors of texts: which run makes them, and their length."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from regard.serve.choice import Fits, choose
from regard.serve.engine import Engine
from regard.serve.refusal import Refusal
from regard.serve.served import Served

Vectors = NDArray[np.float32]
ENCODERS: tuple[Fits, ...] = (
    lambda facts: facts["kind"] == "run" and facts.get("task") == "retrieval",
    lambda facts: facts["kind"] == "index" and bool(facts.get("embeds")),
    lambda facts: bool(facts.get("embeds")),
)
"""What was trained for vectors comes first; then the mean of any body's states."""


def find_encoder(engine: Engine, name: str | None) -> Served:
    """Find what embeds texts."""
    return choose(engine, name, ENCODERS, "vectors need a run with an encoder")


async def embed(engine: Engine, served: Served, texts: Sequence[str]) -> Vectors:
    """Embed texts."""
    return np.asarray(await engine.ask(served.name, "embed", texts), dtype="<f4")


def scale(vectors: Vectors) -> Vectors:
    """Scale vectors to length 1; what is 0 stays 0."""
    lengths: Vectors = np.linalg.norm(vectors, axis=1, keepdims=True)
    lengths[lengths == 0] = 1
    return vectors / lengths


def shorten(vectors: Vectors, dimensions: int | None) -> Vectors:
    """Keep the first dimensions."""
    if dimensions is not None and dimensions > vectors.shape[1]:
        message = f"dimensions is at most {vectors.shape[1]}, the width. Got {dimensions}."
        raise Refusal(422, "invalid", message, param="dimensions")
    return vectors[:, :dimensions]
