"""The baseline: every word gets its most frequent tag in training.

An unknown word gets the most frequent tag of all, which is usually O. Only words with another tag
are stored, as bytes and numbers, so that they fit into a file of tensors.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

import torch
from torch import Tensor

_SEPARATOR = "\0"


class MostFrequentTag:
    """The most frequent tag of each word.

    Args:
        tags: All tags there are.

    """

    def __init__(self, tags: Sequence[str]) -> None:
        self.tags = tuple(tags)
        self.default = self.tags[0]
        self.by_word: dict[str, str] = {}

    def fit(self, tagged: Iterable[tuple[str, str]]) -> dict[str, Tensor]:
        """Count tags by word; of equally frequent ones the first of :attr:`tags` wins."""
        counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
        total: Counter[str] = Counter()
        for word, tag in tagged:
            counts[word][tag] += 1
            total[tag] += 1
        self.default = self._most_frequent(total)
        frequent = {word: self._most_frequent(own) for word, own in counts.items()}
        self.by_word = {w: tag for w, tag in sorted(frequent.items()) if tag != self.default}
        numbers = [self.default, *self.by_word.values()]
        spelled = _SEPARATOR.join(self.by_word).encode()
        return {
            "words": torch.tensor(list(spelled), dtype=torch.uint8),
            "tags": torch.tensor([self.tags.index(tag) for tag in numbers]),
        }

    def load(self, parameters: Mapping[str, Tensor]) -> None:
        """Load what :meth:`fit` returned."""
        self.default, *rest = (self.tags[n] for n in parameters["tags"].tolist())
        words = bytes(parameters["words"].tolist()).decode().split(_SEPARATOR) if rest else []
        self.by_word = dict(zip(words, rest, strict=True))

    def __call__(self, words: Sequence[str]) -> list[str]:
        """Tag words; the sequence may break the scheme."""
        return [self.by_word.get(word, self.default) for word in words]

    def _most_frequent(self, counts: Counter[str]) -> str:
        return max(self.tags, key=lambda tag: counts[tag])
