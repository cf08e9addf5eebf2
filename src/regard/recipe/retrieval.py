"""``[retrieval]``: training pairs, contrastive loss and hybrid search."""

from typing import Annotated, Literal

from pydantic import Field, PositiveFloat, model_validator

from regard.recipe.settings import Millions, NoneToMillions, Refused, Settings

Share = Annotated[float, Field(ge=0.0, lt=1.0)]
Source = Literal["crops", "title", "labelled"]


class RetrievalSettings(Settings):
    """Training pairs of a bi-encoder, its loss and hybrid search; for the task retrieval."""

    pairs: tuple[Source, ...] = ("crops", "title")
    """Training pairs: two random crops of one document, a title and its document, or labelled pairs
    (judged queries, or a file with two columns)."""
    query_length: tuple[Millions, Millions] = (4, 32)
    """``crops``: minimum and maximum number of tokens of the query crop."""
    document_length: tuple[Millions, Millions] = (32, 128)
    """Minimum and maximum number of tokens of the document crop."""
    deletion: Share = 0.1
    """``crops``: token deletion rate in both crops, so that matching words alone do not suffice."""
    temperature: PositiveFloat = 0.05
    """Temperature of the contrastive loss (InfoNCE); a lower one gives hard negatives more
    weight."""
    symmetric: bool = True
    """Whether the contrastive loss is symmetric: documents also retrieve their queries."""
    hard_negatives: NoneToMillions = 0
    """Number of hard negatives per pair: wrong documents that BM25 ranks high, in addition to the
    in-batch negatives."""
    hard_from: Millions = 20
    """``hard_negatives``: number of BM25's top wrong documents that they are sampled from."""
    term_weights: Literal["even", "idf", "learned"] = "even"
    """Weights of tokens in mean pooling: even, inverse document frequency (IDF), or learned from an
    IDF initialisation."""
    start: Literal["random", "topics"] = "random"
    """Initialisation of the token embeddings: random, or latent semantic analysis (LSA) of the
    documents, which takes seconds."""
    hybrid: Annotated[float, Field(ge=0.0, le=1.0)] = 0.5
    """Weight of the vectors' score in hybrid search; the rest is BM25's."""

    @model_validator(mode="after")
    def _check_pairs(self) -> "RetrievalSettings":
        if not self.pairs or len(set(self.pairs)) != len(self.pairs):
            raise Refused(
                f"retrieval.pairs must name at least one source, each once; got {list(self.pairs)}",
                'Write for instance ["crops", "title"]',
            )
        for name in ("query_length", "document_length"):
            fewest, most = getattr(self, name)
            if fewest > most:
                raise Refused(
                    f"retrieval.{name} is a minimum and a maximum number of tokens; got "
                    f"{[fewest, most]}",
                    f"Write it as {[most, fewest]}",
                )
        return self

    @model_validator(mode="after")
    def _check_hard_negatives(self) -> "RetrievalSettings":
        if self.hard_negatives > self.hard_from:
            raise Refused(
                f"retrieval.hard_negatives = {self.hard_negatives} cannot be drawn from "
                f"hard_from = {self.hard_from}",
                f"Set hard_from to at least {self.hard_negatives}",
            )
        return self
