"""Classification: a text in, a label (or several, or a score) out."""

from collections.abc import Iterable, Sequence

import numpy as np
from jaxtyping import Int
from torch import Tensor

from regard.data.record import LABEL
from regard.recipe.recipe import Recipe
from regard.tasks.baselines.hashed_ngrams import Ngrams, hash_ngrams
from regard.tasks.baselines.labels import Features
from regard.tasks.labelling.documents import encode_documents, head_tail_of_document
from regard.tasks.labelling.labelled import Labelled, Tokens
from regard.tasks.labelling.overlong import head, head_tail, windows
from regard.tasks.task import Texts
from regard.text import special
from regard.text.tokenizer import Tokenizer

MARKS = 2  # [CLS] and [SEP]


class Classification(Labelled):
    """Classification of texts that are read as one sequence, or sentence by sentence.

    Args:
        recipe: The whole recipe, complete.
        tokenizer: Converts texts to ids and back.

    """

    fields, texts = 2, 1
    roles = ("text", LABEL)

    def __init__(self, recipe: Recipe, tokenizer: Tokenizer) -> None:
        super().__init__(recipe, tokenizer)
        documents = recipe.model.documents
        self.by_sentences = documents.read == "sentences"
        self.cut_by = ("sentences", str(documents.words)) if self.by_sentences else ()
        self.head_tail = head_tail_of_document if self.by_sentences else head_tail

    def pieces(self, texts: Sequence[str]) -> list[list[int]]:
        if self.by_sentences:
            words = self.recipe.model.documents.words
            return encode_documents(self.tokenizer, texts, words=words)
        return self.tokenizer.encode_batch(texts)

    def stored(self, tokens: Tokens) -> list[int]:
        """Return [CLS] text [SEP], truncated if the recipe says so."""
        settings = self.recipe.text
        cuts = {"head": head, "head-tail": self.head_tail}
        cut = cuts.get(settings.overlong)
        return special.frame(cut(tokens[0], settings.max_length - MARKS) if cut else tokens[0])

    def rows(self, tokens: Tokens) -> list[list[int]]:
        settings = self.recipe.text
        most = settings.max_length - MARKS
        if settings.overlong == "windows":
            return [special.frame(window) for window in windows(tokens[0], most)]
        cut = self.head_tail if settings.overlong == "head-tail" else head
        return [special.frame(cut(tokens[0], most))]

    def ask(self, text: str) -> Texts:
        return (text,)

    def explanation_notes(self, text: str) -> tuple[str, ...]:
        """Add how much of a long text was read."""
        notes, overlong = super().explanation_notes(text), self.recipe.text.overlong
        (ids,) = self.tokenizer.encode_batch([text])
        row = self.encode_text(text).fields[1].ids[0].tolist()
        read = sum(not self.tokenizer.is_special(id) for id in row)
        if overlong == "leave-out" or read >= len(ids):
            return notes
        parts = {"head": "the beginning", "head-tail": "the beginning and the end"}
        part = parts.get(overlong, "the first window")
        return (f"Of the text's {len(ids):,} tokens {read:,} were read: {part}.", *notes)

    def segments(self, ids: Int[Tensor, "row position"]) -> Int[Tensor, "row position"] | None:
        return None

    def features(self, texts: Iterable[Texts], ngrams: Ngrams) -> Features:
        bags = hash_ngrams((text for (text,) in texts), ngrams)
        return bags, np.zeros((len(bags), 0), np.float32)
