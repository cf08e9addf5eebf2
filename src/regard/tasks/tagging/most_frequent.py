"""The baseline: every word gets the tag it had most often in training.

A word that training has not seen gets the commonest tag of all, which is mostly O. Only words
whose tag is another are kept: as bytes and numbers, so that they fit into a file of tensors.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

import torch
from torch import Tensor

_SEPARATOR = "\0"


class MostFrequentTag:
    """The commonest tag of each word.

    Args:
        tags: All tags there are.

    """

    def __init__(self, tags: Sequence[str]) -> None:
        self.tags = tuple(tags)
        self.default = self.tags[0]
        self.by_word: dict[str, str] = {}

    def learn(self, tagged: Iterable[tuple[str, str]]) -> dict[str, Tensor]:
        """Count tags by word; of equally frequent ones the first of :attr:`tags` wins."""
        counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
        total: Counter[str] = Counter()
        for word, tag in tagged:
            counts[word][tag] += 1
            total[tag] += 1
        self.default = self._commonest(total)
        commonest = {word: self._commonest(own) for word, own in counts.items()}
        self.by_word = {w: tag for w, tag in sorted(commonest.items()) if tag != self.default}
        numbers = [self.default, *self.by_word.values()]
        spelled = _SEPARATOR.join(self.by_word).encode()
        return {
            "words": torch.tensor(list(spelled), dtype=torch.uint8),
            "tags": torch.tensor([self.tags.index(tag) for tag in numbers]),
        }

    def load(self, parameters: Mapping[str, Tensor]) -> None:
        """Take up what :meth:`learn` returned."""
        self.default, *rest = (self.tags[n] for n in parameters["tags"].tolist())
        words = bytes(parameters["words"].tolist()).decode().split(_SEPARATOR) if rest else []
        self.by_word = dict(zip(words, rest, strict=True))

    def __call__(self, words: Sequence[str]) -> list[str]:
        """Tag words; the sequence may break the scheme."""
        return [self.by_word.get(word, self.default) for word in words]

    def _commonest(self, counts: Counter[str]) -> str:
        return max(self.tags, key=lambda tag: counts[tag])
