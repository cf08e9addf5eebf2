"""``[retrieval]``: what a searcher learns from, and how it is asked."""

from typing import Annotated, Literal

from pydantic import Field, NonNegativeInt, PositiveFloat, PositiveInt, model_validator

from regard.recipe.settings import Refused, Settings

Share = Annotated[float, Field(ge=0.0, lt=1.0)]
Source = Literal["crops", "title", "labelled"]


class RetrievalSettings(Settings):
    """What a searcher learns from, and how it is asked; for the task retrieval."""

    pairs: tuple[Source, ...] = ("crops", "title")
    """Where the pairs to learn from come from: two spans of one document, a title and its
    document, or labelled pairs (judged queries, or a file with two columns)."""
    query_length: tuple[PositiveInt, PositiveInt] = (4, 32)
    """``crops``: fewest and most tokens of the span that asks."""
    document_length: tuple[PositiveInt, PositiveInt] = (32, 128)
    """Fewest and most tokens of the span of a document that answers."""
    deletion: Share = 0.1
    """``crops``: share of the tokens left out of either span, so that words alone do not match."""
    temperature: PositiveFloat = 0.05
    """What cosines are divided by before they compete; lower lets near misses count for more."""
    symmetric: bool = True
    """Whether documents also have to find what asks for them."""
    hard_negatives: NonNegativeInt = 0
    """Wrong documents that BM25 ranks high, added to each pair's competitors."""
    hard_from: PositiveInt = 20
    """``hard_negatives``: how many of BM25's first wrong documents they are drawn from."""
    term_weights: Literal["even", "idf", "learned"] = "even"
    """How much each token counts in the mean of the states: the same, by how rare it is, or so at
    first and learned from there."""
    start: Literal["random", "topics"] = "random"
    """Where token vectors begin: at random, or near those of tokens that stand in the same
    documents (latent semantic analysis), which costs seconds."""
    hybrid: Annotated[float, Field(ge=0.0, le=1.0)] = 0.5
    """Share of the vectors' score in hybrid search; the rest is BM25's."""

    @model_validator(mode="after")
    def _there_are_pairs(self) -> "RetrievalSettings":
        if not self.pairs or len(set(self.pairs)) != len(self.pairs):
            raise Refused(
                f"retrieval.pairs must name at least one source, each once; got {list(self.pairs)}",
                'Write for instance ["crops", "title"]',
            )
        for name in ("query_length", "document_length"):
            fewest, most = getattr(self, name)
            if fewest > most:
                raise Refused(
                    f"retrieval.{name} goes from the fewest tokens to the most; got "
                    f"{[fewest, most]}",
                    f"Turn it round: {[most, fewest]}",
                )
        return self

    @model_validator(mode="after")
    def _negatives_are_asked_for(self) -> "RetrievalSettings":
        if self.hard_negatives > self.hard_from:
            raise Refused(
                f"retrieval.hard_negatives = {self.hard_negatives} cannot be drawn from "
                f"hard_from = {self.hard_from}",
                f"Set hard_from to at least {self.hard_negatives}",
            )
        return self
