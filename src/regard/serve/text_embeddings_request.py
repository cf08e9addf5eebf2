"""Requests of Text Embeddings Inference's API; its server has one model, so ``model`` is ours."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, StrictBool, StrictInt, StrictStr

from regard.serve.completion_request import Ids
from regard.serve.refusal import Refusal

Direction = Literal["Left", "Right", "left", "right"]


class _Request(BaseModel):
    """Fields that are not listed are ignored."""

    model: Annotated[
        StrictStr | None, Field(description="Which run; may be left out if only one fits.")
    ] = None
    prompt_name: Annotated[None, Field(description="Runs have no prompts.")] = None


class _Truncatable(_Request):
    truncate: Annotated[StrictBool | None, Field(description="Cut texts that are too long.")] = (
        False
    )
    truncation_direction: Annotated[
        Direction, Field(description="The side that is cut off; for vectors.")
    ] = "Right"

    @property
    def cut(self) -> dict[str, bool]:
        """Return whether and where texts are cut."""
        from_left = self.truncation_direction.lower() == "left"
        return {"truncate": bool(self.truncate), "from_left": from_left}


class EmbedAllRequest(_Truncatable):
    """Texts whose tokens are to be embedded."""

    inputs: Annotated[
        StrictStr | Ids | list[StrictStr | Ids],
        Field(description="A text, the ids of a text, or several of them."),
    ]

    @property
    def texts(self) -> list[Any]:
        """Return the texts, each a string or ids."""
        given: Any = self.inputs
        single = isinstance(given, str) or (given and isinstance(given[0], int))
        return check_some([given] if single else given)


class EmbedRequest(EmbedAllRequest):
    """Texts to embed."""

    normalize: Annotated[StrictBool, Field(description="Scale vectors to length 1.")] = True
    dimensions: Annotated[StrictInt | None, Field(ge=1, description="Keep only so many.")] = None


class PredictRequest(_Truncatable):
    """Texts or pairs to label."""

    inputs: Annotated[
        StrictStr | list[StrictStr] | list[list[StrictStr]],
        Field(description="A text, one pair of texts, or lists of one or two texts."),
    ]
    raw_scores: Annotated[StrictBool, Field(description="Logits instead of probabilities.")] = False

    @property
    def is_batch(self) -> bool:
        """Whether several answers are asked for."""
        return isinstance(self.inputs, list) and all(isinstance(one, list) for one in self.inputs)

    @property
    def asked(self) -> list[tuple[str, ...]]:
        """Return texts and pairs of texts."""
        given: Any = self.inputs
        if isinstance(given, str):
            given = [[given]]
        elif not self.is_batch:
            given = [given]
        for one in check_some(given):
            if len(check_some(one)) > 2:
                message = f"a list of texts is one pair. Got {len(one)}; a batch is lists of lists."
                raise Refusal(422, "invalid", message, param="inputs")
        return [tuple(one) for one in given]


class RerankRequest(_Truncatable):
    """Texts to rank by their relevance to a query."""

    query: StrictStr
    texts: list[StrictStr]
    raw_scores: Annotated[StrictBool, Field(description="Logits instead of shares.")] = False
    return_text: Annotated[StrictBool, Field(description="Repeat the texts.")] = False


class Sentences(BaseModel):
    """A sentence, and those to compare it with."""

    source_sentence: StrictStr
    sentences: list[StrictStr]


class SimilarityRequest(_Request):
    """Sentences to compare by the cosine of their vectors."""

    inputs: Sentences
    parameters: _Truncatable | None = None


class TokenizeRequest(_Request):
    """Texts to encode."""

    inputs: StrictStr | list[StrictStr]
    add_special_tokens: Annotated[StrictBool, Field(description="As the model reads a text.")] = (
        True
    )

    @property
    def texts(self) -> list[str]:
        """Return the texts."""
        return check_some([self.inputs] if isinstance(self.inputs, str) else self.inputs)


class DecodeRequest(_Request):
    """Ids to decode."""

    ids: Annotated[Ids | list[Ids], Field(description="The ids of a text, or of several.")]
    skip_special_tokens: StrictBool = True

    @property
    def rows(self) -> list[Any]:
        """Return the ids of each text."""
        given: Any = self.ids
        return check_some([given] if given and isinstance(given[0], int) else given)


def check_some(texts: Any) -> Any:  # noqa: ANN401 - texts, ids or pairs
    """Return what is asked for; refuse if that is nothing, or a blank text."""
    if not texts or any(isinstance(text, str) and not text.strip() for text in texts):
        raise Refusal(400, "empty", "there must be an input, and none of them blank. Give one.")
    return texts
