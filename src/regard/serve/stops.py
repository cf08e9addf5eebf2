"""Stop strings: text is passed on until one of them occurs, as if it came letter by letter."""

from collections.abc import Sequence


class StopFilter:
    """Cuts a text before the first stop string; holds back what may be the beginning of one.

    Args:
        stops: The strings; the one that is complete first counts.

    """

    def __init__(self, stops: Sequence[str]) -> None:
        self.stops = stops
        self.stopped = False
        self._held = ""

    @property
    def held(self) -> int:
        """How many characters are held back."""
        return len(self._held)

    def add(self, text: str) -> str:
        """Return what can be passed on by now."""
        if self.stopped:
            return ""
        text, self._held = self._held + text, ""
        found = [(at + len(stop), at) for stop in self.stops if (at := text.find(stop)) >= 0]
        if found:
            self.stopped = True
            return text[: min(found)[1]]
        kept = len(text) - max((_overlap(text, stop) for stop in self.stops), default=0)
        self._held = text[kept:]
        return text[:kept]

    def end(self) -> str:
        """Return what was held back: no stop string came of it."""
        held, self._held = self._held, ""
        return held


def _overlap(text: str, stop: str) -> int:
    """Return the length of the longest end of a text that a stop string begins with."""
    longest = min(len(text), len(stop) - 1)
    return next((n for n in range(longest, 0, -1) if text.endswith(stop[:n])), 0)
