"""Admission: what of a request is refused before it waits, and how many tokens it has."""

import asyncio
import time
from collections.abc import Sequence

from regard.serve.protocol import Text
from regard.serve.refusal import Refusal
from regard.serve.served import Served
from regard.serve.settings import USAGE, EngineSettings

COUNTED_AT_ONCE = 1 << 14  # characters that are counted in the event loop itself


async def admit(served: Served, texts: Sequence[Text], most: EngineSettings) -> list[int]:
    """Count the tokens of the texts of a request; refuse what is too much or no text."""
    begin = time.perf_counter()
    if len(texts) > most.request_texts:
        message = (
            f"a request has at most {most.request_texts} texts. Got {len(texts)}; send several."
        )
        raise Refusal(413, "too_large", message, param="texts")
    characters = 0
    for place, text in enumerate(texts):
        if isinstance(text, str):
            _check_unicode(text, place)
            characters += len(text)
    if characters <= COUNTED_AT_ONCE:
        sizes = served.count(texts)
    else:
        sizes = await asyncio.to_thread(served.count, texts)
    if max(sizes) > most.text_tokens:
        message = (
            f"a text has at most {most.text_tokens:,} tokens. Got {max(sizes):,}; send a part."
        )
        raise Refusal(413, "too_large", message, param=f"texts[{sizes.index(max(sizes))}]")
    if (usage := USAGE.get()) is not None:
        usage.task = served.facts.get("task", "search")
        usage.texts, usage.characters = usage.texts + len(texts), usage.characters + characters
        usage.tokens += sum(sizes)
        usage.tokenization += time.perf_counter() - begin
    return sizes


def _check_unicode(text: str, place: int) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        message = "a text must be valid Unicode. Got a lone surrogate; send the pair."
        raise Refusal(422, "invalid", message, param=f"texts[{place}]") from None
