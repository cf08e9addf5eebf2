"""Metrics in Prometheus' text format, without text, addresses or keys in a label."""

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import accumulate

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
POWERS = tuple(float(2**n) for n in range(16))
Labels = tuple[tuple[str, str], ...]


class Counter:
    """A number that only grows, by labels."""

    kind = "counter"

    def __init__(self, name: str, about: str) -> None:
        self.name, self.about = name, about
        self._values: dict[Labels, float] = defaultdict(float)

    def add(self, amount: int = 1, **labels: str) -> None:
        """Count."""
        self._values[tuple(labels.items())] += amount

    def lines(self) -> Iterator[str]:
        """Write every value."""
        for labels, value in sorted(self._values.items()):
            yield _line(self.name, labels, value)


class Histogram:
    """How many values are at most each bound, by labels."""

    kind = "histogram"

    def __init__(self, name: str, about: str, bounds: tuple[float, ...]) -> None:
        self.name, self.about, self.bounds = name, about, bounds
        self._counts: dict[Labels, list[int]] = {}
        self._sums: dict[Labels, float] = defaultdict(float)

    def observe(self, value: int | float, **labels: str) -> None:
        """Count a value."""
        key = tuple(labels.items())
        counts = self._counts.setdefault(key, [0] * (len(self.bounds) + 1))
        counts[bisect_left(self.bounds, value)] += 1
        self._sums[key] += value

    @property
    def count(self) -> int:
        """How many values were counted."""
        return sum(map(sum, self._counts.values()))

    def lines(self) -> Iterator[str]:
        """Write every bucket, the sum and the count."""
        for labels, counts in sorted(self._counts.items()):
            total = sum(counts)
            for bound, below in zip((*self.bounds, math.inf), accumulate(counts), strict=True):
                shown = "+Inf" if bound == math.inf else f"{bound:g}"
                yield _line(f"{self.name}_bucket", (*labels, ("le", shown)), below)
            yield _line(f"{self.name}_sum", labels, self._sums[labels])
            yield _line(f"{self.name}_count", labels, total)


class Gauge:
    """A number that is read when it is asked for."""

    kind = "gauge"

    def __init__(self, name: str, about: str) -> None:
        self.name, self.about = name, about
        self.read: Callable[[], int] = lambda: 0

    def lines(self) -> Iterator[str]:
        """Write the value of this moment."""
        yield _line(self.name, (), self.read())


class Metrics:
    """Everything that is counted."""

    def __init__(self) -> None:
        self.requests = Counter("regard_requests_total", "Requests by route, task and outcome.")
        self.request_seconds = Histogram(
            "regard_request_seconds", "Seconds from the first byte to the last.", SECONDS
        )
        self.queue_seconds = Histogram("regard_queue_seconds", "Seconds a text waited.", SECONDS)
        self.batch_tokens = Histogram("regard_batch_tokens", "Tokens of a batch.", POWERS)
        self.batch_texts = Histogram("regard_batch_texts", "Texts of a batch.", POWERS)
        self.queue_texts = Gauge("regard_queue_texts", "Texts that wait.")
        self.refused = Counter("regard_refused_total", "Requests refused, by reason.")
        self.tokens = Counter("regard_tokens_total", "Tokens by direction.")
        self.workers_died = Counter("regard_workers_died_total", "Workers that were replaced.")

    def watch(self, queue: Callable[[], int]) -> None:
        """Read the length of the queue from here."""
        self.queue_texts.read = queue

    def render(self) -> str:
        """Write all of it in the text format."""
        lines = []
        for metric in vars(self).values():
            lines += [f"# HELP {metric.name} {metric.about}", f"# TYPE {metric.name} {metric.kind}"]
            lines += metric.lines()
        return "\n".join(lines) + "\n"


def _line(name: str, labels: Labels, value: int | float) -> str:
    inside = ",".join(f'{label}="{_escape(text)}"' for label, text in labels)
    return f"{name}{{{inside}}} {value:.17g}" if inside else f"{name} {value:.17g}"


def _escape(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
