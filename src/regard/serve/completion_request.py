"""A request for completions, in OpenAI's fields: what is understood, ignored and refused."""

import hashlib
import secrets
from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, StrictStr, model_validator

from regard.errors import DataError
from regard.serve.protocol import Prompt
from regard.serve.refusal import Refusal
from regard.serve.settings import EngineSettings
from regard.text.tokenizer import Tokenizer

Ids = list[StrictInt]
Prompts = StrictStr | list[StrictStr] | Ids | list[Ids]
Stop = Annotated[StrictStr, Field(min_length=1, max_length=256)]
GREEDY = 1e-5
"""Temperatures below this one, and no ``top_p``, take the likeliest token each time."""


class StreamOptions(BaseModel):
    """Options of a stream."""

    include_usage: StrictBool = False


class CompletionRequest(BaseModel):
    """Prompts to continue. Fields that are not listed are ignored."""

    model_config = ConfigDict(extra="ignore")

    model: Annotated[
        StrictStr | None, Field(description="Which run; may be left out if only one fits.")
    ] = None
    prompt: Annotated[
        Prompts, Field(description="A text, several, the ids of a text, or those of several.")
    ] = ""
    max_tokens: Annotated[StrictInt | None, Field(ge=0)] = 16
    n: Annotated[StrictInt | None, Field(ge=1, description="Choices per prompt.")] = 1
    best_of: Annotated[StrictInt | None, Field(description="Refused unless it equals n.")] = None
    echo: StrictBool | None = False
    logprobs: Annotated[
        StrictInt | None, Field(ge=0, le=5, description="Likeliest tokens to list in each place.")
    ] = None
    temperature: Annotated[float | None, Field(ge=0, le=2, description="0 is greedy.")] = 1.0
    top_p: Annotated[float | None, Field(ge=0, le=1)] = 1.0
    stop: Annotated[Stop | Annotated[list[Stop], Field(max_length=16)] | None, Field()] = None
    seed: StrictInt | None = None
    stream: StrictBool | None = False
    stream_options: StreamOptions | None = None
    presence_penalty: Annotated[float | None, Field(description="Refused unless 0.")] = 0.0
    frequency_penalty: Annotated[float | None, Field(description="Refused unless 0.")] = 0.0
    logit_bias: Annotated[dict[str, Any] | None, Field(description="Refused unless empty.")] = None
    suffix: Annotated[StrictStr | None, Field(description="Refused unless empty.")] = None

    @model_validator(mode="after")
    def _fill(self) -> "CompletionRequest":
        """Let null mean the default, as clients send it."""
        for name, field in type(self).model_fields.items():
            if getattr(self, name) is None:
                setattr(self, name, field.default)
        return self

    @property
    def options(self) -> dict[str, Any]:
        """What texts of one batch have in common."""
        greedy = not self.top_p or not self.temperature or self.temperature < GREEDY
        drawn = {"temperature": self.temperature, "top_p": self.top_p}
        chosen = {"temperature": 0.0, "top_p": 1.0} if greedy else drawn
        return {**chosen, "logprobs": self.logprobs}

    @property
    def texts(self) -> list[str | Ids]:
        """The prompts, each a text or its ids."""
        prompt: Any = self.prompt
        single = isinstance(prompt, str) or (prompt and isinstance(prompt[0], int))
        return [prompt] if single else prompt

    def refuse_unsupported(self, most: EngineSettings) -> None:
        """Refuse by name what would change the answer and is not implemented."""
        unsupported = {
            "presence_penalty": self.presence_penalty,
            "frequency_penalty": self.frequency_penalty,
            "logit_bias": self.logit_bias,
            "suffix": self.suffix,
            "best_of": self.best_of not in (None, self.n),
        }
        for name, given in unsupported.items():
            if given:
                message = f"{name} is not supported here. Leave it out."
                raise Refusal(400, "unsupported", message, param=name)
        assert self.n is not None and self.max_tokens is not None
        if not self.texts:
            raise Refusal(400, "invalid", "there is no prompt. Give one.", param="prompt")
        if self.n * len(self.texts) > most.request_texts:
            message = (
                f"a request has at most {most.request_texts} choices, prompts times n. "
                f"Got {len(self.texts)} times {self.n}; send several requests."
            )
            raise Refusal(400, "invalid", message, param="n")
        if self.max_tokens > most.text_tokens:
            message = f"max_tokens is at most {most.text_tokens:,}. Got {self.max_tokens:,}."
            raise Refusal(400, "invalid", message, param="max_tokens")

    def make_prompts(self, encoded: list[tuple[int, ...]]) -> list[Prompt]:
        """Make ``n`` prompts of each; with a seed, each draws as it would alone."""
        assert self.n is not None and self.max_tokens is not None
        stop = (self.stop,) if isinstance(self.stop, str) else tuple(self.stop or ())
        return [
            Prompt(
                ids,
                self.max_tokens,
                secrets.randbits(62) if self.seed is None else _derive_seed(self.seed, sample),
                stop,
                bool(self.echo),
                bool(self.stream),
            )
            for ids in encoded
            for sample in range(self.n)
        ]


def encode_texts(
    texts: Sequence[str | Ids], tokenizer: Tokenizer, *, param: str
) -> list[tuple[int, ...]]:
    """Encode texts, and check ids."""
    found = []
    for text in texts:
        if isinstance(text, str):
            found.append(_encode(text, tokenizer, param))
            continue
        if not text:
            raise Refusal(400, "invalid", "a text of ids has at least one.", param=param)
        if min(text) < 0 or max(text) >= tokenizer.size:
            message = f"an id is at least 0 and below {tokenizer.size}, the size of the vocabulary."
            raise Refusal(400, "invalid", message, param=param)
        found.append(tuple(text))
    return found


def _encode(text: str, tokenizer: Tokenizer, param: str) -> tuple[int, ...]:
    try:
        return tuple(tokenizer.encode(text))
    except DataError:
        message = "a text must be valid Unicode. Got a lone surrogate; send the pair."
        raise Refusal(400, "invalid", message, param=param) from None


def _derive_seed(seed: int, sample: int) -> int:
    """Derive the seed of one of the choices of a prompt."""
    digest = hashlib.sha256(f"{seed}:{sample}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 2
