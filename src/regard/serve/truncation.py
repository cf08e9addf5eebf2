"""Texts that are too long: refused, unless they may be cut. Nothing is cut in silence."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from regard.serve.completion_request import Ids, encode_texts
from regard.serve.refusal import Refusal
from regard.serve.served import Served
from regard.text.tokenizer import Tokenizer

TOO_LONG = "too_long"
"""The kind of refusals that say so; each API has its own status for them."""


async def fit_texts(
    served: Served,
    texts: Sequence[str | Ids],
    *,
    param: str,
    truncate: bool = False,
    from_left: bool = False,
) -> tuple[list[str], int]:
    """Return texts that a vector depends on entirely, and the number of their tokens."""
    tokenizer, most = served.tokenizer, served.facts["embedded_tokens"]
    assert tokenizer is not None

    def fit() -> tuple[list[str], int]:
        encoded = encode_texts(texts, tokenizer, param=param)
        fitting, tokens = [], 0
        for place, (text, ids) in enumerate(zip(texts, encoded, strict=True)):
            if most is not None and len(ids) > most:
                if not truncate:
                    message = f"a text has at most {most:,} tokens. Got {len(ids):,}; send a part."
                    raise Refusal(422, TOO_LONG, message, param=f"{param}[{place}]")
                fitting.append(cut(tokenizer, ids, most, from_left=from_left))
            else:
                fitting.append(text if isinstance(text, str) else tokenizer.decode(ids))
            tokens += min(len(ids), most or len(ids))
        return fitting, tokens

    return await asyncio.to_thread(fit)


def cut(tokenizer: Tokenizer, ids: Sequence[int], most: int, *, from_left: bool) -> str:
    """Return as much of a text as has at most ``most`` tokens when it is encoded again."""
    for kept in range(most, 0, -1):
        text = tokenizer.decode(ids[-kept:] if from_left else ids[:kept])
        if len(tokenizer.encode(text)) <= most:
            return text
    return ""


def refuse_cut(served: Served, answers: Sequence[Mapping[str, Any]], *, param: str) -> None:
    """Refuse answers to a part of a text, in an API that has no field to say so."""
    for place, answer in enumerate(answers):
        if answer["truncated"]:
            most = served.facts["max_length"]
            message = f"a text must fit the {most:,} tokens that the model reads. Send a part."
            raise Refusal(422, TOO_LONG, message, param=f"{param}[{place}]")
