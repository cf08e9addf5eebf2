"""The queues of the engine: texts that wait, and how batches form.

There is one queue per (name, kind of work, options): texts of one queue may share a batch.

A batch begins with the text that has waited longest, so that none starves, and takes the waiting
ones of the same queue whose lengths are closest: little padding, and no short text waits for a long
one to be written.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from regard.serve.pool import Worker
from regard.serve.protocol import Outcome, Text
from regard.serve.settings import EngineSettings

SCANNED = 512  # waiting texts among which a batch is chosen
KEPT = 0.8  # of the average, when another batch has been timed
URGENT = float("-inf")

Key = tuple[Any, ...]
"""Name, kind and options: texts of one key may share a batch."""


@dataclass(eq=False)
class Item:
    """One text that is waited for."""

    number: int
    text: Text
    tokens: int
    key: Key
    options: Mapping[str, Any]
    since: float
    """When it came; urgent ones count as having come before all others."""
    outcome: asyncio.Future[Outcome]
    worker: Worker | None = None
    """Where it is computed; None while it waits."""
    expected: float = 0.0
    """Seconds of work, by what such texts have taken lately."""
    queued: float = 0.0
    """Seconds in the queue."""
    computed: float = 0.0
    """Seconds of its batch."""
    take_part: Callable[[Any], None] | None = None
    """Gets parts of the answer while it grows."""
    tried: bool = False
    """Whether a worker died with it once; it is then computed alone."""

    def resolve(self, outcome: Outcome) -> None:
        """Say what became of it, unless nobody waits any more."""
        if not self.outcome.done():
            self.outcome.set_result(outcome)


class Queues:
    """Texts that wait.

    Args:
        settings: How large batches and queues may be.

    """

    def __init__(self, settings: EngineSettings) -> None:
        self.settings = settings
        self._by_key: dict[Key, deque[Item]] = {}
        self.texts = self.tokens = 0
        self.seconds = 0.0
        """Work that waits."""
        self._costs: dict[Key, float] = {}

    def __iter__(self) -> Iterator[Item]:
        return (item for items in list(self._by_key.values()) for item in list(items))

    def has_room(self, sizes: Sequence[int], wait: float) -> bool:
        """Whether texts of these sizes may still come, if what is there takes ``wait`` seconds.

        Into an empty queue they always may.
        """
        texts, tokens, most = self.texts + len(sizes), self.tokens + sum(sizes), self.settings
        fits = texts <= most.queue_texts and tokens <= most.queue_tokens
        return not self.texts or (fits and wait <= most.queue_seconds)

    def learn(self, items: Sequence[Item], seconds: float) -> None:
        """Note how long a batch took: a moving average of the seconds per text."""
        key, each = items[0].key[:2], seconds / len(items)
        self._costs[key] = each + KEPT * (self._costs.get(key, each) - each)

    def push(self, items: Sequence[Item], *, first: bool = False) -> None:
        """Let texts wait, before all others or after them."""
        for item in reversed(items) if first else items:
            queue = self._by_key.setdefault(item.key, deque())
            (queue.appendleft if first else queue.append)(item)
            item.expected = self._costs.get(item.key[:2], 0.0)
            self._count(item, 1)

    def take(self) -> list[Item]:
        """Take a batch: the text that has waited longest, and those that fit it best."""
        if not self._by_key:
            return []
        key = min(self._by_key, key=lambda each: self._by_key[each][0].since)
        queue, most = self._by_key[key], self.settings
        first = queue[0]
        chosen, longest = [first], first.tokens
        others = [] if first.tried else list(islice(queue, 1, SCANNED))
        for item in sorted(others, key=lambda one: abs(one.tokens - first.tokens)):
            padded = max(longest, item.tokens)
            if len(chosen) == most.batch_texts or (len(chosen) + 1) * padded > most.batch_tokens:
                break
            if not item.tried:
                chosen.append(item)
                longest = padded
        self._remove(key, set(chosen))
        return chosen

    def drop(self, items: Iterable[Item]) -> None:
        """Take texts out that nobody waits for."""
        gone = set(items)
        for key in {item.key for item in gone} & set(self._by_key):
            self._remove(key, gone)

    def _remove(self, key: Key, gone: set[Item]) -> None:
        kept = deque(item for item in self._by_key[key] if item not in gone)
        for item in self._by_key[key]:
            if item in gone:
                self._count(item, -1)
        if kept:
            self._by_key[key] = kept
        else:
            del self._by_key[key]

    def _count(self, item: Item, sign: int) -> None:
        self.texts += sign
        self.tokens += sign * item.tokens
        self.seconds = max(0.0, self.seconds + sign * item.expected) if self.texts else 0.0
