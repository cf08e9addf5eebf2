"""Sentence pairs: predict the relation of two texts, as a label or a score.

    [CLS] A [SEP] B [SEP],   segment 0 up to the first [SEP], then 1        (Devlin et al. 2019)

With four segments or more, tokens that both texts contain have segments of their own, 2 in A and
3 in B, so that a model without pretraining need not learn to compare tokens. If the pair is too
long, the longer text is truncated.
"""

from collections.abc import Iterable, Sequence

from jaxtyping import Int
from torch import Tensor

from regard.data.record import LABEL
from regard.errors import UsageError
from regard.tasks.baselines.hashed_ngrams import Ngrams
from regard.tasks.baselines.labels import Features
from regard.tasks.baselines.pair_features import pair_features
from regard.tasks.labelling.labelled import Labelled, Reader, Tokens
from regard.tasks.task import Texts
from regard.text import special

MARKS = 3  # [CLS] and two [SEP]


class SentencePair(Labelled):
    """Classification or scoring of two texts.

    Args:
        recipe: The whole recipe, complete.
        tokenizer: Converts texts to ids and back.

    """

    fields, texts = 3, 2
    roles = ("first text", "second text", LABEL)

    def embeds(self, model: Reader) -> bool:
        """Whether single texts have vectors: two are read as one."""
        return False

    def pieces(self, texts: Sequence[str]) -> list[list[int]]:
        return self.tokenizer.encode_batch(texts)

    def stored(self, tokens: Tokens) -> list[int]:
        """Return [CLS] A [SEP] B [SEP], truncated unless long pairs are left out."""
        return _join(tokens) if self.recipe.text.overlong == "leave-out" else self._truncate(tokens)

    def rows(self, tokens: Tokens) -> list[list[int]]:
        return [self._truncate(tokens)]

    def ask(self, text: str) -> Texts:
        parts = tuple(part.strip() for part in text.split("\t"))
        if len(parts) != self.texts or not all(parts):
            raise UsageError(
                f"a pair must be two texts separated by a tab. Got {len(parts)} in {text[:80]!r}.",
                "Write both texts on one line, for instance: printf 'one\\ttwo\\n'.",
            )
        return parts

    def segments(self, ids: Int[Tensor, "row position"]) -> Int[Tensor, "row position"] | None:
        kinds = self.recipe.model.embedding.segments
        if kinds < self.texts:
            return None
        ends = (ids == special.SEP).long()
        side = (ends.cumsum(dim=1) - ends).clamp(max=1)
        return side + 2 * _mark_shared(ids, side) if kinds >= 2 * self.texts else side

    def features(self, texts: Iterable[Texts], ngrams: Ngrams) -> Features:
        return pair_features(texts)

    def _truncate(self, tokens: Tokens) -> list[int]:
        first, second = tokens
        room = self.recipe.text.max_length - MARKS
        kept = min(len(first), max(room - len(second), (room + 1) // 2))
        return _join((first[:kept], second[: room - kept]))


def _mark_shared(
    ids: Int[Tensor, "row position"], side: Int[Tensor, "row position"]
) -> Int[Tensor, "row position"]:
    """Return 1 where the other text has the same token, 0 elsewhere and at special tokens."""
    same = (ids[:, :, None] == ids[:, None, :]) & (side[:, :, None] != side[:, None, :])
    return (same.any(dim=2) & (ids >= len(special.SPECIAL))).long()


def _join(tokens: Tokens) -> list[int]:
    first, second = tokens
    return [special.CLS, *first, special.SEP, *second, special.SEP]
