"""Messages between the front and its workers."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple


class Ready(NamedTuple):
    """A worker has opened what is served, or says why it cannot."""

    facts: dict[str, dict[str, Any]]
    """By name, what is served."""
    error: tuple[str, str] | None = None
    """Problem and remedy."""


class Prompt(NamedTuple):
    """Ids to continue, and what is asked of this continuation alone."""

    ids: tuple[int, ...]
    max_tokens: int
    """The end token counts."""
    seed: int
    stop: tuple[str, ...] = ()
    echo: bool = False
    """Whether the text begins with the prompt."""
    stream: bool = False
    """Whether parts of the text are sent while it grows."""


Text = str | Prompt
"""What a request consists of."""


class Batch(NamedTuple):
    """Texts to compute side by side."""

    name: str
    """The run or the index."""
    kind: str
    """A row of :data:`regard.serve.work.WORK`."""
    options: Mapping[str, Any]
    texts: list[Any]
    """Each a :data:`Text`."""
    numbers: list[int]
    """What each text is called in a cancellation."""

    def split(self, size: int) -> "Iterator[Batch]":
        """Cut the batch into smaller ones."""
        for n in range(0, len(self.texts), size):
            part = slice(n, n + size)
            yield self._replace(texts=self.texts[part], numbers=self.numbers[part])


class Cancel(NamedTuple):
    """Nobody waits for these texts any more."""

    numbers: set[int]


class Threads(NamedTuple):
    """How many threads a worker computes with from now on."""

    number: int


class Outcome(NamedTuple):
    """What became of a text."""

    kind: Literal["answered", "refused", "cancelled", "failed"]
    value: Any = None
    """The answer, or the sentence why it is refused, or where it failed."""


class Part(NamedTuple):
    """The answer to a text has grown."""

    number: int
    value: Any


class Done(NamedTuple):
    """A batch is computed."""

    outcomes: list[Outcome]
    seconds: float
