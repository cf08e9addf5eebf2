"""Completions in a worker: prompts are continued together, and texts leave while they grow.

A choice is a text with its tokens. A part of it is reported as soon as no later token can change
it: characters are complete, and what may be the beginning of a stop string is held back.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple

from regard.errors import UsageError
from regard.run import Run
from regard.serve.protocol import Prompt
from regard.serve.stops import StopFilter
from regard.tasks.language.completion import (
    PromptIds,
    Sampled,
    ScoredToken,
    complete_prompts,
    score_prompt,
)
from regard.tasks.language.language_modelling import LanguageModelling
from regard.text import special
from regard.text.stream import TextStream

Report = Callable[[int, Any], None]
"""Called with the place of a prompt and a part of its choice."""
Finish = Literal["stop", "length"]


class _Token(NamedTuple):
    """A token as clients see it."""

    text: str
    log_p: float | None
    top: dict[str, float] | None
    offset: int
    """Where it begins in the text."""


def complete(
    run: Run, prompts: Sequence[Prompt], options: Mapping[str, Any], report: Report
) -> list[Any]:
    """Continue prompts; ``options`` are ``temperature``, ``top_p`` and ``logprobs``."""
    task, top = run.task, options["logprobs"]
    model: Any = run.model
    if not isinstance(task, LanguageModelling):
        raise UsageError(
            f"completions need a run of language-modelling. This is {run.recipe.task}.",
            "Use /api/predict.",
        )
    writers = [
        _Writer(prompt, task.tokenizer.stream(), top, partial(report, place))
        for place, prompt in enumerate(prompts)
    ]
    for prompt, writer in zip(prompts, writers, strict=True):
        scored = prompt.echo and top is not None
        writer.read(score_prompt(task, model, prompt.ids, top=top) if scored else None)
    places = [place for place, prompt in enumerate(prompts) if prompt.max_tokens]

    def cancelled_rows(rows: Sequence[int]) -> Callable[[], list[int]]:
        own = [places[row] for row in rows]
        gone = task.cancelled_rows(own) or list

        def find() -> list[int]:
            stopped = (row for row, place in enumerate(own) if writers[place].finish_reason)
            return [*gone(), *stopped]

        return find

    complete_prompts(
        task,
        model,
        [PromptIds(prompts[at].ids, prompts[at].max_tokens, prompts[at].seed) for at in places],
        sampled=Sampled(options["temperature"], options["top_p"]),
        top=top or 0,
        written=lambda row, token: writers[places[row]].write(token),
        cancelled_rows=cancelled_rows,
    )
    return [writer.close() for writer in writers]


class _Writer:
    """The choice of one prompt while it grows.

    Args:
        prompt: What is continued.
        stream: Decodes its tokens.
        top: How many of the likeliest tokens are listed; None for no tokens at all.
        report: Takes the parts, if the prompt wants them.

    """

    def __init__(
        self, prompt: Prompt, stream: TextStream, top: int | None, report: Callable[[Any], None]
    ) -> None:
        self.prompt, self.stream, self.top, self.report = prompt, stream, top, report
        self.stops = StopFilter(prompt.stop)
        self.finish_reason: Finish | None = None
        self.text = ""
        self.tokens: list[_Token] = []
        self.written = self._echoed = 0
        self._sent_text = self._sent_tokens = 0

    def read(self, scored: Sequence[ScoredToken | None] | None) -> None:
        """Read the prompt; with ``echo`` it is part of the text."""
        scored = scored or [None] * len(self.prompt.ids)
        for id, score in zip(self.prompt.ids, scored, strict=True):
            if self.prompt.echo:
                self._list(id, score)
            piece = self.stream.add(id)
            if self.prompt.echo:
                self.text += piece
        self._echoed = len(self.tokens)
        self._send()

    def write(self, token: ScoredToken) -> None:
        """Append a token that was chosen."""
        self.written += 1
        if token.id == special.END:
            self._flush()
            self._list(token.id, token)
            self._finish("stop")
            return
        self._list(token.id, token)
        self.text += self.stops.add(self.stream.add(token.id))
        if self.stops.stopped:
            self._finish("stop")
        elif self.written == self.prompt.max_tokens:
            self._flush()
            self._finish("stop" if self.stops.stopped else "length")
        else:
            self._send()

    def close(self) -> dict[str, Any]:
        """Return the whole choice."""
        if self.finish_reason is None:  # nothing was to be written, or nobody waits any more
            self._flush()
            self._finish("length")
        return {**self._cut(0, 0, len(self.tokens)), "written": self.written}

    def _flush(self) -> None:
        """Pass on what was held back."""
        self.text += self.stops.add(self.stream.end())
        self.text += self.stops.end()

    def _finish(self, reason: Finish) -> None:
        self.finish_reason = reason
        if self.stops.stopped:  # tokens that begin behind the cut are no part of the text
            kept = (token for token in self.tokens[self._echoed :] if token.offset < len(self.text))
            self.tokens[self._echoed :] = list(kept)
        self._send()

    def _list(self, id: int, score: ScoredToken | None) -> None:
        """List the token that comes next; the first of a text has no log-probability."""
        if self.top is None:
            return
        text, offset = self.stream.spell(id), len(self.text) + self.stops.held
        if score is None:
            self.tokens.append(_Token(text, None, None, offset))
            return
        top: dict[str, float] = {}
        for other, log_p in score.best:
            if log_p > -math.inf:
                top.setdefault(self.stream.spell(other), log_p)
        top.setdefault(text, score.log_p)
        self.tokens.append(_Token(text, score.log_p, top, offset))

    def _send(self) -> None:
        """Report the part that no later token can change, if there is any."""
        if not self.prompt.stream:
            return
        count, end = self._sent_tokens, len(self.text)
        while count < len(self.tokens) and (self.finish_reason or self.tokens[count].offset < end):
            count += 1
        if end > self._sent_text or self.finish_reason:
            self.report(
                {**self._cut(self._sent_text, self._sent_tokens, count), "at": self._sent_text}
            )
            self._sent_text, self._sent_tokens = end, count

    def _cut(self, begin: int, first: int, last: int) -> dict[str, Any]:
        """Return the text from a character on, with some of its tokens."""
        logprobs = None
        if self.top is not None:
            tokens = self.tokens[first:last]
            logprobs = {
                "tokens": [token.text for token in tokens],
                "token_logprobs": [token.log_p for token in tokens],
                "top_logprobs": [token.top for token in tokens],
                "text_offset": [token.offset for token in tokens],
            }
        text, reason = self.text[begin:], self.finish_reason
        return {"text": text, "logprobs": logprobs, "finish_reason": reason}
